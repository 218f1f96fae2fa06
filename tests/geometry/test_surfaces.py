"""Surfaces as files have them: polygons cut into triangles, seams sewn and open again, refinement, hard edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.geometry import (
    COLOUR,
    NORMALS,
    UV,
    Attribute,
    Scope,
    Subset,
    Surface,
    SurfaceNormals,
    face_areas,
    face_normals,
    of_triangles,
    refine,
    subdivide,
    triangulate,
    weld,
)
from bunraku.scenes import box_mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def cube(**more: object) -> Surface:
    """Six quads wound outwards."""
    return Surface(CUBE, np.full(6, 4), QUADS.reshape(-1), **more)  # type: ignore[arg-type]


def split_cube() -> Surface:
    """The cube as glTF has it: four points of its own a quad, a normal a point."""
    away = np.repeat(np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]]), 4, axis=0)
    normals = Attribute(NORMALS, Scope.POINT, away)
    return Surface(CUBE[QUADS.reshape(-1)], np.full(6, 4), np.arange(24), (normals,))


def volume(x: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (x[faces[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


# Triangles


@settings(max_examples=60, deadline=None)
@given(radii=st.lists(st.floats(0.2, 3.0), min_size=3, max_size=12), tilt=st.floats(0, 3))
def test_any_star_is_cut_into_triangles_that_fill_it_once(radii: list[float], tilt: float) -> None:
    """Concave polygons too: no triangle turns over, and the areas add up to the polygon's."""
    angle = np.arange(len(radii)) * 2 * np.pi / len(radii)
    flat = np.stack([radii * np.cos(angle), radii * np.sin(angle), 0 * angle], axis=1)
    c, s = np.cos(tilt), np.sin(tilt)
    ring = flat @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    found = triangulate(ring, np.array([len(ring)]), np.arange(len(ring)))
    normals = face_normals(ring, found.corners)
    whole = 0.5 * abs(np.sum(flat[:, 0] * np.roll(flat[:, 1], -1) - flat[:, 1] * np.roll(flat[:, 0], -1)))
    assert 0.5 * np.linalg.norm(normals, axis=1).sum() == pytest.approx(whole, rel=1e-9)
    assert (normals @ normals.sum(axis=0) > -1e-12).all()


def test_convex_polygons_are_fans_and_lines_give_nothing() -> None:
    corners = np.array([0, 1, 3, 2, 4, 6, 0, 1, 5])
    found = triangulate(CUBE, np.array([4, 2, 3]), corners)
    assert corners[found.corners].tolist() == [[0, 1, 3], [0, 3, 2], [0, 1, 5]]
    assert found.polygons.tolist() == [0, 0, 2]


def test_many_concave_quads_and_one_long_saw_are_cut_at_once() -> None:
    """20,000 arrowheads and a saw blade of 2,000 corners: every triangle inside, areas add up."""
    arrow = np.array([[0.0, 0, 0], [1, 1, 0], [0, 0.2, 0], [-1, 1, 0]])
    # Begun at every corner in turn: from two of the four the fan lies outside.
    points = np.concatenate([np.roll(arrow, k % 4, axis=0) + [3.0 * k, 0, 0] for k in range(20_000)])
    found = triangulate(points, np.full(20_000, 4), np.arange(80_000))
    areas = 0.5 * np.linalg.norm(face_normals(points, found.corners), axis=1)
    assert areas.sum() == pytest.approx(20_000 * 0.2) and (face_normals(points, found.corners)[:, 2] > 0).all()
    teeth = np.array([[k, 1.0 + 5.0 * (k % 2), 0.0] for k in range(1998)])
    saw = np.concatenate([teeth[::-1], [[0.0, 0.0, 0.0], [1997.0, 0.0, 0.0]]])
    found = triangulate(saw, np.array([2000]), np.arange(2000))
    normals = face_normals(saw, found.corners)[:, 2]
    assert 0.5 * normals.sum() == pytest.approx(1997 * 3.5) and (normals >= 0).all()


# Sewing


def test_a_cube_split_at_every_edge_becomes_closed_again_and_opens_again() -> None:
    surface = split_cube()
    welded = weld(surface)
    assert welded.mesh.point_count == 8 and len(welded.mesh.faces) == 12 and welded.sewn == 16
    assert volume(welded.mesh.rest, welded.mesh.faces) == pytest.approx(1.0)
    moved = welded.mesh.rest * [1.0, 2.0, 3.0]
    assert np.array_equal(welded.spread(moved, np.zeros((0, 3))), surface.points * [1.0, 2.0, 3.0])
    assert weld(surface, sew=False).mesh.point_count == 24


def test_edges_that_part_are_not_sewn() -> None:
    """Two triangles edge to edge: sewn where they stay together, left apart where one of the poses opens a gap."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    surface = of_triangles(points, np.array([[0, 1, 2], [3, 4, 5]]))
    opened = points + np.where(np.arange(6)[:, None] > 2, [0.0, 0.0, 0.5], 0.0)
    assert weld(surface, np.stack([points, points * 2])).mesh.point_count == 4
    assert weld(surface, np.stack([points, opened])).mesh.point_count == 6


def test_points_that_only_touch_stay_apart() -> None:
    """Two triangles tip to tip on points of their own: no edge in common, nothing to sew."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [-1, 0, 0], [0, -1, 0]])
    assert weld(of_triangles(points, np.array([[0, 1, 2], [3, 4, 5]]))).mesh.point_count == 6


def test_what_means_nothing_is_left_out_and_listed() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [9, 9, 9], [0.5, 0, 0], [8, 8, 8]])
    corners = [0, 1, 2, 1, 3, 2, 2, 0, 1, 0, 5, 1, 0, 1]
    welded = weld(Surface(points, np.array([3, 3, 3, 3, 2]), np.array(corners)))
    assert welded.mesh.faces.tolist() == [[0, 1, 2], [1, 3, 2]]
    assert (welded.flat.tolist(), welded.repeated.tolist(), welded.loose.tolist()) == ([3], [2], [4, 5, 6])
    out = welded.spread(welded.mesh.rest + 1.0, points[welded.loose])
    assert np.array_equal(out, points + np.where(np.isin(np.arange(7), [0, 1, 2, 3])[:, None], 1.0, 0.0))


def test_a_left_handed_surface_is_turned_for_physics() -> None:
    inside_out = Surface(CUBE, np.full(6, 4), QUADS[:, ::-1].reshape(-1), left_handed=True)
    welded = weld(inside_out)
    assert volume(welded.mesh.rest, welded.mesh.faces) == pytest.approx(1.0)
    assert np.array_equal(inside_out.corners[welded.corners], welded.mesh.faces)


def test_surfaces_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(InputError, match=r"polygons 1: polygons name points outside the 8 \(got 8\)"):
        Surface(CUBE, np.array([3, 3]), np.array([0, 1, 2, 3, 4, 8]))
    with pytest.raises(InputError, match="do not add up"):
        Surface(CUBE, np.array([3, 3]), np.array([0, 1, 2]))
    with pytest.raises(InputError, match="'uv' has another length"):
        cube(attributes=(Attribute(UV, Scope.CORNER, np.zeros((23, 2))),))
    with pytest.raises(InputError, match="'uv' has indices outside its values"):
        cube(attributes=(Attribute(UV, Scope.CORNER, np.zeros((2, 2)), np.full(24, 2)),))


# Refinement


@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("levels", [0, 1, 3])
def test_a_refined_surface_is_the_subdivided_mesh_with_its_seams_open(levels: int, left_handed: bool) -> None:
    surface = split_cube()
    if left_handed:
        turned = surface.corners.reshape(6, 4)[:, ::-1].reshape(-1)
        surface = Surface(surface.points, surface.counts, turned, surface.attributes, left_handed=True)
    welded = weld(surface)
    found = refine(surface, welded, levels)
    fine, prolongation = subdivide(welded.mesh, levels)
    assert found.surface.polygon_count == len(fine.faces) == 12 * 4**levels
    # Each quad keeps its own points: 6 faces of (2^levels + 1)² points.
    assert found.surface.point_count == 6 * (2**levels + 1) ** 2
    x = np.random.default_rng(1).normal(size=(8, 3))
    assert np.allclose(fine.rest[found.vertex_of_point], found.surface.points)
    assert np.allclose((prolongation @ x)[found.vertex_of_point], found.points @ welded.spread(x, np.zeros((0, 3))))
    again = weld(found.surface)
    assert again.mesh.point_count == fine.point_count
    assert volume(again.mesh.rest, again.mesh.faces) == pytest.approx(1.0)


def test_what_is_painted_is_refined_with_the_surface() -> None:
    corner_uv = np.tile([[0.0, 0], [1, 0], [1, 1], [0, 1]], (6, 1)) + np.repeat(np.arange(6), 4)[:, None] * 10
    attributes = (
        Attribute(UV, Scope.CORNER, corner_uv[:4], np.tile(np.arange(4), 6)),
        Attribute("own", Scope.CORNER, corner_uv),
        Attribute("label", Scope.POLYGON, np.arange(6)),
        Attribute("x", Scope.POINT, CUBE[:, 0]),
        Attribute("id", Scope.POINT, np.arange(8)),
        Attribute("one", Scope.WHOLE, np.array([7.0])),
    )
    surface = cube(attributes=attributes, subsets=(Subset("lid", np.array([3])),))
    fine = refine(surface, weld(surface), 2).surface
    side = np.repeat(np.arange(6), 2 * 16)
    assert fine.attribute("label").flat().tolist() == side.tolist()  # type: ignore[union-attr]
    assert fine.subsets[0].polygons.tolist() == np.flatnonzero(side == 3).tolist()
    assert np.allclose(fine.attribute("x").flat(), fine.points[:, 0])  # type: ignore[union-attr]
    assert set(fine.attribute("id").flat().tolist()) <= set(range(8))  # type: ignore[union-attr]
    assert fine.attribute("one").values.tolist() == [7.0]  # type: ignore[union-attr]
    own, uv = fine.attribute("own"), fine.attribute(UV)
    assert own is not None and uv is not None and uv.indices is not None and len(uv.values) == 25
    assert np.allclose(np.asarray(own.flat(), np.float64) - 10 * np.repeat(side, 3)[:, None], uv.flat())
    # Linear on each quad: texture coordinates are where the points say.
    top = fine.corners.reshape(-1, 3)[side == 5].reshape(-1)
    assert np.allclose(uv.flat().reshape(-1, 3, 2)[side == 5].reshape(-1, 2), fine.points[top][:, [0, 1]])


def test_what_is_painted_on_a_left_handed_surface_stays_at_its_corners() -> None:
    """Corners are turned for physics and back for the file; the values must make the same turns."""
    turned = QUADS[:, ::-1].reshape(-1)
    own = Attribute("own", Scope.CORNER, CUBE[turned])  # each corner's value is its position
    surface = Surface(CUBE, np.full(6, 4), turned, (own,), left_handed=True)
    fine = refine(surface, weld(surface), 2).surface
    carried = fine.attribute("own")
    assert carried is not None and np.allclose(np.asarray(carried.flat(), np.float64), fine.points[fine.corners])


# Normals


def test_hard_edges_stay_hard_and_smooth_ones_smooth() -> None:
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    hard = SurfaceNormals.of(split_cube())
    assert hard.scope is Scope.POINT
    at = hard.at(split_cube().points @ turn.T)
    assert np.allclose(at.values, split_cube().attributes[0].values @ turn.T)
    smooth = SurfaceNormals.of(cube()).at(CUBE)
    assert np.allclose(smooth.values, (2 * CUBE - 1) / np.sqrt(3))
    by_corner = Attribute(NORMALS, Scope.CORNER, np.asarray(split_cube().attributes[0].values))
    found = SurfaceNormals.of(cube(attributes=(by_corner,)))
    assert found.scope is Scope.CORNER and np.allclose(found.at(CUBE).flat(), by_corner.values)


def test_smooth_normals_do_not_see_seams() -> None:
    seams = Surface(split_cube().points, np.full(6, 4), np.arange(24))
    assert np.allclose(SurfaceNormals.of(seams).at(seams.points).values, (2 * seams.points - 1) / np.sqrt(3))


def test_a_triangle_mesh_is_a_surface_and_back() -> None:
    mesh = box_mesh()
    welded = weld(Surface.of(mesh))
    assert np.array_equal(welded.mesh.rest, mesh.rest) and np.array_equal(welded.mesh.faces, mesh.faces)
    assert face_areas(welded.mesh.rest, welded.mesh.faces).sum() > 0


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4])
def test_rounded_normals_make_no_creases(noise: float) -> None:
    """A smooth dome whose normals are given by corner, each rounded differently: still a normal a point."""
    side = np.linspace(-1, 1, 40)
    x, y = (one.reshape(-1) for one in np.meshgrid(side, side))
    points = np.stack([x, y, 1 - 0.3 * (x**2 + y**2)], axis=1)
    quads = np.array([[a, a + 1, a + 41, a + 40] for a in (40 * i + j for i in range(39) for j in range(39))])
    smooth = np.stack([0.6 * x, 0.6 * y, np.ones_like(x)], axis=1)[quads.reshape(-1)]
    rounded = smooth + noise * np.random.default_rng(4).uniform(-1, 1, smooth.shape)
    dome = Surface(points, np.full(len(quads), 4), quads.reshape(-1), (Attribute(NORMALS, Scope.CORNER, rounded),))
    assert SurfaceNormals.of(dome).scope is Scope.POINT


def test_bytes_of_colour_are_blended_and_labels_are_not() -> None:
    shades = np.array([[255, 0, 0]] * 4 + [[0, 0, 255]] * 4, dtype=np.uint8)
    surface = cube(attributes=(Attribute(COLOUR, Scope.POINT, shades), Attribute("id", Scope.POINT, shades[:, 0])))
    fine = refine(surface, weld(surface), 1).surface
    colour, label = fine.attribute(COLOUR), fine.attribute("id")
    assert colour is not None and label is not None and colour.values.dtype == np.uint8
    assert 128 in set(np.asarray(colour.values)[:, 0].tolist())
    assert set(np.asarray(label.values).tolist()) == {0, 255}
