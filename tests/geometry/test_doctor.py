"""The doctor: every finding provoked once, nothing found in healthy shapes, any numbers survived."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_shapes import grid, mobius, polygons, sphere, surface, torus

from bunraku.geometry import Surface, examine, of_triangles
from bunraku.geometry.doctor.findings import Diagnosis, Kind, Severity


def _kinds(diagnosis: Diagnosis) -> set[Kind]:
    return {one.kind for one in diagnosis.findings}


@pytest.mark.parametrize("shape", [sphere(2), torus()])
def test_nothing_is_found_in_a_healthy_closed_shape(shape: tuple[np.ndarray, np.ndarray]) -> None:
    found = examine(surface(shape))
    assert _kinds(found) == set()
    assert found.closed and found.worst is Severity.HARMLESS
    assert found.genus == (1 if len(shape[0]) == 288 else 0)


def test_a_sheet_is_open_and_that_is_all() -> None:
    found = examine(surface(grid(4, 3, 0.1)))
    assert _kinds(found) == {Kind.OPEN}
    assert (found.points, found.polygons, found.triangles, found.pieces) == (20, 24, 24, 1)
    assert (found.border_loops, found.border_edges, found.genus, found.closed) == (1, 14, 0, False)
    np.testing.assert_allclose(found.border_length, 1.4)
    np.testing.assert_allclose(found.area, 0.12)
    np.testing.assert_allclose([found.low, found.high], [[0, 0, 0], [0.4, 0.3, 0]])
    assert found.size == pytest.approx(0.5)
    assert found.quality is not None and found.quality.longest_edge == pytest.approx(0.1 * 2**0.5)


def _points(change: Callable[[np.ndarray], None]) -> Surface:
    points, faces = sphere(2)
    changed = points.copy()
    change(changed)
    return of_triangles(changed, faces)


def _faces(more: list[list[int]]) -> Surface:
    points, faces = sphere(2)
    return of_triangles(points, np.concatenate([faces, more]))


def _set(array: np.ndarray, where: object, value: object) -> None:
    array[where] = value  # type: ignore[call-overload]


def _split_sheet(gap: float) -> Surface:
    """Two sheets side by side that share an edge line but no points, the second `gap` further away."""
    points, faces = grid(3, 3)
    return of_triangles(
        np.concatenate([points, points + [3 + gap, 0, 0]]), np.concatenate([faces, faces + len(points)])
    )


def _t_junction() -> Surface:
    """A sheet of 2 × 2 cells and, on two of its corners, one large cell, with a point on its edge."""
    points, faces = grid(2, 2)
    low, high = (int(np.argmin(np.abs(points - corner).sum(axis=1))) for corner in ([2.0, 0, 0], [2.0, 2, 0]))
    large = np.array([[low, len(points), len(points) + 1], [low, len(points) + 1, high]])
    return of_triangles(np.vstack([points, [[4.0, 0, 0], [4, 2, 0]]]), np.concatenate([faces, large]))


def _leaning() -> Surface:
    """A sheet of 2 × 2 cells beside one of one large cell, each with points of its own."""
    points, faces = grid(2, 2)
    more, large = grid(1, 1, 2.0)
    return of_triangles(np.concatenate([points, more + [2, 0, 0]]), np.concatenate([faces, large + len(points)]))


def test_pieces_that_rest_on_each_other_are_not_torn() -> None:
    assert examine(_leaning()).count(Kind.CRACKS) == 0 and examine(_leaning()).pieces == 2


def _turned(count: int) -> Surface:
    points, faces = sphere(2)
    faces = faces.copy()
    faces[:count] = faces[:count, ::-1]
    return of_triangles(points, faces)


def _holed(gone: int) -> Surface:
    points, faces = sphere(3)
    return of_triangles(points, faces[gone:])


def _two(shift: float, scale: float = 1.0, levels: int = 2) -> Surface:
    points, faces = sphere(2)
    other, more = sphere(levels)
    return of_triangles(np.concatenate([points, other * scale + shift]), np.concatenate([faces, more + len(points)]))


BOW_TIE = of_triangles(
    np.array([[0.0, 0, 0], [1, 1, 0], [1, 2, 0], [-1, 1, 0], [-1, 2, 0]]), np.array([[0, 1, 2], [0, 4, 3]])
)
EDGE, OPPOSITE = sphere(2)[1][0, :2].tolist(), int(np.argmin(sphere(2)[0] @ sphere(2)[0][sphere(2)[1][0, 0]]))
QUADS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("given", "kind", "severity", "count", "words"),
    [
        (_points(lambda x: _set(x, 3, np.nan)), Kind.NOT_FINITE, Severity.REFUSED, 1, "no numbers"),
        (_points(lambda x: _set(x, (5, 1), np.inf)), Kind.NOT_FINITE, Severity.REFUSED, 1, "no numbers"),
        (polygons(np.zeros((2, 3)), []), Kind.NO_FACES, Severity.REFUSED, 1, "no face"),
        (_points(lambda x: _set(x, ..., x * 1e9)), Kind.SCALE, Severity.REFUSED, 1, "1e+09 m"),
        (_points(lambda x: _set(x, ..., x * 1e-200)), Kind.SCALE, Severity.REFUSED, 1, "across"),
        (polygons(QUADS, [[0, 1], [0, 1, 2, 3]]), Kind.FEW_CORNERS, Severity.HANDLED, 1, "fewer than three"),
        (polygons(QUADS, [[0, 1, 2]]), Kind.LOOSE_POINTS, Severity.HANDLED, 1, "1 point belongs to no face"),
        (_points(lambda x: _set(x, EDGE[0], x[EDGE[1]])), Kind.ZERO_AREA, Severity.CARE, 2, "comes apart"),
        (
            of_triangles(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 1, 3]])),
            Kind.ZERO_AREA, Severity.HANDLED, 1, "three corners on a line",
        ),
        (of_triangles(QUADS * [1, 2e-3, 1], np.array([[0, 1, 2]])), Kind.THIN, Severity.CARE, 1, "500 times longer"),
        (_split_sheet(0.0), Kind.DUPLICATE_POINTS, Severity.HANDLED, 4, "4 of them are along seams and will be sewn"),
        (_two(2 - 2e-16, 1, 2), Kind.PIECES, Severity.HARMLESS, 2, "2 pieces"),
        (_split_sheet(1e-6), Kind.CRACKS, Severity.CARE, 8, "8 border points almost on another"),
        (_t_junction(), Kind.CRACKS, Severity.CARE, 1, "1 border point on the edge of a neighbour"),
        (_faces([[*EDGE, OPPOSITE]]), Kind.CROWDED_EDGES, Severity.HANDLED, 1, "three or more faces"),
        (_faces([sphere(2)[1][7][::-1].tolist()]), Kind.REPEATED, Severity.HANDLED, 1, "same three points"),
        (_turned(1), Kind.WINDING, Severity.CARE, 3, "turn 1 face round"),
        (_turned(128), Kind.INSIDE_OUT, Severity.CARE, 1, "inside out"),
        (surface(mobius()), Kind.ONE_SIDED, Severity.HARMLESS, 1, "Möbius"),
        (BOW_TIE, Kind.PINCHED, Severity.HARMLESS, 1, "ball joint"),
        (_holed(1), Kind.HOLES, Severity.CARE, 1, "1 small hole of 3 to 3 edges"),
        (_holed(256), Kind.OPEN, Severity.HARMLESS, 1, "as cloth is"),
        (_two(3.0, 0.01, 0), Kind.FRAGMENTS, Severity.CARE, 1, "8 faces"),
        (_two(0.9), Kind.CROSSING, Severity.CARE, None, "pass through others"),
        (_t_junction(), Kind.TOUCHING, Severity.HARMLESS, None, "without passing through"),
        (polygons(QUADS + [[0, 0, 0.3], [0, 0, 0], [0, 0, 0.3], [0, 0, 0]], [[0, 1, 2, 3]]), Kind.BENT,
         Severity.HARMLESS, 1, "not flat"),
        (polygons(QUADS - [[0, 0, 0], [0, 0, 0], [0.7, 0.7, 0], [0, 0, 0]], [[0, 1, 2, 3]]), Kind.CONCAVE,
         Severity.HANDLED, 1, "not convex"),
        (of_triangles(grid(8, 8)[0] * [8, 1, 1], grid(8, 8)[1]), Kind.DRAWN_OUT, Severity.CARE, 128,
         "100% of all. They bend too hard one way: wrinkles come late, too short, or along them.remesh; with edges of"),
        (of_triangles(grid(40, 2)[0] ** [4, 1, 1] * [1e-3, 1e-2, 1], grid(40, 2)[1]), Kind.UNEVEN, Severity.CARE, None,
         "differ by a factor"),
    ],
)  # fmt: skip
def test_every_kind(given: Surface, kind: Kind, severity: Severity, count: int | None, words: str) -> None:
    found = examine(given)
    one = found.finding(kind)
    assert one is not None, found.sentences()
    assert one.severity is severity
    assert count is None or one.count == count
    assert words in one.sentence + one.remedy
    again = json.loads(json.dumps(found.as_json()))
    assert [f["kind"] for f in again["findings"]] == [f.kind.value for f in found.findings]
    assert len(found.sentences()) == 1 + len(found.findings)


def test_every_kind_is_tried() -> None:
    """A kind without a case above fails the run."""
    mark = next(m for m in test_every_kind.pytestmark if m.name == "parametrize")  # type: ignore[attr-defined]
    tried = {(case.values if hasattr(case, "values") else case)[1] for case in mark.args[1]}
    assert tried == set(Kind)


def test_points_and_polygons_are_named_as_in_the_file() -> None:
    """Also after polygons that are left out before the others are looked at."""
    points = np.concatenate([QUADS, [[np.nan, 0, 0], [5, 5, 5.0]]])
    found = examine(polygons(points, [[0, 1, 4], [0, 1, 2], [0, 2, 1], [0, 1]]))
    assert [found.finding(k).where for k in (Kind.NOT_FINITE, Kind.REPEATED, Kind.FEW_CORNERS)] == [(4,), (2,), (3,)]  # type: ignore[union-attr]
    assert found.finding(Kind.LOOSE_POINTS).where == (3, 5)  # type: ignore[union-attr]


def test_a_cavity_is_not_inside_out() -> None:
    points, faces = sphere(2)
    hollow = of_triangles(np.concatenate([points, 0.5 * points]), np.concatenate([faces, faces[:, ::-1] + len(points)]))
    assert examine(hollow).finding(Kind.INSIDE_OUT) is None


def test_left_handed_files_are_read_so() -> None:
    points, faces = sphere(2)
    given = Surface(points, np.full(len(faces), 3), faces[:, ::-1].reshape(-1), left_handed=True)
    assert _kinds(examine(given)) == set()


def test_duplicate_points_are_told_apart() -> None:
    """Two spheres that touch in a point; a sheet cut along a line. None of it is merged by accident."""
    points, faces = sphere(1)
    found = examine(
        of_triangles(np.concatenate([points, points + [2, 0, 0]]), np.concatenate([faces, faces + len(points)]))
    )
    one = found.finding(Kind.DUPLICATE_POINTS)
    assert one is not None and one.sentence == "1 point lies exactly on others. 1 only touches and stays apart."
    assert found.raw.points - found.merged.points == 1 and found.pieces == 2 and found.merged.pieces == 1


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-8, 1e9, 1e200, 1e-300, np.nan, np.inf, -np.inf])


@settings(max_examples=80)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=8),
    st.lists(st.lists(st.integers(0, 7), max_size=5), max_size=8),
)
def test_any_numbers_are_examined(points: list[tuple[float, float, float]], rings: list[list[int]]) -> None:
    """Whatever a file holds: a diagnosis of plain data."""
    found = examine(polygons(np.array(points), [[k % len(points) for k in ring] for ring in rings]))
    json.dumps(found.as_json())
    bad = int((~np.isfinite(np.array(points)).all(axis=1)).sum())
    assert found.count(Kind.NOT_FINITE) == bad
    assert (found.triangles == 0) == (Kind.NO_FACES in _kinds(found))
