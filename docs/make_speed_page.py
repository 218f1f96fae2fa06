"""Measures the scenes of the TRACKS paper and writes docs/speed.md: every figure on the page comes from one run.

.venv/bin/python docs/make_speed_page.py [--threads N] [--frames N]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bunraku.bench.tracks import COST, FRAMES, PROFILE, RUNS, SCENES, Column, Row, machine, measure

PAGE = Path(__file__).parent / "speed.md"

HEAD = """# Speed

The table of TRACKS §5.5 again: the same four scenes, tracked and untracked in one run, frame by frame in turn.
`bunraku bench tracks` prints these tables; this page is written by `docs/make_speed_page.py`, never by hand.

"""
COST_TEXT = """\
Medians a frame. *One step* takes a single Newton step a time step, as the paper did (`iterations = 1`); the other
columns run to convergence, which a shell that buckles makes many times dearer. *Untracked* has the same shell,
material, settings and start, and no test functions. It does something else (it falls), mostly something easier, so the
increase is not the price of the conditions; that is the last column: one Newton iteration with a factorisation of its
own, with and without conditions, from the same states.

"""
RUNS_TEXT = """
The two runs, each with iterations of its own. Iterations share factorisations where they can: a run with many
iterations a step has fewer factorisations an iteration, so its iterations are cheaper.

"""
PROFILE_TEXT = """
Where a step's time goes: *assemble* is the local blocks and their sum, *factor* the numeric factorisation, *solve*
triangular solves with their refinement, *energy* the line search's look at the energies, *gradient* Newton's.

"""


def markdown(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """A table with a row a scene."""
    lines = [[heading for heading, _ in columns], ["---"] * len(columns)]
    lines += [[cell(row) for _, cell in columns] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(rows: Sequence[Row], measured_on: str) -> str:
    """The text of the page."""
    return (
        HEAD + f"Measured on: {measured_on}.\n\n" + COST_TEXT + markdown(COST, rows) + RUNS_TEXT + markdown(RUNS, rows)
        + PROFILE_TEXT + markdown(PROFILE, rows)
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--frames", type=int, default=FRAMES)
    given = parser.parse_args()
    where = machine(given.threads)
    found = [measure(make(given.threads), given.frames) for make in SCENES.values()]
    PAGE.write_text(page(found, where), encoding="utf-8")
