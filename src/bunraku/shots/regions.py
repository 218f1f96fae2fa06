"""The regions a shot directs: clusters by count or size, or what the artist painted on the guide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Integers, Sparse, input_error
from bunraku.direction.track import clusters, painted, vertex_labels
from bunraku.geometry import COLOUR, Attribute, Scope, Subset, Surface, face_areas, first_few, region_limits
from bunraku.io import Clip

from .track_spec import TrackTable

REGIONS = "bunraku:regions"
"""the family of subsets that are regions, where nothing else is said"""


@dataclass(frozen=True, eq=False)
class Regions:
    """Test functions of the guide, with names."""

    functions: Sparse
    """(k, n_guide) values on the guide's vertices"""
    names: tuple[str, ...]


def guide_regions(clip: Clip, track: TrackTable) -> Regions:
    """The regions a table asks for."""
    if track.method == "painted":
        return _painted(clip, track.regions)
    count = track.count or _count_of_size(clip, track.scale or 1.0)
    found = clusters(clip.animation, count, compactness=track.compactness, seed=track.seed)
    return Regions(found.guide, tuple(str(k) for k in range(found.count)))


def _count_of_size(clip: Clip, scale: float) -> int:
    """How many regions about `scale` [m] across cover the guide, each of its pieces with one at least."""
    area = float(face_areas(clip.mesh.rest, clip.mesh.faces).sum())
    return int(np.clip(round(area / scale**2), *region_limits(clip.mesh.faces)))


def _painted(clip: Clip, name: str | None) -> Regions:
    surface, welded = clip.surface, clip.welded
    labels, names, scope = _labels(surface, name)
    own = labels[welded.polygons] if scope is Scope.POLYGON else labels[welded.point_of_vertex]
    found = painted(clip.mesh, own, clip.mesh, own)
    there = np.unique(vertex_labels(clip.mesh, own, "guide"))
    return Regions(found.guide, tuple(names[k] for k in there if k >= 0))


def _labels(surface: Surface, name: str | None) -> tuple[Integers, list[str], Scope]:
    """A number for each polygon or point, −1 where it is free, the names of the numbers, and which of the two it is."""
    families = list(dict.fromkeys(subset.family for subset in surface.subsets))
    wanted = name or (REGIONS if REGIONS in families else "group")
    if wanted in families:
        own = [subset for subset in surface.subsets if subset.family == wanted]
        return _of_subsets(surface, own), [subset.name for subset in own], Scope.POLYGON
    attribute = surface.attribute(COLOUR if wanted in ("color", COLOUR) else wanted)
    if attribute is not None:
        return _of_attribute(attribute)
    known = [*families, *(one.name for one in surface.attributes)]
    raise input_error(
        "the guide has no such regions", got=wanted, allowed=", ".join(known) or "none, nothing is painted on it",
        remedy="regions = a family of subsets or groups, or an attribute",
    )  # fmt: skip


def _of_subsets(surface: Surface, subsets: list[Subset]) -> Integers:
    labels = np.full(surface.polygon_count, -1)
    for k, subset in enumerate(subsets):
        taken = subset.polygons[labels[subset.polygons] >= 0]
        if len(taken):
            other = subsets[int(labels[taken[0]])].name
            raise input_error(
                f"regions {other!r} and {subset.name!r} overlap", where=f"polygons {first_few(taken)}",
                remedy="paint each polygon once",
            )  # fmt: skip
        labels[subset.polygons] = k
    return labels


def _of_attribute(attribute: Attribute) -> tuple[Integers, list[str], Scope]:
    """Equal values are a region; whole numbers below zero are free."""
    if attribute.scope not in (Scope.POINT, Scope.POLYGON):
        raise input_error(
            "regions must be painted on points or polygons", got=f"{attribute.name!r} per {attribute.scope.value}"
        )
    values = np.asarray(attribute.flat()).reshape(len(attribute.flat()), -1)
    if values.shape[1] == 1 and not np.issubdtype(values.dtype, np.integer):
        raise input_error("labels must be whole numbers", got=f"{attribute.name!r} of {values.dtype}")
    rows, labels = np.unique(values, axis=0, return_inverse=True)
    whole = np.issubdtype(rows.dtype, np.signedinteger)
    free = np.asarray(rows[:, 0], dtype=np.int64) < 0 if whole else np.zeros(len(rows), dtype=bool)
    number = np.where(free, -1, np.cumsum(~free) - 1)
    names = [f"{attribute.name} {' '.join(f'{one:g}' for one in row)}" for row in rows[~free].tolist()]
    return number[labels.reshape(-1)], names, attribute.scope
