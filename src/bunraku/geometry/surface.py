"""A surface as a file has it: polygons, split points, loose points, what is painted on them, names.

`Surface` is what comes in and goes out. Physics sees the `TriMesh` that `weld` makes of it.
Words: a surface has *points*, *polygons* and *corners* (a polygon's places); a `TriMesh` has *vertices* and *faces*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Faces, Integers, Points, input_error

from .trimesh import TriMesh, first_few


class Scope(Enum):
    """What a value is given for; the values are USD's words."""

    WHOLE = "constant"
    POLYGON = "uniform"
    POINT = "vertex"
    CORNER = "faceVarying"


@dataclass(frozen=True, eq=False)
class Attribute:
    """Numbers a file gives beside the shape: texture coordinates, normals, colours, the artist's own."""

    name: str
    """`UV`, `NORMALS`, `COLOUR` for those of every format, else the file's own name"""
    scope: Scope
    values: NDArray[np.generic]
    """(m,) or (m, w): a row an element of the scope, or the rows `indices` names"""
    indices: Integers | None = None
    """(elements,) row of each element of the scope; None: row k is element k's"""

    def flat(self) -> NDArray[np.generic]:
        """A row an element."""
        return self.values if self.indices is None else self.values[self.indices]


def unit_colours(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Colours from 0 to 1, whichever numbers a file counts them in."""
    most = np.iinfo(values.dtype.name).max if np.issubdtype(values.dtype, np.integer) else 1
    return np.asarray(values, dtype=np.float64) / float(most)


UV, NORMALS, COLOUR = "uv", "normals", "colour"


@dataclass(frozen=True, eq=False)
class Subset:
    """Polygons under a name."""

    name: str
    polygons: Integers
    """(k,)"""
    family: str = "group"
    """"group", "object", "material", or the file's own word"""


@dataclass(frozen=True, eq=False)
class Surface:
    """Polygons and all a file says about them. Holds whatever can be represented."""

    points: Points
    """(n, 3)"""
    counts: Integers
    """(p,) corners of each polygon"""
    corners: Integers
    """(Σ counts,) point of each corner, polygon by polygon"""
    attributes: tuple[Attribute, ...] = ()
    subsets: tuple[Subset, ...] = ()
    left_handed: bool = False
    """corners run clockwise seen from outside"""
    libraries: tuple[str, ...] = ()
    """names of files with materials, as the file names them"""

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        counts, corners = np.array(self.counts, dtype=np.int64), np.array(self.corners, dtype=np.int64)
        if points.ndim != 2 or points.shape[1] != 3:
            raise input_error("points must have shape (n, 3)", got=points.shape)
        if (counts < 0).any() or counts.sum() != len(corners):
            raise input_error(
                "the corner counts of the polygons do not add up", got=int(counts.sum()), allowed=str(len(corners))
            )
        outside = np.flatnonzero((corners < 0) | (corners >= len(points)))
        if len(outside):
            polygon = np.searchsorted(np.cumsum(counts), outside, side="right")
            raise input_error(
                f"polygons name points outside the {len(points)}", where=f"polygons {first_few(np.unique(polygon))}",
                got=int(corners[outside[0]]), allowed=f"0 to {len(points) - 1}" if len(points) else "none, no points",
            )  # fmt: skip
        for name, array in (("points", points), ("counts", counts), ("corners", corners)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for attribute in self.attributes:
            self._check(attribute)

    def _check(self, attribute: Attribute) -> None:
        expected = self.element_count(attribute.scope)
        rows = len(attribute.values) if attribute.indices is None else len(attribute.indices)
        if rows != expected:
            raise input_error(
                f"{attribute.name!r} has another length than its {attribute.scope.value} scope", got=rows,
                allowed=str(expected),
            )  # fmt: skip
        if attribute.indices is not None and len(attribute.indices):
            low, high = int(attribute.indices.min()), int(attribute.indices.max())
            if low < 0 or high >= len(attribute.values):
                raise input_error(
                    f"{attribute.name!r} has indices outside its values", got=low if low < 0 else high,
                    allowed=f"0 to {len(attribute.values) - 1}",
                )  # fmt: skip

    @staticmethod
    def of(mesh: TriMesh) -> Surface:
        """A triangle mesh as a surface."""
        return of_triangles(mesh.rest, mesh.faces)

    @property
    def point_count(self) -> int:
        return len(self.points)

    @property
    def polygon_count(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> Integers:
        """(p,) place of each polygon's first corner."""
        return np.cumsum(self.counts) - self.counts

    def element_count(self, scope: Scope) -> int:
        """How many elements a scope has."""
        whole = {Scope.WHOLE: 1, Scope.POLYGON: len(self.counts), Scope.POINT: len(self.points)}
        return whole.get(scope, len(self.corners))

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of a name, or None."""
        return next((one for one in self.attributes if one.name == name), None)

    def with_points(self, points: Points) -> Surface:
        """The same surface with other positions (n, 3)."""
        return replace(self, points=points)

    def same_topology(self, other: Surface) -> bool:
        """Whether the other has as many points, wired alike."""
        return (
            len(self.points) == len(other.points)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.corners, other.corners)
        )

    def shape_in_words(self) -> str:
        """'8 points, 6 polygons'."""
        return f"{len(self.points)} points, {len(self.counts)} polygons"


def of_triangles(points: Points, faces: Faces, attributes: Sequence[Attribute] = ()) -> Surface:
    """A surface of triangles (f, 3)."""
    return Surface(points, np.full(len(faces), 3), np.asarray(faces).reshape(-1), tuple(attributes))
