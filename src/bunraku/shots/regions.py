"""The regions a shot directs: clusters by count or size, or what the artist painted on the guide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, input_error
from bunraku.direction.track import TestFunctions, clusters, gaussians, painted, scales, vertex_labels
from bunraku.geometry import COLOUR, Attribute, Scope, Subset, Surface, face_areas, first_few
from bunraku.io import Clip
from bunraku.motion import CurveLike

from .kinds import in_seconds
from .track_spec import TrackTable

REGIONS = "bunraku:regions"
"""the family of subsets that are regions, where nothing else is said"""
Parts = Mapping[str, tuple[Integers, CurveLike]]
"""name → guide faces and the scale they have [m]"""


def guide_tests(clip: Clip, track: TrackTable, parts: Parts) -> TestFunctions:
    """The test functions a table asks for, on the guide's own mesh; `parts` have a scale of their own."""
    if track.method == "painted":
        return _painted(clip, track.regions)
    if track.method == "gaussians":
        assert track.width is not None
        return gaussians(clip.mesh, track.width, seed=track.seed)
    if track.method == "clusters":
        return _clusters(clip, track, parts)
    identity = sparse.eye_array(clip.mesh.point_count, format="csr")
    return TestFunctions(identity, identity, identity)


def is_painted(surface: Surface, name: str | None) -> bool:
    """Whether a surface has the regions of that name, or those that are meant without one."""
    wanted, families = _meant(surface, name)
    return wanted in families or _attribute(surface, wanted) is not None


def _clusters(clip: Clip, track: TrackTable, parts: Parts) -> TestFunctions:
    how = {"compactness": track.compactness, "seed": track.seed}
    if track.count is not None and not parts:
        found = clusters(clip.animation, track.count, **how)
        return replace(found, names=tuple(str(k) for k in range(found.count)))
    scale = in_seconds(track.scale, clip.rate) if track.scale is not None else _size_of_count(clip, track, parts)
    return scales(clip.animation, scale, parts=parts, **how)


def _size_of_count(clip: Clip, track: TrackTable, parts: Parts) -> float:
    """How large regions are of which `count` cover what is in no part [m]."""
    areas = face_areas(clip.mesh.rest, clip.mesh.faces)
    for faces, _ in parts.values():
        areas[faces] = 0.0
    return float(np.sqrt(areas.sum() / (track.count or 1))) or 1.0


def _painted(clip: Clip, name: str | None) -> TestFunctions:
    surface, welded = clip.surface, clip.welded
    labels, names, scope = _labels(surface, name)
    own = labels[welded.polygons] if scope is Scope.POLYGON else labels[welded.point_of_vertex]
    found = painted(clip.mesh, own, clip.mesh, own)
    there = np.unique(vertex_labels(clip.mesh, own, "guide"))
    return replace(found, names=tuple(names[k] for k in there if k >= 0))


def _labels(surface: Surface, name: str | None) -> tuple[Integers, list[str], Scope]:
    """A number for each polygon or point, −1 where it is free, the names of the numbers, and which of the two it is."""
    wanted, families = _meant(surface, name)
    if wanted in families:
        own = [subset for subset in surface.subsets if subset.family == wanted]
        return _of_subsets(surface, own), [subset.name for subset in own], Scope.POLYGON
    attribute = _attribute(surface, wanted)
    if attribute is not None:
        return _of_attribute(attribute)
    known = [*families, *(one.name for one in surface.attributes)]
    raise input_error(
        "the guide has no such regions", got=wanted, allowed=", ".join(known) or "none, nothing is painted on it",
        remedy="regions = a family of subsets or groups, or an attribute",
    )  # fmt: skip


def _meant(surface: Surface, name: str | None) -> tuple[str, list[str]]:
    """Where regions are looked for, and the families of subsets there are."""
    families = list(dict.fromkeys(subset.family for subset in surface.subsets))
    return name or (REGIONS if REGIONS in families else "group"), families


def _attribute(surface: Surface, name: str) -> Attribute | None:
    return surface.attribute(COLOUR if name in ("color", COLOUR) else name)


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
