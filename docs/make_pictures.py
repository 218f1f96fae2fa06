"""Makes the pictures of the README and of the documentation from the demo's own shot.

.venv/bin/python docs/make_pictures.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import bunraku as bk
from bunraku.render import GUIDE, contact_sheet, framing, moments, picture, side_by_side, write_png, write_webp
from bunraku.shots import write_demo

PICTURES = Path(__file__).parent / "pictures"
EVERY = 2  # every second frame: 12 pictures a second keep the file small


def main() -> None:
    """Run the box and draw it."""
    with TemporaryDirectory() as folder:
        shot = write_demo("box", Path(folder))
        guide = bk.read_animation(Path(folder) / "guide.usda")
        result = shot.run(out=Path(folder) / "take")
        take = bk.read_animation(result.folder / "box.usdc")
    camera = framing([guide.points, take.points], ground=0.0, aspect=1.0)

    def pair(k: int, side: int) -> tuple[np.ndarray, np.ndarray]:
        left = picture(guide.points[k], guide.mesh.faces, camera, size=(side, side), style=GUIDE, ground=0.0)
        return left, picture(take.points[k], take.mesh.faces, camera, size=(side, side), ground=0.0)

    PICTURES.mkdir(exist_ok=True)
    shown = range(0, take.frame_count, EVERY)
    write_webp(PICTURES / "box.webp", [side_by_side(*pair(k, 400)) for k in shown], 24.0 / EVERY)
    eight = [int(k) for k in moments(take.frame_count)]
    pairs = [pair(k, 480) for k in eight]
    sheet = contact_sheet([p[0] for p in pairs], [p[1] for p in pairs], [f"{k + 1}" for k in eight], width=1920)
    write_png(PICTURES / "box_sheet.png", sheet)


if __name__ == "__main__":
    main()
