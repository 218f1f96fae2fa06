"""A slice of a layered solid in plane strain: rectangles of nine nodes in the plane z = 0, quadratic along both sides.

They are the lattice's elements, whose kernels take functions along each axis from tables: Lagrange's here, so that a
strain may jump from one layer to the next, which a smooth B-spline would forbid. Three copies of the plane, as far
apart as the slice is thick, make solid elements; the copies move as one, and so nothing stretches along z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bunraku.contracts import Array, Integers, Points, State, Stencil, Vector
from bunraku.energies import LatticeSolidEnergy
from bunraku.geometry.lattice import whole_weights
from bunraku.geometry.splines import GAUSS, GAUSS_WEIGHTS
from bunraku.materials import SolidMaterial
from bunraku.numerics import Scatter

_SIDE = 3
"""nodes along a side of an element"""
_LUMPED: Vector = np.array([1.0, 4.0, 1.0]) / 6.0
"""(3,) integrals of a side's functions over its length"""


@dataclass(frozen=True, eq=False)
class Layered:
    """A rectangle of elements, in columns from left to right, each from the bottom up."""

    wide: Vector
    """(c,) [m] of the columns of elements"""
    high: Vector
    """(l,) [m] of the layers of elements, from the bottom up"""

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes along x and along y."""
        return 2 * len(self.wide) + 1, 2 * len(self.high) + 1

    @property
    def rest(self) -> Points:
        """(n, 3) [m], y fastest, from the lower left corner."""
        x, y = np.meshgrid(_halved(self.wide), _halved(self.high), indexing="ij")
        return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)

    def elements(self, layers: Integers) -> Integers:
        """(m, 9) nodes of the elements in some layers, y fastest."""
        across = self.shape[1]
        i, j = (one.ravel() for one in np.meshgrid(np.arange(len(self.wide)), layers, indexing="ij"))
        local = (np.arange(_SIDE)[:, None] * across + np.arange(_SIDE)).ravel()
        return (2 * i * across + 2 * j)[:, None] + local

    def sizes(self, layers: Integers) -> Points:
        """(m, 3) [m] of the same elements; a metre along z."""
        i, j = (one.ravel() for one in np.meshgrid(np.arange(len(self.wide)), layers, indexing="ij"))
        return np.stack([self.wide[i], self.high[j], np.ones(len(i))], axis=1)

    def masses(self, density: float) -> Vector:
        """(n,) [kg] to a metre along z."""
        every = np.arange(len(self.high))
        areas = np.prod(self.sizes(every)[:, :2], axis=1)
        local = density * areas[:, None] * np.outer(_LUMPED, _LUMPED).ravel()
        return np.bincount(self.elements(every).ravel(), local.ravel()).astype(np.float64)


def _halved(lengths: Vector) -> Vector:
    """Ends and middles of intervals one after another, from 0 on."""
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    out = np.empty(2 * len(lengths) + 1)
    out[::2], out[1::2] = ends, 0.5 * (ends[1:] + ends[:-1])
    return out


@dataclass(frozen=True, eq=False)
class PlaneStrain:
    """The elastic energy of some layers, to a metre along z. z of the nodes takes no part; a spring holds it at 0."""

    layered: Layered
    layers: Integers
    """(l,) which of its layers are of this matter"""
    material: SolidMaterial
    auxiliary_count = 0
    _elements: Integers = field(init=False, repr=False)
    _solid: LatticeSolidEnergy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        flat, sizes = self.layered.elements(self.layers), self.layered.sizes(self.layers)
        solid = (_SIDE * flat[:, :, None] + np.arange(_SIDE)).reshape(len(flat), -1)
        values, slopes = _lagrange(GAUSS)
        every = np.broadcast_to(values, (len(flat) + 1, 3, *values.shape)).copy()
        lengths = np.concatenate([sizes, np.ones((1, 3))])
        shear, bulk = self.material.lame
        energy = LatticeSolidEnergy(
            solid, every, slopes / lengths[:, :, None, None], np.prod(sizes, axis=1)[:, None] * whole_weights(),
            np.zeros(len(flat)), shear, bulk, self.material.law == "neohookean", 0.0,
            np.zeros((len(flat), 2, len(GAUSS_WEIGHTS) ** 3, 6)),
            Scatter.of(solid, _SIDE * int(np.prod(self.layered.shape))), whole_weights(),
        )  # fmt: skip
        object.__setattr__(self, "_elements", flat)
        object.__setattr__(self, "_solid", energy)

    def at(self, state: State, dt: float) -> PlaneStrain:
        """It is the same at all times."""
        return self

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def value(self, x: Points) -> float:
        """[J]"""
        return self._solid.value(_copies(x)) + 0.5 * self.material.young * float(x[:, 2] @ x[:, 2])

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        out = self._solid.gradient(_copies(x)).reshape(len(x), _SIDE, 3).sum(axis=1)
        out[:, 2] = self.material.young * x[:, 2]
        return out

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 18 × 18 block an element for x and y, and z of every node by itself."""
        plane = (3 * self._elements[:, :, None] + np.arange(2)).reshape(len(self._elements), -1)
        z = 3 * np.arange(int(np.prod(self.layered.shape))) + 2
        return Stencil(plane), Stencil(z[:, None])

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Of the copies together; with psd, as the lattice has it."""
        (whole,) = self._solid.blocks(_copies(x), psd)
        nodes = _SIDE * _SIDE
        parts = whole.reshape(-1, nodes, _SIDE, 3, nodes, _SIDE, 3).sum(axis=(2, 5))
        plane = parts[:, :, :2, :, :2].reshape(len(whole), 2 * nodes, 2 * nodes)
        return np.ascontiguousarray(plane), np.full((len(x), 1, 1), self.material.young)


def _copies(x: Points) -> Points:
    """(3n, 3) the plane (n, 3) three times, half a metre apart, node by node."""
    out = np.repeat(x, _SIDE, axis=0)
    out[:, 2] = np.tile([0.0, 0.5, 1.0], len(x))
    return out


def _lagrange(t: Vector) -> tuple[Array, Array]:
    """Values and slopes (k, 3) of the quadratics that are one at 0, ½ or 1 and zero at the others, at places t (k,)."""
    values = np.stack([(1.0 - t) * (1.0 - 2.0 * t), 4.0 * t * (1.0 - t), t * (2.0 * t - 1.0)], axis=-1)
    return values, np.stack([4.0 * t - 3.0, 4.0 - 8.0 * t, 4.0 * t - 1.0], axis=-1)
