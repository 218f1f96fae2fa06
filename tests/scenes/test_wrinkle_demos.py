"""Demos of skins: their files, what they ask for, and a first look at what would be made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.collision import Obstacle
from bunraku.direction.wrinkle import Handle, wrinkle
from bunraku.geometry import TriMesh, edges
from bunraku.geometry.enclosing import signed_volume
from bunraku.materials import ShellMaterial, SkinOnSoft, SolidMaterial, thickness_for
from bunraku.scenes.frown import MUSCLES, brows, edge_among
from bunraku.scenes.head import head
from bunraku.scenes.pillow import hand, pillow
from bunraku.scenes.seat import seat
from bunraku.shots import WRINKLE_DEMOS, check_demo, demo_files, demo_titles, write_demo
from bunraku.shots.prepare_wrinkle import prepare_wrinkle


def _edge(mesh: TriMesh) -> float:
    ends = mesh.rest[edges(mesh.faces).vertices]
    return float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))


def test_they_are_listed() -> None:
    assert set(WRINKLE_DEMOS) == {"cushion", "pillow", "buttons", "seat", "frown"} and set(WRINKLE_DEMOS) <= set(
        demo_titles()
    )
    for name in WRINKLE_DEMOS:
        check_demo(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cushion", "pillow"])
def test_a_demo_is_a_shot_and_its_files_are_kept(name: str, tmp_path: Path) -> None:
    shot = write_demo(name, tmp_path)
    files = [tmp_path / file for file in demo_files(name)]
    assert all(file.exists() for file in files) and len(files) == 2
    table = shot.wrinkles[name]
    assert [one.region for one in table.handles] == ["left", "right"]
    first = [one.keys[0] for one in table.handles]
    assert all(not any((*one.move, *one.rotate)) and one.frame == 1 for one in first)  # met from the first frame on
    prepared = prepare_wrinkle(shot)
    ends = [prepared.shell.rest[one.vertices, 0] for one in prepared.handles]
    assert ends[0].max() < 0.0 < ends[1].min() and min(map(len, ends)) > 50
    skin, inside = prepared.material, table.interior.material
    assert isinstance(skin.young, float)
    waves = SkinOnSoft(skin.thickness, skin.young, inside.young, skin.poisson, inside.poisson).wavelength
    assert 8.0 * _edge(prepared.shell) < waves < 0.25 * prepared.shell.size  # seen, and several of them
    before = [file.read_bytes() for file in files]
    write_demo(name, tmp_path)
    assert [file.read_bytes() for file in files] == before


def test_the_frown_has_its_muscles_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a coarser head."""
    monkeypatch.setitem(WRINKLE_DEMOS, "frown", replace(WRINKLE_DEMOS["frown"], surface=lambda: head(0.006)))
    shot = write_demo("frown", tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == set(demo_files("frown"))
    told = shot.wrinkles["frown"].muscles
    assert [one.called for one in told] == [*MUSCLES, "skull"]
    prepared = prepare_wrinkle(shot)
    assert min(len(one.vertices) for one in prepared.handles) > 20
    for one, muscle in zip(MUSCLES.values(), prepared.muscles, strict=False):
        np.testing.assert_allclose(muscle.relaxed.rest, one.relaxed.rest, atol=1e-6)
        np.testing.assert_allclose(muscle.contracted, one.contracted, atol=1e-6)
        assert [muscle.at(time) for time in (0.0, 8.0 / 12.0)] == [0.0, 1.0]
    skull = prepared.muscles[-1]
    assert skull.anchored and skull.at(0.5) == 0.0 and np.array_equal(skull.contracted, skull.relaxed.rest)
    before = (tmp_path / "frown_skull.usdc").read_bytes()
    write_demo("frown", tmp_path)
    assert (tmp_path / "frown_skull.usdc").read_bytes() == before


@pytest.mark.slow
def test_the_frown_shows_its_waves_where_it_frowns() -> None:
    demo = WRINKLE_DEMOS["frown"]
    mesh = demo.surface()
    assert 8.0 * edge_among(mesh, brows(mesh)) < demo.table["wavelength"]


@pytest.mark.slow
def test_a_squeezed_pillow_wrinkles_across_its_middle_and_not_beside_the_hands_alone() -> None:
    """On a coarser mesh. Were its cover felt, it would fold at the hands and stay smooth between them."""
    demo, mesh = WRINKLE_DEMOS["pillow"], pillow(0.018)
    interior, ratio = (
        SolidMaterial(**demo.table["interior"]),
        demo.table["skin"]["young"] / demo.table["interior"]["young"],
    )
    skin = ShellMaterial(**demo.table["skin"], thickness=thickness_for(demo.table["wavelength"], ratio))

    def pressed(side: int) -> Handle:
        which, way = hand(mesh, side), np.array(demo.handles(mesh)["left"][1]["keys"][-1]["move"])
        return Handle(which, lambda time: mesh.rest[which] - side * min(time, 1.0) * np.abs(way))

    take = wrinkle(
        mesh, skin=skin, interior=interior, cell=demo.table["cell"], two_way=demo.table["two_way"], duration=1.0,
        handles=[pressed(-1), pressed(1)], rate=5.0, gravity=(0.0, 0.0, 0.0), threads=1,
    )  # fmt: skip
    middle = np.abs(mesh.rest[:, 0]) < 0.15
    assert take.report["converged"].all()
    assert take.report["height"][-1][middle].std() > 0.5 * skin.thickness  # 0.07 of it where the cover is felt


def test_five_buttons_are_drawn_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a coarser seat: each by itself, straight down; the seat stands."""
    monkeypatch.setitem(WRINKLE_DEMOS, "buttons", replace(WRINKLE_DEMOS["buttons"], surface=lambda: seat(0.012)))
    prepared = prepare_wrinkle(write_demo("buttons", tmp_path))
    ground, *five = prepared.handles
    goals = [one.goals(prepared.shell, 10.0 / 12.0) - prepared.shell.rest[one.vertices] for one in five]
    assert len(five) == 5 and min(map(len, goals)) >= 3
    for moved in goals:
        np.testing.assert_allclose(moved, np.broadcast_to([0.0, -0.045, 0.0], moved.shape), atol=1e-12)
    np.testing.assert_array_equal(ground.goals(prepared.shell, 1.0), prepared.shell.rest[ground.vertices])


def test_the_seat_has_its_ball_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a coarser seat: it stands on its underside, the ball comes down, sinks in and goes up again."""
    monkeypatch.setitem(WRINKLE_DEMOS, "seat", replace(WRINKLE_DEMOS["seat"], surface=lambda: seat(0.02)))
    shot = write_demo("seat", tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == set(demo_files("seat")) == {
        "seat.toml", "seat_rest.usdc", "seat_ball.usdc"
    }  # fmt: skip
    prepared = prepare_wrinkle(shot)
    contact = prepared.contact.contact
    assert contact is not None
    assert "stands still" not in caplog.text  # the ball moves as long as the shot
    (ball,) = contact.obstacles
    assert isinstance(ball, Obstacle)
    top = prepared.shell.rest[:, 1].max()
    lowest = [ball.at(frame / 30.0)[:, 1].min() - top for frame in range(12)]
    assert lowest[0] == pytest.approx(0.08, abs=1e-3) and min(lowest) < -0.06 and lowest[-1] > 0.05
    assert prepared.handles[0].vertices.size > 20 and prepared._begun.facts["two_way"]


def test_the_pillow_is_closed_and_round() -> None:
    mesh = pillow(0.04)
    size = np.ptp(mesh.rest, axis=0)
    np.testing.assert_allclose(size, [0.6, 0.28, 0.44], atol=0.01)
    # Between an ellipsoid and the box about it.
    assert np.pi / 6.0 < signed_volume(mesh.rest, mesh.faces) / size.prod() < 0.8
    assert len(np.intersect1d(hand(mesh, -1), hand(mesh, 1))) == 0 and len(hand(mesh, 1)) > 5
