"""A mesh that hangs on another: it stays where it is at rest, and goes rigidly with what moves rigidly."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.geometry import TriMesh, along, embed, subdivide
from bunraku.scenes import box_mesh
from bunraku.testing import sheet


def rotation(seed: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


@pytest.fixture
def ball() -> TriMesh:
    """A finer surface round the box, nowhere on it."""
    fine = subdivide(box_mesh(), 2)[0]
    outward = fine.rest - fine.rest.mean(axis=0)
    return fine.with_rest(fine.rest + 0.1 * outward / np.linalg.norm(outward, axis=1, keepdims=True))


def test_at_rest_nothing_moves(ball: TriMesh) -> None:
    found = embed(ball, box_mesh())
    assert found.distances.max() > 0.05
    assert np.allclose(found.points(box_mesh().rest), ball.rest, atol=1e-14)
    assert np.allclose(found.matrix.sum(axis=1), 1.0) and found.matrix.data.min() > 0


@pytest.mark.parametrize("seed", range(3))
def test_rigid_motion_is_carried_exactly(ball: TriMesh, seed: int) -> None:
    """Half turns included: the mean rotation of faces that agree is that rotation."""
    turn, shift = rotation(seed), np.array([0.3, -2.0, 5.0])
    found = embed(ball, box_mesh())
    assert np.allclose(found.points(box_mesh().rest @ turn.T + shift), ball.rest @ turn.T + shift, atol=1e-13)


def test_the_velocity_is_the_rate_of_the_points(ball: TriMesh) -> None:
    found, x = embed(ball, box_mesh()), box_mesh().rest
    spin = np.cross([0.0, 2.0, 1.0], x)
    assert np.allclose(found.velocity(x, spin), np.cross([0.0, 2.0, 1.0], ball.rest), atol=1e-7)


def test_a_subdivision_lies_on_its_mesh_and_follows_it_linearly() -> None:
    coarse = sheet(3, 2)
    fine, prolongation = subdivide(coarse, 2)
    pose = np.random.default_rng(0).normal(size=coarse.rest.shape)
    nearest = embed(fine, coarse)
    assert nearest.distances.max() < 1e-12
    assert np.allclose(nearest.points(pose), prolongation @ pose, atol=1e-12)
    assert np.allclose(along(prolongation, coarse).points(pose), prolongation @ pose)


def test_offsets_turn_smoothly_across_faces() -> None:
    """A sheet above a strip that is bent to an arc: vertices close together stay close together."""
    carrier = sheet(8, 2)
    fine = sheet(64, 16)
    fine = fine.with_rest(fine.rest + [0.0, 0.0, 0.1])
    radius = 0.5
    angle = carrier.rest[:, 0] / radius
    bent = np.stack([radius * np.sin(angle), carrier.rest[:, 1], radius * (1 - np.cos(angle))], axis=1)
    x = embed(fine, carrier).points(bent)
    edges = np.concatenate([fine.faces[:, [0, 1]], fine.faces[:, [1, 2]]])
    stretch = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / np.linalg.norm(
        fine.rest[edges[:, 0]] - fine.rest[edges[:, 1]], axis=1
    )
    # 0.1 inside an arc of radius 0.5 shortens by a fifth; a jump of the frame by π/8·… between faces would tear.
    assert 0.7 < stretch.min() and stretch.max() < 1.1
