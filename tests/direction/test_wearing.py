"""Real garments on real bodies: put on, at rest, and carried through a kick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from wearing import ARMS, THERE, Worn, dress, kicking_body, man, shirt

from bunraku import Animation, Contact, Obstacle, TriMesh
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

    @classmethod
    def of(cls, garment: Worn, body: Obstacle, times: Vector, substeps: int) -> Shot:
        guide = Animation(garment.mesh, times, np.repeat(garment.pose[None], len(times), axis=0))
        contact = Contact(thickness=GAP, obstacles=[body], parts={"garment": [0]}, layers=["body", "garment"])
        job = tracking_job(guide, garment.mesh, None, contact=contact, substeps=substeps, tolerance=1e-3, threads=1)
        return cls(garment, body, list(job.frames()), job.facts)

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
        it is pinched, on frames and between."""
        (told,) = self.facts["layers"]
        assert told["moved"] > 50 and told["most_m"] > 0.02 and not told["wrong"]
        check_apart(self.garment.mesh.faces, self.points)
        count, faces = len(self.points[0]), self.garment.mesh.faces
        both = [np.concatenate([frame.points, self.body.at(frame.time)]) for frame in self.frames]
        others, whole = self.body.mesh.faces + count, np.concatenate([faces, self.body.mesh.faces + count])
        for x, caught in zip(both, self.pinched, strict=True):
            assert not faces_through(x, faces[free(faces, caught)], others, touching=True).any()
        for k, (x, then) in enumerate(pairwise(both)):
            caught = np.union1d(self.pinched[k], self.pinched[k + 1])
            left = np.concatenate([free(faces, caught), np.ones(len(others), dtype=bool)])
            assert not passings(x, then, whole[left], movable=count)


def free(faces: Integers, caught: Integers) -> Flags:
    """(f,) faces without a vertex that is caught: those that have one ignore obstacles."""
    return np.asarray(~np.isin(faces, caught).any(axis=1))


def around(points: Points, body: TriMesh, x: Points) -> Vector:
    """(m,) how often a closed surface at x (n, 3) winds around points: 1 inside, 0 outside. From solid angles."""
    out = np.zeros(len(points))
    for k, one in enumerate(points):
        a, b, c = np.moveaxis(x[body.faces] - one, 1, 0)
        la, lb, lc = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
        dots = [np.sum(p * q, axis=1) * r for p, q, r in ((a, b, lc), (b, c, la), (c, a, lb))]
        out[k] = np.arctan2(np.sum(a * np.cross(b, c), axis=1), la * lb * lc + sum(dots)).sum() / (2.0 * np.pi)
    return np.abs(out)


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


THROUGH = [0, 8, 16, 20, 21, 22, 23, 24]


def test_a_shirt_is_carried_into_a_kick() -> None:
    """The body, open and cutting itself, steps, turns and kicks by up to 0.7 m from one frame to the next."""
    body, times = kick(THROUGH)
    assert intersecting_faces(body.mesh.rest, body.mesh.faces, touching=True).sum() > 400
    shot = Shot.of(shirt(0.041, 0.035, (0.0, 1.285, -0.035)), body, times, 4)
    shot.check()
    check_carried(shot)


def test_a_dress_is_carried_into_a_kick() -> None:
    """1,129 vertices with sleeves to below the elbows; the legs kick below its skirt. An armpit closes on it."""
    body, times = kick(THROUGH)
    shot = Shot.of(dress(0.0205, 0.05, (0.0, 1.28, -0.05), ARMS), body, times, 4)
    shot.check()
    check_carried(shot)


def check_carried(shot: Shot) -> None:
    """The body has gone a long way, the garment is still around its chest, and few vertices were ever pinched."""
    body, pose = shot.body, shot.garment.pose
    chest = np.flatnonzero(np.linalg.norm(body.at(0.0) - [0.0, 1.15, 0.0], axis=1) < 0.15)
    middles = [body.at(frame.time)[chest].mean(axis=0) for frame in shot.frames]
    assert np.linalg.norm(middles[-1] - middles[0]) > 0.5
    top = pose[:, 1] > 1.05
    away = [np.linalg.norm(x[top].mean(axis=0) - middle) for x, middle in zip(shot.points, middles, strict=True)]
    assert max(away) < 0.1
    assert max(map(len, shot.pinched)) < 0.01 * len(pose)
