"""Planned motions in shots: keys met, what was asked beside them, phases, several bodies, takes that are carried on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planned_bar import BAR, FOOT, HEAD, LEAN, SKIN, bar, chained, planned, write_bar

from bunraku import TriMesh, read_clip, read_shot
from bunraku.cli.performance import exit_code
from bunraku.direction.plan import reduced
from bunraku.direction.steer.rigid import shape_distance
from bunraku.geometry import tet_volumes
from bunraku.io import write_mesh
from bunraku.shots import FrameDone, RegionSheet, Shot, dry_run, frames, open_take
from bunraku.shots.kept import each, kept
from bunraku.shots.prepare_plan import prepare_plan
from bunraku.shots.run import TakeFolder
from bunraku.shots.scene import read_scene


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    return tmp_path


def leant(points: np.ndarray) -> np.ndarray:
    """Where the key has points of the head."""
    middle, c, s = points.mean(axis=0), np.cos(np.radians(-30)), np.sin(np.radians(-30))
    return (points - middle) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + middle + [0.2, -0.05, 0.0]


def test_a_key_is_met_and_said_to_be_met(folder: Path) -> None:
    result = planned(folder, keys=[LEAN]).run()
    report = result.report
    assert report.met is True and not report.missed and exit_code(result, strict=True) == 0
    (told,) = [one for one in report.sentences if one.text.startswith("The key of frame 13")]
    assert told.kind == "met" and told.frame == 13.0 and "region head is where it was asked to be" in told.text
    points = read_clip(result.folder / "bar.usdc").animation.points
    assert len(points) == 25
    away = np.linalg.norm(points[12][HEAD] - leant(SKIN.rest[HEAD]), axis=1)
    assert np.sqrt(np.mean(away**2)) < 1e-3 * BAR.size
    assert np.abs(points[:, FOOT] - SKIN.rest[FOOT]).max() < 1e-6
    assert np.abs(points[[0, -1]] - SKIN.rest).max() < 1e-6
    assert np.abs(points[6] - SKIN.rest).max() > 0.01
    (fact,) = json.loads((result.folder / "report.json").read_text())["facts"]["planned_keys"]
    assert fact["met"] is True and fact["where"] == "keys[0]" and fact["missed"] < fact["allowed"]
    assert "direction met" in (result.folder / "index.html").read_text()


def test_frames_are_the_motion_and_their_numbers_are_the_bodys(folder: Path) -> None:
    shot = planned(folder, keys=[LEAN, {"frame": 19, "velocity": [0.0, 0.4, 0.0]}])
    prepared, result = prepare_plan(shot), shot.run()
    motion = prepared.plans[0].motion
    for frame in each(TakeFolder(result.folder).cache(), 0, 25):
        np.testing.assert_allclose(frame.points, motion.points(frame.index / 24), atol=1e-10)
        np.testing.assert_allclose(frame.velocity, motion.velocities(frame.index / 24), atol=1e-8)
    arrays, mass = result.report.arrays, prepared.plans[0].motions[0].body.mass
    v = motion.velocities(9 / 24)
    assert arrays["kinetic"][9] == pytest.approx(0.5 * mass @ (v**2).sum(axis=1), rel=1e-6)
    assert arrays["volume"][12] == pytest.approx(tet_volumes(motion.points(0.5), BAR.tets).sum(), rel=1e-6)
    # The push is what the least effort is made of: effort = ½ ∫ mass push² dt.
    pushes = [np.linalg.norm(prepared.plans[0].motions[0].force(time)) for time in np.linspace(0.0, 1.0, 2001)]
    assert arrays["push"][9] == pytest.approx(pushes[750] / np.sqrt(mass.sum()), rel=1e-6)
    assert 0.5 * np.mean(np.square(pushes)) == pytest.approx(result.report.measured.facts["effort"], rel=0.01)
    speed = mass @ kept(TakeFolder(result.folder).cache(), 18).velocity / mass.sum()
    assert speed == pytest.approx([0.0, 0.4, 0.0], abs=5e-3)


def test_what_was_asked_is_shown_beside_it(folder: Path) -> None:
    prepared = prepare_plan(planned(folder, keys=[LEAN]))
    guide = prepared.guide.points
    np.testing.assert_allclose(guide[12][HEAD], leant(SKIN.rest[HEAD]), atol=1e-9)
    assert np.abs(guide[:, FOOT] - SKIN.rest[FOOT]).max() < 1e-12 and np.abs(guide[[0, -1]] - SKIN.rest).max() < 1e-9
    half = guide[6][HEAD] - SKIN.rest[HEAD]  # half-way there, half as far; no swing
    np.testing.assert_allclose(half.mean(axis=0), [0.1, -0.025, 0.0], atol=0.01)
    centred = prepare_plan(planned(folder, fixed=[], keys=[{"frame": 13, "centre": [0.5, 0.9, 0.1]}]))
    moved = centred.guide.points[12] - SKIN.rest
    np.testing.assert_allclose(moved, np.tile([0.375, 0.4, -0.025], (len(moved), 1)), atol=1e-5)


def test_a_part_of_the_frames_is_a_part_of_the_whole(folder: Path) -> None:
    shot = planned(folder, keys=[LEAN])
    whole, part = shot.run(), shot.run(out=folder / "part", frames=(9, 14))
    assert part.report.measured.frames.tolist() == [9, 10, 11, 12, 13, 14] and part.report.met is True
    for index in range(6):
        a, b = kept(TakeFolder(whole.folder).cache(), 8 + index), kept(TakeFolder(part.folder).cache(), index)
        np.testing.assert_allclose(a.state.q, b.state.q, atol=1e-10)
    again = read_shot(part.folder / "shot.toml")  # which says when the motion begins and ends
    assert again.plans["bar"].begin == 1 and again.plans["bar"].end == 25
    np.testing.assert_allclose(prepare_plan(again, (9, 14)).guide.points, prepare_plan(shot, (9, 14)).guide.points)
    one = shot.run(out=folder / "one", frames=(13, 13))
    assert one.report.measured.frames.tolist() == [13] and one.report.met is True


def test_a_take_is_carried_on_to_the_same_bytes(folder: Path) -> None:
    shot = planned(folder, keys=[LEAN])
    whole = shot.run(out=folder / "whole")

    def stop(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shot.run(progress=stop)
    result = shot.run(resume=True)
    assert result.folder.name == "v001" and result.report.met is True
    for index in range(25):
        a, b = (kept(TakeFolder(one).cache(), index) for one in (whole.folder, result.folder))
        np.testing.assert_array_equal(a.state.q, b.state.q)
        np.testing.assert_array_equal(a.state.velocity, b.state.velocity)
    assert shot.run(resume=True).already


def test_a_reviewer_and_a_lazy_run_see_it(folder: Path) -> None:
    shot = planned(folder, keys=[LEAN])
    result = shot.run()
    take, prepared = open_take(result.folder), prepare_plan(shot)
    frame = kept(TakeFolder(result.folder).cache(), 6)
    np.testing.assert_allclose(take.points(6), prepared.vertices(frame.points), atol=1e-12)
    np.testing.assert_allclose(take.guide(6), prepared.guide.points[6], atol=1e-6)
    assert "push" in take.curves() and any("The key of frame 13" in one.text for one in take.sentences())
    lazy = list(frames(shot))
    np.testing.assert_array_equal(lazy[6].points, frame.points)
    with pytest.raises(ValueError, match="a body has no guide whose regions could be shown"):
        RegionSheet.of(shot)


def test_a_key_the_modes_cannot_do_is_missed_with_what_helps(folder: Path) -> None:
    twisted = {"frame": 13, "region": "head", "rotate": [0.0, 90.0, 0.0]}
    few = planned(folder, keys=[twisted], modes=2)
    result = few.run()
    assert result.report.met is False and result.report.missed and exit_code(result, strict=True) == 4
    (told,) = [one for one in result.report.sentences if one.kind == "missed"]
    assert "is missed: region head is away" in told.text and "try attach = true, or more modes" in told.text
    assert any(line.startswith("would miss keys[0] of bar by") for line in dry_run(few))
    attached = planned(folder, keys=[twisted], modes=2, attach=True).run().report.measured.keys
    assert attached[0]["missed"] < 0.1 * result.report.measured.keys[0]["missed"]
    assert planned(folder, keys=[twisted], modes=20).run().report.met is True
    assert "direction missed" in (result.folder / "index.html").read_text()


def test_an_exact_key_is_met_or_missed_by_what_the_modes_must(folder: Path) -> None:
    for modes, reached in ((14, True), (4, False)):
        result = planned(folder, keys=[{**LEAN, "weight": "exact"}], modes=modes).run()
        (fact,) = result.report.measured.keys
        assert fact["exact"] and result.report.met is reached is fact["met"]
        assert fact["missed"] <= fact["unreachable"] + 1e-9 * BAR.size
        told = [one.text for one in result.report.sentences if one.kind in ("met", "missed")]
        assert reached or "of which the modes cannot do" in told[0]


def test_a_key_may_be_turned_about_a_place_of_its_own(folder: Path) -> None:
    """A quarter of a turn about a corner of the head, wherever the body is in the world."""
    write_bar(folder, by=(3.0, 0.0, 0.0))
    corner = SKIN.rest[HEAD[0]] + [3.0, 0.0, 0.0]
    turned = {
        "frame": 13,
        "region": "head",
        "rotate": [0.0, 90.0, 0.0],
        "pivot": corner.tolist(),
        "move": [0.0, 0.1, 0.0],
    }
    prepared = prepare_plan(planned(folder, keys=[turned]))
    (told,) = prepared.plans[0].motion.at(0.5)[0].keys
    assert told.positions is not None
    x, y, z = (SKIN.rest[HEAD] + [3.0, 0.0, 0.0] - corner).T
    meant = np.stack([z, y + 0.1, -x], axis=1) + corner - prepared.origin
    np.testing.assert_allclose(np.sort(told.positions, axis=0), np.sort(meant, axis=0), atol=1e-9)


def test_keys_are_told_by_files_velocities_weights_and_the_centre(folder: Path) -> None:
    posed = SKIN.rest.copy()
    posed[:, 0] += 0.15 * posed[:, 1] ** 2
    write_mesh(folder / "posed.obj", TriMesh(posed, SKIN.faces))
    keys = [
        {"frame": 9, "file": "posed.obj", "unit": "m", "region": "head"},
        {"frame": 13, "region": "head", "velocity": [0.0, 0.0, 0.5]},
        {"frame": 17, "centre": [0.15, 0.5, 0.125], "weight": "exact"},
        {"frame": 21, "file": "posed.obj", "unit": "m", "weight": 0.5},
    ]
    shot = planned(folder, keys=keys)
    motion = prepare_plan(shot).plans[0].motion
    head = np.flatnonzero(BAR.rest[:, 1] > 1.0 - 1e-9)
    mass = motion.at(0.0)[0].body.mass
    near = motion.points(8 / 24)[head]
    assert np.linalg.norm(near - (BAR.rest[head] + [0.15, 0.0, 0.0]), axis=1).max() < 0.02
    assert motion.velocities(12 / 24)[head].mean(axis=0) == pytest.approx([0.0, 0.0, 0.5], abs=0.02)
    assert np.abs(motion.points(12 / 24)[head] - BAR.rest[head]).max() > 1e-3  # which may be anywhere
    np.testing.assert_allclose(mass @ motion.points(16 / 24) / mass.sum(), [0.15, 0.5, 0.125], atol=1e-7)
    whole = motion.at(0.0)[0].keys[3]
    assert whole.vertices is not None and len(whole.vertices) == BAR.point_count - 4 and whole.weight == 0.5
    assert [one.key for one in prepare_plan(shot).inputs].count("object.bar.keys[3]") == 1
    told = [one.text for one in shot.run().report.sentences]
    for what in ("the whole body is", "the centre of mass is", "region head goes as fast as asked"):
        assert any(what in text for text in told), what


def test_a_region_may_be_of_another_material(folder: Path) -> None:
    """The upper half is hard: bending is below."""
    upper = np.flatnonzero(SKIN.rest[:, 1] > 0.45).tolist()
    regions = {
        "foot": {"vertices": FOOT.tolist()}, "head": {"vertices": HEAD.tolist()},
        "upper": {"vertices": upper, "material": {"preset": "rubber", "young": 2e7}},
    }  # fmt: skip
    soft, hard = (
        prepare_plan(planned(folder, keys=[LEAN], modes=20, regions=one)) for one in (bar()["regions"], regions)
    )
    heights, of_tet = BAR.rest[BAR.tets].mean(axis=1)[:, 1], hard.plans[0].motions[0].body.stock.of_tet
    assert of_tet is not None and (of_tet[heights > 0.55] == 1).all() and (of_tet[heights < 0.35] == 0).all()
    x = [one.plans[0].motion.points(0.5) for one in (soft, hard)]
    top = BAR.rest[:, 1] > 0.45
    bent = [shape_distance(one[top], BAR.rest[top], np.ones(top.sum())) for one in x]
    assert bent[1] < 0.3 * bent[0]


def test_phases_follow_each_other_and_say_how_long_they_take(folder: Path) -> None:
    shot = chained(folder)
    prepared = prepare_plan(shot)
    chain = prepared.plans[0].motion
    flight = prepared.plans[0].motions[1].duration * 24
    assert 4 < flight < 10 and len(prepared.numbers) == 1 + int(np.ceil(24 + flight - 1e-6))
    result = shot.run()
    told = [one.text for one in result.report.sentences]
    assert any(text.startswith("The key of frame 13 is met: the centre of mass goes") for text in told)
    landing = f"The landing at frame {13 + flight:.4g} is met: region foot"
    assert any(text.startswith(landing) for text in told), told
    points = read_clip(result.folder / "bar.usdc").animation.points
    assert np.abs(points[:13, FOOT] - SKIN.rest[FOOT]).max() < 1e-6
    assert points[15:18, FOOT, 1].min() > 0.05  # it flies
    assert np.abs(points[-1, FOOT, 1]).max() < 1e-3 and points[-1, FOOT, 0].min() > 0.1  # and stands further on
    np.testing.assert_allclose(np.ptp(points[-1], axis=0), np.ptp(SKIN.rest, axis=0), atol=1e-3)  # at rest
    assert result.report.met is True
    later = prepare_plan(chained(folder, begin=101.0))
    assert later.numbers[0] == 101 and len(later.numbers) == len(prepared.numbers)
    np.testing.assert_allclose(later.plans[0].motion.points(0.9), chain.points(0.9), atol=1e-9)


def test_a_chain_far_from_the_origin_is_the_same_there(folder: Path) -> None:
    """Heights of landings and centres of mass are the world's."""
    far = (5000.0, 300.0, 0.0)
    write_bar(folder, "far", far)
    phases = [
        {"frames": 12, "fixed": ["foot"], "keys": [{"frame": 12, "velocity": [0.4, 1.5, 0.0]}]},
        {"flight": {"region": "foot", "height": 0.5}},
    ]  # fmt: skip
    there = json.loads(json.dumps(phases))
    there[1]["flight"]["height"] += far[1]
    near = prepare_plan(chained(folder, phases))
    away = prepare_plan(
        chained(folder, there, surface={"file": "far.obj", "unit": "m"}, tets={"file": "far.msh", "unit": "m"})
    )
    assert np.abs(away.origin).max() > 100 and not near.origin.any()
    for time in (0.2, 0.6, 0.75):
        x = [one.plans[0].motion.points(time) + one.origin for one in (near, away)]
        np.testing.assert_allclose(x[1] - far, x[0], atol=1e-5)


def test_a_landing_may_be_turned(folder: Path) -> None:
    phases = [
        {"frames": 12, "fixed": ["foot"], "keys": [{"frame": 12, "velocity": [0.4, 1.5, 0.0]}]},
        {"flight": {"region": "foot", "turn": [0, 0, -60], "move": [0.05, 0, 0]}},
    ]
    prepared = prepare_plan(chained(folder, phases))
    chain = prepared.plans[0].motion
    end, mass = chain.points(chain.duration), prepared.plans[0].motions[0].body.mass
    foot = np.flatnonzero(BAR.rest[:, 1] < 1e-9)
    about = end[foot].mean(axis=0) - mass @ end / mass.sum()
    expected = np.array([-0.5 * np.sin(np.radians(60)) + 0.05, -0.5 * np.cos(np.radians(60)), 0.0])
    np.testing.assert_allclose(about, expected, atol=5e-3)


def test_a_circular_motion_goes_round_in_a_longer_shot(folder: Path) -> None:
    keys = [{"frame": 1, "region": "head", "move": [0.1, 0, 0]}, {"frame": 9, "region": "head", "move": [-0.1, 0, 0]}]
    shot = planned(folder, frames=(1, 40), keys=keys, circular=True, end=17)
    result = shot.run()
    points = read_clip(result.folder / "bar.usdc").animation.points
    np.testing.assert_allclose(points[16], points[0], atol=1e-6)
    np.testing.assert_allclose(points[16 + 11], points[11], atol=1e-6)
    assert np.abs(points[8] - points[0]).max() > 0.1
    guide = prepare_plan(shot).guide.points
    np.testing.assert_allclose(guide[24][HEAD], guide[8][HEAD], atol=1e-9)


def test_a_motion_shorter_than_the_shot_waits_and_stays(folder: Path) -> None:
    ends = {"frame": 20, "region": "head", "move": [0.1, 0, 0], "velocity": [0, 0, 0.3]}
    shot = planned(folder, frames=(1, 30), begin=5, end=20, keys=[ends])
    cache = TakeFolder(shot.run().folder).cache()
    for index in range(5):
        np.testing.assert_allclose(kept(cache, index).points, BAR.rest, atol=1e-9)
    last = kept(cache, 19)
    head = np.flatnonzero(BAR.rest[:, 1] > 1.0 - 1e-9)
    assert last.velocity[head, 2].mean() == pytest.approx(0.3, abs=0.02)  # it still moves when it ends
    for index in (20, 29):
        np.testing.assert_allclose(kept(cache, index).points, last.points, atol=1e-12)
        assert not kept(cache, index).velocity.any()
    loose = prepare_plan(planned(folder, keys=[LEAN], free=[False, True])).plans[0].motion
    assert np.abs(loose.points(1.0) - BAR.rest).max() > 0.01 and np.abs(loose.points(0.0) - BAR.rest).max() < 1e-9


def test_a_plan_may_feel_its_weight(folder: Path) -> None:
    weightless, heavy = (prepare_plan(planned(folder, keys=[LEAN], gravity=g)).plans[0].motion for g in (False, True))
    assert np.abs(weightless.points(0.3) - heavy.points(0.3)).max() > 1e-4


def test_several_bodies_have_files_and_sentences_of_their_own(folder: Path) -> None:
    write_bar(folder, "post", (1.0, 0.0, 0.0))
    late = {**LEAN, "frame": 17}
    shot = planned(folder, keys=[LEAN], others={"post": bar("post", keys=[late], begin=9)})
    result = shot.run()
    assert result.report.animations == {"bar": ("bar.usdc",), "post": ("post.usdc",)}
    told = [one.text for one in result.report.sentences]
    assert any(text.startswith("The key of frame 17 of post is met") for text in told)
    assert any(text.startswith("The key of frame 13 of bar is met") for text in told)
    post = read_clip(result.folder / "post.usdc").animation.points
    np.testing.assert_allclose(post[:9], np.tile(SKIN.rest + [1.0, 0.0, 0.0], (9, 1, 1)), atol=1e-6)
    assert np.abs(post[16] - post[0]).max() > 0.1


def test_each_of_several_bodies_is_told_by_how_much_it_shrinks(folder: Path) -> None:
    """One is crushed, the other leans: the sum of both would say too little, and not of which."""
    write_bar(folder, "post", (1.0, 0.0, 0.0))
    crush = {"frame": 13, "region": "head", "move": [0.0, -1.2, 0.0], "rotate": [0.0, 150.0, 0.0]}
    report = planned(folder, keys=[LEAN], others={"post": bar("post", keys=[crush])}).run().report
    change = report.arrays["volumes"] / BAR.volumes.sum() - 1.0
    (told,) = [one for one in report.sentences if "of the volume at rest" in one.text]
    assert told.text.startswith("post ") and f"{100 * np.abs(change[:, 1]).max():.0f} %" in told.text
    np.testing.assert_allclose(report.arrays["volumes"].sum(axis=1), report.arrays["volume"])


def test_obstacles_are_seen_but_not_felt(folder: Path) -> None:
    wall = {"role": "obstacle", "source": {"plane": {"point": [0.35, 0, 0], "normal": [-1, 0, 0]}}}
    alone, beside = planned(folder, keys=[LEAN]), planned(folder, keys=[LEAN], others={"wall": wall})
    result = beside.run()
    for a, b in zip(each(TakeFolder(alone.run(out=folder / "alone").folder).cache(), 0, 25),
                    each(TakeFolder(result.folder).cache(), 0, 25), strict=True):  # fmt: skip
        np.testing.assert_array_equal(a.state.q, b.state.q)
    (told,) = [one for one in result.report.sentences if "through an obstacle" in one.text]
    assert told.kind == "note" and "a plan does not feel what is in its way" in told.text
    assert [one["name"] for one in open_take(result.folder).scene.meta["planes"]] == ["wall"]


def test_modes_are_made_once_and_a_dry_run_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = planned(folder, keys=[LEAN])
    before = set(folder.rglob("*"))
    assert any("1 key, frames 1 to 25, planned in 14 modes" in line for line in dry_run(shot))
    assert set(folder.rglob("*")) == before
    shot.run()
    assert len(list((folder / "takes" / ".bodies").iterdir())) == 1

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("modes are kept")

    monkeypatch.setattr(reduced, "natural_modes", never)
    assert shot.run().report.met is True
    with pytest.raises(AssertionError, match="modes are kept"):
        planned(folder, keys=[LEAN], modes=15).run()


def test_a_shot_of_a_plan_reads_back(folder: Path) -> None:
    pose = {"frame": 20, "region": "head", "scale": [1.0, 1.2, 1.0], "velocity": [0, 1, 0], "weight": "exact"}
    for k, shot in enumerate((planned(folder, keys=[LEAN, pose], damping=[0.1, 0.002], free=True), chained(folder))):
        for defaults in (False, True):
            shot.write(folder / f"again{k}.toml", defaults=defaults)
            again = read_shot(folder / f"again{k}.toml")
            assert again.plans == shot.plans and isinstance(again, Shot)


@pytest.mark.slow
def test_the_ground_is_kept_or_said_to_be_gone_through(folder: Path) -> None:
    """The bar bows its head below a shelf that is higher than its key: what is asked for and what is not."""
    bow = {"frame": 13, "region": "head", "move": [0.4, -0.35, 0.0], "rotate": [0.0, 0.0, -60.0]}
    above = planned(folder, keys=[bow], ground=-0.1).run().report
    assert above.met is True and any("goes below the ground." in one.text for one in above.sentences)
    shelf = planned(folder, keys=[bow], ground=0.75).run()
    (told,) = [one for one in shelf.report.sentences if "below the ground at frame" in one.text]
    assert told.kind == "missed" and told.frame is not None and shelf.report.met is False
    assert exit_code(shelf, strict=True) == 4
    (fact,) = json.loads((shelf.folder / "report.json").read_text())["facts"]["planned_ground"]
    assert fact["object"] == "bar" and fact["below"] > fact["allowed"] > 0.0 and fact["met"] is False
    reviewed = read_scene(shelf.folder / "scene")
    assert reviewed.floor == pytest.approx(0.75 - reviewed.origin[1])  # and the film draws that ground


def test_a_body_that_is_crushed_inside_out_is_said_to_be(folder: Path) -> None:
    """The head pushed far below the foot and turned: the key is met, and what that does to the body is told."""
    crush = {"frame": 13, "region": "head", "move": [0.0, -1.2, 0.0], "rotate": [0.0, 150.0, 0.0]}
    report = planned(folder, keys=[crush]).run().report
    inside_out = report.arrays["inverted"] > 0
    assert inside_out[12] and not inside_out[0]
    (told,) = [one for one in report.sentences if "inside out in places" in one.text]
    worst = int(np.argmax(report.arrays["inverted"]))
    assert told.kind == "note" and told.frame == 1.0 + worst
    assert f"{int(report.arrays['inverted'][worst])} of {len(BAR.tets)} tetrahedra" in told.text
    change = report.arrays["volume"] / BAR.volumes.sum() - 1.0
    (told,) = [one for one in report.sentences if "of the volume at rest" in one.text]
    assert f"{100 * np.abs(change).max():.0f} %" in told.text
    gentle = planned(folder, keys=[LEAN]).run().report
    assert not any("inside out" in one.text or "volume at rest" in one.text for one in gentle.sentences)


@pytest.mark.parametrize("angle", [180.0, -180.0])
def test_half_a_turn_goes_the_way_round_it_is_told(folder: Path, angle: float) -> None:
    shot = planned(folder, keys=[{"frame": 13, "region": "head", "rotate": [0.0, angle, 0.0]}])
    (motion,) = prepare_plan(shot, keeping=False).plans[0].motions
    corner = np.flatnonzero((BAR.rest[:, 1] > 0.99) & (BAR.rest[:, 0] > 0.2) & (BAR.rest[:, 2] < 0.1))
    away = [motion.points(k / 24)[corner, 2].mean() for k in range(13)]
    assert motion.keys[0].turn == pytest.approx([0.0, np.radians(angle), 0.0])
    assert (min(away) < BAR.rest[:, 2].mean() - 0.16) == (angle > 0.0)  # the corner goes round on the side of -z
