"""From a shot to what is simulated: its files read, its frames laid out, everything that does not fit named."""

from __future__ import annotations

from dataclasses import replace

from .prepare_body import prepare_body
from .prepare_plan import prepare_plan
from .prepare_shell import prepare_shell
from .prepare_wrinkle import prepare_wrinkle
from .prepared import Prepared
from .shot import Shot


def prepare(
    shot: Shot, frames: tuple[int, int] | None = None, *, keeping: bool = True, threads: int | None = None
) -> Prepared:
    """Read the shot's files; raises one InputError with everything that does not fit. `frames` (first, last) are made
    instead of the shot's. What takes long is kept for the next time, unless `keeping` is False: then nothing is
    written."""
    asked = shot if frames is None else _with_frames(shot, frames)
    if shot.plans:  # a motion is planned over all of the shot, whichever of its frames are made
        return prepare_plan(shot, asked.shot.frames, keeping=keeping, threads=threads)
    if shot.wrinkles:
        return prepare_wrinkle(asked)
    return prepare_body(asked, keeping=keeping) if shot.bodies else prepare_shell(asked)


def _with_frames(shot: Shot, frames: tuple[int, int]) -> Shot:
    """The shot with another range of frames."""
    changed = replace(shot.shot, frames=frames)
    place = shot.place.at("shot")
    changed.check({}, place)
    place.raise_all()
    return replace(shot, shot=changed)
