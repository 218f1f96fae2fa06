"""What is asked of a warped body, without warping it: a few functionals of its vertices in modal coordinates.

A functional A (a vertex, a mean of vertices) of W(u) = L⁻¹ Γᵀ (G(u) − I) is the constant row A L⁻¹ times what the
tetrahedra ask of the vertices. So L is solved once for each functional, never for a motion [Schulz 2014, §9.1 names
the warping of the whole body as what costs most].

Many vertices (a foot, a head) are compressed: all that they can do in the motions of the modes lies close to far fewer
shapes over those vertices, which are found from examples. Directions orthogonal to those shapes are not observed; what
they add to the residual of a goal is a number that is known beforehand (`Goal.unseen`), up to the `tolerance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Points, Sparse, Vector, input_error
from bunraku.geometry.gradients import own_points

from .bend import Bends
from .groups import Groups
from .observed_few_kernels import FEW_SLOTS, fill_few
from .observed_kernels import SLOTS, WIDE, fill_observed, fill_places, fill_speeds
from .warp import Warp

FEW = 32
"""functionals that are not worth compressing"""
BACKWARDS = 3
"""functionals at most whose derivatives are found backwards, vertex by vertex, instead of mode by mode"""
_ROUNDING = 1e-13  # share of the largest derivative below which one is none
_EXAMPLES = 2  # poses from which the shapes are taken
_ANGLE = 1.0  # [rad] root of the mean square by which tetrahedra are turned in them


@dataclass(frozen=True, eq=False)
class Goal:
    """What observed rows should be, and what of it no row sees."""

    values: Vector
    """(r,) for `Observed.positions` or `Observed.velocities`"""
    unseen: float
    """length of the part that no row can reach, in the rows' own unit"""


@dataclass(frozen=True, eq=False)
class Observed:
    """Some functionals of a warped body in modal coordinates. Rows: x, y, z of the first, of the second, …"""

    basis: Array
    """(n, 3, w) modes, and columns of nothing up to a multiple of `WIDE`"""
    functionals: Sparse
    """(k, n) CSR: what was asked for"""
    shapes: Array | None
    """(k, c) orthonormal columns: what of it is observed; None: all"""
    rest: Points
    """(c, 3) the functionals at rest"""
    carried: Array
    """(c, 3, d) what parts without fixed vertices add by their mean displacement"""
    groups: Groups
    weights: Array
    """(c, Σ vertices of groups): rows of A L⁻¹"""

    @classmethod
    def of(
        cls, warp: Warp, basis: Array, functionals: Sparse, *, tolerance: float = 1e-6, groups: Groups | None = None
    ) -> Observed:
        """Observe functionals of the vertices.

        Args:
            warp: of the body.
            basis: (n, 3, d) modes.
            functionals: (k, n) sparse weights: row sums of one are means of points.
            tolerance: share of the largest example below which a shape over the functionals is left out; 0: none is.
            groups: `Groups.of(warp)`, where several observe one body.
        """
        rows: Sparse = sparse.csr_array(functionals)
        if rows.shape[1] != warp.mesh.point_count or basis.shape[:2] != warp.mesh.rest.shape:
            raise input_error(
                "functionals and modes must be of the body's vertices", where="observed",
                got=f"{rows.shape}, {basis.shape}", allowed=f"(k, {warp.mesh.point_count})",
            )  # fmt: skip
        shapes = _shapes(warp, basis, rows, tolerance) if tolerance > 0 and _many(rows.shape[0], basis) else None
        seen = rows.toarray() if shapes is None else (rows.T @ shapes).T
        groups = Groups.of(warp) if groups is None else groups
        carried = seen @ warp.spread
        # Of the parts without fixed vertices the mean is taken from the modes themselves, not from the Laplacian.
        solved = warp.solve(seen - carried @ warp.means)
        weights = np.ascontiguousarray(solved[:, groups.vertices])
        modes = basis.shape[2]
        mean = (warp.means @ basis.reshape(len(basis), 3 * modes)).reshape(-1, 3 * modes)
        found = cls(
            _padded(basis), rows, shapes, seen @ warp.mesh.rest,
            (carried @ mean).reshape(len(seen), 3, modes), groups, weights,
        )  # fmt: skip
        if len(weights) > BACKWARDS:  # a part of the set-up, not of the first search
            _ = found._across, groups.links
        return found

    @property
    def rows(self) -> int:
        """Number of rows r."""
        return 3 * len(self.rest)

    def positions(self, q: Vector) -> tuple[Vector, Array]:
        """(r,) where the functionals are at modal coordinates q (d,) [m], and (r, d) the derivative."""
        modes = len(q)
        if len(self.rest) <= BACKWARDS:
            value, first, _ = self._backwards(False, q, q)
            return (self.rest + value + self.carried @ q).reshape(-1), first
        values, out = self._summed(False, q, q)
        value = self.rest + values + self.carried @ q
        return value.reshape(-1), (out[:, :, :modes] + self.carried).reshape(self.rows, -1)

    def places(self, q: Vector) -> Vector:
        """(r,) where the functionals are at q (d,) [m]: `positions` without the derivative, which costs most."""
        given = self.groups
        out = np.empty((min(SLOTS, len(given.starts) - 1), len(self.weights), 3))
        u = (self.basis.reshape(-1, self.basis.shape[2])[:, : len(q)] @ q).reshape(-1, 3)
        fill_places(
            u, given.tets, given.gradients, given.volumes, given.local, given.starts, given.vertex_starts, given.most,
            self._across, out,
        )  # fmt: skip
        return (self.rest + out.sum(axis=0) + self.carried @ q).reshape(-1)

    def speeds(self, q: Vector, v: Vector) -> Vector:
        """(r,) how fast they move where q changes at v (d,) [m/s]: `velocities` without derivatives."""
        given, flat = self.groups, self.basis.reshape(-1, self.basis.shape[2])[:, : len(q)]
        out = np.empty((min(SLOTS, len(given.starts) - 1), len(self.weights), 3))
        u, speed = (flat @ q).reshape(-1, 3), (flat @ v).reshape(-1, 3)
        fill_speeds(
            u, speed, given.tets, given.gradients, given.volumes, given.local, given.starts, given.vertex_starts,
            given.most, self._across, out,
        )  # fmt: skip
        return (out.sum(axis=0) + self.carried @ v).reshape(-1)

    def velocities(self, q: Vector, v: Vector) -> tuple[Vector, Array, Array]:
        """(r,) how fast they move where q changes at v (d,) [m/s], and (r, d) the derivatives by q and by v."""
        if len(self.rest) <= BACKWARDS:
            _, by_speed, by_place = self._backwards(True, q, v)
            return by_speed @ v, by_place, by_speed
        _, out = self._summed(True, q, v)
        modes, padded = len(q), self.basis.shape[2]
        by_speed = (out[:, :, :modes] + self.carried).reshape(self.rows, modes)
        return by_speed @ v, out[:, :, padded : padded + modes].reshape(self.rows, modes), by_speed

    def pulls(self, forces: Vector) -> Points:
        """(k, 3) what forces (r,) on the rows pull with at the groups' vertices."""
        return self.weights.T @ forces.reshape(-1, 3)

    def bend(self, q: Vector, forces: Vector) -> Array:
        """(d, d) the Hessian of forces (r,) · positions at q (d,); also that of forces · velocities by q and by v."""
        return self.bends(q, self.pulls(forces))

    @cached_property
    def bends(self) -> Bends:
        """Second derivatives of whatever is observed of this body in these modes."""
        return Bends.of(self.groups, np.ascontiguousarray(self.basis[:, :, : self.carried.shape[2]]))

    def linear(self) -> Array:
        """(r, d) the derivative at rest: the functionals of the modes as they are."""
        return self._linear

    @cached_property
    def _linear(self) -> Array:
        flat = self.functionals @ self.basis.reshape(len(self.basis), -1)
        seen = flat if self.shapes is None else self.shapes.T @ flat
        out = np.array(seen).reshape(self.rows, -1)[:, : self.carried.shape[2]]
        # What no mode does but for rounding (a free body's modes do not move its centre of mass) is not done at all.
        out[np.abs(out) < _ROUNDING * np.abs(out).max(initial=0.0)] = 0.0
        return out

    def goal(self, values: Array) -> Goal:
        """What rows should be for the functionals (k, 3) to be values; points [m] or velocities [m/s]."""
        if values.shape != (self.functionals.shape[0], 3):
            raise input_error(
                "a goal needs a row for every functional", where="observed", got=f"{values.shape}",
                allowed=f"({self.functionals.shape[0]}, 3)",
            )  # fmt: skip
        if self.shapes is None:
            return Goal(values.reshape(-1).astype(np.float64), 0.0)
        seen = self.shapes.T @ values
        return Goal(seen.reshape(-1), float(np.linalg.norm(values - self.shapes @ seen)))

    @cached_property
    def _across(self) -> Array:
        """(Σ vertices of groups, c) the weights, those of a group one after another."""
        return np.ascontiguousarray(self.weights.T)

    def _summed(self, speeds: bool, q: Vector, v: Vector) -> tuple[Array, Array]:
        """(c, 3) values, unless it is about speeds, and (c, 3, w) what the kernel sums."""
        given, modes, padded = self.groups, len(q), self.basis.shape[2]
        flat, links = self.basis.reshape(-1, padded)[:, :modes], given.links
        slots = min(SLOTS, len(given.starts) - 1)
        out = np.empty((slots, len(self.weights), 3 * padded * (2 if speeds else 1)))
        values = np.empty((slots, len(self.weights), 3))
        u = (flat @ q).reshape(-1, 3)
        speed = (flat @ v).reshape(-1, 3) if speeds else u
        fill_observed(
            speeds, u, speed, self.basis, given.tets, given.gradients, given.volumes, given.local, given.starts,
            given.vertex_starts, given.most, links.indptr, links.columns, links.slots, links.most, self._across,
            values, out,
        )  # fmt: skip
        return values.sum(axis=0), out.sum(axis=0).reshape(len(self.rest), 3, -1)

    def _backwards(self, speeds: bool, q: Vector, v: Vector) -> tuple[Points, Array, Array]:
        """(c, 3) values of Γᵀ(G − I), (r, d) their derivative, and (r, d) that of its product with v."""
        given, modes, count = self.groups, len(q), len(self.rest)
        flat = self.basis.reshape(-1, self.basis.shape[2])[:, :modes]
        u = (flat @ q).reshape(-1, 3)
        speed = (flat @ v).reshape(-1, 3) if speeds else u
        slots = min(FEW_SLOTS, len(given.tets))
        values, first = np.empty((slots, count, 3)), np.empty((slots, count, 3, *u.shape))
        second = np.empty_like(first) if speeds else np.empty((slots, count, 3, 0, 3))
        fill_few(
            speeds, u, speed, given.tets, given.gradients, given.volumes, given.places, self.weights, values, first,
            second,
        )  # fmt: skip
        by_speed = first.sum(axis=0).reshape(self.rows, -1) @ flat + self.carried.reshape(self.rows, modes)
        by_place = second.sum(axis=0).reshape(self.rows, -1) @ flat if speeds else by_speed
        return values.sum(axis=0), by_speed, by_place


def observed_vertices(
    warp: Warp, basis: Array, vertices: Integers, *, tolerance: float = 1e-6, groups: Groups | None = None
) -> Observed:
    """Observe vertices (k,), each with the root of its mass [√kg m]: the residual's square is that of the volume."""
    picked = np.asarray(vertices, dtype=np.int64)
    if not len(picked) or not 0 <= picked.min() <= picked.max() < warp.mesh.point_count:
        raise input_error("needs vertices of the body", where="observed", got=f"{len(picked)} vertices")
    shape = (len(picked), warp.mesh.point_count)
    rows = sparse.csr_array((np.sqrt(warp.mass[picked]), (np.arange(len(picked)), picked)), shape=shape)
    return Observed.of(warp, basis, rows, tolerance=tolerance, groups=groups)


def observed_centre(warp: Warp, basis: Array, *, groups: Groups | None = None) -> Observed:
    """Observe the centre of mass of the body [m]."""
    rows = sparse.csr_array(own_points((warp.mass / warp.mass.sum())[None]))
    return Observed.of(warp, basis, rows, groups=groups)


def _many(functionals: int, basis: Array) -> bool:
    """Whether there are more functionals than examples: else nearly all shapes over them are needed."""
    modes = basis.shape[2]
    return functionals > max(FEW, 4 + 3 * (modes + _EXAMPLES * (modes + 1)))


def _shapes(warp: Warp, basis: Array, rows: Sparse, tolerance: float) -> Array | None:
    """(k, c) orthonormal columns that span all the functionals do in examples, up to a tolerance; None where c = k.

    Examples are affine motions, the modes, and what the modes do (also to first order) in a few bent poses.
    """
    modes = basis.shape[2]
    each = np.ascontiguousarray(np.moveaxis(basis, 2, 0))
    fields = [np.concatenate([np.ones((len(basis), 1)), warp.mesh.rest - warp.mesh.rest.mean(axis=0)], axis=1)]
    fields += [_unit(rows, shape) for shape in each]
    generator = np.random.default_rng(modes)
    stiff = np.sqrt(np.mean(np.sum(np.square([warp.numbers(shape) for shape in each]), axis=2), axis=1))
    for _ in range(_EXAMPLES):
        pose = basis @ (generator.normal(size=modes) / np.maximum(stiff, 1e-9 * stiff.max()))
        turned = np.sqrt(np.mean(np.sum(warp.numbers(pose)[:, :3] ** 2, axis=1)))
        pose *= _ANGLE / max(float(turned), 1e-9)
        moved = warp.velocities(pose, each)
        fields += [_unit(rows, one) for one in (warp.displacements(pose), *moved)]
    fields[0] = rows @ (fields[0] / max(float(np.abs(fields[0]).max()), 1e-300))
    left, size, _ = np.linalg.svd(np.concatenate(fields, axis=1), full_matrices=False)
    kept = size > tolerance * size[0]
    return None if kept.all() and left.shape[0] == left.shape[1] else np.ascontiguousarray(left[:, kept])


def _padded(basis: Array) -> Array:
    """(n, 3, w) modes (n, 3, d) with columns of nothing behind them."""
    modes = basis.shape[2]
    out = np.zeros((*basis.shape[:2], WIDE * -(-modes // WIDE)))
    out[:, :, :modes] = basis
    return out


def _unit(rows: Sparse, field: Array) -> Array:
    """(k, 3) the functionals of a field (n, 3) whose largest number at the body's vertices is one."""
    return rows @ (field / max(float(np.abs(field).max()), 1e-300))
