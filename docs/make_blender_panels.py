"""Makes docs/pictures/blender_panels.webp: what the extension's panels lay out at the steps of docs/blender.md.

.venv/bin/python docs/make_blender_panels.py [FOLDER]

Needs `make test-blender` to have installed Blender and `make extension` to have built the zip. Blender as a module has
no window: the panels are played on a layout that notes what is in them, and drawn from those notes, without icons.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from working_folder import in_working_folder

from bunraku.render import write_webp

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "blender_panels.webp"
MOST = 160_000  # [bytes]
COLUMNS = {
    "steps 3 to 7": ("direction",), "steps 7 and 8": ("settings", "going"), "step 9, after Quick": ("done",),
}  # fmt: skip
"""title → the moments below it"""
WIDE, ROW, GAP, EDGE, LETTERS = 600, 38, 6, 14, 23  # [pixels]
NAMES = 0.4  # of a line
PAPER, PANEL, BOX, FIELD, BUTTON, PRESSED = "#303030", "#3d3d3d", "#343434", "#1d1d1d", "#545454", "#4772b3"
TEXT, DIM = "#e6e6e6", "#8c8c8c"
MARKS = {"CHECKMARK": "#78c46c", "ERROR": "#e5a13a", "INFO": "#8ab4e8"}
Note = Mapping[str, Any]


class Sheet:
    """Panels one below the other, drawn from their notes."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (WIDE, 4000), PAPER)
        self._draw = ImageDraw.Draw(self.image)
        self._kinds: dict[str, Callable[[Note, float, float, float, bool], float]] = {
            "panel": self._panel, "column": self._column, "row": self._row, "split": self._split, "box": self._box,
            "label": self._label, "field": self._field, "button": self._button, "check": self._check,
            "progress": self._progress, "separator": lambda note, x, y, wide, on: y + 2 * GAP,
        }  # fmt: skip

    def put(self, note: Note, x: float, y: float, wide: float, on: bool = True) -> float:
        """Draw a note, and say where the next one begins."""
        return self._kinds[note["kind"]](note, x, y, wide, on and note.get("enabled", True))

    def text(self, x: float, y: float, text: str, colour: str = TEXT, anchor: str = "lm") -> None:
        """In a line of the usual height."""
        font = ImageFont.load_default(size=LETTERS)
        known = text.replace("–", "-")  # which Pillow's own font lacks
        self._draw.text((x, y + ROW / 2), known, fill=colour, font=font, anchor=anchor)

    def _shape(self, x: float, y: float, wide: float, high: float, colour: str) -> None:
        self._draw.rounded_rectangle((x, y, x + wide, y + high), radius=7, fill=colour)

    def _below(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        for one in note["items"]:
            inner = dict(one) | {"use_property_split": one.get("use_property_split", note.get("use_property_split"))}
            y = self.put(inner, x, y, wide, on)
        return y

    def _panel(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        high = Sheet._height(note, wide)
        self._shape(x, y, wide, high, PANEL)
        self._draw.polygon([(x + 14, y + 15), (x + 28, y + 15), (x + 21, y + 26)], fill=TEXT)
        self.text(x + 40, y, note["text"])
        return self._below(note, x + EDGE, y + ROW + GAP, wide - 2 * EDGE, on) + EDGE + GAP

    @staticmethod
    def _height(note: Note, wide: float) -> float:
        """Of a panel or a box: it is laid out once on a sheet that nobody sees."""
        trial = Sheet()
        head = ROW + GAP if note["kind"] == "panel" else EDGE
        return trial._below(note, 0, head, wide - 2 * EDGE, True) + (EDGE if note["kind"] == "panel" else GAP)

    def _box(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        high = Sheet._height(note, wide)
        self._shape(x, y, wide, high, BOX)
        self._below(note, x + EDGE, y + EDGE, wide - 2 * EDGE, on)
        return y + high + GAP

    def _column(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        tight = dict(note, items=[dict(one, tight=note.get("align", False)) for one in note["items"]])
        return self._below(tight, x, y, wide, on) + (GAP if note.get("align") else 0)

    def _row(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        items = note["items"]
        narrow = [one for one in items if one["kind"] == "check"]
        each = (wide - ROW * len(narrow) - GAP * (len(items) - 1)) / max(len(items) - len(narrow), 1)
        right = note.get("alignment") == "RIGHT"
        for one in items:
            own = ROW if one in narrow else each
            self.put(dict(one) | {"right": right, "use_property_split": False}, x, y, own, on)
            x += own + GAP
        return y + ROW + GAP

    def _split(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        first, second = note["items"]
        self.put(first, x, y, note["share"] * wide - GAP, on)
        self.put(second, x + note["share"] * wide, y, (1.0 - note["share"]) * wide, on)
        return y + ROW + GAP

    def _label(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        mark = MARKS.get(note["icon"])
        if mark:
            self._draw.ellipse((x + 4, y + 12, x + 18, y + 26), fill=mark)
        indent = 28 if mark or note["icon"] == "BLANK1" else 0
        right = note.get("right", False)
        self.text(x + wide if right else x + indent, y, note["text"], TEXT if on else DIM, "rm" if right else "lm")
        return y + (ROW - 6 if note.get("tight") else ROW)

    def _field(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        colour, name, value = TEXT if on else DIM, note["text"], note["value"]
        if note["type"] == "BOOLEAN":
            begin = x + NAMES * wide if note.get("use_property_split") else x
            self._check(note, begin, y, ROW, on)
            self.text(begin + ROW + GAP, y, name, colour)
            return y + ROW + GAP
        if name:
            self.text(x + NAMES * wide - 2 * GAP, y, name, colour, "rm")
            x, wide = x + NAMES * wide, (1.0 - NAMES) * wide
        self._shape(x, y, wide, ROW, BUTTON if note["type"] in ("INT", "FLOAT") else FIELD)
        if "share" in note:
            self._shape(x, y, max(note["share"] * wide, 8), ROW, PRESSED)
        self.text(x + wide / 2, y, value, colour, "mm")
        if note["type"] == "ENUM":
            end = x + wide
            self._draw.polygon([(end - 30, y + 16), (end - 16, y + 16), (end - 23, y + 25)], fill=colour)
        return y + ROW + GAP

    def _check(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        self._draw.rounded_rectangle(
            (x + 6, y + 7, x + 30, y + 31), radius=5, fill=PRESSED if note["value"] else BUTTON
        )
        if note["value"]:
            self._draw.line([(x + 11, y + 19), (x + 16, y + 25), (x + 25, y + 13)], fill=TEXT, width=3)
        return y + ROW + GAP

    def _button(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        self._shape(x, y, wide, ROW, PRESSED if note["pressed"] else BUTTON)
        self.text(x + wide / 2, y, note["text"], TEXT if on else DIM, "mm")
        return y + ROW + GAP

    def _progress(self, note: Note, x: float, y: float, wide: float, on: bool) -> float:
        self._shape(x, y, wide, ROW, FIELD)
        self._shape(x, y, max(note["share"] * wide, 8), ROW, PRESSED)
        self.text(x + wide / 2, y, note["text"], TEXT, "mm")
        return y + ROW + GAP


def column(title: str, notes: Sequence[Note]) -> Image.Image:
    """A strip of panels below a title."""
    sheet, y = Sheet(), ROW + 2 * GAP
    sheet.text(EDGE, GAP, title, DIM)
    for note in notes:
        y = sheet.put(note, GAP, y, WIDE - 2 * GAP)
    return sheet.image.crop((0, 0, WIDE, round(y)))


def main(folder: Path) -> None:
    """Play the panels in Blender and draw what they noted."""
    blender = ROOT / ".venv-blender" / "bin" / "python"
    (extension,) = (ROOT / "dist").glob("bunraku-*.zip")
    script = Path(__file__).with_name("blender_panels.py")
    subprocess.run([str(blender), str(script), str(extension), sys.executable, str(folder)], check=True)
    told = json.loads((folder / "panels.json").read_text(encoding="utf-8"))
    strips = [column(title, [one for name in names for one in told[name]]) for title, names in COLUMNS.items()]
    whole = Image.new("RGB", (WIDE * len(strips), max(one.height for one in strips)), PAPER)
    for k, strip in enumerate(strips):
        whole.paste(strip, (k * WIDE, 0))
    write_webp(PICTURE, [np.asarray(whole)], 1.0, max_bytes=MOST)


if __name__ == "__main__":
    in_working_folder(main)
