"""`bunraku run SHOT.toml`: make a take of a shot, or carry one on."""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import replace

from bunraku import shots

from . import stages
from .command import Command
from .performance import DONE, Performance, add_options
from .viewing import Viewing, add_view, viewed

_ABOUT = """\
Make a take of a shot: its frames, animation files, preview and report, in the next numbered folder
takes/<shot>/v001, v002, … beside the shot file. Nothing is ever overwritten.

A file may hold several shots that feed each other, [stage.NAME] each: they are made in takes/<file>-<stage>, each after
those that feed it, and one of which nothing has changed is left alone.
"""
_EXAMPLE = """\
examples:
  bunraku run box.toml
  bunraku run box.toml --dry-run              check all that can be told before the first frame is solved, write nothing
  bunraku run box.toml --frames 1-24 --out /tmp/quick --no-preview
  bunraku run box.toml --resume               carry on after an interruption
  bunraku run box.toml --view                 watch it in the browser while it is made

keys of a shot file (numbers in SI, frames as in your files; any number marked 'keys' may be keyed):
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog, parser.appendix = _ABOUT, _EXAMPLE, key_list
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file")
    parser.add_argument("--resume", action="store_true", help="carry on the newest take, or the one in --out")
    parser.add_argument(
        "--out", metavar="FOLDER", help="make the take in this folder, new or empty; of stages: the folder of takes"
    )
    parser.add_argument("--frames", type=frame_range, metavar="A-B", help="only these frames, both included")
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything, say what would be done, write nothing"
    )
    add_options(parser)
    add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return viewed(args, _work)


def _work(args: argparse.Namespace, performance: Performance, viewing: Viewing) -> int:
    found = shots.read_shot_or_stages(args.shot)
    performance.again = resume_command(args.shot, args.out, args.frames)
    if isinstance(found, shots.Stages):
        if args.dry_run:
            return stages.rehearse(args, found, performance)
        return stages.make(args, found, performance, viewing, out=args.out, resume=args.resume, frames=args.frames)
    shot = without_preview(found, args.no_preview)
    if args.dry_run:
        for line in shots.dry_run(shot, out=args.out, frames=args.frames, threads=args.threads):
            performance.show.say(line)
        return DONE
    result = shots.run_shot(
        shot, out=args.out, resume=args.resume, frames=args.frames, threads=args.threads,
        progress=viewing.beside(performance.tell),
    )  # fmt: skip
    viewing.open(result.folder)
    return performance.close(result, strict=args.strict)


def without_preview(shot: shots.Shot, leave_out: bool) -> shots.Shot:
    """The shot, its preview left out where asked."""
    return replace(shot, output=replace(shot.output, preview=False)) if leave_out else shot


def resume_command(shot: str, out: str | None, frames: tuple[int, int] | None) -> str:
    """The words that carry a run on."""
    words = ["bunraku", "run", shot, "--resume"]
    words += ["--out", out] if out else []
    words += [f"--frames={frames[0]}-{frames[1]}"] if frames else []
    return shlex.join(words)


def frame_range(text: str) -> tuple[int, int]:
    """'1-24' as (1, 24); '7' as (7, 7)."""
    match = re.fullmatch(r"(-?\d+)(?:-(-?\d+))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of frames such as 1-24")
    first = int(match.group(1))
    return first, first if match.group(2) is None else int(match.group(2))


def key_list() -> str:
    """Every key with its meaning, for the help."""
    lines = []
    for line in shots.shot_keys():
        lines.append(f"  {line.path}")
        lines.append(f"      {line.doc} [{line.default}]")
        lines.append(f"      {line.allowed}")
    return "\n".join(lines).replace("%", "%%") + "\n"
