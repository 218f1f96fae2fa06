"""`bunraku axes NAME`: two knobs of a material against each other on one contact sheet."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku import shots

from .command import Command
from .performance import DONE, Performance, add_threads

_ABOUT = """\
Run the twisting box with two knobs of its material turned against each other, and draw all takes on one sheet.
Without a name, list what there is.
"""
_EXAMPLE = """\
examples:
  bunraku axes bending                     stretching × bending, nine takes, in ./axes_bending.png
  bunraku axes damping --grid 5 --out look 25 takes, in ./look/axes_damping.png
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("name", nargs="?", metavar="NAME", help=", ".join(shots.AXES))
    parser.add_argument("--out", metavar="FOLDER", default=".", help="where the sheet goes (default: here)")
    parser.add_argument(
        "--grid", type=int, default=shots.AxesSettings.grid, metavar="N", help="values a knob (default: 3)"
    )
    parser.add_argument("--levels", type=int, metavar="N", help="how fine the box is (default: the axes' own)")
    parser.add_argument("--seconds", type=float, metavar="S", help="the moment shown (default: the axes' own)")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    if args.name is None:
        performance.show.say("\n".join(f"{name:<10} {axes.about}" for name, axes in shots.AXES.items()))
        return DONE
    shots.axes_of(args.name)
    settings = shots.AxesSettings(args.grid, args.levels, seconds=args.seconds, threads=args.threads)
    folder = Path(args.out)
    shots.check_makeable(folder.absolute())
    target = folder / f"axes_{args.name}.png"
    shots.write_axes(target, args.name, settings, performance.show.say)
    performance.show.say(f"wrote {target}")
    return DONE
