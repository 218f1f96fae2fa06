"""glTF: one small file a feature, each with an answer known in advance."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from gltf_files import SQUARE, TWO, Made
from numpy.typing import ArrayLike

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, NORMALS, UV, Scope
from bunraku.io import several_meshes
from bunraku.io.gltf import read_gltf

HALF = np.sqrt(0.5)
QUARTER_TURN = [0, 0, HALF, HALF]
"""90° about z as x, y, z, w"""


@pytest.fixture
def made() -> Made:
    """A square at one node."""
    return Made().mesh()


# Shapes


@pytest.mark.parametrize("form", ["glb", "gltf", "beside"])
def test_containers(tmp_path: Path, made: Made, form: str) -> None:
    if form == "beside":
        (tmp_path / "sub dir").mkdir()
        (tmp_path / "sub dir" / "a.bin").write_bytes(made.data)
        path = made.gltf(tmp_path / "a.gltf", "sub%20dir/a.bin")
    else:
        path = getattr(made, form)(tmp_path / "a.any")  # told by content
    recording = read_gltf(path, None, None)
    assert recording.surface.points.tolist() == SQUARE.tolist()
    assert recording.surface.corners.tolist() == TWO.tolist() and set(recording.surface.counts) == {3}
    assert recording.prim_path == "/square" and recording.points.shape == (1, 4, 3) and recording.rate == 24


def test_strip_fan_and_soup(tmp_path: Path) -> None:
    def corners(**facts: object) -> list[list[int]]:
        made = Made().mesh(np.arange(18).reshape(6, 3), **facts)  # type: ignore[arg-type]
        return read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface.corners.reshape(-1, 3).tolist()

    assert corners(indices=np.array([0, 1, 2, 3, 4], np.uint8), mode=5) == [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    assert corners(indices=np.array([5, 1, 2, 3], np.uint32), mode=6) == [[1, 2, 5], [2, 3, 5]]
    assert corners(indices=None) == [[0, 1, 2], [3, 4, 5]]
    assert corners(indices=None, mode=5) == [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]


def test_leftover_corners_and_lines_are_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = Made().mesh(indices=np.array([0, 1, 2, 3], np.uint16))
    made.json["meshes"][0]["primitives"].append({"attributes": made.primitive["attributes"], "mode": 1})
    made.json["meshes"][0]["primitives"].append({"attributes": {}})
    with caplog.at_level(logging.WARNING):
        recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert recording.surface.polygon_count == 1 and recording.surface.point_count == 4
    assert "1 corners are left over" in caplog.text and "is made of lines" in caplog.text
    assert "has no positions" in caplog.text


def test_primitives_are_joined_and_named_by_material(tmp_path: Path, made: Made) -> None:
    """The second shares the first's points, the third has its own."""
    first = made.primitive
    own = {"attributes": {"POSITION": made.add(SQUARE + [0, 0, 1])}, "indices": made.add([2, 1, 0], np.uint8)}
    made.json["meshes"][0]["primitives"] = [
        first | {"material": 1}, first | {"material": 0}, own | {"material": 1}, own,
    ]  # fmt: skip
    made.json["materials"] = [{"name": "silk"}, {"name": "silk"}]
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    assert surface.point_count == 8 and surface.polygon_count == 6
    assert surface.corners[-3:].tolist() == [6, 5, 4]
    named = {one.name: one.polygons.tolist() for one in surface.subsets}
    assert named == {"silk": [0, 1, 4], "silk_0": [2, 3]} and surface.subsets[0].family == "material"


def test_what_is_painted_on(tmp_path: Path, made: Made) -> None:
    attributes = made.primitive["attributes"]
    attributes["NORMAL"] = made.add(np.tile([0, 0, 127], (4, 1)), np.int8, normalized=True)
    attributes["TEXCOORD_0"] = made.add([[0, 0], [255, 0], [255, 255], [0, 255]], np.uint8, normalized=True)
    attributes["TEXCOORD_1"] = made.add(np.full((4, 2), 0.25))
    attributes["COLOR_0"] = made.add(np.full((4, 4), 65535), np.uint16, normalized=True)
    attributes["_HEAT"] = made.add([1.0, 2.0, 3.0, 4.0])
    attributes["TANGENT"] = made.add(np.ones((4, 4)))
    attributes["_FRAME"] = made.add(np.ones((4, 16)))
    made.json["nodes"][0] |= {"rotation": [HALF, 0, 0, HALF], "scale": [1, 2, 1]}  # z → -y
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    values = {one.name: one.values for one in surface.attributes}
    assert list(values) == [NORMALS, UV, "uv1", COLOUR, "_HEAT"]
    assert all(one.scope is Scope.POINT for one in surface.attributes)
    assert np.allclose(values[NORMALS], [0, -1, 0])
    assert values[UV].tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert np.allclose(values["uv1"], [0.25, 0.75]) and (values[COLOUR] == 1).all()
    assert values["_HEAT"].tolist() == [1, 2, 3, 4]
    assert np.allclose(surface.points[2], [1, 0, 2])


def test_a_mirrored_mesh_is_left_handed(tmp_path: Path, made: Made) -> None:
    made.primitive["attributes"]["NORMAL"] = made.add(np.tile([0.0, 0.6, 0.8], (4, 1)))
    made.json["nodes"][0]["scale"] = [1, -1, 1]
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    assert surface.left_handed
    assert np.allclose(surface.attributes[0].values, [0, -0.6, 0.8])


def test_sparse_accessors(tmp_path: Path, made: Made) -> None:
    """Over stored positions, and over none: then the others are zero."""
    places, values = made.view(np.array([1, 3], np.uint8)), made.view(np.array([[7, 0, 0], [0, 7, 0]], np.float32))
    sparse = {"count": 2, "indices": {"bufferView": places, "componentType": 5121}, "values": {"bufferView": values}}
    made.json["accessors"][0]["sparse"] = sparse
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    assert surface.points.tolist() == [[0, 0, 0], [7, 0, 0], [1, 1, 0], [0, 7, 0]]
    del made.json["accessors"][0]["bufferView"]
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    assert surface.points.tolist() == [[0, 0, 0], [7, 0, 0], [0, 0, 0], [0, 7, 0]]


def test_quantised_positions_and_strides(tmp_path: Path, made: Made) -> None:
    made.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    padded = np.zeros((4, 4), np.int16)  # three shorts and two bytes of padding
    padded[:, :3] = SQUARE * [32767, -32767, 0]
    padded[3, 1] = -32768
    view = made.view(padded, byteStride=8)
    made.json["accessors"].append({
        "bufferView": view, "componentType": 5122, "normalized": True, "count": 4, "type": "VEC3",
    })  # fmt: skip
    made.primitive["attributes"]["POSITION"] = len(made.json["accessors"]) - 1
    surface = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface
    assert surface.points.tolist() == (SQUARE * [1, -1, 0]).tolist()


# Nodes


def test_nodes_stand_on_their_parents(tmp_path: Path, made: Made) -> None:
    made.json["nodes"] += [
        {"children": [0], "rotation": QUARTER_TURN, "name": "a/b"},
        {"children": [1], "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 5, 0, 0, 1]},
    ]
    made.json |= {"scene": 0, "scenes": [{"nodes": [2]}]}
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert recording.prim_path == "/node_2/a_b/square"
    assert np.allclose(recording.surface.points, [[5, 0, 0], [5, 2, 0], [3, 2, 0], [3, 0, 0]])


def test_names_of_meshes_differ(tmp_path: Path, made: Made) -> None:
    """Siblings of one name, one with none, and one outside the scene."""
    nodes = [{"mesh": 0, "name": "leg"}, {"mesh": 0, "name": "leg"}, {"mesh": 0, "name": "leg_2"}, {"mesh": 0}]
    made.json["nodes"] = [*nodes, {"children": [0, 1, 2, 3]}, {"mesh": 0, "name": "hidden"}]
    made.json |= {"scenes": [{"nodes": [4]}]}
    with pytest.raises(InputError, match=r"got '/node_4/leg, /node_4/leg_2, /node_4/leg_2_2, /node_4/node_3'\)"):
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert several_meshes(tmp_path / "a.glb") == [f"/node_4/{name}" for name in ("leg", "leg_2", "leg_2_2", "node_3")]
    made.json["scenes"] = [{}]
    with pytest.raises(InputError, match="/hidden"):
        read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert read_gltf(tmp_path / "a.glb", "hidden", None).prim_path == "/hidden"


# Motion


def test_linear_and_step(tmp_path: Path, made: Made) -> None:
    made.animate("translation", [0, 1], [[0, 0, 0], [24, 0, 0]]).animate(
        "scale", [0, 1], np.outer([1, 3], [1] * 3), how="STEP"
    )
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert recording.rate == 24 and recording.frames.tolist() == list(range(25))
    assert np.allclose(recording.points[:, 0, 0], np.arange(25))
    assert np.allclose(recording.points[:, 1, 0] - recording.points[:, 0, 0], [1] * 24 + [3])
    assert np.array_equal(recording.surface.points, SQUARE)
    fewer = read_gltf(tmp_path / "a.glb", None, 5, clip="move", rate=10)
    assert fewer.rate == 10 and len(fewer.frames) == 5 and np.isclose(fewer.points[4, 0, 0], 9.6)


def test_rotation_runs_along_the_shorter_arc(tmp_path: Path, made: Made) -> None:
    made.animate("rotation", [0, 1, 2], [[0, 0, 0, 1], [0, 0, -HALF, -HALF], [0, 0, 1, 0]])
    points = read_gltf(made.glb(tmp_path / "a.glb"), None, None, rate=30).points
    angle = np.arange(61) * np.pi / 60
    assert np.allclose(points[:, 1], np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1), atol=1e-6)


def test_normalised_rotation_keys(tmp_path: Path, made: Made) -> None:
    made.animate("rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]])
    made.json["animations"][0]["samplers"][0]["output"] = made.add(
        np.array([[0, 0, 0, 32767], [0, 0, 32767, 0]], np.int16), normalized=True
    )
    points = read_gltf(made.glb(tmp_path / "a.glb"), None, None).points
    assert np.allclose(points[12, 1], [0, 1, 0], atol=1e-6) and np.allclose(points[24, 1], [-1, 0, 0], atol=1e-6)


def test_cubic_spline(tmp_path: Path, made: Made) -> None:
    """A cubic through its keys: x = t³ on [1, 3], before and behind held."""
    keys = [[[0, 0, 0], [1, 0, 0], [3, 0, 0]], [[27, 0, 0], [27, 0, 0], [0, 0, 0]]]
    made.animate("translation", [1, 3], np.reshape(keys, (6, 3)), how="CUBICSPLINE")
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    times = recording.frames / 24
    assert times[-1] == 3.0 and np.allclose(recording.points[:, 0, 0], np.maximum(times, 1) ** 3)


def test_morphs(tmp_path: Path, made: Made) -> None:
    """The node's weights over the mesh's, the animation's over both; a target the second part lacks."""
    up, wide = made.add(np.tile([0.0, 0.0, 1.0], (4, 1))), made.add(SQUARE)
    made.primitive["targets"] = [{"POSITION": up}, {"POSITION": wide}]
    made.json["meshes"][0]["primitives"].append(
        {"attributes": {"POSITION": made.add(SQUARE + 5)}, "targets": [{"POSITION": up}]}
    )
    made.json["meshes"][0]["weights"] = [0.5, 1]
    points = read_gltf(made.glb(tmp_path / "a.glb"), None, None).surface.points
    assert np.allclose(points[:4], 2 * SQUARE + [0, 0, 0.5]) and np.allclose(points[4:], SQUARE + [5, 5, 5.5])
    made.json["nodes"][0]["weights"] = [0, 0.5]
    made.animate("weights", [0, 1], [0.0, 0, 1, 2]).animate("translation", [0, 1], [[0, 0, 0], [0, 1, 0]])
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert np.allclose(recording.surface.points[:4], 1.5 * SQUARE)
    assert np.allclose(recording.points[12, :4], 2 * SQUARE + [0, 0.5, 0.5])
    assert np.allclose(recording.points[24, 4:], SQUARE + [5, 6, 6])


def arm(weights: ArrayLike, more: ArrayLike | None = None) -> Made:
    """A strip of points along x at 0, 1, 2, and two bones that begin at 0 and at 1; the second turns by 90°."""
    made = Made().mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0]], np.array([0, 1, 3, 1, 2, 3], np.uint8))
    attributes = made.primitive["attributes"]
    attributes["JOINTS_0"] = made.add(np.tile([0, 1, 0, 0], (4, 1)), np.uint8)
    attributes["WEIGHTS_0"] = made.add(weights, np.float32)
    if more is not None:
        attributes["JOINTS_1"] = made.add(np.tile([1, 99, 0, 0], (4, 1)), np.uint16)
        attributes["WEIGHTS_1"] = made.add(more, np.float32)
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 3, 0] = -1  # column-major: the translation is the last row here
    made.json["skins"] = [{"joints": [1, 2], "inverseBindMatrices": made.add(binds.reshape(2, 16))}]
    made.json["nodes"] = [
        {"mesh": 0, "skin": 0, "name": "arm", "translation": [99, 99, 99]},  # which a skin ignores
        {"name": "upper", "children": [2]}, {"name": "lower", "translation": [1, 0, 0]},
    ]  # fmt: skip
    return made.animate("rotation", [0, 1], [[0, 0, 0, 1], QUARTER_TURN], node=2)


def test_a_skin_with_two_joints(tmp_path: Path) -> None:
    """The elbow stays, the hand turns about it, the half-way point is the mean of both."""
    made = arm([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]])
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert np.allclose(recording.surface.points, [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0]])
    angle = np.radians(90 * recording.frames / 24)
    hand = np.stack([1 + np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    assert np.allclose(recording.points[:, :2], [[0, 0, 0], [1, 0, 0]])
    assert np.allclose(recording.points[:, 2], hand, atol=1e-6)
    assert np.allclose(recording.points[-1, 3], (np.array([2, 1, 0]) + [0, 1, 0]) / 2, atol=1e-6)


def test_weights_are_scaled_and_lost_points_follow_their_first_joint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = arm([[4, 0, 0, 0], [0, 0.2, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0]])
    with caplog.at_level(logging.WARNING):
        recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert "worst 4)" in caplog.text
    assert np.allclose(recording.points[-1], [[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]], atol=1e-6)


def test_more_than_four_influences(tmp_path: Path) -> None:
    """The second set has half the weight; a joint that does not exist has none."""
    made = arm([[1, 0, 0, 0]] * 2 + [[0.5, 0, 0, 0]] * 2, [[0.0, 0, 0, 0]] * 2 + [[0.5, 0, 0, 0]] * 2)
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert np.allclose(recording.points[-1, 2], [1.5, 0.5, 0], atol=1e-6)


def test_a_part_without_joints_follows_the_node(tmp_path: Path) -> None:
    made = arm([[1, 0, 0, 0]] * 4)
    made.json["meshes"][0]["primitives"].append({"attributes": {"POSITION": made.add(SQUARE)}, "indices": 1})
    del made.json["skins"][0]["inverseBindMatrices"]
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert np.allclose(recording.points[5, 4:], SQUARE + 99) and np.allclose(recording.points[5, 2], [2, 0, 0])


@pytest.mark.parametrize(
    ("times", "rate", "frames"),
    [
        ([0, 1 / 30, 2 / 30, 10 / 30], 30, 11),  # keys thinned out
        ([1 / 24, 2 / 24, 3 / 24], 24, 4),
        ([0, 0.042, 0.083, 0.125], 24, 4),  # rounded to milliseconds
        ([0, 0.3, 1.0], 24, 25),
        ([0, 1 / 60, 2 / 60], 60, 3),
        ([0.5], 24, 13),
        ([0, 0.001, 1], 24, 25),
    ],
)
def test_rate_of_the_keys(tmp_path: Path, made: Made, times: list[float], rate: int, frames: int) -> None:
    made.animate("translation", times, np.zeros((len(times), 3)))
    recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert (recording.rate, len(recording.frames)) == (rate, frames)


def test_channels_that_move_nothing_here(tmp_path: Path, made: Made, caplog: pytest.LogCaptureFixture) -> None:
    made.json["nodes"].append({"name": "elsewhere"})
    made.animate("translation", [0, 1], np.ones((2, 3)), node=1).animate("weights", [0, 1], np.ones(2))
    made.animate("pointer", [0, 1], np.ones(2))
    with caplog.at_level(logging.WARNING):
        recording = read_gltf(made.glb(tmp_path / "a.glb"), None, None)
    assert (recording.points == SQUARE).all() and "moves 'pointer'" in caplog.text
