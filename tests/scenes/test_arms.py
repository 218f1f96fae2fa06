"""The arms of the contact demo: rigid about their hinges, apart at both ends, through each other in between."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bunraku.geometry import intersecting_faces
from bunraku.scenes import arms_mesh, crossing_arms
from bunraku.shots import DEMOS, write_demo


def test_the_arms_turn_rigidly_and_pass_through_each_other() -> None:
    guide = crossing_arms()
    crossed = np.array([intersecting_faces(pose, guide.mesh.faces, touching=True).any() for pose in guide.points])
    assert crossed.any() and not crossed[:20].any() and not crossed[-12:].any()
    np.testing.assert_allclose(guide.points[0], arms_mesh().rest, atol=1e-12)
    np.testing.assert_allclose(guide.points[-1], arms_mesh().rest, atol=1e-12)
    edges = guide.points[:, 1:13] - guide.points[:, :12]  # along the strip; the middle ones bend at the hinges
    lengths = np.linalg.norm(edges, axis=2)
    assert lengths[:, [0, 1, 2, 9, 10, 11]] == pytest.approx(np.full((72, 6), 0.1), abs=1e-12)


@pytest.mark.slow
def test_the_demo_keeps_the_arms_apart(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All frames, on a coarser shell: nothing passes through anything, what gave way is told, and before and after all
    is met."""
    monkeypatch.setitem(
        DEMOS, "arms", replace(DEMOS["arms"], settings={**DEMOS["arms"].settings, "mesh": {"levels": 1}})
    )
    shot = write_demo("arms", tmp_path)
    shot = replace(shot, output=replace(shot.output, preview=False))
    result = shot.run(tmp_path / "take")
    report = json.loads((tmp_path / "take/report.json").read_text())
    assert report["intersections"]["total"] == 0 and report["outcome"] == "finished"
    off = sorted({frame for one in report["kept_off_by_contact"] for frame in one["frames"]})
    assert off and 20 < off[0] and off[-1] < 60 and report["missed_frames"] == off
    assert result.report.measured.residual[[*range(20), *range(60, 72)]].max() < 1e-9 * result.report.measured.size
    assert DEMOS["arms"].physics["contact"]
