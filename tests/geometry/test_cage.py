"""A fine surface in a coarse body: exact for affine motion, bounded outside, normals of the deformed surface."""

from __future__ import annotations

import time

import numpy as np
import pytest
from mesh_shapes import sphere
from test_tetmesh import block

from bunraku.contracts import InputError, Points
from bunraku.geometry import TetMesh, TriMesh, enclose, unit_rows, vertex_normals
from bunraku.geometry.cage import containing

X, F = sphere(4)
CUBE = block(3)
ONE = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))


def ball(radius: float, centre: Points | None = None) -> TriMesh:
    return TriMesh(radius * X + (np.full(3, 0.5) if centre is None else centre), F)


@pytest.fixture
def affine() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(3).normal(size=(3, 3)), np.array([3.0, -2.0, 7.0])


@pytest.mark.parametrize("radius", [0.4, 0.55, 1.2])
def test_affine_motion_is_followed_exactly(radius: float, affine: tuple[np.ndarray, np.ndarray]) -> None:
    """Inside, through the surface, and all around the body."""
    matrix, shift = affine
    fine = ball(radius)
    cage = enclose(fine, CUBE)
    assert np.abs(cage.points(CUBE.rest @ matrix.T + shift) - (fine.rest @ matrix.T + shift)).max() < 1e-12
    assert np.abs(cage.points(CUBE.rest) - fine.rest).max() < 1e-13
    assert np.abs(np.asarray(cage.matrix.sum(axis=1)) - 1.0).max() < 1e-13
    assert cage.matrix.format == "csr" and cage.matrix.shape == (fine.point_count, CUBE.point_count)


def test_inside_weights_are_barycentric() -> None:
    """None negative, four a vertex, of the tetrahedron that holds it; nothing outside."""
    cage = enclose(ball(0.4), CUBE)
    assert len(cage.outside) == 0 and cage.matrix.nnz <= 4 * cage.surface.point_count
    assert cage.matrix.data.min() > -1e-9 and cage.gain == pytest.approx(1.0)
    corners = CUBE.rest[CUBE.tets[cage.tets]]
    assert (cage.surface.rest >= corners.min(axis=1) - 1e-9).all()
    assert (cage.surface.rest <= corners.max(axis=1) + 1e-9).all()
    assert "vertices held by 162 tetrahedra" in str(cage)


def test_every_point_is_found_as_by_trying_all() -> None:
    """The tree against each tetrahedron in turn, points on faces, edges and corners among them."""
    points = np.random.default_rng(0).uniform(-0.2, 1.2, size=(400, 3))
    points = np.vstack([points, np.round(3 * points) / 3, np.round(6 * points) / 6])
    found, weights = containing(points, CUBE)
    corners = CUBE.rest[CUBE.tets]
    three = np.einsum("mij,nmj->nmi", np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)),
                      points[:, None] - corners[None, :, 0])  # fmt: skip
    least = np.concatenate([1.0 - three.sum(axis=2, keepdims=True), three], axis=2).min(axis=2)
    inside = least.max(axis=1) > -1e-10
    assert np.array_equal(found >= 0, inside) and 0.2 < inside.mean() < 0.9
    assert least[np.flatnonzero(inside), found[inside]] == pytest.approx(least[inside].max(axis=1), abs=1e-12)
    assert np.einsum("nk,nki->ni", weights[inside], corners[found[inside]]) == pytest.approx(points[inside], abs=1e-12)


def test_outside_is_told_with_its_distance() -> None:
    fine = TriMesh(np.array([[0.5, 0.5, 0.5], [1.3, 0.5, 0.5], [0.5, -0.01, 0.5]]), np.array([[0, 1, 2]]))
    cage = enclose(fine, CUBE)
    assert cage.outside.tolist() == [1, 2] and cage.how_far == pytest.approx([0.3, 0.01])
    assert "2 of them from outside, up to 0.3 m" in str(cage)


def test_a_far_vertex_is_not_thrown_about() -> None:
    """Half a size away one tetrahedron would amplify by ten; more nodes take that to about four, exact at rest."""
    body = block(6)
    far = TriMesh(ball(0.4).rest + [0, 0, 1.0], F)
    cage = enclose(far, body)
    corners = body.rest[body.tets[cage.tets]]
    three = np.einsum("nij,nj->ni", np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)),
                      far.rest - corners[:, 0])  # fmt: skip
    alone = np.abs(three).sum(axis=1) + np.abs(1.0 - three.sum(axis=1))
    assert alone.max() > 8.0 and cage.gain < 4.5
    noise = np.random.default_rng(1).uniform(-1.0, 1.0, body.rest.shape)
    assert np.abs(cage.points(body.rest + 1e-3 * noise) - far.rest).max() < 4.5e-3


def test_bent_and_twisted_it_stays_near(affine: tuple[np.ndarray, np.ndarray]) -> None:
    """A smooth motion that is not affine: off by the square of the cells' size, outside the body too."""

    def twist(x: Points) -> Points:
        c, s = np.cos(x[:, 2]), np.sin(x[:, 2])
        return np.stack([c * x[:, 0] - s * x[:, 1], s * x[:, 0] + c * x[:, 1], x[:, 2]], axis=1)

    errors = []
    for cells in (3, 6):
        body, fine = block(cells), ball(0.52)
        errors.append(np.abs(enclose(fine, body).points(twist(body.rest)) - twist(fine.rest)).max())
    assert errors[0] < 0.05 and errors[1] < 0.35 * errors[0]


def test_normals_are_those_of_the_deformed_surface(affine: tuple[np.ndarray, np.ndarray]) -> None:
    """For an affine motion the area-weighted normals go by the cofactors: n' ∝ F⁻ᵀ n, to rounding."""
    matrix, shift = affine
    fine = ball(0.45)
    cage = enclose(fine, CUBE)
    moved = cage.normals(CUBE.rest @ matrix.T + shift)
    turned = unit_rows(vertex_normals(fine.rest, fine.faces) @ np.linalg.inv(matrix)) * np.sign(np.linalg.det(matrix))
    assert np.abs(moved - turned).max() < 1e-12
    assert np.abs(cage.normals(CUBE.rest) - vertex_normals(fine.rest, fine.faces)).max() < 1e-12
    assert np.abs(cage.normals(CUBE.rest) - X).max() < 0.05


def test_a_body_of_one_tetrahedron() -> None:
    fine = TriMesh(0.1 * X + 0.2, F)
    cage = enclose(fine, ONE)
    stretched = ONE.rest * [1.0, 2.0, 3.0]
    assert cage.points(stretched) == pytest.approx(fine.rest * [1.0, 2.0, 3.0], abs=1e-14)
    around = enclose(TriMesh(1.0 * X + 0.25, F), ONE)
    assert around.points(stretched) == pytest.approx((X + 0.25) * [1.0, 2.0, 3.0], abs=1e-13)


def test_far_from_the_origin_no_digits_are_lost() -> None:
    away = np.array([1e4, -2e4, 3e4])
    cage = enclose(TriMesh(ball(0.4).rest + away, F), CUBE.with_rest(CUBE.rest + away))
    assert np.abs(cage.points(CUBE.rest) - ball(0.4).rest).max() < 1e-10


@pytest.mark.parametrize(
    ("fine", "body", "story"),
    [
        (ball(0.4, np.array([9.0, 0, 0])), CUBE, "the surface lies elsewhere than the body.*same unit, axis and place"),
        (TriMesh(np.zeros((0, 3)), np.zeros((0, 3), int)), CUBE, "surface: has no vertices"),
        (TriMesh(X * np.nan, F), CUBE, "surface, vertices 0.*not finite"),
        (ball(0.4), TetMesh(ONE.rest * [1, 1, 0], ONE.tets), "body, tets 0: tetrahedra without volume"),
    ],
)  # fmt: skip
def test_refusals(fine: TriMesh, body: TetMesh, story: str) -> None:
    with pytest.raises(InputError, match=story):
        enclose(fine, body)


def test_speed() -> None:
    """100,000 vertices in 20,000 tetrahedra well under a second; 20,000 move in a millisecond (five, on a busy day)."""
    body, many = block(15), TriMesh(np.random.default_rng(0).uniform(0, 1, (100_000, 3)), F)
    enclose(ball(0.4), CUBE)  # compiled
    begin = time.process_time()
    enclose(many, body)
    assert len(body.tets) > 20_000 and time.process_time() - begin < 2.0
    cage = enclose(TriMesh(many.rest[:20_000], np.zeros((0, 3), int)), body)
    spent = []
    for _ in range(10):
        begin = time.process_time()
        cage.points(body.rest)
        spent.append(time.process_time() - begin)
    assert min(spent) < 5e-3
