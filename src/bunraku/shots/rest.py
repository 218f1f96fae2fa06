"""The rest shape of a shot's object where it is not the mesh's own."""

from __future__ import annotations

from bunraku.contracts import InputError, Points, Sparse
from bunraku.geometry import TriMesh, accordion, check_physical, crinkle, ridges
from bunraku.io import Clip
from bunraku.motion import RestShapes

from .findings import Place
from .inputs import read_rest
from .kinds import in_seconds
from .rest_spec import RestTable


def rest_shapes(
    table: RestTable | None, clip: Clip, shell: TriMesh, prolongation: Sparse, place: Place
) -> RestShapes | None:
    """From the shell's own shape to the table's, by its amount; None where there is no table, or after a refusal."""
    if table is None:
        return None
    try:
        points = _made(table, shell) if table.file is None else _read(table, clip, prolongation, place)
        if points is None:
            return None
        check_physical(shell.with_rest(points), "the rest shape")
    except InputError as error:
        return place.pass_on(error)
    return RestShapes.between(shell.rest, points, in_seconds(table.amount, clip.rate))


def _made(table: RestTable, shell: TriMesh) -> Points:
    assert table.depth is not None and table.wavelength is not None
    if table.shape == "crinkle":
        return crinkle(shell, depth=table.depth, wavelength=table.wavelength, seed=table.seed)
    make = accordion if table.shape == "accordion" else ridges
    return make(shell, depth=table.depth, wavelength=table.wavelength, axis=table.axis)


def _read(table: RestTable, clip: Clip, prolongation: Sparse, place: Place) -> Points | None:
    surface = read_rest(table)
    assert surface is not None
    if not surface.same_topology(clip.surface):
        return place.refuse(
            "the rest shape has another topology than the guide", got=surface.shape_in_words(),
            allowed=f"{clip.surface.shape_in_words()} as the guide has",
        )  # fmt: skip
    return prolongation @ surface.points[clip.welded.point_of_vertex]
