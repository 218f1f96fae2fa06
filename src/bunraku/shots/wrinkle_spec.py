"""What a shot file may say about a soft body with a skin: surface or motion, both materials, handles and muscles."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.direction.wrinkle.coupling import COUPLINGS
from bunraku.direction.wrinkle.settings import MOST_COHERENT, MOST_LEVELS, STEPPERS
from bunraku.motion import EASES

from .body_spec import PAINTED, PAINTED_DOC, REGION, VECTOR, VERTICES, SurfaceTable, WayTable, check_order
from .contact_spec import ROLES
from .findings import Place
from .kinds import Choice, Flag, Keyed, Keys, ListOf, Number, Text, Whole, joined
from .label_spec import LABELS, LABELS_DOC, LabelsTable, label_files
from .muscle_spec import MUSCLE, MuscleTable, refuse_same_names
from .region_names import refuse_unknown_regions
from .skin_spec import SkinKind, SkinSpec
from .solid_spec import Solid, SolidSpec
from .source_spec import GuideTable
from .tables import Named, Table, key, one_of
from .track_spec import POINT

_LENGTH = Number(0.0, 1e6, closed=False, unit="m")
_SHARE = Keyed(Number(-0.9, 10.0))
_HANDLE = "{ region = 'left', keys = [{ frame = 24, move = [0.1, 0, 0] }] }"
_MEANT = (
    "role", "surface", "guide", "levels", "skin", "interior", "wavelength", "regions", "labels", "handles", "muscles",
    "growth_painted",
)  # fmt: skip
"""keys that mean something here; all others are settings of `wrinkle` by their own names"""


@dataclass(frozen=True, kw_only=True)
class HandleKey:
    """How a handle is moved and turned on a frame."""

    frame: float = key(Number(-1e9, 1e9), "on which frame; before the first key and after the last it stays")
    move: tuple[float, float, float] = key(POINT, "by how much it is moved from the rest shape", (0.0, 0.0, 0.0))
    rotate: tuple[float, float, float] = key(
        VECTOR, "axis times angle in degrees by which it is turned about its middle", (0.0, 0.0, 0.0)
    )
    ease: str = key(Choice(EASES), "how this key is come to", "linear")


@dataclass(frozen=True, kw_only=True)
class HandleTable:
    """A part of the surface that is taken somewhere."""

    region: str = key(REGION, "which part; with nothing else it is held where it is")
    keys: tuple[HandleKey, ...] = key(
        ListOf(Table(HandleKey, "{ frame = 24, move = [0, 0.1, 0], rotate = [0, 0, 40] }"), least=1),
        "by how much it is moved and turned, frame by frame", (),
    )  # fmt: skip
    path: WayTable | None = key(
        Table(WayTable, "{ points = [[1, 0, 1, 0], [24, 1, 1, 0]] }", WayTable.check),
        "or where its middle goes, perhaps turning", None,
    )  # fmt: skip

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        return [] if self.path is None else self.path.files

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Keys or a path, keys in order."""
        if "keys" in given and "path" in given:
            place.refuse("has either keys or a path", got="both")
        check_order([None if one is None else one.frame for one in self.keys or ()], place.at("keys"), "keys")


@dataclass(frozen=True, kw_only=True)
class SkinRegion:
    """A part of the surface that has a name, and may have a skin of its own."""

    vertices: tuple[int, ...] | None = key(VERTICES, "the region's points", None)
    painted: str | None = key(PAINTED, PAINTED_DOC, None)
    skin: SkinSpec | None = key(
        SkinKind(), "what its skin is made of, where it differs: what is not said is as everywhere; of what is painted "
        "with weights from 0 to 1, by as much", None,
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Numbers or a name."""
        one_of(given, place, "vertices", "painted")


@dataclass(frozen=True, kw_only=True)
class WrinkleObject:
    """A soft body with a thin, stiffer skin."""

    role: str = key(Choice(ROLES), "what it is")
    surface: SurfaceTable | None = key(
        Table(SurfaceTable, "{ file = 'cushion.usda' }", SurfaceTable.check),
        "its closed surface at rest: what is inside becomes soft, and moves by handles and gravity", None,
    )  # fmt: skip
    guide: GuideTable | None = key(
        Table(GuideTable, "{ take = 'jelly/latest' }", GuideTable.check),
        "or an animation, a finished take say, which is the body's motion as it is, or on average where a cell is said",
        None,
    )  # fmt: skip
    levels: int = key(
        Whole(0, MOST_LEVELS), "how often each triangle is split into four, on a smooth surface near its corners: a "
        "skin that is finer than its file", 0,
    )  # fmt: skip
    skin: SkinSpec = key(SkinKind(), "what the skin is made of, and how thick it is")
    interior: SolidSpec = key(Solid(), "what is under it")
    wavelength: float | None = key(
        _LENGTH, "how long waves are to be: the skin's thickness follows, or its young where the thickness is said",
        None, otherwise="as the materials have it",
    )  # fmt: skip
    regions: Mapping[str, SkinRegion] = key(
        Named(Table(SkinRegion, "{ vertices = [0, 1] }", SkinRegion.check), Text(allowed="a name")),
        "parts with a name, and perhaps another skin", factory=dict,
    )  # fmt: skip
    labels: LabelsTable | None = key(LABELS, LABELS_DOC, None)
    handles: tuple[HandleTable, ...] = key(
        ListOf(Table(HandleTable, _HANDLE, HandleTable.check)),
        "parts of the surface that are taken somewhere; without any the body falls", (),
    )  # fmt: skip
    muscles: tuple[MuscleTable, ...] = key(
        ListOf(Table(MuscleTable, MUSCLE)), "shapes inside the body that contract", ()
    )
    cell: float | None = key(
        _LENGTH, "of the cells the inside is made of", None, otherwise="a tenth of the body's size"
    )
    degree: int = key(Whole(1, 2), "2: smooth where cells meet; 1: trilinear cells, which show as kinks", 2)
    spacing: float | None = key(
        _LENGTH, "between what of the skin goes with the body on average", None, otherwise="two and a half wavelengths"
    )
    coupling: str = key(
        Choice(COUPLINGS), "what goes along: bumps, each in its place, or natural waves of the whole skin", "local"
    )
    coherence: float = key(
        Number(0.0, MOST_COHERENT), "how many times as much as the inside resists a skin that goes one way is drawn to "
        "the waves it had, in a 24th of a second; for waves that jump", 0.0,
    )  # fmt: skip
    foundation: bool = key(
        Flag(), "whether the inside resists waves below that, which is what makes them as long as the materials demand",
        True,
    )  # fmt: skip
    two_way: bool | None = key(
        Flag(), "whether the body feels how stiff its skin is", None, otherwise="wherever it moves by its own mechanics"
    )
    stepper: str = key(
        Choice(STEPPERS), "how a body steps that feels its skin: implicit; or symplectic, explicit steps, which lose "
        "no energy and must be short", "implicit",
    )  # fmt: skip
    growth: Keys = key(_SHARE, "by which share the skin's lengths grow on a body that stays; may be keyed", 0.0)
    growth_painted: str | None = key(
        PAINTED, "where it grows: what is painted on the surface by that name, of weights from 0 to 1 by as much", None,
        otherwise="everywhere",
    )  # fmt: skip
    swelling: Keys = key(_SHARE, "by which share the inside's lengths grow, below zero it dries; may be keyed", 0.0)

    @property
    def source(self) -> SurfaceTable | GuideTable:
        """Where its surface is read from."""
        found = self.guide or self.surface
        assert found is not None
        return found

    @property
    def source_key(self) -> str:
        """What that is called."""
        return "guide" if self.guide is not None else "surface"

    @property
    def settings(self) -> dict[str, Any]:
        """What `wrinkle` is told by the same names."""
        names = [one.name for one in dataclasses.fields(self) if one.name not in _MEANT]
        return {name: getattr(self, name) for name in names}

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        own = (file for one in (*self.handles, *self.muscles) for file in one.files)
        return [*self.source.files, *label_files(self.labels), *own]

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A surface or a motion; what moves by itself takes no handles, nor muscles where it is not soft; regions are
        there, and muscles have names of their own."""
        chosen = one_of(given, place, "surface", "guide")
        own = [name for name in ("handles", "muscles", "degree", "swelling") if given.get(name) not in (None, [], 2, 0)]
        if chosen == "guide" and own and ("handles" in own or not (given.get("cell") or given.get("two_way"))):
            softer = "" if "handles" in own else ", or say a cell, below which the body gives way"
            place.refuse(
                "a body that is animated is where its guide has it", got=joined(own),
                remedy=f"leave {joined(own)} out, or give the surface alone{softer}",
            )  # fmt: skip
        refuse_same_names(self.muscles, place.at("muscles"))
        refuse_unknown_regions(given, place)
