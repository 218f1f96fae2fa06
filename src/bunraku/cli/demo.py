"""`bunraku demo`: a shot that needs no files of yours, written out and run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from bunraku import shots

from . import stages
from .command import Command
from .performance import DONE, Performance, add_options
from .run import resume_command, without_preview
from .viewing import Viewing, add_view, viewed

_FOLDER = "demo"
_ABOUT = """\
Write a demo's guide and shot file and run it. Without --out they go to ./demo, and each run makes the next
take in ./demo/takes; change the shot file there and run it with `bunraku run`.
"""
_EXAMPLE = """\
examples:
  bunraku demo                 the twisting box, in ./demo
  bunraku demo --view          watch it in the browser while it is made
  bunraku demo --list          which demos there are
  bunraku demo box --out look  everything in the folder ./look
  bunraku demo jelly           an elastic body with key shapes and a path
  bunraku demo twist           a motion planned from one key
  bunraku demo puppet          planned, steered, in a cape, in a skin: four stages in one file
  bunraku demo bag --mocap backflip.bvh   the bag driven by motion capture
"""


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = _ABOUT, _EXAMPLE
    parser.add_argument("name", nargs="?", default="box", metavar="NAME", help="which demo (default: box)")
    parser.add_argument("--list", action="store_true", help="list the demos and stop")
    parser.add_argument("--mocap", type=Path, metavar="FILE", help="a skeleton (BVH, glTF, USD) that drives a bag")
    parser.add_argument("--up-axis", choices=("Y", "Z"), help="which axis is up in that file, where it does not say")
    parser.add_argument("--out", metavar="FOLDER", help="make the take in this folder, new or empty")
    add_options(parser)
    add_view(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return viewed(args, _work)


def _work(args: argparse.Namespace, performance: Performance, viewing: Viewing) -> int:
    if args.list:
        performance.show.say("\n".join(f"{name:<14} {title}" for name, title in shots.demo_titles().items()))
        return DONE
    shots.check_demo(args.name)
    if args.out is None:
        return _work_in(args, Path(_FOLDER), performance, viewing, None)
    folder = Path(args.out)
    shots.check_free(folder)
    made = not folder.exists()
    shots.make_folder(folder)
    try:
        return _work_in(args, folder, performance, viewing, folder)
    except BaseException:
        _undo(folder, shots.demo_files(args.name, args.mocap), made)
        raise


def _work_in(
    args: argparse.Namespace, folder: Path, performance: Performance, viewing: Viewing, out: Path | None
) -> int:  # fmt: skip
    """Write the demo into a folder and make it. The takes of several shots always are in folders below it."""
    if args.name not in shots.STAGE_DEMOS:
        shot = shots.write_demo(args.name, folder, args.mocap, args.up_axis)
        return _make(args, shot, performance, viewing, out)
    found = shots.write_demo_stages(args.name, folder, args.mocap)
    performance.again = resume_command(str(found.source), None, None)
    code = stages.make(args, found, performance, viewing, out=None)
    _invite(found.source, performance)
    return code


def _make(
    args: argparse.Namespace, shot: shots.Shot, performance: Performance, viewing: Viewing, out: Path | None
) -> int:  # fmt: skip
    performance.again = resume_command(str(shot.source), str(out) if out else None, None)
    result = shots.run_shot(
        without_preview(shot, args.no_preview), out=out, threads=args.threads,
        progress=viewing.beside(performance.tell), beside=shots.demo_files(args.name, args.mocap) if out else (),
    )  # fmt: skip
    viewing.open(result.folder)
    code = performance.close(result, strict=args.strict)
    _invite(shot.source, performance)
    return code


def _invite(source: Path | None, performance: Performance) -> None:
    performance.show.say(f"\nChange {source} and run it again: {own_name()} run {source}")


def _undo(folder: Path, files: tuple[str, ...], made: bool) -> None:
    """Take back the files of a demo that could not begin."""
    takes = (folder / "provenance.json", *folder.glob("takes/*/*/provenance.json"))
    if not any(one.exists() for one in takes):
        for one in files:
            (folder / one).unlink(missing_ok=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def own_name() -> str:
    """How to call this program from here: by its name where that is found, else by its path."""
    if shutil.which("bunraku"):
        return "bunraku"
    program = Path(sys.argv[0])
    return os.path.relpath(program) if program.name.startswith("bunraku") else "python -m bunraku"
