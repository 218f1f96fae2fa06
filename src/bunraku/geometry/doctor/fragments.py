"""Pieces so small beside the others that they are leftovers."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points
from bunraku.geometry.trimesh import face_areas

SMALL_AREA = 0.01
"""of the whole area: a fragment has less,"""
FEW_FACES = 20
"""has no more faces than this,"""
SMALL_AMONG = 0.1
"""and less than this share of the median piece's area: among many alike (hair, leaves, buttons) none is a leftover"""


def fragment_faces(x: Points, faces: Faces, piece: Integers) -> Flags:
    """(f,) faces of fragments; piece (f,) is the piece of each."""
    area = np.bincount(piece, face_areas(x, faces))
    count = np.bincount(piece)
    tiny = (count <= FEW_FACES) & (area < SMALL_AREA * area.sum())
    if len(area) > 3:
        tiny &= area < SMALL_AMONG * np.median(area)
    return tiny[piece]
