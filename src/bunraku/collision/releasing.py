"""When pinched vertices may go: once their surfaces have parted and nothing would be crossed or touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bunraku.contracts import Flags, Integers, Points
from bunraku.geometry import intersecting_faces

from .blocks import Gaps
from .pinching import CLEAR, FREE, Pinches

if TYPE_CHECKING:
    from .surfaces import Surfaces


def still_pinched(surfaces: Surfaces, pinches: Pinches, x: Points, begin: Points, end: Points) -> Pinches:
    """Of vertices pinched at x (n, 3) those that stay so in a step of the obstacles from `begin` to `end` (o, 3)."""
    if not len(pinches):
        return pinches
    pinches = surfaces.ground.led(pinches, x, begin)
    kept = ~surfaces.ground.has_room(pinches, x, begin, end, FREE * surfaces.felt_within)
    if kept.all():
        return pinches
    # An element that meets an obstacle needs a vertex that stays pinched.
    meeting = _meeting(surfaces, np.concatenate([x, begin]))
    stays = np.zeros(len(x) + 1, dtype=bool)  # the last is for corners that are none
    stays[pinches.vertices[kept]] = True
    while True:
        unheld = meeting[~stays[meeting].any(axis=1)]
        back = np.isin(pinches.vertices, unheld) & ~kept
        if not back.any():
            return pinches.kept(kept)
        kept |= back
        stays[pinches.vertices[back]] = True


def _meeting(surfaces: Surfaces, points: Points) -> Integers:
    """(m, 4) corners of the shell's elements that cross an obstacle or are too near to one; −1: none."""
    count, own = surfaces.count, surfaces.shell.faces
    crossing = own[intersecting_faces(points, surfaces.faces)[: len(own)]]
    found = [np.pad(crossing, ((0, 0), (0, 1)), constant_values=-1)]
    limit = CLEAR * surfaces.felt_within
    for pairing, size in surfaces.pairings:
        near = Gaps.of(pairing.near(points[:size]).pairs(), points, surfaces.rest, pairing.gap, pairing.reach)
        corners = near.corners[(near.distances <= near.gap + limit) & _with_obstacle(near.corners, count)]
        found.append(np.where(corners < count, corners, -1))
    return np.concatenate(found)


def _with_obstacle(corners: Integers, count: int) -> Flags:
    """(m,) pairs that are not of the shell alone: with a corner elsewhere or, with a plane, one corner only."""
    return (corners >= count).any(axis=1) | (np.count_nonzero(corners >= 0, axis=1) == 1)
