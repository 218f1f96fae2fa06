"""The inverse of the rotation-strain warp: the displacement u with W(u) = given points, and the speeds that go with it.

A first guess turns the deformation gradients of the points into rotation vectors and stretches and integrates those: it
is exact where they fit together. Newton's method does the rest. DW(u) = L⁻¹ Γᵀ T Γ with T the tangents of the
tetrahedra; L⁻¹ Γᵀ T⁻¹ Γ is nearly its inverse, so that a Krylov method needs few rounds, and no matrix but the
Laplacian is ever factorised.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from scipy.sparse.csgraph import breadth_first_order
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Integers, Outcome, Points, Solution, alike, input_error
from bunraku.numerics import gmres_rows, signed_svds

from .unwarp_kernels import fill_inverses, fill_meant, fill_tangents, fill_unmeant
from .warp import Warp

CLOSE = 1e-10
"""share of the body's size within which the points are met"""
_MOST_ROUNDS = 30
_SHORTEST = 1 / 64  # share of a Newton step below which it does not help
_FORCING = 1e-3  # share of the residual that a linear solve may leave: the next round takes it
_KRYLOV, _RESTARTS = 40, 10  # vectors before a restart, and how many of these


def unwarped(
    warp: Warp, points: Points, start: Points | None = None, *, close: float = CLOSE
) -> Solution[Points]:  # fmt: skip
    """The displacement (n, 3) whose warp takes the vertices to points (n, 3).

    Fixed vertices stay, whatever is given for them: the others are met. Rotations beyond π are those nearest to the
    neighbours'; a `start` (n, 3) near the answer says which turn is meant. Where nothing is found the nearest that was
    met is returned, and the outcome says so (points inside out, say). `close` is the share of the body's size within
    which points are met.
    """
    if points.shape != warp.mesh.rest.shape or not np.isfinite(points).all():
        raise input_error("needs finite points, one row a vertex", where="unwarped", got=f"{points.shape}")
    wanted = points - warp.mesh.rest
    wanted[warp.fixed] = 0.0
    if start is None:
        return _newton(warp, wanted, _first_guess(warp, wanted), close)
    told = _newton(warp, wanted, start.astype(np.float64), close)
    if told.outcome.usable:
        return told
    own = _newton(warp, wanted, _first_guess(warp, wanted), close)
    return min(own, told, key=lambda one: one.stats["missed"])


def _newton(warp: Warp, wanted: Points, u: Points, close: float = CLOSE) -> Solution[Points]:
    """From a displacement u to the one that means what is wanted, both (n, 3)."""
    allowed = close * warp.mesh.size
    missed = wanted - warp.displacements(u)
    rounds = 0
    while (far := float(np.abs(missed).max())) > allowed and rounds < _MOST_ROUNDS:
        step = _solved(warp, u, missed, max(min(_FORCING, far / warp.mesh.size), 1e-9))
        share = 1.0
        while share >= _SHORTEST:
            left = wanted - warp.displacements(u + share * step)
            if np.linalg.norm(left) < (1.0 - 0.1 * share) * np.linalg.norm(missed):
                break
            share *= 0.5
        else:
            break
        u, missed, rounds = u + share * step, left, rounds + 1
    outcome = Outcome.CONVERGED if far <= allowed else Outcome.NOT_CONVERGED
    worst = int(np.argmax(np.abs(missed).max(axis=1)))
    return Solution(u, outcome, {"iterations": rounds, "missed": far}, {"vertex": worst})


def unwarped_speeds(
    warp: Warp, u: Points, velocities: Array, *, share: float = 1e-12, start: Array | None = None
) -> Array:  # fmt: skip
    """(n, 3) v with DW(u) v = velocities (n, 3) [m/s] at the vertices that are not fixed, up to a share of them; or
    several, (r, n, 3), at once. `start` are some near them."""
    wanted = velocities.astype(np.float64)
    wanted[..., warp.fixed, :] = 0.0
    return _solved(warp, u, wanted, share, start)


def _solved(warp: Warp, u: Points, wanted: Array, share: float, start: Array | None = None) -> Array:
    """x with DW(u) x = wanted, (n, 3) or (r, n, 3), up to a share of it."""
    own, size = warp.numbers(u), u.size
    inverses, tangents = np.empty((len(own), 4, 3, 3)), np.empty((len(own), 3, 3, 3))
    fill_inverses(own, inverses)
    fill_tangents(own, tangents)

    def summed(fill: Callable[..., None], rows: Array, known: Array) -> Array:
        fields, asked = rows.reshape(-1, *u.shape), np.empty((len(rows), *u.shape))
        local = np.empty((len(own), 4, 3))
        for k, field in enumerate(fields):
            fill(np.ascontiguousarray(field), alike(warp.mesh.tets), warp.gradients, warp.volumes, known, local)
            asked[k] = warp.scattered(local)
        return warp.integrated(asked, fields).reshape(rows.shape)

    x = gmres_rows(
        lambda rows: summed(fill_meant, rows, tangents), lambda rows: summed(fill_unmeant, rows, inverses),
        wanted.reshape(-1, size), share, start=None if start is None else start.reshape(-1, size), vectors=_KRYLOV,
        restarts=_RESTARTS,
    )  # fmt: skip
    return x.reshape(wanted.shape)


def _gradients(warp: Warp, u: Points) -> Array:
    """(m, 3, 3) D of a displacement: entry (i, k) is ∂uᵢ/∂xₖ."""
    edges = u[warp.mesh.tets[:, 1:]] - u[warp.mesh.tets[:, :1]]
    return np.einsum("mai,mak->mik", edges, warp.gradients)


def _integrated(warp: Warp, numbers: Array, like: Points) -> Points:
    """(n, 3) the displacement whose nine numbers are nearest to (m, 9); parts are moved in the mean as `like`."""
    x, y, z, xx, yy, zz, yz, xz, xy = numbers.T
    matrix = np.stack([xx, xy - z, xz + y, xy + z, yy, yz - x, xz - y, yz + x, zz], axis=1).reshape(-1, 3, 3)
    local = np.einsum("m,mak,mik->mai", warp.volumes, warp.gradients, matrix)
    local = np.concatenate([-local.sum(axis=1, keepdims=True), local], axis=1)
    return warp.integrated(warp.scattered(local), like)


def _first_guess(warp: Warp, wanted: Points) -> Points:
    """(n, 3) rotation vectors and stretches of a displacement's gradients, integrated."""
    u, s, v = signed_svds(np.eye(3) + _gradients(warp, wanted))
    stretch = np.einsum("mij,mj,mkj->mik", v, s - 1.0, v)
    turns = Rotation.from_matrix(u @ v.transpose(0, 2, 1)).as_rotvec()
    order, before = _tree(warp, turns)
    turns = np.ascontiguousarray(turns)
    _follow(order, before, turns)
    parts = [turns, stretch[:, [0, 1, 2], [0, 1, 2]], stretch[:, [1, 0, 0], [2, 2, 1]]]
    return _integrated(warp, np.concatenate(parts, axis=1), wanted)


def _tree(warp: Warp, turns: Array) -> tuple[Integers, Integers]:
    """Tetrahedra from neighbour to neighbour across faces, and (m,) the one each is reached from, −1 for none.

    It begins, in every part, where the body is held, else at the one that is turned least.
    """
    tets, graph = warp.mesh.tets, warp.mesh.across
    count = len(tets)
    held = np.isin(tets, warp.fixed).sum(axis=1)
    ranked = np.lexsort([np.linalg.norm(turns, axis=1), -held])
    order, before, seen = [], np.full(count, -1), np.zeros(count, dtype=bool)
    for root in ranked:
        if not seen[root]:
            found, parent = breadth_first_order(graph, root, directed=False)
            order.append(found)
            before[found[1:]] = parent[found[1:]]
            seen[found] = True
    return np.concatenate(order).astype(np.int64), before


@numba.njit(cache=True)
def _follow(order, before, turns):
    """Of the rotation vectors that are one rotation, for each the one nearest to that it is reached from."""
    for t in order:
        if before[t] < 0:
            continue
        angle = np.sqrt(turns[t, 0] ** 2 + turns[t, 1] ** 2 + turns[t, 2] ** 2)
        if angle < 1e-9:
            continue
        along = 0.0
        for i in range(3):
            along += turns[t, i] * turns[before[t], i] / angle
        nearest = angle + 2.0 * np.pi * np.round((along - angle) / (2.0 * np.pi))
        for i in range(3):
            turns[t, i] *= nearest / angle
