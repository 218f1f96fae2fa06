"""Muscles: places in a body, drawn to where a contracting shape has them [Remillard 2013, §7.5].

Springs ½ Σ w |x − y|² from samples x = B q of the muscle's matter to their goals y, w being stiffness per volume times
the volume a sample stands for. Goals are either places in the world, as in the thesis, which then hold the muscle
there; or a shape, wherever it is: y = R s + c with the rotation R and the place c that fit best at every x,

    energy = min over R, c of ½ Σ w |x − R s − c|².

So it does not see rigid motion, and by the envelope theorem its force is w (x − R s − c) as if R and c were fixed: a
force that balances itself, as does its moment. When x moves by dx, R turns by G⁻¹ Σ w (R s) × dx with G = tr(S) − S,
S = Σ w x (R s)ᵀ about the middle: a matrix of rank six beside the springs' own, on all nodes of the muscle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numba
import numpy as np

from bunraku.contracts import Array, Integers, Points, Sparse, State, Stencil, Vector
from bunraku.numerics import signed_svds

from .membrane import point_unknowns


@dataclass(frozen=True, eq=False)
class Springs:
    """What of a muscle never changes."""

    elements: Integers
    """(m, a) nodes of the elements it is in"""
    blocks: Array
    """(m, a, a) Σ w of the samples in each, times products of their weights [N/m]"""
    matrix: Sparse
    """(s, n) CSR: B, places of the samples from those of the nodes"""
    weights: Vector
    """(s,) w [N/m]"""

    @classmethod
    def of(cls, elements: Integers, owners: Integers, shares: Array, matrix: Sparse, weights: Vector) -> Springs:
        """Samples with `shares` (s, a) of the nodes of their `owners` (s,) among the elements of a body (e, a)."""
        used, of = np.unique(owners, return_inverse=True)
        blocks = np.zeros((len(used), elements.shape[1], elements.shape[1]))
        _add_products(of.reshape(-1), weights, shares, blocks)
        return cls(elements[used], blocks, matrix, weights)

    @cached_property
    def nodes(self) -> Integers:
        """(r,) all of them, each once."""
        return np.unique(self.elements)

    @cached_property
    def among_nodes(self) -> Sparse:
        """(s, r) B without the nodes that it does not reach."""
        return self.matrix[:, self.nodes].tocsr()

    @cached_property
    def total(self) -> float:
        """[N/m] the sum of all weights."""
        return float(self.weights.sum())

    def centred(self, points: Points) -> Points:
        """(s, 3) about their weighted mean."""
        return points - (self.weights @ points) / self.total


@numba.njit(cache=True, error_model="numpy")
def _add_products(of, weights, shares, out):
    """Of each sample (s,) the products of its shares (s, a), added to the block (a, a) of its element."""
    for one in range(len(of)):
        for i in range(shares.shape[1]):
            for j in range(shares.shape[1]):
                out[of[one], i, j] += weights[one] * shares[one, i] * shares[one, j]


@dataclass(frozen=True, eq=False)
class ContractionEnergy:
    """Pull of a muscle with one shape. Anchored it is quadratic; else invariant under rigid motion, and zero and
    stationary where the samples have the shape."""

    springs: Springs
    goals: Points
    """(s, 3) places in the world, or a shape about its weighted mean [m]"""
    anchored: bool

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        away = self.away(x)
        return float(0.5 * self.springs.weights @ np.sum(away * away, axis=1))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return np.asarray(self.springs.matrix.T @ (self.springs.weights[:, None] * self.away(x)))

    def away(self, x: Points) -> Points:
        """(s, 3) the way from where the samples are to be to where nodes at x (n, 3) have them [m]."""
        places = np.asarray(self.springs.matrix @ x)
        if self.anchored:
            return places - self.goals
        centred = self.springs.centred(places)
        return centred - self.goals @ self._turn(centred)[0].T

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """Each element's nodes, for x, y and z alike; and all of the muscle's, where its shape may turn and move."""
        each = Stencil((3 * self.springs.elements[:, None, :] + np.arange(3)[None, :, None]).reshape(
            -1, self.springs.elements.shape[1]
        ))  # fmt: skip
        return (each,) if self.anchored else (each, Stencil(point_unknowns(self.springs.nodes[None])))

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd the shape turns as stiffly as if the samples had it: what is left is a projection."""
        each = np.repeat(self.springs.blocks, 3, axis=0)
        return (each,) if self.anchored else (each, -self._freed(x, psd)[None])

    def _freed(self, x: Points, psd: bool) -> Array:
        """(3 r, 3 r) what of the springs' stiffness goes because the shape moves and turns along."""
        springs = self.springs
        turn, stretch = self._turn(springs.centred(np.asarray(springs.matrix @ x)))
        shape = self.goals @ turn.T
        if psd:
            stretch = (springs.weights[:, None] * shape).T @ shape
        mean = springs.among_nodes.T @ springs.weights
        arm = np.asarray(springs.among_nodes.T @ (springs.weights[:, None] * shape))
        # (3, 3 r): moves of the nodes to Σ w (R s) × dx
        moment = np.cross(arm[:, :, None], np.eye(3)[None], axis=1).transpose(1, 0, 2).reshape(3, -1)
        loose = np.linalg.pinv(np.trace(stretch) * np.eye(3) - stretch, hermitian=True)
        moved = np.einsum("i,j,ab->iajb", mean, mean / springs.total, np.eye(3)).reshape(3 * len(mean), -1)
        out = moved + moment.T @ loose @ moment
        return 0.5 * (out + out.T)

    def _turn(self, centred: Points) -> tuple[Array, Array]:
        """The rotation (3, 3) that brings the shape next to centred samples (s, 3), and S (3, 3) [N·m]."""
        together = (self.springs.weights[:, None] * centred).T @ self.goals
        u, s, v = (one[0] for one in signed_svds(together[None]))
        return u @ v.T, (u * s) @ u.T


@dataclass(frozen=True, eq=False)
class Contraction:
    """A muscle that contracts: gives each step its `ContractionEnergy`."""

    springs: Springs
    relaxed: Points
    """(s, 3) the samples at rest [m]"""
    contracted: Points
    """(s, 3) where they are to be at activation 1 [m]"""
    activation: Callable[[float], float]
    """time [s] → 0, relaxed, to 1, contracted"""
    anchored: bool = False
    """whether goals are places in the world, not a shape"""
    _first: ContractionEnergy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_first", ContractionEnergy(self.springs, self.relaxed, self.anchored))

    def at_time(self, time: float) -> ContractionEnergy:
        """The energy with the shape of a time [s]."""
        return self._towards(self.relaxed + self.activation(time) * (self.contracted - self.relaxed))

    def contracted_all(self) -> ContractionEnergy:
        """The energy with the shape of activation 1."""
        return self._towards(self.contracted)

    def _towards(self, goals: Points) -> ContractionEnergy:
        return replace(self._first, goals=goals if self.anchored else self.springs.centred(goals))

    def at(self, state: State, dt: float) -> ContractionEnergy:
        """The energy of the step to `state.time + dt`."""
        return self.at_time(state.time + dt)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: the shape is a function of time."""
        return {}
