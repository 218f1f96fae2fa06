"""Makes the pictures of docs/scenes.md and docs/contact.md from the demos' own shots and from the figures, and
prints the figures' tables.

.venv/bin/python docs/make_scene_pictures.py [NAME …] [--mocap FILE.bvh]

Names are figures, `bag`, `walker`, `arms`, or `bag_mocap`, which needs the file. Without names: all of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import bunraku as bk
from bunraku.render import GUIDE, Image, Style, framing, picture, rows_sheet, write_webp
from bunraku.shots import DEMOS, FIGURES, demo_files, figure, study_sheet, write_demo

PICTURES = Path(__file__).parent / "pictures"
MOST = 390_000  # [bytes] of a picture
SIZE = (420, 480)
MOMENTS = {
    "bag": [4, 8, 13, 16, 19, 24, 29],
    "bag_mocap": [2, 6, 9, 12, 15, 18, 21, 26],
    "arms": [14, 18, 21, 24, 28, 36, 44],
    "walker": [10, 20, 30, 40, 62, 70, 86, 95, 102, 118],
}
"""frames worth a picture"""


def main() -> None:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--mocap", type=Path)
    args = parser.parse_args()
    driven = ["bag_mocap"] if args.mocap else []
    for name in args.names or ["bag", "walker", "arms", *driven, *FIGURES]:
        sheet = figure_sheet(name) if name in FIGURES else demo_sheet(name, args.mocap)
        write_webp(PICTURES / f"{name}.webp", [sheet], 1.0, max_bytes=MOST)


def figure_sheet(name: str) -> Image:
    """Run a figure, print its table, and draw it."""
    study = figure(name).study(None)
    print(name, *study.table(), sep="\n", flush=True)
    return study_sheet(name, study)


def demo_sheet(name: str, mocap: Path | None) -> Image:
    """Run a demo, and draw its guide and its take."""
    given = mocap if name == "bag_mocap" else None
    own = name.removesuffix("_mocap")
    with TemporaryDirectory() as folder:
        shot = write_demo(own, Path(folder), given)
        guide = bk.read_animation(Path(folder) / demo_files(own, given)[1])
        take = bk.read_animation(shot.run(out=Path(folder) / "take").folder / f"{own}.usdc")
    return pair_sheet(guide, take, DEMOS[own].style, MOMENTS[name])


def pair_sheet(guide: bk.Animation, take: bk.Animation, style: Style, chosen: list[int]) -> Image:
    """Guide above, take below; the camera goes along."""
    path = guide.points.mean(axis=1)
    camera = framing(
        [guide.points[chosen] - path[chosen][:, None]], aspect=SIZE[0] / SIZE[1], direction=(-0.8, -0.22, -0.75)
    )
    rows = [
        [
            picture(
                one.points[k] - path[k], one.mesh.faces, camera, size=SIZE, style=look, ground=-float(path[k, 1])
            )
            for k in chosen
        ]
        for one, look in ((guide, GUIDE), (take, style))
    ]  # fmt: skip
    return rows_sheet(rows, [str(k + 1) for k in chosen], ["guide", "take"])


if __name__ == "__main__":
    main()
