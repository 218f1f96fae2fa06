"""What is written down of a scene: guide, obstacles and regions, the same bytes each run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError, OutputError, Plane
from bunraku.io import write_animation
from bunraku.render import LOOKING
from bunraku.shots import FrameDone, read_shot
from bunraku.shots import scene as scene_module
from bunraku.shots.folder import TakeFolder
from bunraku.shots.prepare_shell import prepare_shell
from bunraku.shots.scene import Scene, planes_of, read_scene, write_scene
from bunraku.shots.scenery import Scenery

Files = Callable[..., Path]
FACTS = {"contact": {"gap_m": 0.001, "reach_m": 0.01}}


def _bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _written(path: Path, folder: Path) -> Scene:
    write_scene(folder, prepare_shell(read_shot(path)), FACTS)
    return read_scene(folder)


def _with_obstacles(files: Files, tmp_path: Path, guide, slant: float = 0.3) -> Path:
    """The box with a moving ball of its own shape, a floor and a slanting plane."""
    write_animation(tmp_path / "other.usda", guide, rate=24.0, prim="/other")
    path = files(shot={"preroll": 2}, physics={"contact": True})
    text = f"""
[object.mover]
role = "obstacle"
source = {{ file = "other.usda" }}
[object.floor]
role = "obstacle"
source = {{ plane = {{ point = [0, -1, 0] }} }}
[object.slope]
role = "obstacle"
source = {{ plane = {{ point = [0, -2, 0], normal = [{slant}, 1, 0] }} }}
"""
    path.write_text(path.read_text() + text)
    return path


def test_a_take_holds_its_scene_and_the_same_one_each_run(files: Files) -> None:
    shot = read_shot(files(shot={"preroll": 2}))
    folders = [shot.run().folder / "scene" for _ in range(2)]
    assert _bytes(folders[0]) == _bytes(folders[1])
    scene, prepared = read_scene(folders[0]), prepare_shell(shot)
    assert scene.numbers.tolist() == [1, 2, 3, 4, 5, 6] and scene.preroll == 2 and scene.rate == 24.0
    np.testing.assert_array_equal(scene.shell.rest, prepared.shell.rest)
    np.testing.assert_array_equal(scene.shell.faces, prepared.shell.faces)
    np.testing.assert_array_equal(scene.guide_faces, prepared.guide.mesh.faces)
    for k in (0, 3, 5):  # preroll is not shown
        np.testing.assert_allclose(scene.guide(k), prepared.guide.points[k + 2], atol=1e-7)
    assert scene.guide(0).dtype == np.float32 and scene.obstacles(3).shape == (0, 3)
    assert prepared.tests is not None and scene.functions is not None
    np.testing.assert_allclose(scene.functions.toarray(), prepared.tests.shell.toarray(), atol=1e-7)
    assert scene.regions == prepared.regions
    low, high = scene.box
    shown = prepared.guide.points[2:]
    np.testing.assert_allclose([low, high], [shown.min(axis=(0, 1)), shown.max(axis=(0, 1))], atol=1e-6)


def test_obstacles_are_written_as_they_move_and_slanting_planes_as_squares(files: Files, tmp_path: Path, guide) -> None:
    scene = _written(_with_obstacles(files, tmp_path, guide), tmp_path / "scene")
    prepared = prepare_shell(read_shot(tmp_path / "box.toml"))
    assert len(scene.obstacle_faces) == 12 + 2 and scene.obstacles(0).shape == (8 + 4, 3)
    for k in (0, 5):
        expected = prepared.contact.obstacles[0].at(float(prepared.times[k + 2]))
        np.testing.assert_allclose(scene.obstacles(k)[:8], expected, atol=1e-6)
    square, slope = scene.obstacles(2)[8:], planes_of(scene)[1]
    np.testing.assert_allclose((square - slope.point) @ slope.normal, 0.0, atol=1e-6)
    assert scene.floor == pytest.approx(-1.0) and [one.name for one in planes_of(scene)] == ["floor", "slope"]
    told = scene.meta["contact"]
    assert (told["gap_m"], told["reach_m"], told["felt"]) == (0.001, 0.01, 1)


def test_a_wall_that_would_hide_a_film_is_not_drawn_in_it() -> None:
    """Films look from the right, the front and above: at a wall on the left from its free side, on the right at its
    back. Who turns about may see both."""
    left, right = (Plane(np.array([x, 0.0, 0.0]), np.array([-x, 0.0, 0.0]), name) for x, name in ((-1, "l"), (1, "r")))
    points = np.eye(3)
    seen, faces = Scenery(planes=(left, right)).around(points, LOOKING)
    assert [one.name for one in seen] == ["l"] and len(faces) == 2
    assert len(Scenery(planes=(left, right)).around(points)[0]) == 2


def test_what_stands_is_written_once(files: Files, tmp_path: Path) -> None:
    path = files(physics={"contact": True})
    ball = '\n[object.ball]\nrole = "obstacle"\nsource = { sphere = { centre = [0, 3, 0], radius = 0.2 } }\n'
    path.write_text(path.read_text() + ball)
    scene = _written(path, tmp_path / "scene")
    assert len(scene.obstacles(4)) == scene.meta["obstacles"][0]["points"] > 8
    assert (tmp_path / "scene/frame_000004.bkscene").stat().st_size < 400


@pytest.mark.parametrize(("radius", "counts"), [(0.2, True), (50.0, False)])
def test_nobody_steps_back_for_obstacles_that_are_far_larger(
    files: Files, tmp_path: Path, radius: float, counts: bool
) -> None:
    path = files(physics={"contact": True})
    ball = f"source = {{ sphere = {{ centre = [0, {1 + 1.2 * radius}, 0], radius = {radius} }} }}"
    path.write_text(path.read_text() + f'\n[object.ball]\nrole = "obstacle"\n{ball}\n')
    scene = _written(path, tmp_path / "scene")
    low, high = scene.box
    assert (high[1] > 1.0) == counts and high[1] - low[1] < 3.0


def test_resuming_writes_a_scene_that_is_missing(files: Files) -> None:
    shot = read_shot(files())
    folder = shot.run().folder
    before = _bytes(folder / "scene")
    shutil.rmtree(folder / "scene")
    with pytest.raises(InputError, match=r"no scene to look at.*--resume"):
        read_scene(folder / "scene")
    assert shot.run(resume=True).already and _bytes(folder / "scene") == before


def test_a_scene_that_cannot_be_written_ends_the_run_in_a_sentence(files: Files, tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scene_module, "packed", full)
    with pytest.raises(OutputError, match=r"scene: cannot be written: the disk is full"):
        read_shot(files()).run()
    assert not (tmp_path / "takes").exists()  # nothing was made, so nothing is left


def test_a_take_without_frames_leaves_no_scene(files: Files, tmp_path: Path) -> None:
    def stop(event: object) -> None:
        if not (isinstance(event, FrameDone) or not list(tmp_path.glob("takes/box/v001/scene/*"))):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_shot(files()).run(progress=stop)
    assert not (tmp_path / "takes").exists()


@pytest.mark.parametrize("harm", ["cut", "other", "empty"])
def test_a_damaged_scene_is_refused_in_a_sentence(files: Files, tmp_path: Path, harm: str) -> None:
    (tmp_path / "take").mkdir()
    _written(files(), tmp_path / "take/scene")
    still = tmp_path / "take/scene/still.bkscene"
    if harm == "other":  # of the same kind, but not what a scene is
        shutil.copy(tmp_path / "take/scene/frame_000001.bkscene", still)
    else:
        still.write_bytes(still.read_bytes()[:-9] if harm == "cut" else b"")
    with pytest.raises(InputError, match=r"the scene is damaged.*--resume"):
        read_scene(TakeFolder(tmp_path / "take").scene)
