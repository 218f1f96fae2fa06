"""Laws of planned motions: the limit of fine time steps, symmetries, convergence, and keys that were completed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from planned import ASKEW, BASE, BLOCK, PULLED, RUBBER, TILTED, TOP, TWISTED, block, posed
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array
from bunraku.direction.plan import Key, Motion, plan
from bunraku.direction.plan.nodes import Ends
from bunraku.direction.plan.solving import lay_out
from bunraku.direction.steer import Grip

PULL = (0.0, -2.0, 1.0)
PLACES = (
    Key(0.3, TOP[:4], BLOCK.rest[TOP[:4]] + [0.1, 0.05, -0.02], weight=1e-5),
    Key(0.6, None, (0.2, 0.4, 0.1), weight=1e-4),
    Key(0.8, TOP[5:6], BLOCK.rest[TOP[5:6]] + [-0.1, 0.0, 0.05], weight=1e-6),
)
SPEEDS = (
    Key(0.3, TOP[:4], BLOCK.rest[TOP[:4]] + [0.1, 0.05, -0.02], velocities=(0.5, 0.0, 0.2), weight=1e-5),
    Key(0.6, None, velocities=(0.3, -0.2, 0.1), weight=1e-4),
)


def fine_steps(motion: Motion, weights: list[float], steps: int) -> Array:
    """(steps + 1, d) modal coordinates of the motion that costs least on a grid of one second, from rest to a free end.

    Nothing of the library's splines: central differences, the trapezoidal rule, rows of masses and shapes; one least
    squares problem of all modes at all times.
    """
    dt, stiffness = 1.0 / steps, motion.body.modes.stiffness
    d = len(stiffness)
    damping = 0.5 * (RUBBER.mass_damping + RUBBER.stiffness_damping * stiffness)
    load = -np.einsum("n,nij,i->j", motion.body.mass, motion.body.modes.shapes, PULL)
    rows: Any = sparse.lil_array(((steps + 1) * d + 200, (steps + 3) * d))  # from a step before it to a step after it
    right = []
    for k in range(steps + 1):
        root = np.sqrt(dt * (0.5 if k in (0, steps) else 1.0))
        for j in range(d):
            stencil = [1 / dt**2 - damping[j] / dt, stiffness[j] - 2 / dt**2, 1 / dt**2 + damping[j] / dt]
            rows[len(right), [(k + shift) * d + j for shift in range(3)]] = root * np.array(stencil)
            right.append(-root * load[j])
    for time, shifts, row, value in key_rows(motion, weights, dt):
        for shift, part in shifts:
            begin = (round(time * steps) + 1 + shift) * d
            rows[len(right), begin : begin + d] = part * row
        right.append(value)
    # At rest where it begins: the step before it is the step after it.
    fold: Any = sparse.lil_array(((steps + 3) * d, (steps + 1) * d))
    for k in (0, *range(2, steps + 3)):
        for j in range(d):
            fold[k * d + j, max(k - 2, 0) * d + j] = 1.0
    matrix: Any = sparse.csc_array(rows[: len(right)] @ fold)
    size = matrix.shape[0]
    saddle = sparse.block_array([[sparse.eye_array(size), matrix], [matrix.T, None]], format="csc")
    found = splu(saddle).solve(np.concatenate([right, np.zeros(matrix.shape[1])]))[size:]
    return np.concatenate([np.zeros((1, d)), found.reshape(-1, d)[:steps]])


def key_rows(motion: Motion, weights: list[float], dt: float) -> Iterator[tuple[float, Any, Array, float]]:
    """Of every number that keys ask for: when, at which steps beside that, a row over the modes, and the number."""
    shapes, mass, numbers = motion.body.modes.shapes, motion.body.mass, iter(weights)
    for key in motion.keys:
        share = np.eye(len(mass))[key.vertices] if key.vertices is not None else mass[None] / mass.sum()
        scale = np.sqrt(mass[key.vertices]) if key.vertices is not None else np.sqrt(mass.sum())[None]
        seen = np.einsum("vn,nij->vij", scale[:, None] * share, shapes).reshape(-1, shapes.shape[2])
        for velocity, goal in ((False, key.positions), (True, key.velocities)):
            if goal is None:
                continue
            root, rest = np.sqrt(next(numbers)), 0.0 if velocity else share @ motion.mesh.rest
            shifts = ((-1, -0.5 / dt), (1, 0.5 / dt)) if velocity else ((0, 1.0),)
            wanted = root * (scale[:, None] * (goal - rest)).reshape(-1)
            for row, value in zip(root * seen, wanted, strict=True):
                yield key.time, shifts, row, float(value)


@pytest.mark.parametrize(("keys", "order"), [(PLACES, 2), (SPEEDS, 1)], ids=["places", "speeds"])
def test_it_is_the_limit_of_fine_time_steps(keys: tuple[Key, ...], order: int) -> None:
    """Soft partial keys of vertices and the centre of mass, damping, weight, one end free: the whole motion. Where
    velocities are keyed the force jumps, and a grid sees that with first order only."""
    motion = block(*keys, warp=False, modes=4, free=(False, True), gravity=PULL)
    still = np.zeros(4)
    problem = lay_out(motion.body, keys, 1.0, Ends((still, still), None))
    ends = np.cumsum([0, *(row.count for row in problem.rows[:-1])])
    weights = [float(problem.weights[k]) for k in ends]
    exact = motion.spline(np.linspace(0.0, 1.0, 101)).position
    found = [fine_steps(motion, weights, steps)[:: steps // 100] for steps in (100, 200, 400)]
    errors = [np.abs(one - exact).max() / np.abs(exact).max() for one in found]
    for coarse, fine in pairwise(errors):
        assert coarse / fine == pytest.approx(2.0**order, rel=0.1)
    limit = (2.0**order * found[2] - found[1]) / (2.0**order - 1.0)
    assert np.abs(limit - exact).max() < 2e-4 * np.abs(exact).max()


@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("damping", [(0.0, 0.0), (0.5, 0.01)])
def test_time_may_run_backwards(damping: tuple[float, float], warp: bool) -> None:
    """Between ends at rest damping costs the same both ways: its part of the energy is a number of the ends."""
    speed = np.array([0.5, 0.1, 0.3])
    there = block(posed(0.3, ASKEW), Key(0.6, TOP, velocities=speed), damping=damping, warp=warp)
    back = block(posed(0.7, ASKEW), Key(0.4, TOP, velocities=-speed), damping=damping, warp=warp)
    assert back.energy == pytest.approx(there.energy, rel=1e-9)
    for time in (0.1, 0.25, 0.6):
        assert np.abs(there.points(time) - back.points(1.0 - time)).max() < 1e-6 * BLOCK.size
        assert np.abs(there.velocities(time) + back.velocities(1.0 - time)).max() < 1e-5


@pytest.mark.parametrize("held", [True, False])
def test_it_goes_along_where_body_and_keys_are_moved_and_turned(held: bool) -> None:
    """A body without symmetries: of modes that oscillate alike the last one taken may be any mixture."""
    body = BLOCK.with_rest(BLOCK.rest @ np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.05], [0.2, 0.0, 1.3]]))
    turn, by = Rotation.from_rotvec([0.4, -1.0, 0.7]).as_matrix(), np.array([3.0, -2.0, 1.0])
    fixed = BASE if held else ()
    keys = [
        Key.posed(body, 0.5, ASKEW), Key(0.7, None, velocities=(0.3, 0.1, -0.2)), Key(0.9, TOP[:1], body.rest[TOP[:1]])
    ]  # fmt: skip
    moved = [
        Key(
            key.time, key.vertices, None if key.positions is None else key.positions @ turn.T + by,
            None if key.velocities is None else key.velocities @ turn.T, key.weight,
            None if key.turn is None else turn @ key.turn,
        )
        for key in keys
    ]  # fmt: skip
    given = {"fixed": fixed, "material": RUBBER, "duration": 1.0, "modes": 20}
    here, there = plan(body, keys, **given), plan(body.with_rest(body.rest @ turn.T + by), moved, **given)
    assert there.energy == pytest.approx(here.energy, rel=1e-8)
    for time in (0.3, 0.5, 0.8):
        assert np.abs(there.points(time) - (here.points(time) @ turn.T + by)).max() < 1e-6 * BLOCK.size
        assert np.abs(there.velocities(time) - here.velocities(time) @ turn.T).max() < 1e-5


def test_doubling_modes_and_weights_converges() -> None:
    """Each doubling brings the motion nearer to that of all modes and great weights; what is missed goes to nothing."""
    motions = [
        block(posed(0.5, ASKEW, weight=2.0**k), Key(0.8, None, velocities=(0.3, 0.0, 0.1), weight=2.0**k), modes=modes)
        for k, modes in enumerate((10, 20, 40, 80, 160))
    ]
    times = np.linspace(0.1, 0.9, 9)
    shapes = [np.stack([motion.points(float(t)) for t in times]) for motion in motions]
    away = [np.sqrt(np.mean((one - shapes[-1]) ** 2)) / BLOCK.size for one in shapes[:-1]]
    assert away[0] > away[1] > away[2] > 4.0 * away[3] and away[3] < 2e-3
    missed = [motion.report["keys"][0].missed for motion in motions]
    assert all(b < a for a, b in pairwise(missed)) and missed[-1] < 1e-5 * BLOCK.size


def completed(motion: Motion, keys: list[Key], **given) -> Motion:
    """The motion through whole poses and velocities at the times of partial keys."""
    return block(*(motion.key(time) for time in sorted({key.time for key in keys})), **given)


COMPLETED: dict[str, tuple[list[Key], dict]] = {
    "a place": ([posed(0.5, TILTED)], {}),
    "a twist": ([posed(0.5, TWISTED)], {}),
    "a velocity of the centre": ([Key(0.4, None, velocities=(0.3, 0.6, 0.0))], {}),
    "places and velocities": ([posed(0.3, PULLED), Key(0.6, TOP, velocities=(0.5, 0.0, 0.0))], {}),
    "an end": ([posed(1.0, TILTED, velocities=(0.0, -0.5, 0.0))], {}),
    "a circle": ([posed(0.0, PULLED), posed(0.45, TILTED)], {"circular": True}),
}


@pytest.mark.parametrize("what", COMPLETED)
@pytest.mark.parametrize("warp", [True, False])
def test_partial_keys_are_completed_to_whole_ones_of_the_same_motion(what: str, warp: bool) -> None:
    """[Schulz 2014, §1]: interpolating the full keys that the system makes gives the same motion."""
    keys, given = COMPLETED[what]
    motion = block(*keys, **given, warp=warp)
    again = completed(motion, keys, **given, warp=warp)
    assert [len(key.vertices) for key in again.keys if key.vertices is not None] == [
        BLOCK.point_count - len(BASE)
    ] * len(again.keys)
    for time in (0.2, 0.5, 0.77):
        assert np.abs(again.points(time) - motion.points(time)).max() < 1e-8 * BLOCK.size
        assert np.abs(again.velocities(time) - motion.velocities(time)).max() < 1e-6
    assert again.energy == pytest.approx(motion.energy, rel=1e-6)


def test_a_weight_is_a_share_of_the_motions_own_stiffness() -> None:
    """Without unit: the same share of the way is left for a body of another size, material, mass and time."""
    left = []
    for size, young, seconds in ((1.0, 1e5, 1.0), (0.01, 1e5, 0.01), (1.0, 1e7, 0.1), (100.0, 1e5, 100.0)):
        body = BLOCK.with_rest(size * BLOCK.rest)
        material = {
            "preset": "rubber",
            "young": young,
            "stiffness_damping": 0.002 * seconds,
            "mass_damping": 0.1 / seconds,
        }
        key = Key.posed(body, 0.5 * seconds, Grip(TOP, move=(0.0, 0.2 * size, 0.0)), weight=1e-3)
        motion = plan(body, key, fixed=BASE, material=material, duration=seconds, modes=20)
        left.append(motion.report["keys"][0].missed / (0.2 * size))
    assert max(left) < 2.0 * min(left) and 1e-4 < max(left) < 1e-2


@pytest.mark.parametrize("warp", [True, False])
def test_it_is_as_smooth_as_its_keys_allow(warp: bool) -> None:
    """C² where places are keyed, C¹ where velocities are, C² where a circle closes, no force where an end is free."""
    motion = block(posed(0.3, ASKEW), Key(0.6, TOP, velocities=(0.5, 0.0, 0.2)), free=(False, True), warp=warp)
    size = np.abs(motion.spline(np.linspace(0.0, 1.0, 400)).acceleration).max()

    def jump(spline, before: float, after: float) -> tuple[float, float]:
        one, other = spline([before]), spline([after])
        gap = np.abs(other.velocity - one.velocity).max() / np.abs(motion.spline.velocities).max()
        return gap, np.abs(other.acceleration - one.acceleration).max() / size

    for node, smooth in ((0.3, True), (0.6, False)):
        gap, bent = jump(motion.spline, node - 1e-7, node + 1e-7)
        assert gap < 1e-4 and (bent < 1e-4 if smooth else bent > 1e-2)
    assert np.abs(motion.force(1.0)).max() < 1e-8 * np.abs(motion.force(0.1)).max()
    circle = block(posed(0.2, ASKEW), posed(0.7, TILTED), circular=True, warp=warp)
    gap, bent = jump(circle.spline, 1.0 - 1e-7, 1.0 + 1e-7)
    assert gap < 1e-4 and bent < 1e-4


@pytest.mark.parametrize("oscillations", [1000.0, 30000.0])
def test_a_thousand_oscillations_are_swung_up_by_next_to_nothing(oscillations: float) -> None:
    """Undamped, to a place half-way and back: by resonance, Σ 2 λ q² / (half the time)."""
    modes = block(posed(0.5, PULLED), modes=4).body.modes.stiffness
    seconds = oscillations * 2.0 * np.pi / np.sqrt(modes[0])
    motion = block(posed(0.5 * seconds, ASKEW), duration=seconds, modes=4, damping=(0.0, 0.0))
    q = motion.coordinates(0.5 * seconds)
    assert motion.energy == pytest.approx(2.0 * float(modes @ q**2) / (0.5 * seconds), rel=2.0 / oscillations)
    assert motion.report["keys"][0].near and np.abs(q).max() > 0.1


def test_attached_modes_reach_all_that_moves_a_key_as_one() -> None:
    """Without warp exactly: a push and a linearised turn of the keyed vertices are in the modes, however few."""
    arm = BLOCK.rest[TOP] - BLOCK.rest[TOP].mean(axis=0)
    where = BLOCK.rest[TOP] + [0.1, 0.05, -0.1] + np.cross([0.2, 0.4, -0.3], arm)
    plain, attached = (block(Key(0.5, TOP, where), modes=3, warp=False, attach=one).report for one in (False, True))
    assert plain["keys"][0].unreachable > 1e-2 * BLOCK.size and plain["modes"] == 3
    assert attached["keys"][0].unreachable < 1e-9 * BLOCK.size and attached["modes"] == 9 and attached["met"]


OPPOSED: dict[str, tuple[list[Key], dict[str, Any]]] = {
    "a free body that goes round": ([posed(0.2, PULLED), Key(0.5, TOP, BLOCK.rest[TOP])], {"circular": True}),
    "a free body between free ends": ([posed(0.2, PULLED), posed(0.5, ASKEW), posed(0.8, PULLED)], {"free": True}),
    "what swings on": (
        [posed(0.2, PULLED), posed(0.5, ASKEW), posed(0.8, PULLED)], {"free": True, "fixed": BASE, "damping": (0, 0)}
    ),
    "what swings on for long": (
        [posed(0.2, PULLED), posed(0.5, ASKEW), posed(0.8, PULLED)], {"free": True, "fixed": BASE, "damping": (0, 1e-4)}
    ),
    "two velocities": (
        [Key(0.3, None, velocities=(1.0, 0.1, 0.0)), Key(0.8, None, velocities=(0.0, 0.1, 0.5))],
        {"free": True, "damping": (0, 0)},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1.0, np.inf])
@pytest.mark.parametrize("what", OPPOSED)
def test_keys_that_only_withstand_each_other_are_met(what: str, weight: float) -> None:
    """Where a motion goes anywhere at no cost, each key alone is withstood by nothing."""
    keys, given = OPPOSED[what]
    firm = [Key(key.time, key.vertices, key.positions, key.velocities, weight, key.turn) for key in keys]
    report = block(*firm, **{"fixed": (), "modes": 30, **given}).report
    assert all(met.near and met.unreachable < 1e-6 * BLOCK.size for met in report["keys"]), report["sentences"]
