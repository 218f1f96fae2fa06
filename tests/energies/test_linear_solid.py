"""The stiffness of a body at rest, of one material and of several."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.energies import Solid, linear_stiffness, solid_mass
from bunraku.geometry import TetMesh, tet_bar, tet_masses
from bunraku.materials import SolidLaw, SolidMaterial
from bunraku.testing import dense_tangent

BAR = tet_bar((3, 2, 2), (0.3, 0.2, 0.2))
SOFT = SolidMaterial(young=2e4, poisson=0.4, density=500.0)
HARD = SolidMaterial(young=3e6, poisson=0.1, density=2000.0)


@pytest.mark.parametrize("law", ["corotational", "neohookean"])
def test_it_is_the_tangent_of_either_law_at_rest(law: SolidLaw) -> None:
    expected = dense_tangent(Solid(BAR, SolidMaterial(2e4, 0.4, 500.0, law=law)).elastic(0.0), BAR.rest, psd=False)
    found = linear_stiffness(BAR, SOFT).toarray()
    assert found == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())
    assert (found == found.T).all()


def test_several_materials_are_each_where_they_belong() -> None:
    """The sum of the bodies of either material alone; masses likewise."""
    which = (BAR.rest[BAR.tets].mean(axis=1)[:, 0] > 0.15).astype(np.int64)
    assert 0 < which.sum() < len(which)
    parts = [linear_stiffness(_part(which == k), one).toarray() for k, one in enumerate((SOFT, HARD))]
    expected = np.zeros((BAR.rest.size, BAR.rest.size))
    for k, part in enumerate(parts):
        own = np.unique(BAR.tets[which == k])
        places = (3 * own[:, None] + np.arange(3)).reshape(-1)
        expected[np.ix_(places, places)] += part
    found = linear_stiffness(BAR, [SOFT, HARD], which).toarray()
    assert found == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())
    masses = solid_mass(BAR, [SOFT, HARD], which)
    assert masses.sum() == pytest.approx(tet_masses(BAR, np.where(which, 2000.0, 500.0)).sum(), rel=1e-14)
    assert solid_mass(BAR, SOFT) == pytest.approx(solid_mass(BAR, [SOFT, HARD], 0 * which), rel=1e-15)


def _part(kept: np.ndarray) -> TetMesh:
    own, tets = np.unique(BAR.tets[kept], return_inverse=True)
    return TetMesh(BAR.rest[own], tets.reshape(-1, 4))


def test_rigid_motion_is_free() -> None:
    stiffness = linear_stiffness(BAR, HARD)
    turned = np.cross([0.3, -0.5, 0.7], BAR.rest) + [1.0, 2.0, 3.0]
    assert np.abs(stiffness @ turned.reshape(-1)).max() < 1e-11 * np.abs(stiffness).max()


@pytest.mark.parametrize(
    ("of_tet", "said"),
    [
        (None, "need to know"),
        (np.zeros(3, dtype=np.int64), "material of every tetrahedron"),
        (np.full(len(BAR.tets), 2), "from 0 to 1"),
        (np.zeros(len(BAR.tets)), "whole numbers"),
    ],
)
def test_materials_without_a_place_are_refused(of_tet: np.ndarray | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        linear_stiffness(BAR, [SOFT, HARD], of_tet)
