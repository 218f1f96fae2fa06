"""`bunraku direct SHOT.toml`: change a shot and make takes of it, in the browser."""

from __future__ import annotations

import argparse
from contextlib import suppress

from bunraku import shots, studio

from .command import Command
from .performance import DONE, Performance, add_threads
from .view import add_serving
from .viewing import show_page, wait_for_ctrl_c
from .voice import OUTPUT

_ABOUT = """\
Direct a shot in the browser: turn its knobs, key them, run it, and look at its takes. What is changed there is written
to the shot file at once, and nowhere else; comments stay. Nothing leaves this machine. Ctrl-C ends it, and asks a run
that goes on to stop; its take can be resumed.
"""
_EXAMPLE = """\
examples:
  bunraku direct box.toml                 the shot, beside its newest take
  bunraku direct box.toml --no-open       print the page's address, open nothing
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file, which is changed")
    add_serving(parser)
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda _: _work(args))


def _work(args: argparse.Namespace) -> int:
    shot = shots.EditedShot(args.shot)
    server = studio.StudioServer(shot.newest_takes(), args.port, shot=shot, threads=args.threads, ahead=True)
    with suppress(KeyboardInterrupt), studio.serving(server):
        print(server.address, file=OUTPUT, flush=True)
        if not args.no_open:
            show_page(server.address)
        wait_for_ctrl_c()
    return DONE
