"""What a shot asks of its shell: test functions of the guide, carried to the shell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.contracts import InputError, Integers, Sparse
from bunraku.direction.track import Tests, pointwise, silhouette
from bunraku.geometry import TriMesh
from bunraku.io import Clip, Outgoing
from bunraku.motion import CurveLike

from .carried import Carried
from .findings import Place
from .kinds import in_seconds
from .labels import Painted
from .lists import listed, region_vertices
from .regions import Parts, guide_tests, is_painted
from .spec import ObjectTable


def shell_tests(
    clip: Clip, hung: Carried | None, table: ObjectTable, shell: TriMesh, prolongation: Sparse, going: Outgoing,
    painted: Painted | None, place: Place,
) -> Tests | None:  # fmt: skip
    """What the shell must obey; None where that is nothing, or after a refusal."""
    if table.track.method == "none":
        return None
    if table.track.method == "pointwise":
        own = np.arange(clip.mesh.point_count)
        return replace(pointwise(clip.mesh, shell, np.stack([own, own], axis=1)), prolongation=prolongation)
    try:
        parts = _parts(table, clip, going, place)
        labelled = table.labels is not None and table.track.method == "painted" and table.track.regions is None
        if labelled and painted is None:
            return None  # refused already
        if labelled and painted is not None:
            on_guide = painted.tests(clip.mesh, prolongation)
        elif hung is None or _of_the_mesh(clip, table):
            on_guide = guide_tests(clip, table.track, parts)
        else:
            on_guide = hung.tests(guide_tests(hung.guide, table.track, parts))
        if table.track.silhouette is not None:
            camera = table.track.silhouette
            on_guide = silhouette(clip.animation, on_guide, camera.camera, elsewhere=camera.elsewhere)
        return on_guide if labelled else on_guide.along(prolongation)
    except InputError as error:
        return place.at("track").pass_on(error)


def _of_the_mesh(clip: Clip, table: ObjectTable) -> bool:
    """Whether regions are of a mesh of its own and not of the guide: clusters are, and what is painted on the mesh."""
    return table.track.method == "clusters" or (
        table.track.method == "painted" and is_painted(clip.surface, table.track.regions)
    )


def _parts(table: ObjectTable, clip: Clip, going: Outgoing, place: Place) -> Parts:
    """The guide faces of regions with a scale of their own: those whose children, or corners, all lie in one."""
    out: dict[str, tuple[Integers, CurveLike]] = {}
    for name, region in table.regions.items():
        if region.scale is None:
            continue
        where = place.at("regions").at(name)
        if region.faces is not None:
            polygons = listed(region.faces, going.surface.polygon_count, where.at("faces"))
            owners = going.faces_of(polygons) // 4**table.mesh.split
            found = np.flatnonzero(np.bincount(owners, minlength=len(clip.mesh.faces)) == 4**table.mesh.split)
        else:
            inside = np.zeros(clip.mesh.point_count, dtype=bool)
            vertices = region_vertices(region, going, where)
            inside[vertices[vertices < len(inside)]] = True  # the guide's vertices come first
            found = np.flatnonzero(inside[clip.mesh.faces].all(axis=1))
        if not len(found):
            where.refuse("covers no whole face of the guide, so it can have no scale", got=f"{len(found)} faces")
            continue
        out[name] = (found, in_seconds(region.scale, clip.rate))
    return out
