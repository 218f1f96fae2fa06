"""The cheapest setting of a tool that gets an error below a level, and what the same setting costs elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.geometry import intersecting_faces

from .sheets import DRAPING_FRAMES, HANGING_FRAMES, Order, Setting, Truth, sunk, swing
from .tools import Peer, Result

LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Rung:
    """A setting as measured."""

    setting: Setting
    error: float
    """infinite when a hanging sheet never passed below its pins, or any went astray; not a number when its time was up
    before"""
    frame: float
    """[s]"""


@dataclass(frozen=True)
class Cell:
    """What a tool did in a row of the table."""

    setting: str
    frame: float
    """[s]"""
    error: float | None = None
    """None where the run was cut short"""
    crossing: int = 0
    """faces of the last frame that cross another"""


@dataclass(frozen=True)
class Row:
    """A scene at a level of error."""

    scene: str
    vertices: int
    self_collision: bool
    level: float
    cells: Mapping[str, Cell | None]
    """by tool; None: it has not reached the level, or is not there"""

    def ratio(self, name: str, against: str = "bunraku") -> float | None:
        """How many times as long as `against` a tool takes a frame."""
        one, other = self.cells.get(name), self.cells.get(against)
        return None if one is None or other is None else one.frame / other.frame


def rung(peer: Peer, order: Order, truth: Truth) -> Rung:
    """One setting."""
    made = peer.simulate(order)
    error = deviation(peer, order, truth, made)
    return Rung(order.setting, float("nan") if error is None else error, made.frame)


def deviation(peer: Peer, order: Order, truth: Truth, made: Result) -> float | None:
    """The error of a sheet; None where it was not given, or has not had, the time to show it. Infinite when it goes
    astray."""
    if not np.isfinite(made.frames).all():
        return float("inf")
    if order.ball is not None:
        if len(made.seconds) < DRAPING_FRAMES:
            return None
        return abs(sunk(order.mesh, made.frames) / truth.sunk - 1.0)
    found = swing(order.mesh, made.frames, order.rate)
    if len(made.seconds) < HANGING_FRAMES and not np.isfinite(found.quarter):
        return None
    return found.error(peer.expected(truth.swing, order))


def climb(
    peer: Peer, make: Callable[[Setting], Order], truth: Truth, levels: Sequence[float] = LEVELS, start: int = 0
) -> Iterator[Rung]:
    """The settings of the ladder from rung `start` on, up to the first below all levels. Gives up at a setting that is
    too slow to come to its end: those after it are slower."""
    for setting in peer.ladder[start:]:
        one = rung(peer, make(setting), truth)
        yield one
        if np.isnan(one.error) or one.error <= min(levels):
            break


def cheapest(rungs: Sequence[Rung], levels: Sequence[float] = LEVELS) -> dict[float, Rung | None]:
    """For each level the first setting below it."""
    return {level: next((one for one in rungs if one.error <= level), None) for level in levels}


def first_rung(peer: Peer, found: Mapping[float, Rung | None]) -> int:
    """Where a finer mesh may begin: at the cheapest setting a coarser one got through with."""
    reached = [peer.ladder.index(one.setting) for one in found.values() if one is not None]
    return min(reached, default=0)


def quickest(cells: Sequence[Cell | None]) -> Cell | None:
    """What is within a lower level serves a higher one too, and may be quicker there: contact can be the easier for
    shorter steps."""
    return min((one for one in cells if one is not None), key=lambda one: one.frame, default=None)


def cell(peer: Peer, order: Order, truth: Truth) -> Cell:
    """An order carried out, whatever its scene."""
    made = peer.simulate(order)
    crossing = int(intersecting_faces(np.ascontiguousarray(made.frames[-1]), order.mesh.faces).sum())
    return Cell(peer.label(order.setting), made.frame, deviation(peer, order, truth, made), crossing)


def table(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """The lines people read: per tool its setting, seconds a frame, and after bunraku's the ratio to it."""
    others = [name for name in names if name != "bunraku"]
    head = f"{'scene':<10}{'vertices':>9}{'self':>6}{'error':>8}" + f"{'bunraku':>12}{'s/frame':>9}"
    lines = [head + "".join(f"{name:>14}{'s/frame':>9}{'ratio':>8}" for name in others)]
    for row in rows:
        line = f"{row.scene:<10}{row.vertices:>9}{'yes' if row.self_collision else 'no':>6}"
        line += f"{f'≤ {100 * row.level:g} %':>8}{_said(row.cells.get('bunraku'), 12)}"
        for name in others:
            ratio = row.ratio(name)
            line += f"{_said(row.cells.get(name), 14)}{'-' if ratio is None else f'{ratio:.2f}':>8}"
        lines.append(line)
    return lines


def _said(one: Cell | None, width: int) -> str:
    return f"{'not reached':>{width}}{'-':>9}" if one is None else f"{one.setting:>{width}}{one.frame:>9.3f}"


def said_error(error: float) -> str:
    """In words."""
    if np.isnan(error):
        return "too slow to come to its end"
    return f"error {100 * error:.1f} %" if np.isfinite(error) else "never passes below its pins, or goes astray"


def details(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """What else was seen in each row: errors measured there, and faces that cross."""
    lines = []
    for row in rows:
        told = []
        for name in names:
            one = row.cells.get(name)
            if one is None:
                continue
            parts = [] if one.error is None else [said_error(one.error)]
            parts += [f"{one.crossing} faces cross"] if one.crossing else []
            told.append(f"{name}: {', '.join(parts) or '-'}")
        own = "with" if row.self_collision else "without"
        head = f"{row.scene} {row.vertices} {own} self-collision, ≤ {100 * row.level:g} %"
        lines.append(f"{head}: {'; '.join(told)}")
    return lines
