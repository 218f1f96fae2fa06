"""How hard conditions press: what of a multiplier contact causes, and who is near what is touched."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bunraku.contracts import Sparse
from bunraku.dynamics.pressing import Presses

MASS = np.array([1.0, 2.0, 0.5, 4.0, 3.0, 1.5, 2.5])


def chain(overlap: int) -> Sparse:
    """Averages of two or three points in a row; neighbours have `overlap` points in common."""
    width = 2 + overlap
    starts = range(0, len(MASS) - width + 1, 2)
    rows = np.zeros((len(starts), len(MASS)))
    for row, start in zip(rows, starts, strict=True):
        row[start : start + width] = 1.0 / width
    return sparse.csr_array(rows)


@pytest.mark.parametrize("overlap", [0, 1])
def test_the_share_of_contact_balances_its_forces(overlap: int) -> None:
    """C M⁻¹ (∇B + Cᵀ λ̄) = 0: with λ̄ alone the averages would not be accelerated. Regular to 1e-9."""
    weights = chain(overlap)
    pressure = np.random.default_rng(0).normal(size=(len(MASS), 3))
    found = Presses(weights, MASS).felt(pressure, np.ones(len(MASS), dtype=bool))
    left = weights @ ((pressure + weights.T @ found.own) / MASS[:, None])
    assert np.abs(left).max() <= 1e-8 * np.abs(weights @ (pressure / MASS[:, None])).max()
    assert np.linalg.norm(found.own, axis=1).min() > 0.0


def test_contact_within_one_region_cancels() -> None:
    """Equal and opposite forces on the two points of a region change its average by nothing if they weigh the same."""
    pressure = np.zeros((4, 3))
    pressure[0], pressure[1] = [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]
    weights = sparse.csr_array(np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]))
    found = Presses(weights, np.ones(4)).felt(pressure, np.linalg.norm(pressure, axis=1) > 0.0)
    assert np.abs(found.own).max() <= 1e-15
    assert found.touched.tolist() == [True, False]


def test_what_slowing_takes_is_found_like_the_share_of_contact() -> None:
    pressure, slowing = np.random.default_rng(0).normal(size=(2, len(MASS), 3))
    presses, touched = Presses(chain(1), MASS), np.ones(len(MASS), dtype=bool)
    found = presses.felt(pressure, touched, slowing)
    assert np.array_equal(found.own, presses.felt(pressure, touched).own)
    assert found.slowed is not None and np.array_equal(found.slowed, presses.felt(slowing, touched).own)
    assert presses.felt(pressure, touched).slowed is None


def test_near_is_within_two_rings() -> None:
    """Regions of a chain that have a point in common are neighbours: touched are one, its neighbours and theirs."""
    rows = np.zeros((6, 7))
    rows[np.arange(6), np.arange(6)] = rows[np.arange(6), np.arange(6) + 1] = 0.5
    presses = Presses(sparse.csr_array(rows), np.ones(7))
    pressure = np.zeros((7, 3))
    pressure[0, 1] = 1.0
    found = presses.felt(pressure, np.linalg.norm(pressure, axis=1) > 0.0)
    assert found.touched.tolist() == [True, True, True, False, False, False]
    assert found.beside(np.eye(6, dtype=bool)[3]).tolist() == [False, True, True, True, True, True]
    sizes = np.linalg.norm(found.own, axis=1)
    wanted = [sizes[max(0, k - 2) : k + 3].max() for k in range(6)]
    assert found.share == pytest.approx(wanted, rel=1e-12)
    assert sizes[0] > sizes[5] > 0.0


@pytest.mark.parametrize("overlap", [0, 1])
def test_the_least_way_onto_the_goals(overlap: int) -> None:
    """It takes away what is missing, and is M-orthogonal to every way that leaves the averages alone."""
    weights, generator = chain(overlap), np.random.default_rng(1)
    missing = generator.normal(size=(weights.shape[0], 3))
    way = Presses(weights, MASS).onto(missing)
    assert weights @ way == pytest.approx(-missing, abs=1e-8)
    dense = weights.toarray()
    idle = generator.normal(size=(len(MASS), 3))
    idle -= np.linalg.pinv(dense) @ (dense @ idle)
    assert np.abs(idle).max() > 0.1
    assert abs(np.sum(idle * MASS[:, None] * way)) <= 1e-12
