"""Bodies of a shot: their surfaces read and filled with tetrahedra, whatever moves them then."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from scipy import sparse

from bunraku.contracts import InputError, Sparse, Vector
from bunraku.geometry import Cage, TetMesh, enclose, tetrahedralised
from bunraku.io import Clip, ContentCache, Outgoing, read_tets

from .body_spec import SurfaceTable, TetsTable
from .findings import Place
from .inputs import InputFile, hashed, read_source, source_inputs
from .prepared import Written
from .shot import Shot

_log = logging.getLogger(__name__)
_Read = TypeVar("_Read")
BODIES = ".bodies"
"""folder below the takes' that keeps what bodies are made of (tetrahedra, ways between key shapes, modes): made once,
the same for every take"""


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


def fill_body(name: str, surface: SurfaceTable, tets: TetsTable, shot: Shot, store: ContentCache) -> Filled:
    """Read a body's surface and its tetrahedra; raises everything that does not fit."""
    place = shot.place.at("object").at(name)
    source = tried(lambda: read_source(surface, shot.shot.rate, shot.output.folder), place.at("surface"))
    place.raise_all()
    assert source is not None
    clip, path = source
    if shot.shot.rate is not None:
        clip = replace(clip, rate=shot.shot.rate)
    filled = tried(lambda: _tets(name, tets, clip, store), place.at("tets"))
    place.raise_all()
    assert filled is not None
    body, made_of = filled
    cage = tried(lambda: enclose(clip.mesh, body), place.at("tets"))
    place.raise_all()
    assert cage is not None
    inputs = (*source_inputs(f"object.{name}.surface", path, surface), *made_of)
    return Filled(name, clip, Outgoing.of(clip), cage, inputs)


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


def carrier_of(cages: Sequence[Cage]) -> Sparse:
    """(n, nodes) barycentric weights of bodies, one after another."""
    each = [one.matrix for one in cages]
    return each[0] if len(each) == 1 else sparse.csr_array(sparse.block_diag(each))


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
