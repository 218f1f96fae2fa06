"""The paper's table: its counts are the scenes', its columns are filled, and the page is of this table."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bunraku.bench import BENCHES, tracks
from bunraku.bench.spent import Run, Spent
from bunraku.dynamics import PARTS, ImplicitEuler

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAPER = {"cloth": (35, 1625, 4), "box": (8, 1538, 8), "bag": (88, 1297, 88), "walker": (3038, 3038, 280)}
"""guide and shell vertices, constraints of TRACKS §5.5"""


@cache
def scene(name: str) -> tracks.Scene:
    # Counts are those of any preview: of the cloth one is thrown, not the twenty that one would choose from.
    return tracks.cloth_scene(1, takes=1) if name == "cloth" else tracks.SCENES[name](1)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.slow
def test_counts_are_the_papers(name: str) -> None:
    """The walker's mesh is made by code, with about as many vertices."""
    one, (guide, shell, regions) = scene(name), PAPER[name]
    assert one.regions == regions
    assert one.guide_vertices == pytest.approx(guide, rel=0.005) and one.shell_vertices == pytest.approx(
        shell, rel=0.005
    )
    assert one.untracked.facts["regions"] == 0
    assert one.untracked.mesh.rest == pytest.approx(one.tracked.mesh.rest, abs=0.0)
    assert (one.untracked.start.q == one.tracked.start.q).all()
    assert (one.untracked.start.velocity == one.tracked.start.velocity).all()
    assert _counts(name) in (DOCS / "speed.md").read_text(encoding="utf-8")


def test_added_unknowns_are_those_of_the_linear_system() -> None:
    """Tracked and untracked systems differ by three rows a region, out of three unknowns a vertex."""
    one = scene("box")
    sizes = []
    for job in (one.tracked, one.untracked):
        assert isinstance(job.stepper, ImplicitEuler)
        job.stepper.step(job.start, 1.0 / 48.0)
        sizes.append(job.stepper.saddle.pattern.size)
    assert (sizes[0] - sizes[1]) / (3 * one.shell_vertices) == pytest.approx(one.added, rel=1e-12)


def test_every_column_of_a_short_run_is_a_number() -> None:
    row = tracks.measure(scene("box"), frames=2, warm_up=0)
    for columns in (tracks.COST, tracks.RUNS, tracks.PROFILE):
        head, line = tracks.text_table(columns, [row])
        numbers = re.findall(r"[-+]?\d+\.?\d*", line)
        assert line.startswith("box ") and len(numbers) == len(columns) - 1
        assert np.isfinite([float(text) for text in numbers]).all()
        assert len(head) == len(line)
    for spent in (row.tracked, row.untracked):
        assert len(spent.seconds) == 2 and spent.iterations >= spent.factorisations >= 4  # two substeps a frame
        shares = [spent.share(part) for part in (*PARTS, "other")]
        assert sum(shares) == pytest.approx(1.0, abs=1e-12) and min(shares) >= 0.0
        assert spent.parts["total"] < spent.seconds.sum()
    assert row.increase == pytest.approx(row.tracked.frame / row.untracked.frame - 1.0, abs=1e-15)
    assert row.ratio > 0.0 and min(row.iteration) > 0.0


@pytest.mark.slow
def test_measuring_the_same_iteration_does_not_change_the_run() -> None:
    ends = []
    for between in (False, True):
        one = scene("box")
        runs = [Run(job, warm_up=0) for job in (one.tracked, one.untracked)]
        states = []
        for _ in range(2):
            states = [run.advance().state for run in runs]
            if between:
                tracks._same_iteration([run.stepper for run in runs], states[0], 1.0 / 48.0)
        ends.append(states)
    for plain, disturbed in zip(*ends, strict=True):
        assert (plain.q == disturbed.q).all()


@pytest.mark.slow
def test_the_command_prints_three_tables() -> None:
    lines = list(BENCHES["tracks"][1](("box",), 1, 0, threads=1))
    assert "PARDISO" in lines[0] or "qdldl" in lines[0] or "SuperLU" in lines[0]
    assert sum(line.startswith("scene ") for line in lines) == 3 and sum(line.startswith("box ") for line in lines) == 3


def test_the_page_of_speed_has_these_tables_and_scenes() -> None:
    spec = importlib.util.spec_from_file_location("make_speed_page", DOCS / "make_speed_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (DOCS / "speed.md").read_text(encoding="utf-8")
    for part in (module.HEAD, module.COST_TEXT, module.RUNS_TEXT, module.PROFILE_TEXT):
        assert part in text
    for columns in (tracks.COST, tracks.RUNS, tracks.PROFILE):
        assert module.markdown(columns, []) in text
    assert _counts("box") in text


def _counts(name: str) -> str:
    """The beginning of a scene's row on the page."""
    return f"| {' | '.join(cell(_unmeasured(name)) for _, cell in tracks.COST[:5])} |"


def _unmeasured(name: str) -> tracks.Row:
    nothing = Spent(np.ones(1), 1, 1, dict.fromkeys((*PARTS, "total"), 1.0))
    return tracks.Row(scene(name), nothing, nothing, nothing, (1.0, 1.0), 1.0)
