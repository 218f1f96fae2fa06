"""Tracking: the guide is met, direction's forces balance, the start does not pop, a run resumes to the bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.direction import Pin, Take
from bunraku.direction.track import hierarchy, pointwise, track, tracking_job
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import Animation
from bunraku.testing import sheet

Shoot = Callable[..., Take]


def still(mesh: TriMesh, count: int = 4, rate: float = 24.0) -> Animation:
    return Animation(mesh, np.arange(count) / rate, np.tile(mesh.rest, (count, 1, 1)))


@pytest.mark.parametrize("bending", ["plate", "hinge"])
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("iterations", [1, None])
def test_the_guide_is_met(shoot: Shoot, twist: Animation, bending: str, mass: str, iterations: int | None) -> None:
    """Averages agree to 1e-9 of the bounding box in every frame, whatever the settings; and by an outside route."""
    take = shoot(bending=bending, mass=mass, iterations=iterations)
    size = take.animation.mesh.size
    assert take.report["residual"].shape == (6, 8)
    assert take.report["residual"].max() <= 1e-9 * size
    shell, tests = hierarchy(twist.mesh, 2)
    of_guide, of_shell = tests.averages(twist.mesh, shell)
    for k in range(6):
        away = of_shell @ take.animation.points[k] - of_guide @ twist.points[k]
        assert np.abs(away).max() <= 1e-9 * size
    # ... while the shell is not simply the guide.
    assert tests.prolongation is not None
    below = np.abs(take.animation.points[-1] - tests.prolongation @ twist.points[-1]).max()
    assert below > 1e-3 * size


@pytest.mark.parametrize("strength", [1.0, 0.6])
@pytest.mark.parametrize("iterations", [1, None])
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_the_forces_of_direction_balance_momentum(
    shoot: Shoot, mass: str, iterations: int | None, strength: float
) -> None:
    """Σ F_direction = m (v̄ₙ₊₁ − v̄ₙ)/dt − m g: inner forces cancel, and implicit Euler keeps this exactly.

    Rows that average carry their whole multiplier into the sum. Error: that of the conditions through m/dt².
    """
    gravity = np.array([1.0, -9.81, 2.0])
    take = shoot(mass=mass, iterations=iterations, substeps=1, gravity=gravity, strength=strength)
    points = lumped_mass(take.animation.mesh, 800.0 * 4e-3)
    total, dt = points.sum(), 1 / 24.0
    assert take.facts["mass"] == pytest.approx(total, rel=1e-14)
    momentum = np.einsum("n,tnk->tk", points, take.velocities)  # M's row sums, for both kinds of mass
    rate = np.diff(momentum, axis=0) / dt
    direction = take.report["force"][1:].sum(axis=1)
    assert direction == pytest.approx(rate - total * gravity, abs=1e-9 * take.animation.mesh.size * total / dt**2)
    assert np.abs(direction).max() > total  # there is something to balance


def test_the_first_frame_is_the_start(shoot: Shoot, twist: Animation) -> None:
    shell, tests = hierarchy(twist.mesh, 2)
    assert tests.prolongation is not None
    bent = Animation(twist.mesh, twist.times, twist.points[[2, 3, 4, 5, 5, 5]])
    assert shoot(bent).animation.points[0] == pytest.approx(tests.prolongation @ bent.points[0], abs=1e-15)
    assert shoot(bent).velocities[0] == pytest.approx(tests.prolongation @ bent.velocity(0.0), abs=1e-13)
    from_rest = shoot(bent, start="rest")
    assert np.array_equal(from_rest.animation.points[0], shell.rest) and not from_rest.velocities[0].any()
    assert not shoot(velocity="zero").velocities[0].any()
    given = np.random.default_rng(0).normal(size=shell.rest.shape)
    assert np.array_equal(shoot(velocity=given).velocities[0], given)


def test_one_frame_a_guide_time(shoot: Shoot, twist: Animation) -> None:
    for substeps in (1, 3):
        take = shoot(substeps=substeps, iterations=1)
        assert np.array_equal(take.animation.times, twist.times)
        assert (take.report["iterations"][1:] == substeps).all()
        assert {len(value) for value in take.report.values()} == {6}


def test_a_settled_start_stays(shoot: Shoot, twist: Animation) -> None:
    """Released from its equilibrium in a twisted, still pose, a shell moves no further than the settling tolerance.

    `settle` stops when a long step moves nothing by 1e-4 of the size; the frames cover an eighth of a second.
    """
    held = Animation(twist.mesh, twist.times[:4], np.tile(twist.points[4], (4, 1, 1)))
    moved = {}
    for start in ("settled", "guide"):
        points = shoot(held, start=start).animation.points
        moved[start] = np.abs(points[-1] - points[0]).max()
    assert moved["settled"] <= 1e-4 * twist.mesh.size
    assert moved["guide"] > 1e-3 * twist.mesh.size


def test_a_shell_that_already_rests_settles_at_once(shoot: Shoot, twist: Animation) -> None:
    """Gravity is carried by the directions (below), so the start pose is the equilibrium."""
    take = shoot(still(twist.mesh), start="settled")
    assert np.abs(take.animation.points[0] - take.animation.mesh.rest).max() <= 1e-4 * twist.mesh.size


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_gravity_is_carried_by_direction(shoot: Shoot, twist: Animation, mass: str) -> None:
    """The hats sum to one, so the rows can push every point by its own weight: under a still guide nothing sags."""
    take = shoot(still(twist.mesh), mass=mass)
    assert np.abs(take.animation.points - take.animation.points[0]).max() <= 1e-9
    weight = take.facts["mass"] * 9.81
    assert take.report["force"][-1].sum(axis=0) == pytest.approx([0.0, weight, 0.0], abs=1e-6 * weight)


@pytest.mark.parametrize("iterations", [1, None])
def test_nothing_pops_in_the_first_frames(shoot: Shoot, twist: Animation, iterations: int | None) -> None:
    """The guide drifts at 3 m/s. From y = xₙ + dt vₙ the drifted pose is feasible, so Φ(x) ≤ Φ(y) gives
    |x − y|²_M/2dt² ≤ E(y) + m g·(x − y): unstressed, the mass-weighted root mean square acceleration is ≤ 2g.
    A start at rest would need 3 m/s within one step: 72 m/s² at 24 frames a second.
    """
    drift = np.array([3.0, 0.0, 0.0]) * twist.times[:, None, None]
    guide = Animation(twist.mesh, twist.times, twist.mesh.rest + drift)
    for velocity, bounded in (("guide", True), ("zero", False)):
        take = shoot(guide, iterations=iterations, substeps=1, velocity=velocity)
        weights = lumped_mass(take.animation.mesh)
        first = (take.velocities[1] - take.velocities[0]) * 24.0
        size = np.sqrt(weights @ np.sum(first**2, axis=1) / weights.sum())
        assert (size <= 2 * 9.81 * (1 + 1e-6)) == bounded


@pytest.mark.parametrize("settings", [{}, {"iterations": 1}, {"bending": "hinge", "mass": "consistent"}])
def test_a_run_resumes_to_the_same_bytes(twist: Animation, settings: dict) -> None:
    """Frame index and state are all that is needed: another process would do the same."""
    shell, tests = hierarchy(twist.mesh, 2)

    def job():
        return tracking_job(twist, shell, tests, material="vinyl", threads=1, **settings)

    whole = list(job().frames())
    for stop in (0, 2, 4):
        rest = list(job().frames(after=whole[stop]))
        assert [frame.index for frame in rest] == list(range(stop + 1, 6))
        for a, b in zip(rest, whole[stop + 1 :], strict=True):
            assert a.state.q.tobytes() == b.state.q.tobytes()
            assert a.state.velocity.tobytes() == b.state.velocity.tobytes()
            assert a.report["force"].tobytes() == b.report["force"].tobytes()


def test_a_run_can_be_stopped_and_carried_on(twist: Animation) -> None:
    shell, tests = hierarchy(twist.mesh, 1)
    job = tracking_job(twist, shell, tests, threads=1)
    marching = job.frames()
    first = [next(marching) for _ in range(3)]
    rest = list(job.frames(after=first[-1]))
    assert [frame.index for frame in first + rest] == list(range(6))


def test_without_tests_it_is_a_plain_simulation(twist: Animation) -> None:
    take = track(twist, twist.mesh, None, material="vinyl", threads=1)
    assert take.report["residual"].shape == (6, 0) and take.facts["regions"] == 0


def test_strength_lets_the_shell_go(shoot: Shoot, twist: Animation) -> None:
    """Held weakly the averages lag; let go altogether they fall freely: −½ g t² (1 + dt/t) by implicit Euler."""
    guide = still(twist.mesh, 5)
    take = shoot(guide, strength=0.0, substeps=1, velocity="zero")
    dt = 1 / 24.0
    steps = np.arange(5)
    fall = -9.81 * dt**2 * steps * (steps + 1) / 2
    mean = take.animation.points[:, :, 1].mean(axis=1) - take.animation.points[0, :, 1].mean()
    assert mean == pytest.approx(fall, abs=1e-9)
    missed = [shoot(guide, strength=s).report["residual"][-1].max() for s in (1.0, 0.9, 0.5, 0.1)]
    assert missed == sorted(missed) and missed[0] <= 1e-12 < missed[1]


BOX = still(sheet(1, 1))


@pytest.mark.parametrize(
    ("setting", "story"),
    [
        ({"gravty": 0}, r"unknown setting of track \(got 'gravty'\); allowed: gravity"),
        ({"gravity": (0, -9.81)}, "gravity must be three finite numbers"),
        ({"gravity": (0, np.nan, 0)}, "gravity must be three finite numbers"),
        ({"substeps": 0}, "substeps must be a whole number above zero"),
        ({"substeps": 10_001}, "substeps are too many .*10001.*allowed: 1 to 10000"),
        ({"substeps": 1.5}, "substeps must be a whole number"),
        ({"substeps": True}, "substeps must be a whole number"),
        ({"iterations": 0}, "iterations must be a whole number"),
        ({"tolerance": 0.0}, "tolerance must be a number between 0 and 1"),
        ({"tolerance": 1.0}, "tolerance must be a number between 0 and 1"),
        ({"bending": "shell"}, "unknown bending .*allowed: plate, hinge"),
        ({"mass": "none"}, "unknown mass .*allowed: lumped, consistent"),
        ({"start": "end"}, "unknown start .*allowed: guide, rest, settled"),
        ({"velocity": "fast"}, "unknown velocity .*allowed: guide, zero"),
        ({"velocity": np.zeros((3, 3))}, "velocity must be finite, one row a shell vertex"),
        ({"velocity": np.full((9, 3), np.nan)}, "velocity must be finite"),
        ({"strength": 1.5}, "strength must lie between 0 and 1"),
        ({"strength": [[0, 1], [1, -0.1]]}, "strength must lie between 0 and 1"),
        ({"strength": "full"}, "not a number, nor keys"),
        ({"strength": [[0]]}, "not a number, nor keys"),
        ({"strength": None}, "not a number, nor keys"),
        ({"tolerance": "tight"}, "tolerance must be a number between 0 and 1"),
        ({"gravity": "down"}, "gravity must be three finite numbers"),
        ({"threads": 0}, "threads must be a whole number above zero"),
        ({"threads": "two"}, "threads must be a whole number above zero"),
        ({"single": "yes"}, "single must be True or False"),
        ({"speed": 1}, "unknown setting of track .*'speed'"),
        ({"material": 3}, "not a material"),
        ({"material": "vinil"}, "unknown material .*try: 'vinyl'"),
        ({"pins": Pin(np.array(["a"]))}, "pin.vertices must be a list of whole numbers"),
        ({"pins": [Pin(np.array([0.5]))]}, "pin.vertices must be a list of whole numbers"),
    ],
)
def test_every_setting_has_its_refusal(setting: dict, story: str) -> None:
    shell, tests = hierarchy(BOX.mesh, 1)
    with pytest.raises(InputError, match=story):
        tracking_job(BOX, shell, tests, **setting)


def test_numpy_numbers_are_numbers() -> None:
    shell, tests = hierarchy(BOX.mesh, 1)
    job = tracking_job(BOX, shell, tests, substeps=np.int64(2), tolerance=np.float32(1e-3), strength=np.float64(1.0))
    assert job.substeps == 2


@pytest.mark.parametrize(
    ("pairs", "story"),
    [
        ([[0, 0.5]], "whole numbers of shape"),
        ([0, 1], "whole numbers of shape"),
        ([[8, 0]], "the guide has not .*0 to 3"),
        ([[0, -1]], "the shell has not"),
    ],
)
def test_bad_pairs_are_refused(pairs: list, story: str) -> None:
    shell, _ = hierarchy(BOX.mesh, 1)
    with pytest.raises(InputError, match=story):
        pointwise(BOX.mesh, shell, np.array(pairs))


def test_wrong_meshes_are_refused_by_name() -> None:
    shell, tests = hierarchy(BOX.mesh, 1)
    flat = TriMesh(shell.rest * [1, 0, 0], shell.faces)
    with pytest.raises(InputError, match="shell, faces 0"):
        tracking_job(BOX, flat, tests)
    points = BOX.points.copy()
    points[1, 2] = np.nan
    with pytest.raises(InputError, match="guide, frame 1, vertices 2"):
        tracking_job(Animation(BOX.mesh, BOX.times, points), shell, tests)
    with pytest.raises(InputError, match=r"material blend belongs to another mesh \(got '3 faces'\)"):
        tracking_job(BOX, shell, tests, material=MaterialBlend.uniform(ShellMaterial(young=1e6), 3))
    with pytest.raises(InputError, match="test functions belong to other meshes"):
        tracking_job(BOX, sheet(3, 3), tests)
    with pytest.raises(InputError, match="cannot settle"):
        tracking_job(BOX, BOX.mesh, None, start="settled")
