"""Explicit steps of a body that feels its skin: they keep what mechanics keeps, and are refused where too long."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError, Outcome, PhysicsStopped, State
from bunraku.direction import Job
from bunraku.direction.wrinkle import Handle, wrinkling_job
from bunraku.direction.wrinkle.interior import POINTS, VELOCITY, LatticeInterior
from bunraku.direction.wrinkle.two_way import TwoWay
from bunraku.direction.wrinkle.wrinkling import Wrinkling
from bunraku.geometry import tet_bar

JELLY = bk.SolidMaterial(young=5e3, poisson=0.3, density=1000.0)
SKIN = bk.ShellMaterial(young=5e5, poisson=0.3, thickness=2e-3)
BAR = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
STILL = bk.Animation(BAR, np.array([0.0, 0.01]), np.stack([BAR.rest, BAR.rest]))
NONE = (0.0, 0.0, 0.0)


def job_of(body: Any = BAR, **given: Any) -> Job:
    asked: dict[str, Any] = {
        "skin": SKIN, "interior": JELLY, "cell": 0.1, "stepper": "symplectic", "rate": 24.0, "substeps": 4,
        "duration": 0.25, "threads": 1, **given,
    }  # fmt: skip
    return wrinkling_job(body, **asked)


def inner_energy(job: Job, state: State) -> float:
    """[J] of the body and its skin in balance on it."""
    stepper = job.stepper
    assert isinstance(stepper, Wrinkling) and isinstance(stepper.interior, LatticeInterior)
    interior, nodes = stepper.interior, state.memory[POINTS]
    stepper._places = interior.lattice.points(nodes)
    still = State(0.0, nodes.reshape(-1), np.zeros(nodes.size))
    inside = sum(one.at(still, 1.0).value(nodes) for one in interior.elastic)
    return inside + stepper.skin.energy(state.time, state.q.reshape(-1, 3))


@pytest.mark.slow
def test_a_body_that_swings_spins_and_wrinkles_keeps_momentum_and_energy() -> None:
    """Both momenta to what the skin's balance leaves open; energy, with the mean of the speeds before and after a kick,
    to a fiftieth of what goes to and fro, and as much in the end as in the beginning."""
    job = job_of(gravity=NONE)
    stepper = job.stepper
    assert isinstance(stepper, Wrinkling) and isinstance(stepper.interior, LatticeInterior) and job.facts["two_way"]
    lattice, masses = stepper.interior.lattice, stepper.interior.loaded_mass
    speed = np.cross([0.0, 0.0, 3.0], lattice.rest) + 20.0 * lattice.rest[:, :1] ** 2 * [0.0, 1.0, 0.0]
    state = replace(job.start, velocity=lattice.points(speed).reshape(-1), memory={**job.start.memory, VELOCITY: speed})

    def momenta(state: State) -> np.ndarray:
        x, v = state.memory[POINTS], state.memory[VELOCITY]
        return np.concatenate([masses @ v, masses @ np.cross(x, v)])

    before, seen, inside = momenta(state), [], []
    for _ in range(30):
        found = stepper.step(state, 5e-3)
        assert found.outcome is Outcome.CONVERGED
        after = found.value
        assert momenta(after) == pytest.approx(before, abs=1e-9 * np.abs(before).max())
        inside.append(inner_energy(job, state))
        mean = 0.5 * (state.memory[VELOCITY] + after.memory[VELOCITY])
        seen.append(inside[-1] + 0.5 * float(masses @ np.sum(mean * mean, axis=1)))
        state = after
    to_and_fro = max(inside) - min(inside)
    assert to_and_fro > 1.0  # [J] it does swing
    assert np.ptp(seen) < 0.02 * to_and_fro
    assert abs(np.mean(seen[15:]) - np.mean(seen[:15])) < 0.005 * to_and_fro


@pytest.mark.parametrize("swelling", [-0.01, -0.05])
def test_nothing_is_kicked_where_nodes_and_skin_are_in_balance_together(swelling: float) -> None:
    """Two routes to one balance: where the least energy of both at once is, in a body whose inside swells or dries, the
    skin is where it finds itself on those nodes, and its pull is what the nodes hold against."""
    joint = job_of(swelling=swelling, gravity=NONE, stepper="implicit")
    both = joint.stepper
    assert isinstance(both, TwoWay)
    found = both.step(joint.start, 1e3)  # so long that nothing has inertia
    assert found.outcome is Outcome.CONVERGED
    state = replace(found.value, time=0.0)
    stepper = job_of(swelling=swelling, gravity=NONE).stepper
    assert isinstance(stepper, Wrinkling) and stepper.kicks is not None
    nodes = state.memory[POINTS]
    stepper._places = both.interior.lattice.points(nodes)
    own = stepper.skin.at(0.0, state.q.reshape(-1, 3))
    assert own.value.q == pytest.approx(state.q, abs=1e-8)
    pull = -stepper.kicks._carried(state)(nodes)
    rest = State(0.0, nodes.reshape(-1), np.zeros(nodes.size))
    inside = -sum(one.at(rest, 1.0).gradient(nodes) for one in both.interior.elastic)
    assert np.abs(pull).max() > 0.1
    assert pull + inside == pytest.approx(0.0, abs=1e-6 * np.abs(pull).max())


def test_steps_that_are_too_long_are_refused_with_how_many_it_takes() -> None:
    with pytest.raises(InputError, match=r"stepper: explicit steps so long .*'0.042 s'.* up to 0.019 s.*substeps = 3,"):
        job_of(substeps=1)
    assert job_of(substeps=3).facts["longest_step"] == pytest.approx(0.019, abs=1e-3)


def test_steps_are_halved_where_a_body_grows_stiffer_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the run stops, and says why."""
    job = job_of(substeps=3)
    assert isinstance(job.stepper, Wrinkling) and job.stepper.kicks is not None
    monkeypatch.setattr(job.stepper.kicks, "longest", lambda state: 0.008 if state.time > 0.03 else 1.0)
    taken = []
    step = job.stepper.step
    monkeypatch.setattr(
        job.stepper, "step", lambda state, dt, **last: taken.append(dt) or step(state, dt, **last)
    )  # fmt: skip
    assert len(list(islice(job.frames(), 3))) == 3
    assert min(taken) == pytest.approx(1 / 24 / 6)
    monkeypatch.setattr(job.stepper.kicks, "longest", lambda state: 1e-9)
    with pytest.raises(PhysicsStopped, match="explicit steps were no longer stable: up to 1e-09 s"):
        list(job.frames())


@pytest.mark.slow
def test_handles_have_the_nodes_and_a_run_taken_up_again_gives_the_same_bytes() -> None:
    held = np.flatnonzero(BAR.rest[:, 0] == 0.4)
    drawn = Handle(held, lambda time: BAR.rest[held] + [0.2 * time, 0.1 * time, 0.0])
    first = list(job_of(handles=drawn, duration=0.125).frames())
    assert max(float(one.report["handle_residual"][0]) for one in first) < 1e-12
    for one, other in zip(first[2:], job_of(handles=drawn, duration=0.125).frames(after=first[1]), strict=True):
        assert one.points.tobytes() == other.points.tobytes() and one.velocity.tobytes() == other.velocity.tobytes()


@pytest.mark.parametrize(
    ("body", "given", "sentence"),
    [
        (BAR, {"stepper": "explicit"}, "unknown stepper .*'explicit'.*implicit, symplectic"),
        (BAR, {"contact": True}, "contact: explicit steps are of a free skin"),
        (BAR, {"coherence": 1.0, "two_way": False}, "coherence, two_way: explicit steps are of a free skin"),
        (STILL, {"cell": None, "duration": None, "rate": None}, "stepper: an animated body does not step by itself"),
        (STILL, {"duration": None, "rate": None}, "stepper: an animated body does not step by itself"),
    ],
)
def test_refusals(body: Any, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        job_of(body, **given)
