"""Leads: how much earlier a body must be told a key to be nearest to it on the key's own time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bunraku.contracts import Vector
from bunraku.direction.job import Take
from bunraku.direction.knobs import listed

from .bodies import Body
from .keys import KeyShape

_log = logging.getLogger(__name__)
ROUNDS = 5
"""runs at most, the first without any lead"""
_STEEPEST = 2.0  # how much more lead than delay a secant may ask for
_GOOD = 0.5  # frames: a key that is as near as that is left as it is
ROUNDED = 0.25
"""frames a lead is rounded to: an edit elsewhere then leaves it as it is"""


def led(run: Callable[[Vector], Take[Any]], bodies: Sequence[Body], rate: float) -> tuple[Vector, Take[Any]]:
    """Leads (k,) [s] of all keys of bodies, and the take they make: the best of a few runs, each corrected by the
    delays of the one before. Bodies whose lead is a number keep it."""
    counts = [len(listed(KeyShape, "keys", one.keys)) for one in bodies]
    free = np.repeat([one.lead is True for one in bodies], counts)
    leads: Vector = np.repeat([0.0 if one.lead is True else float(one.lead) for one in bodies], counts)
    tried: list[tuple[Vector, Vector, Take[Any]]] = []
    for _ in range(ROUNDS):
        take = run(leads)
        # A key that is not reached is not late: no lead brings the body to it.
        found = zip(take.facts["approaches"], free, strict=True)
        late = np.array([one.delay if one.reached and change else 0.0 for one, change in found])
        tried.append((leads, late, take))
        _log.info("leads of %s s: keys %s frames late", np.round(leads, 3).tolist(), np.round(late * rate, 1).tolist())
        after = np.where(free, _next([(lead, delay) for lead, delay, _ in tried], rate), leads)
        if any(np.array_equal(after, lead) for lead, _, _ in tried):
            break
        leads = after
    best = min(tried, key=lambda one: _badness(*one, rate))
    return best[0], best[2]


def _badness(leads: Vector, late: Vector, take: Take[Any], rate: float) -> tuple[int, float, float]:
    """Keys that are not reached count most, then the latest one [frames], then how much lead it took."""
    missed = sum(not one.reached for one in take.facts["approaches"])
    return missed, round(float(np.abs(late).max(initial=0.0)) * rate, 3), float(leads.sum())


def _next(tried: Sequence[tuple[Vector, Vector]], rate: float) -> Vector:
    """(k,) each lead by the secant of its last two delays; plainly more by the delay where there is none."""
    lead, delay = tried[-1]
    out = lead + delay
    if len(tried) > 1:
        before, then = tried[-2]
        moved, answered = lead - before, then - delay
        sane = (moved * answered > 0) & (np.abs(moved) <= _STEEPEST * np.abs(answered))
        slope = np.divide(moved, answered, out=np.ones_like(moved), where=sane)
        out = lead + slope * delay
    out = np.where(np.abs(delay) * rate <= _GOOD, lead, out)
    return np.maximum(np.round(out * rate / ROUNDED) * ROUNDED / rate, 0.0)
