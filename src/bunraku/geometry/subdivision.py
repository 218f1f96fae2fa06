"""Linear subdivision: every triangle into four, new vertices at the middle of edges."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy import sparse

from bunraku.contracts import Faces, Sparse, input_error

from .topology import edges
from .trimesh import TriMesh

MOST_FACES = 5_000_000
"""of a subdivided mesh: more neither fits into memory nor is ever simulated"""


def subdivide(mesh: TriMesh, levels: int) -> tuple[TriMesh, Sparse]:
    """The mesh subdivided `levels` times, and the prolongation P (n_fine, n): fine rest = P @ rest.

    The given vertices come first, in their order.
    """
    if not isinstance(levels, Integral) or isinstance(levels, bool) or levels < 0:
        raise input_error("levels of subdivision must be a whole number", got=levels, allowed="0, 1, 2, …")
    most = int(np.log(MOST_FACES / max(len(mesh.faces), 1)) / np.log(4.0)) if len(mesh.faces) < MOST_FACES else 0
    if levels > most:
        raise input_error(
            "the subdivided mesh would have too many faces", where="levels", got=levels,
            allowed=f"up to {most} for {len(mesh.faces)} faces, {MOST_FACES:g} in all",
        )  # fmt: skip
    prolongation = sparse.eye_array(mesh.point_count, format="csr")
    faces, count = mesh.faces, mesh.point_count
    for _ in range(levels):
        step, faces = split(faces, count)
        prolongation, count = step @ prolongation, step.shape[0]
    return TriMesh(prolongation @ mesh.rest, faces), prolongation


def split(faces: Faces, count: int) -> tuple[Sparse, Faces]:
    """One level: the prolongation (count + edges, count) and the faces (4 f, 3)."""
    found = edges(faces)
    middle = np.arange(len(found.vertices))
    step = sparse.vstack(
        [
            sparse.eye_array(count, format="csr"),
            sparse.coo_array(
                (np.full(2 * len(middle), 0.5), (np.tile(middle, 2), found.vertices.T.reshape(-1))),
                shape=(len(middle), count),
            ),
        ],
        format="csr",
    )
    a, b, c = faces.T
    ma, mb, mc = (count + found.of_face).T  # middles of the edges opposite a, b, c
    children = [[a, mc, mb], [mc, b, ma], [mb, ma, c], [ma, mb, mc]]
    return step, np.stack([np.stack(child, axis=1) for child in children], axis=1).reshape(-1, 3)
