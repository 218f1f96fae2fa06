"""A shot becomes a take: inputs first, then a folder, then frames, then everything made from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError, OutputError
from bunraku.direction import Job
from bunraku.io import FrameCache, write_json

from .events import Event, Finished, Noticed, Preparing, Remarked, Started
from .filling import BODIES
from .folder import (
    TakeFolder,
    check_free,
    check_inputs,
    check_writable,
    make_named,
    make_numbered,
    next_folder,
    takes_of,
)
from .kept import last_good
from .kernels import BODY_KERNELS, PLAN_KERNELS, SHELL_KERNELS, SKIN_KERNELS, kernels_are_cold
from .lock import LOCK, locked
from .log import TakeLog, listening
from .march import march
from .outputs import Outputs
from .prepare import prepare
from .prepared import Prepared
from .provenance import circumstances, differences, provenance, settings, solver_name, spelled_out
from .report import Report, TakeOutcome
from .scene import write_scene
from .shot import Shot
from .stopping import STOP, StopAsked, forget_stop, heeding
from .taking_over import take_over
from .timings import Timings

_log = logging.getLogger(__name__)
_COMPILING = "compiling kernels (first run only)…"
Tell = Callable[[Event], None]
_REASONS = 3
"""that are told for a take that is made anew"""
_ATTEMPTS = 3  # at frames that do not stay on the disk


@dataclass(frozen=True, eq=False)
class TakeResult:
    """A take on disk."""

    folder: Path
    outcome: TakeOutcome
    report: Report
    already: bool = False
    """whether it was finished before, so that nothing was simulated"""


def run_shot(
    shot: Shot, *, out: str | Path | None = None, resume: bool = False, frames: tuple[int, int] | None = None,
    threads: int | None = None, progress: Tell | None = None, beside: Iterable[str] = (), renew: bool = True,
    reuse: bool = False,
) -> TakeResult:  # fmt: skip
    """Make or carry on a take; see `Shot.run`. `beside`: names that may stand in the folder `out` already. With `reuse`
    frames of a shell that no changed key reaches are taken over from an earlier take, as bodies' always are. Without
    `renew` a finished take of these very settings and inputs is the answer where there is one, and with `resume` one
    that is not finished is carried on; else a take is made."""
    tell = progress or _nobody
    with listening() as log:
        compiling = bool(shot.plans) and kernels_are_cold(PLAN_KERNELS)  # motions are planned as they are read
        tell(Preparing(f"reading the inputs, and {_COMPILING}" if compiling else "reading the inputs"))
        prepared = prepare(shot, frames, threads=threads)
        now = spelled_out(settings(prepared))
        found = take_to_resume(prepared.shot, now, out) if resume and renew else None
        take = found if renew else same_take(prepared, finished=not resume)
        if take is not None:
            with locked(take.path), _stoppable(take):
                return _resume(prepared, take, threads, log, heeding(take.path, tell))
        if why := "" if renew else why_anew(prepared):
            tell(Remarked(why))
        check_target(prepared, out, beside)
        _tell_of_kernels(tell, shot)
        job = prepared.job(threads)
        take = make_named(Path(out).absolute()) if out is not None else make_numbered(shot.output.folder / shot.name)
        with locked(take.path), _stoppable(take), _undone_without_frames(take, log):
            log.write_to(take.log)
            _begin(take, prepared, provenance(prepared, threads, job.facts))
            write_scene(take.scene, prepared, job.facts)
            earlier = takes_of(shot.output.folder / shot.name)
            done, version = take_over(prepared, job, take, earlier, threads, of_shells=reuse)
            if done:
                last = f"{prepared.numbers[done - 1]:g}"
                tell(Remarked(f"frames up to {last} are those of {version}: nothing they are made of has changed"))
            return _carry_on(take, prepared, job, done, threads, dict(job.facts), heeding(take.path, tell))


def check_target(prepared: Prepared, out: str | Path | None, beside: Iterable[str] = ()) -> Path:
    """Where the take would go; refused where that is not allowed or not possible. Writes nothing."""
    shot = prepared.shot
    target = Path(out).absolute() if out is not None else next_folder(shot.output.folder / shot.name)
    allowed = set(beside)
    read = [one.path for one in prepared.inputs] + ([shot.source] if shot.source else [])
    given = [path for table in shot.object.values() for path in table.files]
    outside = [path for path in read if not (path.name in allowed and path.absolute().parent == target)]
    check_inputs(target, outside, [path for path in given if path.is_dir()])
    # Whether a lock is stale is seen when it is taken; what bodies are made of is kept below the folder of takes.
    check_free(target, {*allowed, LOCK, STOP, *_holding_bodies(target, shot.output.folder)})
    check_writable(target)
    return target


def _holding_bodies(target: Path, takes: Path) -> list[str]:
    """The folder of takes, where it lies in the target and has nothing in it but what bodies are made of."""
    inside = takes.parent == target and takes.is_dir() and {one.name for one in takes.iterdir()} <= {BODIES}
    return [takes.name] if inside else []


def _begin(take: TakeFolder, prepared: Prepared, origin: dict[str, Any]) -> None:
    """The files that are there from the beginning."""
    prepared.shot.write(take.shot, defaults=True, heading="The shot of this take, every default written out.")
    write_json(take.provenance, origin)
    solver, threads = origin["solver"], origin["threads"]
    _log.info("%s, %s, %d threads", take.path, solver, threads)


def _carry_on(
    take: TakeFolder, prepared: Prepared, job: Job | None, done: int, threads: int | None, facts: dict[str, Any],
    tell: Tell,
) -> TakeResult:  # fmt: skip
    cache, timings, count = take.cache(), Timings.of(take.timings), len(prepared.numbers)
    tell(Started(prepared.shot.name, take.path, count, done, solver_name(threads)))
    try:
        story = _march_to_the_end(prepared, job, cache, done, threads, timings, tell)
        report = Outputs(prepared, take, facts, timings, tell).make(last_good(cache) + 1, story)
    except KeyboardInterrupt as error:
        why = f", {error}" if isinstance(error, StopAsked) else ""
        _log.info("interrupted after %d of %d frames%s", last_good(cache) + 1, count, why)
        raise
    except OutputError as error:
        kept = last_good(cache) + 1
        raise OutputError(f"{error} ({kept} of {count} frames are kept)" if kept else str(error)) from error
    except Exception:
        _log.exception("unexpected error")
        raise
    tell(Finished(take.path, tuple(sentence.text for sentence in report.sentences)))
    return TakeResult(take.path, report.outcome, report)


def _march_to_the_end(
    prepared: Prepared, job: Job | None, cache: FrameCache, done: int, threads: int | None, timings: Timings, tell: Tell
) -> str:  # fmt: skip
    """Make the frames after the `done` first ones, and once more those that went from the disk meanwhile."""
    count, story = len(prepared.numbers), ""
    for _ in range(_ATTEMPTS):
        if done < count:
            job = job or prepared.job(threads)
            story = march(prepared, job, cache, done, timings, tell)
        done = last_good(cache) + 1
        if story or done == count:
            return story
        text = f"frames from {prepared.numbers[done]:g} on are damaged or gone from the disk; they are made again"
        _log.info(text)
        tell(Noticed(text))
        cache.discard_after(done - 1)
    raise OutputError(f"{cache.folder}: frame {prepared.numbers[done]:g} does not stay on the disk; try: another disk")


def _resume(prepared: Prepared, take: TakeFolder, threads: int | None, log: TakeLog, tell: Tell) -> TakeResult:
    log.write_to(take.log)
    take.clean()
    origin = take.read_provenance()
    cache = take.cache()
    done = last_good(cache) + 1
    cache.discard_after(done - 1)
    facts = origin["facts"]
    if not take.scene.exists():  # a take from before scenes were written down
        write_scene(take.scene, prepared, facts)
    if take.finished and done == len(prepared.numbers):
        report = Outputs(prepared, take, facts, Timings.of(take.timings), tell).make(done, "", again=False)
        return TakeResult(take.path, report.outcome, report, already=True)
    _note_circumstances(take, origin, threads, done, tell)
    _tell_of_kernels(tell, prepared.shot)
    job = prepared.job(threads) if done < len(prepared.numbers) else None
    _log.info("resumed after %d frames", done)
    return _carry_on(take, prepared, job, done, threads, facts, tell)


def _note_circumstances(take: TakeFolder, origin: dict[str, Any], threads: int | None, done: int, tell: Tell) -> None:
    """Warn of and record what may change the last digits."""
    now = circumstances(threads)
    changed = differences({name: origin.get(name) for name in now}, now)
    if changed:
        text = f"resumed under other circumstances, the last digits may differ: {'; '.join(changed)}"
        _log.info(text)
        tell(Noticed(text))
    entry = {"done": done, "differences": changed, "made": datetime.now(UTC).isoformat(timespec="seconds")}
    write_json(take.provenance, {**origin, "resumed": [*origin["resumed"], entry]})


def same_take(prepared: Prepared, *, finished: bool) -> TakeFolder | None:
    """The newest take of the shot's folder made with these settings and inputs; `finished`: of finished ones only."""
    now = spelled_out(settings(prepared))
    for take in takes_of(prepared.shot.output.folder / prepared.shot.name):
        if not take.begun or (finished and not take.finished):
            continue
        with suppress(InputError):  # a damaged take is as good as none
            if not differences(spelled_out(take.read_provenance()["settings"]), now):
                return take
    return None


def why_anew(prepared: Prepared) -> str:
    """Why the newest take does not stand for the shot: 'since v002 skin.young was 1e+07, is 2e+07'; empty where there
    is none yet."""
    now = spelled_out(settings(prepared))
    for take in takes_of(prepared.shot.output.folder / prepared.shot.name):
        with suppress(InputError):  # of a damaged take nothing is known
            changed = differences(spelled_out(take.read_provenance()["settings"]), now)
            if not changed:
                return f"{take.version} is not finished, and --resume would carry it on"
            more = [f"{len(changed) - _REASONS} more"] if len(changed) > _REASONS else []
            return f"since {take.version} {'; '.join([*changed[:_REASONS], *more])}"
    return ""


def take_to_resume(shot: Shot, now: Mapping[str, Any], out: str | Path | None) -> TakeFolder:
    """The newest take made with the settings and inputs `now`, spelled out, finished or not."""
    folder = shot.output.folder / shot.name
    takes = [TakeFolder(Path(out).absolute())] if out is not None else takes_of(folder)
    takes = [take for take in takes if take.begun]
    if not takes:
        raise InputError(f"{out or folder}: there is no take to resume; try: run without --resume")
    changed: dict[Path, list[str]] = {}
    for take in takes:
        try:
            changed[take.path] = differences(spelled_out(take.read_provenance()["settings"]), now)
        except InputError as error:  # a damaged take is no reason not to carry on another
            if len(takes) == 1:
                raise
            _log.warning("%s", error)
            continue
        if not changed[take.path]:
            return take
    takes = [take for take in takes if take.path in changed]
    if not takes:
        raise InputError(f"{folder}: none of its takes is readable; try: run without --resume")
    newest = next((take for take in takes if not take.finished), takes[0])
    raise InputError(
        f"{newest.path}: cannot be resumed, the shot has changed since: {'; '.join(changed[newest.path])}; "
        "try: run without --resume for a new take"
    )


def _tell_of_kernels(tell: Tell, shot: Shot) -> None:
    bodies = SKIN_KERNELS if shot.wrinkles else BODY_KERNELS if shot.bodies else SHELL_KERNELS
    of = PLAN_KERNELS if shot.plans else bodies
    tell(Preparing(_COMPILING if kernels_are_cold(of) else "preparing the simulation"))


def _nobody(event: Event) -> None:
    """Nobody listens."""


@contextmanager
def _stoppable(take: TakeFolder) -> Iterator[None]:
    """What was asked of an earlier run is not asked of this one, nor what was asked of this one of the next."""
    forget_stop(take.path)
    try:
        yield
    finally:
        forget_stop(take.path)


@contextmanager
def _undone_without_frames(take: TakeFolder, log: TakeLog) -> Iterator[None]:
    """Leave no folder behind where a run ends, for whatever reason, before its first frame."""
    try:
        yield
    except BaseException:
        if not take.has_frames:
            log.close()
            take.discard()
        raise
