"""What a solid's law must know of its rest shape: gradients of the corner functions, and volumes."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from bunraku.contracts import Array, Vector, input_error
from bunraku.geometry import TetMesh, check_tets, tet_gradients
from bunraku.geometry.gradients import invert, own_points, tet_edges
from bunraku.motion import ShapeMotion
from bunraku.numerics.jacobi import LANES, put_lane, signed_svd

SMALLEST_STRETCH = 0.05
"""of a rest element over that of the mesh, in any direction: what is thinner, or inside out, is taken for this thin"""


@dataclass(frozen=True, eq=False)
class SolidRest:
    """The rest shape of a tetrahedral mesh over time.

    The mesh itself must be sound (`check_tets`). A rest shape that moves may squash some of its elements flat or turn
    them inside out on its way. Such an element is replaced by the nearest sound one: of its deformation from the mesh's
    own rest shape, principal stretches below `SMALLEST_STRETCH` are raised to it, which changes nothing elsewhere.
    """

    mesh: TetMesh
    motion: ShapeMotion | None = None

    def __post_init__(self) -> None:
        check_tets(self.mesh)

    @property
    def constant(self) -> bool:
        """Whether the shape never changes."""
        return self.motion is None or self.motion.constant

    def at(self, time: float) -> tuple[Array, Vector]:
        """Gradients (m, 3, 3) [1/m] of the functions of corners 1, 2, 3, and volumes (m,) [m³], at a time [s]."""
        if self.motion is None:
            return tet_gradients(self.mesh.rest, self.mesh.tets)
        shape = own_points(self.motion.at(time))
        finite = bool(np.isfinite(shape).all())
        if shape.shape != self.mesh.rest.shape or not finite:
            raise input_error(
                "a rest shape must be finite points, one row a vertex", where=f"at {time:g} s",
                got=f"{shape.shape}, finite: {'yes' if finite else 'no'}", allowed=f"({self.mesh.point_count}, 3)",
            )  # fmt: skip
        count = len(self.mesh.tets)
        gradients, volumes = np.empty((count, 3, 3)), np.empty(count)
        _sound_gradients(shape, self.mesh.rest, self.mesh.tets, SMALLEST_STRETCH, gradients, volumes)
        return gradients, volumes


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _sound_gradients(shape, rest, tets, least, gradients, volumes):
    for chunk in numba.prange((len(tets) + LANES - 1) // LANES):
        edges, own, inverse, change = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        f, u, s, v = np.zeros(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        first, count = chunk * LANES, min(LANES, len(tets) - chunk * LANES)
        for lane in range(count):
            tet_edges(rest, tets[first + lane], own)
            invert(own, inverse)
            tet_edges(shape, tets[first + lane], edges)
            _multiply(edges, inverse, change)
            put_lane(change, lane, f)
        signed_svd(f, u, s, v)
        for lane in range(count):
            e = first + lane
            tet_edges(shape, tets[e], edges)
            if s[2 * LANES + lane] < least:
                _raise_stretches(u, s, v, lane, least, change)
                tet_edges(rest, tets[e], own)
                _multiply(change, own, edges)
            volumes[e] = invert(edges, gradients[e]) / 6.0


@numba.njit(cache=True, error_model="numpy")
def _raise_stretches(u, s, v, lane, least, out):
    """U max(diag(s), least) Vᵀ of one lane."""
    for i in range(3):
        for k in range(3):
            out[i, k] = 0.0
            for j in range(3):
                stretch = max(s[j * LANES + lane], least)
                out[i, k] += u[(3 * j + i) * LANES + lane] * stretch * v[(3 * j + k) * LANES + lane]


@numba.njit(cache=True, error_model="numpy")
def _multiply(a, b, out):
    for i in range(3):
        for k in range(3):
            out[i, k] = a[i, 0] * b[0, k] + a[i, 1] * b[1, k] + a[i, 2] * b[2, k]
