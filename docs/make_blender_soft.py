"""Makes docs/pictures/blender_soft.webp: Wrinkle, Steer and Plan of docs/blender.md, by the extension's buttons.

.venv/bin/python docs/make_blender_soft.py [FOLDER]

Needs `make test-blender` to have installed Blender and `make extension` to have built the zip; takes a minute or two.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from working_folder import in_working_folder

from bunraku.render import rows_sheet, write_webp

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "blender_soft.webp"
MOST = 160_000  # [bytes]
NAMES = ("wrinkle", "steer", "plan")


def main(folder: Path) -> None:
    """Press the buttons, and put the pictures together."""
    blender = ROOT / ".venv-blender" / "bin" / "python"
    (extension,) = (ROOT / "dist").glob("bunraku-*.zip")
    script = Path(__file__).with_name("blender_soft.py")
    subprocess.run([str(blender), str(script), str(extension), sys.executable, str(folder)], check=True)
    files = {name: sorted(folder.glob(f"{name}_*.png"), key=_frame) for name in NAMES}
    rows = [[np.asarray(Image.open(file).convert("RGB")) for file in row] for row in files.values()]
    titles = [f"{name}: frames {', '.join(str(_frame(file)) for file in row)}" for name, row in files.items()]
    write_webp(PICTURE, [rows_sheet(rows, [""] * len(rows[0]), titles)], 1.0, max_bytes=MOST)


def _frame(file: Path) -> int:
    return int(file.stem.split("_")[1])


if __name__ == "__main__":
    in_working_folder(main)
