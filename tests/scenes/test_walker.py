"""The walker: a sound body of about the paper's size, feet that stand still, regions that are finer there."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, painted
from bunraku.contracts import Array
from bunraku.geometry import edges, face_areas
from bunraku.scenes import walker_mesh, walker_regions, walking_x
from bunraku.scenes.level_set import even_surface
from bunraku.scenes.walker import BODY_REGIONS, STEPS, performance, pose
from bunraku.scenes.walker_body import ANKLE, BALL, HEEL, HIP, KNEE
from bunraku.scenes.walker_feet import ROLL_OFF, ROLL_ON, foot_path
from bunraku.scenes.walker_rig import BONES, skin_weights


@pytest.fixture(scope="module")
def guide() -> Animation:
    return walking_x()


@pytest.fixture(scope="module")
def weights() -> Array:
    return skin_weights(walker_mesh())


@pytest.mark.slow
def test_the_body_is_sound_and_even(checks) -> None:
    """The paper's has 3,038 vertices; another machine's last bits may flip an edge or two while remeshing."""
    mesh = walker_mesh()
    assert mesh.point_count == pytest.approx(3038, rel=0.01)
    checks.body(mesh, borders=0)
    ends = mesh.rest[edges(mesh.faces).vertices]
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert np.percentile(length, 99) < 1.5 * np.median(length) and np.percentile(length, 1) > 0.5 * np.median(length)
    assert mesh.rest[:, 1].min() == pytest.approx(0.0, abs=1e-3)


def test_a_sphere_by_the_same_way_has_its_area() -> None:
    """A sphere of radius r: chords of length e fall short of it by at most e²/8r, so areas by about e²/4r²."""
    mesh = even_surface(lambda x: np.linalg.norm(x, axis=1) - 0.3, np.full(3, -0.3), np.full(3, 0.3), 0.05)
    assert np.linalg.norm(mesh.rest, axis=1) == pytest.approx(np.full(mesh.point_count, 0.3), abs=1e-9)
    exact = 4.0 * np.pi * 0.3**2
    area = float(face_areas(mesh.rest, mesh.faces).sum())
    assert exact * (1.0 - (4 / 3 * 0.05) ** 2 / (4 * 0.3**2)) < area < exact
    assert set(edges(mesh.faces).face_count.tolist()) == {2}


@pytest.mark.slow
def test_no_pops(checks) -> None:
    checks.no_pops(walking_x, (36.0, 144.0))


def test_weights_are_shares_and_soles_are_the_feet_s_alone(weights: Array) -> None:
    assert weights.min() >= 0 and weights.sum(axis=1) == pytest.approx(np.ones(len(weights)), abs=1e-12)
    sole = walker_mesh().rest[:, 1] < 0.05
    feet = [k for k, name in enumerate(BONES) if name.startswith(("foot", "toe"))]
    assert weights[sole][:, feet].sum(axis=1) == pytest.approx(np.ones(int(sole.sum())), abs=1e-12)


@pytest.mark.parametrize(("side", "sign"), [("L", 1.0), ("R", -1.0)])
def test_a_planted_foot_does_not_slide(guide: Animation, weights: Array, side: str, sign: float) -> None:
    """Flat: the whole foot stands still. On the ball: the toes do. On the heel: the heel's point does."""
    foot, toe = BONES.index(f"foot {side}"), BONES.index(f"toe {side}")
    sole = np.flatnonzero(weights[:, [foot, toe]].sum(axis=1) > 1.0 - 1e-12)
    toes = np.flatnonzero(weights[:, toe] > 1.0 - 1e-12)
    assert len(sole) > 100 and len(toes) > 5
    stands = [0.0, *(step.land + ROLL_ON for step in STEPS[side])]
    leaves = [*(step.lift - ROLL_OFF for step in STEPS[side]), np.inf]
    for begin, end in zip(stands, leaves, strict=True):
        planted = (guide.times >= begin) & (guide.times <= end)
        assert planted.sum() > 3
        assert np.ptp(guide.points[planted][:, sole], axis=0).max() < 1e-12
    for step in STEPS[side]:
        on_ball = (guide.times >= step.lift - ROLL_OFF) & (guide.times < step.lift)
        assert np.ptp(guide.points[on_ball][:, toes], axis=0).max() < 1e-12
        assert np.ptp(guide.points[on_ball][:, sole], axis=0).max() > 0.03  # while the heel rises
    times = np.linspace(0.0, 5.0, 2001)
    path = foot_path(times, STEPS[side])
    for step in STEPS[side]:
        on_heel = (times >= step.land) & (times < step.land + ROLL_ON)
        pitch = path.pitch[on_heel]
        assert pitch.min() < -0.2
        away = HEEL[2] - BALL[2]
        heel = path.ball[on_heel][:, 1:] + np.stack([-np.sin(pitch), np.cos(pitch)], axis=1) * away
        assert heel == pytest.approx(np.tile([0.0, HEEL[2] + step.to], (len(heel), 1)), abs=1e-12)


def test_legs_always_reach_their_feet(guide: Animation) -> None:
    feet = {side: foot_path(guide.times, steps) for side, steps in STEPS.items()}
    channels = performance(guide.times)
    hip, knee, ankle = np.array(HIP), np.array(KNEE), np.array(ANKLE)
    long = np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee)
    poses = [pose(channels, feet, k) for k in range(guide.frame_count)]
    for side in "LR":
        thigh, foot = BONES.index(f"thigh {side}"), BONES.index(f"foot {side}")
        reach = [np.linalg.norm(one.places[thigh] - one.places[foot]) for one in poses]
        assert max(reach) < 0.995 * long


@pytest.mark.slow
def test_280_regions_finer_on_the_feet(guide: Animation) -> None:
    labels = walker_regions(guide)
    mesh = guide.mesh
    assert painted(mesh, labels, mesh, labels).count == 280
    areas = np.bincount(labels, face_areas(mesh.rest, mesh.faces))
    assert np.median(areas[BODY_REGIONS:]) < 0.6 * np.median(areas[:BODY_REGIONS])
    assert (labels == walker_regions(guide)).all()
