"""What a shot file may say about a rest shape apart from the mesh."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import Choice, InputPath, Keyed, Keys, Number, Whole, joined
from .tables import key, keys_of

_LENGTH = Number(0.0, 1e6, closed=False, unit="m")
_TAKES = {
    "accordion": ("depth", "wavelength", "axis"),
    "ridges": ("depth", "wavelength", "axis"),
    "crinkle": ("depth", "wavelength", "seed"),
    "file": ("prim", "unit", "up_axis"),
}


@dataclass(frozen=True, kw_only=True)
class RestTable:
    """The shape without stress: creases of the mesh, or a file; mixed with the mesh's own by an amount."""

    shape: str | None = key(
        Choice(("accordion", "ridges", "crinkle")),
        "creases of the mesh: 'accordion' folds along the axis, 'ridges' around it, 'crinkle' bumps everywhere", None,
    )  # fmt: skip
    depth: float | None = key(_LENGTH, "of the creases, from bottom to top", None)
    wavelength: float | None = key(_LENGTH, "from one crease to the next", None)
    axis: str = key(Choice(("x", "y", "z")), "along which folds follow each other, or around which ridges lie", "y")
    seed: int = key(Whole(0), "of bumps: another number, other bumps", 0)
    file: Path | None = key(InputPath(), "or a mesh of the guide's faces", None)
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")
    amount: Keys = key(
        Keyed(Number(0.0, 1.0)), "0: the mesh's own shape, 1: this one; may be keyed, to crinkle and to smooth", 1.0
    )

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A shape or a file, and what belongs to it."""
        if ("shape" in given) == ("file" in given):
            got = "both" if "shape" in given else "neither"
            place.refuse("needs either 'shape' or 'file'", got=got)
            return
        about = _TAKES.get(str(given.get("shape", "file")), ())
        plain = RestTable()
        foreign = [name for name in keys_of(RestTable) if getattr(self, name) != getattr(plain, name)]
        foreign = [name for name in foreign if name not in (*about, "shape", "file", "amount")]
        if about and foreign:
            place.refuse("has what does not go with its shape", got=joined(foreign), allowed=joined(about))
        for name in ("depth", "wavelength"):
            if name in about and name not in given:
                place.at(name).refuse("is missing", allowed=_LENGTH.allowed)
