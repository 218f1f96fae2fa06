"""Fixed-pattern assembly against the plain sum, and the same bytes for any number of threads."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bunraku.contracts import Array, Integers, Stencil
from bunraku.numerics import Pattern, Scatter, SymmetricProduct, default_threads, distinct, use_threads

EPS = float(np.finfo(np.float64).eps)


def dense_sum(stencils: list[Stencil], blocks: list[Array], size: int) -> Array:
    """Entry by entry, in Python: the other route."""
    out = np.zeros((size, size))
    for stencil, local in zip(stencils, blocks, strict=True):
        columns = stencil.rows if stencil.columns is None else stencil.columns
        for row, column, block in zip(stencil.rows, columns, local, strict=True):
            for i, r in enumerate(row):
                for j, c in enumerate(column):
                    if r >= 0 and c >= 0:
                        out[r, c] += block[i, j]
                        if stencil.columns is not None:
                            out[c, r] += block[i, j]
    return out


def unpacked(pattern: Pattern, values: Array) -> Array:
    upper = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=(pattern.size, pattern.size)).toarray()
    return upper + np.triu(upper, 1).T


@st.composite
def systems(draw) -> tuple[list[Stencil], list[Array], int]:
    """A square stencil with holes and a coupling stencil on a handful of unknowns."""
    size = draw(st.integers(4, 9))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    elements, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    rows = np.stack([generator.permutation(size)[:width] for _ in range(elements)])
    rows = np.where(generator.random(rows.shape) < 0.2, -1, rows)
    block = generator.normal(size=(elements, width, width))
    split = draw(st.integers(1, size - 1))
    left, right = generator.integers(0, split, (3, 2)), generator.integers(split, size, (3, 1))
    coupling = Stencil(right, left) if draw(st.booleans()) else Stencil(left, right)
    local = generator.normal(size=coupling.block_shape)
    return [Stencil(rows), coupling], [block + block.transpose(0, 2, 1), local], size


@given(systems())
def test_assembly_is_the_sum_of_the_blocks(system: tuple[list[Stencil], list[Array], int]) -> None:
    stencils, blocks, size = system
    pattern = Pattern.of(stencils, size)
    exact = dense_sum(stencils, blocks, size)
    assert unpacked(pattern, pattern.assemble(blocks)) == pytest.approx(exact, abs=50 * EPS * (1 + np.abs(exact).max()))
    assert (np.diff(pattern.indptr) >= 1).all()
    assert np.array_equal(pattern.indices[pattern.indptr[:-1]], np.arange(size))  # the diagonal comes first


@pytest.mark.parametrize("first", [0, 2])
def test_rows_of_many_neighbours_are_summed_three_by_three(first: int) -> None:
    """Two wide elements that share most of their unknowns: one is the other one place on, or the very same."""
    rows = np.stack([np.arange(8), np.arange(first, first + 8)])
    block = np.random.default_rng(0).normal(size=(2, 8, 8))
    stencil, blocks = Stencil(rows), block + block.transpose(0, 2, 1)
    pattern = Pattern.of([stencil], 11)
    exact = dense_sum([stencil], [blocks], 11)
    assert unpacked(pattern, pattern.assemble([blocks])) == pytest.approx(exact, abs=1e-13)


def test_the_same_buffer_gives_the_same_values() -> None:
    stencils = [Stencil(np.array([[0, 1], [1, 2]]))]
    pattern = Pattern.of(stencils, 3)
    blocks = [np.arange(8.0).reshape(2, 2, 2)]
    buffer = np.full(pattern.buffer_length, np.nan)
    assert np.array_equal(pattern.assemble(blocks, buffer), pattern.assemble(blocks))


@pytest.fixture
def large() -> tuple[Pattern, list[Array], Scatter, Array]:
    generator = np.random.default_rng(0)
    elements = generator.integers(0, 500, (4000, 3))
    pattern = Pattern.of([Stencil(elements)], 500)
    blocks = generator.normal(size=(4000, 3, 3)) * 10.0 ** generator.uniform(-8, 8, (4000, 1, 1))
    return pattern, [blocks + blocks.transpose(0, 2, 1)], Scatter.of(elements, 500), generator.normal(size=(4000, 3, 3))


def test_one_and_two_threads_give_the_same_bytes(large: tuple[Pattern, list[Array], Scatter, Array]) -> None:
    """Sums over sixteen decades: any other order of summation would show."""
    pattern, blocks, scatter, local = large
    product, y = SymmetricProduct.of(pattern), np.random.default_rng(4).normal(size=500)

    def bytes_of() -> list[bytes]:
        values = pattern.assemble(blocks)
        return [values.tobytes(), scatter.sum(local).tobytes(), product.times(values, y).tobytes()]

    before = numba.get_num_threads()
    try:
        use_threads(1)
        one = bytes_of()
        use_threads(2)
        two = bytes_of()
    finally:
        numba.set_num_threads(before)
    assert one == two


def test_scatter_is_the_plain_sum() -> None:
    generator = np.random.default_rng(1)
    elements, local = generator.integers(0, 20, (30, 4)), generator.normal(size=(30, 4, 3))
    exact = np.zeros((22, 3))
    np.add.at(exact, elements, local)
    assert Scatter.of(elements, 22).sum(local) == pytest.approx(exact, abs=50 * EPS * np.abs(exact).max())


def test_symmetric_product(large: tuple[Pattern, list[Array], Scatter, Array]) -> None:
    pattern, blocks, _, _ = large
    values = pattern.assemble([blocks[0] / np.abs(blocks[0]).max()])
    y = np.random.default_rng(2).normal(size=500)
    exact = unpacked(pattern, values) @ y
    assert SymmetricProduct.of(pattern).times(values, y) == pytest.approx(exact, abs=1e-12)


def test_threads_are_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUNRAKU_THREADS", "3")
    assert default_threads() == 3
    monkeypatch.setenv("BUNRAKU_THREADS", "none")
    with pytest.raises(ValueError, match="BUNRAKU_THREADS"):
        default_threads()
    monkeypatch.delenv("BUNRAKU_THREADS")
    assert default_threads() >= 1


def springs(generator: np.random.Generator, points: int, count: int) -> tuple[Integers, Array]:
    """(count, 4) points, some missing, and (count, 12, 12) blocks wᵢ wⱼ (k n nᵀ + t (I − n nᵀ))."""
    corners = np.stack([generator.permutation(points)[:4] for _ in range(count)])
    corners[generator.random(corners.shape) < 0.2] = -1
    weights, normals = generator.normal(size=(count, 4)), generator.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    along = np.einsum("ma,mb->mab", normals, normals)
    stiff = 3.0 * along + 0.5 * (np.eye(3) - along)
    return corners, np.einsum("mi,mj,mab->miajb", weights, weights, stiff).reshape(count, 12, 12)


def summed(corners: Integers, blocks: Array, points: int) -> Array:
    out = np.zeros((3 * points, 3 * points))
    for row, block in zip(corners, blocks, strict=True):
        kept = np.repeat(row >= 0, 3)
        unknowns = (3 * row[:, None] + np.arange(3)).reshape(-1)[kept]
        out[np.ix_(unknowns, unknowns)] += block[np.ix_(kept, kept)]
    return out


@given(st.integers(0, 2**32 - 1))
def test_blocks_with_room_are_added_and_those_without_count_on_the_diagonal(seed: int) -> None:
    """What has no room makes the sum no less stiff, and only on the diagonal's blocks."""
    generator, points = np.random.default_rng(seed), 7
    fixed = Pattern.of([Stencil(np.arange(3 * points).reshape(-1, 3))], 3 * points)
    corners, blocks = springs(generator, points, 5)
    first, second = np.triu_indices(points, 1)
    exact = summed(corners, blocks, points)
    whole = fixed.with_pairs(np.stack([first, second], axis=1))
    values = np.zeros(len(whole.indices))
    assert whole.add_blocks(values, corners, blocks) == 0
    assert unpacked(whole, values) == pytest.approx(exact, abs=1e-12)
    some = generator.random(len(first)) < 0.5
    half = fixed.with_pairs(np.stack([first[some], second[some]], axis=1).reshape(-1, 2))
    values = np.zeros(len(half.indices))
    outside = half.add_blocks(values, corners, blocks)
    allowed = np.eye(points, dtype=bool)
    allowed[first[some], second[some]] = allowed[second[some], first[some]] = True
    pairs = [(i, j) for row in corners for i in row for j in row if 0 <= i < j]
    assert outside == sum(not allowed[i, j] for i, j in pairs)
    more = unpacked(half, values) - exact
    assert np.linalg.eigvalsh(more).min() > -1e-12
    kept = np.kron(allowed & ~np.eye(points, dtype=bool), np.ones((3, 3), dtype=bool))
    assert np.abs(more[kept]).max(initial=0.0) < 1e-12


def test_a_pattern_of_single_coordinates_has_no_room_for_a_block() -> None:
    """As a consistent mass couples points: what is added counts on the diagonal, and lands nowhere else."""
    whole = Stencil(np.arange(9).reshape(-1, 3))
    apart = Stencil(np.stack([np.arange(6), np.arange(3, 9)], axis=1))
    pattern = Pattern.of([whole, apart], 9)
    direction = np.array([0.6, 0.0, 0.8])
    block: Array = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.outer(direction, direction)).astype(np.float64)
    values = np.zeros(len(pattern.indices))
    assert pattern.add_blocks(values, np.array([[0, 1]]), block[None]) == 1
    expected = np.kron(np.diag([2.0, 2.0, 0.0]), np.outer(direction, direction))
    assert unpacked(pattern, values) == pytest.approx(expected, abs=0.0)


@given(st.lists(st.integers(0, 2**40), max_size=30))
def test_distinct_numbers_are_those_of_a_set_in_order(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))
