"""Heavy cloth hung by its upper edge: with a limit it stops stretching, and every step still converges."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import Vector
from bunraku.energies import Membrane, StrainLimit, strains
from bunraku.energies.membrane import corner_gradients
from bunraku.energies.strain_limit import FIRM
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import sheet

LIMIT = 0.05
HEAVY = {"young": 2.2e4, "thickness": 1e-3, "density": 450.0, "stretch_damping": 0.02}


def largest_strain(mesh: bk.TriMesh, x: np.ndarray) -> Vector:
    """(f,) largest principal stretch of every face, less one."""
    e = strains(x, mesh.faces, corner_gradients(mesh.rest, mesh.faces))
    radius = np.hypot(0.5 * (e[:, 0] - e[:, 1]), 0.5 * e[:, 2])
    return np.sqrt(1.0 + e[:, 0] + e[:, 1] + 2.0 * radius) - 1.0


@cache  # two tests look at the same fall
def hung(limit: float | None) -> tuple[float, bk.Take]:
    """The largest strain of any face on any frame of a fall from flat, and the take."""
    mesh = sheet(10, 10, length=1.0)
    times = np.arange(24) / 24
    still = bk.Animation(mesh, times, np.repeat(mesh.rest[None], len(times), axis=0))
    take = bk.track(
        still, mesh, None, material=ShellMaterial(**HEAVY, strain_limit=limit), threads=1,
        pins=bk.Pin(np.flatnonzero(mesh.rest[:, 1] > 1 - 1e-9)),
    )  # fmt: skip
    return max(float(largest_strain(mesh, x).max()) for x in take.animation.points), take


def test_hung_cloth_stays_within_a_tenth_of_its_limit_and_every_step_converges() -> None:
    """The weight below the pins, 4.4 N/m on E h = 22 N/m, stretches the free cloth by a fifth and more as it bounces;
    a tenth above the limit it would take FIRM · 22 N/m, so a tenth is a bound.
    """
    free, without = hung(None)
    held, limited = hung(LIMIT)
    assert free > 0.2
    assert LIMIT < held <= 1.1 * LIMIT
    assert without.report["converged"].all() and limited.report["converged"].all()
    before, after = (int(take.report["iterations"].sum()) for take in (without, limited))
    print(f"largest strain {free:.3f} free, {held:.4f} limited; {before} and {after} Newton iterations")
    assert after <= 4 * before


def test_what_the_limit_holds_is_part_of_the_stretching_energy() -> None:
    """The frame whose limit costs most: its `stretching` is the membrane's and the limit's together."""
    _, take = hung(LIMIT)
    mesh = take.animation.mesh
    blend = MaterialBlend.uniform(ShellMaterial(**HEAVY, strain_limit=LIMIT), len(mesh.faces))
    own = np.array([Membrane(mesh, blend).elastic(0.0).value(x) for x in take.animation.points])
    held = np.array([StrainLimit(mesh, blend).elastic(0.0).value(x) for x in take.animation.points])
    assert held.max() > 0.01 * own.max()
    assert take.report["stretching"] == pytest.approx(own + held, rel=1e-12)


@pytest.mark.parametrize("excess", [0.1, 0.3])
def test_the_tension_beyond_the_limit_is_what_is_said(excess: float) -> None:
    """At a tenth of the limit's strain beyond it the extra stress is FIRM E h; from there on its slope is k."""
    mesh = sheet(2, 2)
    stiffness = float(HEAVY["young"] * HEAVY["thickness"])
    material = ShellMaterial(**HEAVY, strain_limit=LIMIT)
    energy = StrainLimit(mesh, MaterialBlend.uniform(material, len(mesh.faces))).elastic(0.0)
    limit = 0.5 * ((1 + LIMIT) ** 2 - 1)
    width = 0.1 * limit
    green = limit * (1 + excess)
    stretch = np.sqrt(1 + 2 * green)
    force = energy.gradient(mesh.rest * [stretch, 1.0, 1.0])
    slope = 2 * FIRM * stiffness / width
    tension = FIRM * stiffness + slope * (excess * limit - width)
    assert force[mesh.rest[:, 0] > 1 - 1e-9, 0].sum() == pytest.approx(stretch * tension, rel=1e-9)


def test_nothing_is_added_below_the_limit_or_without_one() -> None:
    mesh = sheet(2, 2)
    mixed = MaterialBlend(
        (ShellMaterial(**HEAVY), ShellMaterial(**HEAVY, strain_limit=LIMIT)), np.repeat(np.eye(2), 4, axis=0)
    )
    energy = StrainLimit(mesh, mixed).elastic(0.0)
    below, above = mesh.rest * [1.049, 1.049, 1.0], mesh.rest * [1.2, 1.0, 1.0]
    assert energy.value(below) == 0.0 and not energy.gradient(below).any() and not energy.blocks(below, True)[0].any()
    touched = energy.blocks(above, True)[0].any(axis=(1, 2))
    assert touched.tolist() == [False] * 4 + [True] * 4
