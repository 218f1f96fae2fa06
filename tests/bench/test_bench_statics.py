"""Ways to find the balance of a skin: what they solve, and where they end."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bunraku.bench.statics import Found, multipliers, ours, projection, projector, starts, tikhonov
from bunraku.bench.statics_problem import Balance
from bunraku.contracts import Vector
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import Slab

_LEAST = 1e-6


@cache
def balance() -> Balance:
    """Six waves, pressed to one and a half times the onset."""
    return Balance(Slab(SkinOnSoft(4e-3, 1e7, 1e5), per_wave=4.0, rows=5, pressed=1.5, threads=1))


def test_a_projector_leaves_what_the_conditions_do_not_see() -> None:
    given = np.random.default_rng(0).normal(size=3 * balance().slab.mesh.point_count)
    project, onto = projector(balance())
    left = project(given)
    assert np.abs(balance().rows @ left).max() < 1e-12 and project(left) == pytest.approx(left, abs=1e-12)
    missed = balance().rows @ given
    assert balance().rows @ onto(missed) == pytest.approx(missed, abs=1e-12)


def test_the_stiffness_is_the_change_of_the_forces() -> None:
    x = starts(balance())["waves"]
    along, step = np.random.default_rng(1).normal(size=len(x)), 1e-7
    change = (balance().gradient(x + step * along) - balance().gradient(x - step * along)) / (2.0 * step)
    assert balance().stiffness(x)(along) == pytest.approx(change, abs=1e-6 * np.abs(change).max())


def is_stable(found: Found) -> bool:
    return balance().equilibrium.stable_at(balance().state(found.x))


def height(x: Vector) -> float:
    return float(np.ptp(x.reshape(-1, 3)[:, 1]))


def test_a_search_on_the_norm_of_forces_is_content_on_a_ridge_and_ours_is_not() -> None:
    """Even from beside it: the bump is flattened."""
    begun, thick = starts(balance()), balance().slab.layers.thickness
    for name in ("flat", "bump"):
        kept = tikhonov(balance(), begun[name], _LEAST)
        assert kept.converged and not is_stable(kept) and height(kept.x) < 0.02 * thick
    left = ours(balance(), begun["flat"])
    assert left.converged and is_stable(left) and height(left.x) > 0.5 * thick
    assert balance().value(left.x) < 0.95 * balance().value(begun["flat"])


@pytest.mark.slow
def test_on_the_null_space_conditions_are_kept_exactly_and_the_ridge_too() -> None:
    begun = starts(balance())
    for way, least in ((projection, 1e-14), (multipliers, 1e-8)):
        found = way(balance(), begun["bump"])
        assert found.converged and not is_stable(found)
        assert np.abs(balance().rows @ found.x - balance().goals).max() < least
