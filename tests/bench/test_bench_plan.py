"""What planning costs: a tiny plan measured as the scenes are, and the table's lines."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.bench import plan
from bunraku.contracts import Outcome
from bunraku.direction.plan import ChainDraft, Draft, Key, Phase, chain, reduced
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import PLAN_DEMOS, Shot
from bunraku.shots.prepare_plan import prepare_plan
from bunraku.shots.read_plan import ReadPlan

BAR = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))
SKIN = BAR.surface()
ENDS = {name: np.flatnonzero(np.abs(SKIN.rest[:, 1] - y) < 1e-9).tolist() for name, y in (("foot", 0.0), ("head", 1.0))}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReadPlan:
    """A bar that leans, in the place of every demo."""
    write_mesh(tmp_path / "bar.obj", SKIN)
    write_mesh(tmp_path / "bar.msh", BAR)
    table: dict[str, Any] = {
        "role": "plan", "surface": {"file": "bar.obj", "unit": "m"}, "tets": {"file": "bar.msh", "unit": "m"},
        "material": {"preset": "rubber", "young": 2e5}, "modes": 12, "fixed": ["foot"],
        "regions": {name: {"vertices": points} for name, points in ENDS.items()},
        "keys": [{"frame": 13, "region": "head", "move": [0.2, -0.05, 0.0], "rotate": [0.0, 0.0, -30.0]}],
    }  # fmt: skip
    shot = Shot.of({"shot": {"frames": [1, 25]}, "object": {"bar": table}}, folder=tmp_path, source=tmp_path / "a.toml")
    monkeypatch.setattr(plan, "write_demo", lambda name, folder: shot)
    return prepare_plan(shot, keeping=False).plans[0]


def test_the_scenes_of_the_table_are_demos() -> None:
    assert set(PLAN_DEMOS) == set(plan.PAPER)


def test_modes_are_made_for_what_nothing_is_kept_of_and_then_once(
    tiny: ReadPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    own = reduced.natural_modes
    monkeypatch.setattr(reduced, "natural_modes", lambda *given, **more: made.append(1) or own(*given, **more))
    row = plan.measure("twist", rounds=3)
    assert len(made) == 3 + 1 and row.set_up > 0.0 and row.again > 0.0


def test_one_thread_is_measured_by_the_processors_clock(tiny: ReadPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting, as for others who use the machine, is no part of it; of several threads it is."""
    own = reduced.natural_modes

    def slow(*given: Any, **more: Any) -> Any:
        time.sleep(0.2)
        return own(*given, **more)

    monkeypatch.setattr(reduced, "natural_modes", slow)
    alone, both = (plan.measure("twist", rounds=1, threads=threads) for threads in (1, 2))
    assert alone.set_up < 0.2 <= alone.plan.motion.report["seconds"]["set up"]
    assert both.set_up == both.plan.motion.report["seconds"]["set up"]


def test_a_row_holds_what_was_planned_and_how_much_faster(tiny: ReadPlan) -> None:
    row = plan.measure("twist", rounds=1)
    assert row.search > 0.0
    assert row.missed < 1e-3 and row.plan.motion.points(0.5) == pytest.approx(tiny.motion.points(0.5), abs=1e-9)
    line, head = plan.row_line(row).split(), plan.HEAD.split()
    assert len(line) == len(head) and line[head.index("tets")] == "24" and line[head.index("dim.")] == "12"
    assert float(line[-1]) == pytest.approx(plan.PAPER["twist"].search / row.search, abs=0.06)


def test_an_edit_is_planned_anew_each_time(tiny: ReadPlan) -> None:
    draft = plan.draft_of(tiny)
    assert isinstance(draft, Draft)
    assert draft.motion.points(0.5) == pytest.approx(tiny.motion.points(0.5), abs=1e-9)
    before = draft.motion.points(0.5)
    found = plan.edits(draft, 3)
    assert len(found) == 3 and all(one.seconds > 0.0 and one.iterations >= 1 for one in found)
    assert np.abs(draft.motion.points(0.5) - before).max() > 0.02 and draft.motion.report["met"]


def test_a_chain_is_edited_step_by_step(tiny: ReadPlan) -> None:
    """With its ground, and what is handed on; what goes on after a step is counted by itself."""
    told, fixed = tiny.motions[0].keys[0], tiny.motions[0].body.fixed
    steps = [Phase(0.5, fixed, Key(0.5, told.vertices, told.positions)) for _ in range(2)]
    whole = chain(tiny.motion.mesh, steps, **{**tiny.given, "ground": -1.0})
    walk = replace(tiny, motion=whole, given={**tiny.given, "ground": -1.0})
    draft = plan.draft_of(walk)
    assert isinstance(draft, ChainDraft) and draft.chain.motions == whole.motions
    found = plan.edits(draft, 4)
    assert all(one.seconds > 0.0 for one in found) and found[0].after > 2 * found[1].after
    assert all("below_ground" in one.report for one in draft.chain.motions)
    assert all(np.abs(one.points(0.5) - was.points(0.5)).max() > 0.005
               for one, was in zip(draft.chain.motions, whole.motions, strict=True))  # fmt: skip
    lines = list(plan.edit_lines(walk, 2, 1))
    assert "of its steps in turn" in lines[0] and "goes on after it" in lines[1]


def test_both_searches_find_the_motion(tiny: ReadPlan) -> None:
    (_, newton, _), (_, quasi, _) = plan.searches(tiny.motions[0])
    assert newton.outcome is quasi.outcome is Outcome.CONVERGED
    assert quasi.stats["objective"] == pytest.approx(newton.stats["objective"], rel=1e-6)
    assert quasi.stats["iterations"] > newton.stats["iterations"]


def test_the_table_is_printed_to_its_end(tiny: ReadPlan) -> None:
    lines = list(plan.run(["twist", "x_walk"], rounds=1, count=2))
    assert sum("frames a second" in line for line in lines) == 2
    assert any("edited 2 times" in line for line in lines) and any("BFGS" in line for line in lines)
