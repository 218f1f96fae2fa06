"""The air around and inside a shell: wind, drag, pressure and enclosed gas, turned into energies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, EnergySource, Points, State, input_error
from bunraku.energies import Blowing, Drag, EnclosedGas, Gas, Pressure, Wind, pressure_curve
from bunraku.geometry import TriMesh, chambers
from bunraku.materials import MaterialBlend
from bunraku.motion import Curve, CurveLike


@dataclass(frozen=True, eq=False)
class Air:
    """What the air does to one shell, and what a frame says about it."""

    outside: Blowing | Drag | None
    inside: Pressure | EnclosedGas | None

    @property
    def energies(self) -> tuple[EnergySource, ...]:
        """Those there are."""
        return tuple(one for one in (self.outside, self.inside) if one is not None)

    def report(self, state: State) -> dict[str, Array]:
        """`volume` (c,) [m³] and `pressure` (c,) [Pa] of the chambers, `exposure` of the shell to the wind, 0 to 1."""
        out: dict[str, Array] = {}
        x = state.q.reshape(-1, 3)
        if self.inside is not None:
            out["volume"] = self.inside.chambers.volumes(x)
            out["pressure"] = self.inside.overpressures(x, state.time)
        if isinstance(self.outside, Blowing):
            out["exposure"] = np.array(self.outside.mean_exposure(state))
        return out


def air_of(
    shell: TriMesh, material: MaterialBlend, first: Points, time: float, wind: Wind | None,
    pressure: CurveLike | None, gas: Gas | None,
) -> Air:  # fmt: skip
    """The air of a shell whose first pose is `first` (n, 3) at `time` [s]."""
    if wind is not None and not isinstance(wind, Wind):
        raise input_error("wind must be a Wind", got=wind, remedy="bk.Wind(velocity=(5, 0, 0))")
    if wind is not None:
        wind.at(first, time)  # a field that is none should be refused before anything runs
    drags = any(Curve.of(one.drag).values.any() for one in material.materials)
    outside = Blowing(shell, material, wind) if wind is not None else Drag(shell, material) if drags else None
    return Air(outside, _inside(shell, first, pressure, gas))


def _inside(
    shell: TriMesh, first: Points, pressure: CurveLike | None, gas: Gas | None
) -> Pressure | EnclosedGas | None:
    if pressure is None and gas is None:
        return None
    if gas is not None and not isinstance(gas, Gas):
        raise input_error("gas must be a Gas", got=gas, remedy="bk.Gas(pressure=500)")
    if pressure is not None and gas is not None:
        raise input_error(
            "a shell has either a given pressure or an enclosed gas, not both", remedy="gas = bk.Gas(pressure=…)"
        )
    curve = None if pressure is None else pressure_curve(pressure)
    room = chambers(shell)
    if curve is not None:
        return Pressure(room, curve, shell.point_count)
    assert gas is not None
    return EnclosedGas(room, gas, room.volumes(first), shell.point_count)
