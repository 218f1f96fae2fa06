"""An object as it is directed, nothing run: its surface, its regions, and keys that are tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soft_bar
from planned_bar import FOOT, HEAD, HOP, LEAN, SKIN, bar, chained, planned, write_bar

from bunraku import InputError
from bunraku.shots import Shot, Sketch, TriedPlan, TriedPoses, read_shot

Files = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    return tmp_path


@pytest.fixture
def plan(folder: Path) -> Sketch:
    return Sketch.of(planned(folder, keys=[LEAN]), "bar")


@pytest.fixture
def steered(folder: Path) -> Sketch:
    table = {name: value for name, value in bar(role="body").items() if name not in ("modes", "fixed")}
    table |= {"keys": [{"frame": 5, "grips": [{"region": "foot"}, {"region": "head", "move": [0.1, 0.0, 0.0]}]}]}
    table |= {"path": [{"points": [[1, 0, 0.5, 0], [5, 0.2, 0.6, 0], [9, 0.4, 0.5, 0]]}]}
    settings = {"shot": {"frames": [1, 9]}, "object": {"bar": table}, "output": {"preview": False}}
    return Sketch.of(Shot.of(settings, folder=folder, source=folder / "bar.toml"), "bar")


def tried(one: Sketch) -> TriedPlan:
    assert isinstance(one.keys, TriedPlan)
    return one.keys


def posing(one: Sketch) -> TriedPoses:
    assert isinstance(one.keys, TriedPoses)
    return one.keys


def test_a_shell_is_where_its_guide_has_it(files: Files) -> None:
    one = Sketch.of(read_shot(files()), "box")
    prepared: Any = one.prepared
    assert one.mesh.point_count == 26 and one.numbers.tolist() == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(one.points(5), prepared.prolongation @ prepared.guide.points[5])
    assert one.areas.sum() == pytest.approx(2 * 0.25 + 4 * 0.5 * 0.7)
    assert not one.painted.names and set(one.painted.of_vertex) == {-1}


def test_clusters_are_so_many_or_so_large(files: Files) -> None:
    one = Sketch.of(read_shot(files(box={"mesh": {"levels": 2}})), "box")
    assert set(one.clusters(count=5)) == set(range(5))
    assert len(set(one.clusters(scale=0.6))) == round(1.9 / 0.36)
    upper = one.mesh.rest[:, 1] > 0.34
    within = one.clusters(count=2, within=upper)
    assert set(within[~upper]) == {-1} and set(within[upper]) == {0, 1}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, "a number of regions or their size"), ({"count": 0}, "does not fit the mesh"),
        ({"count": 10**6}, "does not fit the mesh"), ({"scale": float("nan")}, "a scale is a length"),
        ({"scale": -1.0}, "a scale is a length"), ({"count": 2, "within": np.zeros(26, bool)}, "no whole face"),
    ],
)  # fmt: skip
def test_clusters_that_cannot_be_are_refused(files: Files, wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sketch.of(read_shot(files()), "box").clusters(**wanted)


def test_what_is_no_object_to_direct_is_refused(files: Files) -> None:
    with pytest.raises(InputError, match="no such object") as refused:
        Sketch.of(read_shot(files()), "bax")
    assert "box" in str(refused.value)


def test_parts_are_the_regions_of_the_shot(plan: Sketch) -> None:
    assert [one.name for one in plan.parts] == ["foot", "head"]
    assert np.array_equal(plan.parts[0].vertices, FOOT) and np.array_equal(plan.parts[1].vertices, HEAD)
    assert plan.parts[1].middle == pytest.approx(SKIN.rest[HEAD].mean(axis=0) - plan.prepared.origin)


def test_a_skin_has_its_regions_too(tmp_path: Path) -> None:
    soft_bar.write_bar(tmp_path)
    settings = {"shot": {"frames": [1, 3]}, "object": {"bar": soft_bar.bar()}, "output": {"preview": False}}
    one = Sketch.of(Shot.of(settings, folder=tmp_path, source=tmp_path / "bar.toml"), "bar")
    assert [len(part.vertices) for part in one.parts] == [len(soft_bar.LEFT), len(soft_bar.RIGHT)]
    assert one.points(2) == pytest.approx(one.mesh.rest)


def test_a_key_that_is_tried_moves_the_motion_and_not_the_file(plan: Sketch) -> None:
    before = plan.points(12)
    after = tried(plan).attempt([{**LEAN, "move": [0.3, -0.05, 0.0]}])
    assert [one.met for one in after.met] == [True]
    further = plan.points(12, after)[HEAD].mean(axis=0) - before[HEAD].mean(axis=0)
    assert further == pytest.approx([0.1, 0.0, 0.0], abs=2e-3)
    assert np.array_equal(plan.points(12), before)


def test_a_key_that_is_tried_is_the_key_the_file_would_say(folder: Path, plan: Sketch) -> None:
    told = [{**LEAN, "move": [0.25, 0.0, 0.0]}]
    asked = Sketch.of(planned(folder, keys=told), "bar")
    assert np.allclose(plan.points(12, tried(plan).attempt(told)), asked.points(12), atol=1e-4)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([{**LEAN, "region": "hed"}], "unknown region.*try: 'head'"), ([{**LEAN, "frame": float("nan")}], "of range"),
        ([{**LEAN, "move": [0, float("inf"), 0]}], "out of range"), ([{**LEAN, "frame": 99}], "outside the motion"),
        ([{**LEAN, "region": "foot"}], "what is fixed"), ([], "nothing is asked for"), ({"a": 1}, "must be a list"),
        ([{**LEAN, "mvoe": 1}], "unknown key"), ([7], "must be a table"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_tried_are_refused(plan: Sketch, told: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        tried(plan).attempt(told)


def test_a_chain_is_tried_whole(folder: Path) -> None:
    one = Sketch.of(chained(folder), "bar")
    faster = [{**HOP[0], "keys": [{"frame": 12, "velocity": [0.8, 1.5, 0.0]}]}, *HOP[1:]]
    after = tried(one).attempt(faster)
    assert after.begins[0] == 1.0 and len(after.begins) == 3
    end = len(one.numbers) - 1
    assert one.points(end, after)[:, 0].mean() > one.points(end)[:, 0].mean() + 0.05


def test_phases_before_the_one_that_is_another_keep_their_motions(folder: Path) -> None:
    one = Sketch.of(chained(folder), "bar")
    further = [HOP[0], HOP[1], {**HOP[2], "keys": [{"frame": 6, "region": "head", "move": [0.1, 0.0, 0.0]}]}]
    after = tried(one).attempt(further)
    assert after.read.motions[:2] == tried(one).read.motions[:2]
    asked = Sketch.of(chained(folder, phases=further), "bar")
    assert np.array_equal(one.points(len(one.numbers) - 7, after), asked.points(len(one.numbers) - 7))


def test_no_more_phases_are_tried_than_are_seen(folder: Path) -> None:
    one = Sketch.of(chained(folder), "bar")
    faster = [{**HOP[0], "keys": [{"frame": 12, "velocity": [0.8, 1.5, 0.0]}]}, *HOP[1:]]
    first = tried(one).attempt(faster, tried(one).until(8.0))
    whole = tried(one).attempt(faster)
    assert [len(found.read.motions) for found in (first, whole)] == [1, 3]
    assert np.array_equal(one.points(7, first), one.points(7, whole))
    assert len(first.attempt(HOP, tried(one).until(20.0)).read.motions) == 2
    assert np.array_equal(one.points(7, first.attempt(HOP)), one.points(7))


def test_a_key_shape_is_posed_by_its_grips(steered: Sketch) -> None:
    grips = [{"region": "foot"}, {"region": "head", "move": [0.0, -0.2, 0.0]}]
    shape = posing(steered).posed({"frame": 5, "grips": grips})
    rest = steered.mesh.rest
    assert np.allclose(shape[HEAD], rest[HEAD] + [0.0, -0.2, 0.0], atol=1e-6)
    assert np.allclose(shape[FOOT], rest[FOOT], atol=1e-6)
    assert np.allclose(posing(steered).posed({"frame": 5}), rest)


def test_a_path_is_a_curve_through_its_rows(steered: Sketch) -> None:
    rows = [[1, 0, 0.5, 0], [5, 0.2, 0.9, 0], [9, 0.4, 0.5, 0]]
    curve = posing(steered).curve({"points": rows})
    assert len(curve) == 33
    assert curve[[0, 16, 32]] == pytest.approx(np.array(rows)[:, 1:], abs=1e-12)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"frame": 5, "grips": [{"region": "hed"}]}, "unknown region"), ({"frame": 0.0}, "outside the shot"),
        ({"frame": float("nan")}, "out of range"), ("a key", "must be a table"),
    ],
)  # fmt: skip
def test_shapes_that_cannot_be_posed_are_refused(steered: Sketch, told: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        posing(steered).posed(told)


def test_paths_that_are_none_are_refused(steered: Sketch) -> None:
    with pytest.raises(InputError, match="in order of frames"):
        posing(steered).curve({"points": [[5, 0, 0, 0], [1, 0, 0, 0]]})
