"""Every installed solver, on the matrices bunraku makes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from bunraku.contracts import Array, Factorisation, InputError, Stencil
from bunraku.numerics import FactorisationError, Pattern, SaddleSystem, choose, installed, order_of

BACKENDS = installed()
SINGLE = [(name, single) for name in BACKENDS for single in (False, True) if not single or name in ("mkl", "light")]


def upper(matrix: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR of the upper triangle with the whole diagonal stored."""
    kept = np.triu(matrix != 0) | np.eye(len(matrix), dtype=bool)
    rows, columns = np.nonzero(kept)
    return np.searchsorted(rows, np.arange(len(matrix) + 1)), columns, matrix[rows, columns]


def quasi_definite(n: int, m: int, seed: int = 0) -> Array:
    """[H Jᵀ; J −C] with H, C positive: made by auxiliary unknowns. Inertia (n, m) [Vanderbei 1995]."""
    generator = np.random.default_rng(seed)
    jacobian = generator.normal(size=(m, n)) * (generator.random((m, n)) < 0.4)
    return np.block([[_positive(generator, n), jacobian.T], [jacobian, -_positive(generator, m)]])


def _positive(generator: np.random.Generator, n: int) -> Array:
    a = generator.normal(size=(n, n)) * (generator.random((n, n)) < 0.3)
    return a @ a.T + np.eye(n)


@pytest.mark.parametrize(("backend", "single"), SINGLE)
def test_every_backend_solves_and_counts_signs(backend: str, single: bool) -> None:
    """Backward stable: the residual is at rounding level of the factor's precision, times the growth of 30 rows."""
    matrix = quasi_definite(20, 10)
    solver = choose(backend, threads=1, single=single)
    indptr, indices, values = upper(matrix)
    solver.analyse(indptr, indices)
    b = np.random.default_rng(1).normal(size=30)
    for factor in (1.0, 3.0):  # the same analysis serves other values
        solver.factor(values * factor)
        y = solver.solve(b)
        level = 1e3 * np.finfo(np.float32 if single else np.float64).eps
        assert (
            np.abs(factor * matrix @ y - b).max() <= level * np.abs(factor * matrix).sum(axis=1).max() * np.abs(y).max()
        )
        assert solver.inertia() == (20, 10)
    assert solver.name


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name in ("mkl", "light")])
def test_what_is_no_number_does_not_end_the_process(backend: str) -> None:
    """PARDISO's matching reads where nothing is when it meets one."""
    indptr, indices, values = upper(quasi_definite(20, 10))
    solver = choose(backend, threads=1, pivoting=True)
    solver.analyse(indptr, indices)
    with pytest.raises(FactorisationError, match="no numbers"):
        solver.factor(np.where(np.arange(len(values)) % 7, values, np.nan))
    solver.factor(values)
    assert solver.inertia() == (20, 10)


@pytest.mark.parametrize(("backend", "single"), SINGLE)
def test_many_right_hand_sides_are_solved_row_by_row(backend: str, single: bool) -> None:
    """Rows as good as one by one, none at all is nothing; one alone still works afterwards."""
    matrix = quasi_definite(20, 10)
    solver = choose(backend, threads=1, single=single)
    indptr, indices, values = upper(matrix)
    solver.analyse(indptr, indices)
    solver.factor(values)
    rows = np.random.default_rng(2).normal(size=(5, 30))
    found = solver.solve(np.asfortranarray(rows))
    level = 1e-4 if single else 1e-12
    assert found == pytest.approx(np.linalg.solve(matrix, rows.T).T, abs=level)
    assert found[3] == pytest.approx(solver.solve(rows[3]), abs=level)
    assert solver.solve(np.zeros((0, 30))).shape == (0, 30)


@pytest.mark.parametrize("backend", BACKENDS)
def test_positive_matrices(backend: str) -> None:
    matrix = _positive(np.random.default_rng(3), 15)
    solver = choose(backend, threads=1, positive=True)
    indptr, indices, values = upper(matrix)
    solver.analyse(indptr, indices)
    solver.factor(values)
    b = np.arange(15.0)
    assert matrix @ solver.solve(b) == pytest.approx(b, abs=1e-10)
    assert solver.inertia() == (15, 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_order_that_is_told_is_taken_by_another(backend: str) -> None:
    """A grid: its own order is told and fills little, that of its rows much; solvers that tell none take none."""
    side = 20
    line, one = sparse.csr_array(2.1 * np.eye(side) - np.eye(side, k=1)), sparse.eye_array(side)
    half = sparse.csr_array(sparse.kron(line, one) + sparse.kron(one, line))
    indptr, indices = half.indptr.astype(np.int64), half.indices.astype(np.int64)
    values = np.asarray(half.data, dtype=np.float64)
    telling = choose(backend, threads=1, positive=True, telling=True)
    telling.analyse(indptr, indices)
    told, filled = order_of(telling), []
    assert (told is None) == (backend in ("qdldl", "superlu"))
    for order in (told, np.arange(side**2)):
        solver = choose(backend, threads=1, positive=True, order=order)
        solver.analyse(indptr, indices)
        solver.factor(values)
        b = np.random.default_rng(0).normal(size=side**2)
        x = solver.solve(b)
        assert half @ x + half.T @ x - half.diagonal() * x == pytest.approx(b, abs=1e-10)
        filled.append(getattr(solver, "memory", 0))
    assert told is None or (np.array_equal(np.sort(told), np.arange(side**2)) and filled[1] > 1.2 * filled[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_values_give_the_same_bytes(backend: str) -> None:
    indptr, indices, values = upper(quasi_definite(40, 20))
    found = []
    for _ in range(2):
        solver = choose(backend, threads=1)
        solver.analyse(indptr, indices)
        solver.factor(values)
        found.append(solver.solve(np.ones(60)).tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_singular_matrix_is_not_solved_in_silence(backend: str) -> None:
    """qdldl and SuperLU refuse it. PARDISO puts about 1e-13 of the matrix in place of the missing pivot, so that the
    solution is far out along the null vector (1, −1, 0): twelve decades above the right-hand side, for all to see.
    """
    matrix = np.zeros((3, 3))
    matrix[:2, :2] = 1.0
    matrix[2, 2] = 1.0
    indptr, indices, values = upper(matrix)
    solver = choose(backend, threads=1)
    solver.analyse(indptr, indices)
    if backend in ("qdldl", "superlu"):
        with pytest.raises(FactorisationError, match=r"singular|not quasi-definite"):
            solver.factor(values)
        return
    solver.factor(values)
    y = solver.solve(np.array([1.0, -1.0, 1.0]))
    assert y[0] == pytest.approx(-y[1], rel=1e-6) and abs(y[0]) > 1e12
    assert y[2] == pytest.approx(1.0, abs=1e-12)


def test_an_unknown_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"unknown or missing linear solver \(got 'cholmod'\); allowed: .*superlu"):
        choose("cholmod")
    monkeypatch.setenv("BUNRAKU_SOLVER", "superlu")
    assert choose().name == "SciPy SuperLU, 1 thread"


N, AUXILIARY, ROWS = 12, 4, 5
STIFFNESS = {
    "hard": np.full(ROWS, np.inf),
    "soft": np.array([1e-3, 1.0, 1e3, 7.0, 1e6]),
    "none": np.zeros(ROWS),
    "all kinds": np.array([np.inf, 0.0, 2.0, np.inf, 1e9]),
}


def bordered(matrix: Array, jacobian: Array, stiffness: Array, f: Array, c: Array) -> tuple[Array, Array]:
    """Dense reference. A row with k > 0 holds J dx − λ/k = c; one with k = 0 has no force."""
    held = stiffness > 0
    j, k = jacobian[held], stiffness[held]
    whole = np.block([[matrix, j.T], [j, -np.diag(np.where(np.isinf(k), 0.0, 1.0 / k))]])
    solution = np.linalg.solve(whole, np.concatenate([f, c[held]]))
    multipliers = np.zeros(len(stiffness))
    multipliers[held] = solution[len(f) :]
    return solution[: len(f)].astype(np.float64), multipliers


@pytest.mark.parametrize("kind", STIFFNESS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("single", [False, True])
def test_saddle_systems_against_the_dense_solution(kind: str, backend: str, single: bool) -> None:
    """Hard, soft and absent conditions, with auxiliary unknowns, refined in double precision in every case.

    Refinement settles at 1e-11 of the right-hand side in equilibrated rows; these have a condition below 1e3.
    """
    generator = np.random.default_rng(5)
    matrix = quasi_definite(N, AUXILIARY, seed=6)
    jacobian = np.zeros((ROWS, N + AUXILIARY))
    jacobian[:, :N] = generator.normal(size=(ROWS, N))
    everything = np.arange(N + AUXILIARY)[None]
    solver = choose(backend, threads=1, single=single)
    saddle = SaddleSystem(
        [Stencil(everything)], N + AUXILIARY, sparse.csr_array(jacobian[:, :N]), solver, single=single
    )
    f, c = generator.normal(size=N + AUXILIARY), generator.normal(size=ROWS)
    stiffness = STIFFNESS[kind]
    saddle.factor([matrix[None]], stiffness)
    found = saddle.solve(f, c)
    primal, multipliers = bordered(matrix, jacobian, stiffness, f, c)
    assert found.error <= 1e-11
    assert found.primal == pytest.approx(primal, abs=1e-8 * np.abs(primal).max())
    assert found.multipliers == pytest.approx(multipliers, abs=1e-8 * max(np.abs(multipliers).max(), 1.0))
    hard = np.isinf(stiffness)
    assert np.abs((jacobian @ found.primal - c)[hard]).max(initial=0.0) <= 1e-9
    assert saddle.inertia() == (N, AUXILIARY + ROWS)
    assert saddle.solver_name


def test_a_saddle_without_conditions_is_the_matrix_alone() -> None:
    matrix = quasi_definite(6, 3)
    saddle = SaddleSystem([Stencil(np.arange(9)[None])], 9, sparse.csr_array((0, 9)), choose(threads=1))
    saddle.factor([matrix[None]], np.zeros(0))
    f = np.arange(9.0)
    found = saddle.solve(f, np.zeros(0))
    assert found.primal == pytest.approx(np.linalg.solve(matrix, f), abs=1e-12)
    assert len(found.multipliers) == 0


def test_conflicting_conditions_leave_an_error_to_see() -> None:
    """The same row twice with goals 0 and 1 has no solution: each is missed by a half, and the reported error, relative
    to the larger goal, must say so; goals that agree leave none.
    """
    jacobian = sparse.csr_array(np.array([[1.0, 0, 0], [1.0, 0, 0]]))
    saddle = SaddleSystem([Stencil(np.arange(3)[None])], 3, jacobian, choose(threads=1))
    saddle.factor([np.eye(3)[None]], np.full(2, np.inf))
    found = saddle.solve(np.zeros(3), np.array([0.0, 1.0]))
    assert found.error == pytest.approx(0.5, rel=1e-6)
    assert jacobian @ found.primal == pytest.approx(np.full(2, 0.5), abs=1e-6)
    agreeing = saddle.solve(np.zeros(3), np.array([1.0, 1.0]))
    assert jacobian @ agreeing.primal == pytest.approx(np.ones(2), abs=1e-7)
    assert agreeing.error <= 1e-11


class Misled:
    """A factorisation whose solutions are wrong, as single precision's are where a matrix asks too much of it."""

    name = "misled"

    def __init__(self) -> None:
        self._inner = choose(threads=1)

    def analyse(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        self._inner.analyse(indptr, indices)

    def factor(self, values: np.ndarray) -> None:
        self._inner.factor(values)

    def solve(self, b: np.ndarray) -> np.ndarray:
        return -40.0 * self._inner.solve(b)

    def inertia(self) -> tuple[int, int]:
        return self._inner.inertia()


class Counted:
    """A factorisation that counts how often it is asked."""

    def __init__(self, inner: Factorisation) -> None:
        self._inner, self.name, self.solves = inner, inner.name, 0

    def analyse(self, indptr: np.ndarray, indices: np.ndarray) -> None:
        self._inner.analyse(indptr, indices)

    def factor(self, values: np.ndarray) -> None:
        self._inner.factor(values)

    def solve(self, b: np.ndarray) -> np.ndarray:
        self.solves += 1
        return self._inner.solve(b)

    def inertia(self) -> tuple[int, int]:
        return self._inner.inertia()


@pytest.mark.parametrize("backend", [name for name, single in SINGLE if single])
def test_conditions_on_a_few_unknowns_do_not_cost_single_precision_its_digits(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eliminated first, a condition with the pivot −δ adds JᵀJ/δ. With δ = 1e-6 whatever it holds, single precision
    keeps hardly a digit of A; with a share of its largest entry squared refinement needs two thirds of the solves or
    fewer."""
    grid = np.arange(1600).reshape(40, 40)
    pairs = np.concatenate(
        [np.stack([grid[:-1], grid[1:]], -1), np.stack([grid[:, :-1], grid[:, 1:]], -1).swapaxes(0, 1)]
    )
    held = np.stack([grid[::3, ::2], grid[::3, 1::2]], axis=-1).reshape(-1, 2)
    n, pairs = grid.size, pairs.reshape(-1, 2)
    entries = np.full(held.size, 0.5), (np.repeat(np.arange(len(held)), 2), held.reshape(-1))
    jacobian: Any = sparse.csr_array(entries, shape=(len(held), n))
    blocks = [np.full((n, 1, 1), 4.01), np.full((len(pairs), 1, 1), -1.0)]
    stencils = [Stencil(np.arange(n)[:, None]), Stencil(pairs[:, :1], pairs[:, 1:])]
    b = np.random.default_rng(2).normal(size=n + len(held))

    def solves() -> int:
        counted = Counted(choose(backend, threads=2, single=True))
        saddle = SaddleSystem(stencils, n, jacobian, counted, single=True)
        saddle.factor(blocks, np.full(len(held), np.inf))
        found = saddle.solve(b[:n], b[n:])
        assert found.error <= 1e-11
        assert jacobian @ found.primal == pytest.approx(b[n:], abs=1e-9)
        return counted.solves

    good = solves()
    monkeypatch.setattr("bunraku.numerics.saddle._SINGLE_DELTA", 0.0)
    assert 3 * good <= 2 * solves()


@pytest.mark.parametrize("backend", [name for name, single in SINGLE if single])
@pytest.mark.parametrize("moved", [0.0, 1e-3])
def test_pins_are_met_by_the_first_solve(backend: str, moved: float) -> None:
    """What −δ leaves them short by is put right without another one; and what others ask of them is refined."""
    n = 400
    pairs, pinned = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), np.arange(0, n, 40)
    mean = np.zeros((1, n))
    mean[0, 30:50] = 0.05  # a condition on a pinned unknown and its neighbours
    jacobian: Any = sparse.csr_array(np.concatenate([np.eye(n)[pinned], mean]))
    counted = Counted(choose(backend, threads=1, single=True))
    stencils = [Stencil(np.arange(n)[:, None]), Stencil(pairs[:, :1], pairs[:, 1:])]
    saddle = SaddleSystem(stencils, n, jacobian, counted, single=True)
    blocks = [np.full((n, 1, 1), 2.01), np.full((n - 1, 1, 1), -1.0)]
    saddle.factor(blocks, np.full(len(pinned) + 1, np.inf))
    generator = np.random.default_rng(4)
    f, c = generator.normal(size=n), np.append(moved * generator.normal(size=len(pinned)), 0.0)
    rough = saddle.solve(f, c, rounds=1)
    assert rough.primal[pinned] == pytest.approx(c[:-1], abs=1e-15)
    matrix = 2.01 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    primal, multipliers = bordered(matrix, jacobian.toarray(), np.full(len(c), np.inf), f, c)
    assert rough.primal == pytest.approx(primal, abs=1e-4 * np.abs(primal).max())
    found = saddle.solve(f, c)
    assert found.error <= 1e-11 and found.multipliers == pytest.approx(multipliers, abs=1e-9)
    alone = SaddleSystem(stencils, n, jacobian[: len(pinned)], counted, single=True)
    alone.factor(blocks, np.full(len(pinned), np.inf))
    counted.solves = 0
    assert alone.solve(f, c[:-1], rounds=1).error <= 1e-3 and counted.solves == 1


@pytest.mark.parametrize("rounds", [1, 12])
def test_a_wrong_solution_is_noticed_and_found_again_in_double(rounds: int) -> None:
    """Also where the first usable solution is asked for: no direction may be taken on a factor's word."""
    generator = np.random.default_rng(8)
    matrix, jacobian = quasi_definite(N, AUXILIARY, seed=6), generator.normal(size=(ROWS, N))
    saddle = SaddleSystem(
        [Stencil(np.arange(N + AUXILIARY)[None])], N + AUXILIARY, sparse.csr_array(jacobian), Misled(), single=True,
        double=lambda: choose(threads=1),
    )  # fmt: skip
    f, c = generator.normal(size=N + AUXILIARY), generator.normal(size=ROWS)
    saddle.factor([matrix[None]], np.full(ROWS, np.inf))
    found = saddle.solve(f, c, rounds=rounds)
    border = np.hstack([jacobian, np.zeros((ROWS, AUXILIARY))])
    primal, _ = bordered(matrix, border, np.full(ROWS, np.inf), f, c)
    assert found.error <= 1e-3 and found.primal == pytest.approx(primal, abs=1e-3 * np.abs(primal).max())


def test_a_zero_right_hand_side_has_a_zero_solution() -> None:
    saddle = SaddleSystem([Stencil(np.arange(3)[None])], 3, sparse.csr_array(np.eye(1, 3)), choose(threads=1))
    saddle.factor([np.eye(3)[None]], np.full(1, np.inf))
    found = saddle.solve(np.zeros(3), np.zeros(1))
    assert not found.primal.any() and not found.multipliers.any()


def test_patterns_of_the_pattern_class_suit_every_backend() -> None:
    """Rows start with their diagonal, columns increase: what PARDISO asks for."""
    pattern = Pattern.of([Stencil(np.array([[3, 0, 2]])), Stencil(np.array([[1]]), np.array([[3, 2]]))], 5)
    for row in range(5):
        columns = pattern.indices[pattern.indptr[row] : pattern.indptr[row + 1]]
        assert columns[0] == row and (np.diff(columns) > 0).all()


@pytest.mark.skipif("mkl" not in installed(), reason="needs the threaded MKL")
def test_a_factor_released_in_the_middle_of_another_call_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector may release a factor of two threads while one of one thread is being called."""
    matrix: Any = sparse.csr_array(np.diag(np.full(9, 4.0)) + np.eye(9, k=1))
    other, own = choose("mkl", threads=2), choose("mkl", threads=1)
    for solver in (other, own):
        solver.analyse(matrix.indptr, matrix.indices)
    set_to: list[int] = []
    library = own._library  # type: ignore[attr-defined]
    monkeypatch.setattr(library, "MKL_Set_Num_Threads", lambda count: set_to.append(count.value))
    other.release()  # type: ignore[attr-defined]
    own.factor(matrix.data)
    assert set_to == [1]


def test_a_solve_asked_for_again_more_exactly_goes_on_to_the_same_bytes() -> None:
    """Pins of a chain, with forces: a usable solution first, then the exact one; a new factor begins anew."""
    n, pins = 60, np.array([0, 1, 59])
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    stencils = [Stencil(np.arange(n)[:, None]), Stencil(pairs[:, :1], pairs[:, 1:])]
    blocks = [np.full((n, 1, 1), 2.1), np.full((n - 1, 1, 1), -1.0)]
    jacobian: Any = sparse.csr_array((np.ones(3), (np.arange(3), pins)), shape=(3, n))
    f, c = np.random.default_rng(0).normal(size=n), np.zeros(3)
    counted = Counted(choose(threads=1, single=True))
    saddle = SaddleSystem(stencils, n, jacobian, counted, single=True)
    saddle.factor(blocks, np.full(3, np.inf))
    whole = saddle.solve(f, c)
    taken = counted.solves
    saddle.refactor()
    usable = saddle.solve(f, c, rounds=1)
    between = counted.solves
    exact = saddle.solve(f, c)
    assert counted.solves - taken == taken and between < counted.solves
    assert np.array_equal(exact.primal, whole.primal) and np.array_equal(exact.multipliers, whole.multipliers)
    assert np.abs(exact.primal[pins]).max() <= 1e-11 * np.abs(exact.primal).max()
    assert usable.primal == pytest.approx(whole.primal, abs=1e-3 * np.abs(whole.primal).max())


def test_pivots_that_single_precision_gets_wrong_are_counted_in_double() -> None:
    """Matrices of one tiny eigenvalue, of either sign."""
    random, wrong, names = np.random.default_rng(0), 0, set[str]()
    for k in range(40):
        sign = (-1.0) ** k
        turn = np.linalg.qr(random.normal(size=(9, 9)))[0]
        matrix = (turn * np.concatenate([np.linspace(0.5, 2.0, 8), [sign * 1e-9]])) @ turn.T
        made = partial(choose, threads=1)
        saddle = SaddleSystem(
            [Stencil(np.arange(9)[None])], 9, sparse.csr_array((0, 9)), made(single=True), single=True, double=made
        )
        saddle.factor([0.5 * (matrix + matrix.T)[None]], np.zeros(0), exact=True)
        assert saddle.inertia() == ((9, 0) if sign > 0.0 else (8, 1))
        saddle.factor([0.5 * (matrix + matrix.T)[None]], np.zeros(0))
        wrong += saddle.inertia() != ((9, 0) if sign > 0.0 else (8, 1))
        names.add(saddle.solver_name)
    if "single" in names.pop():
        assert wrong  # else there would be nothing to count again
