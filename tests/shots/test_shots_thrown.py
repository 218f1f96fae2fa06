"""Bodies that are thrown or hit as a shot begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import InputError, steer
from bunraku.direction.steer import DIGESTS
from bunraku.geometry import tet_bar, tet_lumped_mass
from bunraku.io import write_mesh
from bunraku.shots import Remarked, Shot, TakeResult, dry_run
from bunraku.shots.kept import each
from bunraku.shots.prepare_body import prepare_body
from bunraku.shots.run import TakeFolder

BAR = tet_bar((6, 2, 2), (0.6, 0.2, 0.2))
SKIN = BAR.surface()
HEAD = np.flatnonzero(BAR.rest[:, 0] > 0.6 - 1e-9)
MASS = tet_lumped_mass(BAR, 1.0) / tet_lumped_mass(BAR, 1.0).sum()
BLOW: dict[str, Any] = {"region": "head", "velocity": [0.0, 1.5, 0.0]}
RATE = 24.0


@pytest.fixture
def shot(tmp_path: Path):
    write_mesh(tmp_path / "bar.obj", SKIN)
    write_mesh(tmp_path / "bar.msh", BAR)

    def make(frames: tuple[int, int] = (5, 13), gravity: tuple[float, ...] = (0.0, 0.0, 0.0), **table: Any) -> Shot:
        body = {
            "role": "body", "surface": {"file": "bar.obj", "unit": "m"}, "tets": {"file": "bar.msh", "unit": "m"},
            "material": "rubber",
            "regions": {"head": {"vertices": np.flatnonzero(SKIN.rest[:, 0] > 0.6 - 1e-9).tolist()}},
        }  # fmt: skip
        settings: dict[str, Any] = {"shot": {"frames": list(frames)}, "object": {"bar": {**body, **table}}}
        settings |= {"physics": {"substeps": 1, "gravity": list(gravity)}, "output": {"preview": False}}
        return Shot.of(settings, folder=tmp_path, source=tmp_path / "bar.toml")

    return make


def middles(result: TakeResult) -> np.ndarray:
    """(t, 3) of the body, about where it begins."""
    frames = list(each(TakeFolder(result.folder).cache(), 0, len(result.report.measured.frames)))
    found = np.array([MASS @ frame.state.q.reshape(-1, 3) for frame in frames])
    return found - found[0]


def test_a_thrown_body_flies(shot) -> None:
    """In implicit steps of 1/24 s: gravity counts k + 1 times in the k-th."""
    moved = middles(shot(gravity=(0.0, -9.81, 0.0), velocity=[2.0, 3.0, -1.0]).run())
    k = np.arange(len(moved))[:, None]
    expected = k / RATE * np.array([2.0, 3.0, -1.0]) + k * (k + 1) / 2 / RATE**2 * np.array([0.0, -9.81, 0.0])
    np.testing.assert_allclose(moved, expected, atol=1e-6 * BAR.size)


def test_a_blow_is_what_the_same_velocities_are_in_python(shot) -> None:
    result = shot(velocity=[0.5, 0.0, 0.0], blows=[BLOW, {"region": "head", "velocity": [0.0, 0.0, 0.2]}]).run()
    velocity = np.tile([0.5, 0.0, 0.0], (BAR.point_count, 1))
    velocity[HEAD] += [0.0, 1.5, 0.2]
    told = steer(BAR, velocity=velocity, duration=8 / RATE, rate=RATE, gravity=(0.0, 0.0, 0.0), material="rubber")
    frames = list(each(TakeFolder(result.folder).cache(), 0, 9))
    origin = BAR.rest[0] - frames[0].state.q.reshape(-1, 3)[0]
    made = np.stack([frame.state.q.reshape(-1, 3) for frame in frames]) + origin
    np.testing.assert_allclose(made, told.animation.points, atol=1e-6 * BAR.size)
    assert made[1, HEAD, 1].mean() - made[0, HEAD, 1].mean() > 5 * np.ptp(made[0, :, 1] - BAR.rest[:, 1])


def test_a_blow_shakes_what_its_path_carries(shot) -> None:
    """The whole body stays on its path from the first step on, whatever it is given besides."""
    path = [{"points": [[5, 0.3, 0.1, 0.1], [13, 1.1, 0.1, 0.1]]}]
    plain, hit = (shot(path=path, **more).run() for more in ({}, {"blows": [BLOW]}))
    np.testing.assert_allclose(middles(hit), middles(plain), atol=1e-8)
    first, second = (next(iter(each(TakeFolder(one.folder).cache(), 1, 2))).state.q for one in (plain, hit))
    assert abs(first - second).max() > 0.01


def test_frames_know_how_a_body_begins(shot) -> None:
    """Another blow leaves no frame as it was; the same one all of them, also where only some are made."""
    told: list[Any] = []
    first = shot(blows=[BLOW]).run()
    shot(blows=[BLOW]).run(frames=(5, 9), progress=told.append)
    (kept,) = [event for event in told if isinstance(event, Remarked)]
    assert "are those of v001" in kept.text
    plain, hit, thrown = (
        prepare_body(shot(**more)).job().facts[DIGESTS]
        for more in ({}, {"blows": [BLOW]}, {"velocity": [1.0, 0.0, 0.0]})
    )
    assert not set(plain) & set(hit) and not set(hit) & set(thrown)
    assert first.report.met is not False
    assert any("1 blow" in line for line in dry_run(shot(velocity=[1.0, 0.0, 0.0], blows=[BLOW])))


def test_what_begins_with_nothing_that_is_there_is_refused(shot) -> None:
    with pytest.raises(InputError, match=r"blows\[0\]\.region: unknown region \(got 'haed'\).*try: 'head'"):
        shot(blows=[{"region": "haed", "velocity": [0, 1, 0]}])
    with pytest.raises(InputError, match=r"object\.bar\.velocity.*allowed: a velocity \[x, y, z\] in m/s"):
        shot(velocity=[1.0, 0.0])
    with pytest.raises(InputError, match=r"blows\[0\]\.velocity"):
        shot(blows=[{"region": "head"}])
