"""Mass matrices and subdivision."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import (
    TriMesh,
    area_mass_matrix,
    check_physical,
    cotangent_laplacian,
    edges,
    lumped_mass,
    subdivide,
    tet_bar,
    tet_laplacian,
    tet_lumped_mass,
    tet_mass_matrix,
    tet_masses,
)
from bunraku.scenes import box_mesh
from bunraku.testing import sheet

EPS = float(np.finfo(np.float64).eps)


@pytest.fixture
def crooked() -> TriMesh:
    """A rectangle 2 × 1 whose inner vertices are shaken."""
    flat = sheet(6, 3, length=2.0)
    inner = (flat.rest[:, 0] % 2 > 0) & (flat.rest[:, 1] % 1 > 0)
    shift = np.random.default_rng(1).uniform(-0.1, 0.1, flat.rest.shape) * inner[:, None] * [1, 1, 0]
    return flat.with_rest(flat.rest + shift)


def test_row_sums_are_the_lumped_mass(crooked: TriMesh) -> None:
    density = np.random.default_rng(0).uniform(1.0, 2.0, len(crooked.faces))
    matrix, lumped = area_mass_matrix(crooked, density), lumped_mass(crooked, density)
    assert matrix.sum(axis=1) == pytest.approx(lumped, rel=50 * EPS)
    assert abs(matrix - matrix.T).max() == 0.0


def test_total_is_the_area(crooked: TriMesh) -> None:
    assert lumped_mass(crooked).sum() == pytest.approx(2.0, rel=50 * EPS)
    assert area_mass_matrix(crooked).sum() == pytest.approx(2.0, rel=50 * EPS)


def test_inner_products_of_linear_functions_are_exact(crooked: TriMesh) -> None:
    """∫ (a + b x + c y)(d + e x + f y) over [0, 2] × [0, 1], moment by moment."""
    x, y, _ = crooked.rest.T
    one, matrix = np.ones_like(x), area_mass_matrix(crooked)
    exact = {"11": 2.0, "1x": 2.0, "1y": 1.0, "xx": 8 / 3, "xy": 1.0, "yy": 2 / 3}
    values = {"1": one, "x": x, "y": y}
    for pair, integral in exact.items():
        assert values[pair[0]] @ matrix @ values[pair[1]] == pytest.approx(integral, rel=50 * EPS)


def test_the_box_after_four_levels_has_1538_vertices() -> None:
    """Euler: V − E + F = 2 with 2E = 3F, and every level takes F to 4F: V = 2 + F/2 = 2 + 12·4⁴/2 = 1538."""
    box = box_mesh()
    for level in range(5):
        fine, prolongation = subdivide(box, level)
        count = 2 + 12 * 4**level // 2
        assert (fine.point_count, len(fine.faces)) == (count, 12 * 4**level)
        assert prolongation.shape == (count, 8)
    assert subdivide(box, 4)[0].point_count == 1538


def test_prolongation_keeps_vertices_first_and_linear_functions(crooked: TriMesh) -> None:
    fine, prolongation = subdivide(crooked, 2)
    assert np.array_equal(fine.rest[: crooked.point_count], crooked.rest)
    linear = lambda rest: rest @ np.array([2.0, -3.0, 0.5]) + 1.0  # noqa: E731
    assert prolongation @ linear(crooked.rest) == pytest.approx(linear(fine.rest), abs=20 * EPS)
    assert prolongation.sum(axis=1) == pytest.approx(np.ones(fine.point_count), abs=4 * EPS)
    check_physical(fine)
    assert edges(fine.faces).face_count.max() == 2


def test_subdivision_keeps_area_winding_and_coarse_integrals(crooked: TriMesh) -> None:
    """Pᵀ M_fine P = M_coarse: a coarse function is the same function on the fine mesh."""
    fine, prolongation = subdivide(crooked, 1)
    galerkin = prolongation.T @ area_mass_matrix(fine) @ prolongation
    assert abs(galerkin - area_mass_matrix(crooked)).max() <= 50 * EPS
    normals = np.cross(
        fine.rest[fine.faces[:, 1]] - fine.rest[fine.faces[:, 0]],
        fine.rest[fine.faces[:, 2]] - fine.rest[fine.faces[:, 0]],
    )
    assert (normals[:, 2] > 0).all()


def test_no_level_changes_nothing_and_negative_ones_are_refused() -> None:
    box = box_mesh()
    same, prolongation = subdivide(box, 0)
    assert np.array_equal(same.rest, box.rest) and np.array_equal(same.faces, box.faces)
    assert abs(prolongation - np.eye(8)).max() == 0.0
    with pytest.raises(InputError, match=r"must be a whole number \(got -1\)"):
        subdivide(box, -1)


def test_the_laplacian_is_the_energy_of_gradients(crooked: TriMesh) -> None:
    """fᵀLf = ∫|∇f|² of piecewise linear f, worked out face by face; constants cost nothing."""
    laplacian = cotangent_laplacian(crooked)
    random = np.random.default_rng(4)
    f = random.normal(size=crooked.point_count)
    total = 0.0
    for a, b, c in crooked.faces:
        edges = np.stack([crooked.rest[b] - crooked.rest[a], crooked.rest[c] - crooked.rest[a]])
        gram = edges @ edges.T
        slope = np.array([f[b] - f[a], f[c] - f[a]])
        total += 0.5 * np.sqrt(np.linalg.det(gram)) * slope @ np.linalg.solve(gram, slope)
    assert f @ laplacian @ f == pytest.approx(total, rel=1e-12) and total > 0
    assert np.abs(laplacian @ np.ones(crooked.point_count)).max() < 1e-12
    assert np.abs((laplacian - laplacian.T).toarray()).max() < 1e-14


def test_row_sums_of_the_mass_of_tetrahedra_are_the_lumped_mass() -> None:
    block = tet_bar((3, 2, 2), (0.3, 0.2, 0.1))
    density = np.random.default_rng(0).uniform(500.0, 900.0, len(block.tets))
    matrix, lumped = tet_mass_matrix(block, density), tet_lumped_mass(block, density)
    assert matrix.format == "csr" and abs(matrix - matrix.T).max() <= 10 * EPS * abs(matrix).max()
    assert matrix.sum(axis=1) == pytest.approx(lumped, rel=50 * EPS)
    assert lumped.sum() == pytest.approx(tet_masses(block, density).sum(), rel=50 * EPS)
    assert tet_lumped_mass(block, 700.0).sum() == pytest.approx(700.0 * 0.3 * 0.2 * 0.1, rel=50 * EPS)


def test_inner_products_of_linear_functions_over_tetrahedra_are_exact() -> None:
    """∫ over [0, 2] × [0, 1] × [0, 3], moment by moment; inner vertices shaken."""
    block = tet_bar((4, 3, 3), (2.0, 1.0, 3.0))
    inner = np.setdiff1d(np.arange(block.point_count), block.surface_vertices)
    rest = block.rest.copy()
    rest[inner] += np.random.default_rng(2).uniform(-0.05, 0.05, (len(inner), 3))
    block = block.with_rest(rest)
    x, y, z = rest.T
    values, matrix = {"1": np.ones_like(x), "x": x, "y": y, "z": z}, tet_mass_matrix(block)
    exact = {"11": 6.0, "1x": 6.0, "1z": 9.0, "xx": 8.0, "xy": 3.0, "yz": 4.5, "zz": 18.0}
    for pair, integral in exact.items():
        assert values[pair[0]] @ matrix @ values[pair[1]] == pytest.approx(integral, rel=100 * EPS)


def test_the_laplacian_of_tetrahedra_is_the_energy_of_linear_functions() -> None:
    """∫ weight |∇f|²: of x, y and z it is the weighted volume, of a constant nothing; symmetric, nothing negative."""
    bar = tet_bar((3, 2, 2), (0.3, 0.2, 0.4))
    weight = 1.0 + np.arange(len(bar.tets)) / len(bar.tets)
    matrix = tet_laplacian(bar, weight).toarray()
    assert bar.rest.T @ matrix @ bar.rest == pytest.approx(np.sum(weight * bar.volumes) * np.eye(3), abs=1e-15)
    assert np.abs(matrix.sum(axis=1)).max() < 1e-15 and matrix == pytest.approx(matrix.T, abs=1e-15)
    values = np.linalg.eigvalsh(tet_laplacian(bar).toarray())
    assert np.abs(values[0]) < 1e-15 and values[1] > 1e-4 * values[-1]
