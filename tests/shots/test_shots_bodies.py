"""Bodies in shots: key shapes from files and grips, paths, regions, edits that keep frames, refusals."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import InputError, TriMesh, read_clip
from bunraku.cli.performance import exit_code
from bunraku.direction.steer import DIGESTS, turning
from bunraku.direction.steer.rigid import shape_distance
from bunraku.geometry import Attribute, Scope, Surface, tet_bar, tet_lumped_mass
from bunraku.io import write_mesh
from bunraku.shots import Noticed, RegionSheet, Remarked, Shot, TakeResult, dry_run, open_take
from bunraku.shots.kept import each, kept
from bunraku.shots.painted import painted_points
from bunraku.shots.prepare_body import PreparedBody, prepare_body
from bunraku.shots.run import TakeFolder

BAR = tet_bar((6, 2, 2), (0.6, 0.2, 0.2))
SKIN = BAR.surface()
ENDS = {
    "left": np.flatnonzero(SKIN.rest[:, 0] < 1e-9).tolist(),
    "right": np.flatnonzero(SKIN.rest[:, 0] > 0.6 - 1e-9).tolist(),
}


def bent(amount: float) -> np.ndarray:
    """The skin's points with its end turned up."""
    out = SKIN.rest.copy()
    out[:, 1] += amount * (out[:, 0] / 0.6) ** 2
    return out


@pytest.fixture
def shot(tmp_path: Path):
    write_mesh(tmp_path / "bar.obj", SKIN)
    write_mesh(tmp_path / "bar.msh", BAR)
    write_mesh(tmp_path / "bent.obj", TriMesh(bent(0.1), SKIN.faces))

    def make(physics: dict[str, Any] | None = None, frames: tuple[int, int] = (5, 17), **table: Any) -> Shot:
        body = {
            "role": "body", "surface": {"file": "bar.obj", "unit": "m"}, "tets": {"file": "bar.msh", "unit": "m"},
            "material": {"preset": "jelly", "young": 2e4}, "regions": {k: {"vertices": v} for k, v in ENDS.items()},
        }  # fmt: skip
        settings = {"shot": {"frames": list(frames)}, "object": {"bar": {**body, **table}}}
        settings["physics"] = {"substeps": 1, **(physics or {})}
        settings["output"] = {"preview": False}
        return Shot.of(settings, folder=tmp_path, source=tmp_path / "bar.toml")

    return make


PATH = [[5, 0.3, 0.1, 0.1], [11, 0.5, 0.4, 0.1], [17, 0.9, 0.1, 0.1]]
KEYS = [
    {"frame": 9, "file": "bent.obj", "unit": "m"},
    {"frame": 13, "grips": [{"region": "left"}, {"region": "right", "rotate": [60, 0, 0], "move": [0.05, 0, 0]}]},
    {"frame": 16},
]


def test_a_body_passes_its_keys_and_is_on_its_path(shot) -> None:
    result: TakeResult = shot(keys=KEYS, path=[{"points": PATH}]).run()
    report = result.report
    assert report.met is True and report.measured.residual.max() < 1e-9 * BAR.size
    told = [one.text for one in report.sentences]
    assert any(text.startswith("Direction met on all 13 frames: the largest distance between a dire") for text in told)
    keys = [text for text in told if text.startswith("The key shape of frame")]
    assert [text.split()[5] for text in keys] == ["9", "13", "16"]
    frames = list(each(TakeFolder(result.folder).cache(), 0, 13))
    middle = np.array([_centre(frame.points) for frame in frames])
    prepared = prepare_body(shot(keys=KEYS, path=[{"points": PATH}]))
    np.testing.assert_allclose(middle[[0, 6, 12]] + prepared.origin, np.array(PATH)[:, 1:], atol=1e-10)
    written = read_clip(result.folder / "bar.usdc").animation.points
    carried = np.stack([prepared.vertices(frame.points) for frame in frames]) + prepared.origin
    np.testing.assert_allclose(written, carried, atol=1e-6)
    assert np.abs(written[4] - written[0]).max() > 0.05


def _centre(x: np.ndarray) -> np.ndarray:
    share = np.repeat(BAR.volumes / 4.0, 4)
    weights = np.bincount(BAR.tets.reshape(-1), weights=share, minlength=BAR.point_count)
    return weights @ x / weights.sum()


def test_a_key_from_a_file_of_the_surface_is_a_shape_of_the_body(shot) -> None:
    prepared = prepare_body(shot(keys=KEYS[:1]))
    points = prepared.bodies[0].keys[0].points
    assert points is not None
    away = prepared.vertices(np.asarray(points)) + prepared.origin - bent(0.1)
    away -= away.mean(axis=0)
    assert np.linalg.norm(away, axis=1).max() < 0.01 * BAR.size
    assert prepared.bodies[0].keys[0].time == pytest.approx(4 / 24)
    # What is looked at beside the result: the shape of the key on the key's frame.
    even = np.ones(SKIN.point_count)
    away = [shape_distance(prepared.guide.points[k], bent(0.1), even) for k in (0, 4)]
    assert away[1] < 0.1 * away[0] and away[0] > 0.01


def test_a_frame_of_a_take_is_edited_and_stands_as_a_key(shot, tmp_path: Path) -> None:
    """Of the simulation's own frame: as it was, on the key's own frame or another, and with its end turned on."""
    first = shot(keys=KEYS[:1], path=[{"points": PATH}]).run()
    frames = list(each(TakeFolder(first.folder).cache(), 0, 13))
    own = {"frame": 13, "take": "bar/v001"}
    edited = {**own, "at": 9, "grips": [{"region": "left"}, {"region": "right", "move": [0, 0.1, 0]}]}
    keys = [prepare_body(shot(keys=[one])).bodies[0].keys[0].points for one in (own, {**own, "at": 9}, edited)]
    mass = tet_lumped_mass(BAR)
    for shape, frame in zip(keys[:2], (frames[8], frames[4]), strict=True):
        assert shape is not None and shape_distance(np.asarray(shape), frame.points, mass) < 1e-3 * BAR.size
    assert shape_distance(frames[8].points, frames[4].points, mass) > 4e-3 * BAR.size
    plain, turned = (np.asarray(one) for one in keys[1:])
    up = turned - plain
    right, left = (
        np.asarray(pin.vertices) for pin in prepare_body(shot(pins=[{"region": "right"}, {"region": "left"}])).pins
    )
    assert np.allclose(up[right], [0, 0.1, 0]) and np.allclose(up[left], 0)
    again = shot(keys=[KEYS[0], edited], path=[{"points": PATH}]).run()
    read = [one["key"] for one in json.loads(TakeFolder(again.folder).provenance.read_text())["inputs"]]
    assert again.report.met is True and "object.bar.keys[1]" in read
    moving = {"frame": 13, "file": str(first.folder / "bar.usdc"), "at": 9}
    of_file = prepare_body(shot(keys=[moving])).bodies[0].keys[0].points
    assert np.allclose(np.asarray(of_file), plain, atol=1e-9)


def test_a_region_is_of_the_nodes_that_carry_it(shot) -> None:
    prepared = prepare_body(shot(path=[{"points": PATH, "region": "right"}], pins=[{"region": "left"}]))
    ends = prepared.filling.body.rest + prepared.origin
    assert (ends[np.asarray(prepared.bodies[0].paths[0].vertices), 0] > 0.6 - 1e-6).all()
    assert (ends[np.asarray(prepared.pins[0].vertices), 0] < 1e-6).all()
    assert prepared.regions == ("region right",) and prepared.functions is not None
    right = prepared.functions.toarray()[0]
    assert right[ENDS["right"]].min() > 0.99 and right[ENDS["left"]].max() < 0.01


def with_group(path: Path, vertices: list[int]) -> None:
    """The skin with the faces among some vertices in a group of their own, called tip."""
    inside = np.isin(SKIN.faces, vertices).all(axis=1)
    lines = [f"v {x} {y} {z}" for x, y, z in SKIN.rest.tolist()]
    for name, faces in (("tip", SKIN.faces[inside]), ("else", SKIN.faces[~inside])):
        lines += [f"g {name}", *(f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist())]
    path.write_text("\n".join(lines) + "\n")


def test_a_region_may_be_painted_on_the_surface(shot, tmp_path: Path) -> None:
    """A group of the file means what the same points as numbers do, for keys, paths and pins."""
    with_group(tmp_path / "painted.obj", ENDS["right"])
    surface = {"file": "painted.obj", "unit": "m"}
    key = {"frame": 9, "file": "posed.obj", "unit": "m", "region": "end"}
    with_group(tmp_path / "posed.obj", ENDS["right"])
    bodies = [
        prepare_body(shot(surface=surface, regions={"end": told}, path=[{"points": PATH, "region": "end"}], keys=[key]))
        for told in ({"vertices": ENDS["right"]}, {"painted": "tip"})
    ]
    numbers, names = ([one.bodies[0].paths[0].vertices, one.bodies[0].keys[0].vertices] for one in bodies)
    assert numbers[0] is not None and len(numbers[0]) == 9
    for a, b in zip(numbers, names, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(InputError, match=r"end.painted: the surface has no such part \(got 'top'\); allowed.*tip"):
        prepare_body(shot(surface=surface, regions={"end": {"painted": "top"}}, pins=[{"region": "end"}]))
    with pytest.raises(InputError, match="needs either 'vertices' or 'painted'"):
        shot(regions={"end": {}})


def test_what_is_painted_with_weights_is_where_they_are_above_a_half() -> None:
    soft = Attribute("soft", Scope.POINT, np.linspace(0.0, 1.0, SKIN.point_count, dtype=np.float32))
    faces = Attribute("hard", Scope.POLYGON, (np.arange(len(SKIN.faces)) == 3).astype(np.int32))
    colour = Attribute("dye", Scope.POINT, np.zeros((SKIN.point_count, 3)))
    none = Attribute("none", Scope.POINT, np.zeros(SKIN.point_count))
    surface = replace(Surface.of(SKIN), attributes=(soft, faces, colour, none))
    half = np.arange(SKIN.point_count // 2, SKIN.point_count)
    np.testing.assert_array_equal(painted_points(surface, "soft"), half)
    np.testing.assert_array_equal(painted_points(surface, "hard"), np.unique(SKIN.faces[3]))
    for name, said in (("dye", "one number a point or polygon"), ("none", "nothing is in the part"), ("x", "soft, h")):
        with pytest.raises(InputError, match=said):
            painted_points(surface, name)


def test_a_bodys_own_take_as_its_path_leaves_it_where_it_was(shot, tmp_path: Path) -> None:
    """However unevenly it is shaped: the middle of its surface's area is elsewhere."""
    thin = 1.0 - BAR.rest[:, :1]
    wedge = BAR.with_rest(BAR.rest * np.concatenate([np.ones_like(thin), thin, thin], axis=1))
    write_mesh(tmp_path / "wedge.obj", wedge.surface())
    write_mesh(tmp_path / "wedge.msh", wedge)
    told = {"surface": {"file": "wedge.obj", "unit": "m"}, "tets": {"file": "wedge.msh", "unit": "m"}}
    told["regions"] = {}
    free = shot(**told).run()
    again = shot(**told, path=[{"take": "bar/v001"}]).run()
    first, second = (read_clip(one.folder / "bar.usdc").animation.points for one in (free, again))
    np.testing.assert_allclose(second, first, atol=1e-5 * wedge.size)


def test_an_edit_keeps_the_frames_before_it(shot) -> None:
    first = shot(keys=KEYS, path=[{"points": PATH}]).run()
    told: list[Any] = []
    later = [*KEYS[:2], {"frame": 17}]
    edited = shot(keys=later, path=[{"points": PATH}])
    second = edited.run(progress=told.append)
    (kept_frames,) = [event for event in told if isinstance(event, Remarked)]
    assert kept_frames.text.startswith("frames up to 13 are those of v001")
    assert not any(isinstance(event, Noticed) for event in told)
    old, new = TakeFolder(first.folder).cache(), TakeFolder(second.folder).cache()
    for index in range(9):
        np.testing.assert_array_equal(kept(old, index).state.q, kept(new, index).state.q)
    assert not np.array_equal(kept(old, 11).state.q, kept(new, 11).state.q)
    fresh = edited.run(out=first.folder.parent.parent / "fresh")
    again = TakeFolder(fresh.folder).cache()
    for index in range(13):
        np.testing.assert_array_equal(kept(again, index).state.q, kept(new, index).state.q)
        np.testing.assert_array_equal(
            kept(again, index).report["key_distance"], kept(new, index).report["key_distance"]
        )


def test_frames_say_what_they_are_made_of(shot) -> None:
    one, other = (prepare_body(shot(keys=KEYS[:n])).job().facts[DIGESTS] for n in (2, 3))
    assert one[:9] == other[:9] and one[9] != other[9] and len(set(one)) == 13


def test_a_reviewer_sees_the_surface(shot) -> None:
    result = shot(keys=KEYS[:1], path=[{"points": PATH}]).run()
    take, prepared = open_take(result.folder), prepare_body(shot(keys=KEYS[:1], path=[{"points": PATH}]))
    frame = kept(TakeFolder(result.folder).cache(), 6)
    np.testing.assert_allclose(take.points(6), prepared.vertices(frame.points), atol=1e-12)
    assert take.scene.regions == ("the whole body",) and len(take.points(6)) == SKIN.point_count


def test_a_path_of_seven_numbers_turns_the_body(shot) -> None:
    rows = [[5, 0.3, 0.1, 0.1, 0, 0, 0], [17, 0.3, 0.1, 0.1, 0, 90, 0]]
    result = shot(path=[{"points": rows}]).run()
    end = kept(TakeFolder(result.folder).cache(), 12)
    turn = end.report["rotation"]
    np.testing.assert_allclose(turn, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-6)
    assert end.report["rotation_residual"].max() < 1e-6
    assert result.report.met is True and not any(one.text.startswith("Turn") for one in result.report.sentences)


def test_a_spin_may_be_told_by_the_shorter_way_from_row_to_row(shot) -> None:
    """As programs export it: 160° and then −160° is a turn of 40°, on through half a turn."""
    turned = [[5 + 4 * k, 0.3, 0.1, 0.1, 0, angle, 0] for k, angle in enumerate((0, 80, 160, -160))]
    path = prepare_body(shot(path=[{"points": turned}])).bodies[0].paths[0]
    vectors = np.degrees([np.linalg.norm(path.spin(time)) for time in path.times])
    assert vectors[1:3] == pytest.approx([480.0, 360.0])  # 80°, then 40° in 4/24 s: it does not go back
    assert path.rotation(14 / 24)[0, 0] < -0.9 and path.spin(10 / 24)[1] > 0
    with pytest.raises(InputError, match=r"points\[1\]: turns too far at once"):
        shot(path=[{"points": [[5, 0, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 200, 0]]}])


@pytest.mark.slow
def test_a_turn_that_is_missed_is_said_and_is_no_met_direction(shot, monkeypatch) -> None:
    """As a path that is missed: in a sentence, in report.json, and for --strict."""
    monkeypatch.setattr(turning, "_MOST_SOLVES", 1)  # nobody looks for the turn that is directed
    rows = [[5, 0.3, 0.1, 0.1, 0, 0, 0], [11, 0.3, 0.1, 0.1, 0, 40, 80], [17, 0.3, 0.1, 0.1, 0, 0, 0]]
    result: TakeResult = shot(path=[{"points": rows}]).run()
    told = result.report.sentences[0]
    off = np.degrees(result.report.arrays["rotation_residual"][:, 0])
    assert off.max() > 0.01 and told.kind == "missed" and told.frame == 5 + np.argmax(off)
    assert (
        told.text.startswith("Turn missed on ") and f"by up to {off.max():.2g}°, at frame {told.frame:g}" in told.text
    )
    assert "try more substeps" in told.text
    assert result.report.met is False and exit_code(result, strict=True) == 4 and exit_code(result, strict=False) == 0
    report = json.loads((result.folder / "report.json").read_text())
    missed = 5 + np.flatnonzero(off > np.degrees(report["tolerances"]["turn_rad"]))
    assert report["missed_frames"] == missed.tolist() and report["direction_met"] is False
    texts = [one.text for one in result.report.sentences]
    assert any(text.startswith("Direction but for the turn met on all 13 frames") for text in texts)


def test_contact_with_the_ground(shot) -> None:
    made = shot(physics={"contact": True}).settings(".")
    made["object"]["ground"] = {"role": "obstacle", "source": {"plane": {"point": [0, -0.05, 0], "normal": [0, 1, 0]}}}
    result = Shot.of(made, folder=".", source=None).run(out=Path(made["output"]["folder"]).parent / "ground")
    assert result.report.measured.intersections is not None and result.report.measured.intersections.total == 0
    assert result.report.measured.arrays["pairs"].max() > 0


def test_a_path_that_fetches_the_body_is_said_to(shot) -> None:
    rows = [[9, 0.6, 0.4, 0.1], [13, 0.7, 0.4, 0.1]]
    result: TakeResult = shot(path=[{"points": rows, "region": "right"}]).run()
    (told,) = [one for one in result.report.sentences if "fetched within a step" in one.text]
    assert told.text.startswith("The path of region right takes hold at frame 9, 0.") and told.frame == 9
    away = float(told.text.split(", ")[1].split()[0])
    fallen = np.array([0.6, 0.1 - 0.5 * 9.81 * (4 / 24) ** 2, 0.1])
    assert away == pytest.approx(np.linalg.norm(np.array(rows[0][1:]) - fallen), rel=0.2)
    near = shot(path=[{"points": PATH}]).run()
    assert not any("fetched" in one.text for one in near.report.sentences)


@pytest.mark.slow
def test_a_hard_collision_is_said_with_what_braces_for_it(shot) -> None:
    made = shot(physics={"contact": True}, keys=[KEYS[0], {"frame": 17}]).settings(".")
    made["object"]["ground"] = {"role": "obstacle", "source": {"plane": {"point": [0, -0.2, 0], "normal": [0, 1, 0]}}}
    folder = Path(made["output"]["folder"]).parent

    def said(brace: bool) -> list[str]:
        made["object"]["bar"]["brace"] = brace
        result = Shot.of(made, folder=".", source=None).run(out=folder / f"brace-{brace}")
        return [one.text for one in result.report.sentences if "collided hard" in one.text]

    (loose,), (braced,) = said(False), said(True)
    assert loose.startswith("The body collided hard at frame 9; ") and "brace = true keeps the shape" in loose
    assert "brace" not in braced


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"keys": [{"frame": 9, "grips": [{"region": "lft"}]}]}, "keys[0].grips[0].region: unknown region (got 'lft')"),
        ({"path": [{"points": [[1, 0, 0]]}]}, "path[0].points[0]"),
        ({"path": [{"points": [[1, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0]]}]}, "rows have four numbers, or seven"),
        ({"path": [{"points": [[1, 0, 0, 0]], "take": "a/b"}]}, "path[0]: needs one of several keys"),
        ({"tets": {"edge": 0.1, "file": "bar.msh"}}, "tets: has either tetrahedra of a file or lengths"),
        ({"keys": [{"frame": 9, "file": "bar.obj", "take": "a/v001"}]}, "keys[0]: has either a file or a take"),
        ({"keys": [{"frame": 9, "take": "a/v001", "unit": "m"}]}, "keys[0]: a take knows its own prim, unit and axis"),
        ({"keys": [{"frame": 9, "at": 3}]}, "keys[0]: at tells about a file"),
        (
            {"keys": [{"frame": 9, "file": "bar.obj", "region": "left", "grips": [{"region": "left"}]}]},
            "keys[0]: a shape for a part is taken as it is (got 'region and grips')",
        ),
        ({"material": "jely"}, "material: "),
        ({"keys": 3}, "keys: must be a list (got 3)"),
        (
            {"keys": [{"frame": 12}, {"frame": 9}]},
            "keys[1]: keys must be in order of frames (got 'frame 9'); allowed: after frame 12; try: sort them",
        ),
        (
            {"keys": [{"frame": 9}, {"frame": 9}]},
            "keys[1]: two keys are on one frame (got 'frame 9'); allowed: after frame 9; try: move one of them",
        ),
        ({"path": [{"points": [[9, 0, 0, 0], [7, 0, 0, 0]]}]}, "path[0].points[1]: rows must be in order of frames"),
        (
            {"path": [{"points": [[5, 0, 0, 0, 0, 0, 0], [17, 0, 0, 0, 0, 360, 0]]}]},
            "path[0].points[1]: turns too far at once: nobody knows which way round (got '360° from the row before')",
        ),
        ({"material": {"preset": "jelly", "young": -1}}, "young is out of range"),
        ({"guide": {"file": "bar.obj"}}, "object.bar.guide: unknown key"),
    ],
)
def test_what_cannot_be_meant_is_said_when_it_is_read(shot, table: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        shot(**table)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("table", "physics", "said"),
    [
        ({"keys": [{"frame": 9, "file": "other.obj", "unit": "m"}]}, {}, "keys[0]: "),
        ({"keys": [{"frame": 2}]}, {}, "a key lies outside the shot"),
        ({"keys": [{"frame": 9, "take": "bar/v009"}]}, {}, "keys[0]: "),
        ({"keys": [{"frame": 9, "file": "bent.obj", "unit": "m", "at": 7}]}, {}, "has no such frame (got 'frame 7')"),
        ({"keys": [{"frame": 2}]}, {}, "bar.toml: object.bar.keys[0]: a key lies outside the shot (got 'frame 2')"),
        (
            {"keys": [{"frame": 9}, {"frame": 2}, {"frame": 12}]},
            {},
            "bar.toml: object.bar.keys[1]: a key lies outside the shot (got 'frame 2')",
        ),
        ({"keys": [{"frame": 9, "file": "mirrored.obj", "unit": "m"}]}, {}, "object.bar.keys[0]: "),
        ({"keys": [{"frame": 9, "file": "bent.obj", "unit": "mm"}]}, {}, "948 times smaller than the body at rest"),
        (
            {"regions": {"idle": {"vertices": [10**6]}}},
            {},
            "object.bar.regions.idle.vertices: numbers outside the writ",
        ),
        ({"regions": {"all": {"vertices": [10**6]}}, "pins": [{"region": "all"}]}, {}, "outside the written surface"),
        ({}, {"wind": {"velocity": [1, 0, 0]}}, "physics.wind: is for shells"),
        ({}, {"start": "rest"}, "physics.start: is for shells"),
        ({}, {"bending": "hinge"}, "physics.bending: is for shells"),
    ],
)
def test_what_does_not_fit_is_said_with_its_place(
    shot, tmp_path: Path, table: dict[str, Any], physics: dict[str, Any], said: str
) -> None:
    write_mesh(tmp_path / "other.obj", tet_bar((1, 1, 1)).surface())
    write_mesh(tmp_path / "mirrored.obj", TriMesh(bent(0.1) * [1, 1, -1], SKIN.faces))
    with pytest.raises(InputError) as refused:
        prepare_body(shot(physics, **table))
    assert said in str(refused.value) and not re.search(r"\d s\b", str(refused.value))  # frames, not seconds


@pytest.mark.parametrize(("to", "remedy"), [("bal", "'ball'"), ("floor", "'start': a plane has no places to be")])
def test_a_pin_to_nothing_says_what_there_is(shot, tmp_path: Path, to: str, remedy: str) -> None:
    made = shot({"contact": True}, pins=[{"region": "left", "to": to}]).settings(tmp_path)
    made["object"]["floor"] = {"role": "obstacle", "source": {"plane": {"point": [0, -1, 0], "normal": [0, 1, 0]}}}
    made["object"]["ball"] = {"role": "obstacle", "source": {"sphere": {"centre": [0, -2, 0], "radius": 0.1}}}
    with pytest.raises(InputError) as refused:
        prepare_body(Shot.of(made, folder=tmp_path, source=tmp_path / "bar.toml"))
    said = f"object.bar.pins[0].to: unknown obstacle (got '{to}'); allowed: 'start', 'ball'; try: {remedy}"
    assert said in str(refused.value)


def test_a_shot_of_a_body_reads_back(shot, tmp_path: Path) -> None:
    made = shot(keys=KEYS, path=[{"points": PATH}], lead=1.5)
    made.write(tmp_path / "again.toml", defaults=True)
    from bunraku import read_shot

    again = read_shot(tmp_path / "again.toml")
    assert again.bodies["bar"] == made.bodies["bar"]
    assert isinstance(prepare_body(again), PreparedBody)


def test_a_key_that_is_not_reached_is_said_to_be_so(shot) -> None:
    """And a shot with keys has been directed, though nothing had to be met exactly."""
    soft = {"preset": "jelly", "young": 300.0}
    result = shot(keys=[{"frame": 6, "file": "bent.obj", "unit": "m"}], pins=[{"region": "left"}], material=soft).run()
    told = [one.text for one in result.report.sentences]
    assert any(text.startswith("The key shape of frame 6 was not reached") for text in told)
    assert not any("No direction was asked for" in text for text in told)
    assert any("sag" in text or "weight" in text for text in told)
    assert any(text.startswith("The key at frame 6 comes 1 frames after the start") for text in told)  # not at 0.04 s


def test_a_part_of_the_frames_is_the_same_as_the_whole(shot) -> None:
    """The way to a key begins before it: keys after the last frame are known."""
    made = shot(keys=KEYS, path=[{"points": PATH}])
    whole, part = made.run(out=made.output.folder / "whole"), made.run(out=made.output.folder / "part", frames=(5, 11))
    for index in range(7):
        a, b = (kept(TakeFolder(one.folder).cache(), index).state.q for one in (whole, part))
        np.testing.assert_array_equal(a, b)
    assert len(part.report.measured.frames) == 7


@pytest.mark.parametrize(
    ("table", "physics", "said"),
    [
        ({"path": [{"points": PATH}, {"points": PATH}]}, {}, "two paths direct the whole body"),
        ({"path": [{"points": PATH, "hold": "compensation"}]}, {"contact": True}, "put into what it touches"),
        ({"pins": [{"region": "left", "to": "zz"}]}, {"contact": True}, "object.bar.pins[0].to: "),
    ],
)
def test_a_dry_run_refuses_what_a_run_would(shot, table: dict[str, Any], physics: dict[str, Any], said: str) -> None:
    made = shot(physics, **table)
    for attempt in (dry_run, Shot.run):
        with pytest.raises(InputError) as refused:
            attempt(made)
        assert said in str(refused.value)


@pytest.mark.slow
def test_a_dry_run_writes_nothing(shot, tmp_path: Path) -> None:
    made = shot(keys=KEYS, path=[{"points": PATH}], tets={"edge": 0.15})
    before = sorted(tmp_path.rglob("*"))
    assert any("tetrahedra" in line for line in dry_run(made))
    assert sorted(tmp_path.rglob("*")) == before
    made.run()
    assert list((tmp_path / "takes" / ".bodies").iterdir())  # a run keeps them
    kept_at = {path: path.stat().st_mtime_ns for path in (tmp_path / "takes").rglob("*")}
    dry_run(made)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "takes").rglob("*")} == kept_at


def test_regions_of_a_body_are_no_sheet(shot) -> None:
    with pytest.raises(InputError, match="a body has no guide whose regions could be shown"):
        RegionSheet.of(shot())


def test_a_damaged_take_has_nothing_to_give(shot) -> None:
    first = shot(path=[{"points": PATH}]).run()
    origin = TakeFolder(first.folder).provenance
    told = json.loads(origin.read_text())
    told["facts"][DIGESTS] = 5
    origin.write_text(json.dumps(told))
    assert shot(path=[{"points": PATH}]).run().report.met is True
