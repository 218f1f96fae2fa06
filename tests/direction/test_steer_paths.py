"""Steered paths: exact, consistent in velocity, two ways to hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import BAR, JELLY, LEFT, LENGTH, MIDDLE, RIGHT, TOSSED, run

from bunraku.contracts import Array, InputError, Integers, PhysicsStopped
from bunraku.direction import Pin, Take
from bunraku.direction.steer import Body, steer, steering_job
from bunraku.direction.steer.turning import OFFSET
from bunraku.energies import mean_rotation
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_masses
from bunraku.motion import HOLDS, Hold, Path

TIMES = np.arange(6) * 0.1
ARC = np.stack([TIMES, 0.3 * np.sin(6.0 * TIMES), 0.2 * TIMES**2], axis=1)
TURNS = Rotation.from_rotvec(np.outer(TIMES, [0.0, 3.0, 2.0])).as_matrix()
MASS = tet_lumped_mass(BAR, JELLY.density)


def centres(points: Array) -> Array:
    """(t, 3) of the mass."""
    return np.einsum("n,tni->ti", MASS / MASS.sum(), points)


@pytest.mark.slow
@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("kind", ["whole", "turning", "part"])
def test_a_path_equal_to_the_free_motion_changes_nothing(hold: Hold, kind: str) -> None:
    free = run(velocity=TOSSED, tolerance=1e-9)
    assert free.report["elastic"].max() > 0.1  # it does swing
    vertices = MIDDLE if kind == "part" else None
    path = Path.recorded(free, vertices, turning=kind == "turning", hold=hold)
    take = run(velocity=TOSSED, tolerance=1e-9, path=path)
    assert np.abs(take.animation.points - free.animation.points).max() < 1e-8 * BAR.size
    assert np.abs(take.report["force"]).max() < 1e-6 * MASS.sum() * 9.81
    other = run(velocity=TOSSED, tolerance=1e-9, path=path.moved(6, path.points[6] + [0.01, 0.0, 0.0]))
    assert np.abs(other.animation.points - free.animation.points).max() > 1e-3  # the test can tell


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("vertices", [None, MIDDLE])
def test_the_directed_point_is_on_its_path(hold: Hold, vertices: Integers | None, substeps: int) -> None:
    path = Path(TIMES, ARC, vertices, hold=hold)
    take = run(path=path, substeps=substeps)
    chosen = np.arange(BAR.point_count) if vertices is None else vertices
    share = MASS[chosen] / MASS[chosen].sum()
    there = np.einsum("v,tvi->ti", share, take.animation.points[:, chosen])
    goal = np.stack([path.at(t) for t in take.animation.times])
    assert np.abs(there - goal).max() < 1e-9 * BAR.size
    assert take.report["residual"].max() < 1e-9 * BAR.size and take.report["held"].all()


@pytest.mark.parametrize("hold", HOLDS)
def test_the_body_turns_as_the_path_says(hold: Hold) -> None:
    """By the orthonormalised mean of the element rotations, whatever the strain."""
    take = run(path=Path(TIMES, ARC, rotations=TURNS, hold=hold))
    masses = tet_masses(BAR)
    for k in range(0, 13, 3):
        turn = mean_rotation(take.animation.points[k], BAR.rest, BAR.tets, masses)
        path = Path(TIMES, ARC, rotations=TURNS)
        assert np.abs(turn - path.rotation(float(take.animation.times[k]))).max() < 1e-9
    assert take.report["rotation_residual"].max() < 1e-9 and take.report["residual"].max() < 1e-9
    assert take.report["elastic"].max() > 1e-3


def test_both_holds_are_one_for_the_centre_of_mass() -> None:
    """Two routes to one number: a force on every mass alike, and a shift of all of it."""
    takes = [run(path=Path(TIMES, ARC, hold=hold), velocity=TOSSED, tolerance=1e-9) for hold in HOLDS]
    assert np.abs(takes[0].animation.points - takes[1].animation.points).max() < 1e-10
    assert np.allclose(takes[0].report["force"], takes[1].report["force"], rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("hold", HOLDS)
def test_velocity_is_the_integrators(hold: Hold) -> None:
    """Frame to frame, and without jitter: a continuous acceleration changes half as much in steps half as long."""
    jumps = []
    for rate in (48.0, 96.0):
        take = run(path=Path(TIMES, ARC, rotations=TURNS, hold=hold), rate=rate)
        moved = np.diff(take.animation.points, axis=0) * rate
        assert np.allclose(take.velocities[1:], moved, rtol=0, atol=1e-9)
        acceleration = np.diff(centres(take.velocities), axis=0) * rate
        jumps.append(float(np.abs(np.diff(acceleration, axis=0)).max()))
    assert jumps[1] < 0.7 * jumps[0]


def test_one_tetrahedron_pulls_the_rest_along() -> None:
    """Fig. 6: with the whole body directed it goes stiffly, with one tetrahedron it is drawn and lags behind."""
    times, way = np.array([0.0, 0.25, 0.5]), np.array([[0.0, 0, 0], [0.3, 0, 0], [0.9, 0, 0]])
    for hold in HOLDS:
        weights = MASS[MIDDLE] / MASS[MIDDLE].sum()
        part = run(path=Path(times, weights @ BAR.rest[MIDDLE] + way, MIDDLE, hold=hold), gravity=(0, 0, 0))
        whole = run(path=Path(times, MASS @ BAR.rest / MASS.sum() + way, hold=hold), gravity=(0, 0, 0))
        assert whole.report["elastic"].max() < 1e-9 < 1e-3 < part.report["elastic"].max()
        behind = weights @ part.animation.points[-1][MIDDLE] - centres(part.animation.points)[-1]
        assert behind[0] > 0.005  # the rest comes after


def test_a_path_lets_go_after_its_last_sample_and_takes_hold_with_its_first() -> None:
    path = Path(np.array([0.125, 0.25]), np.array([[0.3, 0.1, 0.1], [0.4, 0.1, 0.1]]))
    for hold in HOLDS:
        take = run(path=Path(path.times, path.points, hold=hold))
        assert take.report["held"][:, 0].tolist() == [0.125 <= t <= 0.25 for t in take.animation.times]
        assert take.report["residual"].max() < 1e-9
        fall = np.diff(centres(take.velocities)[6:], axis=0) * 24.0
        assert np.allclose(fall[1:], [0, -9.81, 0], atol=1e-6)
        assert any("before and after that the body is free" in one for one in take.facts["warnings"])
        assert np.abs(take.report["force"][8:]).max() == 0.0
        assert any("fetched within a step" in one for one in take.facts["warnings"])


def test_where_it_begins_and_how_fast() -> None:
    """The rest shape is brought to the path, with the path's own velocity and spin."""
    take = run(path=Path(TIMES, ARC + [5.0, 0.0, 0.0], rotations=TURNS), gravity=(0, 0, 0), duration=1 / 24)
    assert np.allclose(centres(take.animation.points)[0], [5.0, 0.0, 0.0], atol=1e-12)
    arm = take.animation.points[0] - centres(take.animation.points)[0]
    start = Path(TIMES, ARC).velocity(0.0) + np.cross([0.0, 3.0, 2.0], arm)
    assert np.abs(take.velocities[0] - start).max() < 0.4  # but for half a step of acceleration
    assert take.report["held"].all()


def test_momentum_is_kept_without_paths_and_bytes_repeat() -> None:
    takes = [run(velocity=TOSSED, gravity=(0, 0, 0)) for _ in range(2)]
    assert takes[0].animation.points.tobytes() == takes[1].animation.points.tobytes()
    linear = np.einsum("n,tni->ti", MASS, takes[0].velocities)
    assert np.abs(linear - linear[0]).max() < 1e-9 * np.abs(linear[0]).max()
    held = [run(path=Path(TIMES, ARC, rotations=TURNS)) for _ in range(2)]
    assert held[0].animation.points.tobytes() == held[1].animation.points.tobytes()


def test_several_paths() -> None:
    """Two ends go two ways; the body begins where both do."""
    times, ends = np.array([0.0, 0.5]), []
    for part, side in ((LEFT, -0.02), (RIGHT, 0.02)):
        at = MASS[part] @ BAR.rest[part] / MASS[part].sum()
        ends.append(Path(times, np.stack([at + [side, 1.0, 0.0], at + [2.0 * side, 1.1, 0.0]]), part))
    take = run(path=ends)
    assert take.report["residual"].shape == (13, 2) and take.report["residual"].max() < 1e-9
    assert take.report["elastic"][0] > 1e-3  # stretched from the first frame on


def test_paths_that_would_put_each_other_off_are_refused() -> None:
    """What is put right after the step is put right last, and another one wrong."""
    here = Path(np.zeros(1), centres(BAR.rest[None]), hold="compensation")
    part = Path(np.zeros(1), BAR.rest[RIGHT].mean(axis=0)[None], RIGHT)
    for other in (part, replace(part, hold="compensation")):
        with pytest.raises(InputError, match="would put others wrong"):
            run(path=[here, other])
    with pytest.raises(InputError, match="is put off its pins"):
        run(path=here, pins=Pin(LEFT))


def spun(spin: float, body: TetMesh = BAR, **given: Any) -> Take[TetMesh]:
    """A bar, turned in place at a spin [rad/s]."""
    times = np.arange(13) / 24.0
    turns = Rotation.from_rotvec(np.outer(spin * times, [0, 0, 1])).as_matrix()
    centre = np.average(body.rest, axis=0, weights=tet_lumped_mass(body, JELLY.density))
    return run(body, path=Path(times, np.repeat(centre[None], 13, axis=0), rotations=turns), **given)


def test_a_stiff_body_is_turned_by_more_than_a_right_angle_a_step() -> None:
    """Newton begins with the body turned as the path turns; where inertia leads it is three times as large."""
    take = spun(60.0, material=replace(JELLY, young=2e6))
    assert take.report["rotation_residual"].max() < 1e-9 and take.report["converged"].all()
    arm = take.animation.points - take.animation.points.mean(axis=1, keepdims=True)
    longest = np.linalg.norm(arm, axis=2).max(axis=1) / np.linalg.norm(BAR.rest - BAR.rest.mean(axis=0), axis=1).max()
    assert 0.98 < longest.min() < 0.999 and take.report["iterations"][1:].mean() < 10
    assert "turns by 143° a step: the body feels nothing of what draws it outwards" in take.facts["warnings"][0]


@pytest.mark.slow
@pytest.mark.parametrize("spin", [5.0, 30.0])
def test_a_spin_draws_a_bar_out_as_it_must(spin: float) -> None:
    """A slender bar that turns at ω gets tan(a)/a times as long, a = ω L/2 √(ρ/E), to the first order of its strain."""
    a = spin * 0.3 * np.sqrt(JELLY.density / 2e5)
    take = spun(spin, material=replace(JELLY, young=2e5, poisson=0.0), substeps=8, gravity=(0, 0, 0))
    ends = [take.animation.points[-1][part].mean(axis=0) for part in (LEFT, RIGHT)]
    drawn = float(np.linalg.norm(ends[1] - ends[0])) / 0.6 - 1.0
    assert drawn == pytest.approx(np.tan(a) / a - 1.0, rel=0.1)


def test_a_turning_job_that_is_taken_up_gives_the_same_bytes() -> None:
    given: dict[str, Any] = {
        "path": Path(TIMES, ARC, rotations=Rotation.from_rotvec(np.outer(TIMES, [0, 12.0, 5.0])).as_matrix()),
        "material": JELLY, "duration": 0.5, "threads": 1,
    }  # fmt: skip
    whole = list(steering_job(BAR, **given).frames())
    rest = list(steering_job(BAR, **given).frames(whole[5]))
    for a, b in zip(whole[6:], rest, strict=True):
        assert a.state.q.tobytes() == b.state.q.tobytes() and a.state.velocity.tobytes() == b.state.velocity.tobytes()


@pytest.mark.slow
def test_what_a_turn_tears_apart_is_told_with_the_turn() -> None:
    with pytest.raises(PhysicsStopped, match="turns the body at 2292°/s, so fast that it flies apart; try a slower"):
        spun(40.0, tet_bar((4, 1, 1), (LENGTH, 0.1, 0.1)))


def test_a_turn_and_pins_that_conflict_are_still_told_so() -> None:
    with pytest.raises(PhysicsStopped, match="two directions ask for different things"):
        spun(1.0, pins=Pin(BAR.surface_vertices))


def test_the_time_of_a_turning_step_is_that_of_all_its_solves() -> None:
    turns = Rotation.from_rotvec(np.outer([0.0, 0.8], [0, 1, 0])).as_matrix()
    path = Path(np.array([0.0, 0.25]), np.repeat(centres(BAR.rest[None]), 2, axis=0), rotations=turns)
    take = run(path=path, duration=0.25)
    assert take.report["rotation_residual"].max() < 1e-9
    assert any(OFFSET in frame.state.memory for frame in take.frames[1:])


def test_of_two_bodies_each_turns_as_its_own_path_says() -> None:
    """Newton begins with each turned by its own path; one that is free is left to inertia."""
    times, stiff = np.arange(7) / 24.0, replace(JELLY, young=2e6)

    def turning(spin: float, at: float) -> Path:
        turns = Rotation.from_rotvec(np.outer(spin * times, [0, 0, 1])).as_matrix()
        return Path(times, np.repeat(centres(BAR.rest[None]) + [0.0, 0.0, at], 7, axis=0), rotations=turns)

    bodies = [Body(BAR, path=turning(60.0, 1.0)), Body(BAR, velocity=TOSSED), Body(BAR, path=turning(-20.0, -1.0))]
    bodies = [replace(one, material=stiff) for one in bodies]
    take = steer(bodies, duration=0.25, threads=1, tolerance=1e-9)
    assert take.report["rotation_residual"].max() < 1e-9 and take.report["converged"].all()
    free = steer(BAR, velocity=TOSSED, material=stiff, duration=0.25, threads=1, tolerance=1e-9)
    own = take.animation.points[:, BAR.point_count : 2 * BAR.point_count]
    assert np.abs(own - free.animation.points).max() < 1e-8
