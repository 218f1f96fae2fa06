"""A soft body with a skin, as a shot tells it: its surface or its motion, and its handles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Faces, InputError, Integers, Points, Sparse, Vector
from bunraku.direction.wrinkle import Handle
from bunraku.geometry import MOST_FACES, TriMesh, first_few, subdivide_smoothly
from bunraku.io import Clip, Outgoing
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import Curve
from bunraku.motion import Path as Way

from .body_regions import region_of_body
from .filling import read_surface, tried
from .findings import Place
from .inputs import InputFile, read_guide, source_inputs
from .labels import labels_inputs, marked
from .painted import IN, painted_points, painted_shares
from .read_muscles import muscle_inputs
from .retime import retimed
from .shot import Shot
from .told_way import told_way, way_inputs
from .wrinkle_spec import HandleKey, HandleTable, SkinRegion, WrinkleObject

_PAINTED = "painted"
_ROUNDED = 1e-6
"""by which weights in single precision may come to more than 1"""


@dataclass(frozen=True, eq=False)
class ReadSkin:
    """The surface of a body with a skin, and its file."""

    name: str
    """the object's"""
    table: WrinkleObject
    clip: Clip
    going: Outgoing
    path: Path

    @cached_property
    def finer(self) -> tuple[Sparse, Faces]:
        """The matrix (n, n_file) from points of the file's mesh to those of the skin's, and the skin's faces."""
        return subdivide_smoothly(self.clip.mesh.faces, self.clip.mesh.point_count, self.table.levels)


def read_skin(name: str, table: WrinkleObject, shot: Shot) -> ReadSkin:
    """Read the surface, or the animation; raises everything that does not fit."""
    place = shot.place.at("object").at(name)
    if table.guide is None:
        assert table.surface is not None
        clip, path = read_surface(name, "surface", table.surface, shot)
        return ReadSkin(name, table, clip, _going(clip, table, place), path)
    guide = table.guide
    read = tried(lambda: read_guide(guide, shot.shot.rate, shot.output.folder), place.at("guide"))
    place.raise_all()
    assert read is not None
    clip = tried(lambda: retimed(read[0], guide.retime), place.at("guide"))
    place.raise_all()
    assert clip is not None
    return ReadSkin(name, table, clip, _going(clip, table, place), read[1])


def _going(clip: Clip, table: WrinkleObject, place: Place) -> Outgoing:
    """The surface that is written; refused before anything large is made."""
    faces = len(clip.mesh.faces) * 4**table.levels
    if faces > MOST_FACES:
        place.at("levels").refuse(
            "the skin would have too many faces", got=f"{table.levels}, which makes {faces}",
            allowed=f"up to {MOST_FACES:g} faces", remedy=f"{max(table.levels - 1, 0)} or less",
        )  # fmt: skip
        place.raise_all()
    return Outgoing.of(clip, table.levels)


def skin_inputs(read: ReadSkin, takes: Path, place: Place) -> list[InputFile]:
    """Every file that is read; what cannot be is told to `place`."""
    table = read.table
    found = source_inputs(f"object.{read.name}.{table.source_key}", read.path, table.source)
    for k, one in enumerate(table.handles):
        if one.path is not None:
            told, key = one.path, f"object.{read.name}.handles[{k}].path"
            found += tried(lambda told=told, key=key: way_inputs(told, key, takes), _at(place, k).at("path")) or []
    found += labels_inputs(read.name, table.labels)
    return found + muscle_inputs(f"object.{read.name}.muscles", table.muscles)


def read_regions(read: ReadSkin, place: Place) -> dict[str, Integers]:
    """The vertices of each region; what does not fit is told to `place`."""
    going, regions = marked(read.going, read.table.labels, place), place.at("regions")
    out = dict[str, Integers]()
    for name, region in read.table.regions.items():
        faint = _faintly(read, name, region)
        out[name] = region_of_body(region, going, regions.at(name)) if faint is None else faint
    return out


def _faintly(read: ReadSkin, name: str, region: SkinRegion) -> Integers | None:
    """The vertices on which a region's own skin is painted at all, where weights are nowhere above a half and no handle
    takes the region along; None of any other."""
    if region.skin is None or region.painted is None or any(one.region == name for one in read.table.handles):
        return None
    try:
        shares = painted_shares(read.going.surface, region.painted)
    except InputError:  # told where skins are blended
        return None
    if shares is None or not 0.0 < shares.max(initial=0.0) <= IN:
        return None
    found = read.going.vertices_of(np.flatnonzero(shares))
    return np.unique(found[found >= 0])


def read_blend(
    read: ReadSkin, base: ShellMaterial, shell: TriMesh, found: Mapping[str, Integers], place: Place
) -> MaterialBlend | None:  # fmt: skip
    """The skins of regions that have one of their own in the `base`: blended as they are painted where that is by
    weights, else over a face about each; None where no region has. What does not fit is told to `place`."""
    materials, columns, regions = [base], [], place.at("regions")
    for name, region in read.table.regions.items():
        if region.skin is not None:
            own = tried(lambda spec=region.skin: spec.over(base), regions.at(name).at("skin"))
            shares = tried(
                lambda one=region, inside=found[name]: _shares(read, one.painted, lambda: inside),
                regions.at(name).at(_PAINTED),
            )
            if own is not None and shares is not None:
                materials.append(own)
                columns.append(shares)
    wanted = sum(one.skin is not None for one in read.table.regions.values())
    if not wanted or len(columns) < wanted:
        return None
    claimed = np.stack(columns, axis=1)
    twice = np.flatnonzero(claimed.sum(axis=1) > 1.0 + _ROUNDED)
    if len(twice):
        regions.refuse(
            "vertices lie in two regions with skins of their own", got=first_few(twice), allowed="weights of 1 in all"
        )
        return None
    weights = np.column_stack([np.maximum(1.0 - claimed.sum(axis=1), 0.0), claimed])
    return MaterialBlend.by_vertex(materials, weights / weights.sum(axis=1, keepdims=True), shell.faces)


def read_growing(read: ReadSkin, place: Place) -> Vector | None:
    """(n,) by how much of its growth each vertex grows; None where all of them do. What does not fit is told to
    `place`."""
    name = read.table.growth_painted
    if name is None:
        return None
    where = place.at("growth_painted")
    going = marked(read.going, read.table.labels, Place("", place.folder))  # whose own refusals were told with regions

    def inside() -> Integers:
        found = going.vertices_of(painted_points(going.surface, name))
        return found[found >= 0]

    found = tried(lambda: _shares(read, name, inside), where)
    if found is not None and not found.any():
        where.refuse("nothing is in the part", got=name, allowed="weights above 0 somewhere")
    return found


def _shares(read: ReadSkin, name: str | None, inside: Callable[[], Integers]) -> Vector:
    """(n,) by how much vertices of the mesh are in a part: as it is painted with weights on the body's own file, else
    those `inside` wholly. Points that are one vertex have the largest of their weights."""
    rows = read.going.vertex_of_point
    out: Vector = np.zeros(int(rows.max()) + 1)
    painted = None if name is None else painted_shares(read.going.surface, name)
    if painted is None:
        out[inside()] = 1.0
    else:
        np.maximum.at(out, rows[rows >= 0], painted[rows >= 0])
    return out


def read_handles(
    read: ReadSkin, shell: TriMesh, found: Mapping[str, Integers], rate: float, first: float, takes: Path,
    origin: Vector, place: Place,
) -> list[Handle]:  # fmt: skip
    """The handles of a surface about an origin (3,) [m], whose regions are `found`, time counted from the frame
    `first`; what does not fit is told to `place`."""
    out: list[Handle | None] = []
    for k, told in enumerate(read.table.handles):
        vertices = found[told.region]
        if len(vertices):

            def make(told: HandleTable = told, vertices: Integers = vertices) -> Handle:
                if told.path is None:
                    return Handle(vertices, _keyed(told.keys, shell.rest[vertices], rate, first))
                times, points, turns = told_way(told.path, rate, first, takes)
                return Handle(vertices, Way(times, points - origin, None, turns))

            out.append(tried(make, _at(place, k)))
    return [one for one in out if one is not None]


def _keyed(keys: tuple[HandleKey, ...], rest: Points, rate: float, first: float) -> Callable[[float], Array]:
    """Time [s] → where points (v, 3) of a handle are that is moved, and turned about its middle, as keyed."""
    if not keys:
        return lambda time: rest
    rows = np.array([(*one.move, *np.radians(one.rotate)) for one in keys])
    times = [(one.frame - first) / rate for one in keys]
    curves = [
        Curve.of([(time, float(value), one.ease) for time, value, one in zip(times, column, keys, strict=True)])
        for column in rows.T
    ]
    middle = rest.mean(axis=0)

    def at(time: float) -> Array:
        told = np.array([one.at(time) for one in curves])
        return middle + told[:3] + (rest - middle) @ Rotation.from_rotvec(told[3:]).as_matrix().T

    return at


def _at(place: Place, k: int) -> Place:
    return place.at("handles").entry(k)
