"""Smooth test functions: Gaussians along the surface, normalised to sum to one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from bunraku.contracts import Array, Integers, Sparse, input_error, is_between, need, whole_number
from bunraku.geometry import TriMesh, edges

from .regions import warn_of_edges
from .test_functions import TestFunctions

_REACH = 3.0  # standard deviations after which a Gaussian counts as zero
_MOST = 20_000


def gaussians(guide: TriMesh, width: float, *, seed: int = 0, shell: TriMesh | None = None) -> TestFunctions:
    """Overlapping bumps `width` [m] across (two standard deviations), a width apart; `shell` as in `clusters`.

    Distances run along edges, so a bump on an arm does not reach the body beside it. Together the bumps
    are one everywhere: as a scale to obey they stand between regions with sharp borders and the guide's own hats.
    """
    need(TriMesh, "guide", guide, remedy="guide.mesh")
    if not is_between(width, np.nextafter(0.0, 1.0), np.finfo(np.float64).max):
        raise input_error("the width of test functions must be a length above zero", got=repr(width))
    warn_of_edges("width", float(width), guide)
    graph = _edge_graph(guide)
    centres = _spread(graph, guide, float(width), seed)
    values = _bumps(graph, centres, 0.5 * float(width))
    identity = sparse.eye_array(guide.point_count, format="csr")
    return TestFunctions(values, values, identity).carried(guide, shell)


def _edge_graph(mesh: TriMesh) -> Sparse:
    """(n, n) edge lengths at rest [m]."""
    found = edges(mesh.faces).vertices
    lengths = np.linalg.norm(mesh.rest[found[:, 1]] - mesh.rest[found[:, 0]], axis=1)
    shape = (mesh.point_count, mesh.point_count)
    return sparse.csr_array((lengths, (found[:, 0], found[:, 1])), shape=shape)


def _spread(graph: Sparse, mesh: TriMesh, spacing: float, seed: int) -> Integers:
    """Vertices about a spacing apart that leave none farther away: each new one is the farthest from the others."""
    used = np.unique(mesh.faces)
    first = int(used[np.random.default_rng(whole_number("seed", seed)).integers(len(used))])
    away = np.full(mesh.point_count, -1.0)
    away[used] = np.inf
    centres = []
    vertex = first
    while away[vertex] > spacing:
        if len(centres) == _MOST:
            raise input_error(
                "the test functions are too narrow for this mesh", got=spacing, allowed=f"up to {_MOST} of them"
            )
        centres.append(vertex)
        reach = csgraph.dijkstra(graph, directed=False, indices=vertex, limit=float(np.nanmax(away)))
        away = np.minimum(away, np.where(away < 0, -1.0, reach))
        vertex = int(np.argmax(away))
    return np.array(centres)


def _bumps(graph: Sparse, centres: Integers, deviation: float) -> Sparse:
    """(k, n) normalised Gaussians."""
    rows = []
    for begin in range(0, len(centres), 256):  # a dense block of distances at a time
        reach: Array = csgraph.dijkstra(
            graph, directed=False, indices=centres[begin : begin + 256], limit=_REACH * deviation
        )
        rows.append(sparse.csr_array(np.exp(-0.5 * np.minimum(reach / deviation, 1e3) ** 2)))
    values: Sparse = sparse.vstack(rows, format="csr")
    values.eliminate_zeros()
    total = np.asarray(values.sum(axis=0)).reshape(-1)
    return sparse.csr_array(values @ sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)))
