"""Test functions without places: the longest natural waves of a mesh, eigenvectors of its Laplacian.

They are the smoothest functions there are of a number, and independent as they are found; but each of them is all over
the mesh, and so is what they let through [Remillard 2013, §3.2].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Sparse, Vector, input_error, is_between, need
from bunraku.geometry import TriMesh, cotangent_laplacian, lumped_mass
from bunraku.numerics import lowest_eigenpairs

from .regions import warn_of_edges
from .test_functions import TestFunctions

_SAME = 1e-6
"""share of an eigenvalue within which another is a copy of it: copies are taken together or not at all"""
_MOST = 4000
"""eigenvectors: each is as long as the mesh has vertices"""


@dataclass(frozen=True, eq=False)
class SpectralTests(TestFunctions):
    """Eigenvectors as test functions. All but the first add up to nothing, so each is divided by what its absolute
    values add up to: a residual is still a length."""

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """Weights (k, n_guide) and (k, n_shell) of the moments that must agree."""
        return _moments(self.guide, guide), _moments(self.shell, shell)


def _moments(functions: Sparse, mesh: TriMesh) -> Sparse:
    if functions.shape[1] != mesh.point_count:
        raise input_error(
            "test functions belong to another mesh", got=f"{functions.shape[1]} vertices", allowed=f"{mesh.point_count}"
        )
    weighted = functions @ sparse.diags_array(lumped_mass(mesh))
    total = np.asarray(abs(weighted).sum(axis=1)).reshape(-1)
    return sparse.csr_array(sparse.diags_array(1.0 / total) @ weighted)


def spectral(guide: TriMesh, width: float, *, threads: int | None = None) -> SpectralTests:
    """All natural waves of a mesh with at least `width` [m] from a crest to the next trough: about as many as there
    are `gaussians` of that width."""
    need(TriMesh, "guide", guide, remedy="guide.mesh")
    if not is_between(width, np.nextafter(0.0, 1.0), np.finfo(np.float64).max):
        raise input_error("the width of test functions must be a length above zero", got=repr(width))
    warn_of_edges("width", float(width), guide)
    mass = lumped_mass(guide)
    used = np.flatnonzero(mass > 0.0)
    laplacian = sparse.csr_array(cotangent_laplacian(guide)[used][:, used])
    vectors = _long_waves(laplacian, mass[used], (np.pi / float(width)) ** 2, threads)
    values = np.zeros((vectors.shape[1], guide.point_count))
    values[:, used] = vectors.T
    functions = sparse.csr_array(values)
    return SpectralTests(functions, functions, sparse.eye_array(guide.point_count, format="csr"))


def _long_waves(laplacian: Sparse, mass: Vector, highest: float, threads: int | None) -> Array:
    """(n, k) all eigenvectors with eigenvalues up to `highest` [1/m²]."""
    size = len(mass)
    wanted = int(mass.sum() * highest / (4.0 * np.pi)) + 16  # Weyl's law, and some more: a border adds to it
    while True:
        if min(wanted, size) > _MOST:
            raise input_error(
                "the test functions are too narrow for this mesh", got=f"about {wanted} of them",
                allowed=f"up to {_MOST}", remedy="a larger width",
            )  # fmt: skip
        found = lowest_eigenpairs(laplacian, mass, min(wanted, size), threads=threads)
        above = np.flatnonzero(found.values > highest)
        if len(above) or wanted >= size:
            break
        wanted *= 2
    first = int(above[0]) if len(above) else size
    while 0 < first < len(found.values) and found.values[first] - found.values[first - 1] <= _SAME * highest:
        first -= 1  # a copy is cut off: none of its kind
    return found.vectors[:, :first]
