"""Motion blur: light is averaged, not bytes."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import InputError
from bunraku.render import exposed


def _grey(level: int, shape=(2, 3, 3)):
    return np.full(shape, level, dtype=np.uint8)


def test_half_black_half_white_is_half_the_light() -> None:
    """The sRGB level of half the light is 1.055 · 0.5^(1/2.4) − 0.055 = 0.7354 of 255: 187.5."""
    assert set(np.unique(exposed([_grey(0), _grey(255)]))) <= {187, 188}


def test_one_picture_stays_as_it_is() -> None:
    image = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    assert (exposed([image]) == image).all() and (exposed([image] * 16) == image).all()


def test_what_cannot_be_exposed_together() -> None:
    with pytest.raises(InputError, match="one size"):
        exposed([_grey(0), _grey(0, (2, 4, 3))])
    with pytest.raises(InputError, match="needs a picture"):
        exposed([])
