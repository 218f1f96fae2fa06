"""Handles: vertices of a soft body's surface that are taken somewhere, and the interior with them.

A handle may have far more vertices than the lattice under it has nodes, so not every vertex is a condition of its own:
what the nodes can do at all is held, the singular vectors of the handles' rows B = U S Vᵀ. Goals are first what an
affine motion fitted to each handle does to the nodes, which is exact for moves, turns and stretches where no node is
two handles' (they are two cells apart); what that leaves is added only where B feels it well, for to a weak singular
value belong nodes far outside. The report says how far other motions are missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Integers, Points, Sparse, Vector, input_error, real_array
from bunraku.geometry import Lattice, TriMesh, first_few
from bunraku.motion import Animation, Path

Motion = Path | Animation[Any] | Callable[[float], Array]
"""of a handle: a path of its middle, with turns about it; an animation of the surface; or time [s] → (v, 3) [m]"""
_WEAKEST, _FELT = 1e-9, 1e-3
"""of the largest singular value: below, a combination of nodes is none of the handles'; above, it is felt well"""
_MOST = 2e7
"""vertices times nodes of all handles together: more take minutes to be sorted out"""


@dataclass(frozen=True, eq=False, init=False)
class Handle:
    """Vertices of the surface, and where they go."""

    vertices: Integers
    """(v,)"""
    motion: Motion

    def __init__(self, vertices: ArrayLike, motion: Motion) -> None:
        try:
            which = real_array(vertices).reshape(-1)
        except (TypeError, ValueError):
            which = np.array([np.nan])
        if not len(which) or not np.isfinite(which).all() or (which != np.floor(which)).any():
            raise input_error(
                "a handle takes hold of vertices by their numbers", where="handle.vertices", got=repr(vertices)[:60],
                allowed="one or more whole numbers",
            )  # fmt: skip
        if not isinstance(motion, Path | Animation) and not callable(motion):
            raise input_error(
                "a handle has a motion", where="handle.motion", got=type(motion).__name__,
                allowed="a Path, an Animation of the surface, or a function of time that gives (v, 3) points",
            )  # fmt: skip
        if len(np.unique(which)) < len(which):
            raise input_error("a handle takes hold of each vertex once", where="handle.vertices", got="the same twice")
        object.__setattr__(self, "vertices", which.astype(np.int64))
        object.__setattr__(self, "motion", motion)

    def check(self, mesh: TriMesh, name: str) -> None:
        """Refuse what does not fit a surface."""
        absent = self.vertices[(self.vertices < 0) | (self.vertices >= mesh.point_count)]
        if len(absent):
            raise input_error(
                "the surface has no such vertices", where=f"{name}.vertices", got=first_few(absent),
                allowed=f"0 to {mesh.point_count - 1}",
            )  # fmt: skip
        if isinstance(self.motion, Animation) and self.motion.mesh.point_count != mesh.point_count:
            raise input_error(
                "the animation is of another surface", where=f"{name}.motion",
                got=f"{self.motion.mesh.point_count} vertices", allowed=f"{mesh.point_count}",
            )  # fmt: skip

    def goals(self, mesh: TriMesh, time: float) -> Points:
        """(v, 3) [m] where its vertices are to be at a time [s]."""
        if isinstance(self.motion, Animation):
            return self.motion.at(time)[self.vertices]
        if not isinstance(self.motion, Path):
            return real_array(self.motion(time))
        rest = mesh.rest[self.vertices]
        return self.motion.at(time) + (rest - rest.mean(axis=0)) @ self.motion.rotation(time).T


@dataclass(frozen=True, eq=False)
class Held:
    """All handles of a body as conditions on the nodes of its lattice."""

    lattice: Lattice
    handles: Sequence[Handle]

    def goals(self, time: float) -> Points:
        """(v, 3) of all handles' vertices, one handle after another [m]."""
        return np.concatenate([self._goals(k, time) for k in range(len(self.handles))])

    def _goals(self, k: int, time: float) -> Points:
        """(v, 3) of one handle, checked: a motion may be anything."""
        one, where = self.handles[k], f"handles[{k}].motion"
        try:
            points = one.goals(self.lattice.surface, time)
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise input_error(
                "a handle's motion gives no points", where=where, got=f"{type(error).__name__}: {error} at {time:g} s",
                allowed=f"an array {(len(one.vertices), 3)}",
            ) from error  # fmt: skip
        if points.shape != (len(one.vertices), 3):
            raise input_error(
                "a handle's motion gives a point for each of its vertices", where=where,
                got=f"shape {points.shape} at {time:g} s", allowed=str((len(one.vertices), 3)),
            )  # fmt: skip
        if not np.isfinite(points).all():
            raise input_error("a handle goes to points that are no numbers", where=where, got=f"at {time:g} s")
        return points

    def constraint(self, masses: Vector) -> LinearConstraint:
        """For nodes of lumped masses (n,) [kg]."""
        rows, pull = self._rows
        jacobian = average_jacobian(rows)
        count, rest = jacobian.shape[0], self.lattice.surface.rest[self.vertices]
        still = rows @ self.lattice.rest
        return LinearConstraint(
            jacobian, lambda time: (still + pull @ (self.goals(time) - rest)).reshape(-1), lambda time: np.ones(count),
            felt_mass(jacobian, masses),
        )  # fmt: skip

    def missed(self, q: Points, time: float) -> Vector:
        """(h,) [m] how far the farthest vertex of each handle is from where it is to be, with nodes at q (n, 3)."""
        return self.farthest(self.lattice.points(q), time)

    def farthest(self, surface: Points, time: float) -> Vector:
        """(h,) [m] the same of a surface (n_surface, 3)."""
        away = np.linalg.norm(surface[self.vertices] - self.goals(time), axis=1)
        return np.maximum.reduceat(away, self._begins)

    def summed(self, forces: Points) -> Points:
        """(h, 3) of each handle, from those at the vertices of all (v, 3)."""
        return np.add.reduceat(forces, self._begins, axis=0)

    @cached_property
    def vertices(self) -> Integers:
        """(v,) of all handles, one after another."""
        return np.concatenate([one.vertices for one in self.handles])

    @cached_property
    def _begins(self) -> Integers:
        return np.cumsum([0, *(len(one.vertices) for one in self.handles)])[:-1]

    @cached_property
    def _rows(self) -> tuple[Sparse, Array]:
        """Sparse (r, n) what of the nodes is held, and (r, v) how the vertices' displacements move it."""
        chosen = self.lattice.embedding[self.vertices]
        used = np.unique(chosen.indices)
        if len(self.vertices) * len(used) > _MOST:
            raise input_error(
                "handles take hold of too many vertices", where="handles",
                got=f"{len(self.vertices)} vertices, {len(used)} nodes", allowed=f"up to {_MOST:.0e} of their product",
                remedy="smaller handles, or larger cells",
            )  # fmt: skip
        felt = chosen[:, used].toarray()
        some = np.abs(felt).sum(axis=0) > 0.0  # B may hold zeros
        felt, used = felt[:, some], used[some]
        left, size, right = np.linalg.svd(felt, full_matrices=False)
        kept, well = size > _WEAKEST * size.max(), size > _FELT * size.max()
        affine = self._affine(felt, used)
        pull = right @ affine
        towards = left[:, well].T / size[well, None]
        pull[well] += towards - (towards @ felt) @ affine
        held = right[kept]
        columns = np.broadcast_to(used, held.shape)
        begins = np.arange(len(held) + 1) * len(used)
        shape = (len(held), self.lattice.point_count)
        return sparse.csr_array((held.reshape(-1), columns.reshape(-1), begins), shape=shape), pull[kept]

    def _affine(self, felt: Array, used: Integers) -> Array:
        """(nodes, v) displacements of nodes by the affine motions that fit those of the handles' vertices; a node of
        two handles takes part in both as their vertices feel it (v, nodes)."""
        nodes, rest = self.lattice.rest[used], self.lattice.surface.rest[self.vertices]
        out, total = np.zeros((len(used), len(rest))), np.abs(felt).sum(axis=0)
        for begin, end in pairwise([*self._begins, len(rest)]):
            middle = rest[begin:end].mean(axis=0)
            fit = np.linalg.pinv(np.column_stack([np.ones(end - begin), rest[begin:end] - middle]))
            share = np.abs(felt[begin:end]).sum(axis=0) / total
            out[:, begin:end] = share[:, None] * (np.column_stack([np.ones(len(nodes)), nodes - middle]) @ fit)
        return out
