"""`bunraku view TAKE…`: look at takes in the browser."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from bunraku import shots, studio
from bunraku.contracts import InputError

from .command import Command
from .performance import DONE, Performance
from .viewing import show_page, wait_for_ctrl_c
from .voice import OUTPUT

_ABOUT = """\
Look at takes in the browser: finished, interrupted, or while a run in another terminal still makes them. Several are
compared side by side. Nothing leaves this machine, and nothing is written. Ctrl-C ends it.
"""
_EXAMPLE = """\
examples:
  bunraku view takes/box                            the newest take of a shot
  bunraku view takes/box/v001 takes/box/v002        two takes side by side
  bunraku view takes/box/wedge_v001                 the takes of a wedge
  bunraku view takes/box/latest --no-open           print the page's address, open nothing
"""
_MOST = 16  # takes at once


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument(
        "takes", metavar="TAKE", nargs="+", help="a take's folder, a shot's: its newest take, or a wedge's: all of them"
    )
    add_serving(parser)
    parser.set_defaults(run=run)


def add_serving(parser: argparse.ArgumentParser) -> None:
    """The options of every command that serves a page until Ctrl-C."""
    parser.add_argument("--no-open", action="store_true", help="print the page's address, open nothing")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="where to serve it (default: any free port)")


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda _: _work(args))


def _work(args: argparse.Namespace) -> int:
    takes = _opened(args.takes)
    with suppress(KeyboardInterrupt), studio.serving(studio.StudioServer(takes, args.port)) as server:
        print(server.address, file=OUTPUT, flush=True)
        if not args.no_open:
            show_page(server.address)
        wait_for_ctrl_c()
    return DONE


def _opened(names: list[str]) -> list[shots.ReviewedTake]:
    """All takes, or everything that is wrong with them at once."""
    names = [one for name in names for one in _takes_in(name)]
    if len(names) > _MOST:
        raise InputError(f"too many takes at once (got {len(names)}; allowed: up to {_MOST})")
    found, wrong = [], []
    for name in names:
        try:
            found.append(shots.open_take(name))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    return found


def _takes_in(name: str) -> list[str]:
    """The takes of a wedge; anything else is its own."""
    if not shots.is_wedge(Path(name)):
        return [name]
    there = [str(one) for one in shots.find_wedge_takes(Path(name))]
    if len(there) > _MOST:
        more = f"the first {_MOST} of {len(there)} takes; all of them: {Path(name) / 'index.html'}"
        print(more, file=OUTPUT, flush=True)
    return there[:_MOST]


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; allowed: 1 to 65535, or 0 for any")
    return int(text)
