"""A shot made by a worker of a cluster and followed from here: its take, its events and its outcome as `run_shot`'s."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bunraku.contracts import BunrakuError, InputError, PhysicsStopped
from bunraku.io import content_hash

from .crew import Crew
from .events import Event, OfTake, Remarked
from .folder import TakeFolder, check_writable, make_numbered
from .lock import is_held
from .run import TakeResult, take_to_resume
from .shift import Shift, Tell
from .shot import Shot, read_settings
from .stopping import StopAsked
from .wedge import Hire
from .wedge_work import Answer, Looked, Order, Step, look, make

_NAME = "take"  # of the one order


class WorkerFault(Exception):
    """What went wrong on a worker, and is no fault of the input."""


def run_farm(
    source: Path, hire: Hire, *, out: str | Path | None = None, resume: bool = False,
    frames: tuple[int, int] | None = None, threads: int = 1, preview: bool = True, progress: Tell | None = None,
) -> TakeResult:  # fmt: skip
    """Have a worker make or carry on a take; as `run_shot`, on a disk that all see."""
    tell = progress or (lambda event: None)
    file = source.absolute()
    settings = read_settings(source)
    shot = Shot.of(settings, folder=file.parent, source=source)
    order = Order(
        _NAME, settings, str(file), content_hash(file), frames=frames, threads=threads, preview=preview, whole=True
    )
    with hire(1) as crew:
        tell(Remarked(crew.about))
        looked: Looked = _asked(crew, look, order, tell).value
        take, fresh = _take(shot, looked, out, resume)
        try:
            return _asked(crew, make, replace(order, out=str(take.path)), tell).value
        finally:
            if fresh:
                with suppress(OSError):  # it holds frames
                    take.path.rmdir()


def _take(shot: Shot, looked: Looked, out: str | Path | None, resume: bool) -> tuple[TakeFolder, bool]:
    """The folder of the take, and whether it was made just now."""
    if resume:
        take = take_to_resume(shot, looked.settings, out)
        if is_held(take.path):
            raise InputError(
                f"{take.path}: another run writes into this take; try: wait for its end, or delete .lock in it if that "
                "run is gone"
            )
        return take, False
    if out is not None:
        take = TakeFolder(Path(out).absolute())
        if take.begun:
            raise InputError(f"{take.path}: holds a take already; try: another name, or --resume to carry it on")
        return take, False
    home = shot.output.folder / shot.name
    check_writable(home)
    return make_numbered(home), True


def _asked(crew: Crew, step: Step, order: Order, tell: Tell) -> Answer:
    """The answer to one order; what went wrong is raised here as it was there."""
    answers: list[Answer] = []

    def told(event: Event) -> None:
        tell(event.event if isinstance(event, OfTake) else event)

    shift = Shift(crew, step, {_NAME: order}, told, lambda name, answer: answers.append(answer))
    try:
        shift.work()
    except KeyboardInterrupt:
        if order.out:
            shift.stop({_NAME: order.out})
        raise
    answer = answers[0]
    if answer.outcome in ("done", "finished") or answer.value is not None:
        return answer
    if answer.outcome == "interrupted":
        raise StopAsked("asked to stop from outside")
    kinds: dict[str, type[BunrakuError]] = {"refused": InputError, "stopped": PhysicsStopped}
    if answer.outcome in kinds:
        raise kinds[answer.outcome](answer.why)
    raise WorkerFault(answer.why) from RuntimeError(answer.story)
