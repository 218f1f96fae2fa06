"""Pictures beside and above each other: the guide next to the result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image as PillowImage

from bunraku.contracts import Integers, input_error

from .lettering import Image, burn_in

GAP = 4  # [pixels] between pictures
_WIDE = 2.0  # times as wide as high, that pictures of a sheet stand in two columns
LARGEST_LETTERS = 36  # [pixels] on a sheet: large pictures keep the lettering of small ones
PAPER = (38, 38, 40)


def check_picture(image: Image, name: str = "picture") -> None:
    """Refuse what is not (h, w, 3) bytes."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or image.size == 0:
        raise input_error(
            "a picture must be bytes of shape (height, width, 3)",
            where=name,
            got=f"{image.shape} {image.dtype}",
        )


def side_by_side(left: Image, right: Image, *, captions: tuple[str, str] = ("guide", "result")) -> Image:
    """Two pictures of one height, (h, w, 3) each, beside each other with captions at their upper left."""
    check_picture(left, "left picture")
    check_picture(right, "right picture")
    if left.shape[0] != right.shape[0]:
        raise input_error("pictures side by side must have one height", got=(left.shape[0], right.shape[0]))
    gap = np.full((left.shape[0], GAP, 3), PAPER, dtype=np.uint8)
    parts = [burn_in(left, top_left=captions[0]), gap, burn_in(right, top_left=captions[1])]
    return np.concatenate(parts, axis=1)


def above_each_other(upper: Image, lower: Image, *, captions: tuple[str, str] = ("guide", "result")) -> Image:
    """Two pictures of one width, (h, w, 3) each, the first above the second, with captions at their upper left."""
    check_picture(upper, "upper picture")
    check_picture(lower, "lower picture")
    if upper.shape[1] != lower.shape[1]:
        raise input_error("pictures above each other must have one width", got=(upper.shape[1], lower.shape[1]))
    gap = np.full((GAP, upper.shape[1], 3), PAPER, dtype=np.uint8)
    return np.concatenate([burn_in(upper, top_left=captions[0]), gap, burn_in(lower, top_left=captions[1])], axis=0)


def moments(frame_count: int, count: int = 8) -> Integers:
    """(k,) indices of up to `count` different frames, evenly spread, the first and the last among them."""
    return np.unique(np.round(np.linspace(0, max(frame_count - 1, 0), min(count, frame_count))).astype(np.int64))


def contact_sheet(
    guide_pictures: Sequence[Image],
    result_pictures: Sequence[Image],
    captions: Sequence[str],
    *,
    width: int = 2560,
    titles: tuple[str, str] = ("guide", "result"),
) -> Image:
    """Two rows, guide above result, one column a moment; captions (frame numbers) on the upper row. Wide pictures
    stand in two columns instead, guide beside result, one row a moment.

    All pictures have one shape (h, w, 3); the sheet (h', w', 3) is at most `width` [pixels] wide.
    """
    if not len(guide_pictures) == len(result_pictures) == len(captions) > 0:
        counts = len(guide_pictures), len(result_pictures), len(captions)
        raise input_error("a contact sheet needs as many guides as results and captions", got=counts)
    if guide_pictures[0].shape[1] > _WIDE * guide_pictures[0].shape[0]:
        pairs = list(zip(guide_pictures, result_pictures, strict=True))
        return rows_sheet(pairs, titles, captions, width=5 * width // 8)
    return rows_sheet([guide_pictures, result_pictures], captions, titles, width=width)


def rows_sheet(
    rows: Sequence[Sequence[Image]], captions: Sequence[str], titles: Sequence[str], *, width: int = 1920
) -> Image:
    """Any number of rows, each with its title at its first picture and one picture a caption; captions on the first.

    All pictures have one shape (h, w, 3); the sheet (h', w', 3) is at most `width` [pixels] wide.
    """
    if not rows or len(rows) != len(titles) or {len(row) for row in rows} != {len(captions)} or not captions:
        counts = [len(row) for row in rows]
        raise input_error("a sheet needs a title a row and a caption a column", got=(counts, len(titles)))
    pictures = [image for row in rows for image in row]
    for image in pictures:
        check_picture(image)
    shapes = {image.shape for image in pictures}
    if len(shapes) > 1:
        raise input_error("pictures of a contact sheet must have one size", got=sorted(shapes))
    height, full = pictures[0].shape[:2]
    cell = min(max((width - GAP * (len(captions) + 1)) // len(captions), 8), full)
    size = cell, max(round(height * cell / full), 1)
    none = [""] * len(captions)
    strips = [
        _row([_small(image, size) for image in row], captions if k == 0 else none, titles[k])
        for k, row in enumerate(rows)
    ]
    gap = np.full((GAP, strips[0].shape[1], 3), PAPER, dtype=np.uint8)
    return np.concatenate([gap, *(part for strip in strips for part in (strip, gap))], axis=0)


def picture_grid(
    rows: Sequence[Sequence[Image]], *, row_titles: Sequence[str] = (), column_titles: Sequence[str] = ()
) -> Image:
    """Rows of pictures, all of one shape (h, w, 3), with titles left of the rows and above the columns.

    Rows may be shorter than the first: what is missing stays empty.
    """
    every = [image for row in rows for image in row]
    for image in every:
        check_picture(image)
    if not every or len({image.shape for image in every}) > 1:
        raise input_error("a grid needs pictures of one size", got=sorted({image.shape for image in every}))
    columns = max(len(row) for row in rows)
    if (row_titles and len(row_titles) != len(rows)) or (column_titles and len(column_titles) != columns):
        counts = len(row_titles), len(column_titles)
        raise input_error("a grid needs a title a row and a column", got=counts, allowed=f"{len(rows)}, {columns}")
    height, width = every[0].shape[:2]
    top, left = (height // 8 if column_titles else GAP), (width // 2 if row_titles else GAP)
    sheet = np.full((top + len(rows) * (height + GAP), left + columns * (width + GAP), 3), PAPER, dtype=np.uint8)
    for j, title in enumerate(column_titles):
        place = sheet[:top, left + j * (width + GAP) :][:, :width]
        place[:] = burn_in(place, top_left=title, letters=0.5)
    for i, row in enumerate(rows):
        y = top + i * (height + GAP)
        if row_titles:
            place = sheet[y + (height - top) // 2 :, :left][: max(top, height // 8)]
            place[:] = burn_in(place, top_left=row_titles[i], letters=0.5)
        for j, image in enumerate(row):
            sheet[y : y + height, left + j * (width + GAP) :][:, :width] = image
    return sheet


def footed(sheet: Image, strip: Image) -> Image:
    """The sheet (h, w, 3) with a strip below it, such as a legend, at most as wide as its pictures."""
    check_picture(sheet, "sheet")
    check_picture(strip, "strip")
    below = np.full((strip.shape[0] + GAP, sheet.shape[1], 3), PAPER, dtype=np.uint8)
    width = min(strip.shape[1], sheet.shape[1] - 2 * GAP)
    below[: strip.shape[0], GAP : GAP + width] = strip[:, :width]
    return np.concatenate([sheet, below], axis=0)


def _small(image: Image, size: tuple[int, int]) -> Image:
    return np.array(PillowImage.fromarray(image).resize(size, PillowImage.Resampling.LANCZOS))


def _row(images: list[Image], captions: Sequence[str], title: str) -> Image:
    height = images[0].shape[0]
    gap = np.full((height, GAP, 3), PAPER, dtype=np.uint8)
    letters = min(1 / 12, LARGEST_LETTERS / height)
    parts = [gap]
    for k, (image, caption) in enumerate(zip(images, captions, strict=True)):
        parts += [burn_in(image, caption, top_left=title if k == 0 else "", letters=letters), gap]
    return np.concatenate(parts, axis=1)
