"""What a shot file may say about a body that is steered: its surface, its tetrahedra, key shapes and paths."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from scipy.spatial.transform import Rotation

from bunraku.geometry.topology import LARGEST_COORDINATE
from bunraku.io import check_body_there, check_there, holds_tets_only
from bunraku.motion import FURTHEST_TURN, HOLDS

from .contact_spec import ROLES
from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import Choice, Either, Flag, InputPath, ListOf, Number, Text, Whole, joined
from .label_spec import LABELS, LABELS_DOC, LabelsTable, label_files
from .region_names import refuse_unknown_regions
from .solid_spec import Solid, SolidSpec
from .source_spec import AnimationKeys, refuse_about_take
from .tables import Named, Table, key, one_of
from .track_spec import POINT

VERTICES = ListOf(Whole(), least=1, what="a list of point numbers of the written surface, from 0")
_LENGTH = Number(0.0, 1e6, closed=False, unit="m")
VECTOR = ListOf(Number(-LARGEST_COORDINATE, LARGEST_COORDINATE), least=3, most=3, what="three numbers [x, y, z]")
SPEED = ListOf(Number(-1e6, 1e6, unit="m/s"), least=3, most=3, what="a velocity [x, y, z] in m/s")
_SAMPLE = ListOf(
    Number(-LARGEST_COORDINATE, LARGEST_COORDINATE), least=4, most=7,
    what="[frame, x, y, z], or [frame, x, y, z, a, b, c] with a turn of the body as axis times angle in degrees",
)  # fmt: skip
REGION = Text(allowed="the name of a region")
PAINTED = Text(allowed="the name of a group, a subset, or an attribute of weights")
PAINTED_DOC = (
    "or what is painted on the surface: the points of a group or subset, or those where an attribute is above 0.5"
)
_HALF_TURN = 180.0 + 1e-6  # [°]


def _check_shape(path: Path) -> None:
    (check_body_there if holds_tets_only(path) else check_there)(path)


POSED = InputPath("a mesh file or one of tetrahedra, relative to the shot file", _check_shape)


def check_posed_file(given: Mapping[str, Any], place: Place, *others: str) -> None:
    """What tells about a posed file needs one."""
    about = [name for name in ("prim", "unit", "up_axis", *others) if name in given]
    if "file" not in given and about:
        place.refuse(f"{joined(about)} {'tells' if len(about) == 1 else 'tell'} about a file", remedy="give 'file' too")


@dataclass(frozen=True, kw_only=True)
class SurfaceTable(AnimationKeys):
    """The surface of a body, as it is at rest."""

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A file or a take."""
        one_of(given, place, "file", "take")
        refuse_about_take(given, place)


@dataclass(frozen=True, kw_only=True)
class TetsTable:
    """What the surface is filled with."""

    edge: float | None = key(_LENGTH, "length of edges aimed at", None, otherwise="a tenth of the surface's diagonal")
    envelope: float | None = key(
        _LENGTH, "how far the tetrahedra's surface may lie from the given one", None, otherwise="a sixth of the edge"
    )
    file: Path | None = key(
        InputPath("a .msh, .node or USD file, relative to the shot file", check_body_there),
        "or tetrahedra that were made elsewhere", None,
    )  # fmt: skip
    prim: str | None = key(PRIM, "which prim of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Made here or elsewhere."""
        made = [name for name in ("edge", "envelope") if name in given]
        if "file" in given and made:
            place.refuse("has either tetrahedra of a file or lengths to make them by", got=f"file and {joined(made)}")
        about = [name for name in ("prim", "unit", "up_axis") if name in given]
        if "file" not in given and about:
            place.refuse("prim, unit and up_axis tell about a file", got=joined(about), remedy="give 'file' too")


@dataclass(frozen=True, kw_only=True)
class GripTable:
    """A part of the body taken in the hand."""

    region: str = key(REGION, "which part; one that does nothing is held where it is")
    move: tuple[float, float, float] = key(POINT, "by how much it is moved", (0.0, 0.0, 0.0))
    rotate: tuple[float, float, float] = key(VECTOR, "axis times angle in degrees by which it is turned", (0.0,) * 3)
    scale: float | tuple[float, float, float] = key(
        Either((Number(1e-3, 1e3), ListOf(Number(1e-3, 1e3), least=3, most=3, what="three factors"))),
        "by which it is scaled about its middle", 1.0,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KeyTable:
    """A shape the body should pass near on a frame: of a file, of a take, or posed by grips, which also edit the other
    two; nothing of these: its own shape again."""

    frame: float = key(Number(-1e9, 1e9), "on which frame")
    file: Path | None = key(POSED, "the shape: the surface's points moved, or the nodes of its tetrahedra", None)
    take: str | None = key(
        Text(allowed="a take in the output folder such as 'jelly/v003' or 'jelly/latest'"),
        "or a finished take of this body: the shape it has on a frame", None,
    )  # fmt: skip
    at: float | None = key(
        Number(-1e9, 1e9), "which frame of the take, or of a file that moves", None,
        otherwise="of a take the key's own; of a file its rest shape",
    )  # fmt: skip
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")
    grips: tuple[GripTable, ...] = key(
        ListOf(Table(GripTable, "{ region = 'top', move = [0, 0.1, 0], rotate = [0, 45, 0], scale = 1.2 }"), least=1),
        "parts that are moved, turned and scaled, of the body at rest or of the shape of the file or take, while all "
        "else takes the shape that follows", (),
    )  # fmt: skip
    region: str | None = key(REGION, "the part the shape of the file or take is for", None, otherwise="the whole body")

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A file or a take, if any, and what tells about it."""
        if "file" in given and "take" in given:
            place.refuse("has either a file or a take", got="both")
        refuse_about_take(given, place)
        if "take" not in given:
            check_posed_file(given, place, "region", "at")
        if "region" in given and "grips" in given:
            place.refuse("a shape for a part is taken as it is", got="region and grips", remedy="leave one of them out")


@dataclass(frozen=True, kw_only=True)
class WayTable(AnimationKeys):
    """Where something goes."""

    points: tuple[tuple[float, ...], ...] | None = key(
        ListOf(_SAMPLE, least=1, what="rows [frame, x, y, z], or [frame, x, y, z, a, b, c]"),
        "samples of the path, in order of frames; it is smooth between them", None,
    )  # fmt: skip
    turning: bool = key(Flag(), "of a file or take: the body turns as that does, too", False)

    @property
    def turns(self) -> bool:
        """Whether it says how something is turned."""
        return self.turning or any(row is not None and len(row) == 7 for row in self.points or ())

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Points, a file or a take."""
        chosen = one_of(given, place, "points", "file", "take")
        refuse_about_take(given, place)
        lengths = {len(row) for row in self.points or () if row is not None}
        if lengths & {5, 6} or len(lengths) > 1:
            place.at("points").refuse(
                "rows have four numbers, or seven that turn the body too", got=joined(list(map(str, sorted(lengths)))),
                allowed="4 each, or 7 each",
            )  # fmt: skip
        if self.points is not None:
            check_order([row[0] if row else None for row in self.points], place.at("points"), "rows")
        if lengths == {7}:
            _check_turns(self.points or (), place.at("points"))
        if chosen == "points" and self.turning:
            place.at("turning").refuse("is for a file or a take", remedy="rows of seven numbers")


@dataclass(frozen=True, kw_only=True)
class PathTable(WayTable):
    """Where the body, or a part of it, goes."""

    region: str | None = key(REGION, "the part whose middle is directed", None, otherwise="the whole body")
    frames: tuple[int, int] | None = key(
        ListOf(Whole(-1_000_000_000), least=2, most=2, what="[first, last], whole numbers"),
        "of a file or take: from which frame to which it is followed; before and after, the body is free", None,
        otherwise="all it has",
    )  # fmt: skip
    hold: str = key(
        Choice(HOLDS), "'constraint': the step is solved on the path, and the body reacts; 'compensation': the body is "
        "put back on the path after each step, the paper's way", "constraint",
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Of the whole body or of a part."""
        WayTable.check(self, given, place)
        if self.turns and self.region is not None:
            place.refuse("a path turns the whole body or nothing", got=f"region = '{self.region}'", remedy="two paths")
        if self.frames is not None and "points" in given:
            place.at("frames").refuse("is for a file or a take", remedy="rows on these frames alone")
        if self.frames is not None and None not in self.frames and self.frames[1] <= self.frames[0]:
            place.at("frames").refuse("a path ends after it begins", got=list(self.frames))


def check_order(frames: Sequence[object], place: Place, what: str) -> None:
    """Refuse frames of a list that do not increase; those that are no numbers are refused elsewhere."""
    for k, (before, after) in enumerate(pairwise(frames)):
        if not isinstance(before, int | float) or not isinstance(after, int | float) or after > before:
            continue
        why, remedy = f"two {what} are on one frame", "move one of them"
        if after < before:
            why, remedy = f"{what} must be in order of frames", "sort them"
        place.entry(k + 1).refuse(why, got=f"frame {after:g}", allowed=f"after frame {before:g}", remedy=remedy)


def check_key_order(given: Mapping[str, Any], first: float, place: Place) -> None:
    """Refuse keys of a body's table that are not in order. One before the `first` frame is outside the shot, which is
    told when it is read, and not out of order."""
    told = given.get("keys", [])
    frames = [one.get("frame") if isinstance(one, dict) else None for one in told] if isinstance(told, list) else []
    there = [None if isinstance(one, int | float) and one < first else one for one in frames]
    check_order(there, place.at("keys"), "keys")


def _check_turns(rows: tuple[tuple[float, ...], ...], place: Place) -> None:
    """Refuse rows between which the body would turn by more than half a turn: it would go the other way, or not. Rows
    of up to half a turn each go the shorter way; those that count on mean the turn they say."""
    for k, (before, after) in enumerate(pairwise(rows)):
        angle = math.dist(before[4:], after[4:])
        if max(math.hypot(*before[4:]), math.hypot(*after[4:])) <= _HALF_TURN:
            first, last = (Rotation.from_rotvec(row[4:], degrees=True) for row in (before, after))
            angle = math.degrees((first.inv() * last).magnitude())
        if angle > FURTHEST_TURN:
            place.entry(k + 1).refuse(
                "turns too far at once: nobody knows which way round", got=f"{angle:.4g}° from the row before",
                allowed=f"up to {FURTHEST_TURN:g}°", remedy="a row between them",
            )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BodyRegion:
    """A part of the body that has a name."""

    vertices: tuple[int, ...] | None = key(
        VERTICES, "the region's points; of the tetrahedra those nodes that carry them", None
    )
    painted: str | None = key(PAINTED, PAINTED_DOC, None)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Numbers or a name."""
        one_of(given, place, "vertices", "painted")


@dataclass(frozen=True, kw_only=True)
class BodyPin:
    """A part held in place."""

    region: str = key(REGION, "what is held")
    axes: str = key(Text("(?!.*(.).*\\1)[xyz]{1,3}", allowed="'y', 'xz', 'xyz', …"), "which coordinates", "xyz")
    to: str = key(Text(allowed="'start' or the name of an obstacle"), "where: as at the start, or an obstacle", "start")


@dataclass(frozen=True, kw_only=True)
class BlowTable:
    """A part that is hit as the body begins."""

    region: str = key(REGION, "what is hit as the body begins")
    velocity: tuple[float, float, float] = key(SPEED, "how much faster than the rest of the body that makes it")


@dataclass(frozen=True, kw_only=True)
class FilledObject:
    """An elastic body filled with tetrahedra, whatever moves it."""

    role: str = key(Choice(ROLES), "what it is")
    surface: SurfaceTable = key(
        Table(SurfaceTable, "{ file = 'jelly.usda' }", SurfaceTable.check),
        "its surface at rest, which is written moved",
    )
    tets: TetsTable = key(
        Table(TetsTable, "{ edge = 0.05 }", TetsTable.check), "what it is filled with", factory=TetsTable
    )
    material: SolidSpec = key(Solid(), "what it is made of", SolidSpec("rubber"), otherwise="'rubber'")
    regions: Mapping[str, BodyRegion] = key(
        Named(Table(BodyRegion, "{ vertices = [0, 1] }", BodyRegion.check), Text(allowed="a name")),
        "parts with a name", factory=dict,
    )  # fmt: skip
    labels: LabelsTable | None = key(LABELS, LABELS_DOC, None)


@dataclass(frozen=True, kw_only=True)
class BodyObject(FilledObject):
    """An elastic body that is steered."""

    keys: tuple[KeyTable, ...] = key(
        ListOf(Table(KeyTable, "{ frame = 12, file = 'squash.obj' }", KeyTable.check)),
        "shapes to pass near, in order of frames; they are loose", (),
    )  # fmt: skip
    lead: bool | float = key(
        Either((Flag(), Number(0.0, 1e6, unit="frames"))),
        "frames by which keys are told earlier, for the body comes late; true: as many as it takes, found by a few "
        "runs", False,
    )  # fmt: skip
    brace: bool = key(
        Flag(), "keep the shape the body is told as it is around hard collisions, which one run more finds", False
    )
    interpolation_damping: float = key(Number(0.01, 1e4), "of the way from key to key, times the material's", 8.0)
    path: tuple[PathTable, ...] = key(
        ListOf(Table(PathTable, "{ points = [[1, 0, 1, 0], [24, 1, 1, 0]] }", PathTable.check)),
        "where it goes, exactly: one for the whole body, others for parts", (),
    )  # fmt: skip
    pins: tuple[BodyPin, ...] = key(ListOf(Table(BodyPin, "{ region = 'foot' }")), "parts held: region, axes, to", ())
    velocity: tuple[float, float, float] | None = key(
        SPEED, "of the whole body on the first frame that is made: it is thrown", None,
        otherwise="that of a path that begins there, else none",
    )  # fmt: skip
    blows: tuple[BlowTable, ...] = key(
        ListOf(Table(BlowTable, "{ region = 'head', velocity = [-2, 0, 0] }")),
        "parts that are hit on that frame: what each adds to the body's velocity there", (),
    )  # fmt: skip

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        named = [self.tets.file, *(one.file for one in self.keys), *label_files(self.labels)]
        return [*self.surface.files, *(file for one in self.path for file in one.files), *(f for f in named if f)]

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Regions that are named must be there."""
        refuse_unknown_regions(given, place)
