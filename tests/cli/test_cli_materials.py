"""`bunraku swatches` and `bunraku axes`: sheets of pictures, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bunraku.direction.track import hierarchy, tracking_job
from bunraku.scenes import box_mesh
from bunraku.shots import SwatchSettings, swatches
from bunraku.shots.axes import AXES, Shown, _explained, bent, material_at, own_sheet


@pytest.mark.slow
def test_swatches_differ_and_stand_on_one_sheet(folder, bunraku) -> None:
    code, out, err = bunraku("swatches", "silk", "leather", "--cells", "12", "--seconds", "0.6", "--out", "look")
    assert code == 0, err
    assert (
        out.startswith("letting down 2 swatches")
        and "1 of 2: silk" in out
        and "2 of 2: leather" in out
        and "wrote look/swatches.png" in out
    )
    sheet = np.asarray(Image.open("look/swatches.png")).astype(int)
    assert sheet.shape == (4 + 424, 4 + 2 * 424, 3)
    left, right = sheet[4:424, 4:424], sheet[4:424, 428:848]
    assert (np.abs(left - right).sum(axis=2) > 60).mean() > 0.02


def test_axes_are_listed(bunraku) -> None:
    code, out, _ = bunraku("axes")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == ["bending", "plastic", "damping"]


def test_sheets_say_of_what_their_knobs_are_multiples_and_what_their_colours_mean() -> None:
    assert own_sheet() == "x 1 is the demo's box: 0.2 MPa, 9 mm, 280 kg/m^3, damping 0.5 ms"
    shell = box_mesh()
    blank = np.full((90, 400, 3), 90, dtype=np.uint8)
    swinging = [[Shown(shell, (shell.rest,), "", np.linspace(0.0, 2.0, len(shell.faces)))]]
    plain, scaled = (_explained(blank, AXES[name], swinging) for name in ("bending", "damping"))
    assert plain.shape == (130, 400, 3) and scaled.shape == (170, 400, 3)
    strip = scaled[90:126, 4:-4].astype(int)
    assert strip[:12, 0].sum() + 200 < strip[:12, -1].sum()  # dark is still, light is fast


def numbers(bunraku, name: str, levels: int) -> np.ndarray:
    """(2, 2) what the pictures of a small sheet say, rows by columns; the sheet is there and has its size."""
    code, out, err = bunraku("axes", name, "--grid", "2", "--levels", str(levels), "--threads", "1", "--out", "new")
    assert code == 0 and "stopped" not in out, err
    assert re.findall(r"^(\d) of 4: ", out, re.MULTILINE) == list("1234") and f"wrote new/axes_{name}.png" in out
    with Image.open(f"new/axes_{name}.png") as sheet:
        strips = 2 if name == "damping" else 1  # its colours have a scale
        assert sheet.size == (210 + 2 * 424, 52 + 2 * 424 + strips * 40)
    found = re.findall(r": (?:bent|moves) (\S+?)(?:/m| m/s)$", out, re.MULTILINE)
    return np.array(found, dtype=float).reshape(2, 2)


@pytest.mark.slow
def test_a_sheet_that_bends_more_easily_is_bent_more_and_one_that_stretches_more_easily_less(folder, bunraku) -> None:
    found = numbers(bunraku, "bending", 2)
    assert (found[:, 0] > found[:, 1]).all() and (found[1] > found[0]).all(), found
    assert found[1, 0] > 1.2 * found[0, 1], found


@pytest.mark.slow
def test_wrinkles_stay_where_it_yields_early_and_hardening_matters_there_alone(folder, bunraku) -> None:
    """After the same twist and back. So coarse a box is never bent by 18/m: where nothing has set nothing hardens."""
    found = numbers(bunraku, "plastic", 2)
    assert (found[0] > 2.0 * found[1]).all(), found
    assert abs(found[0, 1] - found[0, 0]) > 0.1 * found[0, 0] and found[1, 0] == found[1, 1], found


@pytest.mark.slow
def test_what_is_damped_comes_to_rest_and_what_is_heavy_does_not(folder, bunraku) -> None:
    """So coarse a box of the light material is at rest within a step; the heavy one swings unless it is damped."""
    found = numbers(bunraku, "damping", 1)
    assert found[1, 1] < 0.1 * found[0, 1] and found[0, 1] > 10 * found[0, 0], found


@pytest.mark.slow
def test_less_yield_sets_more(folder) -> None:
    """The share of faces that have set, and the curvature they keep, rise as the yield curvature falls."""
    axes, guide = AXES["plastic"], AXES["plastic"].guide()
    shell, tests = hierarchy(guide.mesh, 2)
    shares = []
    for limit in (2.0, 6.0, 18.0):
        job = tracking_job(guide, shell, tests, material=material_at(axes, limit, 0.0), substeps=2, threads=1)
        *_, last = job.frames()
        shares.append(float(last.report["yielded"]))
    assert shares[0] > shares[1] > shares[2] and shares[0] > 0.5, shares


@pytest.mark.slow
@pytest.mark.parametrize("words", [("axes", "bending", "--levels", "1"), ("swatches", "felt", "--cells", "4")])
def test_an_interruption_leaves_nothing(folder, bunraku, monkeypatch, words) -> None:
    """Neither a folder nor half a picture, wherever it comes: in physics, or as the sheet is put together."""
    before = sorted(Path().iterdir())

    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    for where in (f"{words[0]}.tracking_job", f"{words[0]}.picture_grid"):
        with monkeypatch.context() as patch:
            patch.setattr(f"bunraku.shots.{where}", interrupt)
            code, out, err = bunraku(*words, *(("--grid", "1") if words[0] == "axes" else ()), "--out", "new")
        assert code == 130 and "interrupted" in out + err
        assert sorted(Path().iterdir()) == before


@pytest.mark.slow
def test_a_slow_letting_down_ends_in_smoother_folds(monkeypatch) -> None:
    """Silk on a coarse mesh, the same time in the same air: let fall at once it is rumpled by folds of a few cells."""
    settings = SwatchSettings(("silk",), cells=24, seconds=1.0, threads=1)
    slow = bent(*swatches.draped("silk", settings))
    monkeypatch.setattr(swatches, "_BROAD", 1e-6)
    sudden = bent(*swatches.draped("silk", settings))
    assert slow < 0.8 * sudden, (slow, sudden)


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
        (
            ("axes", "damping", "--seconds", "9"),
            "the moment is not in the box's motion (got 9.0); allowed: above 0, up to",
        ),
        (("axes", "plastic", "--seconds", "nan"), "the moment is not in the box's motion"),
        (("axes", "bending", "--levels", "-1"), "levels is out of range (got -1)"),
        (("axes", "bending", "--out", "guide.usda"), "is a file"),
        (("swatches", "silkk"), "unknown material (got 'silkk')"),
        (
            ("swatches", "--cells", "0", "--seconds", "inf"),
            "swatches cannot be made so (got '0 cells, inf s'); allowed: 4 to",
        ),
        (("swatches", "silk", "--cells", "100000"), "swatches cannot be made so (got '100000 cells')"),
        (("swatches", "silk", "--seconds", "nan"), "swatches cannot be made so (got 'nan s')"),
        (("figures", "fig3", "--out", "guide.usda"), "is a file"),
        (("figures", "fig3", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("axes", "bending", "--out", "/proc/look"), "/proc/look"),
        (("swatches", "silk", "--out", "/proc/look"), "/proc/look"),
        (("demo", "box", "--out", "/proc/look"), "/proc/look: cannot be written"),
        (("swatches", "silk", "--out", "guide.usda"), "is a file"),
    ]:
        code, _, err = bunraku(*words)
        assert code == 2 and said in err and len(err.strip().splitlines()) == 1, err
    assert sorted(path.name for path in Path().iterdir()) == ["box.toml", "guide.usda"]
