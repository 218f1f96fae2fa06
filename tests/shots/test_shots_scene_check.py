"""Scenes and takes that were damaged, or are somebody else's: refused in a sentence, or shown as far as they can be."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import Animation, InputError
from bunraku.io import packed, write_animation
from bunraku.io.array_file import read_arrays
from bunraku.scenes import box_mesh
from bunraku.shots import Overlays, open_take, read_shot
from bunraku.shots.lock import is_held

NAN = float("nan")
STILL = "scene/still.bkscene"
Harm = Callable[[dict[str, Any], dict[str, Any]], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, mesh = tmp_path_factory.mktemp("box"), box_mesh()
    points = np.repeat(mesh.rest[None], 4, axis=0)
    points[:, 4:, 0] += 0.02 * np.arange(4)[:, None]
    write_animation(folder / "guide.usda", Animation(mesh, np.arange(1, 5) / 24.0, points), rate=24.0, prim="/box")
    text = '[object.box]\nguide = { file = "guide.usda" }\nmesh = { levels = 1 }\n[output]\npreview = false\n'
    (folder / "box.toml").write_text(text)
    return read_shot(folder / "box.toml").run(threads=1).folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy to be harmed."""
    return Path(shutil.copytree(made, tmp_path / "v001"))


def harmed(file: Path, harm: Harm) -> None:
    """Write a file again, its checksum right."""
    arrays, meta = read_arrays(file)
    harm(arrays, meta)
    file.write_bytes(packed(arrays, meta, ""))


STILL_HARMS: dict[str, Harm] = {
    "no frames": lambda a, m: a.update(numbers=np.zeros(0)),
    "numbers of no frames": lambda a, m: a.update(numbers=np.full(4, NAN)),
    "a table of numbers": lambda a, m: a.update(numbers=np.zeros((4, 2))),
    "one number": lambda a, m: a.update(numbers=np.array(3.0)),
    "origin nowhere": lambda a, m: a.update(origin=np.full(3, NAN)),
    "origin in a plane": lambda a, m: a.update(origin=np.zeros(2)),
    "box nowhere": lambda a, m: a.update(low=np.full(3, NAN)),
    "rest nowhere": lambda a, m: a.update(rest=a["rest"] * NAN),
    "faces outside": lambda a, m: a.update(faces=a["faces"] + 1000),
    "no strength": lambda a, m: a.pop("strength"),
    "short strength": lambda a, m: a.update(strength=np.ones(1)),
    "flat firm": lambda a, m: a.update(firm=np.zeros(4, bool)),
    "short held": lambda a, m: a.update(held=np.ones(2)),
    "functions outside": lambda a, m: a.update({"tests/indices": a["tests/indices"] + 10_000_000}),
    "functions before": lambda a, m: a.update({"tests/indices": a["tests/indices"] - 10_000_000}),
    "functions run away": lambda a, m: a.update({"tests/indptr": a["tests/indptr"] * 3}),
    "parts outside": lambda a, m: a.update({"part/coat": np.array([0, 99999])}),
    "sewn outside": lambda a, m: a.update(sewn=np.array([[0, 99999]])),
    "fewer regions": lambda a, m: m.update(regions=m["regions"][:3]),
    "regions without names": lambda a, m: m.update(regions=[1] * len(m["regions"])),
    "no rate": lambda a, m: m.update(rate=0),
    "preroll before": lambda a, m: m.update(preroll=-3),
    "floor nowhere": lambda a, m: m.update(floor=NAN),
    "floor a word": lambda a, m: m.update(floor="low"),
    "no name": lambda a, m: m.pop("shot"),
    "contact a word": lambda a, m: m.update(contact="yes"),
    "nothing": lambda a, m: (a.clear(), m.clear()),
}


@pytest.mark.parametrize("name", STILL_HARMS)
def test_a_scene_that_no_run_writes_is_refused_in_a_sentence(folder: Path, name: str) -> None:
    harmed(folder / STILL, STILL_HARMS[name])
    with pytest.raises(InputError, match="the scene is damaged") as refused:
        open_take(folder)
    assert "\n" not in str(refused.value) and "--resume" in str(refused.value)


@pytest.mark.parametrize(
    "header", [[1], {}, {"arrays": [], "meta": None}, {"arrays": [{"name": "rest", "type": "O", "shape": [1]}]}]
)
def test_a_file_whose_checksum_holds_and_whose_header_does_not_is_damaged(folder: Path, header: Any) -> None:
    import hashlib

    text = json.dumps(header).encode()
    body = b"BKFRAME1" + len(text).to_bytes(8, "little") + text
    (folder / STILL).write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(InputError, match="the scene is damaged"):
        open_take(folder)


@pytest.mark.parametrize(
    "guide", [np.zeros((3, 3), "f4"), np.zeros((24, 3), "f4"), np.zeros(24, "f4"), np.full((8, 3), NAN, "f4"), None]
)
def test_a_guide_that_loses_points_on_the_way_is_refused(folder: Path, guide: Any) -> None:
    harmed(
        folder / "scene/frame_000002.bkscene", lambda a, m: a.pop("guide") if guide is None else a.update(guide=guide)
    )
    take = open_take(folder)
    assert take.guide(1).shape == (8, 3)
    with pytest.raises(InputError, match=r"frame_000002.bkscene: guide: the scene is damaged.*8 points"):
        take.guide(2)


def test_no_room_is_made_for_an_array_that_is_not_there(folder: Path) -> None:
    text = b'{"arrays": [{"name": "guide", "type": "<f4", "shape": [1000000000000, 3]}], "meta": {}}'
    file = folder / "scene/frame_000002.bkscene"
    file.write_bytes(b"BKFRAME1" + len(text).to_bytes(8, "little") + text + bytes(32))
    with pytest.raises(InputError, match="too short"):
        open_take(folder).guide(2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("report/residual", None), ("report/held", None), ("report/force", np.zeros(3)),
        ("report/residual", np.ones(3)), ("report/force", np.full((8, 3), NAN)),
    ],
)  # fmt: skip
def test_frames_that_report_something_else_are_refused(folder: Path, name: str, value: Any) -> None:
    file = folder / "frames/frame_000002.bkframe"
    harmed(file, lambda a, m: a.pop(name) if value is None else a.update({name: value}))
    with pytest.raises(InputError, match="reports no"):
        _ = open_take(folder).measured


def test_what_only_some_frames_report_is_left_out(folder: Path) -> None:
    harmed(folder / "frames/frame_000002.bkframe", lambda a, m: a.pop("report/kinetic"))
    harmed(folder / "frames/frame_000003.bkframe", lambda a, m: a.update({"report/new": np.ones(1)}))
    (folder / "report.json").unlink()
    curves = open_take(folder).curves()
    assert "kinetic" not in curves and "new" not in curves and len(curves["residual_m"]) == 4


@pytest.mark.parametrize("points", [NAN, np.inf, 1e300])
def test_points_that_are_nowhere_are_refused(folder: Path, points: float) -> None:
    harmed(folder / "frames/frame_000002.bkframe", lambda a, m: a.update(q=np.full_like(a["q"], points)))
    take = open_take(folder)
    with pytest.raises(InputError, match=r"nowhere.*resume"):
        Overlays(take).values("strain", 2)
    assert take.points(1).size


@pytest.mark.parametrize(
    "told",
    [
        *({"per_frame": {"kinetic": told}} for told in (["a", "b"], [[1, 2], [3, 4]], [[1], [2, 3]], 5, {}, [10**400])),
        {"per_frame": {"pairs": [1, 1]}}, {"per_frame": {"pairs": [1, 1], "closest": [1]}},
        *({"per_frame": {}, "told": told} for told in (5, "words")),
        *({"per_frame": {}, "sentences": told} for told in (None, 3)),
        *({"per_frame": {}, "told": [{"text": "x", "frame": frame}]} for frame in (NAN, 10**400, np.inf)),
    ],
)  # fmt: skip
def test_a_report_that_no_run_writes_is_shown_as_far_as_it_goes(folder: Path, told: dict[str, Any]) -> None:
    (folder / "report.json").write_text(json.dumps({"outcome": "finished", **told}))
    take = open_take(folder)
    curves = take.curves()
    assert "kinetic" not in curves and all(values.ndim == 1 for values in curves.values())
    assert all(one.frame is None for one in take.sentences()) and take.state == "finished"


def test_settings_that_no_run_writes_are_told_as_they_are(folder: Path) -> None:
    told = json.loads((folder / "provenance.json").read_text())
    told["settings"]["inputs"] = {"a": 5, "b": {"c": None}}
    (folder / "provenance.json").write_text(json.dumps(told))
    settings = open_take(folder).settings
    assert settings["a"] == "5" and settings["b.c"] == ""


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_texts_that_lead_out_of_the_folder_are_not_shown(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"outcome": "stopped", "sentences": ["secret"]}')
    for name in ("shot.toml", "report.json"):
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "secret")
    take = open_take(folder)
    assert take.shot == "" and take.sentences() == [] and take.state == "interrupted"
    (folder / "shot.toml").unlink()
    os.mkfifo(folder / "shot.toml")  # whoever reads it waits for ever
    assert take.shot == ""


def test_a_take_begun_anew_is_noticed_though_as_many_frames_are_there(folder: Path) -> None:
    take = open_take(folder)
    before = take.measured.force.copy()
    for k in range(4):
        file = folder / f"frames/frame_{k:06d}.bkframe"
        harmed(file, lambda a, m: a.update({"report/force": 2.0 * a["report/force"]}))
    os.utime(folder / "frames/frame_000000.bkframe", (4e9, 4e9))
    np.testing.assert_allclose(take.measured.force, 2.0 * before)


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 30])
def test_a_lock_with_a_number_of_no_process_holds_nothing(folder: Path, number: str) -> None:
    (folder / ".lock").write_text(f"{number} {platform.node()}\n")
    os.utime(folder / ".lock", (1e9, 1e9))
    assert not is_held(folder)


@pytest.mark.parametrize("what", [".", "scene", "frames"])
def test_folders_that_may_not_be_looked_into(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take, stat = open_take(folder), Path.stat

    def locked(path: Path, **options: Any) -> os.stat_result:
        if folder / what in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", locked)
    if what == "scene":
        assert take.ready == 4
    else:
        assert take.ready == 0 and take.seconds_left is None
    if what == "frames":
        assert open_take(folder).ready == 0
    else:
        with pytest.raises(InputError, match=r"the take cannot be read \(got 'Permission denied'\)"):
            open_take(folder)
