"""`bunraku regions SHOT.toml`: the regions a shot directs, as a picture and a table."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku import shots
from bunraku.contracts import input_error

from .command import Command
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


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
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
    sheet = shots.RegionSheet.of(shots.read_shot(source))
    for line in sheet.table():
        performance.show.say(line)
    sheet.write(target)
    performance.show.say(f"wrote {target}")
    return DONE
