"""The rotation-strain warp: from a displacement in which turns are linearised to the deformation that is meant.

Linear modes shear and swell a body that turns. W(u) is the displacement whose gradients are nearest, in the mean over
the volume, to G − I with G = exp([ω]×) S of every tetrahedron (`warp_kernels.py`) [Schulz 2014, §6]:

    L W(u) = Γᵀ (G(u) − I),

with L the Laplacian of the rest shape: one scalar factorisation serves x, y and z. W is the identity to first order,
turns every linearised rotation into the rotation itself, at any angle, and leaves fixed vertices where they are. A part
without fixed vertices keeps the mean displacement, by mass, that u gives it; so translations pass as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Factorisation, Integers, Points, Sparse, Vector, alike, input_error
from bunraku.geometry import TetMesh, check_tets, tet_gradients, tet_laplacian
from bunraku.geometry.gradients import own_points
from bunraku.numerics import Scatter, choose, order_of, upper_triangle

from .warp_along_kernels import fill_along
from .warp_kernels import fill_numbers, fill_pushes, fill_rows

ONE_THREAD = 4096
"""tetrahedra of which one thread is done before several are woken"""


@dataclass(frozen=True, eq=False)
class Warp:
    """The warp of a body. Displacements are (n, 3), or (r, n, 3) for many at once [m]."""

    mesh: TetMesh
    mass: Vector
    """(n,) [kg]"""
    fixed: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """(f,) vertices that stay where they are"""
    gradients: Array = field(init=False, repr=False)
    """(m, 3, 3) of the functions of corners 1, 2, 3 [1/m]"""
    volumes: Vector = field(init=False, repr=False)
    """(m,) [m³]"""
    free: Integers = field(init=False, repr=False)
    """(f,) vertices that are solved for: all but the fixed ones, and one of each part that has none"""
    means: Sparse = field(init=False, repr=False)
    """(p, n) CSR: the mean by mass of each part without fixed vertices"""
    spread: Sparse = field(init=False, repr=False)
    """(n, p) CSR: one at the vertices of each such part"""
    _factor: Factorisation = field(init=False, repr=False)
    _scatter: Scatter = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_tets(self.mesh)
        fixed = np.unique(np.asarray(self.fixed, dtype=np.int64))
        count = self.mesh.point_count
        if len(fixed) and not 0 <= fixed[0] <= fixed[-1] < count:
            raise input_error("is no vertex", where="fixed", got=int(fixed[-1]), allowed=f"0 to {count - 1}")
        if len(fixed) == count:
            raise input_error("all vertices are fixed, so nothing can move", where="fixed", got=f"{count} of {count}")
        object.__setattr__(self, "fixed", fixed)
        gradients, volumes = tet_gradients(self.mesh.rest, self.mesh.tets)
        object.__setattr__(self, "gradients", gradients)
        object.__setattr__(self, "volumes", volumes)
        object.__setattr__(self, "_scatter", Scatter.of(self.mesh.tets, count))
        self._take_parts()
        self._factorise()

    def _take_parts(self) -> None:
        """Parts without fixed vertices are held by one vertex while the Laplacian is solved, then moved as a whole."""
        count = self.mesh.point_count
        part = np.empty(count, dtype=np.int64)
        part[self.mesh.tets] = self.mesh.parts[:, None]
        loose = np.setdiff1d(np.arange(self.mesh.part_count), part[self.fixed])
        number = np.full(self.mesh.part_count, -1)
        number[loose] = np.arange(len(loose))
        own = np.flatnonzero(number[part] >= 0)
        of_own = number[part[own]]
        total = np.bincount(of_own, self.mass[own], minlength=len(loose))
        shape = (len(loose), count)
        means = sparse.csr_array((self.mass[own] / total[of_own], (of_own, own)), shape=shape)
        spread = sparse.csr_array((np.ones(len(own)), (own, of_own)), shape=shape[::-1])
        holding = own[np.unique(of_own, return_index=True)[1]]
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "spread", spread)
        object.__setattr__(self, "free", np.setdiff1d(np.arange(count), np.concatenate([self.fixed, holding])))

    def _factorise(self) -> None:
        laplacian = tet_laplacian(self.mesh)
        indptr, indices, values = upper_triangle(laplacian[self.free][:, self.free])
        factor = choose(positive=True, telling=True)
        if len(self.free):
            factor.analyse(indptr, indices)
            factor.factor(values)
        object.__setattr__(self, "_factor", factor)

    @property
    def order(self) -> Integers | None:
        """(v,) of elimination of vertices that are not fixed, which suits all that couples neighbours; where every part
        has fixed ones, and the solver tells it."""
        return None if self.means.shape[0] or not len(self.free) else order_of(self._factor)

    def points(self, u: Array) -> Array:
        """Where the vertices are: rest + W(u) [m]."""
        return self.mesh.rest + self.displacements(u)

    def displacements(self, u: Array) -> Array:
        """W(u) [m]."""
        return self.integrated(self._pushes(0, u), u)

    def along(self, u: Array, directions: Array) -> Array:
        """(n, r) how far displacements u (n, 3, r), warped, go along a direction (3,) each, of (3, r) [m]."""
        asked = np.empty((len(u), u.shape[2]))
        fill_along(u, directions, self.mesh.tets, self.gradients, self.volumes, asked)
        solved = self.solve(asked.T).T
        if self.means.shape[0]:
            solved += self.spread @ (self.means @ (np.einsum("nir,ir->nr", u, directions) - solved))
        return solved

    def velocities(self, u: Array, v: Array) -> Array:
        """DW(u) v [m/s]: how the vertices move where u changes at v; one u (n, 3) may stand for many v."""
        return self.integrated(self._pushes(1, u, v), v)

    def accelerations(self, u: Array, v: Array, a: Array) -> Array:
        """D²W(u)[v, v] + DW(u) a [m/s²]."""
        return self.integrated(self._pushes(2, u, v, v) + self._pushes(1, u, a), a)

    def curvatures(self, u: Array, v: Array, w: Array) -> Array:
        """D²W(u)[v, w]: how `velocities(u, v)` changes where u changes at w."""
        return self.integrated(self._pushes(2, u, v, w), np.zeros_like(u))

    def numbers(self, u: Points) -> Array:
        """(m, 9) rotation vector and stretch less I of a displacement (n, 3) in every tetrahedron."""
        out = np.empty((len(self.mesh.tets), 9))
        fill_numbers(own_points(u), alike(self.mesh.tets), self.gradients, out)
        return out

    def asked(self, order: int, own: Array, first: Array, second: Array) -> Points:
        """(n, 3) Γᵀ of G − I, DG[first] or D²G[first, second], by the order, at nine numbers (m, 9) each [m²]."""
        local = np.empty((len(self.mesh.tets), 4, 3))
        fill_pushes(order, own, first, second, self.gradients, self.volumes, local)
        return self.scattered(local)

    def scattered(self, local: Array) -> Points:
        """(n, 3) what tetrahedra ask of their corners (m, 4, 3), summed at the vertices."""
        return self._scatter.sum(local)

    def _pushes(self, order: int, u: Array, v: Array | None = None, w: Array | None = None) -> Array:
        """As `asked`, for displacements of one shape (…, n, 3), or one u for all of them."""
        out = np.empty(u.shape if v is None else v.shape)
        rows = out.size // (3 * self.mesh.point_count)
        if w is None and (rows > 1 or len(self.mesh.tets) <= ONE_THREAD):
            self._fill_rows(order, u, u if v is None else v, out)
            return out
        once = self.numbers(u) if u.ndim == 2 else None
        for k in np.ndindex(out.shape[:-2]):
            own = self.numbers(u[k]) if once is None else once
            first = own if v is None else self.numbers(v[k])
            out[k] = self.asked(order, own, first, first if w is None else self.numbers(w[k]))
        return out

    def _fill_rows(self, order: int, u: Array, v: Array, out: Array) -> None:
        shape = (-1, self.mesh.point_count, 3)
        own, along = (own_points(one.reshape(shape)) for one in (u, v))
        fill_rows(order, own, along, alike(self.mesh.tets), self.gradients, self.volumes, out.reshape(shape))

    def solve(self, rows: Array) -> Array:
        """(r, n) L⁻¹ of each row (r, n), which is read at the free vertices; zero elsewhere."""
        out = np.zeros(rows.shape)
        if len(self.free):
            out[:, self.free] = self._factor.solve(np.ascontiguousarray(rows[:, self.free]))
        return out

    def integrated(self, asked: Array, u: Array) -> Array:
        """L⁻¹ of what is asked (…, n, 3), parts without fixed vertices moved as u moves them in the mean."""
        count = self.mesh.point_count
        solved = self.solve(np.swapaxes(asked, -1, -2).reshape(-1, count))
        if self.means.shape[0]:
            wanted = np.swapaxes(u, -1, -2).reshape(-1, count) - solved
            solved += (self.spread @ (self.means @ wanted.T)).T
        return np.ascontiguousarray(np.swapaxes(solved.reshape(*asked.shape[:-2], 3, count), -1, -2))
