"""Static plates against closed forms on five kinds of mesh: the table that `bending_table.py` prints.

D Δ²w = q on the unit square, ν = 0.3:  supported rim  w(½,½) = 0.00406235 q/D,  clamped rim  w(½,½) = 0.00126532 q/D,
corner force P on free edges  w = P x y / (2 D (1 − ν)).
"""

from __future__ import annotations

import numpy as np
import pytest
from bending_table import (
    PATCH_SLOPE,
    clamped_centre,
    extrapolated,
    imposed,
    patch,
    squared_step,
    supported_centre,
    twisted_corner,
)
from plates import KINDS, RIGID, plate, square


def assert_plate(kind: str, clamped: bool, counts: tuple[int, int], seed: int = 0) -> None:
    """The deflection is that of a plate but for an error ∝ h²: from above, and nine tenths of it extrapolated away.

    An error e ∝ h² falls by the ratio of h²; what is not ∝ h² is allowed a tenth of the finer mesh's error.
    """
    measure = clamped_centre if clamped else supported_centre
    meshes = [square(kind, n, seed) for n in counts]
    coarse, fine = (measure(mesh, "plate") for mesh in meshes)
    ratio = squared_step(meshes[0], meshes[1])
    assert 0 < fine - 1 <= 1.2 * (coarse - 1) / ratio
    assert extrapolated(coarse, fine, ratio) == pytest.approx(1.0, abs=0.1 * (fine - 1))


@pytest.mark.parametrize("clamped", [False, True], ids=["supported", "clamped"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_plate_is_a_plate_on_every_mesh(kind: str, clamped: bool) -> None:
    assert_plate(kind, clamped, (16, 32))


@pytest.mark.parametrize("kind", KINDS)
def test_constant_twist_is_exact(kind: str) -> None:
    """A constant moment tensor is in the space, so only rounding is left, on any mesh."""
    assert twisted_corner(square(kind, 8), "plate") == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_curvature_costs_what_it_should(kind: str) -> None:
    """½ D [(1 − ν) K:K + ν tr²K] per area, on the whole square and on any mesh.

    For piecewise constant moments σ with continuous σ_nn, ∫ σ:∇²w = Σ_edges σ_nn |E| [∂w_h/∂n] if w_h has w's values
    at the vertices: so the constant moment of a quadratic w solves the discrete equations. Left over: angles differ
    from slopes by their square, summed over the square's two unit sides (below 1e-9 here), the ghosts' compliance of
    1/RIGID, at most as much energy as the whole square's, and rounding of angles, eps / slope of an edge.
    """
    assert patch(square(kind, 16)) <= 1.0 / RIGID + 1e-9 + 16 * np.finfo(float).eps / PATCH_SLOPE


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_free_edges_disturb_only_a_layer(kind: str) -> None:
    """A free edge has no moment, so next to it the imposed curvature costs less. With C banded, C⁻¹ decays by a factor
    an edge [Demko 1984]: what reaches the inner half falls as q^(n/4), so that the order in h doubles with n. No power
    of h does that: above 4 from 8 to 16 edges, above 8 from 16 to 32.
    """
    found = np.array([imposed(square(kind, n), "plate") for n in (8, 16, 32)])
    orders = np.log2(found[:-1] / found[1:])
    assert orders[0] > 4 and orders[1] > 8


@pytest.mark.parametrize("clamped", [False, True])
def test_deflections_converge_as_h_squared(clamped: bool) -> None:
    """Order measured on the one-diagonal grid: log₂ of the ratio of errors at 8, 16, 32 edges a side."""
    measure = clamped_centre if clamped else supported_centre
    errors = [abs(measure(square("one-diag", n), "plate") - 1) for n in (8, 16, 32)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes == pytest.approx([2.0, 2.0], abs=0.33)


def test_the_hinge_is_no_plate() -> None:
    """The contrast: more than a tenth off in every measure on the one-diagonal grid, and a finer mesh does not help."""
    for n in (16, 32):
        mesh = square("one-diag", n)
        for measure in (supported_centre, clamped_centre, twisted_corner):
            assert abs(measure(mesh, "hinge") - 1) > 0.1
    assert imposed(square("one-diag", 16), "hinge") > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("clamped", [False, True], ids=["supported", "clamped"])
@pytest.mark.parametrize("kind", ["cvt", "random"])
@pytest.mark.parametrize("seed", [1, 2])
def test_other_meshes_of_a_kind_are_plates_too(kind: str, seed: int, clamped: bool) -> None:
    assert_plate(kind, clamped, (24, 48), seed)


def test_stiffness_by_elimination_is_the_bordered_matrix() -> None:
    """Two routes to one deflection."""
    given = plate(square("random", 8), clamped=True)
    load = np.random.default_rng(0).normal(size=given.mesh.point_count)
    direct = given.deflection(load)[given.free]
    assert np.linalg.solve(given.stiffness(), load[given.free]) == pytest.approx(
        direct, abs=1e-10 * np.abs(direct).max()
    )
