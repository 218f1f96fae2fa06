"""`bunraku bench [NAME]`: the measured tables."""

from __future__ import annotations

import argparse
from typing import Any

from bunraku.bench import BENCHES

from .performance import DONE, Performance, add_threads

_EXAMPLE = """\
examples:
  bunraku bench step        what one Newton iteration costs at 1.6k, 3k, 10k and 50k vertices (about two minutes)
  bunraku bench tracks      the paper's scenes, tracked and untracked (about three minutes)
  bunraku bench peers       the same sheets in NVIDIA Newton and in Blender (about ten minutes)

Timings are noisy: close other programs, and trust the ratios, which are measured in one run.
"""


def add(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "bench", help="measure and print a table", description="Measure and print a table; without a name, list them.",
        epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", nargs="?", choices=sorted(BENCHES), help="which table")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    if args.name is None:
        performance.show.say("\n".join(f"{name:<10} {about}" for name, (about, _) in BENCHES.items()))
        return DONE
    for line in BENCHES[args.name][1](threads=args.threads):
        performance.show.say(line)
    return DONE
