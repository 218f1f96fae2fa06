"""Makes the pictures of docs/scenes.md from the demos' own shots and from the figures.

.venv/bin/python docs/make_scene_pictures.py [NAME …]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import bunraku as bk
from bunraku.render import GUIDE, STUDIO, Camera, Image, framing, moments, picture, rows_sheet, write_webp
from bunraku.shots import DEMOS, FIGURES, demo_files, figure, study_sheet, write_demo

PICTURES = Path(__file__).parent / "pictures"
MOST = 450_000  # [bytes] of a picture
SIZE = (420, 480)
BESIDE = (2.6, 0.55, 2.4)
"""[m] of the camera that walks along with the walker"""


def main(names: list[str]) -> None:
    """Draw the demos and figures of those names, or all but the box, which the README shows."""
    for name in names or [*(one for one in DEMOS if one != "box"), *FIGURES]:
        sheet = study_sheet(name, figure(name).study(None)) if name in FIGURES else _demo(name)
        write_webp(PICTURES / f"{name}.webp", [sheet], 1.0, max_bytes=MOST)


def _demo(name: str) -> Image:
    with TemporaryDirectory() as folder:
        shot = write_demo(name, Path(folder))
        guide = bk.read_animation(Path(folder) / demo_files(name)[1])
        take = bk.read_animation(shot.run(out=Path(folder) / "take").folder / f"{name}.usdc")
    chosen = [4, 8, 13, 16, 19, 24, 29] if name.startswith("bag") else [int(k) for k in moments(take.frame_count, 8)]
    far = framing([guide.points], ground=0.0, aspect=SIZE[0] / SIZE[1], direction=(-0.7, -0.25, -0.8))
    rows = []
    for animation, style in ((guide, GUIDE), (take, STUDIO)):
        rows.append([
            picture(animation.points[k], animation.mesh.faces, _beside(guide, k) if name == "walker" else far,
                    size=SIZE, style=style, ground=0.0)
            for k in chosen
        ])  # fmt: skip
    return rows_sheet(rows, [str(k + 1) for k in chosen], ["guide", "take"])


def _beside(guide: bk.Animation, k: int) -> Camera:
    x, y, z = 0.0, 0.55, float(guide.points[k, :, 2].mean())
    return Camera((x + BESIDE[0], y + BESIDE[1], z + BESIDE[2]), (x, y, z))


if __name__ == "__main__":
    main(sys.argv[1:])
