"""Creased shapes: where their folds lie, how deep they are, and that a finer mesh has the same ones."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import TriMesh, accordion, crinkle, ridges, subdivide
from bunraku.testing import sheet


def tube(around: int = 96, high: int = 6) -> TriMesh:
    """A cylinder of radius one about y, two high."""
    turn = 2 * np.pi * np.arange(around) / around
    rest = np.array([[np.cos(t), y, np.sin(t)] for y in np.linspace(0, 2, high + 1) for t in turn])
    i, j = (part.reshape(-1) for part in np.meshgrid(np.arange(around), np.arange(high)))
    a, b = j * around + i, j * around + (i + 1) % around
    return TriMesh(rest, np.vstack([np.column_stack([a, a + around, b]), np.column_stack([b, a + around, b + around])]))


def test_accordion_folds_zigzag_along_their_axis() -> None:
    """Four folds of a sheet 1 m wide: at the bottom at 0, ¼, ½ …, at the top between; straight in between."""
    mesh = sheet(16, 16, length=1.0)
    found = accordion(mesh, folds=4, depth=0.1, axis="y")
    moved = (found - mesh.rest)[:, 2]
    assert found[:, :2] == pytest.approx(mesh.rest[:, :2])
    place = mesh.rest[:, 1] * 4
    assert moved == pytest.approx(0.05 * (4 * np.abs(place - np.rint(place)) - 1), abs=1e-12)
    assert np.ptp(moved) == pytest.approx(0.1)
    assert np.array_equal(found, accordion(mesh, wavelength=0.25, depth=0.1))


def test_ridges_go_around_a_body() -> None:
    mesh = tube()
    found = ridges(mesh, count=12, depth=0.1)
    radius = np.hypot(found[:, 0], found[:, 2])
    turn = np.arctan2(mesh.rest[:, 0], mesh.rest[:, 2])
    assert np.ptp(radius) == pytest.approx(0.1, rel=1e-6)
    tilt = np.pi / 96  # at the rims a normal leans towards the side with two faces, by less than half a face
    assert radius == pytest.approx(1.0 + 0.05 * np.cos(12 * turn), abs=0.05 * (1 - np.cos(tilt)))
    assert found[:, 1] == pytest.approx(mesh.rest[:, 1], abs=1e-9)
    assert np.array_equal(found, ridges(mesh, wavelength=2 * np.pi / 12, depth=0.1))


def test_a_finer_mesh_has_the_same_creases() -> None:
    """Vertices that both meshes have go to the same place; white noise a vertex would not."""
    coarse = sheet(12, 12, length=1.0)
    fine, _ = subdivide(coarse, 1)
    for make in (
        lambda mesh: crinkle(mesh, depth=0.1, wavelength=0.3, seed=4),
        lambda mesh: accordion(mesh, wavelength=0.3, depth=0.1),
    ):
        assert make(fine)[: coarse.point_count] == pytest.approx(make(coarse), abs=1e-12)


def test_bumps_are_smooth_random_and_within_their_depth() -> None:
    """Neighbours a twelfth of a wavelength apart move alike, places two wavelengths apart do not."""
    mesh = sheet(64, 64, length=64 / 24)
    grids = [crinkle(mesh, depth=0.1, wavelength=0.5, seed=seed)[:, 2].reshape(65, 65) for seed in (0, 1)]
    for grid in grids:
        assert np.abs(grid).max() <= 0.05 and np.ptp(grid) > 0.06

        def correlation(step: int, grid: np.ndarray = grid) -> float:
            return float(np.corrcoef(grid[:, step:].reshape(-1), grid[:, :-step].reshape(-1))[0, 1])

        assert correlation(1) > 0.9 and abs(correlation(24)) < 0.3
    assert abs(np.corrcoef(grids[0].reshape(-1), grids[1].reshape(-1))[0, 1]) < 0.3
    assert np.array_equal(grids[0], crinkle(mesh, depth=0.1, wavelength=0.5, seed=0)[:, 2].reshape(65, 65))


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda mesh: accordion(mesh, depth=0.1), "either 'folds' or 'wavelength' .*neither"),
        (lambda mesh: ridges(mesh, depth=0.1, count=2, wavelength=1.0), "either 'count' or 'wavelength' .*both"),
        (lambda mesh: accordion(mesh, depth=0.1, folds=2, axis="w"), "unknown axis .*'w'"),
        (lambda mesh: accordion(mesh, depth=-0.1, folds=2), "depth must be above zero"),
        (lambda mesh: accordion(mesh, depth=0.1, folds=2, axis="z"), "no extent"),
        (lambda mesh: crinkle(mesh, depth=0.1, wavelength=0.1), "too coarse .*two edges"),
    ],
)
def test_what_cannot_be_creased_is_refused(make, what: str) -> None:
    with pytest.raises(InputError, match=what):
        make(sheet(8, 8, length=1.0))
