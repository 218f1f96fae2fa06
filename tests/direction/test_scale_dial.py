"""Scales in metres, on parts and over time; smooth and changing test functions; the outline; regions said twice."""

from __future__ import annotations

import logging
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from bunraku.constraints import HARD
from bunraku.contracts import InputError
from bunraku.direction.track import (
    TestFunctions,
    changing,
    clusters,
    gaussians,
    hierarchy,
    painted,
    scales,
    silhouette,
    track,
    tracking_job,
)
from bunraku.direction.track.independence import dependent_rows
from bunraku.direction.track.silhouette import _smoothed
from bunraku.geometry import TriMesh, embed, face_areas
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation
from bunraku.testing import sheet

CLOTH = ShellMaterial(young=1e5, poisson=0.3, thickness=1e-3, density=480.0, stretch_damping=5e-3, bend_damping=5e-3)


@pytest.fixture
def wave() -> Animation:
    """A sheet of 16 × 16 cells that bulges and comes back in a second."""
    mesh = sheet(16, 16)
    times = np.arange(25) / 24.0
    x, y, _ = mesh.rest.T
    lift = np.sin(np.pi * times) ** 2
    return Animation(mesh, times, np.stack([np.stack([x, y, 0.2 * a * np.sin(np.pi * x)], axis=1) for a in lift]))


def region_sizes(tests: TestFunctions, mesh: TriMesh) -> np.ndarray:
    areas = face_areas(mesh.rest, mesh.faces)
    of_vertex = np.bincount(mesh.faces.reshape(-1), np.repeat(areas / 3, 3), mesh.point_count)
    return np.sqrt(tests.guide @ of_vertex)


def test_regions_have_the_size_that_was_asked_for(wave: Animation) -> None:
    for size, count in ((0.5, 4), (0.25, 16)):
        tests = scales(wave, size)
        assert tests.count == count and not tests.nested and tests.held is None
        assert np.median(region_sizes(tests, wave.mesh)) == pytest.approx(size, rel=0.2)


def test_a_part_has_a_scale_of_its_own(wave: Animation) -> None:
    left = wave.mesh.rest[wave.mesh.faces].mean(axis=1)[:, 0] < 0.5
    tests = scales(wave, 0.5, parts={"cuff": (left, 0.125)})
    fine = np.array([name.startswith("cuff") for name in tests.names])
    assert fine.sum() == pytest.approx(0.5 / 0.125**2, abs=3) and (~fine).sum() == 2
    assert np.asarray(tests.guide.sum(axis=0)).max() == 1.0  # no vertex in two regions
    take = track(wave, wave.mesh, tests, material=CLOTH, substeps=1, threads=1)
    assert take.report["residual"].max() < 1e-12


@pytest.mark.slow
def test_a_keyed_scale_is_exact_at_its_ends_and_smooth_between(wave: Animation) -> None:
    """Coarse until 0.2 s, fine from 0.7 s: the regions of the scale of the moment are met, and nothing pops.

    Six centimetres of sag are taken in within half a second; all at once, that is felt as ten times the usual push.
    """
    keyed = scales(wave, [(0.2, 0.5), (0.7, 0.125, "smooth")])
    assert keyed.nested and keyed.held is not None
    coarse, fine = scales(wave, 0.5), scales(wave, 0.125)
    sizes = region_sizes(keyed, wave.mesh)
    held_early, held_late = keyed.held(0.1), keyed.held(0.9)
    assert sizes[held_early == 1.0] == pytest.approx(np.full(4, 0.5), rel=0.25)
    assert (held_late == 1.0).sum() == pytest.approx(fine.count, abs=4)
    sheet_run = {"material": CLOTH, "threads": 1, "substeps": 1, "gravity": (0.0, -9.81, 0.0)}
    take, loose = track(wave, wave.mesh, keyed, **sheet_run), track(wave, wave.mesh, coarse, **sheet_run)
    residual, frame = take.report["residual"], np.arange(25) / 24.0
    assert residual[frame <= 0.2][:, held_early == 1.0].max() < 1e-12
    assert residual[frame >= 0.7][:, held_late == 1.0].max() < 1e-12
    assert residual[frame <= 0.2].max() > 1e-3  # what is finer than the scale is free
    push = np.abs(np.diff(take.velocities, axis=0)).max(axis=(1, 2)) * 24.0
    usual = np.abs(np.diff(loose.velocities, axis=0)).max() * 24.0
    at_once = track(wave, wave.mesh, scales(wave, [(0.45, 0.5), (0.4500001, 0.125)]), **sheet_run)
    assert push.max() < 3.0 * usual
    assert np.abs(np.diff(at_once.velocities, axis=0)).max() * 24.0 > 10.0 * usual


def test_a_region_and_its_parts_are_never_both_hard(wave: Animation) -> None:
    keyed = scales(wave, [(0.0, 0.5), (1.0, 0.1, "smooth")])
    assert keyed.held is not None
    for time in np.linspace(-0.1, 1.1, 200):
        hard = keyed.held(float(time)) >= HARD
        assert np.asarray(keyed.guide[hard].sum(axis=0)).max() == 1.0
        assert np.asarray(keyed.guide[hard].sum(axis=0)).min() == 1.0  # and everything is in one that is


def test_bad_scales_are_refused(wave: Animation) -> None:
    for scale, parts, story in [
        (0.0, {}, "length above zero"),
        ([(0, 0.1), (1, -0.1)], {}, "length above zero"),
        (0.5, {"cuff": (np.array([], int), 0.1)}, "cuff: a part must name faces"),
        (0.5, {"cuff": (np.array([999]), 0.1)}, "got 999"),
        (0.5, {"a": (np.array([0, 1]), 0.1), "b": (np.array([1]), 0.1)}, "a and b: parts must not overlap"),
    ]:
        with pytest.raises(InputError, match=story):
            scales(wave, scale, parts=parts)


def test_gaussians_are_smooth_sum_to_one_and_are_met(wave: Animation) -> None:
    tests = gaussians(wave.mesh, 0.3)
    values = tests.guide.toarray()
    assert np.allclose(values.sum(axis=0), 1.0) and values.min() >= 0
    edges = np.concatenate([wave.mesh.faces[:, [0, 1]], wave.mesh.faces[:, [1, 2]]])
    lengths = np.linalg.norm(wave.mesh.rest[edges[:, 0]] - wave.mesh.rest[edges[:, 1]], axis=1)
    jump = np.abs(values[:, edges[:, 0]] - values[:, edges[:, 1]]).max(axis=0)
    # A Gaussian of deviation w/2 is nowhere steeper than e^(−1/2)/(w/2); normalising by a sum of at least one of them
    # that falls as fast can double it.
    assert (jump / lengths).max() < 2 * np.exp(-0.5) / 0.15
    assert len(dependent_rows(tests.shell)) == 0
    take = track(wave, wave.mesh, tests, material=CLOTH, threads=1)
    assert take.report["residual"].max() < 1e-12
    assert gaussians(wave.mesh, 0.15).count > 2.5 * tests.count
    with pytest.raises(InputError, match="length above zero"):
        gaussians(wave.mesh, -1.0)


def test_gaussians_are_as_wide_as_asked() -> None:
    """On a thin strip the logarithm of two neighbours' ratio has the slope c/σ², c their distance: from w to 2 w."""
    width = 0.2
    strip = sheet(100, 1, 1.0, 1e-6)
    values = gaussians(strip, width).guide.toarray()[:, :101]  # the lower row
    values = values[np.argsort(values.argmax(axis=1))]
    x = strip.rest[:101, 0]
    for one, other in pairwise(values):
        shared = (one > 0) & (other > 0)
        slope = np.diff(np.log(other[shared] / one[shared])) / np.diff(x[shared])
        assert slope == pytest.approx(np.full(len(slope), slope[0]), rel=1e-3)
        assert width < slope[0] * (width / 2) ** 2 <= 2 * width


def test_gaussians_do_not_reach_across_a_gap() -> None:
    """Two sheets a millimetre apart are far from each other along the surface."""
    one = sheet(4, 4)
    faces = np.concatenate([one.faces, one.faces + one.point_count])
    both = TriMesh(np.concatenate([one.rest, one.rest + [0, 0, 1e-3]]), faces)
    values = gaussians(both, 0.5).guide.toarray() > 0
    below, above = values[:, : one.point_count].any(axis=1), values[:, one.point_count :].any(axis=1)
    assert not (below & above).any() and below.any() and above.any()


def blocks(mesh: TriMesh, shift: float) -> TestFunctions:
    """Nine blocks of the unit sheet, their borders along x moved."""
    column = np.clip((3 * (mesh.rest[:, 0] + shift)).astype(int), 0, 2)
    labels = 3 * column + np.clip((3 * mesh.rest[:, 1]).astype(int), 0, 2)
    return painted(mesh, labels, mesh, labels)


@pytest.mark.slow
def test_changing_regions_stay_exact_and_do_not_pop(wave: Animation) -> None:
    keys = [blocks(wave.mesh, shift) for shift in (0.0, 0.15)]
    tests = changing([(0.2, keys[0]), (0.8, keys[1])])
    take = track(wave, wave.mesh, tests, material=CLOTH, threads=1)
    assert take.report["residual"].max() < 1e-12
    _, end = keys[1].averages(wave.mesh, wave.mesh)
    assert np.allclose(end @ take.animation.points[-1], end @ wave.points[-1], atol=1e-12)
    _, begin = keys[0].averages(wave.mesh, wave.mesh)
    assert np.abs(begin @ take.animation.points[-1] - begin @ wave.points[-1]).max() > 1e-6  # no longer directed

    def push(tests) -> float:
        return np.abs(np.diff(track(wave, wave.mesh, tests, material=CLOTH, threads=1).velocities, axis=0)).max()

    usual = max(push(one) for one in keys)
    assert np.abs(np.diff(take.velocities, axis=0)).max() < 1.1 * usual
    assert push(changing([(0.5, keys[0]), (0.500001, keys[1])])) > 1.2 * usual  # all at once is felt


def test_regions_are_matched_to_those_they_overlap(wave: Animation) -> None:
    first = blocks(wave.mesh, 0.0)
    shuffled = first.only(np.array([3, 1, 0, 2, 8, 7, 6, 5, 4]))
    found = changing([(0.0, first), (1.0, shuffled)])
    assert abs(found.tests[1].shell - first.shell).max() == 0


def test_changing_regions_may_serve_several_meshes(wave: Animation) -> None:
    """Averages are those of the mesh they are asked for, not of the one asked for before."""
    keys = [blocks(wave.mesh, shift) for shift in (0.0, 0.15)]
    tests = changing([(0.0, keys[0]), (1.0, keys[1])])
    wider = wave.mesh.with_rest(wave.mesh.rest * (1.0 + wave.mesh.rest[:, :1]))
    for mesh in (wave.mesh, wider, wave.mesh):
        found, wanted = tests.averages_at(1.0, mesh, mesh)[1], keys[1].averages(mesh, mesh)[1]
        assert abs(found - wanted).max() < 1e-15


def test_changing_regions_must_correspond(wave: Animation) -> None:
    nine, four = clusters(wave, 9), clusters(wave, 4)
    for keys, story in [
        ([(0.0, nine)], "at least two keys"),
        ([(0.0, nine), (0.0, nine)], "increase in time"),
        ([(0.0, nine), (1.0, four)], "differ in regions"),
    ]:
        with pytest.raises(InputError, match=story):
            changing(keys)


def test_the_outline_is_held_and_the_rest_is_freer() -> None:
    """A tube seen from far away: regions on its left and right edge are exact, those in front are not."""
    flat = sheet(40, 20, 2.0, 1.0)
    angle = np.pi * flat.rest[:, 0]
    tube = TriMesh(np.stack([np.cos(angle), flat.rest[:, 1], np.sin(angle)], axis=1)[:, [0, 1, 2]], flat.faces)
    times = np.arange(9) / 24.0
    guide = Animation(tube, times, np.stack([tube.rest * [1 - 0.2 * t, 1, 1] for t in times]))
    regions = clusters(guide, 60, compactness=1.0)
    tests = silhouette(guide, regions, (0.0, 0.5, 50.0), elsewhere=0.1)
    assert tests.held is not None
    held, centre = tests.held(0.2), regions.averages(tube, tube)[0] @ tube.rest
    inside = (centre[:, 1] > 0.3) & (centre[:, 1] < 0.7)  # away from the open rims, which are outlines themselves
    assert held[inside & (np.abs(centre[:, 0]) > 0.95)].min() == 1.0
    assert held[inside & (np.abs(centre[:, 0]) < 0.3)].max() == pytest.approx(0.1)
    take = track(guide, tube, tests, material=CLOTH, gravity=(0, -9.81, 0), threads=1)
    residual = take.report["residual"][-1]
    assert residual[held == 1.0].max() < 1e-12 < 1e-5 < residual[held < 0.2].min()


def test_a_region_is_held_before_it_comes_to_the_outline_and_without_a_jump() -> None:
    """There at one frame: held wholly at that frame, and coming and going by a fifth a frame."""
    there = np.zeros((15, 1))
    there[7] = 1.0
    held = _smoothed(there)[:, 0]
    assert held == pytest.approx([0] * 3 + [0.2, 0.4, 0.6, 0.8, 1.0, 0.8, 0.6, 0.4, 0.2] + [0] * 3)


def test_bad_cameras_are_refused(wave: Animation) -> None:
    tests = clusters(wave, 9)
    for camera, elsewhere, story in [((0, 1), 0.2, "three finite"), ((0, 0, 9), 2.0, "between 0 and 1")]:
        with pytest.raises(InputError, match=story):
            silhouette(wave, tests, camera, elsewhere=elsewhere)
    with pytest.raises(InputError, match="strength of their own"):
        silhouette(wave, scales(wave, [(0, 0.5), (1, 0.2)]), (0, 0, 9))


@pytest.mark.parametrize("seed", range(4))
def test_dependent_rows_leave_a_basis(seed: int) -> None:
    """Random sparse rows with known combinations added: what remains spans the same and is independent."""
    random = np.random.default_rng(seed)
    base = (random.random((6, 30)) < 0.3) * random.random((6, 30))
    extra = random.normal(size=(3, 6)) @ base
    rows = np.concatenate([base, extra])[random.permutation(9)]
    double = dependent_rows(sparse.csr_array(rows))
    kept = np.delete(rows, double, axis=0)
    assert len(double) == 3 and np.linalg.matrix_rank(kept) == 6 == np.linalg.matrix_rank(rows)


def test_regions_that_are_nearly_alike_are_kept() -> None:
    """Two functions at an angle of a thousandth say different things; at a millionth they are one to the solver."""
    one, other = np.random.default_rng(0).normal(size=(2, 30))
    other -= (one @ other) / (one @ one) * one
    other *= np.linalg.norm(one) / np.linalg.norm(other)
    for angle, count in ((1e-3, 0), (1e-6, 1)):
        assert len(dependent_rows(sparse.csr_array(np.stack([one, one + angle * other])))) == count


def test_regions_said_twice_are_named_and_left_out(wave: Animation, caplog: pytest.LogCaptureFixture) -> None:
    labels = (wave.mesh.rest[:, 0] > 0.5).astype(int)
    halves = painted(wave.mesh, labels, wave.mesh, labels)
    whole = sparse.csr_array(np.ones((1, wave.mesh.point_count)))
    rows = sparse.vstack([whole, halves.guide, halves.guide[[1]]])
    tests = TestFunctions(rows, rows, halves.prolongation, names=("all", "left", "right", "right again"))
    with caplog.at_level(logging.WARNING):
        take = track(wave, wave.mesh, tests, material=CLOTH, threads=1)
    assert "2 of 4 regions follow from others" in caplog.text
    assert "left out: all, right again" in caplog.text  # parts are kept and not their union, and of equals the first
    assert take.report["residual"].shape == (25, 2) and take.report["residual"].max() < 1e-12
    assert take.report["converged"].all()


def test_any_coarse_guide_drives_any_fine_mesh() -> None:
    """A fine sheet that is no subdivision of its guide, a little above it: averages met, rigid motion kept rigid."""
    coarse = sheet(3, 2, 1.5, 1.0)
    fine = sheet(13, 9, 1.5, 1.0)
    fine = fine.with_rest(fine.rest + [0.0, 0.0, 0.05])
    times = np.arange(9) / 24.0
    turned = []
    for t in times:
        c, s = np.cos(3 * t), np.sin(3 * t)
        turned.append(coarse.rest @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + [0.0, t, 0.0])
    guide = Animation(coarse, times, np.stack(turned))
    shell, tests = hierarchy(coarse, shell=fine)
    assert shell is fine and tests.count == coarse.point_count
    take = track(guide, fine, tests, material=CLOTH, gravity=(0, 0, 0), mass="consistent", substeps=1, threads=1,
                 tolerance=1e-10)  # fmt: skip
    assert take.report["residual"].max() < 1e-11
    assert np.allclose(take.animation.points[0], embed(fine, coarse).points(guide.points[0]), atol=1e-12)
    lengths = np.linalg.norm(np.diff(take.animation.points[-1][fine.faces[:, :2]], axis=1)[:, 0], axis=1)
    rest = np.linalg.norm(np.diff(fine.rest[fine.faces[:, :2]], axis=1)[:, 0], axis=1)
    assert np.abs(lengths / rest - 1).max() < 1e-2  # spinning cloth pulls outward a little


def test_a_shell_that_hangs_on_its_guide_begins_with_its_velocity() -> None:
    """Guide and shell turn about the origin with ω: v = ω × x, also beside the guide."""
    coarse, fine = sheet(3, 2, 1.5, 1.0), sheet(7, 5, 1.5, 1.0)
    fine = fine.with_rest(fine.rest + [0.0, 0.0, 0.05])
    turn, times = np.array([0.0, 0.0, 2.0]), np.arange(5) / 96.0
    poses = [Rotation.from_rotvec(turn * time).apply(np.array(coarse.rest)) for time in times]
    shell, tests = hierarchy(coarse, shell=fine)
    job = tracking_job(Animation(coarse, times, np.stack(poses)), shell, tests, material=CLOTH, threads=1)
    found, wanted = job.start.velocity.reshape(-1, 3), np.cross(turn, fine.rest)
    moving = Animation(coarse, times, np.stack(poses)).velocity(0.0) - np.cross(turn, coarse.rest)
    assert np.abs(wanted).max() > 2.0
    assert np.abs(found - wanted).max() < 2.0 * np.abs(moving).max() + 1e-6  # as good as the guide's own


def test_guide_vertices_that_reach_no_shell_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    coarse, patch = sheet(6, 6, 6.0, 6.0), sheet(8, 8, 1.0, 1.0)
    with caplog.at_level(logging.WARNING):
        _, tests = hierarchy(coarse, shell=patch)
    assert tests.count == 4 and "reach no vertex of the shell" in caplog.text
    with pytest.raises(InputError, match="either levels or a shell"):
        hierarchy(coarse)
