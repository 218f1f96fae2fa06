"""Where the middle of something animated is: that of the volume it encloses, where it does."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Faces, Points, Vector
from bunraku.geometry import TriMesh

_NONE = 1e-6
"""share of the cube of a surface's extent below which it encloses nothing to speak of"""


def enclosed_middles(mesh: object, points: Array) -> Array | None:
    """(t, 3) the middle of the volume inside a closed surface with its points at (t, n, 3); None where there is none.

    Of the surface of a body it is the centre of mass, but for what is squashed more here than there; that of the area
    leans to thin parts.
    """
    if not isinstance(mesh, TriMesh) or not _closed(mesh.faces, mesh.point_count):
        return None
    found = [_middle(x, mesh.faces) for x in points]
    return None if any(one is None for one in found) else np.array(found)


def _closed(faces: Faces, count: int) -> bool:
    """Whether every side of a face is gone along once in each direction by its neighbours."""
    begin, end = np.asarray(faces, dtype=np.int64)[:, [0, 1, 2]], np.asarray(faces, dtype=np.int64)[:, [1, 2, 0]]
    there, back = np.sort((begin * count + end).reshape(-1)), np.sort((end * count + begin).reshape(-1))
    return bool(len(faces)) and np.array_equal(there, back)


def _middle(x: Points, faces: Faces) -> Vector | None:
    """(3,) by the tetrahedra from one point, within the surface or not, to every face."""
    about = x.mean(axis=0)
    corners = (x - about)[faces]
    volumes = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    whole = float(volumes.sum())
    if abs(whole) <= _NONE * float(np.linalg.norm(np.ptp(x, axis=0))) ** 3:
        return None
    return about + volumes @ corners.sum(axis=1) / (4.0 * whole)
