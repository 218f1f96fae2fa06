"""The command line: one module a command, each with `add(parser)` and `run(args)`, loaded when it is the one asked for.

Exit codes: 0 done, 1 a fault of bunraku, 2 bad input or an unwritable place, 3 stopped by physics with frames kept,
4 direction missed, or given up to a cap, under --strict, 130 interrupted; a take can be resumed.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from bunraku import __version__

from .command import Command
from .signals import ignore_signals, signals_kept
from .voice import keep_descriptors

COMMANDS = {
    "demo": "make and run a demo",
    "run": "make a take of a shot",
    "wedge": "make a shot in all combinations of some values",
    "farm": "make a shot on a cluster",
    "view": "look at takes in the browser",
    "direct": "change a shot and make takes of it, in the browser",
    "check": "say what is wrong with a mesh, and mend it",
    "regions": "show the regions a shot directs",
    "figures": "comparisons with pictures and numbers",
    "swatches": "draw a swatch of every preset",
    "axes": "two knobs of a material on one sheet",
    "bench": "measure and print a table",
}
"""name, which is also its module's: what it does"""

_ABOUT = "Direct physics: wrinkles, folds and follow-through that obey your animation."
_EXAMPLE = """\
examples:
  bunraku demo                     make and run the twisting box in ./demo
  bunraku run shot.toml            make the next take of a shot
  bunraku run shot.toml --resume   carry on where a run was interrupted
  bunraku wedge shot.toml --vary object.coat.material.young=1e5,1e6
                                   make a shot with each of these values, and a gallery of them
  bunraku view takes/shot          look at the latest take in the browser, or compare several
  bunraku direct shot.toml         change a shot and run it, in the browser
  bunraku check coat.obj           say what is wrong with a mesh, and mend it with --repair OUT
  bunraku regions shot.toml        show what a shot directs together
  bunraku swatches                 draw a swatch of every preset material
  bunraku axes bending             two knobs of a material against each other
  bunraku figures --list           comparisons with pictures and numbers: pointwise, averaged, coarse, fine

exit codes: 0 done, 1 a fault of bunraku, 2 bad input or an unwritable place, 3 stopped by physics with frames kept,
4 direction missed, or given up to a cap, under --strict, 130 interrupted; a take can be resumed
"""


def program() -> int:
    """`bunraku` as a process of its own: once the exit code is known, no signal changes it."""
    code = _command(None)
    ignore_signals()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code. Wrong arguments raise SystemExit(2), as argparse does."""
    with signals_kept():
        return _command(argv)


def _command(argv: Sequence[str] | None) -> int:
    keep_descriptors()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that lacks a letter must not stop a run
    words = sys.argv[1:] if argv is None else argv
    parser = _parser(next((word for word in words if not word.startswith("-")), None))
    args = parser.parse_args(words)
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    return args.run(args)


def _parser(asked_for: str | None) -> argparse.ArgumentParser:
    """All commands by name; only the one that is asked for says what it takes, for that loads what it works with."""
    parser = argparse.ArgumentParser(
        prog="bunraku", description=_ABOUT, epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"bunraku {__version__}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands", parser_class=Command)
    for name, about in COMMANDS.items():
        command = subparsers.add_parser(name, help=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == asked_for:
            import_module(f".{name}", __name__).add(command)
    return parser
