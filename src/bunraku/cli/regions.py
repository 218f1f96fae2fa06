"""`bunraku regions SHOT.toml`: the regions a shot directs, as a picture and a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bunraku.contracts import input_error
from bunraku.shots import RegionSheet, read_shot

from .performance import DONE, Performance

_ABOUT = """\
Show which parts of the guide a shot directs together: every region in a colour of its own and with its name, on the
shell in four of the guide's poses, from front and back, and a table of their sizes. Nothing is simulated.
"""
_EXAMPLE = """\
example:
  bunraku regions coat.toml                     the table, and coat_regions.png beside the shot
  bunraku regions coat.toml --out look.png
"""


def add(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "regions", help="show the regions a shot directs", description=_ABOUT, epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file")
    parser.add_argument("--out", metavar="PNG", help="the picture (default: <shot>_regions.png beside the shot file)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    source = Path(args.shot)
    target = Path(args.out) if args.out else source.with_name(f"{source.stem}_regions.png")
    if target.suffix.lower() != ".png":
        raise input_error("the picture must be a PNG", where="--out", got=str(target), remedy=f"{target.stem}.png")
    sheet = RegionSheet.of(read_shot(source))
    for line in sheet.table():
        performance.show.say(line)
    sheet.write(target)
    performance.show.say(f"wrote {target}")
    return DONE
