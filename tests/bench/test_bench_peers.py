"""The comparison with other tools: its arithmetic, its ladder, and what becomes of a tool that is not there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.bench import peers
from bunraku.bench.peers import ladder, sheets, tools
from bunraku.bench.peers.sheets import Order, Setting, Swing
from bunraku.bench.step import sheet


@pytest.mark.parametrize("order", [sheets.hanging(5, Setting(4, 3)), sheets.draping(5, Setting(2), 7)])
def test_an_order_survives_the_way_to_another_process(order: Order) -> None:
    told = replace(order, self_collision=True, threads=2, out="frames.npy")
    assert Order.from_json(told.to_json()) == told
    assert (told.mesh.rest == sheet(5).rest).all() and (told.mesh.faces == sheet(5).faces).all()


def test_the_hanging_sheet_is_held_at_one_edge() -> None:
    order = sheets.hanging(4, Setting(1))
    assert (order.mesh.rest[order.pins][:, 0] == 0.0).all() and len(order.pins) == 4


def test_swing_and_sag_of_a_stiff_pendulum() -> None:
    """Turned by 30° a frame it hangs straight on the third; its centre is then half its length below."""
    mesh, frames = sheet(5), []
    for k in range(5):
        angle = k * np.pi / 6
        x = mesh.rest[:, 0]
        frames.append(np.stack([x * np.cos(angle), -x * np.sin(angle), mesh.rest[:, 2]], axis=1))
    found = sheets.swing(mesh, np.array(frames), rate=10.0)
    assert (found.quarter, found.sag) == pytest.approx((0.3, 0.5), rel=1e-12)
    never = sheets.swing(mesh, np.array(frames[:3]))
    assert never.quarter == np.inf and never.error(found) == np.inf


def test_between_two_frames_the_centre_goes_straight() -> None:
    """From x = 0.5 to −1.5 and down by 4: a quarter of the way."""
    mesh = sheet(4)
    frames = np.stack([mesh.rest, mesh.rest + [-2.0, -4.0, 0.0]])
    found = sheets.swing(mesh, frames, rate=1.0)
    assert (found.quarter, found.sag) == pytest.approx((0.25, 1.0), rel=1e-12)
    assert sheets.sunk(mesh, frames) == pytest.approx(4.0, rel=1e-12)


def test_the_error_is_the_larger_of_two() -> None:
    assert Swing(1.02, 0.5).error(Swing(1.0, 0.5)) == pytest.approx(0.02)
    assert Swing(1.02, 0.45).error(Swing(1.0, 0.5)) == pytest.approx(0.1)


def test_the_limit_is_exact_where_the_error_is_the_step() -> None:
    found = sheets.limit_of(Swing(3.0 + 0.2, 1.0 - 0.1), Swing(3.0 + 0.1, 1.0 - 0.05))
    assert (found.quarter, found.sag) == pytest.approx((3.0, 1.0), rel=1e-15)


def test_bunraku_falls_as_it_should() -> None:
    """Implicit Euler: after k steps of dt, g dt² k (k + 1) / 2."""
    order = replace(sheets.hanging(4, Setting(3), 4), pins=[], threads=1)
    assert sheets.sunk(order.mesh, tools.Bunraku().simulate(order).frames) == pytest.approx(_fallen(order), rel=1e-9)


def test_bunrakus_material_is_that_of_the_order() -> None:
    order = sheets.hanging(4, Setting(1))
    made = tools.material(order)
    assert made.areal_mass == pytest.approx(order.cloth.weight, rel=1e-12)
    assert isinstance(made.young, float) and isinstance(made.bend_scale, float)
    assert made.young * made.thickness == pytest.approx(order.cloth.stretching, rel=1e-12)
    solid = made.young * made.thickness**3 / 12.0 / (1.0 - made.poisson**2)
    assert solid * made.bend_scale == pytest.approx(order.cloth.bending, rel=1e-12)


def test_a_sheet_whose_vertices_weigh_alike_swings_as_half_a_cell_longer() -> None:
    """A quarter of a swing takes a time that goes with the root of Σ m x² / Σ m x, which is 2/3 of an even sheet."""
    order, true = sheets.hanging(9, Setting(1)), Swing(0.6, 0.5)
    x = order.mesh.rest[:, 0]
    wanted = 0.6 * np.sqrt(np.sum(x**2) / np.sum(x) / (2.0 / 3.0))
    found = tools.Blender().expected(true, order)
    assert (found.quarter, found.sag) == pytest.approx((wanted, 0.5), rel=1e-12)


def _fallen(order: Order) -> float:
    steps = order.frames * order.setting.substeps
    return order.gravity * (order.frames / order.rate) ** 2 * (1.0 + 1.0 / steps) / 2.0


@dataclass(frozen=True)
class Rod:
    """A stiff sheet whose swing is late by 1/8 of a frame over its substeps, and which can be too slow."""

    name: str = "Rod"
    ladder: Sequence[Setting] = tuple(Setting(n) for n in (1, 2, 4, 8))
    slow: int = 100
    asked: list[int] = field(default_factory=list)
    touching: list[tuple[bool, bool]] = field(default_factory=list)
    """a ball, self-collision"""

    def label(self, setting: Setting) -> str:
        return f"rod {setting.substeps}"

    def expected(self, reference: Swing, order: Order) -> Swing:
        return reference

    def simulate(self, order: Order) -> tools.Result:
        self.asked.append(order.setting.substeps)
        self.touching.append((order.ball is not None, order.self_collision))
        done = order.frames if order.setting.substeps < self.slow else 2
        x, late = order.mesh.rest, 0.125 / order.setting.substeps
        frames = [x - [0.5 * min(k / (10.0 + late), 2.0), 0.05 * k / (1.0 + 0.1 * late), 0.0] for k in range(done + 1)]
        return tools.Result(np.array(frames), np.full(done, 0.1 * order.setting.substeps), "Rod 1")


REFERENCE = sheets.Truth(Swing(10.0 / sheets.RATE, 0.5), 0.3)


def _found(rod: Rod, levels: Sequence[float], start: int = 0) -> dict[float, ladder.Rung | None]:
    rungs = ladder.climb(rod, lambda setting: sheets.hanging(4, setting), REFERENCE, levels, start)
    return ladder.cheapest(list(rungs), levels)


def test_the_cheapest_setting_below_each_level_is_found() -> None:
    rod = Rod()
    found = _found(rod, (0.01, 0.004))
    rungs = {level: one and (one.setting.substeps, round(one.frame, 12)) for level, one in found.items()}
    assert rungs == {0.01: (2, 0.2), 0.004: (4, 0.4)}
    assert rod.asked == [1, 2, 4]  # no further than needed
    errors = [one.error for one in found.values() if one]
    assert errors == pytest.approx([0.125 / 20, 0.125 / 40], rel=0.02)
    assert ladder.first_rung(rod, found) == 1
    rod.asked.clear()
    _found(rod, (0.01,), start=2)
    assert rod.asked == [4]


def test_a_ladder_ends_where_a_run_does_not_come_to_its_end() -> None:
    rod = Rod(slow=2)
    found = _found(rod, (0.02, 0.004))
    assert rod.asked == [1, 2]
    assert found[0.004] is None and found[0.02] is not None
    assert ladder.first_rung(rod, dict.fromkeys((0.1,))) == 0


def test_ratios_and_what_was_not_reached() -> None:
    cells = {
        "bunraku": ladder.Cell("2 steps", 0.2, 0.01),
        "Rod": ladder.Cell("rod 1", 0.5, 0.02, crossing=3),
        "No": None,
    }
    row = ladder.Row("hanging", 1600, True, 0.05, cells)
    assert row.ratio("Rod") == pytest.approx(2.5) and row.ratio("No") is None and row.ratio("absent") is None
    head, line = ladder.table([row], ["bunraku", "Rod", "No"])
    assert line.split() == [
        "hanging", "1600", "yes", "≤", "5", "%", "2", "steps", "0.200", "rod", "1", "0.500", "2.50", "not", "reached",
        "-", "-",
    ]  # fmt: skip
    assert len(head) == len(line)
    (said,) = ladder.details([row], ["bunraku", "Rod", "No"])
    assert said.endswith("bunraku: error 1.0 %; Rod: error 2.0 %, 3 faces cross")


def test_a_finer_setting_that_is_quicker_serves_too() -> None:
    slow, quick = both = (ladder.Cell("2", 0.5), ladder.Cell("4", 0.25))
    assert ladder.quickest([*both, None]) is quick and ladder.quickest([slow]) is slow
    assert ladder.quickest([None]) is None and ladder.quickest([]) is None


def test_a_run_cut_short_claims_no_error() -> None:
    rod = Rod()
    whole, short = (sheets.hanging(4, Setting(1), frames) for frames in (13, 4))
    assert ladder.cell(rod, whole, REFERENCE).error == pytest.approx(0.0125, rel=0.02)
    assert ladder.cell(rod, short, REFERENCE).error is None
    draped = ladder.cell(rod, sheets.draping(4, Setting(1), 9), REFERENCE)  # compared after six frames
    assert draped.error == pytest.approx(1.0 - 1.0 / 1.0125, rel=1e-9)
    assert ladder.cell(Rod(slow=1), sheets.draping(4, Setting(1), 9), REFERENCE).error is None


def test_errors_are_said_in_words() -> None:
    assert ladder.said_error(0.0123) == "error 1.2 %"
    assert "never" in ladder.said_error(np.inf) and "too slow" in ladder.said_error(np.nan)


GOOD = """
import json, sys, numpy
order = json.load(sys.stdin)
numpy.save(order["out"], numpy.array([order["points"]] * 3))
print("noise"); print("RESULT " + json.dumps({"seconds": [9.0, 0.5], "version": "Good 1"}))
"""
BAD = {
    "import nothing_of_this_name": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    "import os; os._exit(3)": "ended with code 3",
    "print('hello')": "its answer cannot be read (got 'hello')",
    "print('RESULT {')": "its answer cannot be read (got 'RESULT {')",
    'print(\'RESULT {"seconds": [1.0], "version": "x"}\')': "its answer cannot be read",  # and no frames
    GOOD.replace("* 3", "* 2"): "its answer cannot be read",  # fewer frames than times
    GOOD.replace('["points"]]', '["points"][1:]]'): "its answer cannot be read",  # of another sheet
    GOOD.replace("numpy.save", "print").replace('print("noise")', "open(order['out'], 'w').close()"):
        "its answer cannot be read",  # an empty file
}  # fmt: skip


def _child(tmp_path: Path, text: str, python: str = sys.executable) -> tools.Result:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    return tools.child("Tool", python, script, sheets.hanging(3, Setting(1)))


def test_a_child_answers(tmp_path: Path) -> None:
    made = _child(tmp_path, GOOD)
    assert (made.version, made.frame, made.frames.shape) == ("Good 1", 0.5, (3, 9, 3))


@pytest.mark.parametrize("text", BAD)
def test_a_child_that_fails_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(tools.NotRun) as wrong:
        _child(tmp_path, text)
    assert str(wrong.value).startswith("Tool: ") and BAD[text] in str(wrong.value) and "\n" not in str(wrong.value)


def test_an_interpreter_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(tools.NotRun, match=r"Tool: .*nowhere' cannot be started \(No such file or directory\)"):
        _child(tmp_path, GOOD, str(tmp_path / "nowhere"))


def _end_of(pipe: int, patience: float = 10.0) -> bytes:
    """What is left in a pipe that nobody holds any more; a busy machine takes a moment to end what was killed."""
    until = time.monotonic() + patience
    while True:
        try:
            return os.read(pipe, 1)
        except BlockingIOError:  # it is held still, and there is nothing to read yet
            assert time.monotonic() < until, "what was started holds the pipe on"
            time.sleep(0.02)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="processes have no groups here")
def test_what_hangs_is_ended_with_all_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script whose own child holds a pipe open: nothing holds it any more once the script is given up."""
    monkeypatch.setattr(tools, "_GRACE", 1.0)
    pipe, script = tmp_path / "pipe", tmp_path / "hangs"
    os.mkfifo(pipe)
    script.write_text(f"#!/bin/sh\n(exec 3>{pipe}; echo x >&3; sleep 60) &\nwait\n", encoding="utf-8")
    script.chmod(0o700)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(tools.NotRun, match=r"Tool: no answer within 1 s \(of .*hangs\)"):
            tools.child("Tool", str(script), script, replace(sheets.hanging(3, Setting(1)), limit=0.0))
        assert os.read(reader, 2) == b"x\n"
        assert _end_of(reader) == b""
    finally:
        os.close(reader)


def test_interpreters_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUNRAKU_NEWTON_PYTHON", "there")
    assert tools.interpreter(None, "BUNRAKU_NEWTON_PYTHON") == "there"
    assert tools.interpreter("here", "BUNRAKU_NEWTON_PYTHON") == "here"
    monkeypatch.delenv("BUNRAKU_NEWTON_PYTHON")
    assert tools.interpreter(None, "BUNRAKU_NEWTON_PYTHON") == sys.executable


@dataclass(frozen=True)
class Absent(Rod):
    name: str = "Absent"

    def simulate(self, order: Order) -> tools.Result:
        raise tools.NotRun("Absent: it is not installed")


@dataclass(frozen=True)
class Crashes(Rod):
    name: str = "Crashes"

    def simulate(self, order: Order) -> tools.Result:
        if order.self_collision:
            raise tools.NotRun("Crashes: it touched itself")
        return super().simulate(order)


@pytest.fixture(scope="module")
def beside_each_other() -> tuple[Rod, list[str]]:
    """One table of a tool that works, one that crashes and one that is not there."""
    rod = Rod()
    return rod, list(peers.run((5,), threads=1, peers=(tools.Bunraku(), Crashes(), rod, Absent()), levels=(2.0,)))


@pytest.mark.slow
def test_what_is_absent_is_skipped_with_its_reason_and_the_rest_measured(
    beside_each_other: tuple[Rod, list[str]],
) -> None:
    rod, lines = beside_each_other
    assert rod.touching[-4:] == [(False, False), (False, True), (True, False), (True, True)]  # a ball, self-collision
    assert "skipped Absent: it is not installed" in lines and "Rod 1" in lines
    head = next(k for k, line in enumerate(lines) if line.startswith("scene "))
    assert "Absent" not in lines[head]
    rows = [line.split() for line in lines[head + 1 : head + 5]]
    assert [(row[0], row[2]) for row in rows] == [
        ("hanging", "no"), ("hanging", "yes"), ("draping", "no"), ("draping", "yes")
    ]  # fmt: skip
    assert all(float(row[-1]) > 0.0 for row in rows)


def test_a_tool_that_fails_with_self_collision_says_why(beside_each_other: tuple[Rod, list[str]]) -> None:
    _, lines = beside_each_other
    assert lines.count("skipped Crashes: it touched itself") == 2
    assert sum("not reached" in line for line in lines) == 2


def test_a_tool_that_goes_astray_is_not_taken_for_a_slow_one() -> None:
    for order in (sheets.hanging(4, Setting(1)), sheets.draping(4, Setting(1))):
        frames = np.repeat(order.mesh.rest[None], order.frames + 1, axis=0)
        frames[-1, 3] = np.nan
        made = tools.Result(frames, np.ones(order.frames))
        assert ladder.deviation(Rod(), order, REFERENCE, made) == np.inf


OTHERS = (tools.Newton(), tools.Blender())


def _there(peer: tools.Peer) -> None:
    """Skip unless it can be run."""
    ((_, said, there),) = peers.present((peer,))
    if not there:
        pytest.skip(said)


@pytest.mark.slow
@pytest.mark.parametrize("peer", OTHERS, ids=lambda peer: peer.name)
def test_another_tool_has_our_metres_seconds_and_gravity(peer: tools.Peer) -> None:
    """Free fall, as implicit Euler has it; they compute in single precision: a step loses 1e-7 of a metre."""
    _there(peer)
    order = replace(sheets.hanging(6, Setting(3, 3), 6), pins=[])
    assert sheets.sunk(order.mesh, peer.simulate(order).frames) == pytest.approx(_fallen(order), abs=18 * 3e-7)


@pytest.mark.slow
@pytest.mark.parametrize("peer", OTHERS, ids=lambda peer: peer.name)
def test_another_tool_at_its_finest_has_our_answer(peer: tools.Peer) -> None:
    """Within the finest level the table uses; and of a sheet ten times softer, whose sag is deeper as it stretches:
    by the same to a fifth, springs being no continuum."""
    _there(peer)
    order = sheets.hanging(10, Setting(160, 10))
    soft = replace(order, cloth=replace(order.cloth, stretching=100.0))
    found, softer = (sheets.swing(one.mesh, peer.simulate(one).frames) for one in (order, soft))
    true = peers.truth_of(10, threads=1).swing
    assert found.error(peer.expected(true, order)) < min(ladder.LEVELS)
    ours = sheets.swing(soft.mesh, tools.Bunraku().simulate(replace(soft, setting=Setting(32), threads=1)).frames)
    assert softer.sag - found.sag == pytest.approx(ours.sag - true.sag, rel=0.2)
