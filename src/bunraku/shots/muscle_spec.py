"""What a shot file may say about the muscles of a soft body: their two shapes, and when they contract."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bunraku.direction.wrinkle.muscles import LARGEST_STIFFNESS, STIFFNESS

from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import Flag, InputPath, Keyed, Keys, Number, Text
from .tables import Table, key

MUSCLE = "{ relaxed = { file = 'smile.usda' }, contracted = { file = 'smile_1.usda' }, activation = [[1, 0], [9, 1]] }"


@dataclass(frozen=True, kw_only=True)
class MuscleShape:
    """One of a muscle's two shapes."""

    file: Path = key(InputPath(), "its file; of one that moves its rest shape")
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")

    @property
    def name(self) -> str:
        """What it is called where nobody says: the prim's own name, or the file's."""
        return (self.prim or "").rpartition("/")[2] or self.file.stem


_SHAPE = Table(MuscleShape, "{ file = 'smile.usda' }")


@dataclass(frozen=True, kw_only=True)
class MuscleTable:
    """A muscle inside the body."""

    relaxed: MuscleShape = key(_SHAPE, "its closed shape when it does nothing, inside the body at rest")
    contracted: MuscleShape = key(_SHAPE, "the same vertices when it is contracted all the way")
    activation: Keys = key(
        Keyed(Number(0.0, 1.0)), "how much it contracts, from 0, relaxed, to 1, contracted; may be keyed"
    )
    stiffness: float = key(
        Number(1.0 / LARGEST_STIFFNESS, LARGEST_STIFFNESS),
        "how many times as stiff it is along its length as the inside", STIFFNESS,
    )  # fmt: skip
    anchored: bool = key(
        Flag(), "whether it is drawn to where its shapes are in the world, and so holds that part of the body there; "
        "else it goes along with the body", False,
    )  # fmt: skip
    name: str | None = key(Text(allowed="a name"), "what reports call it", None, otherwise="as its relaxed shape is")

    @property
    def called(self) -> str:
        """What reports call it."""
        return self.name or self.relaxed.name

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        return [self.relaxed.file, self.contracted.file]


def refuse_same_names(muscles: tuple[MuscleTable | None, ...] | None, place: Place) -> None:
    """Refuse muscles that reports could not tell apart; what was refused already is None."""
    seen: dict[str, int] = {}
    for k, one in enumerate(muscles or ()):
        if one is None:
            continue
        first = seen.setdefault(one.called, k)
        if first != k:
            place.entry(k).refuse(
                f"is called as muscles[{first}] is, so reports could not tell them apart", got=one.called,
                remedy="name = …, another for each",
            )  # fmt: skip
