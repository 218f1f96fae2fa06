"""Several hands, one figure: the puppet's files, and a demo of several shots from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.cli import main
from bunraku.geometry import edges, tet_bar
from bunraku.geometry.enclosing import signed_volume
from bunraku.io import read_surface
from bunraku.scenes import puppet as bodies
from bunraku.shots import STAGE_DEMOS, check_demo, demo_files, demo_titles, puppet_demo, write_demo, write_demo_stages

COARSE = 0.03
BAR = tet_bar((1, 3, 1), (0.2, 0.6, 0.2))
BARS = """
[output]
preview = false
[stage.jump.object.bar]
role = "plan"
surface = { file = "puppet_rest.usdc" }
tets = { file = "puppet.msh", unit = "m" }
regions.feet = { vertices = [0, 1, 2, 3] }
modes = 6
fixed = ["feet"]
keys = [{ frame = 2, velocity = [0.1, 0, 0] }]
[stage.jump.shot]
frames = [1, 3]
[stage.sheet.object.cape]
guide = { stage = "jump" }
mesh = { levels = 0 }
track = { method = "clusters", count = 1 }
[stage.sheet.physics]
substeps = 1
"""


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds is made small."""
    made = bodies.puppet(COARSE)
    monkeypatch.setattr(puppet_demo, "puppet", lambda: made)
    monkeypatch.setattr(puppet_demo, "tetrahedralise", lambda mesh, edge: BAR)


def test_the_puppet_is_closed_and_stands_and_its_cape_is_clear_of_it() -> None:
    body, cape = bodies.puppet(COARSE), bodies.cape()
    assert (edges(body.faces).face_count == 2).all() and signed_volume(body.rest, body.faces) > 0.0
    assert abs(body.rest[:, 1].min()) < 0.1 * COARSE and 0.5 < body.rest[:, 1].max() < bodies.TALL
    assert body.rest[:, 0].max() > -body.rest[:, 0].min()  # it looks along +x: its toes and its nose are there
    as_made = np.stack([-cape.rest[:, 2], cape.rest[:, 1], cape.rest[:, 0]], axis=1)
    assert bodies._puppet(as_made).min() > 0.004
    assert cape.rest[:, 0].mean() < 0.0 and (edges(cape.faces).face_count <= 2).all()


def test_its_files_are_four_stages_and_are_kept(coarse: None, tmp_path: Path) -> None:
    assert set(STAGE_DEMOS) <= set(demo_titles())
    check_demo("puppet")
    stages = write_demo_stages("puppet", tmp_path)
    assert {one.name: one.feeds for one in stages.stages.values()} == {
        "jump": (), "land": ("jump",), "coat": ("land",), "skin": ("land",),
    }  # fmt: skip
    files = [tmp_path / file for file in demo_files("puppet")]
    before = [file.read_bytes() for file in files]
    write_demo_stages("puppet", tmp_path)
    assert len(files) == 4 and [file.read_bytes() for file in files] == before
    cape = read_surface(tmp_path / "puppet_cape.usdc")
    patches, collar = cape.attribute("patches"), cape.attribute("collar")
    assert patches is not None and collar is not None
    held, rows = np.asarray(patches.flat()).reshape(bodies.CAPE_GRID), np.asarray(collar.flat())
    assert set(held[0]) == {0, 1, 2, 3, 4} and (held[-1] == -1).all()  # the hem is free
    assert len(np.unique(held)) == 16 and np.flatnonzero(rows).tolist() == [*range(bodies.CAPE_GRID[1])]
    with pytest.raises(ValueError, match="this demo is several shots"):
        write_demo("puppet", tmp_path)


def test_a_demo_of_stages_is_made_in_its_folder(
    coarse: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the settings of a small one."""
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "small.toml"
    settings.write_text(BARS.replace("stage.jump", "stage.leap"), encoding="utf-8")  # the sheet is fed by no stage
    monkeypatch.setattr(puppet_demo, "_SETTINGS", settings)
    monkeypatch.setattr(puppet_demo, "puppet", lambda: BAR.surface())
    how = ["--threads", "1", "--progress", "plain"]
    assert main(["demo", "puppet", "--out", "look", *how]) == 2 and not (tmp_path / "look").exists()
    capsys.readouterr()
    settings.write_text(BARS, encoding="utf-8")
    assert main(["demo", "puppet", "--out", "look", *how]) == 0
    *_, jump, sheet, _, again = capsys.readouterr().out.splitlines()
    assert jump.split() == ["jump", "made", str(tmp_path / "look/takes/puppet-jump/v001")]
    assert sheet.split()[1] == "made" and again.startswith("Change look/puppet.toml and run it again:")
    assert (tmp_path / "look/puppet_cape.usdc").exists()
    assert main(["demo", "puppet", "--mocap", "walk.bvh", *how]) == 2
    assert "cannot be driven by motion capture" in capsys.readouterr().err and not (tmp_path / "demo").exists()
