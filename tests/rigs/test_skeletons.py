"""Skeletons: poses between samples, bones, units, fitting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bodies import chain, tube
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from bunraku.contracts import InputError
from bunraku.rigs import Motion, Skeleton
from bunraku.rigs.rotations import matrices, parted, product, slerp


def moving(seed: int = 0, samples: int = 5) -> Skeleton:
    """A chain of three joints that turn, shift and (the last) stretch at random."""
    random = np.random.default_rng(seed)
    still = chain([0.0, 0.4, 0.7], 0.3, samples)
    local = still.motion.local(still.times)
    local[..., :3, :3] = (
        Rotation.from_quat(np.random.default_rng(seed).normal(size=(samples * 3, 4)))
        .as_matrix()
        .reshape(samples, 3, 3, 3)
    )
    local[:, 2, :3, :3] *= random.uniform(0.5, 1.5, (samples, 1, 1))
    local[:, 0, :3, 3] = random.normal(size=(samples, 3))
    return replace(still, motion=Motion.of(still.times, local))


def test_samples_are_met_exactly_and_worlds_chain() -> None:
    skeleton = moving()
    local = skeleton.motion.local(skeleton.times)
    for k, time in enumerate(skeleton.times):
        pose = skeleton.pose(time)
        slow = [local[k, 0], local[k, 0] @ local[k, 1], local[k, 0] @ local[k, 1] @ local[k, 2]]
        np.testing.assert_allclose(pose, slow, atol=1e-15)
    assert (skeleton.pose(-1.0) == skeleton.pose(0.0)).all() and (skeleton.pose(9.0) == skeleton.pose(0.4)).all()


def test_between_samples_turns_run_evenly_on_the_shorter_arc() -> None:
    skeleton = moving()
    turns = Rotation.from_quat(skeleton.motion.rotations[:2, 1])
    whole = (turns[0].inv() * turns[1]).as_rotvec()
    for share in (0.1, 0.5, 0.77):
        local = skeleton.motion.local(np.array([0.1 * share]))[0, 1]
        expected = turns[0] * Rotation.from_rotvec(share * whole)
        np.testing.assert_allclose(local[:3, :3], expected.as_matrix(), atol=1e-12)
    shift = skeleton.motion.translations
    np.testing.assert_allclose(skeleton.pose(0.025)[0, :3, 3], 0.75 * shift[0, 0] + 0.25 * shift[1, 0], atol=1e-12)


@given(st.integers(0, 10_000))
def test_any_transform_is_a_turn_and_a_stretch(seed: int) -> None:
    linear = np.random.default_rng(seed).normal(size=(4, 3, 3))  # mirrored as often as not
    turn, rest = parted(linear)
    np.testing.assert_allclose(matrices(turn) @ rest, linear, atol=1e-12)
    np.testing.assert_allclose(rest, np.swapaxes(rest, 1, 2), atol=1e-12)


def test_products_and_arcs_are_those_of_scipy() -> None:
    a, b = (
        Rotation.from_quat(np.random.default_rng(1).normal(size=(20, 4))),
        Rotation.from_quat(np.random.default_rng(2).normal(size=(20, 4))),
    )
    np.testing.assert_allclose(matrices(product(a.as_quat(), b.as_quat())), (a * b).as_matrix(), atol=1e-14)
    for share in (0.0, 1.0):
        ends = matrices(slerp(a.as_quat(), -b.as_quat(), np.full((20, 1), share)))
        np.testing.assert_allclose(ends, (b if share else a).as_matrix(), atol=1e-14)


def test_bones_without_length_are_left_out() -> None:
    skeleton = chain([0.0, 0.0, 0.5], 0.0)  # the first two joints in one place, the tip on the last
    bones = skeleton.bones()
    assert bones.joints.tolist() == [1, 2]
    np.testing.assert_allclose(bones.tails - bones.heads, [[0, 0.5, 0], [0, 0, 0]])


def test_scaling_and_turning_carry_bind_pose_and_motion_alike() -> None:
    skeleton = moving(3)
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4]).as_matrix()
    out = skeleton.scaled(2.0).turned(turn)
    for a, b in ((skeleton.bind, out.bind), (skeleton.pose(0.13), out.pose(0.13))):
        np.testing.assert_allclose(b[:, :3, 3], 2.0 * a[:, :3, 3] @ turn.T, atol=1e-13)
        np.testing.assert_allclose(b[:, :3, :3], turn @ a[:, :3, :3], atol=1e-13)


def test_cutting_keeps_times() -> None:
    part = moving().cut(1, 3)
    assert part.times.tolist() == moving().times[1:4].tolist()
    assert (part.pose(0.2) == moving().pose(0.2)).all()
    with pytest.raises(InputError, match="0 to 4"):
        moving().cut(2, 5)


def test_fitting_finds_height_floor_and_the_middle_of_a_limb() -> None:
    body = tube(length=2.0, radius=0.04)
    moved = body.with_rest(body.rest + [0.3, 1.0, -0.2])
    askew = chain([0.0, 0.5], 0.5)
    bind = askew.bind.copy()
    bind[1, 0, 3] = 0.015  # the second joint off the axis
    askew = replace(askew, bind=bind)
    skeleton = askew.fitted(moved)
    ends = np.concatenate([skeleton.bones().heads, skeleton.bones().tails[-1:]])
    np.testing.assert_allclose(ends[:, 1], [1.0, 2.0, 3.0], atol=0.02)  # ends lie a little inside the caps
    np.testing.assert_allclose(ends[1, [0, 2]], [0.3, -0.2], atol=2e-3)
    # Bones of the motion grow as those of the bind pose do: 2 for the height, and what the joints moved.
    before, after = (np.diff(one.bind[:, :3, 3], axis=0)[0] for one in (askew.scaled(2.0), skeleton))
    grown = skeleton.motion.translations[0, 1] - askew.scaled(2.0).motion.translations[0, 1]
    np.testing.assert_allclose(grown, after - before, atol=1e-14)


def test_what_cannot_be_fitted_is_refused() -> None:
    flat = tube().with_rest(tube().rest * [1.0, 0.0, 1.0])
    with pytest.raises(InputError, match="without height"):
        chain([0.0, 0.5], 0.5).fitted(flat)


def test_skeletons_that_are_none_are_refused() -> None:
    whole = chain([0.0, 0.5], 0.5)
    with pytest.raises(InputError, match="come before"):
        replace(whole, parents=np.array([1, -1]))
    with pytest.raises(InputError, match="without size or place"):
        replace(whole, bind=np.zeros((2, 4, 4)))
