"""Several moments on one picture: motion blur."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bunraku.contracts import Array, input_error

from .layout import check_picture
from .lettering import Image


def exposed(images: Iterable[Image]) -> Image:
    """One picture (h, w, 3) lit by all of the given ones, each for an equal part of the time: light is averaged."""
    total: Array | None = None
    count = 0
    for image in images:
        check_picture(image)
        if total is not None and total.shape != image.shape:
            raise input_error("pictures of one exposure must have one size", got=(total.shape, image.shape))
        light = _LIGHT[image]
        total = light if total is None else total + light
        count += 1
    if total is None:
        raise input_error("an exposure needs a picture", got=0)
    mean = total / count
    encoded = np.where(mean <= 0.0031308, 12.92 * mean, 1.055 * mean ** (1 / 2.4) - 0.055)
    return np.round(255.0 * encoded).astype(np.uint8)


def _levels() -> Array:
    """(256,) linear light of sRGB bytes."""
    c = np.arange(256) / 255.0
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


_LIGHT = _levels()
