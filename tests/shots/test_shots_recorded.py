"""The way of a body in a finished take, given to another: the one that Python records from the take in memory."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.direction import Pin
from bunraku.geometry import TetMesh, tet_bar
from bunraku.io import packed, read_arrays, write_mesh
from bunraku.motion import Path as Way
from bunraku.shots import Shot, open_take
from bunraku.shots.kept import kept
from bunraku.shots.prepare_body import PreparedBody, prepare_body
from bunraku.shots.run import TakeFolder

BAR = tet_bar((6, 2, 2), (0.6, 0.2, 0.2))
THIN = BAR.with_rest(BAR.rest * (1.0 - 1.2 * BAR.rest[:, :1]) ** [0, 1, 1])
"""tapers towards its free end"""
SKIN = THIN.surface()
LEFT = SKIN.rest[:, 0] < 1e-9
SOFT: dict[str, Any] = {"young": 1e4, "poisson": 0.4, "density": 1000.0, "stiffness_damping": 0.01}
FRAMES, RATE = (3, 15), 24.0
TURNED = [{"take": "droop/v001", "turning": True}]


@pytest.fixture
def shot(tmp_path: Path):
    write_mesh(tmp_path / "thin.obj", SKIN)
    write_mesh(tmp_path / "thin.msh", THIN)

    def make(name: str = "droop", more: dict[str, Any] | None = None, **table: Any) -> Shot:
        body = {
            "role": "body", "surface": {"file": "thin.obj", "unit": "m"}, "tets": {"file": "thin.msh", "unit": "m"},
            "material": SOFT, "regions": {"left": {"vertices": np.flatnonzero(LEFT).tolist()}}, **table,
        }  # fmt: skip
        settings: dict[str, Any] = {"shot": {"frames": list(FRAMES)}, "object": {name: body, **(more or {})}}
        settings |= {"physics": {"substeps": 1}, "output": {"preview": False}}
        return Shot.of(settings, folder=tmp_path, source=tmp_path / f"{name}.toml")

    return make


def in_python() -> bk.Take[TetMesh]:
    """The bar that droops from where it is held, in memory."""
    return bk.steer(
        THIN, pins=[Pin(np.flatnonzero(THIN.rest[:, 0] < 1e-9))], material=bk.SolidMaterial(**SOFT),
        duration=(FRAMES[1] - FRAMES[0]) / RATE, rate=RATE,
    )  # fmt: skip


def way_of(prepared: PreparedBody) -> tuple[np.ndarray, np.ndarray]:
    """(t, 3) in the world and (t, 3, 3) of the path of the first body."""
    path = prepared.bodies[0].paths[0]
    assert path.rotations is not None
    np.testing.assert_allclose(path.times, np.arange(FRAMES[1] - FRAMES[0] + 1) / RATE, atol=1e-12)
    return path.points + prepared.origin, path.rotations


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings since the last look."""
    found = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    caplog.clear()
    return found


def apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(t,) [rad] between rotations (t, 3, 3)."""
    return (Rotation.from_matrix(first).inv() * Rotation.from_matrix(second)).magnitude()


def test_a_shot_records_the_path_that_python_does(shot, caplog: pytest.LogCaptureFixture) -> None:
    """Centre of mass and mean of the element rotations, where the surface's middle and best fit are elsewhere."""
    result = shot(pins=[{"region": "left"}]).run()
    take = in_python()
    told = bk.Path.recorded(take, turning=True)
    assert told.rotations is not None
    points, turns = way_of(prepare_body(shot("other", path=TURNED)))
    assert not said(caplog)
    np.testing.assert_allclose(points, told.points, atol=1e-6 * THIN.size)
    assert apart(turns, told.rotations).max() < 1e-5
    surface = Way.of(bk.read_clip(result.folder / "droop.usdc").animation, turning=True)
    assert surface.rotations is not None and apart(surface.rotations, told.rotations).max() > 0.05
    assert np.linalg.norm(surface.points - told.points, axis=1).max() > 1e-4 * THIN.size
    cache = TakeFolder(result.folder).cache()
    for k, turn in enumerate(turns):  # to the last digit what the run itself said
        np.testing.assert_allclose(turn, kept(cache, k).report["rotation"], atol=1e-14)


def test_one_of_several_bodies_and_no_turn(shot, tmp_path: Path) -> None:
    """Nodes of bodies are counted on from one to the next; without `turning` it is the same centre of mass."""
    first = shot(pins=[{"region": "left"}])
    second = {"rock": {**first.settings(tmp_path)["object"]["droop"], "pins": [], "velocity": [1.0, 2.0, 0.0]}}
    shot(more=second, pins=[{"region": "left"}]).run()
    take = in_python()
    path = [{"take": "droop/v001/droop"}]
    prepared = prepare_body(shot("other", path=path))
    found = prepared.bodies[0].paths[0]
    np.testing.assert_allclose(found.points + prepared.origin, bk.Path.recorded(take).points, atol=1e-6 * THIN.size)
    assert found.rotations is None
    flown = prepare_body(shot("other", path=[{"take": "droop/v001/rock"}]))
    steps = np.diff(flown.bodies[0].paths[0].points[:, 0])
    np.testing.assert_allclose(steps, 1.0 / RATE, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["tetrahedra", "frames", "scene"])
def test_where_the_folder_does_not_tell_the_surface_does_and_it_is_said(
    shot, gone: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shot(pins=[{"region": "left"}]).run().folder
    tetrahedra = folder / "scene" / "still.bkscene"
    assert [one.path for one in prepare_body(shot("other", path=TURNED)).inputs if one.key.endswith("path[0]")][1:] == [
        tetrahedra
    ]
    if gone == "tetrahedra":
        data = open_take(folder).scene
        assert data.solids["droop"].point_count == THIN.point_count
        _write_older(folder)
        assert not open_take(folder).scene.solids
    else:
        shutil.rmtree(folder / gone)
    prepared = prepare_body(shot("other", path=TURNED))
    (warned,) = said(caplog)
    assert warned.startswith("the path turns as the surface of take droop/v001 does, by the best fit: ")
    surface = Way.of(bk.read_clip(folder / "droop.usdc").animation, turning=True)
    assert surface.rotations is not None
    np.testing.assert_allclose(way_of(prepared)[1], surface.rotations, atol=1e-12)
    assert len([one for one in prepared.inputs if one.key.endswith("path[0]")]) == 1
    # the middle of a surface is no guess that must be told
    prepare_body(shot("other", path=[{"take": "droop/v001"}]))
    assert not said(caplog)


def _write_older(folder: Path) -> None:
    """The scene as it was written before it held tetrahedra."""
    still = folder / "scene" / "still.bkscene"
    arrays, meta = read_arrays(still)
    del meta["solids"]
    still.write_bytes(packed({name: one for name, one in arrays.items() if "solid" not in name}, meta, "scene"))


HARMS: dict[str, Any] = {
    "names that are none": lambda a, m: m.update(solids=[3]),
    "a body that is not there": lambda a, m: m.update(solids=["droop", "ghost"]),
    "nodes outside": lambda a, m: a.update({"solid/droop/tets": a["solid/droop/tets"] + 1000}),
    "triangles": lambda a, m: a.update({"solid/droop/tets": a["solid/droop/tets"][:, :3]}),
    "another body": lambda a, m: a.update({"solid/droop/rest": np.zeros((999, 3))}),
    "nowhere": lambda a, m: a.update({"solid/droop/rest": np.full((THIN.point_count, 3), np.nan)}),
}


def test_tetrahedra_that_were_damaged_are_refused(shot) -> None:
    folder = shot(pins=[{"region": "left"}]).run(frames=(3, 4)).folder
    still = folder / "scene" / "still.bkscene"
    whole = still.read_bytes()
    for harm in HARMS.values():
        arrays, meta = read_arrays(still)
        harm(arrays, meta)
        still.write_bytes(packed(arrays, meta, "scene"))
        with pytest.raises(bk.InputError, match="the scene is damaged"):
            open_take(folder)
        still.write_bytes(whole)
    assert open_take(folder).scene.solids


def test_a_path_of_a_take_is_followed_on_the_frames_that_are_told(shot) -> None:
    shot(pins=[{"region": "left"}]).run(threads=1)
    path = prepare_body(shot("again", path=[{"take": "droop/v001", "frames": [5, 9]}])).bodies[0].paths[0]
    np.testing.assert_allclose(path.times, np.arange(2, 7) / RATE, atol=1e-12)  # the body is free before and after
    with pytest.raises(InputError, match=r"path\[0\].frames: a path ends after it begins \(got \[9, 5\]\)"):
        shot("again", path=[{"take": "droop/v001", "frames": [9, 5]}])
    with pytest.raises(InputError, match=r"path\[0\].frames: is for a file or a take; try: rows on these frames"):
        shot("again", path=[{"points": [[3, 0, 0, 0]], "frames": [5, 9]}])
    with pytest.raises(InputError, match=r"path\[0\]: frames: has fewer than two samples.*frames from 3 to 15"):
        prepare_body(shot("again", path=[{"take": "droop/v001", "frames": [15, 20]}]))


def test_a_path_of_a_take_may_be_retimed(shot) -> None:
    shot(pins=[{"region": "left"}]).run(threads=1)

    def path(**more: Any) -> bk.Path:
        return prepare_body(shot("again", path=[{"take": "droop/v001", **more}])).bodies[0].paths[0]

    there, back = path(frames=[5, 9]), path(retime=[[5, 9], [9, 5]])
    np.testing.assert_allclose(back.times, there.times, atol=1e-12)
    np.testing.assert_allclose(back.points, there.points[::-1], atol=1e-12)
    assert np.abs(np.diff(there.points, axis=0)).max() > 1e-6  # it moves
    slow = path(retime=[[5, 5], [9, 7]])
    np.testing.assert_allclose(slow.points[::2], there.points[:3], atol=1e-12)
    with pytest.raises(
        InputError, match=r"path\[0\].*retime: the animation has no such frame \(got 40.0\); allowed: 3 to 15"
    ):
        path(retime=[[5, 9], [9, 40]])


def test_a_part_of_the_same_body_goes_as_that_part_did(shot) -> None:
    """And not as the whole, whose middle is elsewhere: the part that was held stays where it was."""
    shot(pins=[{"region": "left"}]).run(threads=1)
    prepared = prepare_body(shot("again", path=[{"take": "droop/v001", "region": "left"}]))
    way = prepared.bodies[0].paths[0].points + prepared.origin
    held = THIN.rest[THIN.rest[:, 0] < 1e-9]
    assert np.ptp(way, axis=0).max() < 1e-9 and np.abs(way[0] - held.mean(axis=0)).max() < 0.01
