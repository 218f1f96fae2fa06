"""The same sheets in bunraku, in NVIDIA Newton (VBD, on the CPU) and in Blender's cloth, at equal error.

A tool is as fast as one lets it be wrong, so seconds are compared at equal error. Without self-collision both sheets
have a true answer (`sheets.py`): each tool climbs its ladder of settings until it is within a level of it, and the
settings found are those with self-collision too. The truth is the limit of bunraku's own runs for steps of no length
(of the draping sheet a fine run). That is fair to the others because it is theirs too: with 32 × 50 steps and
iterations Newton swings within 0.2 % of it, and with quality 320 Blender, half a cell accounted for
(`blender_sheet.py`), within 0.2 %. On the ball the three differ by 2 % at their finest, so only 5 % is asked there.

Where another tool is installed is said by BUNRAKU_NEWTON_PYTHON and BUNRAKU_BLENDER_PYTHON (default: this Python).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bunraku.bench.tracks import machine

from .ladder import LEVELS, Cell, Row, Rung, cell, cheapest, climb, details, first_rung, quickest, said_error, table
from .sheets import DRAPING_FRAMES, Order, Setting, Truth, draping, hanging, limit_of, sunk, swing
from .tools import Blender, Bunraku, Newton, NotRun, Peer, Result

SIDES = (40, 100)
"""vertices a side"""
_FINE = 16  # steps a frame of the coarser of the two runs that give the reference
_FEW = 2000  # vertices: beyond, scenes that only need a time are cut short, and are run at the first level only
_LIMIT, _SHORT = 75.0, 25.0  # [s] of a run that must come to its end, and of one that need not


def truth_of(side: int, threads: int | None = None) -> Truth:
    """What the sheets really do."""

    def made(order: Order) -> Result:
        return Bunraku().simulate(replace(order, threads=threads, limit=float("inf")))

    hung = [hanging(side, Setting(steps)) for steps in (_FINE, 2 * _FINE)]
    draped = draping(side, Setting(_FINE))
    return Truth(limit_of(*(swing(one.mesh, made(one).frames) for one in hung)), sunk(draped.mesh, made(draped).frames))


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
    truth = truth_of(min(sides), threads)
    yield (
        f"the hanging sheet passes below its pins after {truth.swing.quarter:.4f} s, its centre of mass "
        f"{truth.swing.sag:.4f} m below them; the draping one has sunk {truth.sunk:.4f} m after a quarter of a second"
    )
    rows: list[Row] = []
    start = dict.fromkeys((peer.name for peer in tools), 0)
    for side in sorted(sides):
        for scene in ("hanging", "draping"):
            asked = levels if scene == "hanging" else levels[:1]
            settings: dict[str, dict[float, Rung | None]] = {}
            for peer in tools:
                stage = Stage(scene, side, peer, threads)
                settings[peer.name] = yield from _climbed(stage, truth, asked, start[peer.name])
                if scene == "hanging":
                    start[peer.name] = max(start[peer.name], first_rung(peer, settings[peer.name]))
            rows += [Row(scene, side**2, False, one, _cells(tools, settings, one)) for one in asked]
            yield f"measuring {scene} {side**2} with self-collision"
            rows += yield from _touching(
                scene, side, tools, settings, truth, asked if side**2 < _FEW else asked[:1], threads
            )
    names = [peer.name for peer in tools]
    yield from ("", "medians a frame of 1/24 s; ratio: how many times as long as bunraku", *table(rows, names))
    yield from ("", *details(rows, names))


@dataclass(frozen=True)
class Stage:
    """A scene for a tool, without its setting."""

    scene: str
    side: int
    peer: Peer
    threads: int | None

    def order(self, setting: Setting) -> Order:
        """To be carried out until the error is known, and a little longer where that is cheap."""
        made = hanging(self.side, setting)
        if self.scene == "draping":
            made = draping(self.side, setting, (2 if self.side**2 < _FEW else 1) * DRAPING_FRAMES)
        return replace(made, threads=self.threads, limit=_LIMIT)

    def touching(self, setting: Setting) -> Order:
        """With self-collision; large sheets only as long as a time needs, when they are not yet fast."""
        made = replace(self.order(setting), self_collision=True, limit=_SHORT)
        long = self.scene == "hanging" and self.side**2 >= _FEW
        return replace(made, frames=4, fastest=3.0) if long else made


def _climbed(
    stage: Stage, truth: Truth, levels: Sequence[float], start: int
) -> Generator[str, None, dict[float, Rung | None]]:
    """The settings a tool needs; tells what it sees on the way."""
    rungs: list[Rung] = []
    try:
        for one in climb(stage.peer, stage.order, truth, levels, start):
            rungs.append(one)
            head = f"{stage.scene} {stage.side**2}, {stage.peer.name} {stage.peer.label(one.setting)}"
            yield f"{head}: {said_error(one.error)}, {one.frame:.3f} s a frame"
    except NotRun as wrong:
        yield f"skipped {wrong}"
    return cheapest(rungs, levels)


def _cells(
    tools: Sequence[Peer], settings: Mapping[str, Mapping[float, Rung | None]], level: float
) -> dict[str, Cell | None]:
    """What was measured while climbing."""
    cells: dict[str, Cell | None] = {}
    for peer in tools:
        one = settings[peer.name][level]
        cells[peer.name] = None if one is None else Cell(peer.label(one.setting), one.frame, one.error)
    return cells


def _touching(
    scene: str, side: int, tools: Sequence[Peer], settings: Mapping[str, Mapping[float, Rung | None]], truth: Truth,
    levels: Sequence[float], threads: int | None,
) -> Generator[str, None, list[Row]]:  # fmt: skip
    """A scene with self-collision at every level; a setting that serves two levels is run once."""
    done: dict[tuple[str, Setting], Cell | None] = {}
    for level in levels:
        for peer in tools:
            one = settings[peer.name][level]
            if one is None or (peer.name, one.setting) in done:
                continue
            try:
                order = Stage(scene, side, peer, threads).touching(one.setting)
                done[peer.name, one.setting] = cell(peer, order, truth)
            except NotRun as wrong:
                yield f"skipped {wrong}"
                done[peer.name, one.setting] = None
    rows = []
    for level in levels:
        cells: dict[str, Cell | None] = {}
        for peer in tools:
            serving = [settings[peer.name][one] for one in levels if one <= level]
            cells[peer.name] = quickest([done[peer.name, one.setting] for one in serving if one is not None])
        rows.append(Row(scene, side**2, True, level, cells))
    return rows
