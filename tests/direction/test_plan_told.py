"""What is told of a plan names what it is about, and nothing that would not help."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from planned import BASE, BLOCK, PULLED, RUBBER, TOP, block, posed

from bunraku.contracts import InputError, Outcome, PhysicsStopped, Solution
from bunraku.direction.plan import Key, Phase, chain, plan
from bunraku.geometry import tet_bar


def test_a_pose_that_is_not_handed_on_is_told_with_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    handover = importlib.import_module("bunraku.direction.plan.handover")
    lost = lambda warp, own, start=None, **_: Solution(own - warp.mesh.rest, Outcome.NOT_CONVERGED, {})  # noqa: E731
    monkeypatch.setattr(handover, "unwarped", lost)
    phases = [Phase(0.5, BASE, posed(0.25, PULLED)), Phase(0.5, BASE, rest=True)]
    with pytest.raises(PhysicsStopped, match=r"phases\[1\]: a pose could not be handed on"):
        chain(BLOCK, phases, material=RUBBER, modes=8)


def test_a_take_that_no_memory_holds_is_refused() -> None:
    day = block(Key(40_000.0, TOP, BLOCK.rest[TOP] + [0.05, 0.0, 0.0]), duration=86_400.0)
    with pytest.raises(
        InputError, match=r"does not fit into memory.*8640000001 frames.*a lower rate, or motion\.points"
    ):
        day.take(1e5)
    assert len(day.take(1e-3).animation.times) == 87


def test_keys_nearer_than_a_frame_may_agree_with_each_other() -> None:
    """A place and where it is a moment later: slow enough to be meant."""
    later = Key(0.5 + 1e-6, TOP, BLOCK.rest[TOP] + [1e-6 * BLOCK.size, 0.0, 0.0])
    assert block(Key(0.5, TOP, BLOCK.rest[TOP]), later).report["met"]


def test_more_modes_are_not_advised_where_there_are_none() -> None:
    body = tet_bar((1, 2, 1), (0.1, 0.4, 0.1))
    low, high = (np.flatnonzero(np.abs(body.rest[:, 1] - y) < 1e-9) for y in (0.0, 0.4))
    crossed = body.rest[high][::-1] + [0.3, 0.0, 0.0]  # which turns no tetrahedron as a whole
    given = {"fixed": low, "material": RUBBER, "duration": 1.0}
    few, told, every = (
        plan(body, Key(0.5, high, crossed * [1.0, 1.0, -3.0]), modes=modes, attach=attach, **given)
        .report["keys"][0]
        .remedy
        for modes, attach in ((4, False), (4, True), (3 * (body.point_count - len(low)), False))
    )
    assert few == "try more modes, or attach=True" and told == "try more modes"
    assert "all there are" in every and "more modes" not in every


@pytest.mark.parametrize("weight", [1.0, np.inf])
def test_keys_at_one_time_that_stand_against_each_other_are_told_so(weight: float) -> None:
    """All vertices where they are at rest, and the centre of mass elsewhere: no weight helps."""
    still = Key(0.5, np.arange(BLOCK.point_count), BLOCK.rest, weight=weight)
    away = Key(0.5, None, BLOCK.rest.mean(axis=0) + [0.5, 0.0, 0.0], weight=weight)
    told = block(still, away, fixed=()).report["sentences"]
    assert len(told) == 2 and all("another key at that time stands against it" in text for text in told), told
    slight = block(
        Key(0.5, TOP, BLOCK.rest[TOP] + [0.1, 0.0, 0.0], weight=1e-5), Key(0.5, None, (0.2, 0.5, 0.2))
    ).report
    assert not slight["met"] and "try a larger weight" in slight["sentences"][0], slight["sentences"]
