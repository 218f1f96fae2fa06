"""From a shot to a job: frames, keys, regions, pins, preroll, sets far away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku import Animation, InputError
from bunraku.io import write_animation, write_mesh
from bunraku.scenes import box_mesh
from bunraku.shots import read_shot
from bunraku.shots.prepare_shell import prepare_shell
from bunraku.shots.preroll import with_preroll


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        prepare_shell(read_shot(path))
    return str(refused.value)


def test_frames_default_to_the_guides_and_keys_are_frames_turned_to_seconds(files):
    prepared = prepare_shell(read_shot(files(box={"track": {"strength": [[1, 1], [4, 0.25]]}, "material": {
        "preset": "vinyl", "young": [[2, 1e6], [6, 3e6]]}})))  # fmt: skip
    assert prepared.numbers.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(prepared.strength.times, np.array([1, 4]) / 24)
    assert prepared.strength.at(4 / 24) == 0.25
    assert prepared.material.at(4 / 24).young[0] == pytest.approx(2e6)
    assert prepared.shot.shot.frames == (1, 6) and prepared.shot.shells["box"].mesh.levels == 1


def test_a_subset_of_frames_sees_the_same_guide_as_the_whole(files):
    whole = prepare_shell(read_shot(files()))
    part = prepare_shell(read_shot(files(shot={"frames": [1, 3]})))
    assert part.numbers.tolist() == [1, 2, 3] and len(part.job().times) == 3
    for time in np.linspace(1, 3, 9) / 24:
        np.testing.assert_array_equal(part.guide.at(time), whole.guide.at(time))


def test_a_guide_sampled_on_twos_is_filled_in(files, guide: Animation):
    twos = Animation(guide.mesh, guide.times[::2], guide.points[::2])
    prepared = prepare_shell(read_shot(files(guide=twos)))
    assert prepared.numbers.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(prepared.guide.at(2 / 24), guide.points[1], atol=2e-3)


def test_frames_outside_the_guide_indices_outside_the_shell_and_overlaps_are_refused_together(files):
    text = refusal(files(
        shot={"frames": [0, 7]},
        box={"regions": {"a": {"vertices": [0, 99], "material": "silk"}, "b": {"vertices": [0], "material": "paper"}},
             "pins": [{"vertices": [26]}, {"vertices": [1, 1]}]},
    ))  # fmt: skip
    assert "shot.frames: the guide has no such frames (got '0 to 7'); allowed: 1 to 6" in text
    assert "object.box.regions.a.vertices: numbers outside the written surface (got '99'); allowed: 0 to 25" in text
    assert "object.box.regions: vertices lie in two regions with materials (got '0')" in text
    assert "object.box.pins[0].vertices: numbers outside the written surface (got '26')" in text
    assert "object.box.pins[1].vertices: names one twice" in text
    assert len(text.splitlines()) == 5


def test_a_shell_that_nothing_holds_cannot_settle(files):
    text = refusal(files(box={"track": {"method": "none"}}, physics={"start": "settled"}))
    assert "physics.start: a shell that neither obeys a guide nor is pinned" in text


def test_regions_blend_around_vertices_and_are_sharp_on_faces(files):
    regions = {"lid": {"vertices": [4], "material": {"young": 7.0}}, "side": {"faces": [3], "material": {"young": 9.0}}}
    prepared = prepare_shell(
        read_shot(files(box={"mesh": {"levels": 0}, "material": {"young": 1.0}, "regions": regions}))
    )
    faces, weights = prepared.shell.faces, prepared.material.weights
    for face in range(len(faces)):
        share = (faces[face] == 4).mean()
        np.testing.assert_allclose(weights[face], [0, 0, 1] if face == 3 else [1 - share, share, 0])
    assert [float(material.young) for material in prepared.material.materials] == [1.0, 7.0, 9.0]  # type: ignore[arg-type]


def test_pins_go_with_the_guide_stay_or_go_to_a_point(files):
    pins = [{"vertices": [20], "to": "guide"}, {"vertices": [0, 1]}, {"vertices": [2], "to": [1, 0.02, 3], "axes": "y"}]
    prepared = prepare_shell(read_shot(files(box={"track": {"method": "none"}, "pins": pins})))
    assert prepared.tests is None
    frames = list(prepared.job().frames())
    surface = prepared.prolongation @ prepared.guide.points[-1]
    np.testing.assert_allclose(frames[-1].points[20], surface[20], atol=1e-9)
    np.testing.assert_allclose(frames[-1].points[:2], prepared.shell.rest[:2], atol=1e-9)
    assert frames[-1].points[2, 1] == pytest.approx(0.02, abs=1e-9)


def test_preroll_leads_from_rest_at_rest_to_the_first_pose_with_its_velocity(guide: Animation):
    times = np.arange(-23, 1) / 24.0
    longer = with_preroll(guide, guide.mesh.rest, times)
    np.testing.assert_array_equal(longer.points[0], guide.mesh.rest)
    np.testing.assert_array_equal(longer.points[24:], guide.points)
    assert np.abs(longer.velocity(times[0])).max() < 0.05 * np.abs(guide.velocity(guide.times[0])).max()
    before = (longer.points[24] - longer.points[23]) * 24.0
    np.testing.assert_allclose(before, guide.velocity(guide.times[0]), rtol=0.15, atol=0.02)


def test_preroll_turns_a_rigid_body_without_shrinking_it():
    rest = np.array(box_mesh().rest)
    half_turn = rest * [-1.0, 1.0, -1.0] + [3.0, 0.0, 0.0]
    still = Animation(box_mesh(), np.array([1.0, 2.0]), np.stack([half_turn, half_turn]))
    longer = with_preroll(still, rest, np.array([0.0, 0.25, 0.5, 0.75]))
    edges = np.linalg.norm(longer.points[:, 0] - longer.points[:, 6], axis=1)
    np.testing.assert_allclose(edges, edges[0], rtol=1e-12)


def test_a_preroll_is_simulated_from_the_shells_rest_shape(files):
    prepared = prepare_shell(read_shot(files(shot={"preroll": 4, "frames": [3, 5]})))
    assert prepared.numbers.tolist() == [-1, 0, 1, 2, 3, 4, 5] and prepared.preroll == 4
    first = prepared.job().start
    np.testing.assert_allclose(first.q.reshape(-1, 3), prepared.shell.rest, atol=1e-12)
    assert not first.velocity.any()


def test_a_set_far_away_is_solved_about_an_origin_of_its_own(files, guide: Animation):
    far = np.array([40_000.3, 20.0, -90_000.7])
    away = Animation(guide.mesh.with_rest(guide.mesh.rest + far), guide.times, guide.points + far)
    near, moved = prepare_shell(read_shot(files())), prepare_shell(read_shot(files(guide=away)))
    assert not near.origin.any() and (moved.origin == np.round(moved.origin)).all()
    assert np.abs(moved.origin - far).max() < 1.0
    assert np.abs(moved.guide.points).max() < 2.0
    last, here = list(moved.job().frames())[-1], list(near.job().frames())[-1]
    assert last.report["residual"].max() < 1e-13
    np.testing.assert_allclose(last.points + moved.origin - far, here.points, atol=5e-3)  # the file is float32


def test_a_mesh_file_of_the_guides_faces_gives_the_rest_shape(files, tmp_path: Path):
    mesh = box_mesh()
    write_mesh(tmp_path / "wide.obj", mesh.with_rest(mesh.rest * [1.1, 1.0, 1.0]))
    prepared = prepare_shell(read_shot(files(box={"mesh": {"file": "wide.obj", "unit": "m", "levels": 1}})))
    assert np.ptp(prepared.shell.rest[:, 0]) == pytest.approx(0.55) and prepared.shell.point_count == 26
    assert len(prepared.inputs) == 2


def test_the_rate_is_for_obj_sequences_only(files, guide: Animation, tmp_path: Path):
    assert "this one says its own (got 30.0)" in refusal(files(shot={"rate": 30}))
    write_animation(tmp_path / "g.####.obj", guide)
    prepared = prepare_shell(read_shot(files(shot={"rate": 30}, box={"guide": {"file": "g.####.obj", "unit": "m"}})))
    assert prepared.times[-1] == pytest.approx(6 / 30) and len(prepared.inputs) == 6


def test_clusters_of_the_guide_are_carried_to_the_shell(files):
    prepared = prepare_shell(read_shot(files(box={"mesh": {"levels": 2}, "track": {"method": "clusters", "count": 2}})))
    assert prepared.tests is not None and prepared.tests.count == 2
    owner = np.asarray(prepared.tests.shell.sum(axis=0)).reshape(-1)
    assert np.allclose(owner, 1.0)  # nothing is free
    of_guide, of_shell = prepared.tests.averages(prepared.clip.mesh, prepared.shell)
    pose = prepared.guide.points[3]
    assert np.allclose(of_shell @ (prepared.prolongation @ pose), of_guide @ pose, atol=1e-14)
    report = read_shot(files(box={"track": {"method": "clusters", "count": 2}})).run().report
    assert report.met and report.measured.regions == 2
    assert any("around region" in sentence.text for sentence in report.sentences)
    assert "the number of regions does not fit" in refusal(files(box={"track": {"method": "clusters", "count": 99}}))
