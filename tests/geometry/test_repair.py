"""Repair: each thing mended once, nothing else touched, values kept, the shape kept, nothing left to do after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_shapes import grid, mobius, polygons, sphere, surface, torus, triangles, volume

from bunraku.contracts import InputError
from bunraku.geometry import (
    NORMALS,
    UV,
    Attribute,
    Scope,
    Subset,
    Surface,
    TriMesh,
    closest_points,
    examine,
    of_triangles,
    repair,
    weld,
)
from bunraku.geometry.doctor.findings import Kind
from bunraku.geometry.doctor.repair import NOTHING

MENDED = (
    Kind.NOT_FINITE, Kind.FEW_CORNERS, Kind.LOOSE_POINTS, Kind.ZERO_AREA, Kind.CRACKS, Kind.REPEATED, Kind.WINDING,
    Kind.INSIDE_OUT,
)  # fmt: skip
"""what no repaired surface may have"""


def _settled(given: Surface, holes: float = 0.15) -> Surface:
    """The repaired surface, which has nothing left to mend."""
    first = repair(given, fill_holes_up_to=holes)
    again = repair(first.surface, fill_holes_up_to=holes)
    assert again.changes == (NOTHING,)
    assert again.surface.same_topology(first.surface)
    np.testing.assert_array_equal(again.surface.points, first.surface.points)
    found = examine(first.surface)
    assert [one.sentence for one in found.findings if one.kind in MENDED] == []
    return first.surface


@pytest.mark.parametrize("shape", [sphere(2), torus(), grid(4, 3), mobius()])
def test_healthy_shapes_are_left_alone(shape: tuple[np.ndarray, np.ndarray]) -> None:
    given = surface(shape)
    mended = repair(given)
    assert mended.changes == (NOTHING,)
    assert mended.surface.same_topology(given)
    np.testing.assert_array_equal(mended.surface.points, given.points)


def test_one_sided_surfaces_are_told_of() -> None:
    assert "only one side" in repair(surface(mobius())).left[0]


def test_left_handed_polygons_are_left_alone() -> None:
    points, faces = sphere(1)
    given = Surface(points, np.full(len(faces), 3), faces[:, ::-1].reshape(-1), left_handed=True)
    mended = repair(given)
    assert mended.changes == (NOTHING,) and mended.surface.same_topology(given)


def test_what_is_no_surface_goes() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [np.nan, 0, 0], [7, 7, 7]])
    given = polygons(points, [[0, 1, 2, 3], [0, 1], [0, 1, 4]])
    mended = repair(given)
    assert mended.changes == (
        "1 polygon with fewer than three corners removed.", "1 polygon with points that are no numbers removed.",
        "2 points of no face removed.",
    )  # fmt: skip
    assert mended.surface.counts.tolist() == [4]
    np.testing.assert_array_equal(mended.surface.points, points[:4])


def test_seams_are_sewn_and_their_values_kept() -> None:
    """A soup of triangles with a value a point: one sheet, and every corner still has its own value."""
    points, faces = grid(3, 2)
    soup = of_triangles(points[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3))
    own = np.arange(faces.size, dtype=np.float64)
    shared = points[faces].reshape(-1, 3)[:, :2]
    given = Surface(
        soup.points, soup.counts, soup.corners,
        (Attribute("own", Scope.POINT, own), Attribute(UV, Scope.POINT, shared)),
    )  # fmt: skip
    mended = repair(given)
    assert mended.changes == ("24 points sewn to others on the same spot along seams.",)
    after = mended.surface
    assert after.point_count == 12
    one, uv = after.attribute("own"), after.attribute(UV)
    assert one is not None and one.scope is Scope.CORNER
    np.testing.assert_array_equal(one.flat(), own)
    assert uv is not None and uv.scope is Scope.POINT
    np.testing.assert_array_equal(uv.flat(), after.points[:, :2])


def test_cracks_are_closed() -> None:
    """A sheet torn along a line by a millionth, one side with points the other does not have."""
    left, fine = grid(2, 4, 0.5)
    right, coarse = grid(2, 2, 1.0)
    given = of_triangles(np.concatenate([left, right + [1 + 1e-6, 0, 0]]), np.concatenate([fine, coarse + len(left)]))
    assert examine(given).pieces == 2
    mended = repair(given)
    assert mended.changes == (
        "3 points moved onto others to close cracks.", "2 points joined to the edges they lay on to close cracks.",
    )  # fmt: skip
    found = examine(_settled(given))
    assert (found.pieces, found.border_loops, found.genus) == (1, 1, 0)
    assert found.area == pytest.approx(6.0, abs=1e-5)
    assert repair(given, weld_distance=0.0).changes == (NOTHING,)
    assert repair(given, weld_distance=1e-7).changes == (NOTHING,)


def test_layers_that_only_touch_are_not_joined() -> None:
    """The corner of one sheet on the edge of another is no crack."""
    points, faces = grid(2, 2)
    other = points @ np.array([[0.6, 0, 0.8], [-0.64, 0.6, 0.48], [-0.48, -0.8, 0.36]]) + [2, 0.5, 0]
    given = of_triangles(np.concatenate([points, other]), np.concatenate([faces, faces + len(points)]))
    assert repair(given).changes == (NOTHING,)


def test_three_sheets_that_almost_meet_are_not_joined() -> None:
    """Which two belong together is the artist's to say; an edge of three faces is not made by accident."""
    points, faces = grid(2, 2)
    sheets = [points @ _about_y(turn) + [1e-6 * np.cos(turn), 0, 1e-6 * np.sin(turn)] for turn in (0.0, 2.0, 4.0)]
    given = of_triangles(np.concatenate(sheets), np.concatenate([faces + k * len(points) for k in range(3)]))
    assert examine(given).count(Kind.CRACKS) == 9
    mended = repair(given)
    assert mended.changes == (NOTHING,) and not examine(mended.surface).count(Kind.CROWDED_EDGES)


def _about_y(turn: float) -> np.ndarray:
    return np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])


def test_winding_and_outside() -> None:
    points, faces = sphere(2)
    mixed = np.where((np.arange(len(faces)) % 5 == 0)[:, None], faces[:, ::-1], faces)
    after = _settled(of_triangles(points, mixed))
    assert volume(after.points, triangles(after)) == pytest.approx(volume(points, faces))
    inward = repair(of_triangles(points, faces[:, ::-1]))
    assert inward.changes == ("128 faces of inside-out closed parts turned outwards.",)
    assert repair(of_triangles(points, faces[:, ::-1]), orient=False).changes == (NOTHING,)


def test_normals_turn_with_the_faces() -> None:
    points, faces = sphere(1)
    given = Surface(
        points, np.full(len(faces), 3), faces[:, ::-1].reshape(-1), (Attribute(NORMALS, Scope.POINT, -points),)
    )
    after = repair(given).surface
    normals = after.attribute(NORMALS)
    assert normals is not None and normals.scope is Scope.POINT
    assert (np.einsum("ni,ni->n", np.asarray(normals.flat(), float), after.points) > 0.9).all()


def test_repeated_faces_and_flaps() -> None:
    points, faces = sphere(2)
    again = repair(of_triangles(points, np.concatenate([faces, faces[3:5]])))
    assert again.changes == ("2 repeated faces removed.",)
    tip = np.append(faces[0, :2], len(points))
    flap = of_triangles(np.concatenate([points, [[2.0, 2, 2]]]), np.concatenate([faces, [tip, tip[::-1]]]))
    mended = repair(flap)
    assert mended.changes == ("1 repeated face removed.", "1 small flap folded on itself removed.")
    assert examine(mended.surface).closed
    leaf, both = grid(1, 1)
    assert repair(of_triangles(leaf, np.concatenate([both, both[:, ::-1]]))).surface.polygon_count == 2


@pytest.mark.parametrize("count", [1, 2, 6])
def test_small_holes_are_filled(count: int) -> None:
    """A hole of one face, two, and the whole ring around a point."""
    points, faces = sphere(3)
    gone = np.arange(count) if count < 6 else np.flatnonzero((faces == faces[100, 0]).any(axis=1))
    kept = np.delete(faces, gone, axis=0)
    after = _settled(of_triangles(points, kept), 0.6)
    found = examine(after)
    assert found.closed and found.genus == 0 and not found.count(Kind.CROSSING)
    assert volume(points, faces) == pytest.approx(volume(*_arrays(after)), rel=1e-2)
    assert repair(of_triangles(points, kept), fill_holes_up_to=0.0).surface.polygon_count == len(kept)


def _arrays(given: Surface) -> tuple[np.ndarray, np.ndarray]:
    return given.points, triangles(given)


def test_large_openings_stay_open() -> None:
    """A half sphere is a bowl, unless it is asked for."""
    points, faces = sphere(3)
    bowl = of_triangles(points, faces[points[faces].mean(axis=1)[:, 2] < 0])
    assert examine(repair(bowl).surface).border_loops == 1
    assert examine(repair(bowl, fill_holes_up_to=10.0).surface).closed


def test_a_hole_takes_the_values_beside_it() -> None:
    points, faces = grid(6, 6)
    middle = np.flatnonzero((faces == 24).any(axis=1))
    kept = np.delete(faces, middle, axis=0)
    colour = (points[kept].mean(axis=1)[:, 0] > 3).astype(np.float32)
    given = Surface(
        points, np.full(len(kept), 3), kept.reshape(-1),
        (Attribute(UV, Scope.CORNER, points[kept.reshape(-1), :2]), Attribute("side", Scope.POLYGON, colour)),
        (Subset("right", np.flatnonzero(colour > 0)),),
    )  # fmt: skip
    after = repair(given, fill_holes_up_to=1.0).surface
    uv, side = after.attribute(UV), after.attribute("side")
    assert after.polygon_count == len(kept) + 4 and examine(after).border_loops == 1
    assert uv is not None and side is not None and side.values.dtype == np.float32
    np.testing.assert_array_equal(uv.flat(), after.points[after.corners, :2])
    np.testing.assert_array_equal(after.subsets[0].polygons, np.flatnonzero(side.flat() == 1))


def _sheet_with_needle() -> Surface:
    """A sheet with two points in the middle of it, a ten-thousandth of a cell apart."""
    points, faces = grid(4, 4, 0.25)
    near = points[12] + [1e-4, 2e-5, 0]
    touched = np.flatnonzero((faces == 12).any(axis=1) & (points[faces].mean(axis=1)[:, 0] > points[12, 0]))
    faces = faces.copy()
    faces[touched] = np.where(faces[touched] == 12, 25, faces[touched])
    border = [f for f in ([12, 25, 17], [25, 12, 7])]
    return of_triangles(np.concatenate([points, [near]]), np.concatenate([faces, border]))


def test_needles_are_collapsed() -> None:
    given = _sheet_with_needle()
    assert examine(given).count(Kind.THIN) + examine(given).count(Kind.ZERO_AREA) == 2
    mended = repair(given)
    assert mended.changes == ("1 short edge of a sliver collapsed.",)
    found = examine(_settled(given))
    assert not found.count(Kind.THIN) and found.border_loops == 1 and found.area == pytest.approx(1.0)
    assert repair(given, slivers=False).changes == (NOTHING,)


@pytest.mark.parametrize("height", [0.0, 1e-9, 2e-4])
def test_caps_are_flipped(height: float) -> None:
    """A point on the diagonal of a square, or just beside it: the long edge goes, the sheet stays whole."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5 - height, 0.5 + height, 0]])
    given = of_triangles(points, np.array([[0, 1, 2], [0, 2, 4], [0, 4, 3], [4, 2, 3]]))
    mended = repair(given)
    assert mended.changes == ("1 long edge of a sliver flipped.",)
    found = examine(_settled(given))
    assert (found.border_loops, found.border_edges, found.count(Kind.THIN)) == (1, 4, 0)
    assert found.area == pytest.approx(1.0)


def test_quads_survive_where_nothing_changes() -> None:
    """Two quads and a fan with a cap on the second: that one becomes triangles, the first stays."""
    points = np.array([[x, y, 0.0] for x in range(4) for y in (0, 1)] + [[2.0, 0.5, 0.0]])
    given = polygons(
        points, [[0, 2, 3, 1], [2, 4, 5, 3], [5, 4, 8], [4, 6, 8], [6, 7, 8], [7, 5, 8]],
        (Attribute(UV, Scope.CORNER, np.arange(20.0)),), (Subset("fan", np.arange(2, 6)),),
    )  # fmt: skip
    after = _settled(given)
    assert after.counts.tolist() == [4, 3, 3, 3, 3, 3, 3]
    np.testing.assert_array_equal(after.attribute(UV).flat()[:4], np.arange(4.0))  # type: ignore[union-attr]
    assert examine(after).area == pytest.approx(3.0) and examine(after).border_edges == 8
    assert after.subsets[0].polygons.tolist() == [3, 4, 5, 6]


def test_fragments_go_when_asked() -> None:
    points, faces = sphere(2)
    crumb, few = sphere(0)
    given = of_triangles(np.concatenate([points, crumb * 0.01 + 3]), np.concatenate([faces, few + len(points)]))
    assert repair(given).changes == (NOTHING,)
    assert repair(given, fragments=True).changes == ("8 faces of tiny fragments removed.",)


def test_a_bad_length_is_refused() -> None:
    for length in (0.0, -1.0, np.nan, 1e-7):
        with pytest.raises(InputError, match="remesh"):
            repair(surface(sphere(1)), remesh=length)


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.floats(0.0, 0.4))
def test_a_battered_sphere(seed: int, share: float) -> None:
    """Faces turned, repeated and taken out, points split: what comes back is settled, close, and of the same volume."""
    rng = np.random.default_rng(seed)
    points, faces = sphere(3)
    battered = np.where((rng.random(len(faces)) < share)[:, None], faces[:, ::-1], faces)
    battered = battered[rng.random(len(faces)) > 0.01]
    soup = rng.random(len(battered)) < share
    split = points[battered[soup]].reshape(-1, 3)
    battered[soup] = len(points) + np.arange(len(split)).reshape(-1, 3)
    battered = np.concatenate([battered, battered[: int(10 * share)]])
    after = _settled(of_triangles(np.concatenate([points, split]), battered), 2.0)
    assert examine(after).closed
    assert volume(*_arrays(after)) == pytest.approx(volume(points, faces), rel=2e-2)
    assert closest_points(points, weld(after).mesh).distances.max() < 0.1


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 25))
def test_any_polygons(seed: int, steps: int, count: int) -> None:
    """Coarse random polygons: nothing that was to be mended is left, values have the right length."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, steps, size=(14, 3)) / steps + 1e-7 * rng.integers(0, 2, size=(14, 3))
    counts = rng.integers(0, 6, size=count)
    corners = rng.integers(0, 14, size=counts.sum())
    given = Surface(
        points, counts, corners, (Attribute("c", Scope.CORNER, np.arange(len(corners))),
                                  Attribute("p", Scope.POINT, np.arange(14)),
                                  Attribute("f", Scope.POLYGON, np.arange(count))),
        (Subset("odd", np.arange(count)[1::2]),), bool(rng.integers(0, 2)),
    )  # fmt: skip
    after = repair(given).surface
    found = examine(after)
    for kind in (Kind.NOT_FINITE, Kind.FEW_CORNERS, Kind.LOOSE_POINTS, Kind.ZERO_AREA, Kind.REPEATED):
        assert not found.count(kind), found.sentences()
    assert len(weld(after).loose) == 0


def test_remeshing_a_sphere() -> None:
    points, faces = sphere(4)
    mended = repair(of_triangles(points, faces), remesh=0.2)
    found = examine(mended.surface)
    assert found.closed and found.genus == 0 and {one.kind for one in found.findings} == set()
    assert found.quality is not None
    assert 0.15 < found.quality.median_edge < 0.25 and found.quality.thinnest > 0.15
    assert found.quality.unevenness < 2.2
    assert volume(*_arrays(mended.surface)) == pytest.approx(volume(points, faces), rel=0.03)
    assert closest_points(mended.surface.points, TriMesh(points, faces)).distances.max() < 1e-12
    assert "Remeshed to edges of 0.2 m" in mended.changes[0]


def test_remeshing_keeps_creases_borders_and_values() -> None:
    """A sheet folded at a right angle, one uv island a side: the fold and the rim stay sharp, the uv stays exact."""
    points, faces = grid(4, 3)
    folded = np.where(points[:, :1] > 2, np.stack([0 * points[:, 0] + 2, points[:, 1], points[:, 0] - 2], 1), points)
    right = points[faces].mean(axis=1)[:, 0] > 2
    uv = points[faces][..., :2] + np.where(right, 10.0, 0.0)[:, None, None]
    given = Surface(
        folded, np.full(len(faces), 3), faces.reshape(-1),
        (Attribute(UV, Scope.CORNER, uv.reshape(-1, 2)), Attribute("height", Scope.POINT, folded[:, 2])),
        (Subset("wall", np.flatnonzero(right)),),
    )  # fmt: skip
    after = repair(given, remesh=0.35).surface
    found = examine(after)
    assert found.area == pytest.approx(12.0, rel=1e-9) and found.border_length == pytest.approx(14.0, rel=1e-9)
    assert found.quality is not None and found.quality.unevenness < 3
    wall = np.zeros(after.polygon_count, dtype=bool)
    wall[after.subsets[0].polygons] = True
    corner = after.points[after.corners]
    flat = np.where(np.repeat(wall, 3)[:, None], corner[:, [2, 1]] + [12.0, 10.0], corner[:, :2])
    np.testing.assert_allclose(after.attribute(UV).flat(), flat, atol=1e-9)  # type: ignore[union-attr]
    np.testing.assert_allclose(after.attribute("height").flat(), after.points[:, 2], atol=1e-9)  # type: ignore[union-attr]
