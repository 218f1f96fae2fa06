"""The slab as solids through and through: its energy, its flat balance, and its waves beside theory and beside ours."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import InputError
from bunraku.bench.wavelength import run
from bunraku.contracts import State
from bunraku.materials import SkinOnSoft, SolidMaterial
from bunraku.scenes.dense_slab import DenseSlab, first_waves, press_dense
from bunraku.scenes.plane_strain import Layered, PlaneStrain
from bunraku.scenes.slab import Slab, press

LAYERS = SkinOnSoft(thickness=4e-3, young=1e7, under=1e5)
"""waves of 81 mm: six in half a metre"""


def test_the_derivatives_of_a_slice_are_those_of_its_energy() -> None:
    layered = Layered(np.array([0.1, 0.2]), np.array([0.15, 0.05]))
    rng = np.random.default_rng(0)
    for energy in (PlaneStrain(layered, np.array([k]), SolidMaterial(1e3 * (k + 1))) for k in (0, 1)):
        x = layered.rest + 5e-3 * rng.normal(size=layered.rest.shape)
        along, step = rng.normal(size=x.shape), 1e-6
        slope = (energy.value(x + step * along) - energy.value(x - step * along)) / (2.0 * step)
        assert slope == pytest.approx(float(np.sum(energy.gradient(x) * along)), rel=1e-6)
        change = (energy.gradient(x + step * along) - energy.gradient(x - step * along)).reshape(-1) / (2.0 * step)
        times = np.zeros(x.size)
        for stencil, block in zip(energy.stencils(False), energy.blocks(x, False), strict=True):
            np.add.at(times, stencil.rows, np.einsum("mij,mj->mi", block, along.reshape(-1)[stencil.rows]))
        assert times == pytest.approx(change, abs=1e-6 * np.abs(change).max())


def test_pressed_evenly_it_is_in_balance_but_for_what_holds_it() -> None:
    slab = DenseSlab(LAYERS, length=LAYERS.wavelength, per_wave=4.0)
    x = slab.flat(0.8)
    state = State(0.8, x.reshape(-1), np.zeros(x.size))
    parts = [one.at(state, 1.0).gradient(x) for one in slab.system.energies]
    force = np.sum(parts, axis=0).reshape(*slab.layered.shape, 3)
    assert np.abs(force[1:-1, 1:]).max() < 1e-9 * np.abs(force).max()


def test_waves_begin_where_theory_has_them_if_nothing_shrinks() -> None:
    """Theory leaves out that what is pressed down also moves sideways, which a bonded skin forbids: nearly nothing in
    what hardly changes its volume. A skin that is not infinitely thin adds to that, a tenth of its waves per height."""
    layers = SkinOnSoft(2e-3, 1e9, 1e5, 0.45, 0.45)
    slab = DenseSlab(layers, length=0.5 * layers.wavelength)
    assert 1.0 < slab.onset() / layers.onset < 1.05
    assert DenseSlab(layers, length=0.5 * layers.wavelength, pressed=0.9).onset() == np.inf


@pytest.mark.slow
def test_a_dense_slab_has_our_waves() -> None:
    """Between its ends fit half waves only, and six waves: the two may differ by one of twelve. What it resists more
    for being bonded (a tenth for a Poisson's ratio of 0.3) begins its waves later, by two thirds of that and what
    the skin's thickness adds."""
    dense, skin = DenseSlab(LAYERS, steps=6), Slab(LAYERS, per_wave=12.0, steps=6)
    length, onset = first_waves(dense)
    assert length == pytest.approx(LAYERS.wavelength, rel=0.03)
    assert 1.05 < onset / LAYERS.onset < 1.15
    solid, ours = press_dense(dense), press(skin)
    assert solid.converged and ours.converged
    assert solid.wavelength == pytest.approx(ours.wavelength, rel=0.09)
    assert solid.amplitude == pytest.approx(ours.amplitude, rel=0.25)


def test_the_dense_table_takes_no_slab() -> None:
    with pytest.raises(InputError, match=r"--ratio: the dense slabs are a table of their own"):
        list(run(ratio=30.0, dense=True))
