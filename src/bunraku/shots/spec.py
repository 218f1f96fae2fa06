"""What a shot file may say. Numbers are SI; frames are the files' own frame numbers."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError
from bunraku.geometry.topology import LARGEST_COORDINATE
from bunraku.io import check_skeleton_there
from bunraku.materials import PRESETS, ShellMaterial, preset

from .air_spec import PRESSURE, GasTable, WindTable
from .file_keys import AXIS, PRIM, UNIT, UNIT_DOC, UNIT_OTHERWISE
from .findings import Place, nearest
from .kinds import (
    Choice,
    Either,
    Flag,
    FolderPath,
    InputPath,
    Keyed,
    Keys,
    ListOf,
    Number,
    Text,
    Whole,
    in_seconds,
    joined,
)
from .rest_table import RestTable
from .tables import Named, Table, key

FORMATS = ("usda", "usdc", "obj", "ply", "pc2", "mdd", "glb")
_OBSTACLES = "obstacles and several objects come in a later version"
_CLUSTERS = "scales and painted regions come in a later version"
_STRENGTH = Keyed(Number(0.0, 1.0))
_VERTICES = ListOf(Whole(), least=1, what="a list of point numbers of the written surface, from 0")
_FACES = ListOf(Whole(), least=1, what="a list of polygon numbers of the written surface, from 0")
_POINT = ListOf(
    Number(-LARGEST_COORDINATE, LARGEST_COORDINATE, unit="m"), least=3, most=3, what="a point [x, y, z] in metres"
)
_AXIS_VECTOR = ListOf(Number(-1e6, 1e6), least=3, most=3, what="a direction [x, y, z]")


def _one_of(given: Mapping[str, Any], first: str, second: str, place: Place) -> str:
    """Which of two keys was given; refused where it is not exactly one."""
    found = [name for name in (first, second) if name in given]
    if len(found) != 1:
        place.refuse(f"needs either '{first}' or '{second}'", got="both" if found else "neither")
    return found[0] if len(found) == 1 else ""


@dataclass(frozen=True, kw_only=True)
class ShotTable:
    """Name and time."""

    name: str | None = key(
        Text(r"\w[\w .+-]*", allowed="letters, digits, '_', '-', '.'"), "name of the shot and of its folder of takes",
        None, otherwise="the file's name",
    )  # fmt: skip
    frames: tuple[int, int] | None = key(
        ListOf(Whole(-1_000_000_000), least=2, most=2, what="[first, last], whole numbers"),
        "first and last frame, both simulated and written", None, otherwise="the guide's own range",
    )  # fmt: skip
    rate: float | None = key(
        Number(0.0, 1e5, closed=False, unit="frames/s"),
        "frames per second of a sequence or cache, or at which a glTF file is sampled; USD says its own", None,
        otherwise="the file's, 24 where it has none",
    )  # fmt: skip
    preroll: int = key(
        Whole(0, 100_000), "frames before the first that lead from the rest shape to it; simulated, not written", 0
    )

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """The range must run forwards."""
        if self.frames is not None and self.frames[1] < self.frames[0]:
            place.at("frames").refuse("the last frame lies before the first", got=list(self.frames))


@dataclass(frozen=True, kw_only=True)
class RigTable:
    """A skeleton whose motion carries the guide's mesh."""

    skeleton: Path = key(
        InputPath("a .bvh, .glb, .gltf or USD file, relative to the shot file", check_skeleton_there),
        "the skeleton's file, with its motion",
    )  # fmt: skip
    unit: str | float | None = key(
        UNIT, "the skeleton file's unit, by its name or its length", None,
        otherwise="the file's; BVH files have none and need it unless fit = true",
    )  # fmt: skip
    up_axis: str | None = key(AXIS, "the skeleton file's up axis", None, otherwise="the file's, 'Y' where it has none")
    clip: str | None = key(
        Text(allowed="the name of an animation in a glTF file"), "which animation of a glTF file", None,
        otherwise="the only one",
    )  # fmt: skip
    prim: str | None = key(PRIM, "which skeleton of a USD file, or skinned mesh of a glTF file", None,
                           otherwise="the only one")  # fmt: skip
    fit: bool = key(Flag(), "scale the skeleton to the mesh's height and move it into the mesh, roughly", False)
    bind_frame: int | None = key(
        Whole(-1_000_000_000), "the frame of the motion on which the skeleton stands as the mesh does (a T-pose)", None,
        otherwise="the file's own bind pose",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GuideTable:
    """The animation to obey: of a file, or of a finished take."""

    file: Path | None = key(InputPath(), "the guide's file", None)
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    take: str | None = key(
        Text(allowed="a take in the output folder such as 'box/v003' or 'box/latest'"),
        "a finished take instead of a file", None,
    )  # fmt: skip
    clip: str | None = key(
        Text(allowed="the name of an animation in a glTF file"), "which animation of a glTF file", None,
        otherwise="the only one",
    )  # fmt: skip
    faces: Path | None = key(
        InputPath(), "the mesh file of a PC2 or MDD cache", None, otherwise="the mesh of the same name beside it"
    )
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")
    rig: RigTable | None = key(
        Table(RigTable, "{ skeleton = 'walk.bvh', fit = true }"), "a skeleton that moves the file's mesh", None
    )
    sew: bool = key(Flag(), "sew edges that lie on each other on every frame (texture seams) for the physics", True)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """A file or a take."""
        about_file = [name for name in ("prim", "clip", "faces", "unit", "up_axis", "rig") if name in given]
        if _one_of(given, "file", "take", place) == "take" and about_file:
            place.refuse("a take knows its own prim, unit and axis", got=joined(about_file), remedy="leave them out")


@dataclass(frozen=True, kw_only=True)
class MeshTable:
    """The fine shell: the guide subdivided, in the guide's rest shape or that of a file."""

    levels: int | None = key(
        Whole(0, 8), "how often each triangle of the guide is split into four", None, otherwise="3; 0 with a file"
    )
    file: Path | None = key(InputPath(), "a mesh of the guide's faces whose shape is the rest shape", None)
    prim: str | None = key(PRIM, "which mesh of a USD file", None, otherwise="the only one")
    unit: str | float | None = key(UNIT, UNIT_DOC, None, otherwise=UNIT_OTHERWISE)
    up_axis: str | None = key(AXIS, "the file's up axis", None, otherwise="the file's, 'Y' where it has none")

    @property
    def split(self) -> int:
        """Levels of subdivision, the default filled in."""
        return self.levels if self.levels is not None else 3 if self.file is None else 0

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """What tells about a file needs one."""
        if "file" not in given and (self.prim or self.unit or self.up_axis):
            place.refuse("prim, unit and up_axis tell about a file", remedy="give 'file' too")


@dataclass(frozen=True)
class MaterialSpec:
    """A preset's name, and what differs from it."""

    preset: str | None
    values: Mapping[str, Keys] = dataclasses.field(default_factory=dict)

    def at(self, rate: float) -> ShellMaterial:
        """The material, its keys turned from frames into seconds."""
        base = ShellMaterial(young=1.0) if self.preset is None else preset(self.preset)
        given = {name: in_seconds(value, rate) for name, value in self.values.items()}
        if "weight" in given:  # instead of the preset's density
            given = {"density": None, **given}
        return dataclasses.replace(base, **given)


_FIELDS = [*(field.name for field in dataclasses.fields(ShellMaterial)), "weight"]


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
        if name is not None and name not in PRESETS:
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


@dataclass(frozen=True, kw_only=True)
class RegionTable:
    """A part of the shell that has a name, and perhaps a material of its own."""

    vertices: tuple[int, ...] | None = key(_VERTICES, "the region's points; materials blend across its border", None)
    faces: tuple[int, ...] | None = key(_FACES, "or its polygons; the border is sharp", None)
    material: MaterialSpec | None = key(Material(), "the region's material", None, otherwise="the object's")

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Vertices or faces."""
        _one_of(given, "vertices", "faces", place)


@dataclass(frozen=True, kw_only=True)
class TrackTable:
    """How the guide is obeyed."""

    method: str = key(
        Choice(("hierarchy", "clusters", "painted", "none"), later=("pointwise",)),
        "what is met: 'hierarchy' averages around each guide vertex; 'clusters' averages over regions that follow the "
        "animation; 'painted' averages over regions painted on the guide; 'none': a plain simulation", "hierarchy",
    )  # fmt: skip
    count: int | None = key(Whole(1, 1_000_000), "how many clusters: few are loose, many are tight", None)
    scale: float | None = key(
        Number(0.0, 1e6, closed=False, unit="m"), "or how large clusters are: what is larger obeys the guide", None
    )
    regions: str | None = key(
        Text(allowed="'group', 'material', a family of USD subsets, or an attribute"),
        "what is painted: a family of subsets or groups, or an attribute of whole numbers or colours", None,
        otherwise="'bunraku:regions' where the guide has it, else 'group'",
    )  # fmt: skip
    compactness: float = key(Number(0.0, 1.0), "of clusters: 1 makes them round, 0 flat", 0.5)
    seed: int = key(Whole(0), "of clusters: another number, other regions", 0)
    strength: Keys = key(_STRENGTH, "1 obeys exactly, 0 not at all; may be keyed", 1.0)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Clusters need their number or their size, painted regions neither."""
        told = [name for name in ("count", "scale") if name in given]
        if self.method == "clusters" and len(told) != 1:
            got = "both" if told else "neither"
            place.refuse("clusters need a number of regions or their size", got=got, remedy="count = 200")
        if self.method != "clusters" and told:
            place.at(told[0]).refuse("is for clusters", got=given[told[0]], remedy="method = 'clusters'")
        if self.method != "painted" and "regions" in given:
            place.at("regions").refuse("is for painted regions", got=given["regions"], remedy="method = 'painted'")


@dataclass(frozen=True, kw_only=True)
class PinTable:
    """Vertices held in place."""

    vertices: tuple[int, ...] | None = key(_VERTICES, "the vertices held", None)
    region: str | None = key(Text(allowed="the name of a region"), "or a region of this object", None)
    axes: str = key(
        Text("(?!.*(.).*\\1)[xyz]{1,3}", allowed="'y', 'xz', 'xyz', …"), "which coordinates are held", "xyz"
    )
    to: str | tuple[float, float, float] = key(
        Either((Choice(("start", "guide")), _POINT)),
        "where: 'start' stays, 'guide' goes with the guide's surface, or a point", "start",
    )  # fmt: skip
    strength: Keys = key(_STRENGTH, "1 holds exactly, 0 lets go; may be keyed", 1.0)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Vertices or a region."""
        _one_of(given, "vertices", "region", place)


@dataclass(frozen=True, kw_only=True)
class ObjectTable:
    """One body of the shot."""

    guide: GuideTable = key(
        Table(GuideTable, "{ file = 'guide.usda', prim = '/box' }", GuideTable.check), "the animation to obey"
    )
    mesh: MeshTable = key(Table(MeshTable, "{ levels = 3 }", MeshTable.check), "the fine shell", factory=MeshTable)
    rest: RestTable | None = key(
        Table(RestTable, "{ shape = 'crinkle', depth = 0.01, wavelength = 0.05 }", RestTable.check),
        "the shape without stress, where it is not the mesh's own", None, otherwise="the mesh's own",
    )  # fmt: skip
    material: MaterialSpec = key(
        Material(), "what the shell is made of; moduli, bend_scale, strain_limit, dampings and drag may be keyed",
        MaterialSpec("cotton"), otherwise="'cotton'",
    )  # fmt: skip
    warp: str | tuple[float, float, float] | None = key(
        Either((Text(allowed="'uv' or the name of a painted vector attribute"), _AXIS_VECTOR)),
        "where the warp of woven materials runs: along u of the guide's texture coordinates, along a vector painted on "
        "the guide, or along one axis let down on every face", None,
        otherwise="'uv' where the guide has texture coordinates, else upright",
    )  # fmt: skip
    regions: Mapping[str, RegionTable] = key(
        Named(
            Table(
                RegionTable, "{ vertices = [0, 1], material = 'leather' }", RegionTable.check, {"scale": _CLUSTERS}
            ),
            Text(allowed="a name"),
        ),
        "parts with a name, and perhaps a material", factory=dict,
    )  # fmt: skip
    track: TrackTable = key(
        Table(
            TrackTable, "{ method = 'hierarchy', strength = 1.0 }", TrackTable.check,
            {"labels": "labels are painted on the guide's file: see 'regions'"},
        ),
        "how the guide is obeyed", factory=TrackTable,
    )  # fmt: skip
    pins: tuple[PinTable, ...] = key(
        ListOf(Table(PinTable, "{ vertices = [0, 1], axes = 'xyz', to = 'start' }", PinTable.check)),
        "vertices held: vertices or region, axes, to ('start', 'guide', [x, y, z]), strength", (),
    )  # fmt: skip
    pressure: Keys | None = key(PRESSURE, "overpressure inside a closed shell; may be keyed", None)
    gas: GasTable | None = key(
        Table(GasTable, "{ pressure = 500, amount = 1 }", GasTable.check), "gas shut into a closed shell instead", None
    )

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        rig, rest = self.guide.rig, self.rest
        named = (self.guide.file, rig and rig.skeleton, self.mesh.file, rest and rest.file)
        return [one for one in named if one is not None]

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Pins must name regions there are; pressure is given or that of a gas."""
        if "pressure" in given and "gas" in given:
            place.refuse("has either a given pressure or an enclosed gas", got="both", remedy="gas = { pressure = … }")
        regions, pins = given.get("regions", {}), given.get("pins", [])
        names = list(regions) if isinstance(regions, dict) else []
        for k, pin in enumerate(pins if isinstance(pins, list) else []):
            region = pin.get("region") if isinstance(pin, dict) else None
            if isinstance(region, str) and region not in names:
                place.at("pins").entry(k).at("region").refuse(
                    "unknown region", got=region, allowed=joined(names) or "none is defined",
                    remedy=nearest(region, names),
                )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PhysicsTable:
    """How the motion is computed."""

    gravity: tuple[float, float, float] = key(
        ListOf(Number(-1e6, 1e6), least=3, most=3, what="[x, y, z] in m/s², Y is up"), "gravity", (0.0, -9.81, 0.0)
    )
    substeps: int = key(Whole(1, 10_000), "steps per frame", 2)
    iterations: str | int = key(
        Either((Choice(("converge",)), Whole(1, 10_000))), "Newton iterations a step; 1 is the paper's", "converge"
    )
    tolerance: float = key(Number(0.0, 0.1, closed=False), "converged at this share of the shell's size", 3e-5)
    bending: str = key(Choice(("plate", "hinge")), "'plate': right on any mesh; 'hinge': Discrete Shells", "plate")
    mass: str = key(Choice(("lumped", "consistent")), "mass matrix", "lumped")
    start: str = key(
        Choice(("guide", "rest", "settled")),
        "first pose: the guide's, the rest shape, or hanging in equilibrium",
        "guide",
    )
    wind: WindTable | None = key(
        Table(WindTable, "{ velocity = [5, 0, 0], turbulence = 0.3 }", WindTable.check), "moving air", None
    )


@dataclass(frozen=True, kw_only=True)
class OutputTable:
    """Where the takes go, and as what."""

    folder: Path = key(FolderPath(), "folder of the takes, relative to the shot file", Path("takes"))
    formats: tuple[str, ...] = key(ListOf(Choice(FORMATS), least=1), "files of the animation", ("usdc",))
    shutter: tuple[float, float] | None = key(
        ListOf(Number(-1.0, 1.0), least=2, most=2, what="[open, close] in frames about each frame"),
        "USD samples between frames too: where the shutter opens and closes, such as [-0.25, 0.25]", None,
    )  # fmt: skip
    clips: bool = key(Flag(), "for heavy takes: each frame of the USD in a file of its own (value clips)", False)
    preview: bool = key(Flag(), "make preview.mp4 and contact_sheet.png", True)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Each format once."""
        if self.formats is not None and len(set(self.formats)) != len(self.formats):
            place.at("formats").refuse("names a format twice", got=list(self.formats))
        usd = self.formats is None or any(kind.startswith("usd") for kind in self.formats)
        for name in ("clips", "shutter"):
            if given.get(name) and not usd:
                place.at(name).refuse("is for USD files, and none is written", remedy="'usdc' in formats")
        if self.shutter is not None and not self.shutter[0] < self.shutter[1]:
            place.at("shutter").refuse("must open before it closes", got=list(self.shutter))


OBJECT = Table(ObjectTable, "[object.box] with a guide", ObjectTable.check, {"role": _OBSTACLES, "source": _OBSTACLES})
PHYSICS = Table(PhysicsTable, later={"contact": "contact comes in a later version"})
SHOT = Table(ShotTable, check=ShotTable.check)
OUTPUT = Table(OutputTable, check=OutputTable.check)
