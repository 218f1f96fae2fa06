"""Several bodies in one shot: a file for each, sentences that name them, one contact for all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import InputError, read_clip
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import Shot, dry_run, open_take, read_shot
from bunraku.shots.kept import kept
from bunraku.shots.prepare_body import prepare_body
from bunraku.shots.run import TakeFolder

BAR, BLOCK = tet_bar((4, 1, 1), (0.4, 0.1, 0.1)), tet_bar((2, 2, 2), (0.2, 0.2, 0.2))
PATH = [[1, 0.2, 0.6, 0.0], [7, 0.4, 0.8, 0.0], [13, 0.7, 0.6, 0.0]]


@pytest.fixture
def settings(tmp_path: Path):
    for name, mesh in (("bar", BAR), ("block", BLOCK)):
        write_mesh(tmp_path / f"{name}.obj", mesh.surface())
        write_mesh(tmp_path / f"{name}.msh", mesh)

    def make(contact: Any = False, **objects: dict[str, Any]) -> dict[str, Any]:
        tables = {
            name: {"role": "body", "surface": {"file": f"{name}.obj", "unit": "m"},
                   "tets": {"file": f"{name}.msh", "unit": "m"}, **objects.get(name, {})}
            for name in ("bar", "block")
        }  # fmt: skip
        others = {name: table for name, table in objects.items() if name not in tables}
        return {
            "shot": {"frames": [1, 13]}, "object": {**tables, **others}, "physics": {"contact": contact},
            "output": {"preview": False},
        }  # fmt: skip

    return make


def shot(settings: dict[str, Any], folder: Path) -> Shot:
    return Shot.of(settings, folder=folder, source=folder / "two.toml")


def test_each_body_has_its_own_file_path_key_and_sentence(settings, tmp_path: Path) -> None:
    key = {"frame": 6, "grips": [{"region": "foot"}, {"region": "head", "move": [0.0, 0.1, 0.0]}]}
    rest = BLOCK.surface().rest
    regions = {"foot": np.flatnonzero(rest[:, 1] < 1e-9), "head": np.flatnonzero(rest[:, 1] > 0.2 - 1e-9)}
    block = {
        "keys": [key], "material": "jelly", "pins": [{"region": "foot"}],
        "regions": {name: {"vertices": vertices.tolist()} for name, vertices in regions.items()},
    }  # fmt: skip
    made = shot(settings(bar={"path": [{"points": PATH}]}, block=block), tmp_path)
    result = made.run()
    assert result.report.met is True and result.report.object == "bar, block"
    assert result.report.animations == {"bar": ("bar.usdc",), "block": ("block.usdc",)}
    told = [one.text for one in result.report.sentences]
    assert any("The key shape of frame 6 of block was" in text for text in told)
    assert any("around bar at frame" in text for text in told)  # whose path takes the largest force
    prepared = prepare_body(made)
    for index in (0, 7, 12):
        x = prepared.vertices(kept(TakeFolder(result.folder).cache(), index).points) + prepared.origin
        for one in prepared.written:
            written = read_clip(result.folder / f"{one.name}.usdc").animation.points[index]
            np.testing.assert_allclose(written, x[one.vertices], atol=1e-6)
    foot = read_clip(result.folder / "block.usdc").animation.points[:, regions["foot"]]
    assert np.abs(foot - rest[regions["foot"]]).max() < 1e-6
    summary = dry_run(made)
    assert any(line.startswith("object bar:") for line in summary) and "bar.usdc, block.usdc" in summary[-1]


def test_bodies_touch_each_other_and_contact_knows_them_by_name(settings, tmp_path: Path) -> None:
    """The bar falls onto the block, which stands on the ground; what is said between the two is taken."""
    over = [[1, 0.1, 0.45, 0.1], [2, 0.1, 0.45, 0.1]]
    ground = {"role": "obstacle", "source": {"plane": {"point": [0, -0.01, 0]}}}
    contact = {"between": [{"of": ["bar", "block"], "friction": 0.9, "thickness": 0.004}]}
    made = shot(settings(contact, bar={"path": [{"points": over}]}, ground=ground), tmp_path)
    made = Shot.of({**made.settings(tmp_path), "shot": {"frames": [1, 16]}}, folder=tmp_path)
    result = made.run(tmp_path / "take")
    found = result.report.measured.intersections
    assert found is not None and found.total == 0
    assert result.report.measured.arrays["pairs"].max() > 0
    bar = read_clip(result.folder / "bar.usdc").animation.points[-1]
    assert bar[:, 1].min() > 0.15  # it lies on the block
    surfaces = prepare_body(made).job().stepper._system.contact  # type: ignore[attr-defined]
    assert set(surfaces.named) == {"bar", "block"} and surfaces.parts.gaps[1, 2] == 0.004
    take = open_take(result.folder)
    assert {name for name in take.scene.arrays if name.startswith("part/")} == {"part/bar", "part/block"}


def test_one_body_of_a_take_is_a_path_for_another(settings, tmp_path: Path) -> None:
    first = shot(settings(bar={"path": [{"points": PATH}]}, block={"pins": []}), tmp_path)
    first.run()
    for take, said in (("two/v001", "the take has several objects"), ("two/v001/ball", "allowed: bar, block")):
        table = {"path": [{"take": take}]}
        with pytest.raises(InputError, match=said):
            prepare_body(shot(settings(block=table), tmp_path))
    prepared = prepare_body(shot(settings(block={"path": [{"take": "two/v001/bar"}]}), tmp_path))
    path = prepared.bodies[1].paths[0]
    np.testing.assert_allclose(path.points[6] + prepared.origin, PATH[1][1:], atol=1e-9)


def test_the_rate_is_that_of_the_file_that_says_one(settings, tmp_path: Path) -> None:
    """An OBJ has none, wherever it stands in the shot."""
    from bunraku import Animation, write_animation

    surface = BLOCK.surface()
    write_animation(tmp_path / "block.usda", Animation(surface, np.arange(2) / 30.0, np.stack([surface.rest] * 2)))
    told = settings(bar={"path": [{"points": PATH}]}, block={"surface": {"file": "block.usda"}})
    prepared = prepare_body(shot(told, tmp_path))
    assert prepared.clip.rate == 30.0 and [one.clip.rate for one in prepared.written] == [30.0, 30.0]
    assert prepared.times[-1] == 12 / 30 and prepared.bodies[0].paths[0].times[1] == 6 / 30
    del told["shot"]["frames"]
    assert len(prepare_body(shot(told, tmp_path)).numbers) == 61  # two seconds


def test_names_that_are_one_file_on_some_disks_are_refused(settings, tmp_path: Path) -> None:
    told = settings()
    told["object"]["Bar"] = told["object"]["bar"]
    with pytest.raises(InputError, match=r"object\.Bar: .*'Bar and bar'.*another name"):
        shot(told, tmp_path)


BETWEEN = {"between": [{"of": ["bar", "blok"], "friction": 0.9}]}
MISPLACED: dict[str, tuple[dict[str, Any], str]] = {
    "between": ({"contact": BETWEEN}, r"two\.toml: physics\.contact\.between\[0\]: .*'blok'.*bar, block"),
    "paths": ({"block": {"path": [{"points": PATH}, {"points": PATH}]}},
              r"two\.toml: object\.block: paths 0 and 1: two paths direct the whole body"),
    "a take that is not there": ({"block": {"path": [{"points": PATH}, {"take": "none/latest"}]}},
                                 r"two\.toml: object\.block\.path\[1\]: .*no such take"),
    "a pin to a body": ({"block": {"regions": {"a": {"vertices": [0]}}, "pins": [{"region": "a", "to": "bar"}]}},
                        r"object\.block\.pins\[0\]\.to: is a body, and pins go with obstacles .*'bar'"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(MISPLACED))
def test_what_is_refused_says_where_it_stands(settings, tmp_path: Path, what: str) -> None:
    given, said = MISPLACED[what]
    with pytest.raises(InputError, match=said):
        prepare_body(shot(settings(**given), tmp_path)).check_beginning()


def test_contact_knows_a_single_body_by_its_name(settings, tmp_path: Path) -> None:
    ground = {"role": "obstacle", "source": {"plane": {"point": [0, -0.01, 0]}}}
    told = settings({"between": [{"of": ["bar", "ground"], "friction": 0.9}]}, ground=ground)
    del told["object"]["block"]
    surfaces = prepare_body(shot(told, tmp_path)).job().stepper._system.contact  # type: ignore[attr-defined]
    assert set(surfaces.named) == {"bar"}


def test_it_reads_back_as_it_was_written(settings, tmp_path: Path) -> None:
    made = shot(settings(bar={"path": [{"points": PATH}]}), tmp_path)
    made.write(tmp_path / "again.toml")
    assert list(read_shot(tmp_path / "again.toml").bodies) == ["bar", "block"]


def test_a_point_of_a_sentence_is_the_files_and_says_whose(settings, tmp_path: Path) -> None:
    names = prepare_body(shot(settings(), tmp_path)).point_names
    assert len(names) == BAR.point_count + BLOCK.point_count
    assert names[0] == "0 of bar" and str(names[-1]).endswith(" of block")


def test_report_says_which_vertices_are_whose(settings, tmp_path: Path) -> None:
    result = shot(settings(), tmp_path).run()
    facts = json.loads((result.folder / "report.json").read_text())["facts"]
    assert [one["name"] for one in facts["bodies"]] == ["bar", "block"]
    assert facts["bodies"][1]["vertices"] == [BAR.point_count, BAR.point_count + BLOCK.point_count]


def test_a_shell_does_not_go_with_bodies(settings, tmp_path: Path) -> None:
    cloth = {"guide": {"file": "bar.obj", "unit": "m"}}
    with pytest.raises(InputError, match="several shells, or shells, bodies, plans and skins together"):
        shot(settings(cloth=cloth), tmp_path)


def test_files_of_different_rates_need_the_shots(settings, tmp_path: Path) -> None:
    from bunraku import Animation, write_animation

    for name, mesh, rate in (("bar", BAR, 24.0), ("block", BLOCK, 30.0)):
        surface = mesh.surface()
        times = np.arange(2) / rate
        write_animation(tmp_path / f"{name}.usda", Animation(surface, times, np.stack([surface.rest] * 2)))
    told = settings(bar={"surface": {"file": "bar.usda"}}, block={"surface": {"file": "block.usda"}})
    with pytest.raises(InputError, match=r"object\.block\.surface: .*another rate .*bar.*30 frames/s.*24 frames/s"):
        prepare_body(shot(told, tmp_path))
    prepare_body(shot({**told, "shot": {"frames": [1, 13], "rate": 24}}, tmp_path))
