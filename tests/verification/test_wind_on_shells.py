"""Shells in the wind: terminal velocity, a flag behind a wall, a storm at the bound."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, Pin, ShellMaterial, Take, Wind, track
from bunraku.direction.track import tracking_job
from bunraku.geometry import TriMesh
from bunraku.testing import sheet

pytestmark = pytest.mark.slow

CLOTH = ShellMaterial(young=1e5, poisson=0.2, thickness=1e-3, density=200.0, stretch_damping=0.005, bend_damping=0.02)
AIR = {"turbulence": 0.25, "size": 0.4, "seed": 5}


def still(mesh: TriMesh, frames: int) -> Animation:
    return Animation(mesh, np.arange(frames) / 24.0, np.repeat(mesh.rest[None], frames, axis=0))


def test_a_falling_plate_reaches_its_terminal_velocity() -> None:
    """m g = ½ ρ C_D A v². Drag alone, so that the plate stays level; the frozen resistance is exact once it does."""
    flat = sheet(2, 2, 0.4, 0.4)
    plate = flat.with_rest(flat.rest[:, [0, 2, 1]])
    take = track(
        still(plate, 73), plate, None, material=CLOTH, wind=Wind(drag=1.1, lift=0.0), gravity=(0, -9.81, 0), threads=1
    )
    wanted = np.sqrt(2 * 200.0 * 1e-3 * 9.81 / (1.2 * 1.1))
    assert take.velocities[-1][:, 1] == pytest.approx(np.full(9, -wanted), rel=1e-6)


def flag(wind: Wind | None, frames: int = 31, **more: object) -> Take:
    """A cloth 0.6 m long in a plane through the wind, held at its pole."""
    cloth = sheet(9, 6, 0.6)
    pole = Pin(np.flatnonzero(cloth.rest[:, 0] == 0.0))
    return track(still(cloth, frames), cloth, None, material=CLOTH, pins=pole, wind=wind, threads=1, **more)  # type: ignore[arg-type]


def wall() -> TriMesh:
    """3 m × 3 m, 0.4 m upwind of the pole."""
    flat = sheet(2, 2, 3.0, 3.0)
    return flat.with_rest(np.column_stack([np.full(9, -0.4), flat.rest[:, :2] - 1.5]))


def test_a_flag_behind_a_wall_hangs_as_in_still_air() -> None:
    """The wind's share of its motion, the distance from the same flag in still air, is at most 5 % of that before."""
    blowing = Wind((7.0, 0.0, 2.0), **AIR)  # type: ignore[arg-type]
    behind = Wind((7.0, 0.0, 2.0), obstacles=[wall()], **AIR)  # type: ignore[arg-type]
    calm, free, hidden = flag(Wind()), flag(blowing), flag(behind)
    moved = [float(np.sqrt(np.mean((take.velocities - calm.velocities) ** 2))) for take in (free, hidden)]
    away = [float(np.sqrt(np.mean((take.animation.points - calm.animation.points) ** 2))) for take in (free, hidden)]
    print(f"flag: RMS velocity by the wind {moved[0]:.3g} m/s free, {moved[1]:.3g} behind the wall")
    assert moved[0] > 0.2 and away[0] > 0.02
    assert moved[1] <= 0.05 * moved[0] and away[1] <= 0.05 * away[0]
    assert hidden.report["exposure"].max() == 0.0 and free.report["exposure"].max() > 0.9


def test_a_storm_at_the_bound_stays_bounded() -> None:
    """900 m/s: the air pulls with at most ½ ρ C_D A v² on every face, so the pull on the pole is bounded, and with it
    the stretch; no point overtakes the wind."""
    take = flag(Wind((880.0, 0.0, 150.0)), frames=13)
    assert np.isfinite(take.animation.points).all()
    speed = np.linalg.norm(take.velocities, axis=2).max()
    assert 1.0 < speed <= np.hypot(880.0, 150.0)
    assert take.report["converged"].all()


def test_a_run_carried_on_is_the_run() -> None:
    """Eddies come from the seed and exposure from the state: stopped and resumed, the bytes are the same."""
    cloth = sheet(4, 3, 0.4)
    post = sheet(1, 1, 0.2, 0.2)
    post = post.with_rest(np.column_stack([np.full(4, -0.2), post.rest[:, :2]]))
    settings = {
        "material": CLOTH, "pins": Pin(np.flatnonzero(cloth.rest[:, 0] == 0.0)), "threads": 1,
        "wind": Wind((7.0, 0.0, 2.0), obstacles=[post], **AIR),  # type: ignore[arg-type]
    }  # fmt: skip
    whole = list(tracking_job(still(cloth, 9), cloth, None, **settings).frames())  # type: ignore[arg-type]
    rest = list(tracking_job(still(cloth, 9), cloth, None, **settings).frames(after=whole[4]))  # type: ignore[arg-type]
    assert 0.0 < whole[4].report["exposure"] < 1.0
    assert len(rest) == 4
    assert rest[-1].points.tobytes() == whole[-1].points.tobytes()
