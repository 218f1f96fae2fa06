"""`bunraku swatches` and `bunraku axes`: sheets of pictures, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from bunraku.shots.axes import AXES, material_at


def test_swatches_differ_and_stand_on_one_sheet(folder, bunraku) -> None:
    code, out, err = bunraku("swatches", "silk", "leather", "--cells", "12", "--seconds", "0.6", "--out", "look")
    assert code == 0, err
    assert "1 of 2: silk" in out and "2 of 2: leather" in out and "wrote look/swatches.png" in out
    sheet = np.asarray(Image.open("look/swatches.png")).astype(int)
    assert sheet.shape == (4 + 424, 4 + 2 * 424, 3)
    left, right = sheet[4:424, 4:424], sheet[4:424, 428:848]
    assert (np.abs(left - right).sum(axis=2) > 60).mean() > 0.02


def test_axes_are_listed_and_drawn(folder, bunraku) -> None:
    code, out, _ = bunraku("axes")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == ["bending", "plastic", "damping"]
    code, out, err = bunraku("axes", "bending", "--grid", "2", "--levels", "1", "--seconds", "0.2")
    assert code == 0, err
    assert "4 of 4: stretching x 10, bending x 10" in out and "wrote axes_bending.png" in out
    sheet = np.asarray(Image.open("axes_bending.png"))
    assert sheet.shape == (52 + 2 * 424, 210 + 2 * 424, 3)


def test_stretching_and_bending_are_independent() -> None:
    """Along a row only E h changes not, along a column only D: E · bend_scale is D over its geometry."""
    axes = AXES["bending"]
    soft, stiff = (material_at(axes, row, 3.0) for row in (0.1, 10.0))
    assert float(stiff.young) / float(soft.young) == 100.0  # type: ignore[arg-type]
    rigidity = [float(m.young) * float(m.bend_scale) for m in (soft, stiff)]  # type: ignore[arg-type]
    assert np.isclose(rigidity[0], rigidity[1], rtol=1e-12)
    limp, firm = (material_at(axes, 2.0, column) for column in (0.1, 10.0))
    assert limp.young == firm.young and float(firm.bend_scale) / float(limp.bend_scale) == 100.0  # type: ignore[arg-type]


def test_refusals(folder, bunraku) -> None:
    for words, said in [
        (
            ("axes", "bendig"),
            "there are no such axes (got 'bendig'); allowed: bending, plastic, damping; try: 'bending'",
        ),
        (("axes", "bending", "--grid", "0"), "grid is out of range (got 0); allowed: a whole number from 1 to 9"),
        (("axes", "damping", "--seconds", "9"), "the moment is not in the box's motion"),
        (("swatches", "silkk"), "unknown material (got 'silkk')"),
        (("swatches", "--cells", "1"), "cells is out of range (got 1); allowed: 4 to 300"),
        (("swatches", "silk", "--cells", "100000"), "cells is out of range"),
        (("swatches", "silk", "--seconds", "inf"), "seconds is out of range (got inf)"),
        (("swatches", "silk", "--seconds", "nan"), "seconds is out of range (got nan)"),
        (("figures", "fig3", "--out", "guide.usda"), "is a file"),
        (("figures", "fig3", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("axes", "bending", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("swatches", "silk", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("demo", "box", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("figures", "fig3", "--threads", "-1"), "--threads"),
        (("swatches", "silk", "--out", "guide.usda"), "is a file"),
    ]:
        code, _, err = bunraku(*words)
        assert code == 2 and said in err, err
    assert sorted(path.name for path in Path().iterdir()) == ["box.toml", "guide.usda"]
