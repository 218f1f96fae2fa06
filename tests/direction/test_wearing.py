"""Real garments on real bodies: put on, at rest, and carried through a kick."""

from __future__ import annotations

import numpy as np
import pytest
from wearing import ARMS, THERE, Worn, dress, kicking_body, man, shirt

from bunraku import Animation, Contact, Obstacle, Take, TriMesh, track
from bunraku.contracts import Points, Vector
from bunraku.geometry import intersecting_faces
from bunraku.testing import Apart, survey_apart

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not THERE, reason="the test data's garments and bodies are not there"),
]
GAP = 1e-3


def worn(garment: Worn, body: Obstacle, times: Vector, substeps: int) -> Take:
    """A garment that nothing but the body directs."""
    mesh = garment.mesh
    guide = Animation(mesh, times, np.repeat(garment.pose[None], len(times), axis=0))
    contact = Contact(thickness=GAP, obstacles=[body], parts={"garment": [0]}, layers=["body", "garment"])
    return track(guide, mesh, None, contact=contact, substeps=substeps, tolerance=1e-3, threads=1)


def surveyed(take: Take, garment: Worn, body: Obstacle) -> tuple[Apart, Apart]:
    """The garment alone, and with the body."""
    mesh, frames = garment.mesh, take.animation.points
    both = [np.concatenate([x, body.at(t)]) for x, t in zip(frames, take.animation.times, strict=True)]
    faces = np.concatenate([mesh.faces, body.mesh.faces + mesh.point_count])
    return (
        survey_apart(mesh.faces, list(frames)),
        survey_apart(faces, both, shell=len(mesh.faces), movable=mesh.point_count),
    )


def check_worn(take: Take, garment: Worn, body: Obstacle) -> None:
    """It was put on, nothing is behind the body, nothing crosses anything on a frame or between; nothing was pinched."""
    (told,) = take.facts["layers"]
    assert told["moved"] > 50 and told["most_m"] > 0.02 and not told["wrong"]
    alone, together = surveyed(take, garment, body)
    assert alone.clean, alone.sentence()
    assert not take.report["pinched"].any()
    assert together.clean, together.sentence()


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
    take = worn(garment, body, np.arange(4) / 24.0, 2)
    check_worn(take, garment, body)
    last = take.animation.points[-1]
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


THROUGH = [0, 5, 10, 15, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]


def test_a_shirt_is_carried_through_a_kick() -> None:
    """The body, open and cutting itself, turns and kicks by up to 0.6 m from one frame to the next."""
    body, times = kick(THROUGH)
    assert intersecting_faces(body.mesh.rest, body.mesh.faces, touching=True).sum() > 400
    garment = shirt(0.041, 0.035, (0.0, 1.285, -0.035))
    take = worn(garment, body, times, 4)
    check_worn(take, garment, body)
    check_carried(take, body, garment, 0.35)


def test_a_dress_is_carried_through_a_kick() -> None:
    """1,129 vertices with sleeves to below the elbows; the legs kick below its skirt."""
    body, times = kick(THROUGH)
    garment = dress(0.0205, 0.05, (0.0, 1.28, -0.05), ARMS)
    take = worn(garment, body, times, 4)
    check_worn(take, garment, body)
    check_carried(take, body, garment, 0.35)


def check_carried(take: Take, body: Obstacle, garment: Worn, within: float) -> None:
    """The body has gone a long way, and the garment is still around its chest."""
    x, times = take.animation.points, take.animation.times
    chest = np.flatnonzero(np.linalg.norm(body.at(0.0) - [0.0, 1.15, 0.0], axis=1) < 0.15)
    assert np.linalg.norm(body.at(times[-1])[chest].mean(axis=0) - body.at(0.0)[chest].mean(axis=0)) > within
    top = garment.pose[:, 1] > 1.05
    away = [np.linalg.norm(x[k][top].mean(axis=0) - body.at(t)[chest].mean(axis=0)) for k, t in enumerate(times)]
    assert max(away) < 0.1
