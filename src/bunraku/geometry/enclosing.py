"""What a surface encloses: its volume where it is closed, and how open it is where it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Faces, Points, input_error

from .connectivity import borders, orientation, turned
from .topology import edges
from .trimesh import TriMesh, face_areas, face_normals

MOST_OPEN = 0.3
"""holes beyond this share of a surface's area are no holes: half a ball has 0.5, a sheet 1, a box without lid 0.2"""


@dataclass(frozen=True, eq=False)
class Enclosed:
    """What a surface encloses."""

    faces: Faces
    """(f, 3) turned outwards where that is known"""
    area: float
    """[m²]"""
    volume: float | None
    """[m³] of a closed surface; None where it is open or branches"""
    open_share: float
    """flat area of its holes over its own area; 0 where it is closed"""


def enclosed(mesh: TriMesh, name: str = "mesh") -> Enclosed:
    """What a surface encloses; one that is more hole than surface is refused."""
    found = edges(mesh.faces)
    area = float(face_areas(mesh.rest, mesh.faces).sum())
    share = _open_share(mesh, area)
    if share > MOST_OPEN:
        raise input_error(
            "the surface is open, so it has no inside to be filled", where=name,
            got=f"{int((found.face_count == 1).sum())} open edges around holes of {share:.0%} of its area",
            allowed=f"closed surfaces, and holes up to {MOST_OPEN:.0%}",
            remedy="close it (bunraku check FILE --repair OUT --fill-holes 1), or give it thickness",
        )  # fmt: skip
    way = orientation(mesh.faces, found)
    if way.one_sided.mean() > 0.5:
        raise input_error(
            "the surface has one side only, so it has no inside to be filled", where=name, remedy="check its faces"
        )
    if (found.face_count != 2).any() or way.one_sided.any():
        return Enclosed(mesh.faces, area, None, share)
    faces = turned(mesh.faces, way.turn)
    volume = signed_volume(mesh.rest, faces)
    if volume < 0.0:
        faces, volume = faces[:, ::-1], -volume
    return Enclosed(np.ascontiguousarray(faces), area, volume, share)


def signed_volume(x: Points, faces: Faces) -> float:
    """[m³] inside closed faces (f, 3) wound outwards."""
    about = x - 0.5 * (x.min(axis=0) + x.max(axis=0))
    return float(np.einsum("fi,fi->", about[faces[:, 0]], face_normals(about, faces)) / 6.0)


def _open_share(mesh: TriMesh, area: float) -> float:
    """Flat area of the holes over the area of the faces."""
    found = borders(mesh.rest, mesh.faces)
    if not len(found.sides) or not area > 0.0:
        return 0.0
    flat = mesh.faces.reshape(-1)
    a = mesh.rest[flat[found.sides]]
    b = mesh.rest[flat[found.sides - found.sides % 3 + (found.sides + 1) % 3]]
    # The vector area of a loop does not depend on how it is spanned; about its own middle, to keep the digits.
    count = np.bincount(found.loop, minlength=found.count)
    middle = np.stack([np.bincount(found.loop, a[:, k], found.count) / count for k in range(3)], axis=1)[found.loop]
    cross = 0.5 * np.cross(a - middle, b - middle)
    total = np.stack([np.bincount(found.loop, cross[:, k], found.count) for k in range(3)], axis=1)
    return float(np.linalg.norm(total, axis=1).sum() / area)
