"""Regions as test functions: painted by the artist, or clusters that follow the animation [Bergou 2007, §4.1]."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, input_error, need, whole_number
from bunraku.geometry import Clustering, TriMesh, cluster_faces, face_areas, first_few
from bunraku.motion import Animation

from .test_functions import TestFunctions

_log = logging.getLogger(__name__)
_FINEST = 0.7  # share of an edge below which a scale has no vertices to act on
_LARGEST = 2**31 - 1  # of a label: the largest that files have
FREE = -1
"""the label of what obeys nothing"""


def painted(guide: TriMesh, guide_labels: Integers, shell: TriMesh, shell_labels: Integers) -> TestFunctions:
    """One region per label, on guide and shell: the averages of the vertices with that label must agree.

    Labels are whole numbers per vertex or per face; −1 is free. A vertex takes the label of most of the area around
    it. Guide and shell may be different meshes. Labels that do not reach a vertex on both are left out with a warning.
    """
    for name, mesh in (("guide", guide), ("shell", shell)):
        need(TriMesh, name, mesh)
    on_guide = vertex_labels(guide, guide_labels, "guide")
    on_shell = vertex_labels(shell, shell_labels, "shell")
    known = np.union1d(np.unique(guide_labels), np.unique(shell_labels))
    both = np.intersect1d(on_guide[on_guide != FREE], on_shell[on_shell != FREE])
    lost = np.setdiff1d(known[known != FREE], both)
    if not len(both):
        raise input_error(
            "no region has a vertex on both guide and shell", got=f"labels {first_few(known)}",
            remedy="paint corresponding regions with the same numbers",
        )  # fmt: skip
    if len(lost):
        _log.warning("regions %s have no vertex on guide or shell and are left out", first_few(lost))
    return TestFunctions(_indicators(on_guide, both), _indicators(on_shell, both))


def clusters(
    guide: Animation, count: int = 200, *, compactness: float = 0.5, seed: int = 0, samples: int = 12,
    shell: TriMesh | None = None,
) -> TestFunctions:  # fmt: skip
    """`count` regions of the guide that fit it at every moment.

    `shell` is the guide subdivided (`hierarchy(guide.mesh, levels=3)[0]`) or any mesh that lies on it; None: the
    guide's own mesh. `samples` poses are looked at, chosen by `seed`; `compactness` 1 makes round regions, 0 flat
    ones.
    """
    labels = animation_regions(guide, count, compactness=compactness, seed=seed, samples=samples).labels
    found = painted(guide.mesh, labels, guide.mesh, labels)
    own = replace(found, prolongation=sparse.eye_array(guide.mesh.point_count, format="csr"))
    return own.carried(guide.mesh, shell)


def animation_regions(
    guide: Animation, count: int, *, compactness: float = 0.5, seed: int = 0, samples: int = 12
) -> Clustering:
    """The regions behind `clusters`, by face."""
    need(Animation, "guide", guide)
    guide.check("guide")
    found = cluster_faces(
        sampled_poses(guide, samples, seed), guide.mesh.faces, count, compactness=compactness, seed=seed
    )
    _log.info("%d regions after %d iterations", found.count, found.iterations)
    return found


def sampled_poses(guide: Animation, samples: int, seed: int) -> Array:
    """(s, n, 3) poses of the guide, different ones, in order."""
    count = min(whole_number("samples", samples, least=1), guide.frame_count)
    random = np.random.default_rng(whole_number("seed", seed))
    return guide.points[np.sort(random.choice(guide.frame_count, count, replace=False))]


def warn_of_edges(name: str, size: float, mesh: TriMesh, faces: Integers | None = None) -> None:
    """Say where regions of a size [m] are asked of a guide whose edges are longer: it has no vertices to tell them."""
    corners = mesh.rest[mesh.faces if faces is None else mesh.faces[faces]]
    edge = float(np.median(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)))
    if size < _FINEST * edge:
        _log.warning(
            "%s: the guide's edges are %.2g m long, and the finest scale it can direct is about that, not %.2g m; "
            "try: a finer guide", name, edge, size,
        )  # fmt: skip


def vertex_labels(mesh: TriMesh, labels: Integers, name: str) -> Integers:
    """(n,) labels of vertices, from labels (n,) of vertices or (f,) of faces."""
    try:
        given = np.asarray(labels)
    except ValueError:  # of different lengths
        given = np.zeros((0, 0))
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise input_error("labels must be whole numbers, one each", where=name, got=f"{given.dtype} {given.shape}")
    outside = given[(given < FREE) | (given > _LARGEST)]
    if len(outside):
        raise input_error(
            "labels must be −1 (free) or more", where=name, got=int(outside[0]), allowed=f"−1 to {_LARGEST}"
        )
    if len(given) == mesh.point_count:
        return given.astype(np.int64)
    if len(given) != len(mesh.faces):
        raise input_error(
            "labels must be one a vertex or one a face", where=name, got=len(given),
            allowed=f"{mesh.point_count} or {len(mesh.faces)}",
        )  # fmt: skip
    return _by_area(mesh, given.astype(np.int64))


def _by_area(mesh: TriMesh, labels: Integers) -> Integers:
    """(n,) the label that most of the area around each vertex has, the lowest of equals."""
    areas = np.repeat(face_areas(mesh.rest, mesh.faces), 3)
    span = int(labels.max(initial=0)) + 2
    keys, inverse = np.unique(mesh.faces.reshape(-1) * span + np.repeat(labels, 3) + 1, return_inverse=True)
    weight = np.bincount(inverse, areas)
    vertex, label = keys // span, keys % span - 1
    # Areas that differ by rounding are equal: the choice must not depend on the machine.
    order = np.lexsort((label, -np.round(weight / max(float(weight.max(initial=0.0)), 1e-300), 9), vertex))
    out = np.full(mesh.point_count, FREE)
    first = np.unique(vertex[order], return_index=True)[1]
    out[vertex[order][first]] = label[order][first]
    return out


def _indicators(labels: Integers, regions: Integers) -> Sparse:
    """(k, n) one where a vertex has the region's label."""
    row = np.searchsorted(regions, labels)
    inside = (row < len(regions)) & (regions[np.minimum(row, len(regions) - 1)] == labels)
    columns = np.flatnonzero(inside)
    return sparse.csr_array((np.ones(len(columns)), (row[columns], columns)), shape=(len(regions), len(labels)))
