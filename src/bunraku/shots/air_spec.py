"""What a shot file may say about the air: wind and what stands in its way, gas shut into a shell."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError
from bunraku.energies import FASTEST, LARGEST_PRESSURE, Gas, Wind

from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import Choice, Either, Flag, InputPath, Keyed, Keys, ListOf, Number, Whole, in_seconds
from .tables import Table, key

PRESSURE = Keyed(Number(-LARGEST_PRESSURE, LARGEST_PRESSURE, unit="Pa"))


@dataclass(frozen=True, kw_only=True)
class ObstacleTable:
    """A mesh that stands in the wind, still or moving."""

    file: Path = key(InputPath(), "a mesh or an animation that keeps the wind off")
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")


@dataclass(frozen=True, kw_only=True)
class WindTable:
    """Moving air."""

    velocity: tuple[float, float, float] = key(
        ListOf(Number(-FASTEST, FASTEST), least=3, most=3, what=f"[x, y, z] in m/s, up to {FASTEST:g}"), "of the wind"
    )
    gust: Keys = key(Keyed(Number(0.0, 1e3)), "multiplies the velocity, eddies included; may be keyed", 1.0)
    turbulence: float = key(Number(0.0, 1.0), "speed of the eddies (root mean square) over that of the wind", 0.0)
    size: float = key(Number(1e-3, 1e6, unit="m"), "of the largest eddies", 1.0)
    seed: int = key(Whole(0), "another number, other eddies", 0)
    density: float = key(Number(0.0, 1e5, unit="kg/m³"), "of the air", 1.2)
    drag: float = key(Number(0.0, 100.0), "coefficient of a plate across the wind", 1.2)
    lift: float = key(Number(0.0, 100.0), "coefficient of the force across the wind, at most that of drag", 0.6)
    shelter: bool | str = key(
        Either((Flag(), Choice(("obstacles",)))),
        "whether the shell's own folds and the obstacles keep the wind off, or only 'obstacles'", True,
    )  # fmt: skip
    obstacles: tuple[ObstacleTable, ...] = key(
        ListOf(Table(ObstacleTable, "{ file = 'wall.obj', unit = 'm' }")), "what stands in the wind", ()
    )

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """What concerns several keys, as the wind itself sees it."""
        if any(finding.startswith(place.name) for finding in place.findings):
            return
        try:
            Wind(**self.settings(1.0))
        except InputError as error:
            place.pass_on(error, without="wind.")

    def settings(self, rate: float) -> dict[str, Any]:
        """All but the obstacles, for `Wind`; keys turned from frames into seconds."""
        names = ("velocity", "turbulence", "size", "seed", "density", "drag", "lift", "shelter")
        return {**{name: getattr(self, name) for name in names}, "gust": in_seconds(self.gust, rate)}


@dataclass(frozen=True, kw_only=True)
class GasTable:
    """Gas shut into a closed shell."""

    pressure: float = key(
        Number(-LARGEST_PRESSURE, LARGEST_PRESSURE, unit="Pa"), "overpressure of the enclosed gas at the start", 0.0
    )
    amount: Keys = key(Keyed(Number(0.0, 1e6)), "how much gas there is, as a multiple of that; may be keyed", 1.0)
    ambient: float = key(Number(0.0, LARGEST_PRESSURE, unit="Pa"), "absolute pressure outside", 101325.0)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """What concerns several keys, as the gas itself sees it."""
        if any(finding.startswith(place.name) for finding in place.findings):
            return
        try:
            self.at(1.0)
        except InputError as error:
            place.pass_on(error, without="gas.")

    def at(self, rate: float) -> Gas:
        """The gas, its keys turned from frames into seconds."""
        return Gas(self.pressure, in_seconds(self.amount, rate), self.ambient)
