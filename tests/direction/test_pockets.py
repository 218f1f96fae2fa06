"""A sheet with a flap sewn along its middle: edges with three faces are simulated like any other."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.direction import Pin
from bunraku.direction.track import track
from bunraku.geometry import TriMesh, edges
from bunraku.motion import Animation


def flapped(order: np.ndarray | None = None) -> TriMesh:
    """A 6 × 2 strip in the plane y = 0 and, from its middle line, a flap of 2 × 2 that stands up."""
    strip = np.array([[x, 0.0, z] for x in np.linspace(-0.3, 0.3, 7) for z in (0.0, 0.1, 0.2)])
    flap = np.array([[0.0, y, z] for y in (0.1, 0.2) for z in (0.0, 0.1, 0.2)])
    quads = [[a, a + 1, a + 4, a + 3] for a in (3 * i + j for i in range(6) for j in range(2))]
    rows = [[9, 10, 11], [21, 22, 23], [24, 25, 26]]
    quads += [[rows[k][j], rows[k][j + 1], rows[k + 1][j + 1], rows[k + 1][j]] for k in range(2) for j in range(2)]
    faces = np.array([tri for a, b, c, d in quads for tri in ([a, b, c], [a, c, d])])
    return TriMesh(np.vstack([strip, flap]), faces if order is None else faces[order])


def falling(mesh: TriMesh, bending: str) -> np.ndarray:
    """(t, n, 3) the strip held at both ends, sagging for six frames."""
    still = Animation(mesh, np.arange(7) / 24.0, np.repeat(mesh.rest[None], 7, axis=0))
    ends = np.flatnonzero(np.abs(mesh.rest[:, 0]) > 0.29)
    take = track(still, mesh, None, material="leather", pins=[Pin(ends)], bending=bending, tolerance=1e-9)
    return take.animation.points


@pytest.mark.parametrize("bending", ["plate", "hinge"])
def test_which_face_comes_first_does_not_matter(bending: str) -> None:
    mesh = flapped()
    assert edges(mesh.faces).face_count.max() == 3
    order = np.random.default_rng(2).permutation(len(mesh.faces))
    points, again = falling(mesh, bending), falling(flapped(order), bending)
    sag = np.abs(points[-1] - mesh.rest).max()
    assert sag > 1e-3
    assert np.abs(points - again).max() < 1e-6 * sag


def test_the_flap_keeps_its_angle_to_the_sheet() -> None:
    """The strip is even to both sides, so the flap stays upright, and its weight is carried: the middle sags more."""
    mesh = flapped()
    points = falling(mesh, "plate")
    flap = np.arange(21, 27)
    assert np.abs(points[-1, flap, 0]).max() < 1e-3
    assert np.abs(np.ptp(points[-1][:, 1]) - 0.2) < 0.05
    bare = TriMesh(mesh.rest[:21], mesh.faces[:24])
    assert points[-1, 10, 1] < falling(bare, "plate")[-1, 10, 1] - 1e-4
