# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the middle of a body goes: as an object does, or evenly along a curve."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from .bridge import Refusal, in_shot, rigid

_CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
"""points by which a turn is told"""


class WayRecord:
    """An object's places, frame by frame."""

    def __init__(self, thing: bpy.types.Object, *, turning: bool) -> None:
        self._thing, self._turning = thing, turning and thing.type != "CURVE"
        self._matrices: list[np.ndarray] = []
        self._line: np.ndarray | None = None

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """Where it is now."""
        shown = self._thing.evaluated_get(graph)
        self._matrices.append(np.array(shown.matrix_world, dtype=np.float64))
        if self._thing.type == "CURVE" and self._line is None:
            self._line = self._points(shown)

    def rows(self, frames: Sequence[int], unit: float) -> list[list[float]]:
        """[frame, x, y, z] in metres, Y-up, and the turn since the first frame as axis times angle [°] where that is
        asked for."""
        if self._line is not None:
            places = _evenly(self._line, len(frames))
        else:
            places = np.array([matrix[:3, 3] for matrix in self._matrices])
        rows = [[frame, *_rounded(place)] for frame, place in zip(frames, in_shot(places, unit), strict=True)]
        if not self._turning:
            return rows
        first = _axes(self._matrices[0])
        turns = (rigid(in_shot(first, 1.0), in_shot(_axes(matrix), 1.0))[1] for matrix in self._matrices)
        return [[*row, *turn] for row, turn in zip(rows, turns, strict=True)]

    def _points(self, shown: bpy.types.Object) -> np.ndarray:
        """(n, 3) along the curve, in the world."""
        mesh = shown.to_mesh()
        try:
            if mesh is None or len(mesh.vertices) < 2 or len(mesh.polygons):
                raise Refusal(
                    f"{self._thing.name!r} is no single line to go along; try: a curve without bevel or extrusion"
                )
            local = np.array([tuple(vertex.co) for vertex in mesh.vertices], dtype=np.float64)
        finally:
            shown.to_mesh_clear()
        matrix = np.array(shown.matrix_world, dtype=np.float64)
        return local @ matrix[:3, :3].T + matrix[:3, 3]


def _axes(matrix: np.ndarray) -> np.ndarray:
    """Corners that turn with an object, without its scale."""
    u, _, vt = np.linalg.svd(matrix[:3, :3])
    return _CORNERS @ (u @ vt).T


def _evenly(line: np.ndarray, count: int) -> np.ndarray:
    """(count, 3) as far apart from each other along a line."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, line[:, k]) for k in range(3)], axis=1)


def _rounded(place: np.ndarray) -> list[float]:
    return [round(float(value), 9) for value in place]
