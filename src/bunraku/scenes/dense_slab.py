"""The slab with every part of it a solid, skin and foundation [Remillard 2013, §7.2]: what a skin coupled to a coarse
interior has to come near to.

A slice in plane strain, as deep as waves reach. Its ends are planes of symmetry and its bottom slides, so that pressed
but flat it is in balance in closed form; whether that balance is stable says where waves begin. Between two such ends
fit half waves only: how long waves want to be is measured on a single one, whose length is free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import Integers, Points, State, Vector
from bunraku.direction.wrinkle.skin import ENOUGH
from bunraku.dynamics import Equilibrium, EquilibriumSettings, Mass, System
from bunraku.materials import SkinOnSoft, SolidMaterial

from .plane_strain import Layered, PlaneStrain
from .slab import LENGTH, dominant_wavelength, slowly_begun

_HALVINGS = 20
"""of the strain: near its least the onset hardly depends on the wavelength, a tenth of a percent of which is a
millionth of the onset"""
_DENSITY = 1000.0
_SEARCHED = (0.75, 1.35)
"""of the wavelength of theory: where that of the least onset is looked for"""
_SEARCH_ENDS = 2e-3
_MOST = 3.0
"""times the onset of theory: nothing is pressed further to see whether it buckles"""


@dataclass(frozen=True)
class DenseSlab:
    """The slab, how finely it is cut and how far it is pressed."""

    layers: SkinOnSoft
    length: float = LENGTH
    """[m]"""
    per_wave: float = 8.0
    """elements along a wavelength; they are quadratic"""
    through: int = 1
    """elements through the skin"""
    depth: float = 1.5
    """wavelengths of foundation"""
    pressed: float = 2.0
    """how far it is pressed in the end, over the strain at which theory has it buckle"""
    steps: int = 12
    threads: int | None = None

    @cached_property
    def layered(self) -> Layered:
        """Its elements."""
        columns = max(int(np.ceil(self.per_wave * self.length / self.layers.wavelength)), 2)
        wide = self.length / columns
        below, deep = [0.5 * wide], self.depth * self.layers.wavelength
        while sum(below) < deep:
            below.append(min(2.0 * below[-1], 2.0 * wide))  # waves die away downwards: so may the elements' fineness
        under = np.array(below[::-1]) * (deep / sum(below))
        skin = np.full(self.through, self.layers.thickness / self.through)
        return Layered(np.full(columns, wide), np.concatenate([under, skin]))

    def strain(self, time: float) -> float:
        """At times from 0 to 1."""
        return time * self.pressed * self.layers.onset

    def flat(self, time: float) -> Points:
        """(n, 3) [m] pressed evenly, in balance: each layer as much higher as it must be to feel nothing from above."""
        strain, rest = self.strain(time), self.layered.rest
        deep = float(self.layered.high[: -self.through].sum())
        in_skin = np.maximum(rest[:, 1] - deep, 0.0)
        skin, under = (1.0 + nu / (1.0 - nu) * strain for nu in (self.layers.poisson, self.layers.poisson_under))
        return np.stack([rest[:, 0] * (1.0 - strain), under * (rest[:, 1] - in_skin) + skin * in_skin, rest[:, 2]], 1)

    def stable_flat(self, time: float) -> bool:
        """Whether it would stay flat."""
        return self.equilibrium.stable_at(_state(time, self.flat(time)))

    def onset(self) -> float:
        """The strain at which it would not, by halving; ∞ where it would at the end."""
        low, high = 0.0, 1.0
        if self.stable_flat(1.0):
            return np.inf
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.stable_flat(middle) else (low, middle)
        return self.strain(0.5 * (low + high))

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """What finds its balance."""
        settings = EquilibriumSettings(ENOUGH, self.layers.thickness)
        return Equilibrium(self.system, settings, threads=self.threads)

    @cached_property
    def system(self) -> System:
        """Two matters, held at the ends and the bottom."""
        layered, layers = self.layered, self.layers
        first = len(layered.high) - self.through
        under = SolidMaterial(layers.under, layers.poisson_under, _DENSITY)
        skin = SolidMaterial(layers.young, layers.poisson, _DENSITY)
        energies = (
            PlaneStrain(layered, np.arange(first), under),
            PlaneStrain(layered, np.arange(first, len(layered.high)), skin),
        )
        mass = Mass(layered.masses(_DENSITY))
        across, up = layered.shape
        i, j = np.divmod(np.arange(across * up), up)
        ends, bottom = np.flatnonzero((i == 0) | (i == across - 1)), np.flatnonzero(j == 0)
        rows = [(ends, 0), (bottom, 1)]
        return System(mass, energies, tuple(self._held(mass, which, axis) for which, axis in rows))

    def _held(self, mass: Mass, which: Integers, axis: int) -> LinearConstraint:
        rows = pin_jacobian(which, np.array([axis]), len(mass.lumped))
        return LinearConstraint(
            rows, lambda time: rows @ self.flat(time).reshape(-1), lambda time: np.ones(len(which)),
            felt_mass(rows, mass.lumped),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class DensePressed:
    """What came of pressing it."""

    slab: DenseSlab
    points: Points
    """(n, 3) [m] at the end"""
    converged: bool
    iterations: int

    @property
    def heights(self) -> Vector:
        """[m] of the skin's middle surface, at even places along it."""
        skin = self.points[:, 1].reshape(self.slab.layered.shape)[:, -2 * self.slab.through - 1 :]
        return skin[:, self.slab.through]

    @property
    def wavelength(self) -> float:
        """[m] in the material, where the spectrum is highest; NaN of what stays flat."""
        return dominant_wavelength(self.heights, self.slab.length / (len(self.heights) - 1))

    @property
    def amplitude(self) -> float:
        """[m] of a sine with the same root mean square, over the middle half."""
        count = len(self.heights)
        middle = self.heights[count // 4 : -(count // 4)]
        return float(np.sqrt(2.0) * (middle - middle.mean()).std())


def press_dense(slab: DenseSlab) -> DensePressed:
    """Press it step by step, each balance looked for from the one before; where waves begin it goes slowly."""
    times = slowly_begun(np.linspace(0.0, 1.0, slab.steps + 1), slab.onset() / slab.strain(1.0))
    x, iterations, converged = slab.layered.rest, 0, True
    for before, time in pairwise(times):
        solution = slab.equilibrium.find(_state(time, x + slab.flat(time) - slab.flat(before)))
        iterations += solution.stats["iterations"]
        converged &= solution.outcome.usable
        x = solution.value.q.reshape(-1, 3)
    return DensePressed(slab, x, converged, iterations)


def first_waves(slab: DenseSlab) -> tuple[float, float]:
    """The wavelength [m] and the strain at which waves begin in an endless slab: of all lengths of a half wave, the one
    that buckles first."""
    high = slab.per_wave / 2.0

    def onset(length: float) -> float:
        half = length * slab.layers.wavelength / 2.0
        # As many elements whatever its length: the onset is then a smooth function of it.
        fine = high * slab.layers.wavelength / half
        return replace(slab, length=half, per_wave=fine, pressed=_MOST).onset() / slab.layers.onset

    found = minimize_scalar(onset, bounds=_SEARCHED, method="bounded", options={"xatol": _SEARCH_ENDS})
    return float(found.x) * slab.layers.wavelength, float(found.fun) * slab.layers.onset


def _state(time: float, x: Points) -> State:
    return State(time, x.reshape(-1).copy(), np.zeros(x.size))
