"""A shape of the fine surface becomes a shape of the body that carries it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.contracts import PhysicsStopped, Points, Sparse, State, input_error, need, real_array
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System, settle
from bunraku.energies import DrawnEnergy, Solid
from bunraku.geometry import Cage, TetMesh, first_few, tet_lumped_mass
from bunraku.materials import as_solid

from .keys import check_sound, check_unit
from .materials import Material

_FIRM = 1e3  # how much stiffer the surface draws than the body resists
_FOLLOWS = 0.03  # share of the body's size by which its surface may be off the one it is fitted to
_LOOSE = 1e-4  # of the surface's pull: how firmly nodes keep their place among their neighbours in the first guess


def fitted(cage: Cage, points: Points, *, material: Material = "rubber") -> Points:
    """(n_nodes, 3) the shape of a body whose fine surface has its vertices at points (n, 3): near these where the body
    is fine enough to follow, in elastic balance inside. Good for a `KeyShape`.
    """
    need(Cage, "cage", cage)
    try:
        goal = real_array(points)
    except (TypeError, ValueError):
        goal = np.zeros(0)
    if goal.shape != cage.surface.rest.shape:
        raise input_error(
            "a shape of the surface must be finite points, one row a vertex", where="points", got=goal.shape,
            allowed=str(cage.surface.rest.shape),
        )  # fmt: skip
    bad = np.flatnonzero(~np.isfinite(goal).all(axis=1))
    if len(bad):
        raise input_error(
            "a shape of the surface must be finite points", where=f"points {first_few(bad)}", got=goal[bad[0]].tolist()
        )
    check_unit(goal, cage.surface.rest, "points")
    body = cage.body
    solid = replace(as_solid(material), law="neohookean")
    mass = tet_lumped_mass(body, solid.density)
    drawn = _drawn(cage, goal, solid.young * body.size)
    system = System(Mass(mass), (Solid(body, solid), drawn))
    stepper = ImplicitEuler(system, NewtonSettings(tolerance=1e-7, length=body.size))
    first = _first_guess(cage, goal)
    settled = settle(stepper, State(0.0, first.reshape(-1), np.zeros(first.size)), tolerance=1e-6 * body.size)
    if not settled.outcome.usable:
        raise PhysicsStopped(f"the body cannot take the shape of this surface: {settled.outcome.value}")
    shape = settled.value.q.reshape(-1, 3).copy()
    check_sound(body.with_rest(shape), "the shape of the surface")
    left = float(np.sqrt(np.mean(np.sum((cage.points(shape) - goal) ** 2, axis=1))))
    if left > _FOLLOWS * body.size:
        raise input_error(
            "the body cannot follow the shape of this surface", where="points", got=f"{left:.3g} m away in the mean",
            allowed=f"up to {_FOLLOWS * body.size:.3g} m", remedy="a milder shape, or smaller tetrahedra",
        )  # fmt: skip
    return shape


def _drawn(cage: Cage, goal: Points, stiffness: float) -> DrawnEnergy:
    """Every vertex held by the corners of its tetrahedron alone; all of them together `_FIRM` times as stiff."""
    tets = cage.body.tets
    alone = np.flatnonzero(np.diff(cage.matrix.indptr) <= 4)
    rows: Sparse = sparse.csr_array(cage.matrix)
    corners = tets[cage.tets[alone]]
    weights = np.asarray(rows[np.repeat(alone, 4), corners.reshape(-1)]).reshape(-1, 4)
    exact = np.abs(weights.sum(axis=1) - 1.0) < 1e-6  # all of the row is there
    alone, weights = alone[exact], weights[exact]
    each = np.full(len(alone), _FIRM * stiffness / max(len(alone), 1))
    return DrawnEnergy.of(tets, cage.body.point_count, cage.tets[alone], weights, goal[alone], each)


def _first_guess(cage: Cage, goal: Points) -> Points:
    """(n_nodes, 3) least squares: the surface at its goal, and every node where it was among its neighbours."""
    body = cage.body
    spread = _laplacian(body)
    pull = sparse.csr_array(cage.matrix)
    many = cage.surface.point_count / body.point_count
    normal = pull.T @ pull + _LOOSE * many * (spread.T @ spread)
    right = pull.T @ goal + _LOOSE * many * (spread.T @ (spread @ body.rest))
    return np.asarray(splu(sparse.csc_matrix(normal)).solve(np.ascontiguousarray(right)))


def _laplacian(body: TetMesh) -> Sparse:
    """(n, n) node less the mean of its neighbours."""
    i = body.tets[:, [0, 0, 0, 1, 1, 2]].reshape(-1)
    j = body.tets[:, [1, 2, 3, 2, 3, 3]].reshape(-1)
    n = body.point_count
    near = sparse.csr_array((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    near.data[:] = 1.0
    share = sparse.diags_array(1.0 / np.asarray(near.sum(axis=1)).reshape(-1)) @ near
    return sparse.csr_array(sparse.eye_array(n) - share)
