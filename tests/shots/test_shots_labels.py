"""Regions painted on the page: a file beside the shot, found by a run; and what changes in the shot as they do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_bar import FOOT, LEAN, SKIN, planned, write_bar

from bunraku import Animation, InputError, TriMesh
from bunraku.io import packed
from bunraku.shots import Shot, Sketch, painted_changes, read_shot
from bunraku.shots.prepare import prepare

Files = Callable[..., Path]
COUNT = 26  # vertices of the box, split once


def paint(folder: Path, labels: Any, name: str = "box.box.bkarrays", array: str = "label") -> dict[str, Any]:
    """The file, and the table that names it."""
    (folder / name).write_bytes(packed({array: np.asarray(labels)}, {}, name))
    return {"file": name, "names": ["lid", "belt"]}


@pytest.fixture
def height(files: Files) -> np.ndarray:
    """(26,) of the shell's vertices [m]."""
    return prepare(read_shot(files())).shell.rest[:, 1]


def painted(height: np.ndarray) -> np.ndarray:
    """The top is the lid, the middle the belt."""
    return np.where(height > 0.6, 0, np.where(height > 0.2, 1, -1)).astype(np.int32)


def test_painted_regions_direct_and_are_met(files: Files, tmp_path: Path, height: np.ndarray) -> None:
    labels = paint(tmp_path, painted(height))
    shot = read_shot(files(box={"labels": labels, "track": {"method": "painted"}}))
    prepared = prepare(shot)
    assert prepared.regions == ("region lid", "region belt")
    assert prepared.functions is not None
    assert np.array_equal(prepared.functions.toarray() > 0, [painted(height) == 0, painted(height) == 1])
    result = shot.run(threads=1)
    assert result.report.measured.arrays["residual"].shape == (6, 2)
    assert float(result.report.measured.residual.max()) < 1e-9
    assert any("region lid" in one.text or "region belt" in one.text for one in result.report.sentences)


def test_goals_are_the_guides_own_surface_where_it_is_painted(files: Files, tmp_path: Path, height: np.ndarray) -> None:
    labels = paint(tmp_path, painted(height))
    prepared: Any = prepare(read_shot(files(box={"labels": labels, "track": {"method": "painted"}})))
    time = float(prepared.times[-1])
    on_guide = prepared.prolongation @ prepared.guide.at(time)
    assert prepared.distances(on_guide, time) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert prepared.distances(on_guide + [0.03, 0.0, 0.0], time) == pytest.approx([0.03, 0.03], abs=1e-12)
    lid, belt = prepared.distances(on_guide + np.where(height[:, None] > 0.6, [0.03, 0.0, 0.0], 0.0), time)
    assert lid > 0.02 and belt < 0.01  # a test function fades over one edge


def test_they_carry_materials_and_pins_too(files: Files, tmp_path: Path, height: np.ndarray) -> None:
    labels = paint(tmp_path, painted(height))
    regions = {"stiff": {"painted": "belt", "material": "leather"}}
    pins = [{"region": "held"}]
    held = {**regions, "held": {"painted": "lid"}}
    prepared = prepare(read_shot(files(box={"labels": labels, "regions": held, "pins": pins})))
    assert np.array_equal(prepared.pins[0].vertices, np.flatnonzero(painted(height) == 0))


def test_a_plan_finds_them_for_its_keys(tmp_path: Path) -> None:
    write_bar(tmp_path)
    labels = np.where(SKIN.rest[:, 1] > 0.99, 1, -1)
    table = paint(tmp_path, labels, "bar.bar.bkarrays")
    regions = {"foot": {"vertices": FOOT.tolist()}, "head": {"painted": "belt"}}
    own = prepare(planned(tmp_path, labels=table, regions=regions, keys=[LEAN]))
    told = prepare(planned(tmp_path, keys=[LEAN]))
    assert np.array_equal(own.guide.points, told.guide.points)
    assert any(one.path.name == "bar.bar.bkarrays" for one in own.inputs)


WRONG = [
    (np.zeros(7, np.int32), "the labels are of another mesh"), (np.full(COUNT, 2, np.int32), "names no region"),
    (np.full(COUNT, -2, np.int32), "names no region"), (np.zeros(COUNT), "must be whole numbers"),
    (np.zeros((COUNT, 1), np.int32), "must be whole numbers"), (np.full(COUNT, -1, np.int32), "no vertex is painted"),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "said"), WRONG)
def test_labels_that_do_not_fit_are_refused(files: Files, tmp_path: Path, labels: np.ndarray, said: str) -> None:
    table = paint(tmp_path, labels)
    with pytest.raises(InputError, match=said) as refused:
        prepare(read_shot(files(box={"labels": table, "track": {"method": "painted"}})))
    assert "object.box." in str(refused.value) and "\n" not in str(refused.value)


def test_they_are_refused_together_with_what_else_is_wrong(files: Files, tmp_path: Path) -> None:
    table = paint(tmp_path, np.zeros(7, np.int32))
    box = {"labels": table, "track": {"method": "painted"}, "pins": [{"vertices": [99]}]}
    with pytest.raises(InputError) as refused:
        prepare(read_shot(files(box=box)))
    told = str(refused.value).splitlines()
    assert len(told) == 2 and "another mesh" in told[0] and "pins[0].vertices" in told[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"names": ["lid", "lid"]}, "is the name of two regions"), ({"names": ['li"d', "belt"]}, "has the wrong form"),
        ({"names": []}, "wrong length"), ({"file": "gone.bkarrays"}, "there is no such file"),
        ({"file": "guide.usda"}, "is damaged"),
    ],
)  # fmt: skip
def test_a_table_that_says_nonsense_is_refused(
    files: Files, tmp_path: Path, height: np.ndarray, change: dict[str, Any], said: str
) -> None:
    table = {**paint(tmp_path, painted(height)), **change}
    with pytest.raises(InputError, match=said):
        prepare(read_shot(files(box={"labels": table, "track": {"method": "painted"}})))


def test_a_file_that_speaks_of_arrays_larger_than_all_machines_is_damaged(files: Files, tmp_path: Path) -> None:
    header = json.dumps({"arrays": [{"name": "label", "type": "<i4", "shape": [10**30]}], "meta": {}}).encode()
    body = b"BKFRAME1" + len(header).to_bytes(8, "little") + header
    (tmp_path / "x.bkarrays").write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(InputError, match=r"x\.bkarrays: the file of painted regions is damaged"):
        prepare(read_shot(files(box={"labels": {"file": "x.bkarrays", "names": ["lid"]}})))


def test_a_file_without_labels_is_refused(files: Files, tmp_path: Path, height: np.ndarray) -> None:
    table = paint(tmp_path, painted(height), array="other")
    with pytest.raises(InputError, match="one a vertex"):
        prepare(read_shot(files(box={"labels": table, "track": {"method": "painted"}})))


LABELS = {"file": "x.x.bkarrays", "names": ["head", "tail"]}
PLAN: dict[str, Any] = {
    "role": "plan", "labels": LABELS, "fixed": ["tail"], "keys": [{"frame": 3, "region": "head"}],
    "regions": {"head": {"painted": "head"}, "tail": {"painted": "tail"}, "own": {"vertices": [1]}},
}  # fmt: skip


def test_a_first_painting_names_its_file_and_regions() -> None:
    table: dict[str, Any] = {"role": "plan", "regions": {}}
    assert painted_changes(table, "x.x.bkarrays", ["head"]) == [
        (("labels",), {"file": "x.x.bkarrays", "names": ["head"]}), (("regions", "head"), {"painted": "head"}),
    ]  # fmt: skip
    assert painted_changes({}, "x.x.bkarrays", ["head"]) == [
        (("labels",), {"file": "x.x.bkarrays", "names": ["head"]})
    ]  # a shell's regions are for materials


def test_a_painting_that_is_gone_takes_its_region_along() -> None:
    changes = painted_changes(PLAN, "x.x.bkarrays", ["tail"])
    assert changes == [(("labels",), {"file": "x.x.bkarrays", "names": ["tail"]}), (("regions", "head"), None)]
    assert painted_changes({**PLAN, "labels": LABELS}, "x.x.bkarrays", [])[0] == (("labels",), None)


def test_a_new_name_is_said_wherever_the_old_one_was() -> None:
    changes = painted_changes(PLAN, "x.x.bkarrays", ["skull", "tail"], renamed=[("head", "skull")])
    assert changes == [
        (("labels",), {"file": "x.x.bkarrays", "names": ["skull", "tail"]}), (("regions", "head"), None),
        (("regions", "skull"), {"painted": "skull"}), (("keys", 0, "region"), "skull"),
    ]  # fmt: skip
    assert (("fixed", 0), "foot") in painted_changes(PLAN, "x", ["head", "foot"], renamed=[("tail", "foot")])


def test_regions_obey_or_do_not() -> None:
    table = {"track": {"method": "clusters", "count": 9, "strength": 0.5}}
    assert painted_changes(table, "x", ["lid"], obeyed=True)[-1] == (
        ("track",), {"method": "painted", "strength": 0.5},
    )  # fmt: skip
    assert painted_changes(table, "x", ["lid"], obeyed=False)[-1][1]["method"] == "hierarchy"
    assert all(path != ("track",) for path, _ in painted_changes(table, "x", ["lid"]))


def repainted(folder: Path, shot: Shot) -> dict[str, Any]:
    """What is painted on the box as it is, as the page writes it."""
    sketch = Sketch.of(shot, "box")
    labels = painted(sketch.mesh.rest[:, 1] + sketch.prepared.origin[1])
    (folder / "box.box.bkarrays").write_bytes(sketch.label_file(labels, "box.box.bkarrays"))
    return {"file": "box.box.bkarrays", "names": ["lid", "belt"]}


def test_labels_do_not_end_up_on_other_vertices(files: Files, guide: Animation, tmp_path: Path) -> None:
    box = {"labels": repainted(tmp_path, read_shot(files())), "track": {"method": "painted"}}
    before = prepare(read_shot(files(box=box))).functions
    wider = Animation(guide.mesh.with_rest(1.1 * guide.mesh.rest), guide.times, 1.1 * guide.points)
    after = prepare(read_shot(files(box=box, guide=wider))).functions
    assert before is not None and after is not None
    assert np.array_equal(before.toarray() > 0, after.toarray() > 0)
    order = np.array([3, 0, 1, 2, 4, 5, 6, 7])
    renumbered = TriMesh(guide.mesh.rest[order], np.argsort(order)[guide.mesh.faces])
    other = Animation(renumbered, guide.times, guide.points[:, order])
    with pytest.raises(InputError, match=r"object\.box\.labels\.file.*of another mesh .*with other neighbours"):
        prepare(read_shot(files(box=box, guide=other)))
