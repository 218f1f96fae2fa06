"""Test functions: at what scale the shell must obey the guide [Bergou 2007, §4.1–4.2]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, Sparse, input_error
from bunraku.geometry import TriMesh, area_mass_matrix, first_few, subdivide


class Tests(Protocol):
    """Test functions, as `hierarchy`, `clusters`, `painted` or `pointwise` make them."""

    @property
    def count(self) -> int: ...

    @property
    def prolongation(self) -> Sparse | None: ...

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]: ...


@dataclass(frozen=True, eq=False)
class TestFunctions:
    """Corresponding test functions on a guide and on a shell, by their vertex values."""

    __test__ = False  # not a pytest class

    guide: Sparse
    """(k, n_guide) CSR values on the guide's vertices"""
    shell: Sparse
    """(k, n_shell) CSR values on the shell's vertices"""
    prolongation: Sparse | None = None
    """(n_shell, n_guide) how the guide's pose becomes the shell's, where the two correspond point by point"""

    def __post_init__(self) -> None:
        guide: Sparse = sparse.csr_array(self.guide)
        shell: Sparse = sparse.csr_array(self.shell)
        if guide.shape[0] != shell.shape[0]:
            raise input_error(
                "guide and shell must have the same number of test functions",
                got=(guide.shape[0], shell.shape[0]),
            )
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "shell", shell)

    @property
    def count(self) -> int:
        """Number of test functions k."""
        return self.guide.shape[0]

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """Weights (k, n_guide) and (k, n_shell) of the averages that must agree.

        C̄ = S̄ 𝓜̄ and C = S 𝓜, rows of C rescaled to C̄'s sums by eq. (8), then both divided by
        those sums: each row averages, so its multiplier is the force on the region in newtons.
        """
        given = self.guide.shape[1], self.shell.shape[1]
        if given != (guide.point_count, shell.point_count):
            raise input_error(
                "test functions belong to other meshes", got=f"{given[0]} guide and {given[1]} shell vertices",
                allowed=f"{guide.point_count} and {shell.point_count}",
            )  # fmt: skip
        return _unit_rows(self.guide @ area_mass_matrix(guide)), _unit_rows(self.shell @ area_mass_matrix(shell))


def _unit_rows(matrix: Sparse) -> Sparse:
    total = np.asarray(matrix.sum(axis=1)).reshape(-1)
    empty = np.flatnonzero(~(np.abs(total) > 0))
    if len(empty):
        raise input_error(
            "test functions without any weight", where=f"regions {first_few(empty)}",
            remedy="every region needs at least one vertex on the guide and on the shell",
        )  # fmt: skip
    return sparse.csr_array(sparse.diags_array(1.0 / total) @ matrix)


def hierarchy(guide: TriMesh, levels: int) -> tuple[TriMesh, TestFunctions]:
    """The guide subdivided `levels` times, and the guide's own hat functions as test functions.

    The shell keeps the guide's vertices first, in their order.
    """
    shell, prolongation = subdivide(guide, levels)
    identity = sparse.eye_array(guide.point_count, format="csr")
    return shell, TestFunctions(identity, sparse.csr_array(prolongation.T), prolongation)


def pointwise(guide: TriMesh, shell: TriMesh, pairs: Integers) -> PointTests:
    """Vertex-to-vertex conditions, for comparison only: `pairs` (k, 2) guide vertex, shell vertex."""
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise input_error("pairs must be whole numbers of shape (k, 2)", got=f"{pairs.dtype} {pairs.shape}")
    for column, (name, count) in enumerate((("guide", guide.point_count), ("shell", shell.point_count))):
        outside = pairs[(pairs[:, column] < 0) | (pairs[:, column] >= count), column]
        if len(outside):
            raise input_error(
                f"pairs name vertices the {name} has not", got=first_few(outside), allowed=f"0 to {count - 1}"
            )
    return PointTests(pairs[:, 0], pairs[:, 1], guide.point_count, shell.point_count)


@dataclass(frozen=True, eq=False)
class PointTests:
    """Interpolating conditions: no averaging, hence the tugging the averages avoid."""

    guide_vertices: Integers
    """(k,)"""
    shell_vertices: Integers
    """(k,)"""
    guide_count: int
    shell_count: int
    prolongation: None = None

    @property
    def count(self) -> int:
        """Number of pairs k."""
        return len(self.guide_vertices)

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """One vertex each."""
        rows = np.arange(self.count)
        one = np.ones(self.count)
        return (
            sparse.csr_array((one, (rows, self.guide_vertices)), shape=(self.count, self.guide_count)),
            sparse.csr_array((one, (rows, self.shell_vertices)), shape=(self.count, self.shell_count)),
        )
