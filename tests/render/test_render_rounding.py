"""Skins are drawn round: nearer to what they stand for, and cheap where meshes are large."""

from __future__ import annotations

import numpy as np
import pytest
from render_shapes import grid

from bunraku.contracts import Points
from bunraku.render import Image, Rounding, Style, framing, picture
from bunraku.render.rounding import ROUND_FACES


def wavy(n: int) -> tuple[Points, np.ndarray]:
    """Four waves on a square of n × n."""
    x, faces = grid(n)
    x[:, 1] = 0.03 * np.sin(8.0 * np.pi * (x[:, 0] + 0.3 * x[:, 2]))
    return x, faces


def test_a_coarse_wave_looks_more_like_a_fine_one() -> None:
    """Five edges a wave, against forty, in the same light."""
    fine, fine_faces = wavy(160)
    coarse, faces = wavy(20)
    camera = framing([fine], aspect=1.0, direction=(-0.5, -0.5, -1.0))

    def drawn(x: Points, faces: np.ndarray) -> Image:
        return picture(x, faces, camera, size=(200, 200), style=Style())

    meant, round_ = drawn(fine, fine_faces).astype(float), Rounding.of(faces, len(coarse))
    straight, smooth = (
        np.abs(drawn(*one) - meant).mean() for one in ((coarse, faces), (round_.points(coarse), round_.faces))
    )
    assert 0.0 < smooth < 0.6 * straight


@pytest.mark.parametrize(("n", "parts"), [(4, 64), (20, 16), (60, 4), (120, 1)])
def test_the_larger_a_mesh_the_less_it_is_subdivided(n: int, parts: int) -> None:
    x, faces = grid(n)
    found = Rounding.of(faces, len(x))
    assert found.parts == parts and len(found.faces) == parts * len(faces) <= ROUND_FACES
    assert len(found.points(x)) == found.faces.max() + 1
    paint = np.arange(3.0 * len(faces)).reshape(-1, 3)
    own = found.points(x)[found.faces].mean(axis=1).reshape(len(faces), parts, 3).mean(axis=1)
    inside = (np.abs(x[faces]) < 0.5 - 2.5 / n).all(axis=(1, 2))  # where nothing knows of the border
    assert own[inside] == pytest.approx(x[faces].mean(axis=1)[inside], abs=1e-12)  # a face's parts are on it
    assert np.array_equal(found.painted(paint).reshape(-1, parts, 3)[:, -1], paint)
