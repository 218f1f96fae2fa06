"""Garments in a shot file: regions attached to obstacles, and seams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku import Animation, InputError, TriMesh, read_animation, read_shot, sphere
from bunraku.io import write_animation
from bunraku.scenes.study import grid_mesh
from bunraku.shots import demo_files, write_demo
from bunraku.shots.garments import sewn_faces
from bunraku.shots.prepare import prepare

HERO: dict[str, Any] = {"role": "obstacle", "source": {"file": "hero.usda"}, "friction": 0.6, "thickness": 0.004}


def _panels() -> TriMesh:
    """Two squares in a row above a ball, 4 cm apart: vertices 2, 5, 8 face 9, 12, 15."""
    flat = grid_mesh(np.linspace(-0.12, 0.0, 3), np.linspace(-0.06, 0.06, 3))
    left, right = (flat.rest + np.array([x, 0.13, 0.0]) for x in (-0.02, 0.14))
    return TriMesh(np.concatenate([left, right]), np.concatenate([flat.faces, flat.faces + 9]))


def _shot(folder: Path, frames: int = 3, contact: Any = True, **coat: Any) -> Path:
    panels, hero = _panels(), sphere((0, 0, 0), 0.1, 0.05)
    times = np.arange(frames) / 24.0
    still = Animation(panels, times, np.repeat(panels.rest[None], frames, axis=0))
    moving = hero.rest[None] + 0.01 * np.arange(frames)[:, None, None] * np.array([1.0, 0.0, 0.0])
    numbers = np.arange(1, frames + 1)
    write_animation(folder / "coat.usda", still, frames=numbers, prim="/coat")
    write_animation(folder / "hero.usda", Animation(hero, times, moving), frames=numbers, prim="/hero")
    told = {
        "object": {
            "coat": {"guide": {"file": "coat.usda"}, "mesh": {"levels": 0}, "track": {"method": "none"}, **coat},
            "hero": HERO,
        },
        "physics": {"contact": contact, "substeps": 1, "tolerance": 1e-3},
        "output": {"preview": False},
    }
    (folder / "coat.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return folder / "coat.toml"


COLLAR: dict[str, Any] = {"regions": {"collar": {"vertices": [0, 3, 6]}}, "pins": [{"region": "collar", "to": "hero"}]}
SEAM: dict[str, Any] = {"seams": [{"stitches": [[2, 9], [5, 12], [8, 15]]}]}


def test_a_collar_goes_with_its_hero_and_a_seam_stays_closed(tmp_path: Path) -> None:
    result = read_shot(_shot(tmp_path, **COLLAR, **SEAM)).run(threads=1)
    x = read_animation(result.folder / "coat.usdc").points
    # Files hold single precision: 1e-7 of the coordinates.
    np.testing.assert_allclose(x[:, [2, 5, 8]], x[:, [9, 12, 15]], rtol=0, atol=1e-7)
    assert np.abs(np.diff(x[:, [0, 3, 6]], axis=0) - np.array([0.01, 0.0, 0.0])).max() < 1e-7
    report = json.loads((result.folder / "report.json").read_text())
    said = " ".join(report["sentences"])
    assert "3 pinned vertices held" in said and "3 stitches held" in said
    assert report["intersections"]["total"] == 0


def test_seams_read_back_and_may_close_later(tmp_path: Path) -> None:
    shot = read_shot(_shot(tmp_path, **COLLAR, seams=[{**SEAM["seams"][0], "closed": 3}]))
    shot.write(tmp_path / "again.toml")
    assert read_shot(tmp_path / "again.toml").object == shot.object
    prepared = prepare(shot)
    assert [(one.friction, one.thickness) for one in prepared.contact.obstacles] == [(0.6, 0.004)]
    (seam,) = prepared.seams
    assert seam.closed == 3 / 24.0


@pytest.mark.parametrize(
    ("coat", "said"),
    [
        ({"pins": [{"vertices": [0], "to": "heros"}]}, "pins[0].to: there is no such obstacle (got 'heros'"),
        ({"pins": [{"vertices": [0], "to": "heros"}]}, "try: 'hero'"),
        ({"seams": [{"stitches": [[0, 99]]}]}, "seams[0].stitches: numbers outside the written surface"),
        ({"seams": [{"stitches": [[4, 4]]}]}, "a seam sews a vertex to itself"),
        (
            {"seams": [{"stitches": [[0, 9]]}, {"stitches": [[1, 10], [4, 13]]}]},
            "object.coat.seams: seams lay whole faces onto others",
        ),
        ({"seams": [{"stitches": [[0, 1, 2]]}]}, "seams[0].stitches[0]: is a list of the wrong length"),
        ({"seams": [{}]}, "seams[0].stitches: is missing"),
    ],
)
def test_refusals(tmp_path: Path, coat: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        prepare(read_shot(_shot(tmp_path, **coat)))
    assert said in str(refused.value) and len(str(refused.value).splitlines()) == 1


def test_sewn_vertices_count_as_one_only_where_they_lie_together(tmp_path: Path) -> None:
    prepared = prepare(read_shot(_shot(tmp_path, **SEAM)))
    faces, x = prepared.shell.faces, np.array(prepared.shell.rest)
    assert np.array_equal(sewn_faces(faces, prepared.seams, x, 1.0), faces)
    x[[9, 12]] = x[[2, 5]]
    expected = np.where(faces == 9, 2, np.where(faces == 12, 5, faces))
    assert np.array_equal(sewn_faces(faces, prepared.seams, x, 1.0), expected)


@pytest.mark.slow
def test_the_demo_brings_its_mannequin_along(tmp_path: Path) -> None:
    prepared = prepare(write_demo("tunic", tmp_path))
    assert {one.name for one in tmp_path.iterdir()} == set(demo_files("tunic"))
    (body,), (seam,) = prepared.contact.obstacles, prepared.seams
    assert body.name == "mannequin" and not np.array_equal(body.at(0.0), body.at(1.0))
    sewn = prepared.shell.rest[seam.pairs]
    assert len(sewn) > 40 and np.ptp(sewn[:, :, :2], axis=1).max() < 1e-6  # a front and a back opposite each other
