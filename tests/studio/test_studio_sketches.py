"""Painting and posing through the server: whole or not at all, and a sentence for whatever does not fit."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from scipy.spatial.transform import Rotation
from studio_client import PAGE, Answer, Client, write_shot

import bunraku as bk
from bunraku import TriMesh
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import EditedShot, read_shot
from bunraku.studio import StudioServer, serving

BAR = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))
SKIN = BAR.surface()
FOOT, HEAD = (np.flatnonzero(np.abs(SKIN.rest[:, 1] - y) < 1e-9).tolist() for y in (0.0, 1.0))
KEY: dict[str, Any] = {"frame": 5, "region": "head", "move": [0.2, -0.05, 0.0]}
LEAN: dict[str, Any] = {"frame": 5, "grips": [{"region": "foot"}, {"region": "head", "move": [0.1, 0.0, 0.0]}]}
WAY: dict[str, Any] = {"points": [[1, 0.1, 0.5, 0.0], [5, 0.3, 0.6, 0.0], [9, 0.5, 0.5, 0.0]]}


class Page:
    """What a page does about the objects of a shot."""

    def __init__(self, client: Client, object: str) -> None:
        self.client, self.object = client, object

    @property
    def revision(self) -> int:
        return self.client.ask("/shot").json["revision"]

    @property
    def sheet(self) -> Any:
        return self.client.ask(f"/sketch?object={self.object}").json

    @property
    def mesh(self) -> dict[str, np.ndarray]:
        return self.client.ask(f"/sketch/mesh?object={self.object}").parcel[0][1]

    def points(self, frame: int, tab: str = "") -> np.ndarray:
        tabbed = f"&tab={tab}" if tab else ""
        return self.client.ask(f"/sketch/frames?object={self.object}&from={frame}{tabbed}").parcel[0][1]["points"]

    def post(self, path: str, **told: Any) -> Answer:
        return self.client.ask(f"/sketch/{path}", "POST", json.dumps(told).encode())

    def paint(self, labels: Any, names: list[str], **told: Any) -> Answer:
        runs = [{"label": int(one), "count": 1} for one in labels]
        usual = {"revision": self.revision, "renamed": [], "obeyed": None, "about": "", "tab": "t"}
        return self.post("labels", object=self.object, names=names, runs=runs, **{**usual, **told})

    def edit(self, path: str, value: Any, **told: Any) -> Answer:
        changes = [{"path": ["object", self.object, path], "value": value}]
        usual = {"object": self.object, "revision": self.revision, "about": "", "gesture": "", "tab": "t"}
        return self.post("edit", changes=changes, **{**usual, **told})

    def attempt(self, keys: Any, **told: Any) -> Answer:
        usual = {"object": self.object, "revision": self.revision, "frame": 4, "tab": "t"}
        return self.post("keys", keys=keys, **{**usual, **told})


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return write_shot(tmp_path)


@pytest.fixture
def box(shot: Path) -> Iterator[Page]:
    with serving(StudioServer([], page=PAGE, shot=EditedShot(shot))) as server:
        yield Page(Client(server), "box")


def write_bar(folder: Path, **table: Any) -> Path:
    """A shot of a bar with a foot and a head."""
    write_mesh(folder / "bar.obj", TriMesh(SKIN.rest, SKIN.faces))
    write_mesh(folder / "bar.msh", BAR)
    whole = {
        "surface": {"file": "bar.obj", "unit": "m"}, "tets": {"file": "bar.msh", "unit": "m"},
        "material": {"preset": "rubber", "young": 2e5},
        "regions": {"foot": {"vertices": FOOT}, "head": {"vertices": HEAD}}, **table,
    }  # fmt: skip
    told = {"shot": {"frames": [1, 9]}, "object": {"bar": whole}, "output": {"preview": False}}
    (folder / "bar.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return folder / "bar.toml"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write_bar(tmp_path, role="plan", modes=14, fixed=["foot"], keys=[KEY])


@pytest.fixture
def steered(tmp_path: Path) -> Path:
    return write_bar(tmp_path, role="body", keys=[LEAN], path=[WAY])


@pytest.fixture
def body(steered: Path) -> Iterator[Page]:
    with serving(StudioServer([], page=PAGE, shot=EditedShot(steered))) as server:
        yield Page(Client(server), "bar")


@pytest.fixture
def bar(plan: Path) -> Iterator[Page]:
    with serving(StudioServer([], page=PAGE, shot=EditedShot(plan))) as server:
        yield Page(Client(server), "bar")


def halves(page: Page) -> np.ndarray:
    """0 in the upper half, 1 in the lower."""
    return (page.points(0)[:, 1] < page.points(0)[:, 1].mean()).astype(int)


def files_beside(shot: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in shot.parent.iterdir() if one.is_file()}


def test_a_sketch_is_there_without_any_take(box: Page) -> None:
    sheet, mesh = box.sheet, box.mesh
    assert (sheet["vertices"], sheet["faces"], sheet["role"], sheet["kind"]) == (26, 48, "shell", "")
    assert mesh["faces"].shape == (48, 3) and set(mesh["label"]) == {-1}
    assert float(mesh["area"].sum()) == pytest.approx(1.9)
    assert box.points(0).shape == (26, 3) and len(sheet["frames"]) == 6
    assert np.ptp(box.points(0), axis=0) == pytest.approx([0.5, 0.7, 0.5], abs=1e-4)


def test_what_is_painted_is_found_by_a_run(box: Page, shot: Path) -> None:
    upper = halves(box)
    got = box.paint(upper, ["lid", "rest"], obeyed=True)
    assert got.status == 200 and "names" in got.json["diff"]
    assert box.sheet["names"] == ["lid", "rest"] and box.sheet["obeyed"]
    assert np.array_equal(box.mesh["label"], upper)
    taken: Any = read_shot(shot).run(threads=1)
    residual = taken.report.measured.arrays["residual"]
    assert residual.shape == (6, 2) and float(residual.max()) < 1e-9


def test_undo_brings_back_the_earlier_painting(box: Page, shot: Path) -> None:
    before = files_beside(shot)
    first = halves(box)
    box.paint(first, ["lid", "rest"])
    box.paint(1 - first, ["lid", "rest"])
    undone = box.client.ask("/shot/undo", "POST", json.dumps({"revision": 3, "tab": "t"}).encode())
    assert undone.status == 200 and np.array_equal(box.mesh["label"], first)
    box.client.ask("/shot/undo", "POST", json.dumps({"revision": 4, "tab": "t"}).encode())
    assert files_beside(shot) == before


@pytest.mark.parametrize(
    ("labels", "names", "said"),
    [
        ([0] * 25, ["lid"], "of another mesh (got 25 vertices; allowed: 26"), ([1] * 26, ["lid"], "names no region"),
        ([-2] * 26, ["lid"], "names no region"), ([0] * 26, ['li"d'], "has the wrong form"),
        ([0] * 26, ["lid\n[output]"], "has the wrong form"), ([0] * 26, [""], "has the wrong form"),
        ([0] * 26, ["lid", "lid"], "is the name of two regions"),
    ],
)  # fmt: skip
def test_labels_that_do_not_fit_change_nothing(
    box: Page, shot: Path, labels: list[int], names: list[str], said: str
) -> None:
    before = files_beside(shot)
    got = box.paint(labels, names)
    assert got.status == 400 and said in got.json["error"] and "Traceback" not in got.json["error"]
    assert files_beside(shot) == before and box.revision == 1


def test_a_region_that_is_in_use_cannot_be_emptied(box: Page, shot: Path) -> None:
    box.paint([0] * 26, ["lid"], obeyed=True)
    before = files_beside(shot)
    got = box.paint([-1] * 26, [])
    assert got.status == 400 and "the guide has no such regions" in got.json["error"]
    assert files_beside(shot) == before


def test_a_painting_of_an_older_revision_is_refused(box: Page, shot: Path) -> None:
    box.paint([0] * 26, ["lid"])
    before = files_beside(shot)
    got = box.paint([0] * 26, ["other"], revision=1)
    assert got.status == 409 and files_beside(shot) == before


def test_messages_in_no_shape_are_refused(box: Page) -> None:
    assert box.post("labels", names=["lid"]).status == 400
    assert box.post("pieces", object="box", runs=[{"label": 0, "count": -3}]).status == 400
    assert box.client.ask("/sketch?object=bax").status == 400
    assert "allowed: box" in box.client.ask("/sketch?object=bax").json["error"]
    assert box.client.ask("/sketch/frames?object=box&from=99").status == 400
    assert box.client.ask("/sketch/images?object=box&axis=0&tolerance=nan").status == 400
    clusters = {"object": "box", "count": None, "compactness": 0.5, "seed": 0, "runs": []}
    infinite = json.dumps({**clusters, "scale": "HERE"}).replace('"HERE"', "1e999").encode()
    assert "scale is of the wrong kind" in box.client.ask("/sketch/clusters", "POST", infinite).json["error"]
    assert box.attempt([KEY]).status == 400  # no plan
    assert box.post("shape", object="box", revision=1, told={}).status == 400


def test_sums_for_the_brush(box: Page) -> None:
    images = box.client.ask("/sketch/images?object=box&axis=0&tolerance=0.001").parcel[0][1]["image"]
    x = box.points(0)
    assert x[images] * [-1, 1, 1] == pytest.approx(x - [x[:, 0].max() + x[:, 0].min(), 0, 0], abs=1e-4)
    ends = np.where(np.abs(x[:, 1] - 0.35) > 0.3, 0, -1)
    runs = [{"label": int(one), "count": 1} for one in ends]
    piece = box.post("pieces", object="box", runs=runs).parcel[0][1]["label"]
    assert set(piece[ends == 0]) == {0, 1} and set(piece[ends < 0]) == {-1}
    wanted = {"object": "box", "count": 4, "scale": None, "compactness": 0.5, "seed": 0, "runs": []}
    assert set(box.post("clusters", **wanted).parcel[0][1]["label"]) == {0, 1, 2, 3}
    assert box.post("clusters", **{**wanted, "count": 0}).status == 400


def test_a_key_that_is_tried_moves_the_motion_and_not_the_file(bar: Page, plan: Path) -> None:
    before, text = bar.points(4), plan.read_text()
    ((frame, arrays),) = bar.attempt([{**KEY, "move": [0.3, -0.05, 0.0]}]).parcel
    assert frame == 4 and arrays["met"][0, 0] == 1.0
    assert (arrays["points"] - before)[HEAD].mean(axis=0) == pytest.approx([0.1, 0.0, 0.0], abs=2e-3)
    assert bar.points(4, "t") == pytest.approx(arrays["points"], abs=1e-4)
    assert np.array_equal(bar.points(4), before) and np.array_equal(bar.points(4, "another"), before)
    assert plan.read_text() == text and bar.revision == 1


def test_what_was_tried_is_forgotten_when_the_file_changes(bar: Page) -> None:
    bar.attempt([{**KEY, "move": [0.3, -0.05, 0.0]}])
    edit = {"revision": 1, "changes": [{"path": ["object", "bar", "modes"], "value": 12}], "files": [], "about": "",
            "gesture": "", "tab": "t"}  # fmt: skip
    assert bar.client.ask("/shot/edit", "POST", json.dumps(edit).encode()).status == 200
    assert np.array_equal(bar.points(4, "t"), bar.points(4))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([{**KEY, "region": "hed"}], "unknown region"), ([{**KEY, "frame": 40}], "outside the motion"),
        ([{**KEY, "move": [0.0, 1e300, 0.0]}], "out of range"), ([{**KEY, "move": "up"}], "must be a list"),
        ([], "nothing"), (None, "must be a list"), ([{**KEY, "region": "foot"}], "what is fixed"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_tried_change_nothing(bar: Page, keys: Any, said: str) -> None:
    before = bar.points(4, "t")
    got = bar.attempt(keys)
    assert got.status == 400 and said in got.json["error"]
    assert np.array_equal(bar.points(4, "t"), before)


def test_numbers_that_are_none_do_not_get_through(bar: Page) -> None:
    got = bar.attempt([{**KEY, "frame": float("nan")}])
    assert got.status == 400 and "NaN is no number" in got.json["error"]
    assert bar.attempt([KEY], revision=7).status == 409
    assert bar.attempt([KEY], frame=9).status == 400


def test_painting_a_body_makes_regions_for_its_keys(bar: Page, plan: Path) -> None:
    middle = np.where(np.abs(SKIN.rest[:, 1] - 0.5) < 0.1, 0, -1)
    assert bar.paint(middle, ["waist"]).status == 200
    found = next(one for one in bar.sheet["parts"] if one["name"] == "waist")
    assert found["vertices"] == int((middle == 0).sum())
    assert bar.attempt([KEY, {"frame": 3, "region": "waist", "move": [0.05, 0, 0]}]).status == 200
    renamed = [{"before": "waist", "after": "belly"}]
    assert bar.paint(middle, ["belly"], renamed=renamed).status == 200
    assert read_shot(plan).plans["bar"].regions["belly"].painted == "belly"
    assert [one["name"] for one in bar.sheet["parts"]] == ["foot", "head", "belly"]
    assert bar.paint([-1] * len(middle), []).status == 200
    assert [one["name"] for one in bar.sheet["parts"]] == ["foot", "head"]


def drawn_nodes() -> np.ndarray:
    """(n,) the node of the tetrahedra that each point of the surface is."""
    return np.array([np.flatnonzero(np.abs(BAR.rest - point).max(axis=1) < 1e-9).item() for point in SKIN.rest])


def lengths(points: np.ndarray) -> np.ndarray:
    """(n, n) [m] from each point to each."""
    return np.linalg.norm(points[:, None] - points, axis=2)


def test_a_grip_that_is_moved_poses_the_body_as_by_hand(body: Page, steered: Path) -> None:
    text, move, of = steered.read_text(), [0.3, -0.05, 0.1], drawn_nodes()
    moved = {**LEAN, "grips": [LEAN["grips"][0], {**LEAN["grips"][1], "move": move, "rotate": [0.0, 90.0, 0.0]}]}
    got = body.post("shape", object="bar", revision=1, told=moved).parcel[0][1]["points"] + body.sheet["origin"]
    middle = np.array([0.125, 1.0, 0.125])
    off = SKIN.rest[HEAD] - middle
    by_hand = middle + move + np.stack([off[:, 2], off[:, 1], -off[:, 0]], axis=1)  # a quarter turn about y
    assert got[HEAD] == pytest.approx(by_hand, abs=1e-4) and got[FOOT] == pytest.approx(SKIN.rest[FOOT], abs=1e-4)
    grips = [bk.Grip(of[FOOT]), bk.Grip(of[HEAD], move=move, rotate=(0.0, np.pi / 2, 0.0))]
    assert got == pytest.approx(bk.pose(BAR, grips)[of], abs=1e-4)
    assert steered.read_text() == text and body.revision == 1
    assert body.edit("keys", [moved]).status == 200
    assert tomllib.loads(steered.read_text())["object"]["bar"]["keys"] == [moved] == body.sheet["keys"]
    drawn = body.points(4)  # where the path has it and turned as it likes: as far from point to point as it was posed
    assert lengths(drawn) == pytest.approx(lengths(got), abs=1e-3) and lengths(drawn) != pytest.approx(
        lengths(SKIN.rest), abs=0.05
    )


def test_a_knot_that_is_moved_bends_the_path_and_takes_the_body_along(body: Page, steered: Path) -> None:
    text, before = steered.read_text(), body.points(4)
    rows = [WAY["points"][0], [5, 0.3, 0.9, -0.2], WAY["points"][2]]
    ((_, arrays),) = body.post("path", object="bar", revision=1, told={"points": rows}).parcel
    assert arrays["curve"][[0, 16, 32]] + body.sheet["origin"] == pytest.approx(np.array(rows)[:, 1:], abs=1e-6)
    assert steered.read_text() == text and body.revision == 1
    assert body.edit("path", [{"points": rows}]).status == 200
    assert tomllib.loads(steered.read_text())["object"]["bar"]["path"] == [{"points": rows}] == body.sheet["paths"]
    assert body.points(4) - before == pytest.approx(np.tile([0.0, 0.3, -0.2], (len(before), 1)), abs=1e-4)
    undone = body.client.ask("/shot/undo", "POST", json.dumps({"revision": 2, "tab": "t"}).encode())
    assert undone.status == 200 and steered.read_text() == text and np.array_equal(body.points(4), before)


def test_a_knot_more_lies_where_the_path_goes_and_leaves_the_file_alone(body: Page, steered: Path) -> None:
    text, bent = steered.read_text(), body.post("path", object="bar", revision=1, told=WAY).parcel[0][1]["curve"]
    (path,) = body.post("knot", object="bar", revision=1, region=None, frame=3.0).json["paths"]
    assert path["points"][::2] == [WAY["points"][0], *WAY["points"][1:2]] and path["points"][3] == WAY["points"][2]
    assert path["points"][1][0] == 3
    assert path["points"][1][1:] == pytest.approx(bent[8] + body.sheet["origin"], abs=1e-4)  # four points a frame
    (path,) = body.post("knot", object="bar", revision=1, region=None, frame=12.0).json["paths"]
    assert path["points"][3] == [12, *WAY["points"][2][1:]]  # after its last knot it stays
    head = body.post("knot", object="bar", revision=1, region="head", frame=5.0).json["paths"]
    middle = bk.Path.of(bk.Animation(BAR, np.zeros(1), BAR.rest[None]), np.flatnonzero(BAR.rest[:, 1] > 0.99)).points[0]
    middle = middle + [0.3, 0.6, 0.0] - bk.Path.of(bk.Animation(BAR, np.zeros(1), BAR.rest[None])).points[0]
    assert head == [WAY, {"region": "head", "points": [[5, *np.round(middle, 4)]]}]  # carried along by the path
    assert steered.read_text() == text and body.revision == 1


@pytest.mark.parametrize(
    ("turns", "wanted"),
    [
        ((0.0, 90.0), 45.0),
        ((0.0, 100.0, 0.0), 75.0),  # as the curve has it, which is smooth: not half of the way
        ((170.0, -170.0), 180.0),  # the shorter way
        ((350.0, 370.0), 360.0),  # those that count on
        ((0.0, 90.0, 0.0, 90.0), None),
    ],
)
def test_a_knot_more_is_turned_as_the_body_is_there(
    tmp_path: Path, turns: tuple[float, ...], wanted: float | None
) -> None:
    rows = [[1 + 8 * k, 0.4 * k, 0.5, 0.0, 0.0, turn, 0.0] for k, turn in enumerate(turns)]
    with serving(
        StudioServer([], page=PAGE, shot=EditedShot(write_bar(tmp_path, role="body", path=[{"points": rows}])))
    ) as server:
        (path,) = (
            Page(Client(server), "bar").post("knot", object="bar", revision=1, region=None, frame=5.0).json["paths"]
        )
    before, after = (
        bk.Path(
            np.array(told)[:, 0], np.array(told)[:, 1:4],
            rotations=Rotation.from_rotvec(np.array(told)[:, 4:], degrees=True).as_matrix(),
        )
        for told in (rows, path["points"])
    )  # fmt: skip
    assert path["points"][1][0] == 5 and path["points"][2:] == rows[1:]
    np.testing.assert_allclose(after.rotation(5.0), before.rotation(5.0), atol=1e-3)
    if wanted is not None:
        assert path["points"][1][4:] == pytest.approx([0.0, wanted, 0.0], abs=0.01)


def test_a_path_that_is_begun_on_a_body_that_is_turned_begins_where_its_region_is_then(tmp_path: Path) -> None:
    """Laid on its side, a quarter turn about z: the head is where its middle has come to."""
    rows = [[1, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0], [9, 1.0, 0.5, 0.0, 0.0, 0.0, 90.0]]
    with serving(
        StudioServer([], page=PAGE, shot=EditedShot(write_bar(tmp_path, role="body", path=[{"points": rows}])))
    ) as server:
        page = Page(Client(server), "bar")
        (_, head) = page.post("knot", object="bar", revision=1, region="head", frame=9.0).json["paths"]
    still = bk.Animation(BAR, np.zeros(1), BAR.rest[None])
    x, y, z = bk.Path.of(still, np.flatnonzero(BAR.rest[:, 1] > 0.99)).points[0] - bk.Path.of(still).points[0]
    assert head["region"] == "head" and head["points"][0][0] == 9
    assert head["points"][0][1:] == pytest.approx([1.0 - y, 0.5 + x, z], abs=1e-4)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"frame": 5.0}, "path[0]: has a knot on this frame already (got 5)"),
        ({"region": "hat"}, "hat"),
        ({"frame": 1e12}, "there is no such frame"),
        ({"revision": 7}, "was changed meanwhile"),
    ],
)
def test_a_knot_that_cannot_be_is_a_sentence(body: Page, told: dict[str, Any], said: str) -> None:
    got = body.post("knot", **{"object": "bar", "revision": 1, "region": None, "frame": 4.0, **told})
    assert got.status in (400, 409) and said in got.json["error"]
