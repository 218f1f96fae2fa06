"""What a shot file may say about a body whose motion is planned: partial keys, what is fixed, phases and flights."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .body_spec import POSED, REGION, SPEED, VECTOR, BodyRegion, FilledObject, check_posed_file
from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place
from .kinds import Choice, Either, Flag, ListOf, Number, Text, Whole, joined
from .label_spec import label_files
from .region_names import refuse_unknown_regions
from .solid_spec import Solid, SolidSpec
from .tables import Named, Table, key, one_of
from .track_spec import POINT

_FRAME = Number(-1e9, 1e9)
_SCALE = Either((Number(1e-3, 1e3), ListOf(Number(1e-3, 1e3), least=3, most=3, what="three factors")))
_WEIGHT = Either((Choice(("exact",)), Number(0.0, 1e6, closed=False)))
_WEIGHT_DOC = "how firmly, beside what the motion costs: 1 leaves next to nothing, 'exact' nothing at all"
_MOVE_DOC = "by how much its region is moved from the rest shape"
_ROTATE_DOC = "axis times angle in degrees by which it is turned; half a turn and more say which way round"
_SCALE_DOC = "by which it is scaled about its middle"
_POSING = ("move", "rotate", "scale")
_MOST_MODES = 2000


@dataclass(frozen=True, kw_only=True)
class PlanRegion(BodyRegion):
    """A part of the body that has a name, and perhaps a material of its own."""

    material: SolidSpec | None = key(
        Solid(), "what the body is made of behind these points: every tetrahedron they are nearest to", None,
        otherwise="the object's",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PlanKey:
    """Where a part of the body, or its centre of mass, should be on a frame, how fast it should go, or both."""

    frame: float = key(_FRAME, "on which frame; in a phase counted from its beginning")
    region: str | None = key(
        REGION, "which part; with nothing else it is where the rest shape has it", None,
        otherwise="the centre of mass; with a file the whole body",
    )  # fmt: skip
    move: tuple[float, float, float] | None = key(POINT, _MOVE_DOC, None, otherwise="[0, 0, 0]")
    rotate: tuple[float, float, float] | None = key(VECTOR, _ROTATE_DOC, None, otherwise="[0, 0, 0]")
    scale: float | tuple[float, float, float] | None = key(_SCALE, _SCALE_DOC, None, otherwise="1")
    pivot: tuple[float, float, float] | None = key(
        POINT, "about which it is turned and scaled", None, otherwise="its middle"
    )
    centre: tuple[float, float, float] | None = key(POINT, "without a region: where the centre of mass is", None)
    velocity: tuple[float, float, float] | None = key(
        SPEED, "how fast it goes; alone, it may be anywhere", None, otherwise="any"
    )
    weight: float | str = key(_WEIGHT, _WEIGHT_DOC, 1.0)
    file: Path | None = key(POSED, "where it is as a posed file has it: the surface's points moved, or the nodes", None)
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")

    @property
    def placed(self) -> bool:
        """Whether it says where a region is."""
        posed = any(part is not None for part in (self.move, self.rotate, self.scale))
        return self.file is None and self.region is not None and (posed or self.velocity is None)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """It says where or how fast, in one way."""
        posing = [name for name in (*_POSING, "pivot") if name in given]
        check_posed_file(given, place)
        if "file" in given and (posing or "centre" in given):
            place.refuse("is either posed by a file or by numbers", got=joined(["file", *posing]))
        elif "region" in given and "centre" in given:
            place.refuse("is of a region or of the centre of mass", got="region and centre", remedy="two keys")
        elif "region" not in given and posing:
            place.refuse(
                f"{joined(posing)} tell about a region, and none is named", remedy="region = '…', or centre = [x, y, z]"
            )
        elif posing == ["pivot"]:
            place.at("pivot").refuse("nothing is turned or scaled about it", remedy="rotate or scale beside it")
        elif not set(given) & {"region", "centre", "velocity", "file"}:
            place.refuse("says neither where nor how fast", allowed="region, centre, velocity or file")


@dataclass(frozen=True, kw_only=True)
class FlightTable:
    """The body flies as gravity lets it, until its centre of mass has come down to a height."""

    height: float | None = key(
        Number(-1e6, 1e6, unit="m"), "of the centre of mass when it lands", None, otherwise="that of the rest shape"
    )
    region: str | None = key(REGION, "what lands, the feet say", None, otherwise="anything")
    move: tuple[float, float, float] | None = key(
        POINT, "by how much it is then moved from its place about the centre of mass, the body being turned as told",
        None, otherwise="[0, 0, 0]",
    )  # fmt: skip
    rotate: tuple[float, float, float] | None = key(
        VECTOR, "axis times angle in degrees by which it is then turned as well", None, otherwise="[0, 0, 0]"
    )
    scale: float | tuple[float, float, float] | None = key(_SCALE, _SCALE_DOC, None, otherwise="1")
    velocity: tuple[float, float, float] | None = key(
        SPEED, "how fast it then goes beside the centre of mass", None, otherwise="any"
    )
    weight: float | str = key(_WEIGHT, _WEIGHT_DOC, 1.0)
    turn: tuple[float, float, float] = key(
        VECTOR, "axis times angle in degrees by which the body is turned from its rest shape when it lands", (0.0,) * 3
    )

    @property
    def placed(self) -> bool:
        """Whether it says where the region lands."""
        posed = any(part is not None for part in (self.move, self.rotate, self.scale))
        return self.region is not None and (posed or self.velocity is None)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """What tells about a region needs one."""
        about = [name for name in (*_POSING, "velocity") if name in given]
        about += ["weight"] if self.weight not in (None, 1.0) else []  # a default may be written out
        if "region" not in given and about:
            place.refuse(f"{joined(about)} tell about a region, and none is named", remedy="region = '…'")


_PHASE = "{ frames = 17, fixed = ['foot'], keys = […] }"
_KEYS = ListOf(Table(PlanKey, "{ frame = 25, region = 'head', move = [0, 0.3, 0] }", PlanKey.check))
_FIXED = ListOf(REGION, what="a list of regions, such as ['foot']")


@dataclass(frozen=True, kw_only=True)
class PhaseTable:
    """A part of a chain: what is fixed stays where it is then, or the body flies."""

    frames: float | None = key(Number(0.0, 1e6, closed=False), "how long it stands", None)
    fixed: tuple[str, ...] = key(_FIXED, "regions that stay where they are", ())
    keys: tuple[PlanKey, ...] = key(_KEYS, "what is asked for; frames count from the phase's beginning", ())
    rest: bool = key(Flag(), "whether it ends at rest, in the rest shape on what is fixed; else as keys make it", False)
    flight: FlightTable | None = key(
        Table(FlightTable, "{ height = 0.5, region = 'feet' }", FlightTable.check),
        "or it flies, as long as that takes", None,
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """It stands or flies; keys lie within it."""
        chosen = one_of(given, place, "frames", "flight")
        standing = [name for name in ("fixed", "keys", "rest") if given.get(name)]
        if chosen == "flight" and standing:
            place.refuse("a flight has nothing fixed, and no keys but its landing", got=joined(standing))
        if chosen == "frames" and not given.get("fixed"):
            place.at("fixed").refuse("a phase stands on something", allowed=_FIXED.what, remedy="or a flight")
        for k, one in enumerate(self.keys or ()):
            if self.frames is not None and one is not None and one.frame is not None:
                refuse_outside(one.frame, 0.0, self.frames, place.at("keys").entry(k), "the phase")


def refuse_outside(frame: float, first: float, last: float, place: Place, what: str) -> None:
    """Refuse the frame of a key outside a range."""
    if not first <= frame <= last:
        place.at("frame").refuse(
            f"a key lies outside {what}", got=frame, allowed=f"from {first:g} to {last:g}"
        )  # fmt: skip


_PHASES = ListOf(Table(PhaseTable, _PHASE, PhaseTable.check))
PLANNED = {"keys": _KEYS, "phases": _PHASES}
"""what a motion is planned from, by its key"""


@dataclass(frozen=True, kw_only=True)
class PlanObject(FilledObject):
    """An elastic body whose motion is planned."""

    regions: Mapping[str, PlanRegion] = key(
        Named(Table(PlanRegion, "{ vertices = [0, 1] }", PlanRegion.check), Text(allowed="a name")),
        "parts with a name", factory=dict,
    )  # fmt: skip
    modes: int = key(Whole(1, _MOST_MODES), "how many of its lowest modes the motion is made of", 30)
    damping: tuple[float, float] | None = key(
        ListOf(Number(0.0, 1e6), least=2, most=2, what="[of the mass in 1/s, of the stiffness in s]"),
        "how its swinging dies down", None, otherwise="the material's",
    )  # fmt: skip
    warp: bool = key(Flag(), "whether turns are meant as turns; without it large motions shear and swell", True)
    attach: bool = key(
        Flag(), "make the motion also of what moving each key's region as one does to the body: reaches keys that the "
        "lowest modes cannot", False,
    )  # fmt: skip
    begin: float | None = key(
        _FRAME, "frame on which the motion begins; before, the body is as it is then", None,
        otherwise="the shot's first",
    )  # fmt: skip
    end: float | None = key(
        _FRAME, "frame on which it ends; after, the body stays, or goes round where it is circular", None,
        otherwise="the shot's last; phases say it themselves",
    )  # fmt: skip
    fixed: tuple[str, ...] = key(_FIXED, "regions that never move", ())
    keys: tuple[PlanKey, ...] = key(
        _KEYS, "where parts are on a frame, or how fast: as few as say it, in any order", ()
    )
    circular: bool = key(Flag(), "whether the end goes on as the beginning began; then neither is at rest", False)
    free: bool | tuple[bool, bool] = key(
        Either((Flag(), ListOf(Flag(), least=2, most=2, what="[begins, ends] freely"))),
        "whether it may begin, and end, anywhere at any speed; else at rest in the rest shape, or as a key there says",
        False,
    )  # fmt: skip
    gravity: bool = key(
        Flag(), "whether the body feels its weight; what is planned is meant as it is, so only flights do", False
    )
    ground: float | None = key(
        Number(-1e6, 1e6, unit="m"), "a height that nothing of the body goes below, but for what is fixed", None,
        otherwise="there is none",
    )  # fmt: skip
    phases: tuple[PhaseTable, ...] = key(
        _PHASES,
        "instead of fixed and keys: motions one after another, each standing on other regions, or flying", (),
    )  # fmt: skip

    @property
    def all_keys(self) -> Iterator[tuple[str, PlanKey]]:
        """'keys[0]', 'phases[1].keys[0]', … and what stands there."""
        yield from ((f"keys[{k}]", one) for k, one in enumerate(self.keys))
        for p, phase in enumerate(self.phases):
            yield from ((f"phases[{p}].keys[{k}]", one) for k, one in enumerate(phase.keys))

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        named = [self.tets.file, *(one.file for _, one in self.all_keys), *label_files(self.labels)]
        return [*self.surface.files, *(file for file in named if file)]

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Something is asked for, in one way, of regions there are."""
        whole = ("fixed", "keys", "circular", "free", "gravity")
        both = [name for name in whole if given.get(name)] + (["end"] if "end" in given else [])
        if "phases" in given and both:
            place.at("phases").refuse("say by themselves what is fixed, asked for and when", got=joined(both))
        elif "phases" in given and self.phases is not None and not (self.phases and given["phases"][0].get("frames")):
            place.at("phases").refuse("a chain begins with a phase that stands", allowed=_PHASE)
        elif "phases" not in given and not given.get("keys"):
            place.at("keys").refuse("nothing is asked for, so nothing moves", allowed=_KEYS.allowed)
        if self.circular and self.free:
            place.at("free").refuse("a circular motion has no ends", got=given.get("free"), remedy="leave it out")
        refuse_unknown_regions(given, place)
