"""Skins whose waves look round: drawn on a finer, smooth surface, however coarse the mesh that was simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Points, Sparse
from bunraku.geometry import subdivide_smoothly

ROUND_FACES = 40_000
"""drawn of a skin at most: from a few pixels a face on, more cannot be seen, and twelve times as many as a small skin
has make a picture take twice as long"""
MOST_LEVELS = 3


@dataclass(frozen=True, eq=False)
class Rounding:
    """The smooth surface of a mesh, for all its poses."""

    matrix: Sparse
    """(n_fine, n) from the mesh's points"""
    faces: Faces
    """(f_fine, 3), those of a face of the mesh one after another"""
    parts: int
    """faces of a face"""

    @staticmethod
    def of(faces: Faces, count: int) -> Rounding:
        """Of a mesh of `count` points: subdivided as often as leaves it cheap to draw, large ones not at all."""
        levels = 0
        while levels < MOST_LEVELS and len(faces) * 4 ** (levels + 1) <= ROUND_FACES:
            levels += 1
        matrix, finer = subdivide_smoothly(faces, count, levels)
        return Rounding(matrix, finer, 4**levels)

    def points(self, x: Points) -> Points:
        """(n_fine, 3) with the mesh's points at x (n, 3)."""
        return np.asarray(self.matrix @ x)

    def painted(self, paint: Array) -> Array:
        """(f_fine, 3) from a colour a face (f, 3)."""
        return np.repeat(paint, self.parts, axis=0)
