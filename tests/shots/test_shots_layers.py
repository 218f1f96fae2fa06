"""Layers in a shot file: their order, and what is particular between two things."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku import Animation, Between, InputError, TriMesh, read_animation, read_shot, sphere
from bunraku.geometry import subdivide
from bunraku.io import write_animation
from bunraku.scenes.study import grid_mesh
from bunraku.shots import dry_run
from bunraku.shots.prepare_shell import prepare_shell

SAID: dict[str, Any] = {
    "thickness": 0.001, "layers": ["shirt", "coat"],
    "between": [
        {"of": ["coat", "shirt"], "friction": 0.2, "thickness": 0.003}, {"of": ["coat", "hero"], "friction": 0.5},
        {"of": ["floor", "shirt"], "thickness": 0.002},
    ],
}  # fmt: skip
REGIONS = {"shirt": {"vertices": [0]}, "coat": {"vertices": [9]}, "hem": {"vertices": [2]}}


def _shot(folder: Path, contact: dict[str, Any] | None = None, regions: Any = None, levels: int = 0) -> Path:
    """A shirt of 3 × 3 points over a ball, and a coat as large between the two."""
    flat = grid_mesh(np.linspace(-0.05, 0.05, 3), np.linspace(-0.05, 0.05, 3))
    shirt, coat = (flat.rest + np.array([0.0, y, 0.0]) for y in (0.115, 0.107))
    both = TriMesh(np.concatenate([shirt, coat]), np.concatenate([flat.faces, flat.faces[:, ::-1] + 9]))
    times = np.arange(2) / 24.0
    still = Animation(both, times, np.repeat(both.rest[None], 2, axis=0))
    ball = sphere((0, 0, 0), 0.1, 0.05)
    write_animation(folder / "clothes.usda", still, frames=np.array([1, 2]), prim="/clothes")
    write_animation(
        folder / "hero.usda", Animation(ball, times[:1], ball.rest[None]), frames=np.array([1]), prim="/hero"
    )
    told = {
        "object": {
            "clothes": {
                "guide": {"file": "clothes.usda"}, "mesh": {"levels": levels}, "track": {"method": "none"},
                "regions": REGIONS if regions is None else regions,
            },
            "hero": {"role": "obstacle", "source": {"file": "hero.usda"}},
            "floor": {"role": "obstacle", "source": {"plane": {"point": [0, -1, 0]}}},
        },
        "physics": {"contact": SAID if contact is None else contact, "substeps": 1, "tolerance": 1e-3},
        "output": {"preview": False},
    }  # fmt: skip
    (folder / "clothes.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return folder / "clothes.toml"


def test_a_coat_below_the_shirt_begins_above_it(tmp_path: Path) -> None:
    result = read_shot(_shot(tmp_path)).run(threads=1)
    x = read_animation(result.folder / "clothes.usdc").points
    assert (x[:, 9:, 1] - x[:, :9, 1] > 0.003).all()
    report = json.loads((result.folder / "report.json").read_text())
    said = " ".join(report["sentences"])
    assert "9 vertices of coat were moved out of shirt" in said and "still behind" not in said
    assert report["intersections"]["total"] == 0
    (told,) = [one for one in report["facts"]["layers"] if one["inner"] == "shirt"]
    assert told["moved"] == 9 and told["outer"] == "coat" and told["wrong"] == []
    assert told["most_m"] > 0.008 + 0.003


@pytest.mark.parametrize("levels", [0, 1])
def test_layers_and_pairs_are_read_and_written(tmp_path: Path, levels: int) -> None:
    shot = read_shot(_shot(tmp_path, levels=levels))
    shot.write(tmp_path / "again.toml")
    assert read_shot(tmp_path / "again.toml").physics == shot.physics
    prepared = prepare_shell(shot)
    contact = prepared.contact.contact
    assert contact is not None and contact.layers == ("shirt", "coat") and sorted(contact.parts) == ["coat", "shirt"]
    assert contact.between == (
        Between("coat", "shirt", 0.2, 0.003), Between("coat", "hero", 0.5), Between("floor", "shirt", None, 0.002),
    )  # fmt: skip
    surfaces = contact.surfaces(prepared.shell, prepared.material, 0.0)
    fine = subdivide(grid_mesh(np.linspace(0, 1, 3), np.linspace(0, 1, 3)), levels)[0].point_count
    assert {name: len(vertices) for name, vertices in surfaces.named.items()} == {"shirt": fine, "coat": fine}
    told = dry_run(shot)
    assert "layers from the body outwards: shirt, coat" in str(told)


@pytest.mark.parametrize(
    ("contact", "said"),
    [
        ({"layers": ["shirt", "caot"]}, "physics.contact.layers[1]: there is no such region or obstacle (got 'caot'"),
        ({"layers": ["shirt", "caot"]}, "try: 'coat'"),
        ({"layers": ["shirt", "coat", "shirt"]}, "layers[2]: a layer is named twice (got 'shirt')"),
        ({"layers": ["shirt", "hero"]}, "layers[1]: an obstacle does not make room"),
        ({"layers": ["shirt", "floor"]}, "layers[1]: a plane is no layer"),
        ({"layers": ["shirt", "hem"]}, "shirt and hem are parts of one connected piece"),
        ({"layers": "shirt"}, "physics.contact.layers: must be a list"),
        ({"layers": [3]}, "physics.contact.layers[0]: has the wrong form"),
        ({"between": [{"of": ["coat", "herp"], "friction": 1}]}, "physics.contact.between[0].of: there is no such"),
        ({"between": [{"of": ["coat"], "friction": 1}]}, "between[0].of: is a list of the wrong length"),
        ({"between": [{"of": ["coat", "hero"]}]}, "between[0]: says nothing; allowed: friction, thickness or both"),
        ({"between": [{"of": ["coat", "hero"], "friction": -1}]}, "between[0].friction"),
        ({"between": [{"of": ["coat", "hero"], "thickness": -0.01}]}, "between[0].thickness"),
        ({"between": [{"of": ["hero", "floor"], "friction": 1}]}, "between[0]: neither is a part of the shell"),
        ({"between": [{"friction": 1}]}, "between[0].of: is missing"),
        (
            {"between": [{"of": ["coat", "hero"], "friction": 1}, {"of": ["hero", "coat"], "friction": 2}]},
            "between[1]: is told twice",
        ),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, contact: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        prepare_shell(read_shot(_shot(tmp_path, contact)))
    assert said in str(refused.value) and len(str(refused.value).splitlines()) == 1


def test_a_region_must_have_points_of_the_surface(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"regions.coat.vertices: numbers outside the written surface"):
        prepare_shell(read_shot(_shot(tmp_path, regions={**REGIONS, "coat": {"vertices": [99]}})))
