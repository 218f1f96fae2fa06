"""Wind, pressure and gas in a shot file: read, refused, run, resumed only with the same obstacles."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import Animation, InputError, read_shot, write_mesh
from bunraku.shots.prepare_shell import prepare_shell
from bunraku.shots.provenance import settings
from bunraku.testing import sheet

Files = Callable[..., Path]
WIND = {"velocity": [6, 0, 1], "gust": [[1, 0.0], [4, 1.0, "smooth"]], "turbulence": 0.2, "size": 0.5, "seed": 3}


def _wall(path: Path, x: float = -2.0) -> None:
    flat = sheet(2, 2, 6.0, 6.0)
    write_mesh(path, flat.with_rest(np.column_stack([np.full(9, x), flat.rest[:, :2] - 3.0])))


def test_wind_and_gas_reach_the_frames(files: Files) -> None:
    path = files(
        physics={"wind": {**WIND, "shelter": True}}, box={"gas": {"pressure": 200, "amount": [[1, 1], [6, 1.01]]}}
    )
    result = read_shot(path).run(threads=1)
    told = json.loads((result.folder / "report.json").read_text())["per_frame"]
    assert len(told["volume_m3"]) == 6 and told["pressure_Pa"][0] == pytest.approx(200.0)
    assert 0.0 < told["exposure"][0] < 1.0


def test_pressure_is_keyed_in_frames(files: Files) -> None:
    result = read_shot(files(box={"pressure": [[1, 0], [5, 80]]})).run(threads=1)
    told = json.loads((result.folder / "report.json").read_text())["per_frame"]
    assert told["pressure_Pa"] == pytest.approx([0, 20, 40, 60, 80, 80])


def test_a_shot_with_air_reads_back(files: Files, tmp_path: Path) -> None:
    _wall(tmp_path / "wall.obj")
    wind = {**WIND, "shelter": "obstacles", "obstacles": [{"file": "wall.obj", "unit": "m"}]}
    shot = read_shot(files(physics={"wind": wind}, box={"gas": {"pressure": 5.0}}))
    shot.write(tmp_path / "again.toml")
    again = read_shot(tmp_path / "again.toml")
    assert (again.physics, again.object) == (shot.physics, shot.object)
    with pytest.raises(InputError, match="overwrite an input"):
        shot.write(tmp_path / "wall.obj")


def test_obstacles_stand_where_their_file_says(files: Files, tmp_path: Path, guide: Animation) -> None:
    """Seen from the shot's own origin, in metres; another wall is another take."""
    _wall(tmp_path / "wall.obj", -200.0)
    wind = {"velocity": [6, 0, 0], "obstacles": [{"file": "wall.obj", "unit": "cm"}]}
    far = replace(guide, mesh=guide.mesh.with_rest(guide.mesh.rest + 5000.0), points=guide.points + 5000.0)
    ready = prepare_shell(read_shot(files(physics={"wind": wind}, guide=far)))
    blowing = ready.air.settings["wind"]
    assert ready.origin[0] > 1000.0
    assert blowing.obstacles[0].rest[:, 0] + ready.origin[0] == pytest.approx(np.full(9, -2.0))
    assert blowing.origin == pytest.approx(ready.origin)
    before = settings(ready)
    assert any(key.startswith("physics.wind.obstacles[0]") for key in before["inputs"])
    _wall(tmp_path / "wall.obj", -300.0)
    assert settings(prepare_shell(read_shot(files(physics={"wind": wind})))) != before


def test_a_moving_obstacle_moves_on_the_shots_frames(files: Files) -> None:
    wind = {"velocity": [6, 0, 0], "obstacles": [{"file": "guide.usda", "prim": "/box"}]}
    ready = prepare_shell(read_shot(files(physics={"wind": wind})))
    obstacle = ready.air.settings["wind"].obstacles[0]
    assert obstacle.times == pytest.approx(np.arange(1, 7) / 24.0)


@pytest.mark.parametrize(
    ("physics", "box", "sentence"),
    [
        ({"wind": {}}, {}, r"physics.wind.velocity: is missing"),
        ({"wind": {"velocity": [float("nan"), 0, 0]}}, {}, r"physics.wind.velocity\[0\]: is out of range"),
        ({"wind": {"velocity": [1e6, 0, 0]}}, {}, r"physics.wind.velocity\[0\]: is out of range"),
        ({"wind": {"velocity": [900, 900, 0]}}, {}, r"physics.wind: .*too fast"),
        ({"wind": {"velocity": [9, 0, 0], "density": -1}}, {}, r"physics.wind.density: is out of range"),
        ({"wind": {"velocity": [9, 0, 0], "turbulence": 2}}, {}, r"physics.wind.turbulence: is out of range"),
        ({"wind": {"velocity": [9, 0, 0], "lift": 3}}, {}, r"physics.wind: lift is larger than wind.drag"),
        ({"wind": {"velocity": [9, 0, 0], "gust": [[1, -1]]}}, {}, r"physics.wind.gust\[0\]: is out of range"),
        ({"wind": {"velocity": [9, 0, 0], "drga": 1}}, {}, r"physics.wind.drga: unknown key.*'drag'"),
        ({"wind": {"velocity": [9, 0, 0], "obstacles": [{"file": "no.obj"}]}}, {}, r"obstacles\[0\].file.*no.obj"),
        ({}, {"pressure": "high"}, r"object.box.pressure"),
        ({}, {"pressure": 1e12}, r"object.box.pressure: is out of range"),
        ({}, {"gas": {"pressure": -2e5}}, r"object.box.gas: pressure leaves no gas"),
        ({}, {"gas": {"amount": -1}}, r"object.box.gas.amount: is out of range"),
        ({}, {"gas": {}, "pressure": 1}, r"object.box: has either a given pressure or an enclosed gas"),
    ],
)
def test_mistakes_are_named_in_one_sentence(files: Files, physics: Any, box: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read_shot(files(physics=physics, box=box))
    assert len(str(caught.value).splitlines()) == 1


def test_obstacle_files_that_cannot_be_used(files: Files, tmp_path: Path) -> None:
    """Broken, or without a unit: each in a sentence at its place, both at once."""
    (tmp_path / "broken.obj").write_text("v 0 0\nf 1 2 3\n")
    _wall(tmp_path / "wall.obj")
    wind = {"velocity": [6, 0, 0], "obstacles": [{"file": "broken.obj", "unit": "m"}, {"file": "wall.obj"}]}
    with pytest.raises(InputError) as caught:
        prepare_shell(read_shot(files(physics={"wind": wind})))
    first, second = str(caught.value).splitlines()
    assert "physics.wind.obstacles[0]" in first
    assert "physics.wind.obstacles[1]" in second and "does not say its unit" in second
