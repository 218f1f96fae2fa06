"""Looks of one guide: every one a shot that may be changed; and what the walker's wind and shock are keyed to."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation
from bunraku.render import Style
from bunraku.scenes import BEATS, Panel, Study
from bunraku.scenes.study import grid_mesh
from bunraku.shots import BAG_LOOKS, DEMOS, FIGURES, WALKER_LOOKS, Figure, demo_files, study_sheet, write_demo
from bunraku.shots.look_studies import look_of, look_take, sole_distances


def test_six_looks_have_one_guide_and_six_ways() -> None:
    assert len(BAG_LOOKS) == 6 and len({one.guide for one in BAG_LOOKS.values()}) == 1
    assert len({repr((one.settings, one.physics)) for one in BAG_LOOKS.values()}) == 6
    assert {one.settings["mesh"]["levels"] for one in BAG_LOOKS.values()} == {2}
    assert len({one.style for one in DEMOS.values()}) == len(DEMOS)


def test_all_bags_lie_in_one_folder_each_as_a_shot(tmp_path) -> None:
    for name in BAG_LOOKS:
        assert write_demo(name, tmp_path).name == name
    assert len({file for name in BAG_LOOKS for file in demo_files(name)}) == 2 * len(BAG_LOOKS)


def test_wind_and_shock_come_when_the_walker_plays_them() -> None:
    """A twelfth of a second to spare for the wind to rise and to fall."""
    walker = WALKER_LOOKS["walker"]
    times = {k: (k - 1) / 24.0 for k in range(1, 122)}
    gust = np.array([[times[key[0]], key[1]] for key in walker.physics["wind"]["gust"]])
    blows = gust[gust[:, 1] > 0, 0]
    assert BEATS["headwind"][0] < blows.min() and blows.max() < BEATS["headwind"][1]
    assert abs(gust[0, 0] - BEATS["headwind"][0]) < 0.2 and abs(gust[-1, 0] - BEATS["headwind"][1]) < 0.2
    amounts = np.array([[times[key[0]], key[1]] for key in walker.settings["rest"]["amount"]])
    assert (np.diff(amounts[:, 0]) > 0).all() and amounts[[0, -1], 1].tolist() == [0.0, 0.0]
    inside = (amounts[:, 0] >= BEATS["shock"][0]) & (amounts[:, 0] < BEATS["shock"][1])
    assert np.abs(np.diff(amounts[inside, 1])).max() > 0.5 and inside.sum() > 5
    assert BEATS["shake"][0] < amounts[-1, 0] <= BEATS["shake"][1] + 1 / 24


@pytest.fixture
def moving(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A small square that crosses the picture, and the same square at rest; one moment."""
    mesh = grid_mesh([-0.1, 0.0, 0.1], [-0.1, 0.1])
    still = np.repeat(mesh.rest[None], 3, axis=0)
    across = still + 0.4 * (np.arange(3) - 1.0)[:, None, None] * np.array([1.0, 0.0, 0.0])
    times = np.arange(3) / 24.0
    panels = Panel("guide", Animation(mesh, times, still), True), Panel("take", Animation(mesh, times, across))
    dark = {"take": Style(front=(0.05, 0.05, 0.05), back=(0.05, 0.05, 0.05))}
    for name, samples in (("sharp", 1), ("blurred", 16)):
        chosen = Figure(
            "a title", lambda threads: study, (0.0, -1.0, -0.2), size=(96, 64), samples=samples, styles=dark
        )
        monkeypatch.setitem(FIGURES, name, chosen)
    study = Study(panels, ("a",), (("take", (0.0,)),), (1,))
    return study


def test_sixteen_moments_blur_what_moves_and_nothing_else(moving: Study) -> None:
    sharp, blurred = (study_sheet(name, moving).astype(int) for name in ("sharp", "blurred"))
    assert sharp.shape == blurred.shape and sharp.shape[1] > 2 * 90  # panels beside each other
    middle = sharp.shape[1] // 2
    apart = np.abs(sharp - blurred).max(axis=(0, 2))
    assert apart[:middle].max() <= 1 and apart[middle:].max() > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bag_flowy", "bag_accordion"])
def test_looks_run_and_differ_from_the_guide(name: str) -> None:
    """A crease's depth is 50 mm: a take that stays within a tenth of it of the guide has none."""
    one = look_take(name, frames=(1, 15))
    assert one.take.frame_count == 15 and one.off() > 5.0


@pytest.mark.slow
def test_the_walker_s_feet_roll_as_the_guide_s_do() -> None:
    """Averages to the rounding of a single-precision file, 6e-8 of a metre; points to a tenth of a region's 40 mm."""
    averages, mean, _ = sole_distances(look_take("walker", frames=(1, 14)))
    assert averages < 1e-4 and mean < 4.0


def test_pictures_call_the_looks_as_the_captions_do() -> None:
    assert [look_of(name) for name in BAG_LOOKS] == ["vinyl", "flowy", "accordion", "ridges", "crinkle", "wind"]
    assert [look_of(name) for name in WALKER_LOOKS] == ["felt", "paper", "ribs", "balloon"]
    for name, looks in (("fig9", BAG_LOOKS), ("outfits", WALKER_LOOKS)):
        assert all(look_of(look) in FIGURES[name].title for look in looks)
    panel = Panel("bag", DEMOS["bag"].guide(), caption=look_of("bag"))
    assert panel.title == "vinyl" and Panel("guide", panel.animation).title == "guide"
