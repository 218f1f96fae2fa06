"""Balls, capsules and planes: closed, outward, of the right size."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision import Plane, capsule, sphere
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh, edges, intersecting_faces

CENTRE = np.array([0.3, -0.2, 0.7])


def volume(mesh: TriMesh) -> float:
    """Signed, positive where faces are seen counter-clockwise from outside."""
    a, b, c = (mesh.rest[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def closed(mesh: TriMesh) -> bool:
    """Every side is run through once each way, and every vertex is used."""
    sides = np.concatenate([mesh.faces[:, [k, (k + 1) % 3]] for k in range(3)])
    there = {tuple(side) for side in sides.tolist()}
    used = len(np.unique(mesh.faces)) == mesh.point_count
    return used and len(there) == len(sides) and all((b, a) in there for a, b in there)


def genus_free(mesh: TriMesh) -> bool:
    """One ball: n − e + f = 2."""
    return mesh.point_count - len(edges(mesh.faces).vertices) + len(mesh.faces) == 2


@pytest.mark.parametrize("edge", [None, 0.1, 0.05])
def test_sphere(edge: float | None) -> None:
    """Corners on the sphere; faces of edges ≤ e without obtuse angles have circumradius c ≤ e/√2, so all of them lie
    beyond √(r² − c²), and the volume is short by at most 3/2 c²/r².
    """
    radius = 0.4
    ball = sphere(CENTRE, radius, edge)
    assert np.linalg.norm(ball.rest - CENTRE, axis=1) == pytest.approx(radius, rel=1e-14)
    assert closed(ball) and genus_free(ball)
    corners = ball.rest[ball.faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    assert longest <= 1.25 * (edge or radius / 8.0)
    whole = 4.0 / 3.0 * np.pi * radius**3
    assert (1.0 - 0.75 * (longest / radius) ** 2) * whole < volume(ball) < whole
    assert not intersecting_faces(ball.rest, ball.faces).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "end", [[0.3, 0.5, 0.7], [0.3, -0.2, 1.7], [-0.6, -0.2, 0.7], [0.5, 0.3, 0.1], [0.3, -0.9, 0.7]]
)
def test_capsule(end: list[float]) -> None:
    """All corners within rounding of the radius from the segment; closed, outward, the volume of tube and ball."""
    radius, second = 0.2, np.array(end)
    body = capsule(CENTRE, second, radius)
    length = float(np.linalg.norm(second - CENTRE))
    along = (second - CENTRE) / length
    foot = np.clip((body.rest - CENTRE) @ along, 0.0, length)
    away = np.linalg.norm(body.rest - CENTRE - foot[:, None] * along, axis=1)
    assert away == pytest.approx(radius, rel=1e-12)
    assert closed(body) and genus_free(body)
    corners = body.rest[body.faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
    whole = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    assert (1.0 - 0.75 * (longest / radius) ** 2) * whole < volume(body) < whole
    assert not intersecting_faces(body.rest, body.faces).any()


def test_a_capsule_without_length_is_a_ball() -> None:
    body, ball = capsule(CENTRE, CENTRE, 0.2), sphere(CENTRE, 0.2)
    assert np.array_equal(body.rest, ball.rest)
    assert np.array_equal(body.faces, ball.faces)


def test_a_plane_has_a_direction() -> None:
    assert Plane(np.zeros(3), np.array([0.0, 3.0, 4.0])).normal == pytest.approx([0.0, 0.6, 0.8])
    for point, normal in (
        ([0, 0, 0], [0, 0, 0]),
        ([0, 0], [0, 1, 0]),
        ([np.nan, 0, 0], [0, 1, 0]),
        ([0, 0, 0], [0, 1]),
    ):
        with pytest.raises(InputError, match=r"ground.*(three finite numbers are needed|has no direction)"):
            Plane(np.array(point), np.array(normal))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sphere([0, 0, 0], 0.0), "radius"),
        (lambda: sphere([0, 0, 0], np.inf), "radius"),
        (lambda: sphere([0, 0, 0], 1.0, 0.0), "edge"),
        (lambda: sphere([0, 0], 1.0), "three finite numbers"),
        (lambda: capsule([0, 0, 0], [0, np.nan, 0], 1.0), "three finite numbers"),
        (lambda: capsule([0, 0, 0], [0, 1, 0], -1.0), "radius"),
    ],
)
def test_bad_shapes_are_refused(make, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()
