"""What a frame was made of, so that an edit takes over every frame it does not change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bunraku.contracts import Array, State, Vector
from bunraku.direction.job import Frame, Job, Take

DIGESTS = "digests"
"""in a take's facts: (t,) what each frame was made of, everything before it included"""


def frame_digests(
    times: Vector, substeps: int, start: State, constants: Sequence[object],
    moving: Sequence[Callable[[float], Array]],
) -> list[str]:  # fmt: skip
    """(t,) digests of all that a frame depends on: what never changes, and what moves (time [s] → numbers: the rest
    shape, goals, obstacles) at the steps up to it. Each goes on from the one before."""
    running = hashlib.blake2b(digest_size=16)
    for part in (*constants, start.q, start.velocity, *(start.memory[key] for key in sorted(start.memory))):
        _add(running, part)
    # The first step also asks where things are when it begins, and where they were a step before.
    step = (float(times[1]) - float(times[0])) / substeps if len(times) > 1 else 0.0
    for time in (float(times[0]) - step, float(times[0])):
        for thing in moving:
            _add(running, thing(time))
    out = [running.hexdigest()]
    for begin, end in pairwise(times):
        for time in _steps(float(begin), float(end), substeps):
            for thing in moving:
                _add(running, thing(time))
        out.append(running.hexdigest())
    return out


def _steps(begin: float, end: float, substeps: int) -> Iterator[float]:
    for k in range(substeps):
        yield end if k + 1 == substeps else begin + (end - begin) * (k + 1) / substeps


def _add(running: Any, part: object) -> None:
    if isinstance(part, np.ndarray):
        running.update(repr((part.shape, str(part.dtype))).encode())
        running.update(np.ascontiguousarray(part).tobytes())
    else:
        running.update(repr(part).encode())


def same_frames(old: Sequence[str], new: Sequence[str]) -> int:
    """How many frames, from the first, are made of the same, by their digests."""
    return next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def kept_frames(take: Take[Any], digests: Sequence[str]) -> list[Frame]:
    """The frames of a take that an edited shot would make again just so."""
    return list(take.frames[: same_frames(take.facts.get(DIGESTS, ()), digests)])


def taken_up(job: Job[Any], take: Take[Any] | None, anew: Callable[[State], Mapping[str, Array]]) -> Iterator[Frame]:
    """The frames of a job, those that a take has already first; `anew` is what their reports say of keys now."""
    kept = [] if take is None else kept_frames(take, job.facts[DIGESTS])
    for frame in kept:
        yield Frame(frame.index, frame.state, {**frame.report, **anew(frame.state)})
    yield from job.frames(kept[-1] if kept else None)
