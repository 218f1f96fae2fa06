"""The table of wrinkling skins: bodies of the sizes asked for, pressed beyond their onset, and what a row says."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.bench import wrinkle as bench
from bunraku.materials import SkinOnSoft

SLAB = bench.ROWS[-2]


def test_frames_that_count_are_those_beyond_the_onset() -> None:
    at = bench._PRESSED * np.arange(1, bench.FRAMES + 1) / bench.FRAMES
    assert (at[bench.FLAT :] > 1.0).all() and (at[: bench.FLAT] <= 1.0).all()


@pytest.mark.slow
def test_bodies_have_about_the_unknowns_of_their_rows() -> None:
    for name, vertices in (("slab", 306), ("pillow", 212)):
        assert bench.body(name, vertices).point_count == pytest.approx(vertices, rel=0.1)


def test_a_row_says_what_was_measured_beside_what_was_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = bench.Measured(38, 0.02, 0.05, 4.0, 1.0, converged=True, solve=0.02)
    told: list[bool] = []

    def measure(*_: object, recipe: bool, **__: object) -> bench.Measured:
        told.append(recipe)
        return measured

    monkeypatch.setattr(bench, "_measure", measure)
    line = bench._line(SLAB, 1)
    wavelength = SkinOnSoft(SLAB.thickness, SLAB.ratio * 1e5, 1e5).wavelength
    assert line.split()[:4] == ["slab", "1.0", "100", f"{1e3 * wavelength:.1f}"] and told == [False, True]
    of_frames, of_iterations = (part.split() for part in line.split("|")[-2:])
    assert of_frames == [f"{SLAB.lagrange / 50.0:.1f}", f"{SLAB.projection / 50.0:.1f}"]
    assert of_iterations == [f"{SLAB.lagrange / 20.0:.1f}", f"{SLAB.projection / 20.0:.1f}"]
    told.clear()
    monkeypatch.setattr(bench, "_MOST_RECIPE", SLAB.unknowns - 1)
    assert "–" in bench._line(SLAB, 1) and told == [False]


def test_skins_too_thin_for_their_mesh_are_balanced_on_every_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of a millimetre: what conditions are missed by, within a converged step, is no reason to stop."""
    monkeypatch.setattr(bench, "_MOST_RECIPE", 0)
    (*_, line) = bench.run([bench.ROWS[-1]], threads=1)
    assert "not converged" not in line and float(line.split("|")[2].split()[0]) > 0.0


@pytest.mark.slow
def test_a_slab_is_pressed_until_it_wrinkles() -> None:
    (*_, line) = bench.run([SLAB], threads=1)
    frame, *_, iteration = (float(one) for one in line.split("|")[2].split())
    assert "not converged" not in line and 0.0 < iteration < frame
