"""An object of a shot as it is directed, before anything is run: its surface on every frame, to paint on and to pose.

A shell is where its guide has it, a body has the shapes it should pass near, a plan is the motion itself. Of a plan and
of a body keys can be tried that the file does not say yet.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector, input_error, is_between
from bunraku.direction.track import sampled_poses, vertex_labels
from bunraku.geometry import (
    TriMesh,
    cluster_faces,
    face_areas,
    mirror_images,
    region_limits,
    vertex_areas,
    vertex_pieces,
)
from bunraku.io import Outgoing

from .body_regions import region_of_body
from .filling import Written
from .findings import Place
from .labels import NONE, Painted, label_file
from .lists import region_vertices
from .prepare import prepare
from .prepare_shell import PreparedShell
from .prepared import Prepared
from .shot import Shot
from .spec import ObjectTable, RegionTable
from .tried_keys import Tried, TriedPlan, tried_keys

_POSES = 12
"""of a guide that clusters look at"""


@dataclass(frozen=True, eq=False)
class Part:
    """A set of vertices that has a name."""

    name: str
    vertices: Integers
    """(v,) of the surface"""
    middle: tuple[float, ...]
    """(3,) [m] at rest: what turns about, and what is moved"""


@dataclass(frozen=True, eq=False)
class Sketch:
    """One object of a shot. Coordinates are about the shot's `origin`."""

    name: str
    prepared: Prepared
    keys: Tried | None
    """of a body or a plan: what its keys make of it"""

    @staticmethod
    def of(shot: Shot, name: str) -> Sketch:
        """The object of that name; refused where the shot would be, or nothing of it is directed."""
        if name not in shot.object or name in shot.obstacles:
            names = [one for one in shot.object if one not in shot.obstacles]
            raise input_error("there is no such object to direct", got=name[:80], allowed=", ".join(names))
        prepared = prepare(shot)
        return Sketch(name, prepared, tried_keys(prepared, name))

    @cached_property
    def mesh(self) -> TriMesh:
        """The surface at rest, about the origin."""
        whole = self.prepared.shell
        if len(self.prepared.written) == 1:
            return whole
        own = self._own
        inside = ((whole.faces >= own.start) & (whole.faces < own.stop)).all(axis=1)
        return TriMesh(whole.rest[own], whole.faces[inside] - own.start)

    @property
    def _written(self) -> Written:
        return next(one for one in self.prepared.written if one.name == self.name)

    @property
    def _own(self) -> slice:
        return self._written.vertices

    @property
    def _going(self) -> Outgoing:
        return self._written.going

    @property
    def table(self) -> Any:
        """What the shot says of it."""
        return self.prepared.shot.object[self.name]

    @property
    def numbers(self) -> Vector:
        """(t,) frame numbers, preroll left out."""
        return self.prepared.numbers[self.prepared.preroll :]

    @property
    def rate(self) -> float:
        """[frames/s]"""
        return self.prepared.clip.rate

    @cached_property
    def areas(self) -> Vector:
        """(n,) [m²] a third of the faces around each vertex."""
        return vertex_areas(self.mesh.rest, self.mesh.faces)

    def points(self, k: int, keys: Tried | None = None) -> Points:
        """(n, 3) [m] on a frame, counted from the first of `numbers`; with other keys than the file's where given."""
        tried = keys or self.keys
        if isinstance(tried, TriedPlan):
            return tried.points(float(self.numbers[k]))
        return self._told(k)

    def _told(self, k: int) -> Points:
        p = self.prepared
        x = p.guide.at(float(p.times[k + p.preroll]))
        if isinstance(p, PreparedShell):
            return np.asarray(p.prolongation @ x)
        return x[self._own]

    @cached_property
    def box(self) -> tuple[Vector, Vector]:
        """(3,) lowest and (3,) highest corner [m] over some frames."""
        chosen = np.unique(np.linspace(0, len(self.numbers) - 1, _POSES).astype(int))
        found = np.stack([self._told(int(k)) for k in chosen])
        return found.min(axis=(0, 1)), found.max(axis=(0, 1))

    @cached_property
    def painted(self) -> Painted:
        """What is painted already; nothing, where nothing is."""
        place = Place("", self.prepared.shot.place.folder)
        return Painted.of(self.table.labels, self._going, place) or Painted((), np.full(self.mesh.point_count, NONE))

    def label_file(self, labels: Integers, where: str) -> bytes:
        """The contents of a file that says of its vertices which label each has."""
        return label_file(labels, self._going, where)

    @property
    def obeyed(self) -> bool:
        """Of a shell: whether the painted regions are what obeys the guide."""
        table = self.table
        painted = isinstance(table, ObjectTable) and table.labels is not None
        return painted and table.track.method == "painted" and table.track.regions is None

    @cached_property
    def stamp(self) -> str:
        """Another where regions, painted or not, have other vertices or names."""
        found = hashlib.sha256(repr(self.painted.names).encode())
        for array in (self.painted.of_vertex, *(part.vertices for part in self.parts)):
            found.update(array.tobytes())
        return found.hexdigest()[:16]

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The regions the shot defines on the object, by name."""
        place = Place("", self.prepared.shot.place.folder)
        found = []
        for name in self.table.regions:
            if self.keys is not None:
                nodes, vertices = self.keys.parts.nodes(name, place), self.keys.parts.vertices(name, place)
                middle = self.keys.parts.cage.body.rest[nodes].mean(axis=0)
            else:
                vertices = self._vertices(name, place)
                middle = self.mesh.rest[vertices].mean(axis=0) if len(vertices) else np.zeros(3)
            found.append(Part(name, vertices, tuple(middle.tolist())))
        return tuple(found)

    def _vertices(self, name: str, place: Place) -> Integers:
        going = self.painted.marked(self._going, Place("", place.folder))
        region = self.table.regions[name]
        if isinstance(region, RegionTable):
            return region_vertices(region, going, place)
        return region_of_body(region, going, place)

    def images(self, axis: int, tolerance: float) -> Integers:
        """(n,) the mirror image of each vertex at rest, −1 where none is within `tolerance` [m]."""
        if not is_between(tolerance, 0.0, 1e6):
            raise input_error("a tolerance is a length", where="tolerance", got=tolerance, allowed="from 0 m")
        return mirror_images(self.mesh.rest, axis, tolerance)

    def pieces(self, inside: Flags) -> Integers:
        """(n,) which connected piece of what is `inside` (n,) each vertex is in, −1 of the others."""
        return vertex_pieces(self.mesh.faces, inside)

    def clusters(
        self, *, count: int | None = None, scale: float | None = None, compactness: float = 0.5, seed: int = 0,
        within: Flags | None = None,
    ) -> Integers:  # fmt: skip
        """(n,) regions that follow the guide, so many or of that size [m], of what is `within` (n,); −1 elsewhere."""
        if (count is None) == (scale is None):
            raise input_error("clusters need a number of regions or their size", got="both" if count else "neither")
        faces, mesh = np.arange(len(self.mesh.faces)), self.mesh
        if within is not None:
            faces = np.flatnonzero(within[mesh.faces].all(axis=1))
        if not len(faces):
            raise input_error("there is no whole face to divide into clusters", remedy="a larger region, or all of it")
        if scale is not None:
            if not is_between(scale, 1e-9, 1e6):
                raise input_error("a scale is a length", where="scale", got=scale, allowed="above 0 m")
            few, many = region_limits(mesh.faces[faces])
            count = int(np.clip(round(float(face_areas(mesh.rest, mesh.faces[faces]).sum()) / scale**2), few, many))
        assert count is not None
        found = cluster_faces(self._poses(seed), mesh.faces[faces], count, compactness=compactness, seed=seed)
        return vertex_labels(TriMesh(mesh.rest, mesh.faces[faces]), found.labels, "clusters")

    def _poses(self, seed: int) -> Array:
        """(s, n, 3) of the guide, some of them; of what has none the rest shape."""
        p = self.prepared
        if not isinstance(p, PreparedShell):
            return self.mesh.rest[None]
        return np.stack([p.prolongation @ x for x in sampled_poses(p.guide, _POSES, seed)])
