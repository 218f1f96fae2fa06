"""The numbers of the figures, on fields whose values are known."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.scenes.measures import fine_part, mean_distance, tugging, wavelength
from bunraku.scenes.study import grid_mesh


def unit_sheet(n: int):
    side = np.linspace(-0.5, 0.5, n)
    return grid_mesh(side, side)


@pytest.mark.parametrize("length", [0.5, 0.25, 0.125])
@pytest.mark.parametrize("n", [65, 97])
def test_one_sine_has_its_wavelength(length: float, n: int) -> None:
    """A piecewise linear sine of wave number k on a grid of spacing h has ∫|∇h|² smaller by 1 − (kh)²/12 and ∫h² by
    1 − (kh)²/6 to leading order, so its wavelength is off by no more than (kh)²/12; twice that is allowed."""
    mesh = unit_sheet(n)
    a = 2.0 * np.pi / length / (n - 1)
    height = 0.01 * np.sin(2.0 * np.pi * mesh.rest[:, 0] / length) + 0.3
    assert wavelength(mesh, height) == pytest.approx(length, rel=a * a / 6.0)


def test_a_part_of_the_sheet_has_its_own_wavelength() -> None:
    mesh = unit_sheet(97)
    x = mesh.rest[:, 0]
    height = np.where(x < 0, np.sin(2.0 * np.pi * x / 0.25), np.sin(2.0 * np.pi * x / 0.125))
    left = np.all(x[mesh.faces] <= 0, axis=1)
    a = 2.0 * np.pi / 0.125 / 96
    assert wavelength(mesh, height, left) == pytest.approx(0.25, rel=a * a / 6.0)
    assert wavelength(mesh, height, ~left) == pytest.approx(0.125, rel=a * a / 6.0)
    assert wavelength(mesh, np.ones(mesh.point_count)) == np.inf
    with pytest.raises(InputError, match="empty"):
        wavelength(mesh, height, np.zeros(len(mesh.faces), dtype=bool))


def test_a_shift_is_its_distance() -> None:
    mesh = unit_sheet(9)
    assert mean_distance(mesh, mesh.rest + np.array([0.0, 0.3, 0.4]), mesh.rest) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(("share", "scale"), [(0.5, 0.25), (0.2, 0.125), (0.8, 0.5)])
def test_the_filter_keeps_the_share_it_says(share: float, scale: float) -> None:
    """cos with a slope of zero at both borders is an eigenfunction: of wavelength λ = 0.25 the share
    (s/λ)²/(1 + (s/λ)²) is kept, up to the mesh's (kh)²/12 with kh = 2π/0.25/96."""
    mesh = unit_sheet(97)
    field = np.cos(2.0 * np.pi * (mesh.rest[:, 0] + 0.5) / 0.25)
    kept = fine_part(mesh, field, scale)
    assert kept @ field / (field @ field) == pytest.approx(share, rel=(2 * np.pi / 0.25 / 96) ** 2 / 6)


def test_tugging_sees_cusps_on_the_anchors_and_little_else() -> None:
    """Scallops hung from anchors a distance apart, against a wave of twice that length: the same heights."""
    scale = 0.25
    found = {}
    for n in (49, 97):
        mesh = unit_sheet(n)
        x, z = mesh.rest[:, 0], mesh.rest[:, 2]
        on_grid = (np.abs(x / scale - np.round(x / scale)) < 1e-9) & (np.abs(z / scale - np.round(z / scale)) < 1e-9)
        anchors = np.flatnonzero(on_grid)
        assert len(anchors) == 25
        away = np.linalg.norm(mesh.rest[:, None] - mesh.rest[None, anchors], axis=2).min(axis=1)
        cusp, smooth = np.zeros((mesh.point_count, 3)), np.zeros((mesh.point_count, 3))
        cusp[:, 1] = -0.01 * away / away.max()
        smooth[:, 1] = 0.005 * np.cos(np.pi * (x + 0.5) / scale)
        found[n] = tugging(mesh, cusp, anchors, scale), tugging(mesh, smooth, anchors, scale)
        assert found[n][0] > 2.0 * found[n][1]
    # Independent of the mesh: a cusp's tip is cut off at the size of an edge, 1/12 and 1/24 of the scale.
    assert found[49][0] == pytest.approx(found[97][0], rel=0.1)
    assert found[49][1] == pytest.approx(found[97][1], rel=0.1)


def test_tugging_grows_with_the_square() -> None:
    mesh = unit_sheet(33)
    field = np.random.default_rng(0).normal(size=(mesh.point_count, 3))
    anchors = np.array([0, 500])
    assert tugging(mesh, 3.0 * field, anchors, 0.25) == pytest.approx(9.0 * tugging(mesh, field, anchors, 0.25))


def test_tugging_looks_near_the_anchors_only() -> None:
    """The same bump on an anchor and in the middle between four, 2.8 radii of the discs away from each."""
    mesh = unit_sheet(65)
    anchor = int(np.argmin(np.linalg.norm(mesh.rest, axis=1)))
    found = []
    for place in ([0.0, 0.0, 0.0], [0.125, 0.0, 0.125]):
        bump = np.exp(-(np.linalg.norm(mesh.rest - np.array(place), axis=1) ** 2) / 0.02**2)
        found.append(tugging(mesh, bump[:, None] * np.array([0.0, 0.01, 0.0]), np.array([anchor]), 0.25))
    assert found[0] > 100 * found[1]
