"""Real garments on real bodies: put on, at rest, and carried through a kick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from solver_way import Solve, recorded_way
from wearing import ARMS, THERE, Worn, around, dress, kicking_body, man, shirt

from bunraku import Animation, Contact, Obstacle
from bunraku.collision.pinching import Pinches
from bunraku.contracts import Flags, Integers, Points, Vector
from bunraku.direction.job import Frame
from bunraku.direction.track.tracking import tracking_job
from bunraku.geometry import faces_through, intersecting_faces
from bunraku.testing import check_apart, passings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not THERE, reason="the test data's garments and bodies are not there"),
]
GAP = 1e-3


@dataclass(frozen=True, eq=False)
class Shot:
    """A garment that nothing but a body directs, and what became of it."""

    garment: Worn
    body: Obstacle
    frames: list[Frame]
    facts: Mapping[str, Any]
    way: list[Solve]
    """the steps tried, and all points of garment and body that Newton's method went through, on straight lines"""

    @classmethod
    def of(cls, garment: Worn, body: Obstacle, times: Vector, substeps: int) -> Shot:
        guide = Animation(garment.mesh, times, np.repeat(garment.pose[None], len(times), axis=0))
        contact = Contact(thickness=GAP, obstacles=[body], parts={"garment": [0]}, layers=["body", "garment"])
        job = tracking_job(guide, garment.mesh, None, contact=contact, substeps=substeps, tolerance=1e-3, threads=1)
        with recorded_way() as way:
            return cls(garment, body, list(job.frames()), job.facts, way)

    @property
    def points(self) -> list[Points]:
        return [frame.points for frame in self.frames]

    @property
    def pinched(self) -> list[Integers]:
        """Of each frame the vertices that are caught between parts of the body, as reported."""
        found = [Pinches.of(frame.state.memory).vertices for frame in self.frames]
        assert [len(one) for one in found] == [int(frame.report["pinched"]) for frame in self.frames]
        return found

    def check(self) -> None:
        """It was put on and nothing of it is behind the body; it crosses itself never, and the body nowhere but where
        it is pinched, on frames and all the way between."""
        (told,) = self.facts["layers"]
        assert told["moved"] > 50 and told["most_m"] > 0.02 and not told["wrong"]
        check_apart(self.garment.mesh.faces, self.points, between=False)
        count, faces = len(self.points[0]), self.garment.mesh.faces
        others = self.body.mesh.faces + count
        for frame, caught in zip(self.frames, self.pinched, strict=True):
            x = np.concatenate([frame.points, self.body.at(frame.time)])
            assert not faces_through(x, faces[free(faces, caught)], others, touching=True).any()
        assert sum(len(solve.places) for solve in self.way) > 2 * len(self.frames)
        for solve in self.way:
            for x, then in pairwise(solve.places):
                near = others[about(others, x, then, count)]
                caught = solve.touch.pinches.vertices
                assert not passings(x, then, np.concatenate([faces[free(faces, caught)], near]), movable=count)
                if len(caught):  # else all of its faces were asked about among the others
                    assert not passings(x, then, faces, movable=count)


def about(faces: Integers, x: Points, then: Points, count: int) -> Flags:
    """(f,) faces that are in the box of the first `count` points on the straight way from x to then (n, 3)."""
    low, high = np.minimum(x, then), np.maximum(x, then)
    start, end = low[:count].min(axis=0), high[:count].max(axis=0)
    away = np.stack([high < start, low > end])  # a face is not in it whose corners are all beyond the same side
    return np.asarray(~(away[:, faces[:, 0]] & away[:, faces[:, 1]] & away[:, faces[:, 2]]).any(axis=(0, 2)))


def free(faces: Integers, caught: Integers) -> Flags:
    """(f,) faces without a vertex that is caught: those that have one ignore obstacles."""
    return np.asarray(~np.isin(faces, caught).any(axis=1))


def test_a_shirt_is_put_on_a_man_and_hangs() -> None:
    """480 vertices, of which some sixty begin inside him or too near."""
    garment, body = shirt(0.064, 0.05, (0.0, 1.545, 0.0)), Obstacle(man(), name="body")
    assert (around(garment.pose, body.mesh, body.mesh.rest) > 0.5).sum() > 20
    shot = Shot.of(garment, body, np.arange(4) / 24.0, 2)
    shot.check()
    assert not any(map(len, shot.pinched))
    last = shot.points[-1]
    assert around(last, body.mesh, body.mesh.rest).max() < 0.01
    # It hangs on his shoulders: it has not fallen, and its neckline is where it was.
    assert np.linalg.norm(last - garment.pose, axis=1).max() < 0.1
    assert np.abs(last.mean(axis=0) - garment.pose.mean(axis=0)).max() < 0.02


def kick(samples: list[int]) -> tuple[Obstacle, Vector]:
    """The kicking body with some of its samples one twelfth of a second after the other, and their times."""
    whole = kicking_body()
    times = np.arange(len(samples)) / 12.0
    some = Animation(whole.mesh, times, whole.points[samples])
    return Obstacle(some.mesh, some.at, "body"), times


THROUGH = [0, 10, 19]


def test_a_shirt_is_carried_into_a_kick() -> None:
    """The body, open and cutting itself, steps, turns and kicks."""
    body, times = kick(THROUGH)
    assert intersecting_faces(body.mesh.rest, body.mesh.faces, touching=True).sum() > 400
    shot = Shot.of(shirt(0.041, 0.035, (0.0, 1.285, -0.035)), body, times, 4)
    shot.check()
    check_carried(shot)


def test_a_dress_is_carried_into_a_kick() -> None:
    """1,129 vertices with sleeves to below the elbows; the legs kick below its skirt."""
    body, times = kick(THROUGH)
    shot = Shot.of(dress(0.0205, 0.05, (0.0, 1.28, -0.05), ARMS), body, times, 4)
    shot.check()
    check_carried(shot)


def check_carried(shot: Shot) -> None:
    """The chest has gone farther than it is wide, the garment is still around it, few vertices were ever pinched."""
    body, pose = shot.body, shot.garment.pose
    chest = np.flatnonzero(np.linalg.norm(body.at(0.0) - [0.0, 1.15, 0.0], axis=1) < 0.15)
    middles = [body.at(frame.time)[chest].mean(axis=0) for frame in shot.frames]
    assert np.linalg.norm(middles[-1] - middles[0]) > 0.3
    top = pose[:, 1] > 1.05
    away = [np.linalg.norm(x[top].mean(axis=0) - middle) for x, middle in zip(shot.points, middles, strict=True)]
    assert max(away) < 0.1
    assert max(map(len, shot.pinched)) < 0.01 * len(pose)
