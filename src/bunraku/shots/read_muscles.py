"""The muscles of a soft body, as a shot tells them: two shapes of the same vertices, and when they contract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bunraku.contracts import InputError, Points, Vector, input_error
from bunraku.direction.wrinkle import Muscle
from bunraku.io import Clip, survey

from .filling import tried
from .findings import Place
from .inputs import InputFile, hashed, read_source, require_unit
from .kinds import since
from .muscle_spec import MuscleShape, MuscleTable
from .source_spec import AnimationKeys


def read_muscles(
    tables: Sequence[MuscleTable], rate: float, first: float, takes: Path, origin: Vector, place: Place
) -> list[Muscle]:
    """The muscles of a body about an origin (3,) [m], time counted from the frame `first`; what does not fit is told to
    `place`, that of the list."""
    out = [_muscle(one, rate, first, takes, origin, place.entry(k)) for k, one in enumerate(tables)]
    return [one for one in out if one is not None]


def muscle_inputs(key: str, tables: Sequence[MuscleTable]) -> list[InputFile]:
    """Every file that is read for the muscles under a key of the shot."""
    found = []
    for k, one in enumerate(tables):
        found += hashed(f"{key}[{k}].relaxed", one.relaxed.file)
        found += hashed(f"{key}[{k}].contracted", one.contracted.file)
    return found


def _muscle(
    told: MuscleTable, rate: float, first: float, takes: Path, origin: Vector, place: Place
) -> Muscle | None:  # fmt: skip
    clip = tried(lambda: _relaxed(told.relaxed, takes), place.at("relaxed"))
    if clip is None:
        return None
    points = tried(lambda: _contracted(told.contracted, clip), place.at("contracted"))
    if points is None:
        return None
    relaxed = clip.mesh.with_rest(clip.mesh.rest - origin)
    activation = since(told.activation, first, rate)
    try:
        return Muscle(relaxed, points - origin, activation, told.stiffness, anchored=told.anchored)
    except InputError as error:
        place.pass_on(error, without="muscle.")
        return None


def _relaxed(told: MuscleShape, takes: Path) -> Clip:
    source = AnimationKeys(file=told.file, prim=told.prim, unit=told.unit, up_axis=told.up_axis)
    return read_source(source, None, takes)[0]


def _contracted(told: MuscleShape, relaxed: Clip) -> Points:
    """(n, 3) where a file has the vertices of a relaxed muscle [m]."""
    found = survey(told.file, told.prim, unit=told.unit, up_axis=told.up_axis)
    surface, own = found.surface, relaxed.surface
    require_unit(found.unit_known, surface.points, found.path)
    if not surface.same_topology(own):
        raise input_error(
            "the contracted shape has other points or polygons than the relaxed one", where=str(told.file),
            got=f"{surface.point_count} points, {surface.polygon_count} polygons",
            allowed=f"the relaxed shape's {own.point_count} and {own.polygon_count}, in the same order",
            remedy="sculpt it from the relaxed shape, with nothing that changes its points",
        )  # fmt: skip
    return surface.points[relaxed.welded.point_of_vertex]
