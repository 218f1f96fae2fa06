"""Wind, pressure and gas as arguments of `track`: what is reported and what is refused before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku import Animation, Gas, InputError, Pin, ShellMaterial, Take, TriMesh, Wind, track
from bunraku.testing import icosphere, sheet

SOFT = ShellMaterial(young=1e5, thickness=1e-3, density=300.0, stretch_damping=0.01)


def run(mesh: TriMesh, **settings: Any) -> Take:
    guide = Animation(mesh, np.arange(3) / 24.0, np.repeat(mesh.rest[None], 3, axis=0))
    return track(guide, mesh, None, material=settings.pop("material", SOFT), threads=1, **settings)


def test_frames_report_volume_pressure_and_exposure_where_they_are_used() -> None:
    one = icosphere(1, 0.1)
    two = TriMesh(np.concatenate([one.rest, one.rest + 1.0]), np.concatenate([one.faces, one.faces + one.point_count]))
    report = run(two, pressure=[[0, 0.0], [1 / 24, 50.0]], wind=Wind((3, 0, 0))).report
    assert report["volume"].shape == report["pressure"].shape == (3, 2)
    assert report["pressure"][:, 0] == pytest.approx([0.0, 50.0, 50.0])
    assert (np.diff(report["volume"], axis=0) > 0).all()
    assert report["exposure"].shape == (3,) and 0.3 < report["exposure"][0] < 0.7  # the lee side of each ball
    assert not {"volume", "pressure", "exposure"} & set(run(one).report)


def test_a_wind_replaces_still_air() -> None:
    """Without wind the material's drag brakes; with it the shell is carried: along the wind each of the four steps
    leaves 1/(1 + a) of the difference, a = drag dt/(density × thickness)."""
    mesh = sheet(2, 2, 0.2)
    light = ShellMaterial(young=1e5, thickness=1e-3, density=10.0, drag=5.0)
    calm = run(mesh, material=light, gravity=(0, 0, 0))
    blown = run(mesh, material=light, gravity=(0, 0, 0), wind=Wind((3, 0, 0)))
    assert np.abs(calm.velocities).max() < 1e-12
    left = (1.0 + 5.0 / 48.0 / (10.0 * 1e-3)) ** -4
    assert blown.velocities[-1][:, 0] == pytest.approx(np.full(9, 3.0 * (1.0 - left)), rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pressure": 100.0}, r"open shell.*8 open edges.*try: close the holes"),
        ({"gas": Gas()}, "open shell"),
        ({"pressure": np.nan}, "pressure"),
        ({"pressure": "high"}, "pressure: not a number, nor keys"),
        ({"pressure": 10.0, "gas": Gas()}, "either a given pressure or an enclosed gas"),
        ({"gas": 500.0}, r"gas must be a Gas.*bk.Gas"),
        ({"wind": (5, 0, 0)}, r"wind must be a Wind.*bk.Wind"),
        ({"wind": Wind(lambda points, time: np.zeros(3))}, r"one velocity a point.*shape \(3,\)"),
        ({"wind": Wind(lambda points, time: np.full(points.shape, np.inf))}, "too fast or not finite"),
    ],
)
def test_refusals_come_before_the_first_step(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        run(sheet(2, 2, 0.3), **settings)
    assert len(str(caught.value).splitlines()) == 1


def test_a_shell_settles_in_the_wind() -> None:
    """A sail held at its rim bellies downwind and rests."""
    sail = sheet(6, 6, 0.6)
    rim = np.flatnonzero(np.isin(sail.rest[:, 0], [0.0, 0.6]) | np.isin(sail.rest[:, 1], [0.0, 0.6]))
    take = run(sail, pins=Pin(rim), start="settled", wind=Wind((0, 0, 8.0)), gravity=(0, 0, 0))
    depth = take.animation.points[:, :, 2].max(axis=1)
    assert depth[0] > 0.01
    assert depth == pytest.approx(np.full(3, depth[0]), rel=0.02)
