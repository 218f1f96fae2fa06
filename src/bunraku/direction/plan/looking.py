"""How high a moving body's vertices are, moment by moment: closely only where one may come down to a level.

Every fourth moment is looked at first. Between two of these a height is nearer to the straight line than an eighth of
its second difference, as far as it is smooth; where even four times that leaves all vertices above the level, the line
will do. A motion is looked at again and again while it is lifted off the ground, and is near it at few moments. What is
said of it in the end comes from a look at every moment, of which those that were looked at are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Vector
from bunraku.numerics import WigglySpline

from .place import Place
from .reduced import Reduced

_STRIDE = 4
"""moments from one that is looked at first to the next"""
_FEW = 6
"""that are looked at first, at least: of fewer second differences say little"""
_SAFE = 0.5
"""share of the second differences nearby by which a height may be beside the line: four times what smooth ones are"""


@dataclass(frozen=True, eq=False)
class Heights:
    """Of the vertices of a body's surface that are not fixed."""

    times: Vector
    """(t,) [s]"""
    vertices: Integers
    """(k,)"""
    values: Array
    """(t, k) [m]; at moments when nothing is near the level, about"""
    closely: Flags
    """(t,) which moments were looked at"""

    @property
    def whole(self) -> bool:
        """Whether all were."""
        return bool(self.closely.all())


def moving_skin(body: Reduced) -> Integers:
    """(k,) the vertices of a body's surface that are not fixed."""
    return np.setdiff1d(body.mesh.surface_vertices, body.fixed)


def unseen(body: Reduced, times: Vector) -> Heights:
    """Before anything is looked at."""
    skin = moving_skin(body)
    return Heights(times, skin, np.zeros((len(times), len(skin))), np.zeros(len(times), dtype=bool))


def looked_at(body: Reduced, place: Place, spline: WigglySpline, times: Vector, level: float) -> Heights:
    """Heights at times (t,), those above a level [m] by and by only."""
    nothing = unseen(body, times)
    first = np.unique(np.append(np.arange(0, len(times), _STRIDE), len(times) - 1))
    if len(first) < _FEW:
        return looked_at_all(nothing, body, place, spline)
    coarse = _heights(body, place, spline, times[first], nothing.vertices)
    part = np.clip(np.searchsorted(first, np.arange(len(times)), side="right") - 1, 0, len(first) - 2)
    share = ((np.arange(len(times)) - first[part]) / np.diff(first)[part])[:, None]
    values, closely = (1.0 - share) * coarse[part] + share * coarse[part + 1], nothing.closely.copy()
    values[first], closely[first] = coarse, True
    about = replace(nothing, values=values, closely=closely)
    return _also_at(_near(coarse, level)[part], about, body, place, spline)


def looked_at_all(seen: Heights, body: Reduced, place: Place, spline: WigglySpline) -> Heights:
    """Heights of the same motion, all of them as they are."""
    return _also_at(np.ones(len(seen.times), dtype=bool), seen, body, place, spline)


def _also_at(moments: Flags, seen: Heights, body: Reduced, place: Place, spline: WigglySpline) -> Heights:
    """What is seen, and some moments (t,) looked at where they were not."""
    more, values = moments & ~seen.closely, seen.values.copy()
    if more.any():
        values[more] = _heights(body, place, spline, seen.times[more], seen.vertices)
    return replace(seen, values=values, closely=seen.closely | more)


def _near(heights: Array, level: float) -> Flags:
    """(t − 1,) between which of moments something may come down to a level, from heights (t, k)."""
    bends = np.abs(np.diff(heights, n=2, axis=0))
    bends = np.concatenate([bends[:1], bends[:1], bends, bends[-1:], bends[-1:]])
    around = np.maximum(np.maximum(bends[:-3], bends[1:-2]), np.maximum(bends[2:-1], bends[3:]))
    lowest = np.minimum(heights[:-1], heights[1:]) - _SAFE * around
    return np.asarray((lowest <= level).any(axis=1))


def _heights(body: Reduced, place: Place, spline: WigglySpline, times: Vector, vertices: Integers) -> Array:
    """(t, k) of vertices (k,) at times (t,)."""
    lifts = body.along(spline(times).position, place.upwards(times))[vertices].T
    return place.heights(body.mesh.rest[vertices], lifts, times, vertices)
