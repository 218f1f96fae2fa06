"""A file of several shots that feed each other, run: what was made, what was left alone, and where."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku import shots

from .performance import DONE, MISSED, STOPPED, Performance, exit_code
from .viewing import Viewing


def rehearse(args: argparse.Namespace, stages: shots.Stages, performance: Performance) -> int:
    """Say what a run would do; returns the exit code."""
    for line in shots.rehearse_stages(stages, out=args.out, frames=args.frames, threads=args.threads):
        performance.show.say(line)
    return DONE


def make(
    args: argparse.Namespace, stages: shots.Stages, performance: Performance, viewing: Viewing, *,
    out: str | Path | None, resume: bool = False, frames: tuple[int, int] | None = None,
) -> int:  # fmt: skip
    """Make the stages and tell of them; returns the exit code. The last one is viewed, where that is asked for."""
    performance.several = True
    result = shots.run_stages(
        stages, out=out, resume=resume, frames=frames, threads=args.threads, progress=performance.tell,
        preview=not args.no_preview,
    )  # fmt: skip
    viewing.open(list(result.takes.values())[-1].folder)
    codes = [exit_code(one, strict=args.strict) for one in result.takes.values()]
    code = STOPPED if STOPPED in codes else MISSED if MISSED in codes else DONE
    _tell(result, code, performance)
    return code


def _tell(result: shots.StagesResult, code: int, performance: Performance) -> None:
    stages = [
        {
            "stage": name, "outcome": one.outcome.name.lower(), "folder": str(one.folder),
            "direction_met": one.report.met, "sentences": [sentence.text for sentence in one.report.sentences],
            "already_finished": one.already,
        }
        for name, one in result.takes.items()
    ]  # fmt: skip
    told = [one.report.met for one in result.takes.values() if one.report.met is not None]
    performance.show.end(
        {
            "event": "done", "exit_code": code, "outcome": "stopped" if result.stopped else "finished",
            "direction_met": all(told) if told else None, "stages": stages, "not_run": list(result.left),
            "already_finished": not result.made,
        }
    )  # fmt: skip
    performance.show.say("\n".join(summary(result)))


def summary(result: shots.StagesResult) -> list[str]:
    """What each stage that was made met, and in the end which were made, which were left alone, and where they are."""
    lines: list[str] = []
    for name in result.made:
        lines += [f"{name}:", *(f"  {sentence.text}" for sentence in result.takes[name].report.sentences), ""]
    wide = max(len(name) for name in (*result.takes, *result.left))
    states = {name: "unchanged" if one.already else "made" for name, one in result.takes.items()}
    states |= {result.stopped: "stopped"} if result.stopped else {}
    lines += [f"{name:<{wide}}  {states[name]:<9}  {one.folder}" for name, one in result.takes.items()]
    lines += [f"{name:<{wide}}  not run" for name in result.left]
    if result.stopped:
        done = [name for name in result.takes if name != result.stopped]
        lines.append(shots.ending(result.stopped, done, result.left))
    return lines
