"""Text burnt into pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

Image = NDArray[np.uint8]
"""(height, width, 3) sRGB bytes"""

SMALLEST_LETTERS = 6  # [pixels] below this text is not readable anyway


@lru_cache(maxsize=32)
def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size=size)


def burn_in(
    image: Image,
    bottom_left: str = "",
    *,
    bottom_right: str = "",
    top_left: str = "",
    letters: float = 1 / 30,
) -> Image:
    """A copy of the image (h, w, 3) with text in its corners: white on a dark outline, legible on anything.

    `letters` is their size as a share of the height; a text too long for the picture is set smaller.
    """
    height, width = image.shape[:2]
    canvas = PillowImage.fromarray(image)
    draw = ImageDraw.Draw(canvas)
    margin = max(height // 36, 2)
    places = [
        (bottom_left, (margin, height - margin), "ls"),
        (bottom_right, (width - margin, height - margin), "rs"),
        (top_left, (margin, margin), "la"),
    ]
    for text, position, anchor in places:
        if text:
            font = _fitting(draw, text, max(round(height * letters), SMALLEST_LETTERS), width - 2 * margin)
            outline = max(round(font.size / 12), 1)
            draw.text(
                position, text, font=font, anchor=anchor, fill=(255, 255, 255),
                stroke_width=outline, stroke_fill=(38, 38, 40),
            )  # fmt: skip
    return np.array(canvas)


def lettered(image: Image, texts: Sequence[tuple[str, int, int]], *, letters: float = 1 / 30) -> Image:
    """A copy of the image (h, w, 3) with short texts, each centred on its (column, row) [pixels]."""
    canvas = PillowImage.fromarray(image)
    draw = ImageDraw.Draw(canvas)
    font = _font(max(round(image.shape[0] * letters), SMALLEST_LETTERS))
    for text, column, row in texts:
        draw.text(
            (column, row), text, font=font, anchor="mm", fill=(255, 255, 255), stroke_width=2, stroke_fill=(38, 38, 40)
        )
    return np.array(canvas)


def _fitting(draw: ImageDraw.ImageDraw, text: str, size: int, width: int) -> ImageFont.FreeTypeFont:
    """The largest font up to `size` in which the text is at most `width` pixels wide."""
    while size > SMALLEST_LETTERS and draw.textlength(text, font=_font(size)) > width:
        size -= 1
    font = _font(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType, so it has no scalable font")
    return font
