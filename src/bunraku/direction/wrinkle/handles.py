"""Handles: vertices of a soft body's surface that are taken somewhere, and the interior with them.

A handle may have far more vertices than the lattice under it has nodes, so not every vertex is a condition of its own:
what the nodes can do at all is held (the singular vectors of the handles' rows of B), as near to the goals as that
goes. Moves, turns and every other affine motion of a handle are met exactly; the report says how far others are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
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
_WEAKEST = 1e-3
"""of the largest singular value: what nodes feel less than that of the handles is left to the body"""


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
        object.__setattr__(self, "vertices", np.unique(which.astype(np.int64)))
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
        if np.shape(self.goals(mesh, 0.0)) != (len(self.vertices), 3):
            raise input_error(
                "a handle's motion gives a point for each of its vertices", where=f"{name}.motion",
                got=f"shape {np.shape(self.goals(mesh, 0.0))}", allowed=str((len(self.vertices), 3)),
            )  # fmt: skip

    def goals(self, mesh: TriMesh, time: float) -> Points:
        """(v, 3) [m] where its vertices are to be at a time [s]."""
        if isinstance(self.motion, Animation):
            return self.motion.at(time)[self.vertices]
        if not isinstance(self.motion, Path):
            return np.asarray(self.motion(time), dtype=np.float64)
        rest = mesh.rest[self.vertices]
        return self.motion.at(time) + (rest - rest.mean(axis=0)) @ self.motion.rotation(time).T


@dataclass(frozen=True, eq=False)
class Held:
    """All handles of a body as conditions on the nodes of its lattice."""

    lattice: Lattice
    handles: Sequence[Handle]

    def goals(self, time: float) -> Points:
        """(v, 3) of all handles' vertices, one handle after another [m]."""
        each = [one.goals(self.lattice.surface, time) for one in self.handles]
        points = np.concatenate(each)
        if not np.isfinite(points).all():
            which = next(k for k, one in enumerate(each) if not np.isfinite(one).all())
            raise input_error(
                "a handle goes to points that are no numbers", where=f"handles[{which}].motion", got=f"at {time:g} s"
            )
        return points

    def constraint(self, masses: Vector) -> LinearConstraint:
        """For nodes of lumped masses (n,) [kg]."""
        rows, pull = self._rows
        jacobian = average_jacobian(rows)
        count = jacobian.shape[0]
        return LinearConstraint(
            jacobian, lambda time: (pull @ self.goals(time)).reshape(-1), lambda time: np.ones(count),
            felt_mass(jacobian, masses),
        )  # fmt: skip

    def missed(self, q: Points, time: float) -> Vector:
        """(h,) [m] how far the farthest vertex of each handle is from where it is to be, with nodes at q (n, 3)."""
        away = np.linalg.norm(self.lattice.points(q)[self._vertices] - self.goals(time), axis=1)
        return np.maximum.reduceat(away, self._begins)

    @cached_property
    def _vertices(self) -> Integers:
        return np.concatenate([one.vertices for one in self.handles])

    @cached_property
    def _begins(self) -> Integers:
        return np.cumsum([0, *(len(one.vertices) for one in self.handles)])[:-1]

    @cached_property
    def _rows(self) -> tuple[Sparse, Array]:
        """Sparse (r, n) what of the nodes is held, and (r, v) the goals' part in it."""
        chosen = self.lattice.embedding[self._vertices]
        used = np.unique(chosen.indices)
        left, size, right = np.linalg.svd(chosen[:, used].toarray(), full_matrices=False)
        kept = size > _WEAKEST * size.max()
        spread = np.zeros((int(kept.sum()), self.lattice.point_count))
        spread[:, used] = right[kept]
        return sparse.csr_array(spread), left[:, kept].T / size[kept, None]
