"""`bunraku figures`: takes of one guide beside each other, as pictures and numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku import shots

from .command import Command
from .performance import DONE, Performance, add_threads

_FOLDER = "figures"
_ABOUT = """\
Run one guide several ways and set the takes beside each other: a sheet of pictures, a video, a USD of each take, and a
table of numbers, in ./figures unless told otherwise. Nothing of yours is needed.
"""
_EXAMPLE = """\
examples:
  bunraku figures --list            which figures there are
  bunraku figures fig4              figures/fig4.png, .mp4, .txt, and the takes
  bunraku figures cloth --out look  in the folder ./look
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("name", nargs="?", metavar="NAME", help="which figure; without it they are listed")
    parser.add_argument("--list", action="store_true", help="list the figures and stop")
    parser.add_argument("--out", metavar="FOLDER", default=_FOLDER, help=f"where to write (default: {_FOLDER})")
    add_threads(parser)
    parser.add_argument("--no-video", action="store_true", help="leave the video out")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    if args.list or args.name is None:
        performance.show.say("\n".join(f"{name:<10} {one.title}" for name, one in shots.FIGURES.items()))
        return DONE
    chosen = shots.figure(args.name)
    folder = Path(args.out)
    shots.check_makeable(folder.absolute())
    performance.show.say(f"{args.name}: {chosen.title}")
    performance.show.say("simulating; nothing is said until all takes are made, from half a minute to some minutes")
    study = chosen.study(args.threads)
    for line in study.table():
        performance.show.say(line)
    performance.show.say("drawing")
    for path in shots.write_study(args.name, study, folder, video=not args.no_video):
        performance.show.say(f"wrote {path}")
    return DONE
