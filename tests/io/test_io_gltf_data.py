"""glTF: the real files, their counts, and their motion against a slow evaluation of the specification."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from gltf_files import Slow, glb_bytes
from scipy.spatial.distance import pdist

from bunraku.contracts import InputError
from bunraku.geometry import NORMALS, UV
from bunraku.io.gltf import GltfRecording, gltf_files, read_gltf

ROBOT = (
    "Foot.L/Foot.L", "Body/Torso", "Head/Head", "Shoulder.L/Shoulder.L", "Arm.L", "Shoulder.R/Shoulder.R", "Arm.R",
    "Leg.L", "LowerLeg.L/LowerLeg.L", "Leg.R", "LowerLeg.R/LowerLeg.R", "Foot.R/Foot.R", "Hand.R", "Hand.L",
)  # fmt: skip


def timed(path: Path, megabytes: float, prim: str | None = None, clip: str | None = None) -> GltfRecording:
    """Read a file of that size."""
    assert abs(path.stat().st_size / 1e6 - megabytes) < 0.05 or path.suffix == ".gltf"
    recording = read_gltf(path, prim, None, clip=clip)
    assert np.isfinite(recording.points).all()
    return recording


def test_cesium_man_walks(data: Path) -> None:
    path = data / "sequences/cesium_man.glb"
    recording = timed(path, 0.44)
    assert recording.surface.shape_in_words() == "3273 points, 4672 polygons"
    assert recording.prim_path == "/Z_UP/Armature/Cesium_Man"
    assert recording.rate == 24 and recording.frames.tolist() == list(range(49))
    slow, node = Slow(path), 2
    clip = slow.json["animations"][0]
    for frame in (0, 7, 48):
        expected = slow.skinned(node, clip, frame / 24, 40)
        assert np.abs(recording.points[frame, ::40] - expected).max() < 1e-6
    still = {"channels": []}
    assert np.abs(recording.surface.points[::40] - slow.skinned(node, still, 0.0, 40)).max() < 1e-9
    # A walk: he stays upright and about 1.5 m tall, and both feet leave the ground in turn.
    height = np.ptp(recording.points[:, :, 1], axis=1)
    assert ((height > 1.4) & (height < 1.6)).all()
    normals = recording.surface.attribute(NORMALS)
    assert normals is not None and np.allclose(np.linalg.norm(normals.values, axis=1), 1.0, atol=1e-6)


def test_normals_turn_with_the_points(data: Path) -> None:
    """The Cesium man is stored Z-up: his normals must agree with his faces where he stands."""
    surface = read_gltf(data / "sequences/cesium_man.glb", None, 1).surface
    a, b, c = (surface.points[surface.corners[k::3]] for k in range(3))
    stored = surface.attribute(NORMALS)
    assert stored is not None
    faces = np.cross(b - a, c - a)
    mean = stored.values.astype(float)[surface.corners].reshape(-1, 3, 3).sum(axis=1)
    agree = np.sum(faces * mean, axis=1)[np.linalg.norm(faces, axis=1) > 1e-9] > 0
    assert agree.mean() > 0.99 and not surface.left_handed


@pytest.mark.parametrize(("clip", "frames"), [("Survey", 83), ("Walk", 18), ("Run", 28)])
def test_fox(data: Path, clip: str, frames: int) -> None:
    """A soup: a point a corner, in order."""
    path = data / "sequences/fox.glb"
    recording = timed(path, 0.16, clip=clip)
    assert recording.surface.shape_in_words() == "1728 points, 576 polygons"
    assert recording.surface.corners.tolist() == list(range(1728))
    assert len(recording.frames) == frames and recording.rate == 24
    slow = Slow(path)
    animation = next(one for one in slow.json["animations"] if one["name"] == clip)
    expected = slow.skinned(1, animation, 5 / 24, 60)
    assert np.abs(recording.points[5, ::60] - expected).max() < 1e-4  # of about 100 units
    uv = recording.surface.attribute(UV)
    stored = np.array(slow.numbers(slow.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"]))
    assert uv is not None and np.allclose(uv.values, stored * [1, -1] + [0, 1])


def test_points_of_one_bone_move_rigidly(data: Path) -> None:
    path = data / "sequences/fox.glb"
    slow = Slow(path)
    attributes = slow.json["meshes"][0]["primitives"][0]["attributes"]
    joints, weights = (np.array(slow.numbers(attributes[name])) for name in ("JOINTS_0", "WEIGHTS_0"))
    alone = joints[weights.max(axis=1) > 0.999999, 0]
    bone = np.bincount(alone.astype(int)).argmax()
    points = np.flatnonzero((weights.max(axis=1) > 0.999999) & (joints[:, 0] == bone))[:40]
    recording = read_gltf(path, None, None, clip="Run")
    rest = pdist(recording.surface.points[points])
    assert len(points) > 10 and rest.max() > 1.0
    for frame in recording.points:
        assert np.allclose(pdist(frame[points]), rest, atol=1e-4)
    assert np.ptp(recording.points[:, points[0]], axis=0).max() > 1.0


def test_fox_without_a_clip_lists_them(data: Path) -> None:
    with pytest.raises(InputError, match=r"several animations .got 'Survey \(3.42 s\), Walk \(0.71 s\), Run \(1.16 s"):
        read_gltf(data / "sequences/fox.glb", None, None)
    with pytest.raises(InputError, match=r"no such animation .*did you mean 'Walk'"):
        read_gltf(data / "sequences/fox.glb", None, None, clip="walk")
    assert read_gltf(data / "sequences/fox.glb", None, 1).points.shape == (1, 1728, 3)


def test_robot_in_parts(data: Path) -> None:
    path = data / "sequences/robot_expressive.glb"
    with pytest.raises(InputError, match=r"holds several meshes .*/Foot.L/Foot.L, .*/RootNode/Hand.L.*name one: prim="):
        read_gltf(path, None, None, clip="Dance")
    with pytest.raises(InputError, match=r"no such mesh .*did you mean '/RootNode/.*/Head/Head'"):
        read_gltf(path, "Haed", None, clip="Dance")
    with pytest.raises(
        InputError, match=r"holds several meshes .*UpperLeg.L/Leg.L, .*UpperLeg.L/LowerLeg.L/LowerLeg.L'"
    ):
        read_gltf(path, "/RootNode/RobotArmature/Bone/Body/UpperLeg.L", None, clip="Dance")
    under = read_gltf(path, "/RootNode/RobotArmature/Bone/Foot.R", None, clip="Dance")
    assert under.prim_path.endswith("/Bone/Foot.R/Foot.R")
    parts = [read_gltf(path, name, 1) for name in ROBOT]
    assert sum(part.surface.point_count for part in parts) == 7214
    assert sum(part.surface.polygon_count for part in parts) == 3237
    whole = np.concatenate([part.surface.points for part in parts])
    assert 4.0 < np.ptp(whole[:, 1]) < 5.0  # the parts stand together as one robot
    assert [s.name for s in parts[2].surface.subsets] == ["Grey", "Main", "Black"]
    assert sum(len(s.polygons) for s in parts[2].surface.subsets) == parts[2].surface.polygon_count


def test_robot_s_hand_has_weights_that_do_not_add_up(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = data / "sequences/robot_expressive.glb"
    with caplog.at_level(logging.WARNING):
        recording = timed(path, 0.46, "Hand.R", "Dance")
    assert "do not add up to 1 (worst 1.755)" in caplog.text
    assert len(recording.frames) == 81 and recording.rate == 24
    slow = Slow(path)
    animation = next(one for one in slow.json["animations"] if one["name"] == "Dance")
    node = next(k for k, one in enumerate(slow.json["nodes"]) if "skin" in one and one["name"] == "Hand.R")
    expected = slow.skinned(node, animation, 31 / 24, 10)
    assert np.abs(recording.points[31, ::10] - expected).max() < 1e-6


def test_robot_s_head_morphs_on_a_moving_neck(data: Path, tmp_path: Path) -> None:
    """No clip of the robot makes a face, so one is keyed: its three targets in turn."""
    slow = Slow(data / "sequences/robot_expressive.glb")
    animation = next(one for one in slow.json["animations"] if one["name"] == "Punch")
    node = next(k for k, one in enumerate(slow.json["nodes"]) if one.get("mesh") == 2)
    channel = next(one for one in animation["channels"] if one["target"] == {"node": node, "path": "weights"})
    accessor = slow.json["accessors"][animation["samplers"][channel["sampler"]]["output"]]
    start = slow.json["bufferViews"][accessor["bufferView"]]["byteOffset"] + accessor.get("byteOffset", 0)
    keys = np.linspace(0, 1, accessor["count"], dtype="<f4").tobytes()
    path = tmp_path / "face.glb"
    path.write_bytes(glb_bytes(slow.json, slow.data[:start] + keys + slow.data[start + len(keys) :]))
    slow = Slow(path)
    recording = read_gltf(path, "Head/Head", None, clip="Punch")
    weights = slow.channel(animation, node, "weights", 10 / 24)
    expected = []
    for primitive in slow.json["meshes"][2]["primitives"]:
        x = np.array(slow.numbers(primitive["attributes"]["POSITION"]))
        for weight, target in zip(weights, primitive["targets"], strict=True):
            x = x + weight * np.array(slow.numbers(target["POSITION"]))
        expected.append(x)
    matrix = slow.world(node, animation, 10 / 24)
    assert weights.min() > 0.4
    assert np.abs(recording.points[10] - (np.concatenate(expected) @ matrix[:3, :3].T + matrix[:3, 3])).max() < 1e-6


def test_every_clip_of_the_robot(data: Path) -> None:
    path = data / "sequences/robot_expressive.glb"
    with pytest.raises(InputError) as refused:
        read_gltf(path, "Hand.L", None)
    names = [one["name"] for one in Slow(path).json["animations"]]
    assert len(names) == 14 and all(f"{name} (" in str(refused.value) for name in names)
    for name in names:
        recording = read_gltf(path, "Hand.L", None, clip=name)
        assert recording.rate == 24 and 11 <= len(recording.frames) <= 81
        assert np.abs(np.diff(recording.points, axis=0)).max() < 3.0  # of a robot 4.5 tall: nothing jumps


def test_face(data: Path) -> None:
    path = data / "meshes/face_lee_perry_smith.glb"
    recording = timed(path, 0.4)
    assert recording.surface.shape_in_words() == "9279 points, 17684 polygons"
    assert recording.frames.tolist() == [0.0] and np.array_equal(recording.points[0], recording.surface.points)
    assert np.allclose(np.ptp(recording.points[0], axis=0), [8.5526, 7.9451, 5.1807], atol=1e-4)
    assert len(np.unique(recording.surface.points, axis=0)) == 8844


def test_cushion_with_a_buffer_beside_it(data: Path) -> None:
    path = data / "meshes/cushion_silk_pouf.gltf"
    recording = timed(path, 2.3)
    assert recording.surface.shape_in_words() == "41832 points, 81280 polygons"
    size = np.array([24.0131, 7.7865, 24.0177]) * 0.0254  # inches, scaled by a node
    assert np.allclose(np.ptp(recording.surface.points, axis=0), size, atol=1e-4)
    assert [one.name for one in gltf_files(path)] == ["SpecularSilkPouf.bin", "cushion_silk_pouf.gltf"]
    assert [one.name for one in recording.surface.subsets] == ["shot silk"]
