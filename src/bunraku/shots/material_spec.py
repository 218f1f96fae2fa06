"""What a shot file may say about a material."""

# `key` makes a dataclass field, which ruff cannot know.

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError
from bunraku.materials import MATERIAL_KEYS, PRESETS, ShellMaterial, as_material

from .findings import Place, nearest
from .kinds import (
    Keyed,
    Keys,
    Number,
    in_seconds,
    joined,
)

_FIELDS = list(MATERIAL_KEYS)


@dataclass(frozen=True)
class MaterialSpec:
    """A preset's name, and what differs from it."""

    preset: str | None
    values: Mapping[str, Keys] = dataclasses.field(default_factory=dict)

    def at(self, rate: float) -> ShellMaterial:
        """The material, its keys turned from frames into seconds."""
        base = {"young": 1.0} if self.preset is None else {"preset": self.preset}
        return as_material({**base, **{name: in_seconds(value, rate) for name, value in self.values.items()}})


@dataclass(frozen=True)
class Material:
    """A material: a preset's name, or a table of a preset and fields of `ShellMaterial`."""

    @property
    def allowed(self) -> str:
        return f"{joined(list(PRESETS))}, or a table of preset, {joined(_FIELDS)}"

    def fits(self, value: object) -> bool:
        return isinstance(value, (str, dict))

    def read(self, value: Any, place: Place) -> MaterialSpec | None:
        if not self.fits(value):
            return place.refuse("must be a preset's name or a table", got=value, allowed=self.allowed)
        given = {"preset": value} if isinstance(value, str) else dict(value)
        before = len(place.findings)
        name = given.pop("preset", None)
        if name is not None and not (isinstance(name, str) and name in PRESETS):
            where = place if isinstance(value, str) else place.at("preset")
            where.refuse("unknown material", got=name, allowed=joined(list(PRESETS)), remedy=nearest(name, PRESETS))
        if name is None and "young" not in given:
            place.refuse("needs a preset or at least 'young'", allowed=self.allowed)
        values = {field: self._value(field, one, place.at(field)) for field, one in given.items()}
        if len(place.findings) > before:
            return None
        spec = MaterialSpec(name, values)
        try:
            spec.at(1.0)  # what single numbers do not show: moduli that do not fit, a density beside a weight
        except InputError as error:
            return place.pass_on(error)
        return spec

    def _value(self, name: str, value: Any, place: Place) -> Any:
        """One field, checked by the material itself (which also knows what may be keyed)."""
        if name not in _FIELDS:
            return place.refuse(
                "unknown key", got=name, allowed=joined(["preset", *_FIELDS]), remedy=nearest(name, _FIELDS)
            )
        if name == "yield_curvature" and value == math.inf:  # TOML's inf: elastic
            return math.inf
        read = Keyed(Number()).read(value, place)
        if read is not None:
            try:
                MaterialSpec(None, {"poisson": 0.0, name: read}).at(1.0)  # sound with any weft
            except InputError as error:
                place.pass_on(error, without=f"material.{name} ")
        return read

    def write(self, value: MaterialSpec, folder: Path) -> Any:
        named = {} if value.preset is None else {"preset": value.preset}
        return {**named, **{name: Keyed(Number()).write(one, folder) for name, one in value.values.items()}}
