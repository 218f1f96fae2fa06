"""Braces: around a hard collision a body is not told to change its shape [Kondo 2005, §6].

Two keys with the shape that the body would like to have just before it, one before and one after, let the blow be
physics alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from bunraku.contracts import Array, Vector

from .keyed_rest import KeyedRest

_log = logging.getLogger(__name__)
HARD = 0.2
"""share of the body's energy of motion that a blow turns into strain"""
_SLOW = 0.01
"""share of the energy of motion shortly after, below which it was too slow before to have run into anything: it only
settles, and something else sets it going"""
_FRAMES = 2.0
"""before the blow and after it"""


def hard_collisions(times: Vector, report: Mapping[str, Array]) -> list[float]:
    """[s] when a body that touched nothing meets something so fast that it is strained by a good part of its motion."""
    if not {"pairs", "elastic"} <= set(report):  # nothing touches, or it is a shell
        return []
    touching, moving = report["pairs"] > 0, report["kinetic"]
    found = []
    for k in np.flatnonzero(touching[1:] & ~touching[:-1]) + 1:
        last = min(k + 2, len(times) - 1)
        gained = report["elastic"][k : last + 1].max() - report["elastic"][k - 1]
        before = float(moving[k - 1])
        if before > _SLOW * moving[k - 1 : last + 1].max() and gained > HARD * before:
            found.append(float(times[k]))
    return found


def braced(rest: KeyedRest, blows: Sequence[float], rate: float) -> KeyedRest:
    """The rest shapes with the one before each blow kept until after it; what comes too near to a key is left out."""
    times, shapes = list(rest.times), list(rest.shapes)
    for blow in blows:
        begin, end = blow - _FRAMES / rate, blow + _FRAMES / rate
        changing = rest.times[0] < end and begin < rest.times[-1]
        if not changing or begin <= times[0] or any(begin - 1.0 / rate <= time <= end + 1.0 / rate for time in times):
            continue
        kept = np.array(rest.at(begin))
        at = int(np.searchsorted(times, begin))
        times[at:at], shapes[at:at] = [begin, end], [kept, kept]
        _log.info("braced for a blow at %.3f s", blow)
    return KeyedRest(rest.body, rest.material, rest.damping, np.array(times), tuple(shapes), rest.cache)
