"""A closed surface filled with even samples, and what values on the surface are inside it."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Faces, Points, input_error

from .enclosing import signed_volume
from .lattice import turned_outwards
from .lattice_pieces import samples_inside
from .trimesh import TriMesh, face_areas

MOST_SAMPLES = 4_000_000
"""of the box about a surface"""


def fill_evenly(mesh: TriMesh, spacing: float, name: str = "mesh") -> tuple[Points, float]:
    """Samples (s, 3) on a grid of at most `spacing` [m] inside a closed surface, and the volume [m³] each stands for.

    The grid is centred on the surface, and fine enough for two samples across a plate.
    """
    faces = turned_outwards(mesh, name)
    volume = signed_volume(mesh.rest, faces)
    fine = min(spacing, volume / float(face_areas(mesh.rest, faces).sum()))
    low, high = mesh.rest.min(axis=0), mesh.rest.max(axis=0)
    shape = np.maximum(np.ceil((high - low) / fine - 1e-9), 1.0)
    if not np.prod(shape) <= MOST_SAMPLES:
        raise input_error(
            "is so thin that it would take too many samples to fill it", where=name, got=f"samples {fine:.2g} m apart",
            allowed=f"up to {MOST_SAMPLES:,} in the box about it", remedy="a thicker shape, or several shorter ones",
        )  # fmt: skip
    corner = 0.5 * (low + high - fine * shape)
    inside = samples_inside((mesh.rest - corner) / fine, faces, shape.astype(np.int64), name)
    places = np.argwhere(inside)
    if not len(places):
        raise input_error("holds no samples", where=name, got=f"{volume:.2g} m³", remedy="a thicker shape")
    return corner + fine * (places + 0.5), volume / len(places)


def inside_values(points: Points, mesh: TriMesh, values: Array, name: str = "mesh") -> Array:
    """(k, c) at points (k, 3) inside a closed surface, smooth, from values (n, c) at its vertices; exact for what is
    linear."""
    from .mean_value_kernels import fill_mean_values  # compiled on first use

    faces: Faces = turned_outwards(mesh, name)
    out = np.empty((len(points), values.shape[1]))
    fill_mean_values(np.ascontiguousarray(points), mesh.rest, faces, np.ascontiguousarray(values), out)
    return out
