"""Tetrahedra as files number them become a `TetMesh`."""

from __future__ import annotations

import logging

import numpy as np

from bunraku.contracts import Integers, Points, input_error, many
from bunraku.geometry import TetMesh, first_few

from .tokens import NOT_WHOLE, REEXPORT

_log = logging.getLogger(__name__)


def tet_mesh(tags: Integers, points: Points, tets: Integers, path: str) -> TetMesh:
    """The mesh of nodes `points` (n, 3) numbered `tags` (n,), and `tets` (m, 4) of such numbers.

    Nodes of no tetrahedron are dropped and tetrahedra of negative volume turned around, both with a note; the rest
    keeps the file's order.
    """
    if not len(tets):
        raise input_error(
            "holds no tetrahedra", where=path, got=f"{len(points)} nodes", remedy="mesh the volume as well"
        )
    for what, values in (("nodes", tags[:, None]), ("tets", tets)):
        bad = np.flatnonzero((values == NOT_WHOLE).any(axis=1))
        if len(bad):
            raise input_error("node numbers must be whole", where=f"{path}, {what} {first_few(bad)}", remedy=REEXPORT)
    order = np.argsort(tags, kind="stable")
    ranked = tags[order]
    twice = np.unique(ranked[1:][ranked[1:] == ranked[:-1]])
    if len(twice):
        raise input_error("nodes have the same number", where=path, got=first_few(twice))
    place = np.searchsorted(ranked, tets)
    known = np.append(ranked, -1)[place] == tets
    bad = np.flatnonzero(~(known & (place < len(ranked))).all(axis=1))
    if len(bad):
        raise input_error(
            "tetrahedra name nodes that are not there", where=f"{path}, tets {first_few(bad)}",
            got=tets[bad[0]].tolist(), allowed=f"{ranked[0]} to {ranked[-1]}" if len(ranked) else "none, no nodes",
        )  # fmt: skip
    corners = order[place]
    used = np.unique(corners)
    if len(used) < len(points):
        loose = many(len(points) - len(used), "node belongs", "nodes belong")
        _log.warning("%s: %s to no tetrahedron: left out", path, loose)
    given = TetMesh(points[used], np.searchsorted(used, corners))
    turned = int((given.volumes < 0).sum())
    if not turned:
        return given
    _log.warning("%s: %d of %d tetrahedra were inside out and are turned around", path, turned, len(tets))
    return TetMesh.oriented(given.rest, given.tets)
