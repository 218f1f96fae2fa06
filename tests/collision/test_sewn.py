"""What contact leaves out around seams: exactly what would be neighbours if sewn vertices were one."""

from __future__ import annotations

import numpy as np

from bunraku.collision import Surfaces
from bunraku.collision.sewn import Sewn
from bunraku.contracts import Integers
from bunraku.geometry import TriMesh, intersecting_faces
from bunraku.scenes.study import grid_mesh


def _hinged(angle: float) -> tuple[TriMesh, Integers, Integers]:
    """Two squares of 3 × 3 vertices with one border each in the same place, at an angle [rad]; the pairs, and the faces
    with those taken for one."""
    flat = grid_mesh(np.linspace(0, 0.2, 3), np.linspace(0, 0.2, 3))
    other = np.array(flat.rest)
    other[:, :2] = flat.rest[:, :1] * np.array([[np.cos(angle), np.sin(angle)]])
    border = np.flatnonzero(flat.rest[:, 0] < 1e-9)
    pairs = np.stack([border, border + 9], axis=1)
    mesh = TriMesh(np.concatenate([flat.rest, other]), np.concatenate([flat.faces, flat.faces + 9]))
    one = np.arange(18)
    one[pairs[:, 1]] = pairs[:, 0]
    return mesh, pairs, one[mesh.faces]


def test_neighbours_are_elements_with_sewn_corners() -> None:
    random = np.random.default_rng(3)
    pairs = random.integers(0, 30, (12, 2))
    sewn = Sewn(pairs, 30)
    first, second = random.integers(0, 30, (400, 2)), random.integers(0, 30, (400, 3))
    related = {tuple(sorted(pair)) for pair in pairs.tolist()}
    expected = [
        any(tuple(sorted((a, b))) in related for a in one for b in two)
        for one, two in zip(first.tolist(), second.tolist(), strict=True)
    ]
    assert 0 < sum(expected) < 400
    assert sewn.neighbours(first, second).tolist() == expected
    assert not Sewn(np.zeros((0, 2), np.int64), 30).neighbours(first, second).any()


def test_a_seam_feels_what_the_welded_surface_feels() -> None:
    mesh, pairs, welded = _hinged(np.radians(20.0))
    reach = 0.05  # the angle closes to less than that near the seam
    used, faces = np.unique(welded, return_inverse=True)
    whole = Surfaces(TriMesh(mesh.rest[used], faces.reshape(-1, 3)), reach=reach).pairings[0][0]
    sewn = Surfaces(mesh, reach=reach, sewn=pairs).pairings[0][0]
    near, expected = sewn.near(mesh.rest), whole.near(mesh.rest[used])
    assert len(expected) > 0 and len(near) == len(expected)
    np.testing.assert_allclose(near.value(), expected.value(), rtol=1e-12)
    np.testing.assert_allclose(near.closest(), expected.closest(), rtol=1e-12)


def test_a_seam_may_close_but_its_panels_may_not_pass_through_each_other() -> None:
    mesh, pairs, _ = _hinged(np.radians(90.0))
    surfaces = Surfaces(mesh, reach=0.01, gap=0.001, sewn=pairs)
    pairing = surfaces.pairings[0][0]
    open_ = np.array(mesh.rest)
    open_[9:, 0] -= 0.05
    assert pairing.free_share(open_, mesh.rest) == 1.0  # distance zero at the seam, and nothing else near
    through = np.array(mesh.rest)
    through[9:, 0] += 0.4 * mesh.rest[9:, 1] / 0.2  # the second panel falls over onto the first, and through it
    through[9:, 1] *= -0.5
    assert pairing.free_share(mesh.rest, through) < 1.0
    assert not pairing.intersects(mesh.rest) and pairing.intersects(0.9 * mesh.rest + 0.1 * open_) is False
    apart = Surfaces(mesh, reach=0.01, gap=0.001).pairings[0][0]
    assert apart.free_share(open_, mesh.rest) < 1.0  # without the seam they keep off each other


def test_triangles_sewn_to_each_other_meet_by_right() -> None:
    mesh, pairs, welded = _hinged(np.radians(60.0))
    assert intersecting_faces(mesh.rest, mesh.faces, touching=True).any()
    assert not intersecting_faces(mesh.rest, mesh.faces, touching=True, sewn=pairs).any()
    assert not intersecting_faces(mesh.rest, welded, touching=True).any()
    crossed = np.array(mesh.rest)
    crossed[[9 + 2, 9 + 5, 9 + 8], 1] *= -1.0  # the far border goes through the first panel
    crossed[9:, 0] += 0.02
    assert intersecting_faces(crossed, mesh.faces, sewn=pairs[:1]).any()
