"""`bunraku wedge SHOT.toml --vary KEY=A,B`: a shot in all combinations of some values, made at once."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bunraku import shots
from bunraku.contracts import InputError

from .command import Command
from .performance import BAD_INPUT, DONE, FAULT, INTERRUPTED, MISSED, STOPPED, Performance, positive
from .run import frame_range
from .shows import WAYS

_ABOUT = """\
Make a shot in all combinations of some values, on all cores or on a cluster, and look at them beside each other: an
ordinary take each, in takes/<shot>/wedge_v001, with a gallery (index.html: stills, films, a table to sort) and the
numbers as wedge.csv. What was made before of the same files and settings is not made again.

Values are as a shot file has them, with commas between them; texts need no quotes. With Dask (pip install
'bunraku[cluster]') a cluster of this machine's cores works, or with --address any other; without it, plain processes.
"""
_EXAMPLE = """\
examples:
  bunraku wedge coat.toml --vary object.coat.material.young=1e5,1e6 --vary object.coat.track.scale=0.04,0.08
  bunraku wedge coat.toml --vary object.coat.material=denim,silk --frames 1001-1040
  bunraku wedge coat.toml --vary physics.contact=true,false --address tcp://10.0.0.7:8786
  bunraku wedge coat.toml --resume      carry on the newest wedge of this shot
  bunraku view takes/coat/wedge_v001    look at its takes in the browser
"""
_SHOWN = ("residual_m", "force_N", "missed", "intersections", "seconds")
"""numbers of the table that a terminal has room for"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("shot", metavar="SHOT.toml", help="the shot file")
    parser.add_argument(
        "--vary", action="append", default=[], metavar="KEY=A,B,…",
        help="a key of the shot file and the values it takes; several: all combinations",
    )  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="carry on the newest wedge of these values, or of any")
    parser.add_argument("--frames", type=frame_range, metavar="A-B", help="only these frames, both included")
    parser.add_argument(
        "--most", type=positive, default=shots.MOST, metavar="N",
        help=f"how many combinations are not too many (default: {shots.MOST})",
    )  # fmt: skip
    parser.add_argument("--workers", type=positive, metavar="N", help="takes at a time (default: one a core)")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="of each take (default: 1)")
    add_address(parser)
    add_outcome(parser)
    parser.set_defaults(run=run)


def add_address(parser: argparse.ArgumentParser) -> None:
    """The option of commands that may work elsewhere."""
    parser.add_argument(
        "--address", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers see the same disk and bunraku"
    )


def add_outcome(parser: argparse.ArgumentParser) -> None:
    """How what is made is shown and judged."""
    parser.add_argument("--progress", choices=WAYS, help="a bar on a terminal, else plain lines, unless told here")
    parser.add_argument("--strict", action="store_true", help="exit with 4 where direction was missed, or yielded")
    parser.add_argument("--no-preview", action="store_true", help="make no films and no pictures")


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    performance = Performance(args.progress)
    return performance.perform(lambda one: _work(args, one))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    if args.address and args.workers:
        raise InputError("--workers is for this machine, and --address has workers of its own; try: one of the two")
    source = Path(args.shot)
    varied = shots.parse_varied(args.vary) if args.vary or not args.resume else shots.varied_before(source)
    settings = shots.WedgeSettings(source, varied, args.frames, args.threads, not args.no_preview, args.most)
    performance.again = _again(args)
    folders: list[Path] = []
    performance.standing = lambda: _standing(folders)

    def tell(event: shots.Event) -> None:
        if isinstance(event, shots.WedgeBegun):
            folders.append(event.folder)
        performance.tell(event)

    book = shots.run_wedge(settings, hire(args), resume=args.resume, progress=tell)
    code = _exit_code(book, strict=args.strict)
    _tell(book, code, performance)
    return code


def hire(args: argparse.Namespace) -> shots.Hire:
    """Whoever works: the scheduler that was named, else this machine's cores, with Dask where it is installed."""
    if args.address:
        if not shots.dask_is_there():
            raise InputError(f"--address needs Dask, which is not installed; try: {shots.INSTALL}")
        return lambda most: shots.dask_at(args.address)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    count = args.workers or max(cores // args.threads, 1)
    return lambda most: (shots.local_dask if shots.dask_is_there() else shots.local_crew)(
        min(count, most), args.threads
    )


def _again(args: argparse.Namespace) -> str:
    """The words that carry it on."""
    words = ["bunraku", "wedge", args.shot, "--resume"]
    words += [word for one in args.vary for word in ("--vary", one)]
    words += [f"--frames={args.frames[0]}-{args.frames[1]}"] if args.frames else []
    words += ["--address", args.address] if args.address else []
    words += ["--threads", str(args.threads)] if args.threads != 1 else []
    words += ["--most", str(args.most)] if args.most != shots.MOST else []
    return shlex.join(words)


def _standing(folders: Sequence[Path]) -> str:
    """How far a wedge has come."""
    if not folders:
        return ""
    book = shots.read_book(folders[0])
    done = sum(one.outcome == "finished" for one in book.entries)
    return f"{done} of {len(book.entries)} takes are finished in {book.folder}, the others keep their frames"


def _exit_code(book: shots.Book, *, strict: bool) -> int:
    """The worst of all takes'."""
    codes = {"fault": FAULT, "lost": FAULT, "refused": BAD_INPUT, "interrupted": INTERRUPTED, "stopped": STOPPED}
    found = {codes[one.outcome] for one in book.entries if one.outcome in codes}
    missed = {row.tone for row in shots.table_of(book).rows} & {"missed", "yielded"}
    order = (INTERRUPTED, FAULT, BAD_INPUT, STOPPED)
    return next((code for code in order if code in found), MISSED if strict and missed else DONE)


def _tell(book: shots.Book, code: int, performance: Performance) -> None:
    table = shots.table_of(book)
    takes: list[dict[str, Any]] = [
        {
            "take": row.entry.name, "folder": str(row.entry.folder), "outcome": row.entry.outcome,
            "verdict": row.verdict, "why": row.entry.why, "same_as": row.entry.like, "reused": row.entry.reused,
            "values": dict(row.entry.values),
            "numbers": {one.name: row.cells.get(one.name) for one in table.columns if not one.varied},
        }
        for row in table.rows
    ]  # fmt: skip
    finished = all(one.outcome == "finished" for one in book.entries)
    performance.show.end(
        {
            "event": "done", "exit_code": code, "outcome": "finished" if finished else "stopped",
            "folder": str(book.folder), "page": str(book.page), "takes": takes,
        }
    )  # fmt: skip
    performance.show.say("\n".join(_lines(table)))
    performance.show.say(f"\n{book.page}\n{book.table}\nlook at them in the browser: bunraku view {book.folder}")


def _lines(table: shots.WedgeTable) -> list[str]:
    """The table as a terminal shows it, and below it why takes are not there."""
    columns = [one for one in table.telling() if one.varied or one.name in _SHOWN]
    heads = ["take", *(one.heading for one in columns), "outcome"]
    rows = [
        [row.entry.name, *(shots.number_text(row.cells.get(one.name)) for one in columns), row.verdict]
        for row in table.rows
    ]
    wide = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True)) for row in (heads, *rows)]
    whys = [f"{row.entry.name}: {row.entry.why}" for row in table.rows if row.entry.why and not row.entry.like]
    return [line.rstrip() for line in lines] + (["", *whys] if whys else [])
