"""Heat weights and skinning: the laws they keep."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from bodies import chain, tube
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh, cotangent_laplacian, subdivide
from bunraku.rigs import Motion, Rig, Skeleton, skinned
from bunraku.rigs.visibility import first_hits, nearest_seen, on_bones


def two_bones() -> Rig:
    return bk.bind(tube(), chain([0.0, 0.5], 0.5), threads=1)


def test_weights_are_shares() -> None:
    weights = two_bones().weights.toarray()
    assert (weights >= 0).all() and (weights <= 1).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-14)


def test_weights_solve_the_heat_equation() -> None:
    """On a thin tube w'' = (w − p) / r² along the axis: half a bone's weight decays as exp(−|y| / r)."""
    radius = 0.02
    mesh = tube(radius=radius, along=400, around=24)
    rig = bk.bind(mesh, chain([0.0, 0.5], 0.5), threads=1)
    weight, y = rig.weights.toarray()[:, 0], mesh.rest[:, 1] - 0.5
    exact = np.where(y < 0, 1.0 - 0.5 * np.exp(-np.abs(y) / radius), 0.5 * np.exp(-np.abs(y) / radius))
    middle = np.abs(y) < 0.4  # the ends are closed by caps
    # Rings are 2.5 mm apart: second differences of exp(−y / r) are off by h² / 12 r² = 0.13 %, the polygon of 24
    # sides by 0.9 % in area and curvature. A corner of p within one ring adds h / 4r = 3 %.
    assert np.abs(weight - exact)[middle].max() < 0.04


def test_the_nearest_bone_holds_its_middle() -> None:
    mesh, rig = tube(radius=0.05), bk.bind(tube(radius=0.05), chain([0.0, 0.5], 0.5), threads=1)
    weights = rig.weights.toarray()
    # 0.25 m from the other bone, exp(−0.25 / 0.05) / 2 of its heat arrives: 0.3 %.
    for joint, height in ((0, 0.25), (1, 0.75)):
        near = np.abs(mesh.rest[:, 1] - height) < 0.01
        assert near.any() and (weights[near, joint] > 0.99).all()


def test_mirrored_bodies_have_mirrored_weights() -> None:
    mesh = tube(along=40, around=16)
    weights = bk.bind(mesh, chain([0.0, 0.5], 0.5), threads=1).weights.toarray()
    for mirror in ([-1, 1, 1], [1, 1, -1], [1, -1, 1]):
        image = mesh.rest * mirror + ([0, 1, 0] if mirror[1] < 0 else [0, 0, 0])
        partner = np.argmin(np.linalg.norm(mesh.rest[None] - image[:, None], axis=2), axis=1)
        np.testing.assert_allclose(mesh.rest[partner], image, atol=1e-12)
        swapped = weights[:, ::-1] if mirror[1] < 0 else weights
        np.testing.assert_allclose(weights[partner], swapped, atol=2e-6)  # weights below 1e-6 are left out


def test_finer_meshes_have_the_same_weights() -> None:
    coarse = tube(along=60, around=12)
    fine, _ = subdivide(coarse, 2)
    skeleton = chain([0.0, 0.5], 0.5)
    before, after = (bk.bind(one, skeleton, threads=1).weights.toarray() for one in (coarse, fine))
    # Linear elements of 1.7 cm on heat that decays over 10 cm: (h / r)² / 12 = 0.2 %; the corner at the joint h / 4r.
    assert np.abs(after[: coarse.point_count] - before).max() < 0.05
    # And they do blend: a radius beyond the joint the lower bone still has half of 1 / e.
    beyond = np.abs(coarse.rest[:, 1] - 0.6) < 0.01
    for weights in (before, after):
        assert np.abs(weights[: coarse.point_count][beyond, 0] - 0.5 / np.e).max() < 0.05


def test_each_joint_holds_one_piece() -> None:
    mesh = tube(along=60)
    weights = bk.bind(mesh, chain([0.0, 0.3, 0.6], 0.4), threads=1).weights.toarray()
    edges = cotangent_laplacian(mesh)
    for joint in range(3):
        own = np.flatnonzero(weights[:, joint] > 0.5)
        assert len(own) > 50 and connected_components(edges[own][:, own], directed=False)[0] == 1


def test_one_factor_serves_all_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.rigs import binding

    made = []

    def counting(**options):
        solver = original(**options)
        made.append(solver)
        factor = solver.factor
        monkeypatch.setattr(solver, "factor", lambda values: (made.append("factor"), factor(values))[1])
        return solver

    original = binding.choose
    monkeypatch.setattr(binding, "choose", counting)
    bk.bind(tube(), chain([0.0, 0.2, 0.4, 0.6], 0.4), threads=1)
    assert made.count("factor") == 1


def test_a_rigid_motion_of_the_root_is_one_of_the_mesh() -> None:
    mesh, still = tube(), chain([0.0, 0.5], 0.5, samples=4)
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_quat(np.random.default_rng(5).normal(size=(4, 4))).as_matrix()
    shifts = np.random.default_rng(5).normal(size=(4, 3))
    local = still.motion.local(still.times)
    local[:, 0, :3, :3], local[:, 0, :3, 3] = turns, shifts
    rig = bk.bind(mesh, replace(still, motion=Motion.of(still.times, local)), threads=1)
    expected = mesh.rest @ turns.transpose(0, 2, 1) + shifts[:, None]
    np.testing.assert_allclose(rig.animation().points, expected, atol=1e-14)


def test_the_bind_pose_is_the_mesh() -> None:
    rig = two_bones()
    np.testing.assert_allclose(rig.posed(0.0), rig.mesh.rest, atol=1e-15)


def test_bones_behind_a_wall_warm_nothing() -> None:
    """Two tubes side by side, a bone in each: nothing crosses over, though the other bone is near."""
    left, right = tube(radius=0.1), tube(radius=0.02)
    gap = 0.13
    mesh = TriMesh(np.concatenate([left.rest, right.rest + [gap, 0, 0]]),
                   np.concatenate([left.faces, right.faces + left.point_count]))  # fmt: skip
    one = chain([0.0], 1.0)
    bind = np.concatenate([one.bind, one.bind])
    bind[1, 0, 3] = gap
    still = Motion.of(np.zeros(1), np.tile(np.eye(4), (1, 2, 1, 1)))
    skeleton = Skeleton(("a", "b"), np.array([-1, -1]), bind, still, np.arange(2), np.repeat(one.tips, 2, axis=0), 24.0)
    _, distances = on_bones(mesh.rest, skeleton.bones().heads, skeleton.bones().tails)
    nearer = (distances[:, 1] < distances[:, 0])[: left.point_count]
    assert nearer.any()  # some of the thick tube is nearer to the thin one's bone
    weights = bk.bind(mesh, skeleton, threads=1).weights.toarray()
    assert (weights[: left.point_count, 0] == 1).all() and (weights[left.point_count :, 1] == 1).all()


def test_inside_a_convex_body_all_is_seen_and_from_outside_nothing() -> None:
    mesh = tube(along=6, around=7)
    for target, sight in (
        ([0.0, 0.5, 0.0], True),
        ([0.05, 0.9, -0.03], True),
        ([0.3, 0.5, 0.0], False),
        ([0, 1.4, 0], False),
    ):
        places = np.broadcast_to(np.array(target, dtype=np.float64), (mesh.point_count, 1, 3))
        distances = np.linalg.norm(places[:, 0] - mesh.rest, axis=1)[:, None]
        assert (nearest_seen(mesh, places, distances, 0.0) == sight).all()


def test_rays_meet_the_surface_first_where_it_is() -> None:
    mesh = tube(along=6, around=7)
    rays = np.array([[1.0, 0, 0], [0, 2.0, 0], [0, -0.25, 0]])
    met = first_hits(mesh, np.tile([[0.0, 0.5, 0.0]], (3, 1)), rays)
    side = 0.1 * np.cos(np.pi / 7)  # rays meet flat sides between this and the radius
    assert side <= met[0] <= 0.1 and met[1] == pytest.approx(0.25) and met[2] == np.inf


def test_sheets_that_see_no_bone_follow_the_nearest(caplog: pytest.LogCaptureFixture) -> None:
    whole = tube()
    apart = whole.with_rest(whole.rest + [1.0, 0, 0])
    with caplog.at_level(logging.WARNING):
        rig = bk.bind(apart, chain([0.0, 0.5], 0.5), threads=1)
    assert "see no bone" in caplog.text
    weights = rig.weights.toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    low = weights[whole.rest[:, 1] < 0.02, 0].mean()
    assert low > 0.5 > weights[whole.rest[:, 1] > 0.98, 0].mean()


def test_loose_vertices_and_flat_faces_are_bound() -> None:
    body = tube(along=6, around=7)
    faces = np.concatenate([body.faces, [[0, 1, 1]], [[0, 1, 2]]])
    odd = TriMesh(np.concatenate([body.rest, [[0.0, 2.0, 0.0]]]), faces)
    weights = bk.bind(odd, chain([0.0, 0.5], 0.5), threads=1).weights.toarray()
    assert np.isfinite(weights).all()
    assert weights[-1].tolist() == [0.0, 1.0]


def test_what_cannot_be_bound_is_refused() -> None:
    with pytest.raises(InputError, match="without faces"):
        bk.bind(TriMesh(np.eye(3), np.zeros((0, 3), np.int64)), chain([0.0], 1.0))
    bad = tube().rest.copy()
    bad[3] = np.nan
    with pytest.raises(InputError, match="finite"):
        bk.bind(tube().with_rest(bad), chain([0.0], 1.0))
    rig = two_bones()
    with pytest.raises(InputError, match="add up to 1"):
        Rig(rig.mesh, rig.skeleton, rig.weights * 1.1)
    with pytest.raises(InputError, match="shape"):
        Rig(rig.mesh, rig.skeleton, rig.weights[:, :1])


def test_skinning_is_the_weighted_sum() -> None:
    random = np.random.default_rng(2)
    points, moves = random.normal(size=(9, 3)), random.normal(size=(5, 4, 3, 4))
    weights = random.uniform(size=(9, 4)) * (random.uniform(size=(9, 4)) > 0.4)
    ones = np.column_stack([points, np.ones(9)])
    expected = np.einsum("nj,tjik,nk->tni", weights, moves, ones)
    np.testing.assert_allclose(skinned(points, sparse.csr_array(weights), moves), expected, atol=1e-13)


def test_animations_are_sampled_at_times_or_a_rate() -> None:
    rig = bk.bind(tube(along=4, around=6), chain([0.0, 0.5], 0.5, samples=11), threads=1)
    assert rig.animation().times.tolist() == rig.skeleton.times.tolist()
    np.testing.assert_allclose(rig.animation(rate=4).times, [0, 0.25, 0.5, 0.75, 1.0])
    assert rig.animation(np.array([0.3, 0.9])).frame_count == 2
    with pytest.raises(InputError, match="not both"):
        rig.animation(np.array([0.3]), rate=4)
    with pytest.raises(InputError, match="positive"):
        rig.animation(rate=0.0)
