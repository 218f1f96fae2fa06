"""Pictures into image files: PNG, and looping WebP for a page that must stay light; and out of PNG and JPEG files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from io import BytesIO

import numpy as np
from PIL import Image as PillowImage
from PIL import UnidentifiedImageError

from bunraku.contracts import OutputError, input_error

from .files import replacing
from .layout import check_picture
from .lettering import Image

# From best to smallest: width as a share of the given, quality of the encoder.
LADDER = [(scale, quality) for scale in (1.0, 0.84, 0.7, 0.6, 0.5, 0.4, 0.3) for quality in (85, 70, 55, 40)]


def write_png(path: str | os.PathLike[str], picture: Image) -> None:
    """Write one picture (h, w, 3)."""
    check_picture(picture)
    with replacing(path) as part:
        PillowImage.fromarray(picture).save(part, format="PNG")


def read_picture(data: bytes, width: int, height: int) -> Image:
    """(h, w, 3) from the bytes of a PNG or JPEG; refused unless it is of that size, before it is unpacked."""
    try:
        with PillowImage.open(BytesIO(data), formats=("PNG", "JPEG")) as found:
            if found.size == (width, height):
                return np.array(found.convert("RGB"))
            got = f"{found.size[0]} × {found.size[1]}"
    except UnidentifiedImageError:
        raise input_error("is no picture", got=f"{len(data)} bytes", allowed="a PNG or a JPEG") from None
    except (OSError, SyntaxError, ValueError, EOFError, PillowImage.DecompressionBombError) as error:
        raise input_error("is no picture", got=str(error)[:80], allowed="a PNG or a JPEG") from None
    raise input_error("the picture has another size", got=got, allowed=f"{width} × {height} pixels")


def write_webp(
    path: str | os.PathLike[str], pictures: Iterable[Image], rate: float, *, max_bytes: int = 1_000_000
) -> None:
    """Write pictures (h, w, 3), `rate` per second, as a WebP that loops for ever.

    Size and quality are lowered until the file has at most `max_bytes`.
    """
    frames = list(pictures)
    if not frames:
        raise input_error("an animation needs at least one picture", where=str(path), got=0)
    for frame in frames:
        check_picture(frame)
    if not (np.isfinite(rate) and rate > 0):
        raise input_error("pictures per second must be positive", got=rate)
    with replacing(path) as part:
        part.write_bytes(_smallest_loss(frames, rate, max_bytes, str(path)))


def _smallest_loss(frames: Sequence[Image], rate: float, max_bytes: int, name: str) -> bytes:
    """The first rung of the ladder that is small enough, found by halving: each is smaller than the last."""
    data = _webp(frames, rate, *LADDER[0])
    if len(data) <= max_bytes:
        return data
    too_large, enough, best = 0, len(LADDER), b""
    while enough - too_large > 1:
        middle = (too_large + enough) // 2
        data = _webp(frames, rate, *LADDER[middle])
        if len(data) <= max_bytes:
            enough, best = middle, data
        else:
            too_large = middle
    if not best:
        raise OutputError(
            f"cannot write {name}: {len(frames)} frames do not fit into {max_bytes} bytes; "
            "try: fewer frames or a higher max_bytes"
        )
    return best


def _webp(frames: Sequence[Image], rate: float, scale: float, quality: int) -> bytes:
    height, width = frames[0].shape[:2]
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    images = [PillowImage.fromarray(frame).resize(size, PillowImage.Resampling.LANCZOS) for frame in frames]
    # Whole milliseconds a frame: rounded so that they add up, else 24 frames a second drift.
    ends = np.round(1000.0 * np.arange(1, len(frames) + 1) / rate).astype(int)
    buffer = BytesIO()
    images[0].save(
        buffer, format="WEBP", save_all=True, append_images=images[1:], loop=0,
        duration=np.diff(ends, prepend=0).tolist(), quality=quality, method=4,
    )  # fmt: skip
    return buffer.getvalue()
