"""What is said about tetrahedra, parts, and mending: each kind of damage once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from test_tetmesh import block

from bunraku.contracts import InputError
from bunraku.geometry import TetMesh, check_tets, mend_tets, tet_quality

CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def mesh(rest: ArrayLike, tets: ArrayLike) -> TetMesh:
    return TetMesh(np.asarray(rest, float), np.asarray(tets))


def said(body: TetMesh) -> str:
    return "\n".join(tet_quality(body).sentences())


def test_a_good_body_has_one_sentence() -> None:
    found = tet_quality(block(2))
    assert found.sentences() == (str(found),) and found.usable
    assert str(found).startswith("48 tetrahedra, 27 nodes, 1 part, 1 m³, quality from")
    assert (found.tets, found.nodes, found.parts, found.thin, found.loose, found.hinges) == (48, 27, 1, 0, 0, 0)
    assert found.volume == pytest.approx(1.0) and 0 < found.least <= found.median <= 1


def test_a_regular_tetrahedron_has_quality_one() -> None:
    regular = mesh([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [[0, 1, 2, 3]])
    found = tet_quality(TetMesh.oriented(regular.rest, regular.tets))
    assert found.least == pytest.approx(1.0) and found.tets == 1 and found.parts == 1


def test_each_kind_is_counted_and_said() -> None:
    rest = np.vstack([CORNER, [[0.3, 0.3, 0.0]], [[0.2, 0.2, -0.01]], [[9, 9, 9]]])
    body = mesh(rest, [[0, 1, 2, 3], [0, 2, 1, 5], [0, 1, 2, 4], [0, 1, 3, 2]])
    found = tet_quality(body)
    assert (found.flat, found.inverted, found.loose) == (1, 1, 1) and not found.usable
    assert found.thin == 3 and set(found.worst[:2].tolist()) == {2, 3}
    text = said(body)
    assert "1 tetrahedron has no volume" in text and "1 tetrahedron is inside out" in text
    assert "1 tetrahedron is thin" in text and "1 node belongs to no tetrahedron" in text


def test_parts_and_hinges() -> None:
    """Two cubes apart, at a corner, at an edge, and face to face."""
    one = block(1)
    apart = mesh(np.vstack([one.rest, one.rest + 5]), np.vstack([one.tets, one.tets + 8]))
    assert apart.part_count == 2 and apart.parts.tolist() == [0] * 6 + [1] * 6
    assert "in 2 parts, which nothing holds together" in said(apart)
    for shift, hinges in (([1, 1, 1], 1), ([1, 1, 0], 1), ([1, 0, 0], 0)):
        rest = np.vstack([one.rest, one.rest + shift])
        _, first, place = np.unique(np.round(rest, 9), axis=0, return_index=True, return_inverse=True)
        joined = mesh(rest[first], place.reshape(-1)[apart.tets])
        assert joined.part_count == 1 and tet_quality(joined).hinges == hinges, shift
        assert ("swings there" in said(joined)) == bool(hinges)


def test_nothing_to_mend_changes_nothing() -> None:
    body = block(2)
    out = mend_tets(body)
    assert out.done == () and np.array_equal(out.body.tets, body.tets) and np.array_equal(out.body.rest, body.rest)
    assert out.vertices.tolist() == list(range(27))


def test_turned_and_loose_and_repeated() -> None:
    """Turned around, left out, and the numbers of what stays."""
    rest = np.vstack([[[7.0, 7, 7]], CORNER, [[1, 1, 1]]])
    out = mend_tets(mesh(rest, [[1, 2, 4, 3], [2, 3, 4, 5], [4, 3, 2, 1], [1, 1, 2, 3]]))
    check_tets(out.body)
    assert len(out.body.tets) == 2 and out.vertices.tolist() == [1, 2, 3, 4, 5]
    text = " ".join(out.done)
    for words in ("1 tetrahedron with a vertex twice", "1 tetrahedron with the vertices of an earlier one",
                  "1 tetrahedron that lay inside out", "1 vertex of no tetrahedron"):  # fmt: skip
        assert words in text


def test_coordinates_that_are_no_numbers() -> None:
    out = mend_tets(mesh(np.vstack([CORNER, [[np.nan, 0, 0]]]), [[0, 1, 2, 3], [0, 1, 2, 4]]))
    check_tets(out.body)
    assert len(out.body.tets) == 1 and len(out.body.rest) == 4


def test_a_flat_one_at_the_surface_is_left_out() -> None:
    """Four points in a plane: no short edge to collapse."""
    out = mend_tets(mesh(np.vstack([CORNER, [[1, 1, 0]]]), [[0, 1, 2, 3], [0, 1, 4, 2]]))
    check_tets(out.body)
    assert len(out.body.tets) == 1 and out.done[0].startswith("left out 1 tetrahedron without volume to speak of")


def test_a_needle_is_collapsed() -> None:
    """A node split in two, a hair apart: the tetrahedra between them go, and their neighbours close up."""
    body = block(3)
    inner = int(np.flatnonzero((np.abs(body.rest - 1 / 3) < 1e-9).all(axis=1))[0])
    around = np.flatnonzero((body.tets == inner).any(axis=1))
    lower = around[body.rest[body.tets[around]].mean(axis=1)[:, 0] < 1 / 3]
    tets, rest = body.tets.copy(), np.vstack([body.rest, body.rest[inner] + [1e-9, 0, 0]])
    tets[around] = np.where(tets[around] == inner, len(rest) - 1, tets[around])
    tets[lower] = body.tets[lower]
    upper = np.setdiff1d(around, lower)
    faces = {frozenset(f) for t in body.tets[upper] for f in (np.delete(t, k) for k in range(4)) if inner in f}
    shared = [f for t in body.tets[lower] for f in (np.delete(t, k) for k in range(4)) if frozenset(f) in faces]
    needles = [[*face, len(rest) - 1] for face in shared]
    damaged = TetMesh.oriented(rest, np.vstack([tets, needles]))
    with pytest.raises(InputError, match="without volume"):
        check_tets(damaged)
    out = mend_tets(damaged)
    check_tets(out.body)
    assert "collapsed" in out.done[0] and len(out.body.tets) == len(body.tets)
    assert out.body.volumes.sum() == pytest.approx(1.0, rel=1e-6) and out.body.point_count == body.point_count


def test_nothing_left_is_refused() -> None:
    with pytest.raises(InputError, match=r"jelly: no tetrahedron with volume is left .got '1 tetrahedra, all flat"):
        mend_tets(mesh(CORNER * [1, 1, 0], [[0, 1, 2, 3]]), "jelly")
