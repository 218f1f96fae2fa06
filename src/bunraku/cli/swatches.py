"""`bunraku swatches`: a picture of every preset."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bunraku.shots import SwatchSettings, check_writable, write_swatches

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


def add(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "swatches", help="draw a swatch of every preset", description=_ABOUT, epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="which presets (default: all)")
    parser.add_argument("--out", metavar="FOLDER", default=".", help="where the picture goes (default: here)")
    parser.add_argument(
        "--cells", type=int, default=SwatchSettings.cells, metavar="N", help="cells of a side (default: by material)"
    )
    parser.add_argument("--seconds", type=float, default=SwatchSettings.seconds, help="how long each falls")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    names = tuple(args.names) or SwatchSettings.names
    settings = SwatchSettings(names, cells=args.cells, seconds=args.seconds, threads=args.threads)
    folder = Path(args.out)
    check_writable(folder.absolute())
    write_swatches(folder / _NAME, settings, performance.show.say)
    performance.show.say(f"wrote {folder / _NAME}")
    return DONE
