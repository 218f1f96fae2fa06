"""Whole takes of shells that set, and of shells whose rest shape changes."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.direction import Pin, Take
from bunraku.direction.track import hierarchy, track, tracking_job
from bunraku.energies import Bending, Membrane
from bunraku.geometry import TriMesh, crinkle
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import Animation, CurveLike, RestShapes
from bunraku.testing import sheet

MANDREL, YIELD = 4.0, 1.5
TIMES = np.arange(37) / 24.0
STILL = {"gravity": (0.0, 0.0, 0.0), "threads": 1}


def rolled(rest: np.ndarray, curvature: float) -> np.ndarray:
    """The sheet bent along x about its middle."""
    if curvature == 0.0:
        return rest
    turn = curvature * (rest[:, 0] - 0.5)
    return np.column_stack([np.sin(turn) / curvature + 0.5, rest[:, 1], (1 - np.cos(turn)) / curvature])


def mandrel_take(bending: str, substeps: int, **changes: float) -> Take:
    """A strip pinned to a guide that bends onto a cylinder in half a second, held for an eighth, then let go."""
    strip = sheet(12, 3, length=1.0)
    points = np.stack([rolled(strip.rest, MANDREL * min(time / 0.5, 1.0)) for time in TIMES])
    material = ShellMaterial(
        **{
            "young": 1e9, "thickness": 4e-3, "density": 400, "stretch_damping": 0.02, "bend_damping": 0.02,
            "yield_curvature": YIELD, **changes,
        }
    )  # fmt: skip
    led = Pin(np.arange(strip.point_count), to="guide", strength=[[0.625, 1.0], [0.7, 0.0, "smooth"]])
    return track(
        Animation(strip, TIMES, points), strip, None, material=material, pins=led, bending=bending, substeps=substeps,
        **STILL,
    )  # fmt: skip


def curvature_of(points: np.ndarray) -> float:
    """Of the circle through the points of a strip bent along x in z."""
    p = points[:, [0, 2]] - points[:, [0, 2]].mean(axis=0)
    fit = np.linalg.lstsq(np.column_stack([2 * p, np.ones(len(p))]), (p**2).sum(axis=1), rcond=None)[0]
    return float(1.0 / np.sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2))


@pytest.mark.parametrize("bending", ["plate", "hinge"])
@pytest.mark.slow
def test_a_strip_let_go_from_a_cylinder_keeps_its_set(bending: str) -> None:
    """1/R − Δκ_max, with two step sizes, with and without hardening; elastic it opens flat.

    To a fortieth of 1/R, as without motion (`tests/verification/test_mandrel.py`): swings stay within yield.
    """
    takes = [mandrel_take(bending, k, hardening=eta) for k, eta in ((1, 0.0), (3, 0.0), (2, 0.5))]
    found = [curvature_of(take.animation.points[-1]) for take in takes]
    assert found == pytest.approx([MANDREL - YIELD] * 3, abs=0.025 * MANDREL)
    for take in takes:
        yielded = take.report["yielded"]
        assert yielded[0] == 0.0 and 0.0 < yielded[-1] <= 1.0 and (np.diff(yielded) >= 0).all()
    flat = mandrel_take(bending, 1, yield_curvature=np.inf)
    assert "yielded" not in flat.report
    assert np.ptp(flat.animation.points[-1][:, 0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("bending", ["plate", "hinge"])
def test_a_setting_run_resumes_to_the_same_bytes(twist: Animation, bending: str) -> None:
    """What has set and hardened is in the state, like everything that evolves; so is a blend of rest shapes."""
    shell, tests = hierarchy(twist.mesh, 2)
    material = ShellMaterial(
        young=2e5, thickness=4e-3, density=800, bend_damping=4e-3, yield_curvature=0.5, hardening=1.0
    )
    rest = RestShapes.between(shell.rest, 1.1 * shell.rest, [[0.0, 0.0], [0.2, 1.0, "smooth"]])

    def job():
        return tracking_job(twist, shell, tests, material=material, bending=bending, rest=rest, threads=1)

    whole = list(job().frames())
    assert whole[-1].report["yielded"] > whole[1].report["yielded"]
    for stop in (0, 3):
        for a, b in zip(job().frames(after=whole[stop]), whole[stop + 1 :], strict=True):
            assert a.state.q.tobytes() == b.state.q.tobytes()
            assert a.state.velocity.tobytes() == b.state.velocity.tobytes()
            for key, value in b.state.memory.items():
                assert a.state.memory[key].tobytes() == value.tobytes()


def shocked(mesh: TriMesh, amount: CurveLike, material: ShellMaterial, count: int = 25) -> Take:
    """A free sheet at rest, crinkled by its rest shape; shallow, so that no bump can snap to the other side."""
    guide = Animation(mesh, np.arange(count) / 24.0, np.tile(mesh.rest, (count, 1, 1)))
    bumps = crinkle(mesh, depth=0.02, wavelength=0.5, seed=3)
    return track(guide, mesh, None, material=material, rest=RestShapes.between(mesh.rest, bumps, amount), **STILL)


SHEET = ShellMaterial(young=1e6, thickness=2e-2, density=50, stretch_damping=0.05, bend_damping=0.05)


def test_a_shock_crinkles_a_sheet_and_lets_it_go() -> None:
    """Switched on in two frames it is stressed, then settles into the crinkled shape: its energy falls by 1e3."""
    mesh = sheet(12, 12, length=1.0)
    take = shocked(mesh, [[0.2, 0.0], [0.28, 1.0, "smooth"], [0.7, 1.0], [0.78, 0.0, "smooth"]], SHEET)
    energy = take.report["stretching"] + take.report["bending"]
    before, on, settled, off = energy[:5], energy[5:9].max(), energy[16], energy[17:20].max()
    assert before.max() < 1e-12 * on
    assert settled < 1e-3 * on and energy[-1] < 1e-3 * off
    bumps = crinkle(mesh, depth=0.02, wavelength=0.5, seed=3)
    blend = MaterialBlend.uniform(SHEET, len(mesh.faces))
    x = take.animation.points[16]
    rest = RestShapes([bumps], [1.0])
    now = [source.elastic(0.0).value(x) for source in (Membrane(mesh, blend, rest), Bending(mesh, blend, rest=rest))]
    flat = [source.elastic(0.0).value(x) for source in (Membrane(mesh, blend), Bending(mesh, blend))]
    assert sum(now) < 1e-2 * sum(flat)


def test_a_smooth_key_does_not_pop() -> None:
    """Accelerations while the rest shape changes: a key eased over half a second against one that jumps."""
    mesh = sheet(6, 6, length=1.0)
    peak = {}
    for ease, amount in {"smooth": [[0.2, 0.0], [0.7, 1.0, "smooth"]], "jump": [[0.2, 0.0], [0.21, 1.0]]}.items():
        velocity = shocked(mesh, amount, SHEET, count=20).velocities
        peak[ease] = np.abs(np.diff(velocity, axis=0)).max() * 24.0
    assert 0.0 < peak["smooth"] < 0.1 * peak["jump"]


def test_points_alone_are_a_rest_shape() -> None:
    """A sheet whose rest shape is half as large shrinks to it; mass stays that of the sheet."""
    mesh = sheet(4, 4, length=1.0)
    guide = Animation(mesh, np.arange(25) / 24.0, np.tile(mesh.rest, (25, 1, 1)))
    take = track(guide, mesh, None, material=SHEET, rest=0.5 * mesh.rest, **STILL)
    assert np.ptp(take.animation.points[-1][:, 0]) == pytest.approx(0.5, abs=1e-2)
    assert take.facts["mass"] == pytest.approx(
        50 * 2e-2 * np.prod(np.ptp(mesh.rest, axis=0)[np.ptp(mesh.rest, axis=0) > 0])
    )
    with pytest.raises(InputError, match="rest must be"):
        track(guide, mesh, None, rest="crinkly", **STILL)  # type: ignore[arg-type]
