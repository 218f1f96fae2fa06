"""Faces that lie on others with the same three points."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Flags, Integers
from bunraku.geometry.connectivity import components
from bunraku.geometry.topology import edges

from .draft import Draft

SMALL_FLAP = 4
"""faces, at most, of a folded flap that is taken off whole; more are a leaf with two sides, of which one is kept"""


def drop_doubles(draft: Draft) -> tuple[Draft, int, int]:
    """Keep one of faces on the same points; of a small folded flap on a surface none. How many doubles, of flaps."""
    faces = draft.faces
    key, first, count = _keys(faces)
    if (count == 1).all():
        return draft, 0, 0
    # A face and its back cancel: taking both leaves the surface they stick to as it would be without them.
    net = np.bincount(key, np.where(_rising(faces), 1.0, -1.0), minlength=len(count))
    flap = (count > 1) & (net == 0) & _on_surface(faces, key, count > 1)
    facing = np.where(net[key] == 0, first[key] == np.arange(len(faces)), _rising(faces) == (net[key] > 0))
    keeper = np.full(len(count), len(faces))
    np.minimum.at(keeper, key[facing], np.flatnonzero(facing))
    kept = (np.arange(len(faces)) == keeper[key]) & ~flap[key]
    return draft.only(kept), int((count - 1).sum()), int(flap.sum())


def _keys(faces: Faces) -> tuple[Integers, Integers, Integers]:
    """(f,) number of each face's set of vertices, the first face of each set, faces of each set."""
    _, first, key, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return key.reshape(-1), first, count


def _rising(faces: Faces) -> Flags:
    """(f,) whether the vertices, from the lowest on, run upwards: opposite for a face and its back."""
    row, low = np.arange(len(faces)), faces.argmin(axis=1)
    return faces[row, (low + 1) % 3] < faces[row, (low + 2) % 3]


def _on_surface(faces: Faces, key: Integers, double: Flags) -> Flags:
    """(keys,) sets of double faces that hang together in few faces and share an edge with a face that is single."""
    found = edges(faces)
    twice = double[key]
    edge = found.of_face.reshape(-1)
    face = np.repeat(np.arange(len(faces)), 3)
    shared = np.bincount(edge[~twice[face]], minlength=len(found.face_count)) > 0
    own = np.flatnonzero(twice[face])
    group = components(np.stack([key[face[own]], len(double) + edge[own]], axis=1), len(double) + len(shared))
    size = np.bincount(group[: len(double)][double], minlength=int(group.max(initial=-1)) + 1)
    held = np.zeros(len(size), dtype=bool)
    held[group[len(double) + edge[own][shared[edge[own]]]]] = True
    return (held & (size <= SMALL_FLAP))[group[: len(double)]]
