"""OBJ in and out with everything on it: polygons, texture coordinates, normals, colours, groups, materials, names."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset, Surface
from bunraku.io import read_clip, read_surface, write_animation, write_mesh
from bunraku.io.obj import format_obj, read_obj
from bunraku.motion import Animation

CLOTH = """mtllib cloth.mtl
o coat
v 0 0 0
v 1 0 0
v 2 0 0
v 0 1 0
v 1 1 0
v 2 1 0.5
vt 0 0
vt 0.5 0
vt 1 0
vt 0 1
vt 0.5 1
vt 1 1
vt 0.9 0.9
vn 0 0 1
vn 0 0.6 0.8
g front left
usemtl wool
f 1/1/1 2/2/1 5/5/1 4/4/1
g right
usemtl silk knit
f 2/2/2 3/3/2 6/6/2
f -5/7/2 -1/6/2 -2/5/2
seam 1 2
stitch 2 3
"""


def cloth(folder: Path, text: str = CLOTH) -> Path:
    path = folder / "cloth.obj"
    path.write_text(text)
    return path


def named(surface: Surface) -> dict[tuple[str, str], list[int]]:
    return {(subset.family, subset.name): subset.polygons.tolist() for subset in surface.subsets}


def test_everything_an_obj_says_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = read_obj(cloth(tmp_path))
    assert "passed over: 1 'seam', 1 'stitch'" in caplog.text
    assert found.counts.tolist() == [4, 3, 3]
    assert found.corners.tolist() == [0, 1, 4, 3, 1, 2, 5, 1, 5, 4]
    uv, normals = found.attribute(UV), found.attribute(NORMALS)
    assert uv is not None and uv.indices is not None and normals is not None
    assert uv.scope is Scope.CORNER and uv.indices.tolist() == [0, 1, 4, 3, 1, 2, 5, 6, 5, 4]
    assert uv.values[6].tolist() == [0.9, 0.9] and normals.flat()[5].tolist() == [0, 0.6, 0.8]
    assert named(found) == {
        ("object", "coat"): [0, 1, 2], ("group", "front"): [0], ("group", "left"): [0], ("group", "right"): [1, 2],
        ("material", "wool"): [0], ("material", "silk knit"): [1, 2],
    }  # fmt: skip
    assert found.libraries == ("cloth.mtl",)


def same(a: Surface, b: Surface) -> None:
    assert np.array_equal(a.points, b.points) and a.same_topology(b)
    assert named(a) == named(b) and a.libraries == b.libraries
    assert [one.name for one in a.attributes] == [one.name for one in b.attributes]
    for one, other in zip(a.attributes, b.attributes, strict=True):
        assert np.array_equal(one.flat(), other.flat(), equal_nan=True), one.name


def test_what_is_read_is_written_and_read_again_the_same(tmp_path: Path) -> None:
    first = read_obj(cloth(tmp_path))
    again = read_obj(cloth(tmp_path, format_obj(first).decode()))
    same(first, again)
    assert format_obj(again) == format_obj(first)


def test_a_moved_obj_comes_out_as_it_came_only_moved(tmp_path: Path) -> None:
    clip = read_clip(cloth(tmp_path))
    turn = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    poses = np.stack([clip.mesh.rest, clip.mesh.rest @ turn.T])
    moved = Animation(clip.mesh, np.array([1.0, 2.0]) / 24, poses)
    write_animation(tmp_path / "out.####.obj", moved, like=clip)
    before, after = clip.surface, read_obj(tmp_path / "out.0002.obj")
    assert after.same_topology(before) and named(after) == named(before) and after.libraries == before.libraries
    assert np.array_equal(after.attribute(UV).flat(), before.attribute(UV).flat())  # type: ignore[union-attr]
    assert np.allclose(after.points, before.points @ turn.T)
    normals = after.attribute(NORMALS)
    assert normals is not None
    # Corners that shared a normal share one still, and it has turned with the surface.
    flat = np.asarray(normals.flat())
    assert np.allclose(flat[:4], [0, -1, 0]) and np.ptp(flat[4:], axis=0).max() > 0
    assert np.allclose(flat[4], flat[7]) and np.allclose(flat[6], flat[8])


def test_vertex_colours_and_missing_texture_coordinates(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 1 1 0 1 1 1\nvt 0.5 0.25\nf 1/1 2 3\nf 2//  4/1/ 3\n"
    found = read_obj(cloth(tmp_path, text.replace("//  ", " ")))
    colour, uv = found.attribute(COLOUR), found.attribute(UV)
    assert colour is not None and colour.values.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert uv is not None and np.isnan(uv.flat()).any(axis=1).tolist() == [False, True, True, True, False, True]
    same(found, read_obj(cloth(tmp_path, format_obj(found).decode())))
    with caplog.at_level(logging.WARNING):
        bare = read_obj(cloth(tmp_path, text.replace("4/1/", "4/9/").replace("//  ", " ")))
    assert bare.attribute(UV) is None and "texture coordinates that are not there" in caplog.text


@st.composite
def surfaces(draw: st.DrawFn) -> Surface:
    points = draw(st.integers(3, 8))
    counts = draw(st.lists(st.integers(3, 5), min_size=1, max_size=6))
    corners = [draw(st.integers(0, points - 1)) for _ in range(sum(counts))]
    numbers = st.floats(-1e6, 1e6)
    x = [[draw(numbers) for _ in range(3)] for _ in range(points)]
    rows = draw(st.integers(1, 5))
    uv = Attribute(
        UV, Scope.CORNER, np.array([[draw(numbers) for _ in range(2)] for _ in range(rows)]),
        np.array([draw(st.integers(0, rows - 1)) for _ in corners]),
    )  # fmt: skip
    names = st.text("abcXYZ_09", min_size=1, max_size=6)
    # Groups by runs: every polygon from the first named one on is in a group, as in any OBJ file.
    label = [draw(st.integers(0, 2)) for _ in counts]
    chosen = draw(st.lists(names, min_size=3, max_size=3, unique=True))
    groups = tuple(
        Subset(chosen[k], np.flatnonzero(np.array(label) == k)) for k in dict.fromkeys(label)
    )  # fmt: skip
    return Surface(np.array(x), np.array(counts), np.array(corners), (uv,), groups)


@settings(max_examples=50, deadline=None)
@given(surface=surfaces())
def test_any_surface_survives(surface: Surface, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.obj"
    write_mesh(path, surface)
    same(surface, read_surface(path, unit="m") if np.ptp(surface.points, axis=0).max() > 1e-3 else read_obj(path))


@pytest.mark.slow
def test_real_surfaces_survive(data: Path, tmp_path: Path) -> None:
    for name in ("garments/makehuman_suit_male04", "garments/dress_sewing_panels", "meshes/spot", "broken/hair_braid"):
        first = read_obj(data / f"{name}.obj")
        (tmp_path / "again.obj").write_bytes(format_obj(first))
        same(first, read_obj(tmp_path / "again.obj"))
