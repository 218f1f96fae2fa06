# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene's wind fields as one wind: a field of strength 1 blows at 1 m/s along its own Z axis."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np

from .bridge import Refusal, Wind

_STILL = 1e-6  # [m/s]
_SAME = 1e-4  # of a turn [rad], below which a direction does not change


def wind_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those that blow."""
    return [one for one in scene.objects if one.field is not None and one.field.type == "WIND" and one.visible_get()]


class WindRecord:
    """The winds of a scene, frame by frame, added up."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self._scene = scene
        self.frames: list[int] = []
        self.velocities: list[np.ndarray] = []
        self._noise, self._seed = 0.0, 0

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """The wind as it is now."""
        total = np.zeros(3)
        for thing in wind_objects(self._scene):
            shown = thing.evaluated_get(graph)
            axis = np.array(shown.matrix_world.to_3x3().col[2], dtype=np.float64)
            length = float(np.linalg.norm(axis))
            total += shown.field.strength * axis / (length or 1.0)
            self._noise, self._seed = max(self._noise, shown.field.noise), shown.field.seed
        self.frames.append(self._scene.frame_current)
        self.velocities.append(total)

    def wind(self, turned: Callable[[np.ndarray], tuple[float, float, float]]) -> Wind | None:
        """One wind that gusts; `turned` gives a direction in the shot's axes."""
        speeds = [float(np.linalg.norm(one)) for one in self.velocities]
        most = int(np.argmax(speeds))
        if speeds[most] < _STILL:
            return None
        main = self.velocities[most]
        shares = [float(one @ main) / speeds[most] ** 2 for one in self.velocities]
        for frame, velocity, share in zip(self.frames, self.velocities, shares, strict=True):
            if np.linalg.norm(velocity - share * main) > _SAME * speeds[most]:
                raise Refusal(
                    f"the wind turns on frame {frame}, and a shot's wind blows one way; "
                    "try: key the strength of the wind fields, not their rotation"
                )
            if share < 0.0:
                raise Refusal(f"the wind blows backwards on frame {frame}; try: strengths of zero or more")
        rounded = [round(share, 6) for share in shares]
        gust = [] if set(rounded) == {1.0} else list(zip(self.frames, rounded, strict=True))
        return Wind(turned(main), gust, turbulence=round(min(self._noise / 10.0, 1.0), 6), seed=self._seed)
