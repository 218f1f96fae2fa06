"""`bunraku wedge SHOT.toml --vary KEY=A,B`: a shot in all combinations of some values, made at once."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bunraku import shots

from .command import Command
from .performance import DONE, Performance
from .run import frame_range
from .shows import WAYS

_ABOUT = ""
_EXAMPLE = ""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file")
    parser.add_argument("--vary", action="append", default=[], metavar="KEY=A,B,…", help="")
    parser.add_argument("--resume", action="store_true", help="carry on the newest wedge of these values")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--most", type=int, default=shots.MOST)
    parser.add_argument("--frames", type=frame_range, metavar="A-B", help="only these frames, both included")
    parser.add_argument("--no-preview", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--progress", choices=WAYS, help="a bar on a terminal, else plain lines, unless told here")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    performance = Performance(args.progress)
    return performance.perform(lambda one: _work(args, one))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    settings = shots.WedgeSettings(
        Path(args.shot), shots.parse_varied(args.vary), args.frames, args.threads, not args.no_preview, args.most
    )

    @contextmanager
    def hire() -> Iterator[shots.Crew]:
        crew = shots.LocalCrew(args.workers or max((os.cpu_count() or 1) // args.threads, 1), args.threads)
        try:
            yield crew
        finally:
            crew.close()

    performance.again = shlex.join(["bunraku", "wedge", args.shot])
    book = shots.run_wedge(settings, hire, resume=args.resume, progress=performance.tell)
    for one in book.entries:
        performance.show.say(f"{one.name} {one.values} {one.outcome} {one.why} {one.folder}")
    return DONE
