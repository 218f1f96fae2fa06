"""Lists of points and polygons in a shot file, as vertices and faces of the shell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import InputError, Integers
from bunraku.geometry import first_few
from bunraku.io import Outgoing

from .findings import Place
from .painted import painted_points
from .spec import RegionTable


def region_vertices(region: RegionTable, going: Outgoing, place: Place) -> Integers:
    """(v,) vertices of a region; those that do not exist are refused."""
    if region.painted is not None:
        return painted_vertices(region.painted, going, place, "shell")
    if region.faces is not None:
        return np.unique(going.vertices_of(_points_of(region.faces, going, place.at("faces"))))
    return vertices_at(region.vertices or (), going, place.at("vertices"))


def painted_vertices(name: str, going: Outgoing, place: Place, whole: str) -> Integers:
    """(v,) vertices at the points of a part painted on the written surface of a `whole` ('shell'); what is wrong is
    told to the place of the region, and left out."""
    try:
        found = going.vertices_of(painted_points(going.surface, name))
    except InputError as error:
        place.at("painted").pass_on(error)
        return np.zeros(0, dtype=np.int64)
    if (found < 0).all():
        place.at("painted").refuse(f"is painted on points of no face, which the {whole} leaves out", got=name)
    return np.unique(found[found >= 0])


def _points_of(polygons: Sequence[int], going: Outgoing, place: Place) -> Integers:
    """Points of polygons of the written surface that are part of the shell."""
    chosen = np.zeros(going.surface.polygon_count, dtype=bool)
    chosen[listed(polygons, going.surface.polygon_count, place)] = True
    points = np.unique(going.surface.corners[np.repeat(chosen, going.surface.counts)])
    return points[going.vertices_of(points) >= 0]


def vertices_at(given: Sequence[int], going: Outgoing, place: Place) -> Integers:
    """(v,) vertices of the shell at points of the written surface."""
    points = listed(given, going.surface.point_count, place)
    vertices = going.vertices_of(points)
    if (vertices < 0).any():
        place.refuse("names points of no face, which the shell leaves out", got=first_few(points[vertices < 0]))
    return np.unique(vertices[vertices >= 0])


def listed(given: Sequence[int], count: int, place: Place) -> Integers:
    indices = np.array(given, dtype=np.int64)
    outside = indices[indices >= count]
    if len(outside):
        place.refuse("numbers outside the written surface", got=first_few(outside), allowed=f"0 to {count - 1}")
    if len(np.unique(indices)) < len(indices):
        place.refuse("names one twice", got=first_few(indices))
    return indices[indices < count]
