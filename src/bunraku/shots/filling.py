"""Bodies of a shot: their surfaces read and filled with tetrahedra, whatever moves them then."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy import sparse

from bunraku.contracts import InputError, Sparse, Vector
from bunraku.geometry import Cage, TetMesh, TriMesh, enclose, join_surfaces, join_tets, tetrahedralised
from bunraku.io import Clip, ContentCache, Outgoing, local_origin, read_tets

from .body_spec import FilledObject, SurfaceTable, TetsTable
from .findings import Place
from .inputs import InputFile, hashed, read_source, source_inputs
from .shot import Shot

_log = logging.getLogger(__name__)
_Read = TypeVar("_Read")
BODIES = ".bodies"
"""folder below the takes' that keeps what bodies are made of (tetrahedra, ways between key shapes, modes): made once,
the same for every take"""


@dataclass(frozen=True, eq=False)
class Written:
    """An object whose surface is written: some of all vertices, in a file of its own."""

    name: str
    """the object's"""
    clip: Clip
    """the file of the surface: rate, unit, axis"""
    going: Outgoing
    """the surface that is written"""
    vertices: slice = field(default_factory=lambda: slice(None))
    """which of all"""


@dataclass(frozen=True, eq=False)
class Filled:
    """A body's surface in its tetrahedra, where its files have it."""

    name: str
    """the object's"""
    clip: Clip
    going: Outgoing
    cage: Cage
    inputs: tuple[InputFile, ...]
    """surface and tetrahedra"""

    def about(self, origin: Vector) -> Cage:
        """The same with points counted from an origin (3,) [m]; weights do not change."""
        surface, body = self.cage.surface, self.cage.body
        return replace(
            self.cage, surface=surface.with_rest(surface.rest - origin), body=body.with_rest(body.rest - origin)
        )

    def summary(self) -> str:
        """What it is, for a line."""
        return (
            f"object {self.name}: surface {self.clip.path} of {self.cage.surface.point_count} vertices in "
            f"{len(self.cage.body.tets)} tetrahedra"
        )

    def point_names(self, *, alone: bool) -> list[int | str]:
        """(nodes,) what sentences call each node: the point of the file that goes with it most."""
        near = np.asarray(abs(self.cage.matrix).argmax(axis=0)).reshape(-1)
        points = self.going.point_of_vertex
        return [points[k] if alone else f"{points[k]} of {self.name}" for k in near]


@dataclass(frozen=True, eq=False)
class Filling:
    """Bodies of a shot laid together, one after another, about its origin: their nodes are simulated."""

    filled: tuple[Filled, ...]
    cages: tuple[Cage, ...]
    """of the same, about the origin"""

    @property
    def alone(self) -> bool:
        """Whether it is one body."""
        return len(self.cages) == 1

    @property
    def noun(self) -> str:
        """What sentences call them."""
        return "body" if self.alone else "bodies"

    @cached_property
    def body(self) -> TetMesh:
        """All tetrahedra."""
        return join_tets([one.body for one in self.cages])

    @cached_property
    def shell(self) -> TriMesh:
        """All surfaces."""
        return join_surfaces([one.surface for one in self.cages])

    @cached_property
    def carrier(self) -> Sparse:
        """(n, nodes) barycentric weights."""
        each = [one.matrix for one in self.cages]
        return each[0] if self.alone else sparse.csr_array(sparse.block_diag(each))

    @property
    def solids(self) -> Mapping[str, TetMesh]:
        """What each body is filled with."""
        return {one.name: cage.body for one, cage in zip(self.filled, self.cages, strict=True)}

    @property
    def point_names(self) -> list[int | str]:
        """(nodes,) a point of the surface near each node."""
        return [name for one in self.filled for name in one.point_names(alone=self.alone)]


def read_surface(name: str, key: str, table: SurfaceTable, shot: Shot) -> tuple[Clip, Path]:
    """The clip of a body's surface, at the shot's rate where it says one, and its file; raises what does not fit."""
    place = shot.place.at("object").at(name)
    source = tried(lambda: read_source(table, shot.shot.rate, shot.output.folder), place.at(key))
    place.raise_all()
    assert source is not None
    clip, path = source
    return (clip if shot.shot.rate is None else replace(clip, rate=shot.shot.rate)), path


def fill_body(name: str, surface: SurfaceTable, tets: TetsTable, shot: Shot, store: ContentCache) -> Filled:
    """Read a body's surface and its tetrahedra; raises everything that does not fit."""
    place = shot.place.at("object").at(name)
    clip, path = read_surface(name, "surface", surface, shot)
    filled = tried(lambda: _tets(name, tets, clip, store), place.at("tets"))
    place.raise_all()
    assert filled is not None
    body, made_of = filled
    cage = tried(lambda: enclose(clip.mesh, body), place.at("tets"))
    place.raise_all()
    assert cage is not None
    inputs = (*source_inputs(f"object.{name}.surface", path, surface), *made_of)
    return Filled(name, clip, Outgoing.of(clip), cage, inputs)


def fill_bodies(
    tables: Mapping[str, FilledObject], shot: Shot, store: ContentCache
) -> tuple[list[Filled], float, Vector]:
    """The bodies of a shot, their common rate [frames/s], and (3,) the point [m] near which they are at rest."""
    found = [fill_body(name, table.surface, table.tets, shot, store) for name, table in tables.items()]
    place = shot.place
    rate = common_rate(found, place)
    place.raise_all()
    origin = local_origin(np.concatenate([one.clip.mesh.rest for one in found]))
    return [replace(one, clip=replace(one.clip, rate=rate)) for one in found], rate, origin


def tried(read: Callable[[], _Read], place: Place) -> _Read | None:
    """What is read, or None after a refusal at its place."""
    try:
        return read()
    except InputError as error:
        place.pass_on(error)
        return None


def _tets(name: str, told: TetsTable, clip: Clip, store: ContentCache) -> tuple[TetMesh, tuple[InputFile, ...]]:
    """The tetrahedra, and the files they come from."""
    if told.file is not None:
        body = read_tets(told.file, told.prim, unit=told.unit, up_axis=told.up_axis)
        return body, tuple(hashed(f"object.{name}.tets", told.file, body=True))
    found = tetrahedralised(clip.mesh, edge=told.edge, envelope=told.envelope, cache=store)
    _log.info("%s", found)
    return found.body, ()


def written(filled: Sequence[Filled]) -> tuple[Written, ...]:
    """The surfaces that are written, one body after another."""
    ends = np.cumsum([0, *(one.cage.surface.point_count for one in filled)]).tolist()
    return tuple(
        Written(one.name, one.clip, one.going, slice(a, b)) for one, (a, b) in zip(filled, pairwise(ends), strict=True)
    )


def common_rate(filled: Sequence[Filled], root: Place) -> float:
    """[frames/s] of the shot: its own, or that of the first file that says one, which others may not contradict."""
    told = [one for one in filled if one.clip.rate_known]
    rate = (told or list(filled))[0].clip.rate
    for one in told[1:]:
        if abs(one.clip.rate - rate) > 1e-6 * rate:
            root.at("object").at(one.name).at("surface").refuse(
                f"the file has another rate than that of {told[0].name}", got=f"{one.clip.rate:g} frames/s",
                allowed=f"{rate:g} frames/s", remedy="[shot] rate = …, which says it for all",
            )  # fmt: skip
    return rate
