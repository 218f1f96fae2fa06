"""`bunraku bench [NAME]`: the measured tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from bunraku.bench import BENCHES
from bunraku.contracts import input_error

from .command import Command
from .performance import DONE, Performance, add_threads

_EXAMPLE = """\
examples:
  bunraku bench step        what one Newton iteration costs at 1.6k, 3k, 10k and 50k vertices (about two minutes)
  bunraku bench steer       frames a second of a steered body, and a step of it by size (about two minutes)
  bunraku bench plan        planned motions beside the paper's figures, edits, playing (about five minutes)
  bunraku bench tracks      the paper's scenes, tracked and untracked (about three minutes)
  bunraku bench peers       the same sheets in NVIDIA Newton and in Blender (about ten minutes)
  bunraku bench wavelength --thickness 0.001 --ratio 100 --out slab.usdc
                            one slab under a skin, pressed until it wrinkles: how long its waves are, and its skin
                            (about half a minute; the whole table about five)
  bunraku bench wavelength --dense
                            beside slabs of solid elements, skin and foundation (about five minutes)
  bunraku bench coupling    a bent bar: local against spectral coupling, linear against smooth cells (three minutes)
  bunraku bench tangents    how stiff a wrinkled skin is, taken along and in balance (about a minute)
  bunraku bench statics     ways to find the balance of a skin, ours and the thesis's (about two minutes)

Timings are noisy: close other programs, and trust the ratios, which are measured in one run.
"""
_OF_SLABS = ("thickness", "ratio", "pressed", "out", "poisson", "dense")


def add(parser: Command) -> None:
    """Say what the command takes."""
    parser.description, parser.epilog = "Measure and print a table; without a name, list them.", _EXAMPLE
    parser.add_argument("name", nargs="?", choices=sorted(BENCHES), help="which table")
    parser.add_argument("--list", action="store_true", help="list the tables and stop")
    slab = parser.add_argument_group("one slab of 'wavelength', instead of its table")
    slab.add_argument("--thickness", type=float, metavar="METRES", help="of its skin (0.001)")
    slab.add_argument("--ratio", type=float, help="Young's modulus of the skin over that of the interior (100)")
    slab.add_argument("--pressed", type=float, help="how far, over the strain at which it should buckle (2)")
    slab.add_argument("--out", type=Path, metavar="FILE", help="write its skin, uncompressed to compressed")
    parser.add_argument("--poisson", type=float, help="of 'wavelength': Poisson's ratio of skin and interior (0.3)")
    parser.add_argument(
        "--dense", action="store_const", const=True, help="of 'wavelength': beside slabs of solid elements"
    )
    add_threads(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    return Performance("plain").perform(lambda performance: _work(args, performance))


def _work(args: argparse.Namespace, performance: Performance) -> int:
    given = {name: getattr(args, name) for name in _OF_SLABS if getattr(args, name) is not None}
    if given and args.name != "wavelength":
        raise input_error(
            f"--{next(iter(given))} is for 'wavelength'", where=f"bench {args.name or ''}".strip(),
            remedy="bunraku bench wavelength, or leave it out",
        )  # fmt: skip
    if args.name is None or args.list:
        performance.show.say("\n".join(f"{name:<10} {about}" for name, (about, _) in BENCHES.items()))
        return DONE
    for line in BENCHES[args.name][1](threads=args.threads, **given):
        performance.show.say(line)
    return DONE
