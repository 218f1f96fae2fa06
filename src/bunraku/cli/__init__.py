"""The command line: one module a command, each with `add(subparsers)` and `run(args)`.

Exit codes: 0 done, 1 a fault of bunraku, 2 bad input or an unwritable place, 3 stopped by physics with frames kept,
4 direction missed, or given up to a cap, under --strict, 130 interrupted; a take can be resumed.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from bunraku import __version__

from . import axes, bench, check, demo, figures, regions, run, swatches, view
from .voice import keep_descriptors

COMMANDS = (demo, run, view, check, regions, figures, swatches, axes, bench)

_ABOUT = "Direct physics: wrinkles, folds and follow-through that obey your animation."
_EXAMPLE = """\
examples:
  bunraku demo                     make and run the twisting box in ./demo
  bunraku run shot.toml            make the next take of a shot
  bunraku run shot.toml --resume   carry on where a run was interrupted
  bunraku view takes/shot          look at the latest take in the browser, or compare several
  bunraku check coat.obj           say what is wrong with a mesh, and mend it with --repair OUT
  bunraku regions shot.toml        show what a shot directs together
  bunraku swatches                 draw a swatch of every preset material
  bunraku axes bending             two knobs of a material against each other
  bunraku figures --list           comparisons with pictures and numbers: pointwise, averaged, coarse, fine

exit codes: 0 done, 1 a fault of bunraku, 2 bad input or an unwritable place, 3 stopped by physics with frames kept,
4 direction missed, or given up to a cap, under --strict, 130 interrupted; a take can be resumed
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code. Wrong arguments raise SystemExit(2), as argparse does."""
    keep_descriptors()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that lacks a letter must not stop a run
    parser = _parser()
    args = parser.parse_args(argv)
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    return args.run(args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bunraku", description=_ABOUT, epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"bunraku {__version__}")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands")
    for command in COMMANDS:
        command.add(subparsers)
    return parser
