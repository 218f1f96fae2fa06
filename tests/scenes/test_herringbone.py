"""A skin pressed along one direction and then along the other: straight ridges, then zigzags."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import InputError
from bunraku.contracts import Array
from bunraku.materials import SkinOnSoft
from bunraku.scenes.herringbone import Biaxial, oblique_share, press_twice, ridge_turns, zigzag

LEATHER = SkinOnSoft(2e-3, 4e7, 5e5)
WAVE = 8.0
"""edges to a wave"""


def ridges(shift: Array) -> Array:
    """(64, 48) across rows, each row moved by so many edges."""
    return np.cos(2.0 * np.pi * (np.arange(48) - shift[:, None]) / WAVE)


def test_zigzags_are_measured() -> None:
    """Two edges along and one aside: 26.6°, rounded at the corners, and a corner every 16 rows."""
    rows = np.linspace(0.0, 63.0, 64)
    straight = ridge_turns(ridges(0.0 * rows), WAVE)
    assert np.abs(straight).max() < 1e-9 and oblique_share(ridges(0.0 * rows)) < 1e-2
    found = ridges(0.5 * np.abs((rows + 8) % 32 - 16))
    size, changes = zigzag(ridge_turns(found, WAVE))
    assert 20.0 < size < 26.6 and changes == 4
    assert oblique_share(found) > 0.5
    leaning = ridge_turns(ridges(0.5 * rows), WAVE)
    assert zigzag(leaning)[1] == 0 and np.abs(leaning[8:-8]) == pytest.approx(26.6, abs=2.0)


def test_ridges_that_turn_each_its_own_way_do_not_count() -> None:
    rows, columns = np.meshgrid(np.arange(64), np.arange(48), indexing="ij")
    own_way = np.where(columns // 8 % 2 == 0, 1.0, -1.0) * 0.5 * np.abs((rows + 8) % 32 - 16)
    found = np.cos(2.0 * np.pi * (columns - own_way) / WAVE)
    assert zigzag(ridge_turns(found, WAVE))[0] < 5.0


@pytest.mark.slow
def test_straight_ridges_pressed_along_their_length_go_in_zigzag() -> None:
    piece = Biaxial(LEATHER, across=3.0, along=4.0, per_wave=6.0, pressed=(2.0, 1.4), steps=(1, 3), threads=1)
    found = press_twice(piece)
    assert found.converged
    first, last = (zigzag(found.turns(frame)) for frame in (1, 4))
    assert first[0] < 1.0 and np.ptp(found.heights(1)) > LEATHER.thickness
    assert last[0] > 10.0 and last[1] >= 2
    assert found.oblique(4) > 10.0 * found.oblique(1)


def test_pulling_is_refused() -> None:
    with pytest.raises(InputError, match="pressed too far, or pulled"):
        Biaxial(LEATHER, pressed=(2.0, -1.0))
