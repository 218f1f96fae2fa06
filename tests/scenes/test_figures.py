"""What the figures show, as numbers; and the command that draws them."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation
from bunraku.cli import main
from bunraku.direction import Take
from bunraku.scenes import Panel, Study, anchors, band, resolution, sheet, uneven
from bunraku.scenes.folds import shortening
from bunraku.scenes.study import grid_mesh
from bunraku.shots import FIGURES, Figure


@pytest.mark.slow
@pytest.mark.parametrize("figure", [band, sheet])
def test_averages_tug_ten_times_less_than_points(figure, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the five ways that the figures show the three that are asked about, which hold positions."""
    monkeypatch.setattr(anchors, "WAYS", tuple(way for way in anchors.WAYS if way.enforcement == "position"))
    study = figure()
    assert [name for name, _ in study.rows] == ["points", "springs", "averages"]
    for column in ("largest tugging mm²", "mean tugging mm²"):
        assert study.value("springs", column) > 10 * study.value("averages", column)
    assert study.value("points", "largest tugging mm²") > 10 * study.value("averages", "largest tugging mm²")


@pytest.mark.slow
def test_folds_are_longer_where_regions_are_coarse() -> None:
    study = uneven(guide=shortening(33))
    even = [study.value("even, 64 regions", f"wavelength {side} m") for side in ("left", "right")]
    mixed = [study.value("coarse left, fine right", f"wavelength {side} m") for side in ("left", "right")]
    # Even regions leave the two halves to chance; the regions must do more than that.
    assert mixed[0] / mixed[1] > 1.5 * max(even) / min(even)


@pytest.mark.slow
def test_more_regions_are_closer_and_finer() -> None:
    """Regions of half the side should halve distance and wavelength; a quarter is left to chance.

    The finer ones are of two cells; folds under the coarser have merged after a second.
    """
    study = resolution(counts=(64, 256), guide=shortening(33, 25))
    coarse, fine = np.array([values for _, values in study.rows])
    assert (np.abs(coarse / fine - 2.0) < 0.5).all()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = grid_mesh([0.0, 0.1, 0.2], [0.0, 0.1])
    still = Animation(mesh, np.arange(3) / 24.0, np.repeat(mesh.rest[None], 3, axis=0))
    panels = Panel("guide", still, is_guide=True), Panel("8 regions", still)
    study = Study(panels, ("a m", "b mm"), (("8 regions", (0.5, 2e-6)),), (0, 2), ("a remark",))
    monkeypatch.setitem(FIGURES, "fig3", Figure("a title", lambda threads: study, (0.0, -1.0, -1.0)))


def test_the_command_writes_sheet_table_takes_and_video(tiny, tmp_path, capsys) -> None:
    assert main(["figures", "fig3", "--out", str(tmp_path / "look")]) == 0
    out = capsys.readouterr().out
    assert "8 regions" in out and "0.5" in out and "2e-06" in out and "a remark" in out
    names = {path.name for path in (tmp_path / "look").iterdir()}
    assert names == {"fig3.png", "fig3.txt", "fig3.mp4", "fig3_guide.usdc", "fig3_of_8_regions.usdc"}
    assert (tmp_path / "look/fig3.txt").read_text().splitlines()[-1] == "a remark"


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((None, None), "a remark"),
        ((0, 0), "every step converged"),
        ((0, 2), "a step used up its Newton iterations before it had converged: b on 2 of 3 frames"),
    ],
)
def test_a_table_ends_with_whether_its_takes_converged(counts: tuple[int | None, int | None], said: str) -> None:
    mesh = grid_mesh([0.0, 0.1], [0.0, 0.1])
    still = Animation(mesh, np.arange(3) / 24.0, np.repeat(mesh.rest[None], 3, axis=0))
    panels = [Panel(name, still, unconverged=count) for name, count in zip("ab", counts, strict=True)]
    study = Study((Panel("guide", still, is_guide=True), *panels), ("m",), (("a", (1.0,)),), (0,), ("a remark",))
    assert study.table()[-1] == said


def test_a_panel_counts_the_frames_of_its_take_that_did_not_converge() -> None:
    mesh = grid_mesh([0.0, 0.1], [0.0, 0.1])
    still = Animation(mesh, np.arange(3) / 24.0, np.repeat(mesh.rest[None], 3, axis=0))
    take = Take(still, {"converged": np.array([True, False, True])}, np.zeros((3, 4, 3)))
    assert Panel.of("a", take).unconverged == 1


def test_it_says_what_it_does_and_an_interruption_leaves_nothing(tmp_path, capsys, monkeypatch) -> None:
    said = []

    def interrupted(threads: int | None) -> Study:
        said.append(capsys.readouterr().out)
        raise KeyboardInterrupt

    monkeypatch.setitem(FIGURES, "fig3", Figure("a title", interrupted, (0.0, -1.0, -1.0)))
    assert main(["figures", "fig3", "--out", str(tmp_path / "look")]) == 130
    assert "fig3: a title" in said[0] and "simulating" in said[0] and not (tmp_path / "look").exists()


def test_figures_are_listed_and_misspelt_ones_answered(capsys) -> None:
    assert main(["figures"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(FIGURES)
    assert main(["figures", "fig33"]) == 2
    assert "there is no such figure (got 'fig33')" in capsys.readouterr().err
