"""Tetrahedra physics would refuse, mended: turned around, taken out, collapsed; with a sentence for each thing done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Flags, Integers, Points, input_error, many, need

from .connectivity import finite_points
from .tetmesh import THINNEST_TET, TetMesh, shape_quality, thinness
from .trimesh import first_few

SLIVER = 1e-3
"""quality at and below which a tetrahedron is taken out: a hundredth of what counts as thin"""
_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True, eq=False)
class MendedTets:
    """A body as physics can mean it, and what was done for that."""

    body: TetMesh
    vertices: Integers
    """(k,) the vertex of the given body each vertex was"""
    done: tuple[str, ...]
    """a sentence for each kind of change; none where nothing was to do"""


def mend_tets(mesh: TetMesh, name: str = "body") -> MendedTets:
    """The body with tetrahedra turned outwards, and without flat ones, slivers, repeated ones and loose vertices.

    A sliver goes by collapsing its shortest edge where that harms no neighbour, else it is left out: it has no volume
    to speak of. Tetrahedra that lie inside each other cannot be mended and are for `check_tets` to refuse.
    """
    need(TetMesh, name, mesh)
    done: list[str] = []
    tets = _without(mesh.tets, _unusable(mesh), "with a vertex twice or coordinates that are no numbers", done)
    tets = _without(tets, _repeated(tets), "with the vertices of an earlier one", done)
    tets = _outwards(mesh.rest, tets, done)
    tets = _without_slivers(mesh.rest, tets, done)
    if not len(tets):
        raise input_error(
            "no tetrahedron with volume is left", where=name, got=f"{len(mesh.tets)} tetrahedra, all flat or broken",
            remedy="make the body anew (tetrahedralise)",
        )  # fmt: skip
    used = np.unique(tets)
    if mesh.point_count > len(used):
        done.append(f"left out {many(mesh.point_count - len(used), 'vertex', 'vertices')} of no tetrahedron")
    return MendedTets(TetMesh(mesh.rest[used], np.searchsorted(used, tets)), used, tuple(done))


def _unusable(mesh: TetMesh) -> Flags:
    """(m,) tetrahedra that mean nothing."""
    ordered = np.sort(mesh.tets, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return twice | ~finite_points(mesh.rest)[mesh.tets].all(axis=1)


def _repeated(tets: Integers) -> Flags:
    """(m,) tetrahedra whose four vertices an earlier one has."""
    _, first = np.unique(np.sort(tets, axis=1), axis=0, return_index=True)
    out = np.ones(len(tets), dtype=bool)
    out[first] = False
    return out


def _without(tets: Integers, gone: Flags, why: str, done: list[str]) -> Integers:
    if gone.any():
        done.append(f"left out {_tets(int(gone.sum()))} {why} (the first: {_first(gone)})")
    return tets[~gone]


def _tets(number: int) -> str:
    return many(number, "tetrahedron", "tetrahedra")


def _first(flags: Flags) -> str:
    return first_few(np.flatnonzero(flags))


def _outwards(x: Points, tets: Integers, done: list[str]) -> Integers:
    negative = thinness(x, tets) < 0.0
    if negative.any():
        done.append(f"turned around {_tets(int(negative.sum()))} that lay inside out")
        tets = tets.copy()
        tets[negative] = tets[negative][:, [0, 1, 3, 2]]
    return tets


def _without_slivers(x: Points, tets: Integers, done: list[str]) -> Integers:
    """Tetrahedra (m, 4) after collapsing or leaving out the bad ones among them."""
    collapsed = left_out = 0
    while True:
        bad = _bad(x, tets)
        if not bad.any():
            break
        joined = _collapse(x, tets, int(np.flatnonzero(bad)[0]))
        if joined is not None:
            collapsed += len(tets) - len(joined)
            tets = joined
        else:
            left_out += 1
            tets = np.delete(tets, np.flatnonzero(bad)[0], axis=0)
    if collapsed:
        done.append(f"collapsed {_tets(collapsed)} without volume to speak of, a short edge of each to a point")
    if left_out:
        done.append(f"left out {_tets(left_out)} without volume to speak of")
    return tets


def _bad(x: Points, tets: Integers) -> Flags:
    return ~((np.abs(thinness(x, tets)) > THINNEST_TET) & (shape_quality(x, tets) > SLIVER))


def _collapse(x: Points, tets: Integers, one: int) -> Integers | None:
    """The tetrahedra with an edge of one collapsed into one of its ends; None where that would harm a neighbour."""
    pairs = tets[one][_EDGES]
    lengths = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    short = pairs[np.argmin(lengths)]
    if lengths.min() > 0.1 * lengths.max():  # no short edge: four points in a plane, of which none can go
        return None
    for kept, gone in (short, short[::-1]):
        around = (tets == gone).any(axis=1)
        both = around & (tets == kept).any(axis=1)
        moved = np.where(tets == gone, kept, tets)[around & ~both]
        before = shape_quality(x, tets[around & ~both])
        if (shape_quality(x, moved) >= np.minimum(0.3 * before, 0.1)).all() and not _bad(x, moved).any():
            return np.concatenate([tets[~around], moved]) if len(moved) else tets[~around]
    return None
