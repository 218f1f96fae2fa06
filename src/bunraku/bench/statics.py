"""Ways to find the balance of a skin, on the same energies and conditions [Remillard 2013, §6.1–6.2].

Ours minimises the energy and counts pivots. The thesis looks for a place where forces vanish, with a line search on
their norm: by Lagrange's multipliers and MINRES (6.4, whose right-hand side is taken with its sign put right), on the
null space of the conditions (6.7 to 6.13, with R Δz = Δy for 6.11), and with Tikhonov's ω (6.5; −ω below the
conditions, without which the matrix is neither definite nor what is meant).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.sparse import linalg

from bunraku.contracts import Array, Vector
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import Slab

from .statics_problem import Balance

_LIMIT = 8
"""Newton iterations"""
_MINRES = 1e-8
_ENOUGH = 1e-9
"""of the force that stretches an edge to twice its length: what may be left"""
_ARMIJO, _CUTS, _CLAMP = 1e-4, 30, (0.1, 0.5)
_TIKHONOV = (1e-6, 1e-3)
"""ω as a share of E h"""
_SEED = 0.01
"""of the thickness: how high the skin is lifted in its middle to begin with"""


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search ended."""

    x: Vector
    iterations: int
    inner: int
    """of MINRES, or factorisations"""
    converged: bool


Direction = Callable[[Vector, Vector], tuple[Vector, int]]
"""x and the unbalanced force (or residual of all equations) → the step of all unknowns, and iterations spent"""


def ours(balance: Balance, x: Vector) -> Found:
    """Energy descent with the right number of negative pivots."""
    found = balance.equilibrium.find(balance.state(x))
    return Found(
        found.value.q, found.stats["iterations"], found.stats["factorisations"], found.outcome.usable
    )  # fmt: skip


def multipliers(balance: Balance, x: Vector) -> Found:
    """(6.3), (6.4): multipliers, scaled by γ = E h, and MINRES on the whole."""
    scale = balance.slab.layers.young * balance.slab.layers.thickness
    rows, count = scale * balance.rows, len(x)

    def residual(z: Vector) -> Vector:
        return np.concatenate([balance.gradient(z[:count]) + rows.T @ z[count:],
                               scale * (balance.rows @ z[:count] - balance.goals)])  # fmt: skip

    def direction(z: Vector, left: Vector) -> tuple[Vector, int]:
        own = balance.stiffness(z[:count])

        def times(v: Vector) -> Vector:
            return np.concatenate([own(v[:count]) + rows.T @ v[count:], rows @ v[:count]])

        return _minres(times, -left)

    start = np.concatenate([x, np.zeros(len(balance.goals))])
    return _newton(balance, start, residual, direction, count)


def projection(balance: Balance, x: Vector) -> Found:
    """(6.6) to (6.13): first onto the conditions, then MINRES on their null space; of Q R = Hᵀ only R is kept, which is
    the Cholesky factor of H Hᵀ."""
    project, onto = projector(balance)
    begun = x + onto(balance.goals - balance.rows @ x)

    def direction(z: Vector, left: Vector) -> tuple[Vector, int]:
        own = balance.stiffness(z)
        step, spent = _minres(lambda v: project(own(project(v))), -left)
        return project(step), spent

    return _newton(balance, begun, lambda z: project(balance.gradient(z)), direction, len(x))


def projector(balance: Balance) -> tuple[Callable[[Vector], Vector], Callable[[Vector], Vector]]:
    """I − Hᵀ R⁻¹ R⁻ᵀ H, and the shortest step Hᵀ R⁻¹ R⁻ᵀ c to conditions that are missed by c."""
    rows = balance.rows
    upper: Array = np.linalg.cholesky((rows @ rows.T).toarray()).T

    def onto(c: Vector) -> Vector:
        return rows.T @ solve_triangular(upper, solve_triangular(upper, c, trans=1))

    return lambda v: v - onto(rows @ v), onto


def tikhonov(balance: Balance, x: Vector, share: float) -> Found:
    """(6.5) with a direct solver: ω on the stiffness, −ω below the conditions."""
    scale = balance.slab.layers.young * balance.slab.layers.thickness
    rows, count, omega = scale * balance.rows, len(x), share * scale
    conditions = len(balance.goals)

    def residual(z: Vector) -> Vector:
        return np.concatenate([balance.gradient(z[:count]) + rows.T @ z[count:],
                               scale * (balance.rows @ z[:count] - balance.goals)])  # fmt: skip

    def direction(z: Vector, left: Vector) -> tuple[Vector, int]:
        own = balance.bordered(z[:count])
        size = own.shape[0]
        border = sparse.hstack([rows, sparse.csr_array((conditions, size - count))])
        held = sparse.diags_array(np.concatenate([np.full(count, omega), np.zeros(size - count)]))
        whole = sparse.block_array([[own + held, border.T], [border, -omega * sparse.eye_array(conditions)]])
        right = np.concatenate([-left[:count], np.zeros(size - count), -left[count:]])
        found: Vector = linalg.splu(sparse.csc_array(whole)).solve(right)
        return np.concatenate([found[:count], found[size:]]), 1

    return _newton(balance, np.concatenate([x, np.zeros(conditions)]), residual, direction, count)


def _minres(times: Callable[[Vector], Vector], right: Vector) -> tuple[Vector, int]:
    spent = [0]

    def count(_: Vector) -> None:
        spent[0] += 1

    make: Any = linalg.LinearOperator  # whose stubs know no functions
    operator = make((len(right), len(right)), matvec=times)
    step, _ = linalg.minres(operator, right, rtol=_MINRES, maxiter=4 * len(right), callback=count)
    return step, spent[0]


def _newton(
    balance: Balance, z: Vector, residual: Callable[[Vector], Vector], direction: Direction, count: int
) -> Found:
    """Newton's method with the thesis's search on the norm of what is left."""
    inner, enough = 0, _ENOUGH * balance.force
    for done in range(_LIMIT):
        left = residual(z)
        if np.abs(left).max() <= enough:
            return Found(z[:count], done, inner, True)
        step, spent = direction(z, left)
        inner += spent
        share = _shorter(lambda beta, z=z, step=step: _norm(residual(z + beta * step)), _norm(left))
        if share == 0.0:
            return Found(z[:count], done + 1, inner, False)
        z = z + share * step
    return Found(z[:count], _LIMIT, inner, False)


def _norm(left: Vector) -> float:
    return float(np.linalg.norm(left))


def _shorter(norm: Callable[[float], float], begin: float) -> float:
    """How far to go so that the norm falls: 1, ½, then the least of the parabola through the last two and the
    beginning, kept within a tenth and a half of the last; 0 where none does."""
    tried: list[tuple[float, float]] = []
    beta = 1.0
    for _ in range(_CUTS):
        now = norm(beta)
        if now < (1.0 - _ARMIJO * beta) * begin:
            return beta
        tried.append((beta, now**2))
        if len(tried) == 1:
            beta = 0.5
            continue
        (a, fa), (b, fb) = tried[-2:]
        bend = ((fa - begin**2) / a - (fb - begin**2) / b) / (a - b)
        slope = (fb - begin**2) / b - bend * b
        least = -0.5 * slope / bend if bend > 0.0 else _CLAMP[1] * b
        beta = float(np.clip(least, _CLAMP[0] * b, _CLAMP[1] * b))
    return 0.0


WAYS: dict[str, Callable[[Balance, Vector], Found]] = {
    "energy descent, pivots counted (ours)": ours,
    "multipliers, MINRES, ‖F‖": multipliers,
    "null space, MINRES, ‖F‖": projection,
    **{
        f"Tikhonov {share:g} E h, direct, ‖F‖": lambda balance, x, share=share: tikhonov(balance, x, share)
        for share in _TIKHONOV
    },
}


def run(per_wave: float = 4.0, threads: int | None = None) -> Iterator[str]:
    """Each way from three beginnings, pressed to 1.5 times the onset."""
    layers = SkinOnSoft(4e-3, 1e7, 1e5)
    balance = Balance(Slab(layers, per_wave=per_wave, pressed=1.5, threads=threads))
    slab = balance.slab
    yield (
        f"a slab of {slab.mesh.point_count} vertices and {len(balance.goals)} conditions, pressed to "
        f"{slab.pressed:g} times its onset"
    )
    yield (f"{'':38s} {'begun':6s} seconds  Newton   inner  conditions m  force/E h edge    energy J  highest mm")
    ours(balance, balance.flat())  # what is compiled and analysed once is not timed
    for name, way in WAYS.items():
        for begun, x in starts(balance).items():
            yield f"{name:38s} {begun:6s} {row(balance, way, x)}"


def starts(balance: Balance) -> dict[str, Vector]:
    """Where searches begin: flat, flat but for a small bump in the middle, and with the waves that theory has."""
    layers = balance.slab.layers
    return {
        "flat": balance.flat(), "bump": balance.seeded(_SEED * layers.thickness),
        "waves": balance.waved(layers.amplitude(balance.slab.strain(1.0))),
    }  # fmt: skip


def row(balance: Balance, way: Callable[[Balance, Vector], Found], x: Vector) -> str:
    """A search, timed, and what it has found."""
    clock = time.process_time()
    found = way(balance, x)
    spent = time.process_time() - clock
    missed = float(np.abs(balance.rows @ found.x - balance.goals).max())
    left = float(np.abs(projector(balance)[0](balance.gradient(found.x))).max()) / balance.force
    high = 1e3 * float(np.ptp(found.x.reshape(-1, 3)[:, 1])) / 2.0
    told = "" if found.converged else "not converged, "
    where = "stable" if balance.equilibrium.stable_at(balance.state(found.x)) else "ridge"
    return (
        f"{spent:7.2f} {found.iterations:7d} {found.inner:7d} {missed:13.1e} {left:15.1e} "
        f"{balance.value(found.x):11.5f} {high:11.3f}  {told}{where}"
    )
