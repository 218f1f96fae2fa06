"""`bunraku swatches`: a picture of every preset."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku import shots

from .command import Command
from .performance import DONE, Performance, add_threads

_NAME = "swatches.png"
_ABOUT = """\
Lay a square of every preset over a round stand, let it fall, and draw it: one picture to choose a material from.
"""
_EXAMPLE = """\
examples:
  bunraku swatches                       all presets, in ./swatches.png
  bunraku swatches silk denim --out look only these two, in ./look/swatches.png
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("names", nargs="*", metavar="NAME", help="which presets (default: all)")
    parser.add_argument("--out", metavar="FOLDER", default=".", help="where the picture goes (default: here)")
    parser.add_argument(
        "--cells",
        type=int,
        default=shots.SwatchSettings.cells,
        metavar="N",
        help="cells of a side (default: by material)",
    )
    parser.add_argument("--seconds", type=float, default=shots.SwatchSettings.seconds, help="how long each falls")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    names = tuple(args.names) or shots.SwatchSettings.names
    settings = shots.SwatchSettings(names, cells=args.cells, seconds=args.seconds, threads=args.threads)
    folder = Path(args.out)
    shots.check_makeable(folder.absolute())
    shots.write_swatches(folder / _NAME, settings, performance.show.say)
    performance.show.say(f"wrote {folder / _NAME}")
    return DONE
