"""An edit keeps every frame it does not change: those are taken over from an earlier take of the shot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import BunrakuError
from bunraku.direction import Frame, Job
from bunraku.direction.steer import DIGESTS, SteerReport, same_frames

from .folder import TakeFolder
from .kept import keep, kept, last_good
from .prepared import Prepared
from .provenance import circumstances, differences, settings, spelled_out
from .reached import same_until


def take_over(
    prepared: Prepared, job: Job, take: TakeFolder, others: Sequence[TakeFolder], threads: int | None, *,
    of_shells: bool = False,
) -> tuple[int, str]:  # fmt: skip
    """Copy the frames that another take, made under the same circumstances, has of the same making; how many they are,
    and of which take. Bodies say what each frame is made of; where it is wanted `of_shells`, their settings do."""
    digests, reporter = job.facts.get(DIGESTS), job.reporter
    steered = isinstance(reporter, SteerReport)
    shell = of_shells and bool(prepared.shot.shells)
    if not shell and (digests is None or not steered):
        return 0, ""
    best, count = None, 0
    for other in others:
        same = 0 if other.path == take.path else _equal(other, prepared, None if shell else digests, threads)
        if same > count:
            best, count = other, same
    if best is None:
        return 0, ""
    source, target = best.cache(), take.cache()
    for index in range(count):
        frame = kept(source, index)
        if steered:
            frame = Frame(index, frame.state, {**frame.report, **reporter.of_keys(frame.state)})
        keep(target, frame, float(prepared.numbers[index]))
    return count, best.version


def _equal(other: TakeFolder, prepared: Prepared, digests: Sequence[str] | None, threads: int | None) -> int:
    """How many frames of another take, from the first, are made of the same: none that it made when it was resumed
    under other circumstances than it was begun."""
    try:
        origin = other.read_provenance()
        now = circumstances(threads)
        if differences({name: origin.get(name) for name in now}, now):
            return 0
        elsewhere = [int(one["done"]) for one in origin["resumed"] if one["differences"]]
        old, there = origin["facts"].get(DIGESTS), min([last_good(other.cache()) + 1, *elsewhere])
        if digests is None:
            until = same_until(spelled_out(origin["settings"]), spelled_out(settings(prepared)))
            return int(np.count_nonzero(prepared.numbers[:there] <= until))
        if not isinstance(old, list):
            return 0
    except (BunrakuError, OSError, LookupError, TypeError, ValueError):  # a damaged take has nothing to give
        return 0
    return same_frames(old[:there], digests)
