"""The same sheets in bunraku, in NVIDIA Newton (VBD, on the CPU) and in Blender's cloth, at equal error.

A tool is as fast as one lets it be wrong, so seconds are compared at equal error. The hanging sheet without
self-collision has a true answer (`sheets.py`): each tool climbs its ladder of settings until swing and sag are within
a level of it, and the settings found are those of all other rows. The truth is the limit of bunraku's own runs for
steps of no length. That is fair to the others because it is theirs too: with 32 × 50 steps and iterations Newton comes
within 0.2 % of it, and with quality 320 Blender, half a cell accounted for (`blender_sheet.py`), within 0.2 %.

Where another tool is installed is said by BUNRAKU_NEWTON_PYTHON and BUNRAKU_BLENDER_PYTHON (default: this Python).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bunraku.bench.tracks import machine

from .ladder import LEVELS, Cell, Row, Rung, cell, cheapest, climb, details, first_rung, quickest, said_error, table
from .sheets import Order, Setting, Swing, draping, hanging, limit_of, swing
from .tools import Blender, Bunraku, Newton, NotRun, Peer

SIDES = (40, 100)
"""vertices a side"""
_FINE = 16  # steps a frame of the coarser of the two runs that give the reference
_FEW = 2000  # vertices: beyond, scenes that only need a time are cut short, and are run at the first level only
_LIMIT, _SHORT = 60.0, 25.0  # [s] of a run that must come to its end, and of one that need not


@dataclass(frozen=True)
class Entry:
    """A scene without its setting."""

    scene: str
    self_collision: bool
    make: Callable[[int, Setting], Order]


def _scenes() -> tuple[Entry, ...]:
    """Those that take over the settings found on the hanging sheet."""

    def hung(side: int, setting: Setting) -> Order:
        full = hanging(side, setting)
        return full if side**2 < _FEW else replace(full, frames=4, fastest=3.0)  # it is not faster that early

    def draped(side: int, setting: Setting) -> Order:
        return draping(side, setting, 12 if side**2 < _FEW else 6)

    return Entry("hanging", True, hung), Entry("draping", False, draped), Entry("draping", True, draped)


def truth(side: int, threads: int | None = None) -> Swing:
    """What the hanging sheet really does."""
    found = []
    for steps in (_FINE, 2 * _FINE):
        order = replace(hanging(side, Setting(steps)), threads=threads, limit=float("inf"))
        found.append(swing(order.mesh, Bunraku().simulate(order).frames))
    return limit_of(*found)


def present(peers: Sequence[Peer]) -> Iterator[tuple[Peer, str, bool]]:
    """Each tool with its version, or with why it is left out."""
    for peer in peers:
        try:
            yield peer, peer.simulate(hanging(4, peer.ladder[0], 1)).version, True
        except NotRun as wrong:
            yield peer, str(wrong), False


def run(
    sides: Sequence[int] = SIDES, *, threads: int | None = None, peers: Sequence[Peer] | None = None,
    levels: Sequence[float] = LEVELS,
) -> Iterator[str]:  # fmt: skip
    """Measure and print as it goes."""
    yield machine(threads)
    tools: list[Peer] = []
    for peer, said, there in present((Bunraku(), Newton(), Blender()) if peers is None else peers):
        yield said if there else f"skipped {said}"
        tools += [peer] if there else []
    reference = truth(min(sides), threads)
    yield (
        f"the hanging sheet passes below its pins after {reference.quarter:.4f} s, its centre of mass "
        f"{reference.sag:.4f} m below them"
    )
    rows: list[Row] = []
    start = dict.fromkeys((peer.name for peer in tools), 0)
    for side in sorted(sides):
        settings = {}
        for peer in tools:
            rungs: list[Rung] = []
            try:
                for one in _climbing(peer, side, reference, levels, start[peer.name], threads):
                    rungs.append(one)
                    head = f"hanging {side**2}, {peer.name} {peer.label(one.setting)}"
                    yield f"{head}: {said_error(one.error)}, {one.frame:.3f} s a frame"
            except NotRun as wrong:
                yield f"skipped {wrong}"
            settings[peer.name] = cheapest(rungs, levels)
            start[peer.name] = first_rung(peer, settings[peer.name])
        for level in levels:
            cells = {name: _cell(found[level], tools, name) for name, found in settings.items()}
            rows.append(Row("hanging", side**2, False, level, cells))
        for entry in _scenes():
            yield f"measuring {entry.scene} {side**2} {'with' if entry.self_collision else 'without'} self-collision"
            rows += _rows(entry, side, tools, settings, reference, levels if side**2 < _FEW else levels[:1], threads)
    names = [peer.name for peer in tools]
    yield from ("", "medians a frame of 1/24 s; ratio: how many times as long as bunraku", *table(rows, names))
    yield from ("", *details(rows, names))


def _climbing(
    peer: Peer, side: int, reference: Swing, levels: Sequence[float], start: int, threads: int | None
) -> Iterator[Rung]:
    """A tool's settings on the hanging sheet."""

    def make(setting: Setting) -> Order:
        return replace(hanging(side, setting), threads=threads, limit=_LIMIT)

    yield from climb(peer, make, reference, levels, start)


def _cell(one: Rung | None, tools: Sequence[Peer], name: str) -> Cell | None:
    label = next(peer for peer in tools if peer.name == name).label
    return None if one is None else Cell(label(one.setting), one.frame, one.error)


def _rows(
    entry: Entry, side: int, tools: Sequence[Peer], settings: dict[str, dict[float, Rung | None]], reference: Swing,
    levels: Sequence[float], threads: int | None,
) -> list[Row]:  # fmt: skip
    """A scene at every level; a setting that serves two levels is run once."""
    done: dict[tuple[str, Setting], Cell | None] = {}
    for level in levels:
        for peer in tools:
            one = settings[peer.name][level]
            if one is None or (peer.name, one.setting) in done:
                continue
            order = replace(
                entry.make(side, one.setting), self_collision=entry.self_collision, threads=threads, limit=_SHORT
            )
            try:
                done[peer.name, one.setting] = cell(peer, order, reference)
            except NotRun:
                done[peer.name, one.setting] = None
    rows = []
    for level in levels:
        cells: dict[str, Cell | None] = {}
        for peer in tools:
            serving = [settings[peer.name][one] for one in levels if one <= level]
            cells[peer.name] = quickest([done[peer.name, one.setting] for one in serving if one is not None])
        rows.append(Row(entry.scene, side**2, entry.self_collision, level, cells))
    return rows
