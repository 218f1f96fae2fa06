"""What of a skin is coupled: bumps in their places, or natural waves, which are everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from bunraku import InputError
from bunraku.direction.track import spectral as room
from bunraku.direction.track.independence import dependent_rows
from bunraku.direction.track.spectral import spectral
from bunraku.direction.wrinkle import Skin
from bunraku.direction.wrinkle.coupling import coupled
from bunraku.geometry import lumped_mass
from bunraku.geometry.tet_bar import tet_bar
from bunraku.materials import SkinOnSoft
from bunraku.scenes.bent_bar import BentBar, bar_study, bend, even_kink, kink
from bunraku.scenes.study import grid_mesh

SQUARE = grid_mesh(np.linspace(0.0, 1.0, 25), np.linspace(0.0, 1.0, 25))
SHORT, LONG = SkinOnSoft(4e-3, 1e7, 1e5), SkinOnSoft(8e-3, 1e7, 1e5)
"""waves of 81 and of 162 mm"""


def test_all_waves_of_a_square_that_are_long_enough_are_taken() -> None:
    """cos(πix) cos(πjz): those with i² + j² up to (1/width)², none of which is near that."""
    i, j = np.meshgrid(np.arange(9), np.arange(9))
    for width in (0.3, 0.4):
        assert spectral(SQUARE, width).count == int((i**2 + j**2 <= width**-2).sum())


def test_they_are_independent_and_the_first_is_the_mean() -> None:
    tests = spectral(SQUARE, 0.2)
    mass, functions = lumped_mass(SQUARE), tests.shell.toarray()
    assert functions * mass @ functions.T == pytest.approx(np.eye(tests.count), abs=1e-9)
    rows = tests.averages(SQUARE, SQUARE)[1]
    assert not len(dependent_rows(rows))
    assert np.abs(rows.toarray()).sum(axis=1) == pytest.approx(1.0)
    assert np.abs(rows[[0]].toarray()[0]) == pytest.approx(mass / mass.sum(), abs=1e-12)


def test_copies_of_a_wave_are_taken_together_or_not_at_all() -> None:
    """Of two with the same eigenvalue any mixture is one: half of a pair would be left to chance."""
    values = np.array([0.0, 1.0, 1.0 + 1e-9, 2.0])
    laplacian: Any = sparse.diags_array(values).tocsr()
    for highest, kept in ((1.0 + 5e-10, 1), (1.5, 3), (0.5, 1)):
        assert room._long_waves(laplacian, np.ones(4), highest, 1).shape[1] == kept


@pytest.mark.parametrize("coupling", ["local", "spectral"])
def test_a_rigid_motion_makes_no_wrinkles_and_averages_are_met(coupling: Any) -> None:
    mesh = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
    moved = mesh.rest @ Rotation.from_rotvec([0.7, -1.1, 2.0]).as_matrix().T + [0.3, 1.0, -2.0]
    tests = coupled(mesh, 0.12, coupling, threads=1)
    skin = Skin(mesh, SkinOnSoft(6e-3, 1e7, 1e5), lambda time: moved, tests, threads=1)
    found = skin.at(0.0, moved + 1e-4 * np.random.default_rng(4).normal(size=moved.shape))
    x = found.value.q.reshape(-1, 3)
    assert found.outcome.usable and x == pytest.approx(moved, abs=1e-9 * mesh.size)
    assert np.abs(skin.averages @ (x - moved)).max() < 1e-12


def test_couplings_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match=r"coupling: unknown coupling \(got 'globl'\); allowed: local, spectral"):
        coupled(SQUARE, 0.1, "globl")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be a length above zero"):
        spectral(SQUARE, 0.0)


def test_linear_cells_turn_only_where_they_meet_and_smooth_ones_do_not() -> None:
    linear, smooth = (BentBar(SHORT, around=4, degree=degree, steps=2, threads=1) for degree in (1, 2))
    assert kink(linear.mesh, linear.interior.points[-1]) > 0.99
    assert kink(smooth.mesh, smooth.interior.points[-1]) < even_kink(smooth.mesh)


@pytest.mark.slow
def test_spectral_coupling_wrinkles_arms_that_nothing_bends() -> None:
    """With about as many functions; several times more of the wrinkles, of which twice as many are asked for."""
    near, far = (
        bend(BentBar(SHORT, 4, coupling=coupling, foundation=False, spacing=1.0, steps=2, threads=1))
        for coupling in ("local", "spectral")
    )
    assert near.converged and far.converged
    assert near.bar.skin.tests.count == pytest.approx(far.bar.skin.tests.count, rel=0.2)
    assert far.wrinkled()["share"] > 2.0 * near.wrinkled()["share"]


@pytest.mark.slow
def test_kinks_of_linear_cells_come_through_a_skin() -> None:
    linear, smooth = (bend(BentBar(LONG, 6, degree=degree, steps=2, threads=1)) for degree in (1, 2))
    assert linear.converged and smooth.converged
    shown, hidden = (kink(one.bar.mesh, one.animation.points[-1]) for one in (linear, smooth))
    assert shown > 1.5 * hidden and hidden < even_kink(smooth.bar.mesh) < shown


@pytest.mark.slow
def test_the_figure_of_the_bar_tells_what_each_way_puts_into_it() -> None:
    study = bar_study(threads=1, around=4)
    assert [panel.name for panel in study.panels] == [name for name, _ in study.rows]
    turned = [study.value(name, "turned where cells meet %") for name in ("linear cells", "smooth cells")]
    assert turned[0] > 99.0 and turned[1] < 100.0 * even_kink(study.panels[0].animation.mesh)
    shares = [study.value(name, "∫w² in the arms %") for name in ("spectral", "local")]
    assert shares[0] > 2.0 * shares[1] and study.table()[-1] == "every step converged"
