"""What a shot file may say about contact: how surfaces feel each other, and what stands in the shell's way."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.collision import Between, Obstacle, Plane, capsule, sphere
from bunraku.contracts import InputError, Integers
from bunraku.direction import Contact
from bunraku.direction.contact import PRESS

from .findings import Place
from .kinds import Choice, Flag, ListOf, Number, Text
from .source_spec import AnimationKeys, refuse_about_take
from .tables import Table, key, one_of
from .track_spec import POINT

_LENGTH = Number(0.0, 1e6, closed=False, unit="m")
_EDGE_DOC = "of its triangles, about"
_EDGE_OTHERWISE = "an eighth of the radius"
_DIRECTION = ListOf(Number(-1e6, 1e6), least=3, most=3, what="a direction [x, y, z]")
ROLES = ("shell", "obstacle", "body", "plan", "wrinkle")
SHAPES = ("plane", "sphere", "capsule")
_NAME = Text(allowed="the name of a region or of an obstacle")
_LONGEST = 1e4  # of a rod, in radii: its triangles are as fine as its ends need them


@dataclass(frozen=True, kw_only=True)
class BetweenTable:
    """What is particular between two things."""

    of: tuple[str, str] = key(
        ListOf(_NAME, least=2, most=2, what="two names, such as ['shirt', 'coat']"),
        "regions of the shell, or a region and an obstacle; each region stands for the whole pieces it is on",
    )
    friction: float | None = key(
        Number(0.0, 100.0), "coefficient of friction between the two", None, otherwise="as without this"
    )
    thickness: float | None = key(
        Number(0.0, 1e6, unit="m"), "that stays open between the two", None, otherwise="as without this"
    )

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Something is said."""
        if "friction" not in given and "thickness" not in given:
            place.refuse("says nothing", allowed="friction, thickness or both")

    @property
    def between(self) -> Between:
        """For contact."""
        return Between(*self.of, friction=self.friction, thickness=self.thickness)


@dataclass(frozen=True, kw_only=True)
class ContactTable:
    """How surfaces feel each other."""

    thickness: float | None = key(
        Number(0.0, 1e6, unit="m"), "that stays open between middle surfaces", None, otherwise="the material's"
    )
    friction: float = key(Number(0.0, 100.0), "coefficient of friction", 0.3)
    press: float = key(
        Number(0.0, 10.0), "how hard the guide may press surfaces against each other, as a strain; beyond, it yields",
        PRESS,
    )  # fmt: skip
    reach: float | None = key(
        _LENGTH, "at which surfaces begin to feel each other", None, otherwise="a fifth of the shell's mean edge"
    )
    balance: float = key(
        Number(0.0, 1.0),
        "a step is solved until what is left is this share of the error it makes by its length; 0: to the tolerance",
        0.0,
    )
    self_contact: bool = key(
        Flag(), "whether the shell feels itself, or bodies themselves and each other", True, name="self"
    )
    layers: tuple[str, ...] = key(
        ListOf(_NAME, what="a list of names, such as ['shirt', 'coat']"),
        "regions of the shell from the body outwards, perhaps after obstacles: garments, put in this order before the "
        "first frame", (),
    )  # fmt: skip
    between: tuple[BetweenTable, ...] = key(
        ListOf(Table(BetweenTable, "{ of = ['shirt', 'coat'], friction = 0.2, thickness = 0.003 }",
                     BetweenTable.check)),
        "what is particular between two things", (),
    )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """All that layers and between name, each once."""
        return tuple(dict.fromkeys([*self.layers, *(name for one in self.between for name in one.of)]))

    def at(self, obstacles: tuple[Obstacle | Plane, ...], parts: Mapping[str, Integers]) -> Contact:
        """The contact with those obstacles, of a shell that has those parts."""
        return Contact(
            thickness=self.thickness, friction=self.friction, press=self.press, reach=self.reach, balance=self.balance,
            self_contact=self.self_contact, obstacles=obstacles, parts=parts, layers=self.layers,
            between=[one.between for one in self.between],
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PlaneTable:
    """All that lies behind a plane."""

    point: tuple[float, float, float] = key(POINT, "a point of the plane", (0.0, 0.0, 0.0))
    normal: tuple[float, float, float] = key(_DIRECTION, "to the free side", (0.0, 1.0, 0.0))

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """The normal has a direction."""
        if self.normal is not None and not any(self.normal):
            place.at("normal").refuse("has no direction", got=list(self.normal), remedy="[0, 1, 0]")


@dataclass(frozen=True, kw_only=True)
class SphereTable:
    """A ball that stands still."""

    centre: tuple[float, float, float] = key(POINT, "of the ball")
    radius: float = key(_LENGTH, "of the ball")
    edge: float | None = key(_LENGTH, _EDGE_DOC, None, otherwise=_EDGE_OTHERWISE)


@dataclass(frozen=True, kw_only=True)
class CapsuleTable:
    """A rod with round ends that stands still."""

    first: tuple[float, float, float] = key(POINT, "where its middle line begins", name="from")
    second: tuple[float, float, float] = key(POINT, "where its middle line ends", name="to")
    radius: float = key(_LENGTH, "of the rod")
    edge: float | None = key(_LENGTH, _EDGE_DOC, None, otherwise=_EDGE_OTHERWISE)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Not so thin that its triangles fill the memory."""
        if self.first is None or self.second is None or self.radius is None:
            return
        length = math.dist(self.first, self.second)
        if length > _LONGEST * self.radius:
            place.refuse("is too thin for its length", got=f"{length:g} m", allowed=f"up to {_LONGEST:g} radii")


@dataclass(frozen=True, kw_only=True)
class SourceTable(AnimationKeys):
    """What an obstacle is: a mesh or an animation of a file, a finished take, or a simple shape."""

    plane: PlaneTable | None = key(
        Table(PlaneTable, "{ point = [0, 0, 0], normal = [0, 1, 0] }", PlaneTable.check), "a floor or a wall", None
    )
    sphere: SphereTable | None = key(Table(SphereTable, "{ centre = [0, 1, 0], radius = 0.3 }"), "a ball", None)
    capsule: CapsuleTable | None = key(
        Table(CapsuleTable, "{ from = [0, 0, 0], to = [0, 1, 0], radius = 0.1 }", CapsuleTable.check),
        "a rod with round ends", None,
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A file, a take or a shape; a shape needs no telling about files."""
        chosen = one_of(given, place, "file", "take", *SHAPES)
        refuse_about_take(given, place)
        others = [
            name for name in given if name not in ("file", "take", "sew", *SHAPES)
        ]  # a default may be written out
        for name in others if chosen in SHAPES else []:
            place.at(name).refuse(f"tells about a file, not about a {chosen}", got=given[name], remedy="leave it out")
        if any(finding.startswith(place.name) for finding in place.findings) or chosen not in SHAPES:
            return
        try:
            self.shape("shape")
        except InputError as error:
            place.at(chosen).pass_on(error)

    def shape(self, name: str) -> Obstacle | Plane | None:
        """The simple shape it is, if it is one."""
        if self.plane is not None:
            return Plane(self.plane.point, self.plane.normal, name)  # type: ignore[arg-type]
        if self.sphere is not None:
            return Obstacle(sphere(self.sphere.centre, self.sphere.radius, self.sphere.edge), name=name)
        if self.capsule is not None:
            rod = self.capsule
            return Obstacle(capsule(rod.first, rod.second, rod.radius, rod.edge), name=name)
        return None


@dataclass(frozen=True, kw_only=True)
class ObstacleObject:
    """A body that moves as told and stands in the shell's way."""

    role: str = key(Choice(ROLES), "what it is")
    source: SourceTable = key(
        Table(SourceTable, "{ file = 'hero.usd', prim = '/hero' }", SourceTable.check), "what it is and how it moves"
    )
    thickness: float | None = key(
        Number(0.0, 1.0), "m that stays open between it and the shell's middle surface", None,
        otherwise="physics.contact.thickness",
    )  # fmt: skip
    friction: float | None = key(
        Number(0.0, 100.0), "coefficient of friction between it and the shell", None,
        otherwise="physics.contact.friction",
    )  # fmt: skip

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        return self.source.files
