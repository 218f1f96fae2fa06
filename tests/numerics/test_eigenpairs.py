"""The lowest eigenpairs: all of them, every copy, the same each time, whatever solver is installed."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from bunraku.contracts import InputError, Sparse
from bunraku.numerics import (
    choose,
    eigenpairs,
    eigenpairs_large,
    installed,
    lowest_eigenpairs,
    one_blas_thread,
    upper_triangle,
)
from bunraku.numerics.threads import _blas_controls


def grid_laplacian(side: int, hold: float = 0.0) -> Sparse:
    """Of a cube of side³ points with free ends: those of three directions add up, so most come three or six times."""
    ends = np.full(side, 2.0)
    ends[[0, -1]] = 1.0
    line = sparse.csr_array(np.diag(ends) - np.eye(side, k=1) - np.eye(side, k=-1))
    one = sparse.eye_array(side)
    total = sparse.csr_array((side**3, side**3))
    for axis in range(3):
        parts = [line if k == axis else one for k in range(3)]
        total = total + sparse.kron(sparse.kron(parts[0], parts[1]), parts[2])
    return sparse.csr_array(total + hold * sparse.eye_array(side**3))


@pytest.mark.parametrize("count", [1, 4, 7, 19, 40])
def test_every_copy_of_a_multiple_eigenvalue_is_found(count: int) -> None:
    """Cut anywhere, in the middle of a triple as well."""
    matrix = grid_laplacian(9, 0.01)
    assert matrix.shape[0] > eigenpairs.DENSE
    mass = np.full(9**3, 2.0)
    exact = eigh(matrix.toarray(), eigvals_only=True) / 2.0
    found = lowest_eigenpairs(matrix, mass, count)
    assert found.values == pytest.approx(exact[:count], rel=1e-10)
    assert found.vectors.T @ (mass[:, None] * found.vectors) == pytest.approx(np.eye(count), abs=1e-12)
    residual = matrix @ found.vectors - 2.0 * found.vectors * found.values
    assert np.abs(residual).max() < 1e-9 * np.abs(matrix).max()


@pytest.mark.parametrize("count", [1, 7, 19])
def test_large_problems_are_solved_as_sharply_from_a_rough_factor(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of multiple ones, and uneven masses."""
    monkeypatch.setattr(eigenpairs, "LARGE", eigenpairs.DENSE)
    monkeypatch.setattr(eigenpairs._Shifted, "lowest", None)  # the other way is not taken
    matrix, mass = grid_laplacian(8, 0.01), np.full(512, 2.0)
    if count == 7:
        mass = np.exp(np.random.default_rng(5).normal(size=512))
    exact = eigh(matrix.toarray(), np.diag(mass), eigvals_only=True)
    found = lowest_eigenpairs(matrix, mass, count)
    assert found.values == pytest.approx(exact[:count], rel=1e-10)
    assert found.vectors.T @ (mass[:, None] * found.vectors) == pytest.approx(np.eye(count), abs=1e-12)
    assert np.abs(matrix @ found.vectors - mass[:, None] * found.vectors * found.values).max() < 1e-9


@pytest.mark.parametrize(("missing", "count"), [((1, 2), 4), ((0,), 1), ((3, 4, 5), 10)])
def test_what_the_start_does_not_see_is_looked_for(
    missing: tuple[int, ...], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start in the span of a few eigenvectors, some of the lowest not among them; a factor that never brings these
    back."""
    matrix, begun, given = grid_laplacian(8, 0.01), eigenpairs_large._begun, []
    values, vectors = eigh(matrix.toarray())
    seen = vectors[:, [k for k in range(4 * count + 8) if k not in missing]]

    def blind(*asked):
        given.append(begun(*asked))
        return given[0] @ seen @ seen.T if len(given) == 1 else given[-1]

    monkeypatch.setattr(eigenpairs_large, "_begun", blind)
    monkeypatch.setattr(eigenpairs_large, "choose", lambda **asked: choose(positive=True))
    found = eigenpairs_large.lowest_by_single(matrix, np.ones(512), count, upper_triangle(matrix), None)
    assert found is not None and found[0] == pytest.approx(values[:count], rel=1e-10)


def test_what_single_precision_does_not_tell_is_left_to_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding drowns the residuals, however rough, nothing is called found."""
    monkeypatch.setattr(eigenpairs, "LARGE", eigenpairs.DENSE)
    monkeypatch.setattr(eigenpairs_large, "_NOISE", 1e12)
    matrix = grid_laplacian(8, 0.01)
    exact = eigh(matrix.toarray(), eigvals_only=True)[:3]
    assert lowest_eigenpairs(matrix, np.ones(512), 3).values == pytest.approx(exact, rel=1e-10)


def test_uneven_masses_and_a_random_matrix_agree_with_the_dense_solver() -> None:
    generator = np.random.default_rng(3)
    matrix = grid_laplacian(8, 0.1)
    scale = sparse.diags_array(np.exp(generator.normal(size=512)))
    matrix, mass = sparse.csr_array(scale @ matrix @ scale), np.exp(2.0 * generator.normal(size=512))
    found = lowest_eigenpairs(matrix, mass, 25)
    values, vectors = eigh(matrix.toarray(), np.diag(mass))
    assert found.values == pytest.approx(values[:25], rel=1e-9)
    agree = np.abs(vectors[:, :25].T @ (mass[:, None] * found.vectors))
    assert np.diagonal(agree) == pytest.approx(np.ones(25), abs=1e-8)


@pytest.mark.parametrize("side", [5, 9])
def test_known_vectors_are_left_out_and_the_rest_is_as_sharp(side: int) -> None:
    """Free ends: a constant costs nothing. By the dense and by the sparse way."""
    matrix, count = grid_laplacian(side), side**3
    constant = np.full((count, 1), 1.0 / np.sqrt(count))
    exact = eigh(matrix.toarray(), eigvals_only=True)[1:13]
    found = lowest_eigenpairs(matrix, np.ones(count), 12, known=constant)
    assert found.values == pytest.approx(exact, rel=1e-10)
    assert np.abs(constant.T @ found.vectors).max() < 1e-13


def test_the_same_bytes_twice() -> None:
    matrix, mass = grid_laplacian(9, 0.01), np.ones(9**3)
    first, second = (lowest_eigenpairs(matrix, mass, 10) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()
    assert first.vectors.tobytes() == second.vectors.tobytes()


@pytest.mark.parametrize("backend", installed())
def test_every_solver_will_do(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUNRAKU_SOLVER", backend)
    matrix = grid_laplacian(8, 0.01)
    exact = eigh(matrix.toarray(), eigvals_only=True)[:10]
    assert lowest_eigenpairs(matrix, np.ones(512), 10).values == pytest.approx(exact, rel=1e-10)


def test_one_that_was_missed_is_noticed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A method that loses the second eigenpair is caught by the signs of the pivots, every time it is tried."""
    whole = eigenpairs._block_lanczos
    tried = []

    def forgetful(*given):
        theta, vectors = whole(given[0], given[1] + 1, *given[2:])
        tried.append(given[3])
        return np.delete(theta, 1), np.delete(vectors, 1, axis=1)

    monkeypatch.setattr(eigenpairs, "_block_lanczos", forgetful)
    with caplog.at_level(logging.WARNING):
        lowest_eigenpairs(grid_laplacian(8, 0.01), np.ones(512), 10)
    assert len(tried) == 3 and "may not be all" in caplog.text


def test_more_than_there_are_is_all_there_are() -> None:
    matrix = grid_laplacian(3, 1.0)
    assert len(lowest_eigenpairs(matrix, np.ones(27), 99).values) == 27
    assert lowest_eigenpairs(matrix, np.ones(27), 0).vectors.shape == (27, 0)
    assert len(lowest_eigenpairs(matrix, np.ones(27), 27, known=np.full((27, 1), 27**-0.5)).values) == 26


def test_a_mass_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="mass above zero"):
        lowest_eigenpairs(grid_laplacian(3), np.zeros(27), 2)


def test_an_upper_triangle_stores_every_diagonal_entry() -> None:
    matrix = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 0.0]]))
    indptr, indices, values = upper_triangle(matrix)
    assert indptr.tolist() == [0, 2, 4, 5]
    assert indices.tolist() == [0, 1, 1, 2, 2] and values.tolist() == [0.0, 2.0, 5.0, 1.0, 0.0]


def test_blas_has_its_threads_back_afterwards() -> None:
    controls = _blas_controls()
    if not controls:
        pytest.skip("NumPy and SciPy bring no OpenBLAS of their own here")
    before = [read() for read, _ in controls]
    with one_blas_thread():
        assert [read() for read, _ in controls] == [1] * len(controls)
    assert [read() for read, _ in controls] == before
    first, second = one_blas_thread(), one_blas_thread()  # two threads of Python, one in the middle of the other
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert [read() for read, _ in controls] == [1] * len(controls)
    second.__exit__(None, None, None)
    assert [read() for read, _ in controls] == before


def test_the_upper_triangle_is_the_same_however_it_is_stored() -> None:
    """Rows as they stand, columns first, and rows without an entry of the diagonal, which is added."""
    whole = sparse.csr_array(sparse.random_array((40, 40), density=0.1, rng=np.random.default_rng(4)))
    whole = sparse.csr_array(whole + whole.T + sparse.eye_array(40))
    for given in (whole, whole.tocsc()):
        indptr, indices, values = upper_triangle(given)
        found = sparse.csr_array((values, indices, indptr), shape=whole.shape)
        assert (abs(found - sparse.triu(whole)) > 0).nnz == 0 and np.array_equal(indices[indptr[:-1]], np.arange(40))
    bare = sparse.csr_array(whole - sparse.diags_array(whole.diagonal()))
    bare.eliminate_zeros()
    indptr, indices, values = upper_triangle(bare)
    assert np.array_equal(indices[indptr[:-1]], np.arange(40)) and not values[indptr[:-1]].any()
