"""`bunraku farm SHOT.toml --address …`: a shot made by a worker of a cluster, followed from here."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from bunraku import shots
from bunraku.contracts import InputError

from .command import Command
from .performance import Performance, positive
from .run import frame_range
from .wedge import add_address, add_outcome, hire

_ABOUT = """\
Send one shot to a Dask scheduler and follow it: a worker makes the take where `bunraku run` would, frame by frame, and
what became of it is told here, with the same exit code. Workers see the same disk under the same names, and have the
same bunraku. Ctrl-C stops the run; a worker that dies is replaced by another one, which carries on.
"""
_EXAMPLE = """\
examples:
  bunraku farm coat.toml --address tcp://10.0.0.7:8786
  bunraku farm coat.toml --address tcp://10.0.0.7:8786 --resume
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file")
    add_address(parser)
    parser.add_argument("--resume", action="store_true", help="carry on the newest take, or the one in --out")
    parser.add_argument("--out", metavar="FOLDER", help="make the take in this folder, new or empty")
    parser.add_argument("--frames", type=frame_range, metavar="A-B", help="only these frames, both included")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="threads to use (default: 1)")
    add_outcome(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    performance = Performance(args.progress)
    return performance.perform(lambda one: _work(args, one))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    if not args.address:
        raise InputError("a farm needs the scheduler's --address; try: bunraku run, which works on this machine")
    performance.again = _again(args)
    result = shots.run_farm(
        Path(args.shot), hire(args), out=args.out, resume=args.resume, frames=args.frames, threads=args.threads,
        preview=not args.no_preview, progress=performance.tell,
    )  # fmt: skip
    return performance.close(result, strict=args.strict)


def _again(args: argparse.Namespace) -> str:
    """The words that carry it on."""
    words = ["bunraku", "farm", args.shot, "--address", args.address, "--resume"]
    words += ["--out", args.out] if args.out else []
    words += [f"--frames={args.frames[0]}-{args.frames[1]}"] if args.frames else []
    return shlex.join(words)
