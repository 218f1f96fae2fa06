"""Laws of contact on free shells: friction, weight, momentum, energy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from touching import FELT, G, Scene, level

from bunraku.collision import Obstacle, Plane, sphere
from bunraku.contracts import State
from bunraku.geometry import TriMesh
from bunraku.testing import sheet

pytestmark = pytest.mark.slow
UNDAMPED = replace(FELT, stretch_damping=0.0, bend_damping=0.0)
FLOOR = Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]))
MU = 0.5


def mean_speed(scene: Scene, state: State) -> np.ndarray:
    """(3,) [m/s] of the centre of mass."""
    return scene.mass.lumped @ state.velocity.reshape(-1, 3) / scene.mass.lumped.sum()


def strip(ground: str, gravity: tuple[float, float, float]) -> Scene:
    """A strip over a plane, or over a large table of two triangles."""
    mesh = level(sheet(8, 2, length=0.4), 0.0)
    table = level(sheet(1, 1, length=8.0, width=2.0), 0.0)
    obstacles, planes = ([], [FLOOR]) if ground == "plane" else ([Obstacle(table)], [])
    # A Newton step of tolerance × length stands for an acceleration of it over dt²: 4e-5 m/s² here.
    return Scene(mesh, obstacles, planes, friction=MU, gravity=gravity, tolerance=1e-8)


def on_an_incline(ground: str, steepness: float, steps: int, dt: float = 0.01) -> tuple[Scene, list[State]]:
    """A strip that has come to rest on level ground, after gravity turned to tan θ = steepness · µ."""
    flat = strip(ground, (0.0, -G, 0.0))
    lifted = flat.mesh.rest + [0.0, flat.gap + 0.6 * flat.surfaces.felt_within, 0.0]
    lying = list(flat.march(60, 0.02, lifted))[-1]
    angle = np.arctan(steepness * MU)
    tilted = strip(ground, (G * np.sin(angle), -G * np.cos(angle), 0.0))
    return tilted, [lying, *list(tilted.march(steps, dt, lying.q.reshape(-1, 3)))[1:]]


@pytest.mark.parametrize("ground", ["plane", "table"])
def test_friction_holds_below_the_critical_angle(ground: str) -> None:
    """At tan θ = 0.98 µ only the creep that smoothed friction needs is left: (2 − y) y = 0.98 at y = 0.86 of the speed
    that counts as still. It would reach 0.14 m/s in this time without friction's last two per cent.
    """
    scene, states = on_an_incline(ground, 0.98, 60)
    creep = (1.0 - np.sqrt(0.02)) * scene.still
    assert mean_speed(scene, states[-1])[0] == pytest.approx(creep, rel=0.02)
    assert scene.survey(states).clean


@pytest.mark.parametrize("ground", ["plane", "table"])
def test_above_the_critical_angle_it_slides(ground: str) -> None:
    """a = g (sin θ − µ cos θ): at tan θ = 1.02 µ, where that is a fiftieth of µ g cos θ, to 3 %; at 1.5 µ to 1e-3.

    The corners of the table's triangles are crossed on the way: edges that are nearly parallel are felt less.
    """
    for steepness, tolerance in ((1.02, 0.03), (1.5, 1e-3)):
        scene, states = on_an_incline(ground, steepness, 60)
        angle = np.arctan(steepness * MU)
        speeds = np.array([mean_speed(scene, state)[0] for state in states])
        found = (speeds[-1] - speeds[-31]) / 0.3
        assert found == pytest.approx(G * (np.sin(angle) - MU * np.cos(angle)), rel=tolerance)
        assert scene.survey(states).clean


@pytest.mark.parametrize("pull", [2.0, 8.0])
def test_a_table_carries_with_its_friction(pull: float) -> None:
    """A table that accelerates with a carries what lies on it along, up to µ g."""
    mesh, table = level(sheet(8, 4, length=0.4), 0.0), level(sheet(1, 1, length=12.0, width=3.0), 0.0)

    def moving(time: float) -> np.ndarray:
        return table.rest + np.array([0.5 * pull * max(time - 0.2, 0.0) ** 2, 0.0, 0.0])

    scene = Scene(mesh, obstacles=[Obstacle(table, moving)], friction=MU, tolerance=1e-5)
    states = list(scene.march(60, 0.02, mesh.rest + [0.0, scene.gap + 0.8 * scene.surfaces.felt_within, 0.0]))
    found = (mean_speed(scene, states[-1]) - mean_speed(scene, states[-21])) / 0.4
    assert found == pytest.approx([min(pull, MU * G), 0.0, 0.0], abs=2e-3 * G)
    assert scene.survey(states).clean


BOX = TriMesh(
    np.array([[x, y, z] for x in (-0.6, 0.0) for y in (-0.3, 0.0) for z in (-0.4, 0.4)]),
    np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
              [0, 6, 4], [1, 5, 7], [1, 7, 3]]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("mesh", "obstacle", "shift"),
    [
        (level(sheet(16, 16, length=0.5), 0.008), sphere([0.0, -0.155, 0.0], 0.15, 0.03), 0.0),
        (level(sheet(16, 8, length=0.4), 0.007), BOX, -0.1),
    ],
    ids=["sphere", "table edge"],
)
def test_a_sheet_settles(mesh: TriMesh, obstacle: TriMesh, shift: float) -> None:
    """Four seconds later it lies still but for what friction creeps, its weight is carried, and nothing went through
    anything.
    """
    scene = Scene(mesh, [Obstacle(obstacle)], friction=0.6, tolerance=1e-5)
    states = list(scene.march(200, 0.02, mesh.rest + [shift, 0.0, 0.0]))
    weight = G * scene.mass.lumped.sum()
    moving = [np.sqrt(2.0 * scene.kinetic(state) / scene.mass.lumped.sum()) for state in states]
    assert moving[-1] < scene.still < 0.01 * max(moving)
    assert scene.pushed(states[-2], states[-1]) == pytest.approx([0.0, weight, 0.0], abs=1e-3 * weight)
    assert scene.survey(states).clean
    assert np.ptp(states[-1].q.reshape(-1, 3)[:, 1]) > 0.09  # it hangs down


def test_energy_never_rises_in_a_drop() -> None:
    """Without friction and damping implicit Euler lowers the total, barrier included, in every step: at its solution
    ½|v'|² + E(x') ≤ ½|v|² + E(x) where E is convex along the step. Rounding: 1e-12 of what fell.
    """
    mesh = level(sheet(8, 8, length=0.3), 0.0)
    scene = Scene(mesh, planes=[FLOOR], material=UNDAMPED, tolerance=1e-7)
    rough = mesh.rest + [0.0, 0.1, 0.0] + 0.002 * np.random.default_rng(0).normal(size=mesh.rest.shape)
    states = list(scene.march(150, 0.005, rough))
    totals = np.array([scene.energy(state, 0.005) for state in states[1:]])
    assert np.diff(totals).max() <= 1e-12 * abs(totals[0] - totals[-1])
    assert totals[0] - totals[-1] > 0.5 * 0.09 * G * scene.mass.lumped.sum()
    assert scene.survey(states).clean


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_two_sheets_that_collide_keep_their_momentum(friction: float) -> None:
    """Σ M v stays to rounding, while each sheet's own changes; energy never rises; the barrier has no torque."""
    one = sheet(8, 8, length=0.3)
    turn = np.array([[np.cos(0.5), np.sin(0.5), 0.0], [-np.sin(0.5), np.cos(0.5), 0.0], [0.0, 0.0, 1.0]])
    low = level(one, 0.0).rest
    count = len(low)
    mesh = TriMesh(
        np.concatenate([low, low @ turn + [0.05, 0.12, 0.03]]), np.concatenate([one.faces, one.faces + count])
    )
    scene = Scene(mesh, gravity=(0.0, 0.0, 0.0), material=UNDAMPED, friction=friction)
    speed = np.zeros_like(mesh.rest)
    speed[:count], speed[count:] = [0.2, 1.0, 0.0], [-0.1, -2.0, 0.3]
    states = list(scene.march(60, 0.005, None, speed))
    momenta = np.array([scene.mass.times(state.velocity.reshape(-1, 3)) for state in states])
    whole, first = momenta.sum(axis=1), momenta[:, :count].sum(axis=1)
    level_of_rounding = 1e-13 * np.abs(momenta[0]).sum()
    assert np.abs(whole - whole[0]).max() <= level_of_rounding
    assert np.linalg.norm(first[-1] - first[0]) > 0.3 * np.linalg.norm(first[0])
    totals = np.array([scene.energy(state, 0.005) for state in states[1:]])
    assert np.diff(totals).max() <= 1e-12 * totals[0]
    assert scene.survey(states).clean
    if friction == 0.0:
        for before, after in pairwise(states):
            moments = np.cross(
                after.q.reshape(-1, 3), scene.mass.times((after.velocity - before.velocity).reshape(-1, 3))
            )
            assert np.abs(moments.sum(axis=0)).max() <= 1e-4 * max(np.abs(moments).sum(), 1e-3)
