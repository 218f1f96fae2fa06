"""Regions painted on the page: names in the shot, their numbers by vertex in a file beside it.

The file is of the page's own (`array_file.py`): `label` (n,) says of each vertex of the mesh that is simulated, or of a
body's surface, which of the names it has, −1 where none; beside it is said which vertices are neighbours there, so that
numbers do not end up on the vertices of another mesh. The artist's own files are not touched.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import InputError, Integers, Sparse, input_error
from bunraku.direction.track import TestFunctions
from bunraku.geometry import Attribute, Scope, TriMesh, along
from bunraku.io import Outgoing, content_hash, packed, read_arrays

from .findings import Place
from .inputs import InputFile
from .label_spec import LabelsTable

LABEL = "label"
"""the array of the file"""
NONE = -1
"""the label of what is in no region"""
_MESH = "mesh"
"""what the file says of the mesh it is of"""
_WHAT = "the file of painted regions"
_REMEDY = "the mesh they were painted on, or take labels out of the shot and paint again"


def vertex_count(going: Outgoing) -> int:
    """How many vertices the mesh has that a surface is written from."""
    return int(going.vertex_of_point.max(initial=-1)) + 1


def mesh_stamp(going: Outgoing) -> str:
    """Another where vertices have other neighbours. Where they are, and in which order a file has its faces, may
    change."""
    counts, corners = going.surface.counts, going.surface.corners
    last = np.cumsum(counts)[counts > 0] - 1
    following = np.arange(1, len(corners) + 1)
    following[last] = last + 1 - counts[counts > 0]
    here = going.vertex_of_point[corners].astype(np.int64)
    pairs = np.sort(np.stack([here, here[following]], axis=1), axis=1)
    edges = np.unique(pairs[:, 0] * vertex_count(going) + pairs[:, 1])
    return hashlib.sha256(edges.astype("<i8").tobytes()).hexdigest()


def label_file(labels: Integers, going: Outgoing, where: str) -> bytes:
    """The contents of a file of labels (n,) on the mesh that a surface is written from."""
    return packed({LABEL: labels.astype(np.int32)}, {_MESH: mesh_stamp(going)}, where)


def checked_labels(found: Any, count: int, names: int) -> Integers:
    """Labels (count,) of so many names; refused where they are none."""
    given = None if found is None else np.asarray(found)
    if given is None or given.ndim != 1 or given.dtype.kind not in "iu":
        got = "nothing" if given is None else f"{given.dtype} {given.shape}"
        raise input_error("labels must be whole numbers, one a vertex", where=LABEL, got=got)
    if len(given) != count:
        raise input_error(
            "the labels are of another mesh", where=LABEL, got=f"{len(given)} labels", allowed=f"{count}, one a vertex",
            remedy=_REMEDY,
        )  # fmt: skip
    labels = given.astype(np.int64)
    outside = labels[(labels < -1) | (labels >= names)]
    if len(outside):
        raise input_error(
            "a label names no region", where=LABEL, got=int(outside[0]), allowed=f"−1 (none) to {names - 1}"
        )
    return labels


@dataclass(frozen=True, eq=False)
class Painted:
    """Regions painted on a mesh."""

    names: tuple[str, ...]
    of_vertex: Integers
    """(n,) which of the names, −1 where none"""

    @staticmethod
    def of(table: LabelsTable | None, going: Outgoing, place: Place) -> Painted | None:
        """Those of a file, on the mesh that a surface is written from; None where there is none, or after a refusal at
        `place`, the object's."""
        if table is None:
            return None
        try:
            arrays, meta = read_arrays(table.file, _WHAT, "paint again, or leave labels out")
            labels = checked_labels(arrays.get(LABEL), vertex_count(going), len(table.names))
            if meta.get(_MESH, stamp := mesh_stamp(going)) != stamp:
                raise input_error(
                    "the labels are of another mesh", where=LABEL, got="as many vertices, with other neighbours",
                    remedy=_REMEDY,
                )  # fmt: skip
            return Painted(table.names, labels)
        except InputError as error:
            return place.at("labels").at("file").pass_on(error)

    def marked(self, going: Outgoing, place: Place) -> Outgoing:
        """The same with these among what is painted on its surface, so that 'painted' finds them by name."""
        surface, rows = going.surface, going.vertex_of_point
        known = {*(one.name for one in surface.subsets), *(one.name for one in surface.attributes)}
        for k, name in enumerate(self.names):
            if name in known:
                where = place.at("labels").at("names").entry(k)
                where.refuse("is painted on the surface's own file, too", got=name, remedy="another name")
        of_point = np.where(rows >= 0, self.of_vertex[rows], NONE)
        own = [Attribute(name, Scope.POINT, of_point == k) for k, name in enumerate(self.names)]
        return replace(going, surface=replace(surface, attributes=(*surface.attributes, *own)))

    def tests(self, guide: TriMesh, prolongation: Sparse) -> TestFunctions:
        """Test functions on a shell that is `prolongation` (n, n_guide) of the guide: its averages must be those of the
        guide's own surface in the same places. Regions without a vertex are left out."""
        there = np.unique(self.of_vertex[self.of_vertex >= 0])
        if not len(there):
            raise input_error("no vertex is painted, so nothing is directed", remedy="paint, or another method")
        vertices = np.flatnonzero(self.of_vertex >= 0)
        rows = np.searchsorted(there, self.of_vertex[vertices])
        on_shell = sparse.csr_array((np.ones(len(rows)), (rows, vertices)), shape=(len(there), len(self.of_vertex)))
        names = tuple(self.names[k] for k in there)
        on_guide: Sparse = sparse.csr_array(on_shell @ prolongation)
        return TestFunctions(on_guide, on_shell, prolongation, along(prolongation, guide), names)


def marked(going: Outgoing, table: LabelsTable | None, place: Place) -> Outgoing:
    """A body's surface with what was painted on it; what does not fit is told to `place`, the object's."""
    painted = Painted.of(table, going, place)
    return going if painted is None else painted.marked(going, place)


def labels_inputs(name: str, table: LabelsTable | None) -> list[InputFile]:
    """The file, with its hash."""
    return [] if table is None else [InputFile(f"object.{name}.labels", table.file, content_hash(table.file))]
