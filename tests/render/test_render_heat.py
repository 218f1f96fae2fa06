"""Colours of numbers: the order is told by lightness alone."""

from __future__ import annotations

import numpy as np

from bunraku.render import heat, legend


def lightness(colours: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def test_more_is_lighter_everywhere() -> None:
    colours = heat(np.linspace(0, 1, 200))
    assert colours.min() >= 0 and colours.max() <= 1
    assert (np.diff(lightness(colours)) > 0).all()
    assert np.array_equal(heat(np.array([np.nan, -1.0, 2.0])), heat(np.array([0.0, 0.0, 1.0])))


def test_a_legend_runs_from_dark_to_light() -> None:
    strip = legend(300, 30, "0 N", "9 N")
    assert strip.shape == (30, 300, 3)
    row = lightness(strip[2] / 255.0)
    assert row[-60:].mean() > 3 * row[:60].mean()
