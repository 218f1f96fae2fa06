"""Frame by frame: each is safe on disk before the next begins."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from bunraku.contracts import Outcome, PhysicsStopped
from bunraku.direction import Frame, Job
from bunraku.io import FrameCache
from bunraku.numerics import FactorisationError

from .events import Event, FrameDone
from .kept import keep, kept, seconds
from .prepared import Prepared
from .timings import Timings

_log = logging.getLogger(__name__)


def march(
    prepared: Prepared, job: Job, cache: FrameCache, done: int, timings: Timings, tell: Callable[[Event], None]
) -> str:
    """Make the frames after the `done` first ones; returns why physics stopped, or an empty text."""
    after = kept(cache, done - 1) if done else None
    index = done
    try:
        for frame in job.frames(after):
            number = float(prepared.numbers[frame.index])
            keep(cache, frame, number)
            timings.add(number, seconds(frame))
            index = frame.index + 1
            event = _done(frame, number, prepared)
            away = "" if event.residual is None else f"residual {event.residual} m, "
            steps = f"{event.iterations} iterations" if "iterations" in frame.report else "planned"
            _log.info("frame %g: %s%s", number, away, steps)
            tell(event)
    except (PhysicsStopped, FactorisationError) as error:
        known = isinstance(error, PhysicsStopped)
        why = error.story(prepared.origin, prepared.point_names) if known else Outcome.FACTORISATION_FAILED.value
        story = f"frame {prepared.numbers[index]:g}: {why}"
        _log.error("stopped by physics at %s", story)
        return story
    finally:
        timings.save()
    return ""


def _done(frame: Frame, number: float, prepared: Prepared) -> FrameDone:
    gaps = frame.report["residual"]
    return FrameDone(
        frame=number,
        index=frame.index,
        count=len(prepared.numbers),
        residual=float(np.max(gaps)) if np.size(gaps) else None,
        iterations=int(frame.report.get("iterations", 0)),
        preroll=frame.index < prepared.preroll,
    )
