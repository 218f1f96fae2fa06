"""The cells of a lattice to be looked at: the outer faces of its elements, bent as smoothly as what they carry.

An element is drawn as its whole cell, clipped by the surface or not, for that is where its functions are. A face that
two elements share is left out. Pieces of a body that have a cell together are drawn there each with its own nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Sparse, input_error, is_between

from .lattice import Lattice, element_weights, embedding_matrix
from .trimesh import TriMesh

RIM = 0.035
"""of a cell's side: how wide the frame about each face of a cell is"""


@dataclass(frozen=True, eq=False)
class LatticeCells:
    """Faces of cells, each a patch of quads with points of its own, cut in two triangles each."""

    mesh: TriMesh
    """at rest; it looks outwards"""
    matrix: Sparse
    """(n, nodes) from the lattice's nodes to its points"""
    on_rim: Flags
    """(f,) whether a triangle is on the frame of its cell's face: painted darker, cells can be told from each other"""
    elements: Integers
    """(f,) the element each triangle is of"""

    def points(self, q: Points) -> Points:
        """(n, 3) with the lattice's nodes at q (nodes, 3) [m]."""
        return np.asarray(self.matrix @ q)


def lattice_cells(lattice: Lattice, steps: int = 6, *, rim: float = RIM) -> LatticeCells:
    """The outer faces of all elements' cells, each in `steps` × `steps` quads and a frame of `rim` sides about them."""
    if not is_between(steps, 1, 64) or not is_between(rim, 0.0, 0.4) or rim == 0.0:
        raise input_error(
            "cells cannot be drawn so", where="steps, rim", got=f"{steps!r}, {rim!r}",
            allowed="1 to 64 steps, a rim above 0, up to 0.4",
        )  # fmt: skip
    places = np.concatenate([[0.0], np.linspace(rim, 1.0 - rim, int(steps) + 1), [1.0]])
    element, axis, side = _outer(lattice)
    t = _patches(places, axis, side)
    per_patch, owners = len(places) ** 2, np.repeat(element, len(places) ** 2)
    weights = element_weights(t, lattice.degree)
    matrix = embedding_matrix(lattice.elements[owners], weights, lattice.point_count)
    quads, frame = _quads(len(places))
    faces = (quads[None] + per_patch * np.arange(len(element))[:, None, None]).reshape(-1, 3)
    # a patch runs along the two axes after its own, in a right-handed way: turned where it looks back
    back = np.repeat(side == 0, len(quads))
    faces = np.where(back[:, None], faces[:, ::-1], faces)
    mesh = TriMesh(lattice.corners[owners] + lattice.cell * t, faces)
    return LatticeCells(mesh, matrix, np.tile(frame, len(element)), np.repeat(element, len(quads)))


def _outer(lattice: Lattice) -> tuple[Integers, Integers, Integers]:
    """Element, axis and side, 0 or 1, of each face of a cell that no two elements share."""
    inner = np.zeros((len(lattice.elements), 3, 2), dtype=bool)
    first, second, along = lattice.pieces.links.T
    inner[first, along, 1] = True
    inner[second, along, 0] = True
    element, axis, side = np.nonzero(~inner)
    return element, axis, side


def _patches(places: Array, axis: Integers, side: Integers) -> Array:
    """(p × s², 3) in their cells: patches across `axis` (p,) on its `side` (p,), with s places along both others."""
    u, v = (one.reshape(-1) for one in np.meshgrid(places, places, indexing="ij"))
    t = np.empty((len(axis), len(u), 3))
    patch = np.arange(len(axis))
    t[patch, :, axis] = side[:, None]
    t[patch, :, (axis + 1) % 3] = u
    t[patch, :, (axis + 2) % 3] = v
    return t.reshape(-1, 3)


def _quads(side: int) -> tuple[Integers, Flags]:
    """(f, 3) triangles of a patch of side² points, the second axis faster, and whether each is on its frame."""
    i, j = (one.reshape(-1) for one in np.meshgrid(*2 * [np.arange(side - 1)], indexing="ij"))
    a = i * side + j
    b, c, d = a + side, a + side + 1, a + 1
    faces = np.stack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)], axis=1).reshape(-1, 3)
    on_frame = (np.minimum(i, j) == 0) | (np.maximum(i, j) == side - 2)
    return faces, np.repeat(on_frame, 2)
