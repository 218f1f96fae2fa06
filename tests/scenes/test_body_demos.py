"""The demos of bodies as an artist gets them: files, a shot that reads them, and a few frames of a take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError
from bunraku.shots import BODY_DEMOS, demo_files, demo_titles, write_demo
from bunraku.shots.body_demos import _scene
from bunraku.shots.kept import each
from bunraku.shots.prepare_body import prepare_body
from bunraku.shots.run import TakeFolder
from bunraku.shots.shot import Shot


def test_bodies_are_among_the_demos_and_have_no_guide(tmp_path: Path) -> None:
    assert set(BODY_DEMOS) <= set(demo_titles()) and "box" in demo_titles()
    with pytest.raises(InputError, match="cannot be driven by motion capture"):
        write_demo("jelly", tmp_path, tmp_path / "walk.bvh")
    assert not any(tmp_path.iterdir())


def _unseen(shot: Shot) -> Shot:
    """Without a preview, of which nothing is asked here."""
    return replace(shot, output=replace(shot.output, preview=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BODY_DEMOS))
def test_a_demo_of_a_body_is_written_and_runs(name: str, tmp_path: Path) -> None:
    shot = write_demo(name, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == set(demo_files(name))
    prepared, scene = prepare_body(shot), _scene(name)
    assert len(prepared.filling.body.tets) == len(scene.body.tets) and len(prepared.bodies[0].keys) == len(scene.keys)
    for made, key in zip(prepared.bodies[0].keys, scene.key_shapes, strict=True):
        assert made.time == pytest.approx(key.time, abs=1e-4)
        assert (made.points is None) == (key.points is None)
    for time in () if scene.path is None else scene.path.times[[0, 3, -1]]:
        assert scene.path is not None
        here = prepared.bodies[0].paths[0]
        np.testing.assert_allclose(here.at(time) + prepared.origin, scene.path.at(time), atol=1e-5)
        np.testing.assert_allclose(here.rotation(time), scene.path.rotation(time), atol=1e-5)
    result = _unseen(shot).run(out=tmp_path / "take", frames=(1, 4))
    assert result.report.met is True
    assert result.report.measured.intersections is not None
    assert result.report.measured.intersections.total == 0


@pytest.mark.slow
def test_the_character_is_hit_on_the_head_and_its_soles_stay(tmp_path: Path) -> None:
    """As painted on its surface: about the nodes that the scene's own hands find, whatever body it was given."""
    shot, scene = write_demo("hit", tmp_path), _scene("hit")
    prepared = prepare_body(shot)
    (body,), (soles,) = prepared.bodies, prepared.pins
    assert scene.blow is not None and body.velocity is not None
    hand, speed = scene.blow
    hit = np.flatnonzero(np.abs(body.velocity).max(axis=1))
    np.testing.assert_allclose(body.velocity[hit], np.tile(speed, (len(hit), 1)))
    for nodes, meant in ((hit, hand), (np.asarray(soles.vertices), scene.pinned[0])):
        own = meant.nodes(scene.body)
        assert len(np.intersect1d(nodes, own)) > 0.6 * max(len(nodes), len(own))
    result = _unseen(shot).run(out=tmp_path / "take", frames=(1, 6))
    x = np.stack([one.points for one in each(TakeFolder(result.folder).cache(), 0, 6)])
    moved, tall = np.linalg.norm(x[-1] - x[0], axis=1), np.ptp(x[0][:, 1])
    assert moved[hit].mean() > 0.1 * tall and moved[soles.vertices].max() < 1e-9 * tall
    assert not any("collided" in one.text for one in result.report.sentences)
