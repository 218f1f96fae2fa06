"""What a shot file may say about the material of a body."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError
from bunraku.materials import SOLID_KEYS, SOLID_PRESETS, SolidMaterial, as_solid

from .findings import Place
from .kinds import joined


@dataclass(frozen=True)
class SolidSpec:
    """A preset's name, and what differs from it."""

    preset: str | None
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def material(self) -> SolidMaterial:
        """What it stands for."""
        return as_solid({**({} if self.preset is None else {"preset": self.preset}), **self.values})


@dataclass(frozen=True)
class Solid:
    """A solid: a preset's name, or a table of a preset and fields of `SolidMaterial`."""

    @property
    def allowed(self) -> str:
        return f"{joined(list(SOLID_PRESETS))}, or a table of preset, {joined(list(SOLID_KEYS))}"

    def fits(self, value: object) -> bool:
        return isinstance(value, (str, dict))

    def read(self, value: Any, place: Place) -> SolidSpec | None:
        if not self.fits(value):
            return place.refuse("must be a preset's name or a table", got=value, allowed=self.allowed)
        given = {"preset": value} if isinstance(value, str) else dict(value)
        spec = SolidSpec(given.pop("preset", None), given)
        try:
            _ = spec.material
        except InputError as error:
            return place.pass_on(error)
        return spec

    def write(self, value: SolidSpec, folder: Path) -> Any:
        return {**({} if value.preset is None else {"preset": value.preset}), **value.values}
