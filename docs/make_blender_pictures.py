"""Makes the pictures of docs/blender.md: the extension's own figure, simulated by pressing its buttons in Blender.

.venv/bin/python docs/make_blender_pictures.py [FOLDER]

Needs `make test-blender` to have installed Blender and `make extension` to have built the zip. What FOLDER holds from
an earlier time is drawn again, not simulated.
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
PICTURES = ROOT / "docs" / "pictures"
MOST = 160_000  # [bytes] of a picture
FRAMES = (2, 8, 14, 20)


def main(folder: Path) -> None:
    """Press the buttons, and put the pictures together."""
    blender = ROOT / ".venv-blender" / "bin" / "python"
    (extension,) = (ROOT / "dist").glob("bunraku-*.zip")
    script = Path(__file__).with_name("blender_pictures.py")
    subprocess.run([str(blender), str(script), str(extension), sys.executable, str(folder)], check=True)

    def one(name: str) -> np.ndarray:
        return np.asarray(Image.open(folder / f"{name}.png").convert("RGB"))

    rows = [[one(f"{name}_{frame}") for frame in FRAMES] for name in ("guide", "result")]
    walk = rows_sheet(rows, [f"frame {frame}" for frame in FRAMES], ["guide", "result"])
    write_webp(PICTURES / "blender_walk.webp", [walk], 1.0, max_bytes=MOST)
    names = {"guide_14": "the figure", "regions_14": "its regions", "result_14": "the result", "force_14": "the force"}
    steps = rows_sheet([[one(name) for name in names]], list(names.values()), ["frame 14"])
    write_webp(PICTURES / "blender_steps.webp", [steps], 1.0, max_bytes=MOST)


if __name__ == "__main__":
    in_working_folder(main)
