"""Motions planned from partial keys: what they meet, and that nothing meets it with less force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from planned import BASE, BLOCK, PULLED, RUBBER, TILTED, TOP, TWISTED, block, posed

from bunraku.contracts import Array
from bunraku.direction.plan import Key, Motion, plan
from bunraku.direction.plan.nodes import Ends
from bunraku.direction.plan.solving import lay_out
from bunraku.direction.steer import Grip
from bunraku.energies import linear_stiffness, solid_mass
from bunraku.geometry import tet_bar, tet_volumes
from bunraku.materials import SolidMaterial
from bunraku.numerics import WigglySpline


def centre(x: Array) -> Array:
    mass = np.bincount(BLOCK.tets.reshape(-1), np.repeat(BLOCK.volumes / 4.0, 4), BLOCK.point_count)
    return mass @ x / mass.sum()


@pytest.mark.parametrize("grip", [PULLED, TILTED, TWISTED], ids=["pulled", "tilted", "twisted"])
def test_a_key_is_reached_and_the_ends_are_at_rest(grip) -> None:
    motion = block(posed(0.5, grip))
    (met,) = motion.report["keys"]
    assert met.missed < 1e-3 * BLOCK.size + met.unreachable and motion.report["met"]
    goal = motion.keys[0].positions
    assert goal is not None
    there = np.sqrt(np.mean(np.sum((motion.points(0.5)[TOP] - goal) ** 2, axis=1)))
    assert there == pytest.approx(met.missed, rel=0.5, abs=1e-6)  # by mass, and not
    for time in (0.0, 1.0, -1.0, 3.0):
        assert np.abs(motion.points(time) - BLOCK.rest).max() < 1e-12
        assert np.abs(motion.velocities(time)).max() < 1e-10
    assert not np.abs(motion.points(0.4)[BASE] - BLOCK.rest[BASE]).any()
    assert np.abs(motion.velocities(0.4)).max() > 0.1


def test_the_problem_has_the_papers_dimensions() -> None:
    """Table 1: one position key d, a position and a velocity at a free end 2 d, three on a circle 3 d."""
    assert block(posed(0.5, PULLED)).report["dimension"] == 20
    assert block(posed(1.0, PULLED, velocities=(0, -1, 0))).report["dimension"] == 40
    circle = block(*(posed(t, PULLED) for t in (0.0, 0.3, 0.7)), circular=True)
    assert circle.report["dimension"] == 60 and circle.report["modes"] == 20


def test_volume_is_kept_where_linear_elasticity_swells() -> None:
    twisted, swollen = (block(posed(0.5, TWISTED), warp=warp).points(0.5) for warp in (True, False))
    volume = [tet_volumes(x, BLOCK.tets).sum() / BLOCK.volumes.sum() for x in (twisted, swollen)]
    assert abs(volume[0] - 1.0) < 0.12 and abs(volume[1] - 1.0) > 0.5


@pytest.mark.parametrize("warp", [False, True])
def test_nothing_meets_the_keys_with_less(warp: bool) -> None:
    """1,000 other motions that begin and end alike, near and far, in what is minimised: force and keys together."""
    keys = [posed(0.4, PULLED), Key(0.7, None, velocities=(0.3, 0.0, 0.0))]
    motion = block(*keys, warp=warp)
    rng = np.random.default_rng(0)
    still = np.zeros(20)
    problem = lay_out(motion.body, keys, 1.0, Ends((still, still), (still, still)))
    best = problem.squares.at(_unknowns(problem, motion))
    slope = np.abs(best.gradient) * np.sqrt(np.diagonal(np.linalg.pinv(problem.squares.hessian)))
    assert slope.max() < 1e-5 * np.sqrt(best.value)  # first-order optimality, in units of energy
    sizes = np.abs(best.z) + 1e-2 * np.abs(best.z).max()
    for k in range(1000):
        other = best.z + 10.0 ** rng.uniform(-6, 0) * sizes * rng.normal(size=len(sizes))
        assert problem.squares.at(other).value >= best.value * (1 - 1e-9), k


def _unknowns(problem, motion: Motion) -> Array:
    values = motion.spline(problem.nodes.times)
    states = np.stack([values.position, values.velocity], axis=1).reshape(-1, problem.nodes.modes)
    return states[problem.nodes.slots].reshape(-1)


def test_more_modes_and_more_weight_come_nearer() -> None:
    keys = [block(posed(0.5, TWISTED), modes=modes).report["keys"][0] for modes in (3, 8, 24, 60)]
    unreachable = [one.unreachable for one in keys]
    assert unreachable[0] > unreachable[1] > unreachable[2] > unreachable[3] and unreachable[0] > 10 * unreachable[3]
    assert all(one.missed - one.unreachable < 1e-3 * BLOCK.size for one in keys)
    firm = [block(posed(0.5, PULLED, weight=w), modes=60).report["keys"][0].missed for w in (1e-4, 1e-2, 1.0)]
    assert firm[0] > 5 * firm[1] > 25 * firm[2]


def test_equality_is_met_to_rounding_where_the_modes_reach() -> None:
    """One vertex, and the centre of mass: three rows each."""
    corner = TOP[:1]
    goal = BLOCK.rest[corner] + [0.2, 0.1, 0.1]
    motion = block(Key(0.5, corner, goal, weight=np.inf), Key(0.8, None, velocities=(0.2, 0.1, 0.0), weight=np.inf))
    assert np.abs(motion.points(0.5)[corner] - goal).max() < 1e-9 * BLOCK.size
    assert np.abs(centre(motion.velocities(0.8)) - [0.2, 0.1, 0.0]).max() < 1e-9


def test_attached_modes_reach_what_the_lowest_do_not() -> None:
    plain, attached = (block(posed(0.5, TILTED), modes=6, attach=a).report["keys"][0] for a in (False, True))
    assert attached.unreachable < 0.2 * plain.unreachable


def test_a_key_that_the_modes_cannot_do_is_missed_and_told_so() -> None:
    few = block(posed(0.5, TWISTED), modes=2)
    (met,) = few.report["keys"]
    assert met.missed > 0.1 * BLOCK.size and met.near and not met.met and not few.report["met"]
    (told,) = few.report["sentences"]
    assert f"missed by {met.missed:.3g} m, of which the modes cannot do {met.unreachable:.3g} m" in told
    loose = block(posed(0.5, PULLED, weight=1e-6))
    assert not loose.report["met"] and loose.report["sentences"][0].endswith("try a larger weight")


def test_velocities_are_those_of_the_points() -> None:
    motion = block(posed(0.5, TILTED), Key(0.8, TOP, velocities=(0.0, -0.5, 0.0)))
    for time in (0.2, 0.5, 0.77):
        slope = (motion.points(time + 1e-5) - motion.points(time - 1e-5)) / 2e-5
        assert np.abs(slope - motion.velocities(time)).max() < 1e-4 * np.abs(slope).max()
    assert motion.velocities(0.8)[TOP].mean(axis=0) == pytest.approx([0.0, -0.5, 0.0], abs=0.01)


def test_a_circle_closes_with_its_velocity() -> None:
    motion = block(posed(0.0, PULLED), posed(0.35, TILTED), circular=True)
    assert np.abs(motion.points(0.0) - motion.points(1.0)).max() < 1e-10
    assert np.abs(motion.velocities(1e-9) - motion.velocities(1.0 - 1e-9)).max() < 1e-4
    assert np.abs(motion.points(2.2) - motion.points(0.2)).max() < 1e-9
    assert np.abs(motion.velocities(0.0)).max() > 0.1


def test_a_material_of_two_halves_bends_where_it_is_soft() -> None:
    hard = SolidMaterial(young=3e6, poisson=0.3, density=1000.0)
    upper = (BLOCK.rest[BLOCK.tets].mean(axis=1)[:, 1] > 0.45).astype(int)
    motion = block(posed(0.5, TILTED), material=[RUBBER, hard], of_tet=upper)
    x = motion.points(0.5)
    stretch = np.abs(tet_volumes(x, BLOCK.tets) / BLOCK.volumes - 1.0)
    assert stretch[upper == 0].mean() > 5 * stretch[upper == 1].mean()
    with_one = block(posed(0.5, TILTED))
    assert np.abs(with_one.points(0.5) - x).max() > 0.01


DRAGGED = SolidMaterial(young=1e5, poisson=0.3, density=1000.0, mass_damping=1.5, stiffness_damping=1e-4)
TOUGH = SolidMaterial(young=2e5, poisson=0.3, density=800.0, mass_damping=0.1, stiffness_damping=6e-4)
UPPER = (BLOCK.rest[BLOCK.tets].mean(axis=1)[:, 1] > 0.45).astype(int)


def test_each_of_several_materials_has_its_own_damping() -> None:
    """Light damping: the decay of the whole body's free oscillations, which knows nothing of modes."""
    motion = block(posed(0.5, TILTED), material=[DRAGGED, TOUGH], of_tet=UPPER, modes=12)
    free = np.repeat(motion.body.stock.linear(motion.body.fixed).loose, 3)
    whole, twice = (solid_mass(BLOCK, [replace(DRAGGED, density=k * 1000.0), TOUGH], UPPER) for k in (1.0, 2.0))
    share = (twice - whole) / whole  # of the first material
    alpha = np.repeat(share * DRAGGED.mass_damping + (1.0 - share) * TOUGH.mass_damping, 3)
    soft = [replace(one, young=one.young * one.stiffness_damping) for one in (DRAGGED, TOUGH)]
    stiffness, viscosity = (
        linear_stiffness(BLOCK, pair, UPPER).toarray()[np.ix_(free, free)] for pair in ([DRAGGED, TOUGH], soft)
    )
    mass = np.repeat(whole, 3)[free]
    damper = np.diag(mass * alpha[free]) + viscosity
    unit = np.eye(len(mass))
    first = np.block([[0.0 * unit, unit], [-stiffness / mass[:, None], -damper / mass[:, None]]])
    decay = np.linalg.eigvals(first)
    decay = decay[decay.imag > 0.0]
    lowest = -decay[np.argsort(decay.imag)][:12].real
    np.testing.assert_allclose(motion.body.oscillators.damping, lowest, rtol=1e-3)


def test_the_order_of_materials_means_nothing() -> None:
    one = block(posed(0.5, TILTED), material=[DRAGGED, TOUGH], of_tet=UPPER)
    two = block(posed(0.5, TILTED), material=[TOUGH, DRAGGED], of_tet=1 - UPPER)
    assert two.energy == pytest.approx(one.energy, rel=1e-9)
    assert np.abs(one.points(0.4) - two.points(0.4)).max() < 1e-9
    told = [block(posed(0.5, TILTED), material=pair, of_tet=UPPER, damping=(0.2, 1e-3)).energy
            for pair in ([DRAGGED, TOUGH], [replace(DRAGGED, mass_damping=9.0), TOUGH])]  # fmt: skip
    assert told[0] == told[1]


def test_an_edit_begins_where_the_motion_was() -> None:
    first = block(posed(0.5, TILTED))
    other = posed(0.5, PULLED)
    edited, fresh = block(other, before=first), block(other)
    assert edited.body is first.body
    assert np.abs(edited.points(0.4) - fresh.points(0.4)).max() < 1e-4 * BLOCK.size
    assert edited.report["energy"] == pytest.approx(fresh.report["energy"], rel=1e-6)


def test_a_take_is_the_motion_frame_by_frame() -> None:
    motion = block(posed(0.5, TWISTED))
    take = motion.take(rate=24)
    assert len(take.animation.times) == 25 and take.surface is not None
    for k in (0, 7, 24):
        assert np.abs(take.animation.points[k] - motion.points(k / 24)).max() < 1e-12
        assert np.abs(take.velocities[k] - motion.velocities(k / 24)).max() < 1e-9
    assert take.surface.mesh.point_count == len(BLOCK.surface_vertices)
    fine = motion.take(rate=24, surface=BLOCK.surface())
    assert fine.surface is not None and np.abs(fine.surface.points - take.surface.points).max() < 1e-9


@pytest.mark.slow
def test_gravity_is_a_load_that_the_plan_knows() -> None:
    """Free ends and a key of the rest shape: with a load the least force lets the block hang through between."""
    key = [posed(t, PULLED) for t in (0.0, 1.0)]
    sagging = block(*key, gravity=(0, -20, 0), damping=(0, 0))
    plain = block(*key, damping=(0, 0))
    assert centre(sagging.points(0.5))[1] < centre(plain.points(0.5))[1] - 1e-3


def test_a_spline_is_what_moves_it() -> None:
    motion = block(posed(0.5, TILTED))
    assert isinstance(motion.spline, WigglySpline)
    assert motion.energy == pytest.approx(motion.spline.energy) and motion.energy > 0
    assert np.abs(motion.force(0.3)).max() > 0


def test_a_search_that_fails_now_and_then_but_gets_there_is_not_given_up() -> None:
    """A block pulled up by half its height: given up, it took thirty iterations, softer keys first."""
    body = tet_bar((3, 8, 3), (0.3, 1.0, 0.3))
    low, high = np.flatnonzero(body.rest[:, 1] < 0.08), np.flatnonzero(body.rest[:, 1] > 0.93)
    key = Key.posed(body, 1.3, Grip(high, move=(0.0, 0.5, 0.0)))
    soft = {"preset": "rubber", "young": 7e3, "poisson": 0.33, "density": 400.0}
    report = plan(body, key, fixed=low, duration=2.5, material=soft).report
    assert report["met"] and report["iterations"] <= 15 and report["energy"] == pytest.approx(416.504, rel=1e-4)


@pytest.mark.parametrize("given", [{}, {"free": True}, {"free": (True, False)}])
@pytest.mark.parametrize("times", [(0.0,), (0.0, 2.0), (0.0, 0.4, 1.1)])
def test_a_free_beginning_comes_from_rest_and_not_from_afar(times: tuple[float, ...], given: dict[str, bool]) -> None:
    """Modes that are damped heavily would come to a key for nothing from 10¹²¹ m away."""
    keys = [Key(time, TOP, BLOCK.rest[TOP] + [0.03, 0.0, 0.0]) for time in times]
    motion = plan(BLOCK, keys, fixed=BASE, duration=2.0, **given)  # type: ignore[arg-type]
    moments = np.linspace(0.0, 2.0, 49)
    away = max(np.abs(motion.points(time) - BLOCK.rest).max() for time in moments)
    fast = max(np.abs(motion.velocities(time)).max() for time in moments)
    assert motion.report["met"] and 0.02 < away < 0.2 and fast < 10.0


@pytest.mark.parametrize(
    ("key", "given"),
    [
        (Key(0.5, None, (5.0, 0.0, 0.0)), {"circular": True}), (Key(0.5, None, (0.2, 0.3, 0.1)), {"free": True}),
        (Key(0.5, None, velocities=(1.0, 0.0, 0.0)), {"free": True}),
        (Key(0.5, None, velocities=(1.0, 0.0, 0.0)), {"circular": True}),
        (Key(0.5, None, (5.0, 0.0, 0.0), weight=np.inf), {"circular": True, "damping": (0, 0), "warp": False}),
    ],
)  # fmt: skip
def test_what_nothing_determines_stays_and_the_report_is_true(key: Key, given: dict[str, bool]) -> None:
    """A body that nothing holds, whose turn or place no key says."""
    motion = plan(BLOCK, key, duration=1.0, modes=10, **given)  # type: ignore[arg-type]
    (met,) = motion.report["keys"]
    x, v = motion(0.5)
    goal, found = (key.positions, centre(x)) if key.velocities is None else (key.velocities, centre(v))
    assert goal is not None and np.linalg.norm(found - goal) == pytest.approx(met.missed, abs=1e-5) and met.met
    for time in np.linspace(0.0, 1.0, 9):
        assert np.abs(motion.points(time) - centre(motion.points(time)) - BLOCK.rest + centre(BLOCK.rest)).max() < 0.01
        assert np.abs(motion.points(time)).max() < 10.0 and np.abs(motion.velocities(time)).max() < 100.0
