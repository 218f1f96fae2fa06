"""glTF written: what comes back is what went in, and every number of the container is as the specification wants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gltf_files import split_glb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset, Surface
from bunraku.io.gltf import GltfRecording, format_glb, read_gltf

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
SIZES = {5121: 1, 5123: 2, 5125: 4, 5126: 4}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def cube(*attributes: Attribute, **facts: object) -> Surface:
    """Six squares round the unit cube."""
    return Surface(CUBE, np.full(6, 4), SIDES.reshape(-1), attributes, **facts)  # type: ignore[arg-type]


def back(folder: Path, data: bytes, **how: float) -> GltfRecording:
    """What the reader makes of the bytes."""
    path = folder / "back.glb"
    path.write_bytes(data)
    return read_gltf(path, None, None, **how)  # type: ignore[arg-type]


def check_container(data: bytes) -> None:
    """Lengths, padding, alignment, and bounds as declared. [glTF 2.0, 3.6 and 4.4]."""
    document, body = split_glb(data)
    assert len(data) % 4 == 0 and int.from_bytes(data[8:12], "little") == len(data)
    assert document["buffers"] == [{"byteLength": len(body)}]
    end = 0
    for view in document["bufferViews"]:
        assert view["byteOffset"] % 4 == 0 and view["byteOffset"] >= end
        end = view["byteOffset"] + view["byteLength"]
    assert end <= len(body)
    needs_bounds = {p["attributes"]["POSITION"] for p in document["meshes"][0]["primitives"]}
    needs_bounds |= {t["POSITION"] for p in document["meshes"][0]["primitives"] for t in p.get("targets", [])}
    needs_bounds |= {s["input"] for a in document.get("animations", []) for s in a["samplers"]}
    for k, accessor in enumerate(document["accessors"]):
        view, width = document["bufferViews"][accessor["bufferView"]], WIDTHS[accessor["type"]]
        assert view["byteLength"] == accessor["count"] * width * SIZES[accessor["componentType"]]
        if k in needs_bounds:
            values = np.frombuffer(body, "<f4", accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
            assert accessor["min"] == values.min(axis=0).tolist() and accessor["max"] == values.max(axis=0).tolist()


def test_a_still_mesh(tmp_path: Path) -> None:
    data = format_glb(cube(), CUBE[None] + 2.0, [0.0], "box")
    check_container(data)
    assert "animations" not in split_glb(data)[0]
    recording = back(tmp_path, data)
    assert recording.prim_path == "/box" and recording.points.shape == (1, 8, 3)
    assert np.array_equal(recording.surface.points, CUBE + 2.0)
    assert recording.surface.corners.reshape(-1, 3)[:2].tolist() == [[0, 1, 3], [0, 3, 2]]


def test_frames_are_shown_at_their_times(tmp_path: Path) -> None:
    """Long after the start too, where float32 times are coarse; and half-way between in a straight line."""
    rng = np.random.default_rng(1)
    frames = rng.normal(size=(100, 8, 3))
    data = format_glb(cube(), (x for x in frames), np.arange(100) / 30)
    check_container(data)
    recording = back(tmp_path, data)
    assert recording.rate == 30 and recording.frames.tolist() == list(range(100))
    assert np.abs(recording.points - frames).max() < 1e-6
    assert np.array_equal(recording.surface.points, CUBE)
    fine = back(tmp_path, data, rate=60)
    assert np.abs(fine.points[1::2] - (frames[:-1] + frames[1:]) / 2).max() < 1e-4


def test_corners_that_differ_split_their_points(tmp_path: Path) -> None:
    """The cube's uv are by corner: the first eight vertices stay the points, others follow and move with theirs."""
    uv = np.tile([[0, 0], [1, 0], [1, 1], [0, 0.25]], (6, 1))
    colour = np.linspace(0, 1, 18).reshape(6, 3)
    surface = cube(
        Attribute(UV, Scope.CORNER, uv[:4], np.tile(np.arange(4), 6)), Attribute(COLOUR, Scope.POLYGON, colour),
        Attribute("heat", Scope.POINT, np.arange(8.0)), Attribute("_whole", Scope.WHOLE, np.array([[1.0, 2.0]])),
    )  # fmt: skip
    frames = np.stack([CUBE, CUBE * 2, CUBE + 3])
    data = format_glb(surface, frames, [0, 1 / 24, 2 / 24])
    check_container(data)
    recording = back(tmp_path, data)
    assert recording.surface.point_count == 24  # every square has its own colour
    assert np.array_equal(recording.points[:, :8], frames)
    assert {tuple(x) for x in recording.points[1]} == {tuple(x) for x in frames[1]}
    values = {one.name: one.values for one in recording.surface.attributes}
    assert values["_heat"][:8].tolist() == list(range(8)) and values["_whole"].tolist() == [[1, 2]] * 24
    fan = recording.surface.corners.reshape(6, 2, 3)[:, [0, 0, 0, 1], [0, 1, 2, 2]]  # triangles back to squares
    assert np.allclose(values[UV][fan.reshape(-1)], uv)
    assert np.allclose(values[COLOUR][fan], colour[:, None], atol=1e-7)
    assert np.array_equal(recording.surface.points[fan.reshape(-1)], CUBE[SIDES.reshape(-1)])


def test_corners_that_agree_split_nothing(tmp_path: Path) -> None:
    """A corner attribute of one value a point; a point no polygon uses stays."""
    points = np.concatenate([CUBE, [[9.0, 9, 9]]])
    by_corner = np.stack([SIDES.reshape(-1) / 8, np.zeros(24)], axis=1)
    surface = Surface(points, np.full(6, 4), SIDES.reshape(-1), (Attribute(UV, Scope.CORNER, by_corner),))
    recording = back(tmp_path, format_glb(surface, points[None], [0]))
    assert np.array_equal(recording.surface.points, points)


def test_materials_and_handedness(tmp_path: Path) -> None:
    subsets = (
        Subset("top", np.array([3]), "material"), Subset("sides", np.array([0, 1, 3]), "material"),
        Subset("other", np.array([0])),
    )  # fmt: skip
    recording = back(tmp_path, format_glb(cube(subsets=subsets, left_handed=True), CUBE[None], [0]))
    assert recording.surface.point_count == 8 and not recording.surface.left_handed
    assert {s.name: len(s.polygons) for s in recording.surface.subsets} == {"top": 2, "sides": 4}
    a, b, c = (recording.surface.points[recording.surface.corners[k::3]] for k in range(3))
    volume = np.sum(np.cross(a, b) * c) / 6
    straight = back(tmp_path, format_glb(cube(), CUBE[None], [0])).surface
    a, b, c = (straight.points[straight.corners[k::3]] for k in range(3))
    assert np.isclose(volume, -np.sum(np.cross(a, b) * c) / 6) and abs(volume) > 0.9


def test_far_from_the_origin(tmp_path: Path) -> None:
    """About an origin, 30 km away costs nothing."""
    there = np.array([3e4, 0, -3e4])
    surface = cube().with_points(CUBE + there)
    frames = np.stack([CUBE * s + there for s in (1.0, 1.1, 1.3)])
    recording = back(tmp_path, format_glb(surface, frames, np.arange(3) / 24, origin=there))
    assert np.abs(recording.points - frames).max() < 1e-6


def test_normals_of_frames(tmp_path: Path) -> None:
    up, side = np.tile([0, 0, 2.0], (8, 1)), np.tile([1.0, 0, 0], (8, 1))
    surface = cube(Attribute(NORMALS, Scope.POINT, up))
    data = format_glb(surface, np.stack([CUBE, CUBE]), [0, 1], frames_normals=[up / 2, side])
    check_container(data)
    document, body = split_glb(data)
    target = document["meshes"][0]["primitives"][0]["targets"][1]["NORMAL"]
    offset = document["bufferViews"][document["accessors"][target]["bufferView"]]["byteOffset"]
    assert np.frombuffer(body, "<f4", 24, offset).reshape(8, 3).tolist() == [[1, 0, -1]] * 8
    stored = back(tmp_path, data).surface.attribute(NORMALS)
    assert stored is not None and np.allclose(stored.values, [0, 0, 1])


def test_what_cannot_be_written_is_refused() -> None:
    for times in ([], [0, 0], [1, 0], [-1, 0], [0, np.nan], [100.0, 100.0 + 1e-9]):
        with pytest.raises(InputError, match="times must increase"):
            format_glb(cube(), np.stack([CUBE] * 2), times)
    with pytest.raises(InputError, match="frame 1 of 2 is missing"):
        format_glb(cube(), [CUBE], [0, 1])
    with pytest.raises(InputError, match=r"another shape .got \(3, 3\)"):
        format_glb(cube(), [CUBE, CUBE[:3]], [0, 1])
    with pytest.raises(InputError, match="more frames than times"):
        format_glb(cube(), [CUBE] * 3, [0, 1])
    with pytest.raises(InputError, match="not finite"):
        format_glb(cube(), [CUBE, CUBE * np.nan], [0, 1])
    with pytest.raises(InputError, match="no polygons"):
        format_glb(Surface(CUBE, np.zeros(0, int), np.zeros(0, int)), [CUBE], [0])


@st.composite
def moving(draw: st.DrawFn) -> tuple[Surface, np.ndarray]:
    """Triangles and quads over a few points, with attributes of any scope, and some frames."""
    count = draw(st.integers(3, 9))
    number = st.floats(-100, 100, width=32)
    sizes = np.array(draw(st.lists(st.sampled_from([3, 4, 5]), min_size=1, max_size=6)))
    sizes = np.minimum(sizes, count)
    corners = np.concatenate([draw(st.permutations(range(count)))[:size] for size in sizes])
    points = draw(arrays(np.float64, (count, 3), elements=number))
    scopes = {Scope.WHOLE: 1, Scope.POLYGON: len(sizes), Scope.POINT: count, Scope.CORNER: len(corners)}
    attributes = []
    for name, width in ((UV, 2), (COLOUR, 3), ("_own", 1)):
        scope = draw(st.sampled_from([None, *scopes]))
        if scope is not None:
            values = draw(arrays(np.float64, (scopes[scope], width), elements=st.integers(0, 3).map(float)))
            attributes.append(Attribute(name, scope, values))
    frames = draw(arrays(np.float64, (draw(st.integers(1, 5)), count, 3), elements=number))
    return Surface(points, sizes, corners, tuple(attributes)), frames


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moving(), st.sampled_from([24, 25, 30]))
def test_round_trip(tmp_path: Path, given_: tuple[Surface, np.ndarray], rate: int) -> None:
    surface, frames = given_
    data = format_glb(surface, frames, np.arange(len(frames)) / rate, "thing")
    check_container(data)
    recording = back(tmp_path, data, rate=rate)
    n = surface.point_count
    assert recording.points.shape[0] == len(frames)
    assert np.abs(recording.points[:, :n] - frames).max() <= 200 * np.finfo(np.float32).eps
    assert recording.surface.polygon_count == np.maximum(surface.counts - 2, 0).sum()
    still = frames[0] if len(frames) == 1 else surface.points
    assert np.array_equal(recording.surface.points[:n], still)
    # Every vertex behind the first n is a corner whose point it moves with.
    for vertex in recording.points[:, n:].transpose(1, 0, 2):
        assert np.abs(recording.points[:, :n] - vertex[:, None]).max(axis=(0, 2)).min() == 0.0
    again = format_glb(surface, frames, np.arange(len(frames)) / rate, "thing")
    assert again == data
