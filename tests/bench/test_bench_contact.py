"""What contact costs: both runs of a scene are measured, and the time with contact is shared out."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.bench import BENCHES, contact


def test_both_runs_are_measured_and_only_one_touches() -> None:
    row = contact.measure(contact.ball(9, 1, 2)(1))
    assert row.vertices == 81 and row.pairs > 0.0
    for spent in (row.touching, row.free, row.same):
        assert len(spent.seconds) == 2 and spent.iterations >= spent.factorisations >= 4  # two substeps a frame
        assert 0.0 < spent.parts["total"] < spent.seconds.sum()
    assert {"near", "potential", "blocks", "way"} <= set(row.touching.parts)
    assert not {"near", "potential", "blocks", "way"} & set(row.free.parts)
    shares = [row.touching.share(part, contact.PARTS) for part in (*contact.PARTS, "other")]
    assert sum(shares) == pytest.approx(1.0, abs=1e-12) and min(shares[:-1]) > 0.0


@pytest.mark.slow
def test_the_command_prints_three_tables_of_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact, "SCENES", {"small": contact.ball(9, 0, 1)})
    monkeypatch.setattr(contact, "SMALLER", 9)
    lines = list(BENCHES["contact"][1](("small",), threads=1))
    assert sum(line.startswith("scene ") for line in lines) == 3
    head, costs = lines[1].split(), lines[2].removeprefix("0k on a ball").split()
    assert head[0] == "scene" and len(costs) == len(head) - 1
    assert sum(line.startswith("0k on a ball") for line in lines) == 3
    compared = [line.split() for line in lines[lines.index("which pairs count") :]]
    rows = [[float(word) for word in words[-5:]] for words in compared if words[:1] in (["barrier"], ["offset"])]
    assert len(rows) == 2 and all(row[0] == 81 and row[2] > 0 for row in rows)
    rows = [words for words in compared if words[:1] in (["0"], ["0.1"], ["0.2"], ["0.4"])]
    assert len(rows) == 4 and all(words[1] == "81" and float(words[3]) > 0.0 for words in rows)


def test_the_same_states_are_taken_without_contact() -> None:
    """From the frame with contact, not from where a run without it has come to: that has fallen past the ball."""
    scene = contact.ball(9, 0, 4)(1)
    touching, same = contact.Run(scene.touching, 0), contact.Run(scene.free, 0)
    found = same.last
    for _ in range(4):
        begin = touching.last
        touching.advance()
        found = same.advance(begin)
        assert found.index == begin.index + 1
        moved = found.state.q - begin.state.q
        assert np.abs(moved).max() < 0.3  # one frame's way
    alone = list(scene.free.frames())[4]
    assert np.abs(found.state.q - alone.state.q).max() > 0.01
