"""Directing what is seen against the light: regions on the outline are held, the others less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bunraku.contracts import Array, Flags, Points, Vector, input_error, is_between, need
from bunraku.geometry import TriMesh, edges, unit_rows, vertex_normals
from bunraku.motion import Animation

from .test_functions import TestFunctions

FARTHEST = 1e7  # [m] from the origin that a camera may stand
_EDGE_ON = 0.2  # |cosine| between normal and view below which a vertex is on the outline
_FACING = 0.6  # and above which it is not at all
_SMOOTHING = 5  # frames over which a region comes to the outline and leaves it


def silhouette(
    guide: Animation, tests: TestFunctions, camera: Sequence[float], *, elsewhere: float = 0.2
) -> TestFunctions:
    """The test functions with regions held exactly while on the guide's outline, and with `elsewhere` otherwise.

    `camera` is where it stands [m]. A region is on the outline as soon as one of its vertices is, seen edge-on or at
    an open border; it comes and goes over a few frames.
    """
    need(Animation, "guide", guide)
    need(TestFunctions, "tests", tests, remedy="regions that do not change over time")
    if tests.guide.shape[1] != guide.mesh.point_count:
        raise input_error(
            "test functions belong to another guide", got=f"{tests.guide.shape[1]} vertices",
            allowed=str(guide.mesh.point_count),
        )  # fmt: skip
    try:
        eye = np.asarray(camera, dtype=np.float64)
    except (TypeError, ValueError):
        eye = np.zeros(0)
    if eye.shape != (3,) or not (np.abs(eye) <= FARTHEST).all():
        allowed = f"(x, y, z) in metres, up to {FARTHEST:g}"
        raise input_error("the camera must be a point of three finite numbers", got=repr(camera), allowed=allowed)
    if not is_between(elsewhere, 0.0, 1.0):
        raise input_error("the strength elsewhere must lie between 0 and 1", got=repr(elsewhere))
    if tests.held is not None:
        raise input_error("the regions have a strength of their own already", remedy="regions without keyed scales")
    border = _on_border(guide.mesh)
    seen = np.stack([_outline(x, guide.mesh, border, eye) for x in guide.points])
    regions = np.stack([_largest(tests, one) for one in seen])
    share = _smoothed(regions)
    strength = elsewhere * (1.0 - share) + share
    times = guide.times

    def held(time: float) -> Vector:
        k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, max(len(times) - 2, 0)))
        if len(times) == 1:
            return strength[0]
        u = float(np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0))
        return (1.0 - u) * strength[k] + u * strength[k + 1]

    return replace(tests, held=held)


def _on_border(mesh: TriMesh) -> Flags:
    found = edges(mesh.faces)
    out = np.zeros(mesh.point_count, dtype=bool)
    out[found.vertices[found.face_count == 1]] = True
    return out


def _outline(x: Points, mesh: TriMesh, border: Flags, eye: Vector) -> Vector:
    """(n,) one on the outline, zero where the surface faces the camera or turns its back."""
    facing = np.abs(np.sum(vertex_normals(x, mesh.faces) * unit_rows(eye - x), axis=1))
    share = np.clip((_FACING - facing) / (_FACING - _EDGE_ON), 0.0, 1.0)
    return np.where(border, 1.0, share * share * (3.0 - 2.0 * share))


def _largest(tests: TestFunctions, of_vertices: Vector) -> Vector:
    """(k,) the largest value of a region's vertices."""
    rows = tests.guide
    values = np.where(rows.data > 0, of_vertices[rows.indices], 0.0)
    return np.maximum.reduceat(np.append(values, 0.0), np.minimum(rows.indptr[:-1], len(values)))


def _smoothed(values: Array) -> Array:
    """(t, k) each the largest of the frames around, then their mean: it arrives before it must, and without a jump."""
    reach = _SMOOTHING // 2
    padded = np.pad(values, ((2 * reach, 2 * reach), (0, 0)), mode="edge")
    window = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    return np.lib.stride_tricks.sliding_window_view(window.max(axis=-1), 2 * reach + 1, axis=0).mean(axis=-1)
