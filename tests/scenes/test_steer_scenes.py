"""The steered scenes: bodies that are sound, keys and paths that fit them, and the figures as numbers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError, Surface, TriMesh, examine, read_mesh
from bunraku.geometry import intersecting_faces
from bunraku.scenes import Hand, HandKey, SteeredScene
from bunraku.scenes.hops import Landing, hopping
from bunraku.scenes.soft_demos import WORD, hopping_letter, jelly, standing_word
from bunraku.scenes.soft_letters import letter
from bunraku.scenes.soft_shapes import character, pudding, star, toy
from bunraku.scenes.steer_keys import four_keys, hit_character, key_study, keyed_character, leap_path
from bunraku.scenes.steer_paths import bar_surface, bar_ways, held, path_scene, path_ways
from bunraku.scenes.steer_roll import rolling, rolling_ball
from bunraku.scenes.steered import lowest

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
COARSE = 0.015
"""[m] edges of surfaces in tests"""


@pytest.fixture(scope="module")
def doll() -> SteeredScene:
    scene = hit_character(character(COARSE), edge=0.075)
    return replace(scene, tetrahedra=scene.body)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [character, toy, star, pudding])
def test_bodies_are_one_closed_piece(shape, checks) -> None:
    mesh = shape(COARSE)
    checks.body(mesh, borders=0)
    assert mesh.rest[:, 1].min() == pytest.approx(-0.148 if shape is star else 0.0, abs=0.012)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b", "k", "u"])
def test_letters_are_closed_and_stand(name: str) -> None:
    mesh = letter(name, 0.025)
    found = examine(Surface.of(mesh))
    assert (found.pieces, found.genus, found.border_loops) == (1, 1 if name == "b" else 0, 0)
    assert not intersecting_faces(mesh.rest, mesh.faces).any()
    assert mesh.rest[:, 1].min() == pytest.approx(0.0, abs=2e-3)


def test_an_unknown_letter_is_refused() -> None:
    with pytest.raises(InputError, match=r"no such letter is drawn \(got 'z'\)"):
        letter("z")


@pytest.mark.slow
def test_a_body_is_sound_and_holds_its_surface(doll: SteeredScene) -> None:
    body = doll.body
    assert body.volumes.min() > 0 and 100 < len(body.tets) < 1500 and body.part_count == 1
    assert doll.cage.points(body.rest) == pytest.approx(doll.surface.rest, abs=1e-12)
    assert doll.centre == pytest.approx([0.0, 0.19, 0.01], abs=0.03)


def test_a_body_that_came_out_nearer_to_itself_than_it_reaches_reaches_less(doll: SteeredScene) -> None:
    """Where nodes are is left to fTetWild: no scene may depend on how near parts of a surface come to each other."""
    skin = TriMesh(doll.body.rest, doll.body.surface_faces)
    wide = replace(doll, edge=10.0 * doll.edge)
    assert wide.contact is not None and doll.contact is not None
    felt = wide.contact.surfaces(skin, None, 0.0).felt_within
    assert wide.clear == pytest.approx(0.01 * wide.edge + felt, rel=1e-12) and felt < 0.06 * wide.edge
    assert doll.contact.surfaces(skin, None, 0.0).felt_within <= 0.06 * doll.edge * (1.0 + 1e-12)


def test_keys_are_of_the_body_and_sound(doll: SteeredScene) -> None:
    keys = [one.key(doll.body, doll.material) for one in four_keys()]
    assert [round(key.time * 30.0) for key in keys] == [8, 16, 24, 32]
    tall = np.ptp(doll.body.rest[:, 1])
    heights = []
    for key in keys:
        assert key.points is not None and key.points.shape == doll.body.rest.shape
        assert doll.body.with_rest(key.points).volumes.min() > 0
        heights.append(np.ptp(key.points[:, 1]) / tall)
    bend, stretch, squash, lean = heights
    assert stretch > 1.15 > lean > bend > 0.9 > squash

    path = leap_path(doll.body, keys, doll.duration, width=0.3, height=0.1)
    assert path.points[-1, 0] - path.points[0, 0] == pytest.approx(0.3, abs=0.08)
    assert path.rotations is not None and len(path.rotations) == len(path.times)


def test_a_hand_that_finds_nothing_is_refused(doll: SteeredScene) -> None:
    with pytest.raises(InputError, match="a hand finds no node of the body"):
        HandKey(0.1, (Hand((5.0, 5.0, 5.0), (6.0, 6.0, 6.0)),)).key(doll.body, doll.material)


def test_hops_fall_as_stones_do_and_dip_where_they_land() -> None:
    landings = (Landing(0.3, 0.5, 0.0, 0.2, 0.05, slide=0.1, crouch=0.05), Landing(1.0, 1.3, 0.6, 0.4, 0.08))
    path = hopping(landings, (-0.5, 0.5), 60.0, stands=True)
    assert path.at(0.0) == pytest.approx([-0.5, 0.5, 0.0])
    assert path.at(0.3)[:2] == pytest.approx([-0.05, 0.2]) and path.at(0.5)[:2] == pytest.approx([0.05, 0.2])
    assert path.at(0.4)[1] == pytest.approx(0.15) and path.at(1.15)[:2] == pytest.approx([0.6, 0.32])
    air = (path.times > 0.52) & (path.times < 0.98)
    fall = np.diff(path.points[:, 1], n=2)[air[1:-1]] * 60.0**2
    assert fall == pytest.approx(-9.81, rel=1e-6)
    assert path.times[-1] == pytest.approx(1.3)
    assert path.velocity(float(path.times[-1]))[1] == pytest.approx(0.0, abs=0.1)
    assert hopping(landings, (-0.5, 0.5), 60.0, stands=False).times[-1] == pytest.approx(1.0)


@pytest.mark.slow
def test_the_word_stands_beside_the_place_of_its_first_letter() -> None:
    things = standing_word(0.04)
    low = [float(one.mesh.rest[:, 0].min()) for one in things]
    assert len(things) == len(WORD) and low == sorted(low) and low[0] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("hold", ["constraint", "compensation"])
@pytest.mark.parametrize("part", [False, True])
def test_a_coarse_star_is_on_its_path(hold, part: bool) -> None:
    scene = replace(path_scene(star(COARSE), edge=0.09), duration=0.25, substeps=2)
    take = held(scene, hold, part=part).take()
    assert take.report["residual"].max() < 1e-9 * scene.body.size
    assert take.surface is not None and take.surface.points.shape == (7, scene.surface.point_count, 3)


@pytest.mark.slow
def test_half_way_to_a_twisted_bar_the_volume_is_kept() -> None:
    study = bar_ways(surface=bar_surface(0.02))
    assert study.value("linear", "volume error % mid-way") < -30.0
    assert abs(study.value("physics-oriented", "volume error % mid-way")) < 5.0
    assert study.value("physics-oriented", "smallest tet, of its own") > 0.5
    assert study.value("physics-oriented", "seconds") < 30.0


@pytest.mark.slow
def test_one_path_held_four_ways() -> None:
    scene = replace(path_scene(star(COARSE)), duration=1.2)
    study = path_ways(scene=scene)
    rows = dict(study.rows)
    assert all(values[0] < 1e-9 for values in rows.values())
    # All of the body alike: what is put right is the same, wherever in the step.
    assert rows["whole body, compensation"] == pytest.approx(rows["whole body, constraint"], rel=1e-6)
    pulled = rows["one tetrahedron, constraint"]
    assert 1.1 < pulled[1] < 2.0 and pulled[1] <= rows["one tetrahedron, compensation"][1]
    weight = 9.81 * 500.0 * float(scene.body.volumes.sum())
    assert pulled[3] == pytest.approx(weight, rel=0.2)


@pytest.mark.slow
def test_a_balls_way_and_spin_are_given_to_others() -> None:
    study = rolling(bodies={"toy": toy(COARSE)}, ball=replace(rolling_ball(0.03), duration=0.8))
    assert study.value("toy", "off the path, of radius") < 1e-9
    assert study.value("toy", "off its turn rad") < 1e-8
    assert study.value("toy", "lowest point mm") > -1.0 and study.value("ball", "lowest point mm") > -1.0


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "meshes/horse.obj").exists(), reason="no horse and armadillo: shared/data/meshes")
def test_a_horse_and_an_armadillo_roll_as_the_ball_did() -> None:
    bodies = {name: read_mesh(DATA / f"meshes/{name}.obj") for name in ("horse", "armadillo")}
    assert all(isinstance(mesh, TriMesh) for mesh in bodies.values())
    study = rolling(bodies=bodies, ball=replace(rolling_ball(0.03), duration=0.7))
    for name in bodies:
        assert study.value(name, "off the path, of radius") < 1e-9
        assert study.value(name, "off its turn rad") < 1e-8
        assert study.value(name, "lowest point mm") > -1.5


@pytest.mark.slow
def test_keys_are_passed_near_and_lead_makes_them_less_late(doll: SteeredScene) -> None:
    study = key_study(scene=doll)
    for name, _ in study.rows:
        assert study.value(name, "% of way left, plain") < 50.0
        assert study.value(name, "% of way left, path") < 35.0
    late, led = (
        np.array([study.value(name, f"frames late, {way}") for name, _ in study.rows]) for way in ("plain", "led")
    )
    behind = late > 1.0
    assert behind.sum() >= 2 and (led[behind] < 0.6 * late[behind]).all()
    assert abs(led).max() < 0.8 * abs(late).max()


@pytest.mark.slow
def test_a_character_that_folds_does_not_pass_through_itself(doll: SteeredScene) -> None:
    """Bent by its first key it would put an arm into its belly."""
    bent = replace(keyed_character(doll, lead=False), duration=17 / 30.0, keys=four_keys()[:2])
    take = bent.take()
    skin = doll.body.surface_faces
    assert doll.itself and take.report["pairs"].max() > 0
    assert not any(intersecting_faces(x, skin).any() for x in take.animation.points)


@pytest.mark.slow
@pytest.mark.parametrize("make", [jelly, hopping_letter])
def test_the_demos_land_are_squashed_and_stay_over_the_ground(make) -> None:
    whole = make(0.03)
    until = 1.4  # [s] with two landings
    scene = replace(whole, duration=until, keys=tuple(key for key in whole.keys if key.time <= until))
    take = scene.take()
    off = take.report["residual"][:, 0] / scene.body.size
    held_on = ~take.report["gave_way"][:, 0]
    assert off[held_on].max() < 1e-9 and off.max() < 0.03 and (~held_on).sum() < 12
    assert take.report["converged"].all() and lowest([take]) > -0.01 * scene.body.size
    tall = np.ptp(take.animation.points[:, :, 1], axis=1) / np.ptp(scene.body.rest[:, 1])
    assert tall.min() < 0.8 and tall.max() > 1.1
