"""The small contracts every room speaks. Shapes: n points, d = 3 n point coordinates.

An energy may carry *auxiliary* unknowns a (edge moments, say) that it eliminates itself: `value` and
`gradient` are functions of the points alone, while the local blocks describe the bordered matrix

    [ H_xx  H_xa ]
    [ H_ax  H_aa ]      with H_aa negative definite,

whose Schur complement H_xx − H_xa H_aa⁻¹ H_ax is the Hessian of `value`. An energy without auxiliaries
simply has H_xx. Unknowns 0 … 3n−1 are the point coordinates (point-major), 3n + j is auxiliary j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, Flags, Integers, Points, Sparse, Vector
from .solution import Solution
from .state import State


@dataclass(frozen=True)
class Stencil:
    """Where local blocks land in a symmetric matrix; −1 means the entry is left out.

    Without `columns` a block is square, symmetric and lies on (rows, rows). With `columns` it is a
    coupling block on (rows, columns), its transpose on (columns, rows) is implied, and no unknown
    may be in both.
    """

    rows: Integers
    """(m, r) unknowns"""
    columns: Integers | None = None
    """(m, c) unknowns, or None for a square block"""

    @property
    def block_shape(self) -> tuple[int, int, int]:
        """Shape (m, r, c) of the array of local blocks."""
        columns = self.rows if self.columns is None else self.columns
        return self.rows.shape[0], self.rows.shape[1], columns.shape[1]


class Energy(Protocol):
    """A potential of the points, frozen for one step."""

    @property
    def auxiliary_count(self) -> int:
        """Number of unknowns the energy eliminates itself."""
        ...

    def value(self, x: Points) -> float:
        """Energy [J] at points x (n, 3)."""
        ...

    def gradient(self, x: Points) -> Points:
        """(n, 3) derivative of `value` [N]; minus the force."""
        ...

    def follow(self, x: Points) -> Mapping[str, Array]:
        """Take x for where the solve has come to: of several branches (a fold beyond π) stay on the one there.

        Returns what that changes in the state's memory; an energy without branches has nothing to do.
        """
        ...

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """Where `blocks(x, psd)` land. Never depends on x."""
        ...

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Local blocks, one array a stencil. With psd, H_xx of each block is positive semi-definite."""
        ...


class EnergySource(Protocol):
    """An energy that may vary in time: material keys, viscosity, plasticity, wind."""

    def at(self, state: State, dt: float) -> Energy:
        """The energy of the step that leads from `state` to `state.time + dt`. Its stencils never change."""
        ...

    def remember(self, state: State) -> Mapping[str, Array]:
        """The part of `State.memory` this energy owns, brought up to `state`."""
        ...


@dataclass(frozen=True)
class LinearRows:
    """Linear conditions J x = goals on the points, frozen for one step.

    A row's stiffness k says how it is held: infinite is a hard condition, zero is none, between them
    it is a spring that pulls with the force −Jᵀ k (J x − anchors). Rows that come in threes (x, y, z of one average)
    may have a *cap*: where holding them would take more than that force they yield, pulled by the cap alone.
    """

    jacobian: Sparse
    """(r, 3n) CSR, of the same pattern at every step"""
    goals: Vector
    """(r,) what was directed"""
    stiffness: Vector
    """(r,) k, from 0 to ∞ [N/m for rows in metres]"""
    anchors: Vector
    """(r,) where the spring of a row that is not hard pulls to: the goal, or with damping a point on the way"""
    caps: Vector | None = None
    """(r/3,) the largest force on each three rows, from 0 to ∞ [N for rows in metres]; None: none is capped"""
    press: Vector | None = None
    """(r/3,) how hard each three rows may press surfaces against each other before they yield to contact; None: rows
    are never asked to"""

    def residual(self, x: Points) -> Vector:
        """(r,) J x − goals: how far a direction is missed."""
        return self.jacobian @ x.reshape(-1) - self.goals

    def stretch(self, x: Points) -> Vector:
        """(r,) J x − anchors for springs, J x − goals for hard rows."""
        return self.jacobian @ x.reshape(-1) - np.where(np.isinf(self.stiffness), self.goals, self.anchors)


class Constraint(Protocol):
    """Linear conditions whose goals and stiffness vary in time."""

    @property
    def jacobian(self) -> Sparse:
        """(r, 3n) CSR: the pattern of every step's rows, and their values where those never change."""
        ...

    @property
    def capped(self) -> bool:
        """Whether its rows come with caps, at every step or at none."""
        ...

    def at(self, state: State, dt: float) -> LinearRows:
        """The conditions that must hold at `state.time + dt`."""
        ...


class Touching(Protocol):
    """Surfaces that must not pass through each other, frozen for one step: a potential whose pairs may be others at
    every x, obstacles that go their way while the step is solved, and how far both may go.
    """

    seconds: dict[str, float]
    """what was spent on each part of contact"""
    inertia: float
    """[N/m] mass of a point of the body over the step's length squared"""

    @property
    def scales(self) -> bool:
        """Whether the potential knows how stiff to be; else `scale` must tell it."""
        ...

    waits: bool
    """whether the obstacles stand for now, so that the body can make room"""

    @property
    def arrived(self) -> bool:
        """Whether the obstacles are where they must be at the end of the step."""
        ...

    def go_alone(self, x: Points) -> None:
        """The obstacles go on while the body stands at x, as far as it is not in their way."""
        ...

    def scale(self, stiffness: float) -> None:
        """Take the elastic stiffness of a point of the body [N/m]."""
        ...

    def value(self, x: Points, ahead: float = 0.0) -> float:
        """Energy [J] with the obstacles that share further on what is left of their way."""
        ...

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N] on the body's points."""
        ...

    def pressure(self, x: Points, step: Points | None = None) -> Points:
        """(n, 3) [N] the part of the gradient that keeps surfaces apart (without friction); to first order after a
        step (n, 3), and what is left of the obstacles' way, if one is given."""
        ...

    def on_obstacles(self, x: Points, ahead: float = 0.0) -> float:
        """[J] the slope of the energy along what is left of the obstacles' way, where a share of it is gone."""
        ...

    def drive(self, x: Points) -> Points:
        """(n, 3) [N] by which the gradient changes, to first order, when the obstacles go what is left of their way."""
        ...

    def blocks(self, x: Points) -> tuple[Integers, Array]:
        """(m, k) points, −1 for none, and (m, 3k, 3k) positive semi-definite blocks [N/m]."""
        ...

    def likely(self, x: Points) -> Integers:
        """(p, 2) pairs of points that may soon share a block."""
        ...

    def slow(self, x: Points, step: Points) -> None:
        """What would cut a step (n, 3) short moves less in the next ones, by larger blocks."""
        ...

    def slowing(self, step: Points) -> Points:
        """(n, 3) [N] with which what is slowed withstands a step (n, 3): no forces, but multipliers are larger by
        them."""
        ...

    def ease(self) -> None:
        """A step was taken whole: what is slowed is slowed less."""
        ...

    @property
    def slows(self) -> bool:
        """Whether anything is slowed."""
        ...

    def touched(self, x: Points) -> Flags:
        """(n,) points that feel something."""
        ...

    def busy(self, x: Points) -> bool:
        """Whether any point feels something."""
        ...

    def max_step(self, x: Points, step: Points) -> float:
        """How much of a step (n, 3), and of the obstacles' way, can be gone with nothing passing through anything."""
        ...

    def pinch(self, x: Points, *, last: bool = False) -> bool:
        """Let those points ignore the obstacles that are between such as will leave no room, as the `last` resort also
        those that are in the way of one; whether any is new.
        """
        ...

    def advance(self, share: float) -> None:
        """The obstacles go this share of what is left of their way."""
        ...

    def report(self, x: Points) -> Mapping[str, float]:
        """What a frame says of contact."""
        ...

    def memory(self) -> Mapping[str, Array]:
        """What `State.memory` must carry on."""
        ...


class ContactSource(Protocol):
    """Where a step's contact comes from."""

    def at(self, state: State, dt: float) -> Touching:
        """The contact of the step that leads from `state` to `state.time + dt`."""
        ...


class Stepper(Protocol):
    """Carries a system from one state to the next."""

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """One step of length dt [s]; as the `last` resort obstacles are let through rather than that it fails."""
        ...


class Factorisation(Protocol):
    """A direct solver for symmetric matrices of one pattern, given by their upper triangle."""

    name: str
    """what the run reports, e.g. 'MKL PARDISO, 2 threads'"""

    def analyse(self, indptr: Integers, indices: Integers) -> None:
        """Take the pattern: CSR upper triangle with every diagonal entry stored."""
        ...

    def factor(self, values: Vector) -> None:
        """Factorise for the values (nnz,) of the pattern."""
        ...

    def solve(self, b: Array) -> Array:
        """Solve A y = b for b (N,), or for every row of b (r, N)."""
        ...

    def inertia(self) -> tuple[int, int]:
        """Numbers of positive and negative pivots of the last factor."""
        ...


class ContentStore(Protocol):
    """Where results that took long are kept under the name of what they were made of."""

    def load(self, key: str) -> Mapping[str, NDArray[Any]] | None:
        """The arrays kept under a name; None where there are none, or they are damaged."""
        ...

    def store(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name. What cannot be kept is not: a job does not fail for that."""
        ...
