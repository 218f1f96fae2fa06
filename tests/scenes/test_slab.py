"""A skin on a slab: waves as long and as high as theory has them, from the strain on at which it has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError, read_animation
from bunraku.bench.wavelength import run
from bunraku.direction.wrinkle import Skin
from bunraku.geometry import TriMesh
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import ROWS, Slab, dominant_wavelength, press

LAYERS = SkinOnSoft(thickness=4e-3, young=1e7, under=1e5)
"""waves of 81 mm: six in half a metre"""


def test_a_flat_skin_loses_its_balance_at_the_onset() -> None:
    """K + b k² touches the half-space's Ē k/2 at k_c from above, so that is where it buckles first. Theory knows no
    strain; here it is 2.4 % when that happens, and the mesh has sixteen edges a wave."""
    slab = Slab(LAYERS, per_wave=16.0)
    assert slab.onset() == pytest.approx(LAYERS.onset, rel=0.03)
    assert Slab(LAYERS, per_wave=16.0, pressed=0.9).onset() == np.inf


def test_slivers_let_a_skin_buckle_late() -> None:
    """Every other vertex most of the way to its neighbour: triangles up to ten times as long as high. What `wrinkle`
    warns of."""

    def onset(moved: float) -> float:
        slab = Slab(LAYERS, length=0.25, rows=7)
        i, j = np.divmod(np.arange(slab.mesh.point_count), slab.rows)
        inner = (0 < i) & (i < slab.columns) & (0 < j) & (j < slab.rows - 1)
        aside = np.where(inner & ((i + j) % 2 == 1), moved * slab.length / slab.columns, 0.0)
        slab.__dict__["mesh"] = TriMesh(slab.mesh.rest - np.outer(aside, [1.0, 0.0, 0.0]), slab.mesh.faces)
        return slab.onset()

    assert onset(0.8) > 1.4 * onset(0.0)


@pytest.mark.slow
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.45])
def test_onsets_come_nearer_with_finer_meshes_whatever_poissons_ratio(poisson: float) -> None:
    """At half a percent of strain, where theory holds."""
    layers = SkinOnSoft(2e-3, 1e8, 1e5, poisson, poisson)
    coarse, fine = (abs(Slab(layers, per_wave=many).onset() / layers.onset - 1.0) for many in (12.0, 24.0))
    assert fine < 0.5 * coarse and fine < 0.015


@pytest.mark.slow
def test_waves_are_as_long_and_as_high_as_theory_has_them_whatever_the_spacing() -> None:
    for spacing in (1.5, 3.0):
        pressed = press(Slab(LAYERS, per_wave=12.0, spacing=spacing, steps=6))
        assert pressed.converged
        assert pressed.wavelength == pytest.approx(LAYERS.wavelength, rel=0.1)
        assert pressed.amplitude == pytest.approx(LAYERS.amplitude(pressed.slab.strain(1.0)), rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 3])
def test_waves_do_not_depend_on_the_steps_in_which_a_slab_is_pressed(steps: int) -> None:
    """Sixteen edges a wave, twelve waves: theory's length and height within 2 %, also where one step leads far beyond
    the onset."""
    thin = SkinOnSoft(thickness=2e-3, young=1e7, under=1e5)
    pressed = press(Slab(thin, steps=steps, rows=5))
    assert pressed.converged and len(pressed.animation.points) == steps + 1
    assert pressed.wavelength == pytest.approx(thin.wavelength, rel=0.02)
    assert pressed.amplitude == pytest.approx(thin.amplitude(pressed.slab.strain(1.0)), rel=0.02)


@pytest.mark.slow
def test_a_skin_that_is_pressed_far_at_once_keeps_shorter_waves() -> None:
    """In a stable balance of more energy: why a slab goes slowly through its onset."""
    thin = SkinOnSoft(thickness=2e-3, young=1e7, under=1e5)
    slab = Slab(thin, steps=3, rows=5)
    slowly, at_once = press(slab), slab.skin.at(2.0 / 3.0)
    least = slab.skin.energy(2.0 / 3.0, slowly.animation.points[2])
    assert at_once.stats["stable"] and at_once.stats["energy"] > 1.002 * least
    row = at_once.value.q.reshape(-1, slab.rows, 3)[:, slab.rows // 2, 1]
    assert dominant_wavelength(row, slab.length / slab.columns) < 0.92 * thin.wavelength


@pytest.mark.slow
def test_waves_of_a_soft_skin_do_not_merge_while_it_is_bonded() -> None:
    """Thirty times as stiff as what it is on and pressed to 11 %: a skin that may slide has waves of 1.8 λ."""
    soft = SkinOnSoft(thickness=4e-3, young=3e6, under=1e5)
    pressed = press(Slab(soft, per_wave=12.0, steps=8))
    assert pressed.converged and pressed.slab.strain(1.0) == pytest.approx(0.108, rel=0.01)
    assert pressed.wavelength == pytest.approx(soft.wavelength, rel=0.1)


@pytest.mark.slow
def test_without_the_foundation_the_spacing_decides() -> None:
    """Whatever the materials say: the thesis's way, kept for comparison."""
    thin = SkinOnSoft(thickness=2e-3, young=1e7, under=1e5)
    near, far = (
        press(Slab(thin, per_wave=8.0, spacing=far, foundation=False, pressed=1.5, steps=4)) for far in (0.64, 1.5)
    )
    assert near.converged and far.converged
    assert far.wavelength > 1.5 * near.wavelength and near.wavelength > 1.1 * thin.wavelength


def test_a_rigid_motion_makes_no_wrinkles() -> None:
    slab = Slab(LAYERS, per_wave=8.0)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    moved = slab.mesh.rest @ turn.T + [0.3, -0.2, 0.5]
    skin = Skin(slab.mesh, LAYERS, lambda time: moved, slab.skin.tests)
    found = skin.at(0.0, moved + 1e-4 * np.random.default_rng(4).normal(size=moved.shape))
    assert found.outcome.usable
    assert found.value.q.reshape(-1, 3) == pytest.approx(moved, abs=1e-9 * slab.length)


def test_a_spectrum_finds_a_sine() -> None:
    x = np.linspace(0.0, 0.5, 401)
    assert dominant_wavelength(np.sin(2 * np.pi * x / 0.037), x[1]) == pytest.approx(0.037, rel=2e-3)
    assert np.isnan(dominant_wavelength(np.zeros(40), 0.1))


def test_the_mesh_is_flat_longest_along_x_and_fine_enough() -> None:
    slab = Slab(LAYERS, per_wave=16.0)
    wide = np.ptp(slab.mesh.rest, axis=0)
    assert wide[0] == pytest.approx(0.5) and wide[1] == 0.0 and 0.0 < wide[2] < wide[0]
    many = Slab(SkinOnSoft(4e-3, 1e9, 1e5), rows=57)
    assert np.ptp(many.mesh.rest[:, 0]) > np.ptp(many.mesh.rest[:, 2]) > 0.0
    assert slab.length / slab.columns <= LAYERS.wavelength / 16.0


def test_slabs_that_tell_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="so thin that its waves are too short"):
        Slab(SkinOnSoft(1e-6, 1e7, 1e5))
    with pytest.raises(InputError, match="so soft that it would have to be pressed too far"):
        Slab(SkinOnSoft(1e-3, 1e5, 1e5))
    with pytest.raises(InputError, match="so thick that not one wave fits into the slab"):
        list(run(thickness=0.1, ratio=1e5))
    with pytest.raises(InputError, match="not a USD file"):
        list(run(out=tmp_path / "slab.obj"))
    with pytest.raises(InputError, match="pressed must be a number"):
        Slab(LAYERS, pressed=-1.0)
    with pytest.raises(InputError, match="no such folder"):
        list(run(out=tmp_path / "none" / "slab.usdc"))


@pytest.mark.slow
def test_one_slab_is_written_for_others_to_measure(tmp_path: Path) -> None:
    out = tmp_path / "slab.usdc"
    row = list(run(thickness=4e-3, ratio=100.0, out=out, per_wave=8.0))[-1]
    written = read_animation(out)
    assert written.points[0] == pytest.approx(written.mesh.rest, abs=1e-7)
    heights = written.points[-1][:, 1].reshape(-1, ROWS)[:, ROWS // 2]
    measured = dominant_wavelength(heights, float(written.mesh.rest[ROWS, 0]))
    assert f"{1e3 * measured:10.1f}" in row
    assert np.ptp(written.points[-1][:, 0]) < np.ptp(written.points[0][:, 0])
