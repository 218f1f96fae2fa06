"""Stages become takes: each after those that feed it, and only where something it is made of has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bunraku.contracts import InputError, OutputError, PhysicsStopped

from .events import Event, Remarked
from .kinds import joined
from .prepare import prepare
from .rehearsal import dry_run
from .report import TakeOutcome
from .run import TakeResult, run_shot, same_take, why_anew
from .shot import Shot
from .stages import Stage, Stages


@dataclass(frozen=True, eq=False)
class StagesResult:
    """The takes of a file of stages."""

    takes: Mapping[str, TakeResult]
    """stage → its take, in the order in which they were made; `already` says which were left alone"""
    left: tuple[str, ...] = ()
    """stages that were not made, because one before them was stopped"""

    @property
    def made(self) -> tuple[str, ...]:
        """Stages that were made anew."""
        return tuple(name for name, take in self.takes.items() if not take.already)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Stages that were left alone: nothing they are made of has changed."""
        return tuple(name for name, take in self.takes.items() if take.already)

    @property
    def stopped(self) -> str:
        """The stage that physics stopped; empty: none."""
        return next((name for name, take in self.takes.items() if take.outcome is TakeOutcome.STOPPED), "")


def run_stages(
    stages: Stages, *, out: str | Path | None = None, resume: bool = False, frames: tuple[int, int] | None = None,
    threads: int | None = None, progress: Callable[[Event], None] | None = None, preview: bool = True,
) -> StagesResult:  # fmt: skip
    """Make the stages; see `Stages.run`. Without `preview` no pictures are made."""
    tell = progress or (lambda event: None)
    takes: dict[str, TakeResult] = {}
    names = list(stages.stages)
    for k, (name, stage) in enumerate(stages.stages.items()):
        with _told_of(name, takes, names[k + 1 :], tell):
            tell(Remarked(f"stage {name}, {k + 1} of {len(names)}"))
            shot = _fed_shot(stage, {one: take.folder for one, take in takes.items()}, out, preview)
            takes[name] = run_shot(shot, resume=resume, frames=frames, threads=threads, progress=progress, renew=False)
        if takes[name].already:
            tell(Remarked(f"{name}: unchanged, {takes[name].folder.name}"))
        if takes[name].outcome is TakeOutcome.STOPPED:
            return StagesResult(takes, tuple(names[k + 1 :]))
    return StagesResult(takes)


def rehearse_stages(
    stages: Stages, *, out: str | Path | None = None, frames: tuple[int, int] | None = None,
    threads: int | None = None,
) -> list[str]:  # fmt: skip
    """What a run would do, a line each; writes nothing. A stage that is fed by one that would be made anew is checked
    as far as its own file and settings tell."""
    lines, there = [], dict[str, Path]()
    names = list(stages.stages)
    for k, (name, stage) in enumerate(stages.stages.items()):
        waiting = [one for one in stage.feeds if one not in there]
        if waiting:
            lines.append(f"{name}: would be made after {joined(waiting)}, and is checked against that then")
            continue
        with _told_of(name, list(there), names[k + 1 :], lambda event: None):
            shot = _fed_shot(stage, there, out, preview=True)
            prepared = prepare(shot, frames, keeping=False, threads=threads)
            take = same_take(prepared, finished=True)
            if take is None:
                why = why_anew(prepared)
                lines.append(f"{name}: would be made" + (f": {why}" if why else ""))
                lines += [f"  {line}" for line in dry_run(shot, frames=frames, threads=threads)]
            else:
                there[name] = take.path
                lines.append(f"{name}: unchanged, {take.version}")
    return lines


def _fed_shot(stage: Stage, there: Mapping[str, Path], out: str | Path | None, preview: bool) -> Shot:
    """The shot of a stage, fed by the takes there are of others."""
    shot = stage.shot({one: f"{folder.parent.name}/{folder.name}" for one, folder in there.items()})
    output = shot.output if out is None else replace(shot.output, folder=Path(out).absolute())
    return replace(shot, output=output if preview else replace(output, preview=False))


@contextmanager
def _told_of(
    name: str, done: Sequence[str] | Mapping[str, TakeResult], left: Sequence[str], tell: Callable[[Event], None]
) -> Iterator[None]:
    """What fails or is interrupted is told with what was not made because of it."""
    try:
        yield
    except KeyboardInterrupt:
        tell(Remarked(ending(name, list(done), left, how="was interrupted")))
        raise
    except (InputError, OutputError, PhysicsStopped) as error:
        raise type(error)(f"{error}\n{ending(name, list(done), left)}") from error


def ending(name: str, done: Sequence[str], left: Sequence[str], how: str = "failed") -> str:
    """What a stage that failed leaves: 'stage land failed; not run: coat, skin; done before it: jump'."""
    parts = [f"stage {name} {how}"]
    parts += [f"not run: {joined(left)}"] if left else []
    parts += [f"done before it: {joined(done)}"] if done else []
    return "; ".join(parts)
