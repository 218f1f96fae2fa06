"""Smooth test functions: Gaussians along the surface, normalised to sum to one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from bunraku.contracts import Array, Integers, Sparse, Vector, input_error, is_between, need, whole_number
from bunraku.geometry import TriMesh, edges

from .regions import warn_of_edges
from .test_functions import TestFunctions

_REACH = 3.0  # standard deviations after which a Gaussian counts as zero
_MOST = 20_000


def gaussians(
    guide: TriMesh, width: float | Vector, *, seed: int = 0, shell: TriMesh | None = None
) -> TestFunctions:  # fmt: skip
    """Overlapping bumps `width` [m] across (two standard deviations), a width apart; `shell` as in `clusters`.

    A width (n,) for each vertex makes them small in some places and large in others.

    Distances run along edges, so a bump on an arm does not reach the body beside it. Together the bumps
    are one everywhere: as a scale to obey they stand between regions with sharp borders and the guide's own hats.
    """
    need(TriMesh, "guide", guide, remedy="guide.mesh")
    many = _widths(guide, width) if isinstance(width, np.ndarray) and width.ndim else None
    if many is None and not is_between(width, np.nextafter(0.0, 1.0), np.finfo(np.float64).max):
        raise input_error("the width of test functions must be a length above zero", got=repr(width))
    warn_of_edges("width", float(np.median(width)), guide)
    graph, wide = _edge_graph(guide, many), 1.0 if many is not None else float(width)
    centres = _spread(graph, guide, wide, seed)
    values = _bumps(graph, centres, 0.5 * wide)
    identity = sparse.eye_array(guide.point_count, format="csr")
    return TestFunctions(values, values, identity).carried(guide, shell)


def _widths(mesh: TriMesh, width: Vector) -> Vector:
    """(n,) one a vertex, checked."""
    if width.shape != (mesh.point_count,) or not (np.isfinite(width) & (width > 0.0)).all():
        raise input_error(
            "the widths of test functions must be lengths above zero, one a vertex", where="width",
            got=f"shape {width.shape}", allowed=f"({mesh.point_count},)",
        )  # fmt: skip
    return width


def _edge_graph(mesh: TriMesh, widths: Vector | None) -> Sparse:
    """(n, n) edge lengths at rest [m]; over the widths (n,) at their ends, if these differ."""
    found = edges(mesh.faces).vertices
    lengths = np.linalg.norm(mesh.rest[found[:, 1]] - mesh.rest[found[:, 0]], axis=1)
    if widths is not None:
        lengths = lengths / widths[found].mean(axis=1)
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
