"""What a shot file may say about a skin: what it is made of, and how long its waves are to be."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError, input_error
from bunraku.materials import PRESETS, ShellMaterial, SolidMaterial, as_material, ratio_for, thickness_for

from .findings import Place, nearest
from .kinds import Number, is_number, joined

FIELDS = ("young", "poisson", "thickness", "density", "weight")
"""of `ShellMaterial`: a skin is an elastic sheet, alike in all directions and all the time"""


@dataclass(frozen=True)
class SkinSpec:
    """A preset's name, and what differs from it."""

    preset: str | None
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def on(self, interior: SolidMaterial, wavelength: float | None) -> ShellMaterial:
        """The material; with a wavelength [m] that which wrinkles so on an interior: what the table says stays as it
        is, thickness or Young's modulus, and the other follows."""
        if wavelength is None:
            return self._with({})
        if "young" in self.values and "thickness" in self.values:
            raise input_error(
                "thickness and stiffness say how long waves are, so no wavelength can be asked for",
                got="young, thickness and wavelength", remedy="leave one of them out",
            )  # fmt: skip
        bare = self._with({} if self.preset else {"young": 1.0} if "young" not in self.values else {})
        plane = (1.0 - interior.poisson**2) / (1.0 - bare.poisson**2)
        if "thickness" in self.values:
            ratio = ratio_for(wavelength, bare.thickness)
            return self._with({"young": ratio * interior.young / plane})
        if not isinstance(bare.young, float) or ("young" not in self.values and self.preset is None):
            raise input_error(
                "a wavelength chooses the thickness or the stiffness of a skin, and the other is not said",
                allowed="young, thickness or a preset beside it",
            )  # fmt: skip
        return self._with({"thickness": thickness_for(wavelength, bare.young * plane / interior.young)})

    def over(self, base: ShellMaterial) -> ShellMaterial:
        """The material of a part of a skin: a preset of its own, else what the rest is of, and what differs."""
        if self.preset is not None:
            return self._with({})
        left_out = {"weight", "density" if "weight" in self.values else "weight"}
        same = {name: getattr(base, name) for name in FIELDS if name not in left_out}
        return as_material({**same, **self.values})

    def _with(self, chosen: Mapping[str, float]) -> ShellMaterial:
        return as_material({**({} if self.preset is None else {"preset": self.preset}), **self.values, **chosen})


@dataclass(frozen=True)
class SkinKind:
    """A skin: a preset's name, or a table of a preset and some fields of `ShellMaterial`."""

    @property
    def allowed(self) -> str:
        return f"{joined(_plain())}, or a table of preset, {joined(FIELDS)}"

    def fits(self, value: object) -> bool:
        return isinstance(value, (str, dict))

    def read(self, value: Any, place: Place) -> SkinSpec | None:
        if not self.fits(value):
            return place.refuse("must be a preset's name or a table", got=value, allowed=self.allowed)
        given: dict[str, Any] = {"preset": value} if isinstance(value, str) else dict(value)
        before = len(place.findings)
        name = given.pop("preset", None)
        if name is not None and not (isinstance(name, str) and name in PRESETS):
            where = place if isinstance(value, str) else place.at("preset")
            where.refuse("unknown material", got=name, allowed=joined(_plain()), remedy=nearest(name, _plain()))
        for field, one in given.items():
            self._check(field, one, place.at(field))
        return SkinSpec(name, given) if len(place.findings) == before else None

    def _check(self, name: str, value: Any, place: Place) -> None:
        """One field, by the material itself."""
        if name not in FIELDS:
            place.refuse("unknown key", got=name, allowed=joined(["preset", *FIELDS]), remedy=nearest(name, FIELDS))
        elif not is_number(value):
            place.refuse("must be a number", got=value, allowed=Number().allowed)
        else:
            try:
                as_material({"young": 1.0, name: value})
            except InputError as error:
                place.pass_on(error, without=f"material.{name} ")

    def write(self, value: SkinSpec, folder: Path) -> Any:
        return {**({} if value.preset is None else {"preset": value.preset}), **value.values}


def _plain() -> list[str]:
    """Presets of sheets that are alike in all directions; the others are refused when they are put on a body."""
    return [name for name in PRESETS if not as_material(name).woven]
