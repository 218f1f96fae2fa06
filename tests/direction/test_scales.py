"""Test functions: weights, correspondence, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bunraku.contracts import InputError
from bunraku.direction.track import TestFunctions, gaussians, hierarchy, pointwise, scales
from bunraku.geometry import area_mass_matrix
from bunraku.motion import Animation
from bunraku.scenes import box_mesh
from bunraku.testing import sheet


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_weights_sum_to_one_and_hats_cover_the_shell(levels: int) -> None:
    guide = box_mesh()
    shell, tests = hierarchy(guide, levels)
    assert tests.count == 8
    for weights in tests.averages(guide, shell):
        assert weights.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-14)
        assert weights.data.min() > 0
    assert tests.shell.sum(axis=0) == pytest.approx(np.ones(shell.point_count), abs=1e-14)


def test_the_prolonged_guide_meets_its_own_averages() -> None:
    """∫ φ_k P x̄ over the shell is ∫ φ_k x̄ over the guide, for any pose x̄: the two averages are one functional."""
    guide = box_mesh()
    shell, tests = hierarchy(guide, 2)
    of_guide, of_shell = tests.averages(guide, shell)
    assert tests.prolongation is not None
    assert abs(of_shell @ tests.prolongation - of_guide).max() <= 1e-14
    pose = np.random.default_rng(0).normal(size=guide.rest.shape)
    assert of_shell @ (tests.prolongation @ pose) == pytest.approx(of_guide @ pose, abs=1e-13)


def test_averages_are_integrals_of_the_test_functions() -> None:
    """The other route: ∫ φ_k x / ∫ φ_k, with the mass matrix as inner product."""
    guide = sheet(2, 2)
    shell, tests = hierarchy(guide, 1)
    _, of_shell = tests.averages(guide, shell)
    hats, matrix = tests.shell.toarray(), area_mass_matrix(shell).toarray()
    x = np.random.default_rng(1).normal(size=shell.rest.shape)
    exact = (hats @ matrix @ x) / (hats @ matrix @ np.ones(shell.point_count))[:, None]
    assert of_shell @ x == pytest.approx(exact, abs=1e-14)


def test_point_tests_pick_vertices() -> None:
    guide, shell = sheet(1, 1), sheet(2, 2)
    tests = pointwise(guide, shell, np.array([[0, 0], [3, 8]]))
    of_guide, of_shell = tests.averages(guide, shell)
    assert of_guide @ guide.rest == pytest.approx(guide.rest[[0, 3]])
    assert of_shell @ shell.rest == pytest.approx(shell.rest[[0, 8]])
    assert tests.count == 2


def test_wrong_test_functions_are_refused() -> None:
    guide = sheet(1, 1)
    shell, tests = hierarchy(guide, 1)
    with pytest.raises(InputError, match="same number of test functions"):
        TestFunctions(sparse.eye_array(4, format="csr"), sparse.eye_array(5, format="csr"))
    with pytest.raises(InputError, match="test functions belong to other meshes"):
        tests.averages(shell, guide)
    empty = TestFunctions(sparse.csr_array((1, 4)), sparse.csr_array(np.ones((1, 9))))
    with pytest.raises(InputError, match="regions 0: test functions without any weight"):
        empty.averages(guide, shell)
    with pytest.raises(InputError, match="levels"):
        hierarchy(guide, -1)


def test_rows_that_follow_from_others_are_found_across_blocks_as_by_rank() -> None:
    """More rows than a block holds, every one overlapping others; each sixth is a sum of two before it."""
    from bunraku.direction.track.independence import dependent_rows

    random = np.random.default_rng(3)
    rows = random.uniform(size=(400, 500)) * (random.uniform(size=(400, 500)) < 0.05)
    sums = np.arange(5, 400, 6)
    rows[sums] = rows[sums - 2] + rows[sums - 3]
    found = dependent_rows(sparse.csr_array(rows))
    assert len(found) == 400 - np.linalg.matrix_rank(rows) == len(sums)
    assert np.linalg.matrix_rank(np.delete(rows, found, axis=0)) == 400 - len(sums)


def test_a_scale_finer_than_the_guides_edges_is_said(caplog: pytest.LogCaptureFixture) -> None:
    mesh = sheet(4, 4)
    edge = float(np.linalg.norm(mesh.rest[mesh.faces[0, 1]] - mesh.rest[mesh.faces[0, 0]]))
    still = Animation(mesh, np.arange(2) / 24.0, np.tile(mesh.rest, (2, 1, 1)))
    scales(still, 2 * edge)
    gaussians(mesh, 2 * edge)
    assert not caplog.text
    scales(still, [(0.0, 2 * edge), (1.0, 0.1 * edge)])
    assert "the finest scale it can direct is about that" in caplog.text and f"not {0.1 * edge:.2g} m" in caplog.text
    caplog.clear()
    gaussians(mesh, 0.1 * edge)
    assert "width: the guide's edges are" in caplog.text
