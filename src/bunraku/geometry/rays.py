"""What stands in the way: rays against triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points

if TYPE_CHECKING:
    from .bvh import Tree


class Barrier:
    """Triangles that stop rays; the tree over them is built once."""

    def __init__(self, x: Points, faces: Faces) -> None:
        """Triangles (f, 3) of finite points (n, 3)."""
        from .bvh import build_tree  # compiled kernels: only for those who need them

        self._x, self._faces = np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(faces)
        self._tree: Tree | None = build_tree(self._x, self._faces) if len(faces) else None

    def stops(self, origins: Points, along: Points, own: Integers | None = None) -> Flags:
        """(m,) whether rays from origins (m, 3) along directions (m, 3) meet a triangle.

        Triangles with one of the vertices own (m, 3) are passed through: they are those a ray starts on.
        """
        hit = np.zeros(len(origins), dtype=bool)
        if self._tree is None:
            return hit
        from .bvh import any_hit

        own = np.full((len(origins), 3), -1) if own is None else own
        any_hit(
            np.ascontiguousarray(origins), np.ascontiguousarray(along), np.ascontiguousarray(own), self._x, self._faces,
            *self._tree, hit,
        )  # fmt: skip
        return hit
