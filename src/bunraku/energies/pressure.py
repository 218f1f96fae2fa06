"""Pressure in closed shells: an overpressure that is given, or an enclosed gas that pushes back.

With V the volume of a chamber (a closed piece of the shell), at ambient pressure p₀:

    given overpressure p:   energy −p V,                      force p × area, outwards;
    enclosed gas, n = p V:  energy −n ln(V/V₀) + p₀ (V − V₀),  overpressure n/V − p₀ (isothermal).

The gas couples every vertex of a chamber with every other: its Hessian has the dense term n/V² ∇V ∇Vᵀ. One auxiliary
unknown a chamber, the change of its pressure, carries it, so the system stays sparse. The second derivative of V has
as many negative as positive eigenvalues and no stiffness of its own; with psd it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, InputError, Integers, Points, State, Stencil, Vector, input_error, is_between
from bunraku.geometry import Chambers
from bunraku.motion import Curve, CurveLike
from bunraku.numerics import Scatter

ATMOSPHERE = 101_325.0
"""[Pa]"""
LARGEST_PRESSURE = 1e9
"""[Pa] what is beyond is a unit mistake"""
_EMPTY = 1e-3
"""share of the start volume below which a chamber is a spring of constant stiffness: a step that passes through zero
volume on its way stays finite, and what is pressed empty stays so"""


@dataclass(frozen=True)
class Gas:
    """A gas shut into every closed piece of a shell: pressure × volume stays what it was at the start."""

    pressure: float = 0.0
    """overpressure at the start, above `ambient` [Pa]"""
    amount: CurveLike = 1.0
    """how much gas there is, as a multiple of that at the start; may be keyed: 2 pumps in as much again, 0 lets
    all out"""
    ambient: float = ATMOSPHERE
    """absolute pressure outside [Pa]"""

    def __post_init__(self) -> None:
        found = [*_outside("gas.ambient", self.ambient, 0.0, LARGEST_PRESSURE, "Pa")]
        found += _outside("gas.pressure", self.pressure, -LARGEST_PRESSURE, LARGEST_PRESSURE, "Pa")
        if not found and self.pressure <= -self.ambient:
            allowed = f"above {0.0 - self.ambient:g} Pa"
            found.append(input_error("gas.pressure leaves no gas", got=self.pressure, allowed=allowed))
        try:
            object.__setattr__(self, "amount", Curve.of(self.amount))
            values = Curve.of(self.amount).values
            found += [e for v in values for e in _outside("gas.amount", float(v), 0.0, 1e6, "times that at the start")]
        except InputError as error:
            found.append(InputError(f"gas.amount: {error}"))
        if found:
            raise InputError("\n".join(str(one) for one in found))


def pressure_curve(value: CurveLike) -> Curve:
    """A keyed overpressure [Pa]; refused where no shell could mean it."""
    try:
        curve = Curve.of(value)
    except InputError as error:
        raise InputError(f"pressure: {error}") from None
    for key in curve.values:
        for error in _outside("pressure", float(key), -LARGEST_PRESSURE, LARGEST_PRESSURE, "Pa"):
            raise error
    return curve


def _outside(name: str, value: object, low: float, high: float, unit: str) -> list[InputError]:
    if is_between(value, low, high):
        return []
    return [input_error(f"{name} is out of range", got=value, allowed=f"from {low:g} to {high:g} {unit}")]


def _edge_stencil(chambers: Chambers) -> Stencil:
    ends = chambers.hinges.vertices[:, :2]
    return Stencil((3 * ends[:, :, None] + np.arange(3)).reshape(len(ends), 6))


def _edge_blocks(chambers: Chambers, x: Points, weights: Vector) -> Array:
    """(h, 6, 6) Σ weight × second derivative of the volume, weights (c,) a chamber."""
    inner = weights[chambers.of_hinge][:, None, None] * chambers.curvatures(x)
    out = np.zeros((len(inner), 6, 6))
    out[:, :3, 3:], out[:, 3:, :3] = inner, np.swapaxes(inner, 1, 2)
    return out


def _corner_sum(chambers: Chambers, scatter: Scatter, x: Points, weights: Vector) -> Points:
    """(n, 3) Σ weight × derivative of the volume."""
    local = weights[chambers.chamber][:, None] * chambers.slopes(x)
    return scatter.sum(np.repeat(local[:, None, :], 3, axis=1))


@dataclass(frozen=True, eq=False)
class PressureEnergy:
    """A given overpressure: −p V. Invariant under rigid motion; nowhere stationary."""

    chambers: Chambers
    pressure: float
    """[Pa] inside over outside"""
    scatter: Scatter = field(repr=False)

    auxiliary_count = 0

    @property
    def _weights(self) -> Vector:
        return np.full(self.chambers.count, -self.pressure)

    def value(self, x: Points) -> float:
        """[J]"""
        return float(self._weights @ self.chambers.volumes(x))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return _corner_sum(self.chambers, self.scatter, x, self._weights)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """The edges; none with psd."""
        return () if psd else (_edge_stencil(self.chambers),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd nothing: what stretches under the pressure holds against it, see docs/air.md."""
        return () if psd else (_edge_blocks(self.chambers, x, self._weights),)


@dataclass(frozen=True, eq=False)
class Pressure:
    """A keyed overpressure in every chamber of a shell."""

    chambers: Chambers
    curve: Curve
    """[Pa]"""
    point_count: int

    @cached_property
    def _scatter(self) -> Scatter:
        return Scatter.of(self.chambers.faces, self.point_count)

    def at(self, state: State, dt: float) -> PressureEnergy:
        """The energy of the step to `state.time + dt`."""
        return PressureEnergy(self.chambers, self.curve.at(state.time + dt), self._scatter)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}

    def overpressures(self, x: Points, time: float) -> Vector:
        """(c,) [Pa]"""
        return np.full(self.chambers.count, self.curve.at(time))


@dataclass(frozen=True, eq=False)
class GasEnergy:
    """Gas shut in: −n ln(V/V₀) + p₀ (V − V₀) for each chamber. Invariant under rigid motion."""

    chambers: Chambers
    start: Vector
    """(c,) V₀ [m³]"""
    amounts: Vector
    """(c,) n = pressure × volume [J]"""
    ambient: float
    """p₀ [Pa]"""
    couples: Couples = field(repr=False)
    scatter: Scatter = field(repr=False)

    @property
    def auxiliary_count(self) -> int:
        """One a chamber."""
        return self.chambers.count

    def _derivatives(self, x: Points) -> tuple[Vector, Vector, Vector]:
        """(c,) energy [J], its first [Pa] and second [Pa/m³] derivative by the volume."""
        volume = self.chambers.volumes(x)
        held = np.maximum(volume, _EMPTY * self.start)
        away = (held - self.start) / self.start
        # −n ln(V/V₀) + p₀ (V − V₀), so written that the ambient pressure cancels before it is summed.
        value = self.amounts * (away - np.log1p(away)) - (self.amounts - self.ambient * self.start) * away
        slope, bend = self.ambient - self.amounts / held, self.amounts / held**2
        below = volume - held
        # Walls that touch stop even the ambient pressure: without gas a chamber stays empty, not inside out.
        bend = np.where(below < 0.0, np.maximum(bend, self.ambient / held), bend)
        return value + slope * below + 0.5 * bend * below**2, slope + bend * below, bend

    def overpressures(self, x: Points) -> Vector:
        """(c,) n/V − p₀ [Pa]"""
        return -self._derivatives(x)[1]

    def value(self, x: Points) -> float:
        """[J]"""
        return float(self._derivatives(x)[0].sum())

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return _corner_sum(self.chambers, self.scatter, x, self._derivatives(x)[1])

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """The pressures themselves, each with every vertex of its chamber, and the edges unless psd."""
        first = 3 * (len(self.scatter.starts) - 1)
        own = Stencil(first + np.arange(self.chambers.count)[:, None])
        rows = 3 * self.couples.vertex[:, None] + np.arange(3)
        border = Stencil(rows, first + self.couples.chamber[:, None])
        return (own, border) if psd else (own, border, _edge_stencil(self.chambers))

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd the second derivative of the volume is left out."""
        _, slope, bend = self._derivatives(x)
        # An empty chamber has no stiffness: its border is zero, and any pivot will do.
        full = bend > 0.0
        own = np.where(full, -1.0 / np.where(full, bend, 1.0), -1.0)
        local = np.repeat(self.chambers.slopes(x)[:, None, :], 3, axis=1)
        border = self.couples.scatter.sum(local) * full[self.couples.chamber][:, None]
        out = [own[:, None, None], border[:, :, None]]
        return out if psd else [*out, _edge_blocks(self.chambers, x, slope)]


@dataclass(frozen=True, eq=False)
class Couples:
    """Which vertices bound which chamber; a vertex where two chambers touch is there twice."""

    vertex: Integers
    """(k,)"""
    chamber: Integers
    """(k,)"""
    scatter: Scatter = field(repr=False)
    """from the corners of faces (f, 3) to couples"""

    @classmethod
    def of(cls, chambers: Chambers, point_count: int) -> Couples:
        """All of them."""
        key = chambers.chamber[:, None] * point_count + chambers.faces
        keys, place = np.unique(key, return_inverse=True)
        return cls(keys % point_count, keys // point_count, Scatter.of(place.reshape(-1, 3), len(keys)))


@dataclass(frozen=True, eq=False)
class EnclosedGas:
    """Gas in every chamber of a shell, as much as there was at the start times its keyed amount."""

    chambers: Chambers
    gas: Gas
    start: Vector
    """(c,) volumes at the start [m³], above zero"""
    point_count: int

    def __post_init__(self) -> None:
        if not (self.start > 0.0).all():
            raise input_error(
                "the shell starts turned inside out or flat, so there is no room for its gas", where="gas",
                got=f"a volume of {self.start.min():.3g} m³", allowed="above zero", remedy="start = 'rest'",
            )  # fmt: skip

    @cached_property
    def _scatter(self) -> Scatter:
        return Scatter.of(self.chambers.faces, self.point_count)

    @cached_property
    def _couples(self) -> Couples:
        return Couples.of(self.chambers, self.point_count)

    def amounts(self, time: float) -> Vector:
        """(c,) n = pressure × volume [J] at a time [s]."""
        return Curve.of(self.gas.amount).at(time) * (self.gas.ambient + self.gas.pressure) * self.start

    def at(self, state: State, dt: float) -> GasEnergy:
        """The energy of the step to `state.time + dt`."""
        return self._energy(state.time + dt)

    def _energy(self, time: float) -> GasEnergy:
        now = self.amounts(time)
        return GasEnergy(self.chambers, self.start, now, self.gas.ambient, self._couples, self._scatter)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: the pressure is a function of the volume."""
        return {}

    def overpressures(self, x: Points, time: float) -> Vector:
        """(c,) [Pa]"""
        return self._energy(time).overpressures(x)
