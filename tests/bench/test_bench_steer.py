"""What steering costs: tiny shots to the end, the same motion however it is timed, and the lines of the tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.bench import BENCHES, solids, steer
from bunraku.dynamics import PARTS
from bunraku.geometry import check_tets

TINY: dict[str, Any] = {"cells": (6, 1, 1), "around": (4, 6), "frames": 2, "warm_up": 1}


def test_the_bodies_are_as_large_as_the_tables_say() -> None:
    body, skin = solids.bar(steer.CELLS), solids.tube(*steer.AROUND)
    check_tets(body)
    assert len(body.tets) == 504 and len(skin.faces) == 20000
    assert body.volumes.sum() == pytest.approx(solids.LENGTH * solids.WIDTH**2, rel=1e-12)
    assert [6 * a * b * c for a, b, c in steer.SIZES] == [5250, 19968, 77688]


def test_the_tube_lies_in_the_bar_and_goes_along() -> None:
    body = solids.bar((4, 2, 2))
    cage = steer.enclose(solids.tube(5, 8), body)
    assert not len(cage.outside)
    turned = solids.twisted(body.rest, 0.5)
    assert cage.points(turned)[:, 0] == pytest.approx(cage.surface.rest[:, 0], abs=1e-12)
    assert np.abs(cage.points(turned) - cage.surface.rest).max() > 0.01


@pytest.mark.parametrize("scene", steer.SCENES)
def test_a_tiny_shot_is_timed_and_its_time_shared_out(scene: str) -> None:
    one, two = steer.measure(scene, (1, 1), **TINY)
    for shot in (one, two):
        assert len(shot.frames) == len(shot.processor) == 2 and min(shot.frames) > 0.0
        shares = {part: shot.share(part) for part in (*PARTS, "contact", *steer.BESIDE)}
        contact = shares.pop("contact")
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert min(shares["factor"], shares["report"], shares["surface"]) > 0.0
        assert (contact > 1e-6) == (scene == "ground")
        its, factors = shot.spent().per_frame
        assert its >= factors >= 1.0
    assert one.spent().iterations == two.spent().iterations


def test_a_step_of_one_iteration_is_timed_against_the_bare_solver() -> None:
    cost = solids.step_cost((4, 2, 2), threads=1)
    assert (cost.tets, cost.vertices) == (96, 45)
    assert cost.over_bare == cost.step / cost.bare > 1.0
    assert min(cost.ratios) > 0.5 and cost.double > 0.0
    assert cost.step > max(cost.blocks, cost.assemble, cost.factor, cost.solve, cost.gradient) > 0.0


def test_a_kept_factor_leads_to_the_same_motion() -> None:
    body = solids.bar((4, 1, 1))
    job = steer.steering_job(body, material="marshmallow", threads=1, **steer.SCENES["path"](body))
    each, kept = (steer.Loop(job, 1e-9 * body.size, keep) for keep in (False, True))
    for _ in range(4):
        each.step()
        kept.step()
    assert kept.factors < each.factors == 4
    assert kept.state.q == pytest.approx(each.state.q, abs=1e-9)
    frames = list(job.frames())
    assert each.state.q == pytest.approx(frames[4].state.q, abs=1e-5 * body.size)


def test_the_command_prints_four_tables() -> None:
    lines = list(BENCHES["steer"][1](("swinging", "path"), ((8, 1, 1),), threads=1, **TINY))
    assert lines[1].startswith("36 tetrahedra that carry 48 triangles")
    heads = [k for k, line in enumerate(lines) if line.split()[:1] in (["scene"], ["tets"])]
    assert len(heads) == 5
    for head, rows in zip(heads, (2, 2, 1, 4, 8), strict=True):
        count = len(lines[head].replace("|", " ").replace("processor ms", "processor").replace("of all", "all").split())
        for line in lines[head + 1 : head + 1 + rows]:
            words = line.replace("|", " ").replace("each step", "each").split()
            assert len(words) == count
            assert all(np.isfinite(float(word.rstrip("%°"))) for word in words if word[0].isdigit())
