"""Skins that are thicker in places: waves as long as each place has them, and coupling as coarse as they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError, Vector
from bunraku.direction.wrinkle import wrinkling_job
from bunraku.direction.wrinkle.varying import vertex_wavelengths
from bunraku.geometry import TriMesh, lumped_mass, tet_bar
from bunraku.materials import SkinOnSoft, VaryingSkin
from bunraku.scenes.slab import Slab, dominant_wavelength, press
from bunraku.testing import sheet

THIN, THICK = SkinOnSoft(2e-3, 1e7, 1e5), SkinOnSoft(4e-3, 1e7, 1e5)
"""waves of 40 and of 81 mm, from the same strain on"""
SKINS = tuple(bk.ShellMaterial(young=1e7, thickness=one.thickness) for one in (THIN, THICK))


def halves(mesh: TriMesh) -> bk.MaterialBlend:
    """Thick on the left, thin on the right."""
    left = mesh.rest[mesh.faces, 0].mean(axis=1) < 0.5 * np.ptp(mesh.rest[:, 0])
    return bk.MaterialBlend(SKINS, np.stack([~left, left], axis=1).astype(float))


def test_on_each_face_it_is_what_a_skin_of_that_thickness_is_everywhere() -> None:
    blend = bk.MaterialBlend(SKINS, np.eye(2))
    varying = VaryingSkin(blend.at(0.0), 1e5, 0.3)
    for name in ("rigidity", "wave_number", "wavelength", "lift", "slope"):
        assert getattr(varying, name) == pytest.approx([getattr(one, name) for one in (THIN, THICK)], rel=1e-12)


def half_waves(slab: Slab, heights: Vector) -> tuple[float, float]:
    """[m] in the left and in the right half, the middle left out, where one goes over into the other."""
    edge, count = slab.length / slab.columns, len(heights)
    parts = heights[: int(0.45 * count)], heights[int(0.55 * count) :]
    return dominant_wavelength(parts[0], edge), dominant_wavelength(parts[1], edge)


@pytest.mark.slow
def test_a_slab_twice_as_thick_on_the_left_has_waves_twice_as_long_there() -> None:
    """Eight thin waves and four thick ones, all from the same strain on; both as long as theory has them.

    Eight edges to a thin wave make it a tenth too short; here are twelve."""
    slab = Slab(THIN, length=0.64, per_wave=12.0, rows=7, pressed=1.6, steps=5, threads=1)
    blend = halves(slab.mesh)
    tests = bk.gaussians(slab.mesh, 2.5 * vertex_wavelengths(slab.mesh, blend, THIN))
    object.__setattr__(slab, "skin", replace(slab.skin, blend=blend, tests=tests))
    found = press(slab)
    left, right = half_waves(slab, found.heights)
    assert found.converged
    assert left / right == pytest.approx(2.0, rel=0.1)
    assert left == pytest.approx(THICK.wavelength, rel=0.1) and right == pytest.approx(THIN.wavelength, rel=0.1)


def test_bumps_are_as_wide_as_asked_for_in_each_place() -> None:
    """Eight times as wide on the right as on the left; together they are one everywhere."""
    mesh = sheet(64, 8, 1.0)
    widths = np.where(mesh.rest[:, 0] < 0.5, 0.05, 0.4)
    values = bk.gaussians(mesh, widths).shell.toarray()
    assert values.sum(axis=0) == pytest.approx(1.0)
    centres = mesh.rest[values.argmax(axis=1), 0]
    left = int((centres < 0.45).sum())
    alike = [bk.gaussians(mesh, width).count for width in (0.05, 0.4)]
    assert 0.35 * alike[0] < left < 0.6 * alike[0]
    assert 1 <= int((centres > 0.55).sum()) <= alike[1]


@pytest.mark.parametrize("widths", [np.ones(3), np.zeros(45), np.full(45, np.nan)])
def test_widths_that_are_none(widths: Vector) -> None:
    with pytest.raises(InputError, match="one a vertex"):
        bk.gaussians(sheet(8, 4), widths)


SMALL = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
FOAM = bk.SolidMaterial(young=1e5, density=60.0)


def job(skin: Any, **given: Any) -> Any:
    still = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest]))
    return wrinkling_job(still, skin=skin, interior=FOAM, threads=1, **given)


def test_a_body_takes_a_blend_of_materials_for_a_skin() -> None:
    """Its facts say how long waves are; its weight is that of both; a blend of one material is that material."""
    found = job(halves(SMALL))
    assert found.facts["wavelengths"] == pytest.approx([THIN.wavelength, THICK.wavelength])
    assert found.facts["wavelength"] == pytest.approx(THIN.wavelength)
    areas = lumped_mass(SMALL).sum()
    stepper: Any = wrinkling_job(SMALL, skin=halves(SMALL), interior=FOAM, threads=1, cell=0.15).stepper
    assert stepper.interior.skin_mass.sum() == pytest.approx(1000.0 * 3e-3 * areas, rel=0.1)
    pressed = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest * [0.95, 1.0, 1.0]]))
    plain, one = (
        list(wrinkling_job(pressed, skin=skin, interior=FOAM, threads=1).frames())[-1].points
        for skin in (SKINS[1], bk.MaterialBlend.uniform(SKINS[1], len(SMALL.faces)))
    )
    assert one == pytest.approx(plain, abs=1e-7) and np.abs(plain - SMALL.rest).max() > 1e-3


def test_refusals() -> None:
    with pytest.raises(InputError, match="weights for each face"):
        job(bk.MaterialBlend(SKINS, np.eye(2)))
    woven = bk.MaterialBlend((SKINS[0], bk.ShellMaterial(young=1e7, weft=1e6)), np.ones((len(SMALL.faces), 2)))
    with pytest.raises(InputError, match="woven"):
        job(woven)
    soft = bk.MaterialBlend((SKINS[0], bk.ShellMaterial(young=1e4)), np.ones((len(SMALL.faces), 2)))
    with pytest.raises(InputError, match="softer than what it is on"):
        job(soft)


@pytest.mark.parametrize("shape", [(2, 4), (3, 2), (4, 1), (4,)])
def test_weights_painted_on_other_vertices(shape: tuple[int, ...]) -> None:
    mesh = sheet(1, 1, 1.0)
    with pytest.raises(InputError, match="a weight for each vertex and material"):
        bk.MaterialBlend.by_vertex(SKINS, np.ones(shape), mesh.faces)
