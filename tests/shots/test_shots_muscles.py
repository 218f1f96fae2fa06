"""Muscles in shots: what they do, what is told of them, takes carried on, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soft_bar import BAR, FOAM, SKIN, wrinkled, write_bar

import bunraku as bk
from bunraku import InputError
from bunraku.geometry import TriMesh, tet_bar
from bunraku.io import write_animation, write_mesh
from bunraku.shots import FrameDone, Shot, TakeResult, dry_run, read_shot
from bunraku.shots.kept import kept
from bunraku.shots.prepare import prepare
from bunraku.shots.prepare_wrinkle import prepare_wrinkle
from bunraku.shots.run import TakeFolder
from bunraku.shots.wrinkle_sentences import skin_sentences

_BLOCK = tet_bar((4, 1, 1), (0.2, 0.06, 0.06)).surface()
INSIDE = _BLOCK.with_rest(_BLOCK.rest + [0.1, 0.045, 0.045])
MIDDLE = INSIDE.rest.mean(axis=0)
SHORTER = INSIDE.with_rest(MIDDLE + (INSIDE.rest - MIDDLE) * [0.6, 1.0, 1.0])
THIN = {**SKIN, "young": 1e6, "thickness": 2e-3}
"""a skin that lets a muscle have its way"""
KEYS = [[1, 0.0], [3, 1.0, "smooth"]]


def write_files(folder: Path) -> None:
    """The bar, its muscle in two files, and what is no muscle of it."""
    write_bar(folder)
    write_mesh(folder / "biceps.usda", INSIDE)
    write_mesh(folder / "biceps_short.usda", SHORTER)
    write_mesh(folder / "outside.usda", INSIDE.with_rest(INSIDE.rest + [0.0, 0.2, 0.0]))
    write_mesh(folder / "mirrored.usda", INSIDE.with_rest(INSIDE.rest * [-1.0, 1.0, 1.0]))
    write_mesh(folder / "open.usda", TriMesh(INSIDE.rest, INSIDE.faces[1:]))
    write_mesh(folder / "nobody_says.obj", INSIDE)


def muscle(relaxed: str = "biceps.usda", contracted: str = "biceps_short.usda", **more: Any) -> dict[str, Any]:
    return {"relaxed": {"file": relaxed}, "contracted": {"file": contracted}, "activation": KEYS, **more}


def shot_of(folder: Path, *muscles: dict[str, Any], **more: Any) -> Shot:
    """The bar held at one end, moved by muscles."""
    return wrinkled(folder, muscles=list(muscles), **{"handles": [{"region": "left"}], "skin": THIN, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("muscles")
    write_files(place)
    return place


@pytest.fixture(scope="module")
def made(folder: Path) -> TakeResult:
    return shot_of(folder, muscle(), output={"formats": ["usda"]}).run(threads=1)


def test_a_muscle_shortens_the_body_and_is_told_of(made: TakeResult) -> None:
    arrays, facts = made.report.arrays, made.report.measured.facts
    assert made.report.met is True and arrays["muscle_residual"].shape == (3, 1)
    away = arrays["muscle_residual"][:, 0]
    ways = (INSIDE.rest - SHORTER.rest)[:, 0]  # 0.4 of the way from the middle, of matter that is even along the bar
    assert facts["muscle_ways"][0] == pytest.approx(np.abs(ways).max() / np.sqrt(3.0), rel=0.05)
    assert away[0] < 1e-12 and 0.0 < away[2] < facts["muscle_ways"][0]
    length = np.ptp(arrays["interior"][..., 0], axis=1)
    assert length[0] == pytest.approx(0.4) and length[2] < 0.39
    (told,) = [one for one in made.report.sentences if one.text.startswith("Muscle")]
    worst = int(away.argmax())
    assert told.text == (
        f"Muscle biceps is farthest from its shape at frame {worst + 1}, by {1e3 * away[worst]:.3g} mm on average; "
        f"relaxed it is {1e3 * facts['muscle_ways'][0]:.3g} mm from being contracted."
    )
    still = replace(made.report.measured, facts={**facts, "muscle_ways": [1e-17]})
    prepared = prepare(read_shot(made.folder / "shot.toml"))
    told = [one.text for one in skin_sentences(prepared, still) if one.text.startswith("Muscle")]
    assert told[0].endswith("on average; relaxed and contracted it has one shape.")
    written = json.loads((made.folder / "report.json").read_text())
    assert written["per_frame"]["muscle_residual_m"][2] == pytest.approx(away[2])


def test_its_files_are_inputs_and_the_resolved_shot_says_the_same(made: TakeResult, folder: Path) -> None:
    read = {one["key"]: one for one in json.loads((made.folder / "provenance.json").read_text())["inputs"]}
    for key, file in (("relaxed", "biceps.usda"), ("contracted", "biceps_short.usda")):
        assert Path(read[f"object.bar.muscles[0].{key}"]["path"]).name == file
    assert len({one["sha256"] for one in read.values()}) == 3
    again = read_shot(made.folder / "shot.toml").wrinkles["bar"].muscles[0]
    assert again.relaxed.file == folder / "biceps.usda" and again.activation == ((1.0, 0.0), (3.0, 1.0, "smooth"))


def test_a_shot_does_what_python_does(made: TakeResult) -> None:
    """Two routes to the same frames."""
    left = np.flatnonzero(BAR.rest[:, 0] == 0.0)
    take = bk.wrinkle(
        BAR, skin=bk.ShellMaterial(**THIN), interior=bk.SolidMaterial(**FOAM), cell=0.1, duration=2.0 / 24.0,
        handles=bk.Handle(left, lambda time: BAR.rest[left]), gravity=(0.0, 0.0, 0.0), threads=1,
        muscles=bk.Muscle(INSIDE, SHORTER.rest, [[0.0, 0.0], [2.0 / 24.0, 1.0, "smooth"]]),
    )  # fmt: skip
    cache = TakeFolder(made.folder).cache()
    for k in range(3):  # files have single precision
        np.testing.assert_allclose(kept(cache, k).points, take.animation.points[k], atol=1e-6)


def test_a_take_is_carried_on_to_the_same_bytes(made: TakeResult, tmp_path: Path) -> None:
    write_files(tmp_path)
    shot = shot_of(tmp_path, muscle(), output={"formats": ["usda"]})

    def stop(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shot.run(threads=1, progress=stop)
    result = shot.run(resume=True, threads=1)
    for name in ("bar.usda", "frames/frame_000001.bkframe", "frames/frame_000002.bkframe"):
        assert (result.folder / name).read_bytes() == (made.folder / name).read_bytes()


def test_a_dry_run_counts_them(folder: Path) -> None:
    lines = "\n".join(dry_run(shot_of(folder, muscle(), muscle(name="other", anchored=True)), threads=1))
    assert "1 handle, 2 muscles" in lines


def test_a_body_that_follows_its_guide_has_muscles(folder: Path) -> None:
    """Animated as it is nothing could move it; below the scale at which it follows it gives way."""
    still = bk.Animation(BAR, np.arange(3) / 24.0, np.broadcast_to(BAR.rest, (3, *BAR.rest.shape)))
    write_animation(folder / "still.usdc", still, frames=np.arange(1, 4))
    asked: dict[str, Any] = {"surface": None, "guide": {"file": "still.usdc"}, "handles": None, "frames": None}
    with pytest.raises(InputError, match=r"where its guide has it \(got 'muscles'\).*or say a cell, below which"):
        shot_of(folder, muscle(), **asked, cell=None)
    job = prepare_wrinkle(shot_of(folder, muscle(), **asked, cell=0.05)).job(1)
    *_, last = job.frames()
    assert np.abs(last.report["interior"] - BAR.rest).max() > 1e-3 > last.report["following"]


def test_far_from_the_origin_a_muscle_stays_in_its_body(tmp_path: Path) -> None:
    """Bodies are simulated near the origin, wherever their files have them."""
    far = np.array([4096.0, 0.0, 0.0])
    for name, mesh in (("biceps", INSIDE), ("biceps_short", SHORTER)):
        write_mesh(tmp_path / f"{name}.usda", mesh.with_rest(mesh.rest + far))
    write_mesh(tmp_path / "bar.obj", BAR.with_rest(BAR.rest + far))
    prepared = prepare_wrinkle(shot_of(tmp_path, muscle()))
    moved, (found,) = prepared.shell.rest - BAR.rest, prepared.muscles
    np.testing.assert_allclose(found.relaxed.rest - INSIDE.rest, moved[: len(INSIDE.rest)], atol=1e-3)
    np.testing.assert_allclose(found.contracted - SHORTER.rest, moved[: len(INSIDE.rest)], atol=1e-3)


SAID: list[tuple[dict[str, Any], str]] = [
    ({"activation": 1.5}, "object.bar.muscles[0].activation: is out of range (got 1.5)"),
    ({"activation": [[1, 0.0], [2, -0.1]]}, "object.bar.muscles[0].activation[1]: is out of range"),
    ({"activation": "strong"}, "object.bar.muscles[0].activation: must be a number"),
    ({"stiffness": 0}, "object.bar.muscles[0].stiffness: is out of range"),
    ({"anchored": 1}, "object.bar.muscles[0].anchored: must be yes or no"),
    ({"relaxed": {"prim": "/x"}}, "object.bar.muscles[0].relaxed.file: is missing"),
    ({"contracted": {"file": "none.usda"}}, "object.bar.muscles[0].contracted.file: "),
    ({"strength": 1}, "object.bar.muscles[0].strength: unknown key"),
]


def test_all_that_the_tables_say_wrong_is_said_at_once(folder: Path) -> None:
    for told, said in SAID:
        with pytest.raises(InputError) as error:
            shot_of(folder, {**muscle(), **told}, {"relaxed": {"file": "biceps.usda"}})
        assert said in str(error.value) and "object.bar.muscles[1].activation: is missing" in str(error.value)
    with pytest.raises(InputError, match=r"muscles\[1\]: is called as muscles\[0\] is.*got 'biceps'.*name = "):
        shot_of(folder, muscle(), muscle())


def test_files_that_are_no_muscle_are_said_to_be_at_once(folder: Path) -> None:
    shapes = [
        muscle(contracted="bar.usda"), muscle(contracted="mirrored.usda", name="b"),
        {**muscle(name="c"), "relaxed": {"file": "nobody_says.obj"}}, muscle(relaxed="empty.usda", name="d"),
    ]  # fmt: skip
    write_mesh(folder / "bar.usda", BAR)
    (folder / "empty.usda").write_text("#usda 1.0\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        prepare_wrinkle(shot_of(folder, *shapes))
    lines = str(error.value).splitlines()
    assert len(lines) == 4
    assert "object.bar.muscles[0].contracted: " in lines[0] and "other points or polygons than the relaxed" in lines[0]
    assert "object.bar.muscles[1]: contracted: the contracted shape is the relaxed one inside out" in lines[1]
    assert "object.bar.muscles[2].relaxed: " in lines[2] and "does not say its unit" in lines[2]
    assert "object.bar.muscles[3].relaxed: " in lines[3]


def test_muscles_that_are_not_inside_are_said_to_be_at_once(folder: Path) -> None:
    outside, opened = (muscle(relaxed=file, contracted=file) for file in ("outside.usda", "open.usda"))
    with pytest.raises(InputError) as error:
        prepare_wrinkle(shot_of(folder, outside, muscle(), opened)).check_beginning(1)
    first, second = str(error.value).splitlines()
    assert "object.bar: muscles[0].relaxed: reaches out" in first
    assert "object.bar: muscles[2].relaxed: " in second and "open surface" in second
