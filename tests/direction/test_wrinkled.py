"""A skin on the surface of a lattice that moves as it is told."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.direction.wrinkle import Wrinkled, wrinkled
from bunraku.geometry import Lattice, lattice_around
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import dominant_wavelength
from bunraku.testing import block_surface, icosphere

LAYERS = SkinOnSoft(thickness=4e-3, young=1e7, under=1e5)
"""waves of 81 mm, from 2.4 % on"""


def pressed(columns: int, across: int, per_wave: float, times: np.ndarray) -> tuple[Lattice, Wrinkled]:
    """A block pressed along x to as many times the onset as the times say."""
    lattice = lattice_around(block_surface(np.ones((columns, across, across)), LAYERS.wavelength / per_wave), 0.1)
    nodes = np.stack([lattice.rest * [1.0 - time * LAYERS.onset, 1.0, 1.0] for time in times])
    return lattice, wrinkled(lattice, times, nodes, LAYERS)


def test_a_rigid_motion_makes_no_wrinkles() -> None:
    lattice = lattice_around(icosphere(3, 0.3), 0.2)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    nodes = np.stack([lattice.rest, lattice.rest @ turn.T + [0.3, -0.2, 0.5]])
    found = wrinkled(lattice, [0.0, 1.0], nodes, LAYERS)
    assert found.converged.all()
    assert found.animation.points[0] == pytest.approx(lattice.surface.rest, abs=1e-9)
    assert found.animation.points[1] == pytest.approx(lattice.surface.rest @ turn.T + [0.3, -0.2, 0.5], abs=1e-9)
    assert np.abs(found.heights).max() < 1e-9


@pytest.mark.slow
def test_a_block_wrinkles_when_it_is_pressed_beyond_the_onset_and_not_before() -> None:
    """In the middle of a side, away from the edges, which bulge at any compression."""
    lattice, found = pressed(18, 8, 6.0, np.array([0.5, 1.0, 1.5, 2.0]))
    x = lattice.surface.rest
    inner = (np.abs(x / x.max(axis=0) - 0.5) < 0.3)[:, [0, 2]].all(axis=1)
    middle = inner & np.isclose(x[:, 1], x[:, 1].max())
    rough = found.heights[:, middle].std(axis=1)
    assert found.converged.all()
    assert rough[0] < 0.1 * LAYERS.thickness and rough[-1] > 0.3 * LAYERS.amplitude(2.0 * LAYERS.onset)


@pytest.mark.slow
def test_waves_on_a_block_are_as_long_as_the_materials_have_them() -> None:
    """Six waves on a block little wider than one, eight edges to a wave: a spectrum tells a fifth of a wavelength."""
    per_wave = 8.0
    lattice, found = pressed(48, 10, per_wave, np.linspace(0.25, 1.5, 6))
    x, edge = lattice.surface.rest, LAYERS.wavelength / per_wave
    row = np.flatnonzero(np.isclose(x[:, 1], x[:, 1].max()) & np.isclose(x[:, 2], 5 * edge))
    heights = found.heights[-1][row[np.argsort(x[row, 0])]]
    assert found.converged.all()
    assert dominant_wavelength(heights[4:-4], edge) == pytest.approx(LAYERS.wavelength, rel=0.2)


def test_waves_too_short_for_the_surface_are_said(caplog: pytest.LogCaptureFixture) -> None:
    lattice = lattice_around(icosphere(2, 0.3), 0.2)
    with caplog.at_level(logging.WARNING):
        wrinkled(lattice, [0.0], lattice.rest[None], SkinOnSoft(4e-4, 1e7, 1e5))
    assert "waves of 0.00809 m are shorter than two edges" in caplog.text and "edges of 0.001 m would do" in caplog.text


BALL = lattice_around(icosphere(1, 0.3), 0.3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"nodes": BALL.rest}, r"nodes: the lattice's nodes must be finite points, .*allowed: \(times, \d+, 3\)"),
        ({"nodes": BALL.rest[None, 1:]}, "the lattice's nodes must be finite points"),
        ({"nodes": np.nan * BALL.rest[None]}, "the lattice's nodes must be finite points"),
        ({"times": [0.0, 1.0]}, "points must have shape"),
        ({"layers": SkinOnSoft(4e-3, 1e4, 1e5)}, "layers: the skin is softer than what it is on"),
        ({"layers": "leather"}, "must be a SkinOnSoft"),
        ({"lattice": BALL.surface}, "must be a Lattice"),
        ({"spacing": 0.0}, "spacing must be a number of wavelengths"),
    ],
)
def test_what_cannot_wrinkle_is_refused(given: dict[str, Any], told: str) -> None:
    sound: dict[str, Any] = {"lattice": BALL, "times": [0.0], "nodes": BALL.rest[None], "layers": LAYERS}
    with pytest.raises(InputError, match=told):
        wrinkled(**{**sound, **given})
