"""Direct solvers for machines without MKL: qdldl (quasi-definite LDLᵀ), then SciPy's SuperLU for tiny systems."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.contracts import Array, Integers, Vector

from .pardiso import FactorisationError


class Qdldl:
    """LDLᵀ without pivoting: fits quasi-definite matrices, one thread."""

    name = "qdldl, 1 thread"

    def analyse(self, indptr: Integers, indices: Integers) -> None:
        """Take the pattern; the ordering is computed with the first factor and kept."""
        self._indptr, self._indices = indptr, indices
        self._solver = None

    def factor(self, values: Vector) -> None:
        """Factorise for the values (nnz,) of the pattern."""
        import qdldl

        size = len(self._indptr) - 1
        # The upper triangle in CSC is the transpose of the lower one in CSR: transpose, re-sort.
        matrix = sparse.csr_matrix((values, self._indices, self._indptr), shape=(size, size)).tocsc()
        try:
            if self._solver is None:
                self._solver = qdldl.Solver(matrix, upper=True)
            else:
                self._solver.update(matrix, upper=True)
        except Exception as problem:
            raise FactorisationError(f"qdldl: {problem}") from problem

    def solve(self, b: Array) -> Array:
        """Solve A y = b for b (N,), or for each row of b (r, N)."""
        assert self._solver is not None
        if b.ndim == 2:
            return np.array([self._solver.solve(row) for row in np.ascontiguousarray(b)]).reshape(b.shape)
        return np.asarray(self._solver.solve(b))

    def inertia(self) -> tuple[int, int]:
        """Numbers of positive and negative pivots of the last factor."""
        assert self._solver is not None
        _, d, _ = self._solver.factors()
        return int((d > 0).sum()), int((d < 0).sum())


class SuperLu:
    """General LU from SciPy: always there, slow on large systems."""

    name = "SciPy SuperLU, 1 thread"

    def analyse(self, indptr: Integers, indices: Integers) -> None:
        """Take the pattern."""
        self._indptr, self._indices = indptr, indices

    def factor(self, values: Vector) -> None:
        """Factorise for the values (nnz,) of the pattern."""
        size = len(self._indptr) - 1
        upper = sparse.csr_matrix((values, self._indices, self._indptr), shape=(size, size))
        full = (upper + sparse.triu(upper, 1).T).tocsc()
        try:
            self._solver = splu(
                full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError as problem:
            raise FactorisationError(f"SuperLU: {problem}") from problem

    def solve(self, b: Array) -> Array:
        """Solve A y = b for b (N,), or for every row of b (r, N)."""
        return np.ascontiguousarray(self._solver.solve(np.ascontiguousarray(b.T)).T)

    def inertia(self) -> tuple[int, int]:
        """Signs of U's diagonal; right when no pivoting happened."""
        d = self._solver.U.diagonal()
        return int((d > 0).sum()), int((d < 0).sum())
