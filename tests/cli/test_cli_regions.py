"""`bunraku regions`: the regions of a shot as a picture and a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bunraku import Animation
from bunraku.scenes.study import grid_mesh
from bunraku.shots import region_sheet

pytestmark = pytest.mark.usefixtures("small")
HALVES = "track = { method = 'clusters', count = 2 }"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures a quarter as large, for speed."""
    monkeypatch.setattr(region_sheet, "SIZE", (320, 320))


@pytest.mark.slow
def test_a_table_and_a_picture_in_as_many_colours(folder, bunraku) -> None:
    folder.box(HALVES)
    code, out, _ = bunraku("regions", "box.toml")
    assert code == 0 and "2 regions; 0 % of the area obeys nothing" in out and "wrote box_regions.png" in out
    rows = [line.split() for line in out.splitlines() if line[:1].isdigit() and "regions" not in line]
    assert [row[0] for row in rows] == ["0", "1"] and sum(int(row[1]) for row in rows) == 8
    whole = 2 * (0.5 * 0.5 + 2 * 0.5 * 0.7)  # [m²] of the box
    assert abs(sum(float(row[2]) for row in rows) - whole) < 1e-3
    picture = np.asarray(Image.open("box_regions.png")).astype(int)
    vivid = picture[np.ptp(picture, axis=2) > 60]
    assert len(vivid) > 2000 and vivid.max(axis=1).std() > 5  # two hues, lit
    assert sorted(path.name for path in Path().iterdir()) == ["box.toml", "box_regions.png", "guide.usda"]


@pytest.mark.slow
def test_every_guide_vertex_is_a_region_of_the_hierarchy(folder, bunraku) -> None:
    code, out, _ = bunraku("regions", "box.toml", "--out", "all.png")
    assert code == 0 and "8 regions" in out and "vertex 7" in out and Path("all.png").exists()


def test_an_open_cloth_shows_its_regions_on_both_sides_and_has_no_region_without_area(folder, bunraku) -> None:
    flat = grid_mesh(np.linspace(0, 1, 6), np.linspace(0, 1, 6))
    mesh = flat.with_rest(flat.rest[:, [0, 2, 1]])  # hung up
    moved = mesh.rest + np.array([[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.1]]])
    folder.guide(Animation(mesh, np.array([0.0, 1.0]) / 24.0, moved))
    folder.shot("[object.cloth]\nguide = { file = 'guide.usda' }\nmesh = { levels = 0 }\n")
    code, out, _ = bunraku("regions", "box.toml")
    areas = [float(line.split()[3]) for line in out.splitlines() if line.startswith("vertex")]
    assert code == 0 and len(areas) == 36 and abs(sum(areas) - 1.0) < 1e-3  # the grid's one square metre
    assert min(areas) > 0.006  # a corner with one of two triangles of 0.02 m²: a third of it
    front, back = np.array_split(np.asarray(Image.open("box_regions.png")).astype(int), 2)
    for side in (front, back):
        vivid = side[np.ptp(side, axis=2) > 60]
        hues = np.unique(np.argmax(vivid, axis=1) * 3 + np.argmin(vivid, axis=1))
        assert len(vivid) > 0.5 * (np.ptp(front, axis=2) > 60).sum() and len(hues) == 6  # all around the circle


def test_refusals(folder, bunraku) -> None:
    code, _, err = bunraku("regions", "box.toml", "--out", "a.jpg")
    assert code == 2 and "must be a PNG" in err
    folder.box("track = { method = 'none' }")
    code, _, err = bunraku("regions", "box.toml")
    assert code == 2 and "there are no regions" in err and not Path("box_regions.png").exists()
    assert bunraku("regions", "nothing.toml")[0] == 2
