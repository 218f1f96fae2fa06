"""Stable equilibria: Euler's strip buckles where it must, and is not left standing on a ridge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import WHY, InputError, Outcome, State
from bunraku.dynamics import Equilibrium, EquilibriumSettings, Mass, System
from bunraku.dynamics.secants import Secants
from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import sheet

LONG, THICK = 1.0, 0.02


class Strip:
    """Hinged at its ends, of a material that does not widen; at time t pressed by t times Euler's strain."""

    def __init__(self, columns: int, thick: float = THICK) -> None:
        rows = 3
        self.euler = np.pi**2 * thick**2 / (12.0 * LONG**2)  # N = π² D/L² over Ē h: the strain at which it buckles
        self.mesh: TriMesh = sheet(columns, rows, LONG)
        blend = MaterialBlend.uniform(ShellMaterial(1e6, 0.0, thick, 1000.0), len(self.mesh.faces))
        x = self.mesh.rest
        self.along = int(np.ptp(x, axis=0).argmax())
        self.flat = int(np.ptp(x, axis=0).argmin())
        self.across = 3 - self.along - self.flat
        ends = np.flatnonzero((x[:, self.along] < 1e-9) | (x[:, self.along] > LONG - 1e-9))
        others = np.setdiff1d(np.arange(len(x)), ends)
        mass = lumped_mass(self.mesh, 1000.0 * thick)
        rows_of = [pin_jacobian(ends, np.arange(3), len(x)), pin_jacobian(others, np.array([self.across]), len(x))]
        conditions = [
            LinearConstraint(
                one, lambda time, one=one: one @ self.pressed(time).reshape(-1),
                lambda time, one=one: np.ones(one.shape[0]), felt_mass(one, mass),
            )
            for one in rows_of
        ]  # fmt: skip
        self.system = System(Mass(mass), (Membrane(self.mesh, blend), Bending(self.mesh, blend)), tuple(conditions))

    def pressed(self, time: float) -> np.ndarray:
        out = self.mesh.rest.copy()
        out[:, self.along] *= 1.0 - time * self.euler
        return out

    def state(self, time: float) -> State:
        x = self.pressed(time)
        return State(time, x.reshape(-1), np.zeros(x.size))

    def equilibrium(self, **settings: object) -> Equilibrium:
        return Equilibrium(self.system, replace(EquilibriumSettings(length=LONG), **settings), threads=1)  # type: ignore[arg-type]

    def onset(self) -> float:
        equilibrium, low, high = self.equilibrium(), 0.5, 1.5
        for _ in range(12):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if equilibrium.stable_at(self.state(middle)) else (low, middle)
        return 0.5 * (low + high)


def test_a_strip_buckles_at_eulers_load() -> None:
    """To second order in the edge; the strain itself, 3e-4, is below that."""
    coarse, fine = (abs(Strip(columns).onset() - 1.0) for columns in (12, 24))
    assert fine < 0.01 and fine < 0.4 * coarse


def test_a_pressed_strip_is_not_left_on_its_ridge() -> None:
    strip = Strip(16)
    flat = strip.equilibrium(stable=False).find(strip.state(2.0))
    assert flat.outcome is Outcome.CONVERGED and not flat.stats["stable"]
    assert np.ptp(flat.value.q.reshape(-1, 3)[:, strip.flat]) < 1e-9
    bent = strip.equilibrium().find(strip.state(2.0))
    assert bent.outcome is Outcome.CONVERGED and bent.stats["stable"] and bent.stats["ridges"] == 1
    assert bent.stats["energy"] < flat.stats["energy"]
    # An inextensible half-sine of height a over L is shorter by (π a/2L)²: what is left of the strain beyond Euler's.
    height = np.ptp(bent.value.q.reshape(-1, 3)[:, strip.flat])
    assert height == pytest.approx(2.0 * LONG / np.pi * np.sqrt(strip.euler), rel=0.02)


@pytest.mark.parametrize("thick", [2e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("load", [1.02, 4.5])
def test_thin_strips_bend_a_billion_times_more_easily_than_they_stretch(thick: float, load: float) -> None:
    strip = Strip(24, thick)
    found = strip.equilibrium().find(strip.state(load))
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"] and found.stats["iterations"] < 20
    expected = 2.0 * LONG / np.pi * np.sqrt((load - 1.0) * strip.euler)  # the mesh's own load is off by 0.4 % or so
    height = np.ptp(found.value.q.reshape(-1, 3)[:, strip.flat])
    assert height == pytest.approx(expected, rel=0.15 if load < 1.1 else 0.02)


@pytest.mark.parametrize("load", [1.1, 2.0, 20.0])
def test_a_strip_pressed_from_rest_is_not_called_stable_where_it_is_flat(load: float) -> None:
    """No step of a search that begins flat has a part along what buckles: only pivots tell, where the search ends."""
    strip = Strip(12)
    found = strip.equilibrium().find(strip.state(load), strip.mesh.rest)
    x = found.value.q.reshape(-1, 3)
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"] and found.stats["ridges"] == 1
    assert np.ptp(x[:, strip.flat]) > 0.1 * THICK and strip.equilibrium().stable_at(replace(found.value, time=load))


def test_conditions_that_say_the_same_twice_do_not_hinder() -> None:
    strip = Strip(12)
    end = np.flatnonzero(strip.mesh.rest[:, strip.along] < 1e-9)
    row = pin_jacobian(end[:1], np.arange(3), strip.mesh.point_count)
    again = LinearConstraint(
        row, lambda time: row @ strip.pressed(time).reshape(-1), lambda time: np.ones(3),
        felt_mass(row, strip.system.mass.lumped),
    )  # fmt: skip
    system = replace(strip.system, constraints=(*strip.system.constraints, again))
    equilibrium = Equilibrium(system, EquilibriumSettings(length=LONG), threads=1)
    assert equilibrium.stable_at(strip.state(0.5)) and not equilibrium.stable_at(strip.state(1.5))
    found = equilibrium.find(strip.state(0.5), strip.mesh.rest)
    assert found.outcome is Outcome.CONVERGED and found.stats["factorisations"] <= 4


def test_conditions_that_contradict_each_other_are_told() -> None:
    strip = Strip(12)
    end = int(np.flatnonzero(strip.mesh.rest[:, strip.along] < 1e-9)[0])
    row = pin_jacobian(np.array([end]), np.array([strip.flat]), strip.mesh.point_count)
    mass = strip.system.mass.lumped
    other = LinearConstraint(row, lambda time: np.array([0.03]), lambda time: np.ones(1), felt_mass(row, mass))
    system = replace(strip.system, constraints=(*strip.system.constraints, other))
    found = Equilibrium(system, EquilibriumSettings(length=LONG), threads=1).find(strip.state(0.5))
    assert found.outcome is Outcome.CONDITIONS_CONFLICT and found.evidence["missed"] == pytest.approx(0.015, rel=0.01)


def test_conditions_that_are_not_hard_are_refused() -> None:
    strip = Strip(12)
    hard = strip.system.constraints[0]
    assert isinstance(hard, LinearConstraint)
    rows = hard.jacobian.shape[0]
    soft = replace(hard, strength=lambda time: np.full(rows, 0.5))
    system = replace(strip.system, constraints=(soft, *strip.system.constraints[1:]))
    with pytest.raises(InputError, match="on hard conditions only"):
        Equilibrium(system, threads=1).find(strip.state(0.0))


def test_a_crushed_beginning_is_no_end() -> None:
    """Its Hessian has a diagonal below zero: the measure of what is added must not."""
    strip = Strip(12)
    found = strip.equilibrium().find(strip.state(0.5), 0.7 * strip.mesh.rest)
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"]


def test_what_nothing_holds_is_said_so() -> None:
    strip = Strip(12)
    free = replace(strip.system, constraints=strip.system.constraints[1:])
    found = Equilibrium(free, EquilibriumSettings(length=LONG), threads=1).find(strip.state(0.0))
    assert not found.outcome.usable and "nothing holds the body in place" in str(found.evidence[WHY])


def test_the_moment_is_the_one_asked_for_and_angles_are_remembered() -> None:
    strip = Strip(12)
    found = strip.equilibrium().find(strip.state(1.0 / 3.0))
    x = found.value.q.reshape(-1, 3)
    ends = np.flatnonzero(strip.mesh.rest[:, strip.along] > LONG - 1e-9)
    assert x[ends, strip.along] == pytest.approx(1.0 - strip.euler / 3.0, abs=1e-12)  # 1e-10 s late at most
    assert set(found.value.memory) >= set(strip.system.remember(strip.state(0.0)))


def test_before_the_onset_it_stays_flat_and_is_stable() -> None:
    strip = Strip(16)
    found = strip.equilibrium().find(strip.state(0.5))
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"] and found.stats["ridges"] == 0
    assert np.abs(found.stats["residual"]).max() < 1e-12


def test_a_search_that_is_cut_short_says_so() -> None:
    strip = Strip(16)
    found = strip.equilibrium(limit=3).find(strip.state(2.0))
    assert found.outcome is Outcome.NOT_CONVERGED and not found.stats["stable"]


@pytest.mark.parametrize("thick", [2e-4, 5e-3])
def test_strips_far_beyond_their_load_are_balanced_sooner_by_what_gradients_tell(
    thick: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elasticas, with softer ways than any share of the mass that is tried: steps tell of them."""
    strip, found = Strip(24, thick), []
    for _ in range(2):
        found.append(strip.equilibrium().find(strip.state(20.0), strip.mesh.rest))
        monkeypatch.setattr(Secants, "corrected", lambda self, gradient, newton: newton(gradient))
    with_them, without = found
    assert with_them.outcome is Outcome.CONVERGED and with_them.stats["stable"]
    assert with_them.stats["factorisations"] < 0.7 * without.stats["factorisations"]


@pytest.mark.parametrize("weight", [1e-2, 0.1, 1.0])
def test_no_hinge_is_wound_up_on_the_way_from_rest(weight: float) -> None:
    """A thin strip under its weight falls by more than its length in Newton's first step: taken whole, hinges turn by
    more than a turn, and with their angles remembered that is a balance of its own."""
    strip = Strip(12, 5e-3)
    down = np.zeros(3)
    down[strip.flat] = weight
    heavy = replace(strip.system, energies=(*strip.system.energies, GravityEnergy(strip.system.mass.lumped, down)))
    equilibrium = Equilibrium(heavy, EquilibriumSettings(length=LONG), threads=1)
    found = equilibrium.find(strip.state(0.5), strip.mesh.rest)
    afresh = replace(found.value, time=0.5, memory={})
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"]
    assert found.stats["energy"] == pytest.approx(equilibrium.energy(afresh), rel=1e-6)


def test_a_search_ends_where_it_says() -> None:
    """Its last step is taken with the factor whose pivots were counted, not with one made far away, and judged with its
    own multipliers: next to nothing pulls at a strip just below its load, looked for from rest and from flat."""
    strip = Strip(12)
    load, down = 0.99 * strip.onset(), np.zeros(3)
    down[strip.flat] = 1e-8
    pulled = GravityEnergy(strip.system.mass.lumped, down)
    system = replace(strip.system, energies=(*strip.system.energies, pulled))
    for guess in (strip.mesh.rest, None):
        ends = []
        for tolerance in (1e-8, 1e-12):
            settings = EquilibriumSettings(length=LONG, tolerance=tolerance)
            found = Equilibrium(system, settings, threads=1).find(strip.state(load), guess)
            assert found.outcome is Outcome.CONVERGED
            ends.append(found.value.q)
        assert np.abs(ends[0] - ends[1]).max() < 1e-8 * LONG


def test_a_step_that_begins_on_a_ridge_leaves_it() -> None:
    """Pressed to twice Euler's load and let go there without a nudge, it buckles in a step as long as it needs."""
    strip = Strip(16)
    state = replace(strip.state(2.0), time=1.0)  # as time goes on by one, the load is twice Euler's
    ridge = strip.equilibrium(stable=False).step(state, 1.0)
    assert ridge.outcome is Outcome.CONVERGED and np.ptp(ridge.value.q.reshape(-1, 3)[:, strip.flat]) < 1e-9
    found = strip.equilibrium().step(state, 1.0)
    assert found.outcome is Outcome.CONVERGED and found.stats["ridges"] == 1 and found.stats["stable"]
    assert found.stats["energy"] < ridge.stats["energy"] and found.value.time == 2.0
    height = np.ptp(found.value.q.reshape(-1, 3)[:, strip.flat])
    assert height > 0.25 * THICK and np.abs(found.value.velocity).max() == pytest.approx(height, rel=0.2)


def test_a_step_does_not_depend_on_those_before_it() -> None:
    """A search taken up again gives the same bytes: the shares of mass that it adds are of where it stands."""
    strip = Strip(16)
    going, flat = strip.equilibrium(), replace(strip.state(3.0), time=2.0)
    going.step(replace(strip.state(2.0), time=1.0), 1.0)
    on, again = going.step(flat, 1.0), strip.equilibrium().step(flat, 1.0)
    assert on.stats["ridges"] == 1 and on.value.q.tobytes() == again.value.q.tobytes()
