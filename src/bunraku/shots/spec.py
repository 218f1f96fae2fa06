"""What a shot file may say. Numbers are SI; frames are the files' own frame numbers."""

# `key` makes a dataclass field, which ruff cannot know.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.direction.knobs import MOST_SUBSTEPS

from .air_spec import PRESSURE, GasTable, WindTable
from .body_spec import PAINTED, PAINTED_DOC, BodyObject
from .contact_spec import ROLES, ContactTable, ObstacleObject
from .findings import Place, nearest
from .kinds import (
    Choice,
    Either,
    Flag,
    FolderPath,
    Keys,
    ListOf,
    Number,
    Text,
    Whole,
    joined,
)
from .label_spec import LABELS, LABELS_DOC, LabelsTable, label_files
from .material_spec import Material, MaterialSpec
from .plan_spec import PlanObject
from .rest_spec import RestTable
from .source_spec import GuideTable, MeshTable
from .tables import Named, OneTable, Table, key, one_of
from .track_spec import POINT, SCALE, STRENGTH, TrackTable
from .wrinkle_spec import WrinkleObject

FORMATS = ("usda", "usdc", "obj", "ply", "pc2", "mdd", "glb")
_VERTICES = ListOf(Whole(), least=1, what="a list of point numbers of the written surface, from 0")
_STITCHES = ListOf(
    ListOf(Whole(), least=2, most=2, what="two point numbers"), least=1,
    what="a list of pairs of point numbers of the written surface, from 0",
)  # fmt: skip
_FACES = ListOf(Whole(), least=1, what="a list of polygon numbers of the written surface, from 0")
_AXIS_VECTOR = ListOf(Number(-1e6, 1e6), least=3, most=3, what="a direction [x, y, z]")


@dataclass(frozen=True, kw_only=True)
class ShotTable:
    """Name and time."""

    name: str | None = key(
        Text(r"\w[\w .+-]{0,99}", allowed="up to 100 letters, digits, '_', '-', '.'"),
        "name of the shot and of its folder of takes",
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
class RegionTable:
    """A part of the shell that has a name, and perhaps a material of its own."""

    vertices: tuple[int, ...] | None = key(_VERTICES, "the region's points; materials blend across its border", None)
    faces: tuple[int, ...] | None = key(_FACES, "or its polygons; the border is sharp", None)
    painted: str | None = key(PAINTED, PAINTED_DOC, None)
    material: MaterialSpec | None = key(Material(), "the region's material", None, otherwise="the object's")
    scale: Keys | None = key(
        SCALE, "how large clusters are here; may be keyed", None, otherwise="as everywhere on the object"
    )

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Vertices, faces or what is painted."""
        one_of(given, place, "vertices", "faces", "painted")


@dataclass(frozen=True, kw_only=True)
class PinTable:
    """Vertices held in place."""

    vertices: tuple[int, ...] | None = key(_VERTICES, "the vertices held", None)
    region: str | None = key(Text(allowed="the name of a region"), "or a region of this object", None)
    axes: str = key(
        Text("(?!.*(.).*\\1)[xyz]{1,3}", allowed="'y', 'xz', 'xyz', …"), "which coordinates are held", "xyz"
    )
    to: str | tuple[float, float, float] = key(
        Either((Text(allowed="'start', 'guide' or the name of an obstacle"), POINT)),
        "where: 'start' stays, 'guide' goes with the guide's surface, the name of an obstacle goes with the nearest "
        "places of that, or a point", "start",
    )  # fmt: skip
    strength: Keys = key(STRENGTH, "1 holds exactly, 0 lets go; may be keyed", 1.0)

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Vertices or a region."""
        one_of(given, place, "vertices", "region")


@dataclass(frozen=True, kw_only=True)
class SeamTable:
    """Points sewn to each other."""

    stitches: tuple[tuple[int, int], ...] = key(_STITCHES, "which points are sewn to which")
    closed: float | None = key(
        Number(-1e9, 1e9), "frame on which it is closed, pulled from the first one on, preroll included", None,
        otherwise="before the first frame, without weight",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ObjectTable:
    """The shell that is simulated."""

    role: str = key(
        Choice(ROLES),
        "'shell' is simulated and obeys its guide; 'obstacle' moves as its source does; 'body' is steered; the motion "
        "of a 'plan' is planned from a few keys; the skin of a 'wrinkle' wrinkles",
        "shell",
    )
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
                RegionTable, "{ vertices = [0, 1], material = 'leather' }", RegionTable.check
            ),
            Text(allowed="a name"),
        ),
        "parts with a name, and perhaps a material", factory=dict,
    )  # fmt: skip
    labels: LabelsTable | None = key(LABELS, LABELS_DOC, None)
    track: TrackTable = key(
        Table(
            TrackTable, "{ method = 'hierarchy', strength = 1.0 }", TrackTable.check,
            {"labels": "labels are painted on the guide's file: see 'regions'"},
        ),
        "how the guide is obeyed", factory=TrackTable,
    )  # fmt: skip
    pins: tuple[PinTable, ...] = key(
        ListOf(Table(PinTable, "{ vertices = [0, 1], axes = 'xyz', to = 'start' }", PinTable.check)),
        "vertices held: vertices or region, axes, to ('start', 'guide', an obstacle, [x, y, z]), strength", (),
    )  # fmt: skip
    seams: tuple[SeamTable, ...] = key(
        ListOf(Table(SeamTable, "{ stitches = [[0, 12], [1, 13]] }")), "where it is sewn together", ()
    )
    pressure: Keys | None = key(PRESSURE, "overpressure inside a closed shell; may be keyed", None)
    gas: GasTable | None = key(
        Table(GasTable, "{ pressure = 500, amount = 1 }", GasTable.check), "gas shut into a closed shell instead", None
    )

    @property
    def files(self) -> list[Path]:
        """The files it names."""
        named = (*self.guide.files, self.mesh.file, None if self.rest is None else self.rest.file)
        return [*(one for one in named if one is not None), *label_files(self.labels)]

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Pins must name regions there are; pressure is given or that of a gas; scales are for clusters."""
        method = getattr(self.track, "method", None)
        for name, region in (self.regions or {}).items():
            if region is not None and region.scale is not None and method not in (None, "clusters"):
                place.at("regions").at(name).at("scale").refuse(
                    "is for clusters", got=f"track.method = '{method}'", remedy="track = { method = 'clusters', … }"
                )
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
    substeps: int = key(Whole(1, MOST_SUBSTEPS), "steps per frame", 2)
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
    contact: bool | ContactTable = key(
        Either((Flag(), Table(ContactTable, "{ thickness = 0.002, friction = 0.3 }"))),
        "whether the shell feels itself and the obstacles, and how", False,
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Among surfaces that touch a step is short of whole, so a number of steps cannot be asked for."""
        if self.contact and self.iterations not in (None, "converge"):
            place.at("iterations").refuse(
                "with contact every step runs until it has converged", got=self.iterations, remedy="'converge'"
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
    checked: bool = key(
        Flag(), "look on every frame for triangles that pass through each other, and count them", True, name="check"
    )
    drawn: tuple[str, ...] = key(
        ListOf(Choice(("force", "residual", "regions"))),
        "what USD says of every point beside its place: how hard the guide pulls there [N], how far it is missed [m], "
        "which region it is in; each as a number and, for programs that show colours, as a colour", (),
    )  # fmt: skip

    def check(self, given: Mapping[str, Any], place: Place) -> None:
        """Each format once."""
        if self.formats is not None and len(set(self.formats)) != len(self.formats):
            place.at("formats").refuse("names a format twice", got=list(self.formats))
        usd = self.formats is None or any(kind.startswith("usd") for kind in self.formats)
        for name in ("clips", "shutter", "drawn"):
            if given.get(name) and not usd:
                place.at(name).refuse("is for USD files, and none is written", remedy="'usdc' in formats")
        if self.shutter is not None and not self.shutter[0] < self.shutter[1]:
            place.at("shutter").refuse("must open before it closes", got=list(self.shutter))


SHELL = Table(ObjectTable, "[object.box] with a guide", ObjectTable.check)
OBSTACLE = Table(ObstacleObject, "{ role = 'obstacle', source = { file = 'hero.usd' } }")
BODY = Table(BodyObject, "{ role = 'body', surface = { file = 'jelly.usda' } }", BodyObject.check)
PLAN = Table(PlanObject, "{ role = 'plan', surface = { file = 'jelly.usda' }, keys = […] }", PlanObject.check)
WRINKLE = Table(
    WrinkleObject, "{ role = 'wrinkle', surface = { file = 'cushion.usda' }, skin = {…}, interior = 'foam' }",
    WrinkleObject.check,
)  # fmt: skip
OBJECT = OneTable(
    "role", dict(zip(ROLES, (SHELL, OBSTACLE, BODY, PLAN, WRINKLE), strict=True)),
    {"skin": "wrinkle", "interior": "wrinkle", "handles": "wrinkle", "guide": "shell", "source": "obstacle",
     "modes": "plan", "fixed": "plan", "phases": "plan", "surface": "body"},
)  # fmt: skip
PHYSICS = Table(PhysicsTable, check=PhysicsTable.check)
SHOT = Table(ShotTable, check=ShotTable.check)
OUTPUT = Table(OutputTable, check=OutputTable.check)
