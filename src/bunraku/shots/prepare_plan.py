"""From a shot to bodies whose motion is planned: read and planned one after another, then laid together."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.contracts import Points, Sparse, Vector, many
from bunraku.direction import Job
from bunraku.direction.plan import asked_shapes, planned_job
from bunraku.io import ContentCache
from bunraku.motion import Animation, Curve

from .contact import read_obstacles
from .filling import BODIES, Filling, fill_bodies, written
from .frame_numbers import resolved
from .plan_sentences import ground_facts, key_facts, warnings_of
from .prepared import Prepared
from .read_plan import Reading, ReadPlan, plan_inputs
from .refusals import refuse_settings
from .report import GROUNDS, KEYS
from .shot import Shot
from .spec import PhysicsTable

_FOR_STEPS = {
    **{one.name: "is for what is simulated; a plan is found at once" for one in dataclasses.fields(PhysicsTable)
       if one.name != "gravity"},
    "contact": "is for what is simulated; a plan is found at once, and feels no contact",
}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedPlan(Prepared):
    """Elastic bodies that move as was planned."""

    plans: tuple[ReadPlan, ...]
    filling: Filling

    @property
    def noun(self) -> str:
        """What sentences call it."""
        return self.filling.noun

    @property
    def ground(self) -> float | None:
        """[m] the highest that a motion is told of."""
        told = [one.table.ground for one in self.plans if one.table.ground is not None]
        return max(told) - float(self.origin[1]) if told else None

    @property
    def told(self) -> str:
        """The way from key to key, evenly."""
        return "its keys alone"

    @property
    def goal(self) -> str:
        """What must be met."""
        return "its keys" if self._alone else "their keys"

    @property
    def gap(self) -> str:
        """What a residual is; keys tell theirs once, not frame by frame."""
        return "distance from a key"

    @property
    def regions(self) -> tuple[str, ...]:
        """None is directed on every frame."""
        return ()

    @property
    def functions(self) -> Sparse | None:
        """None either."""
        return None

    def held(self, time: float) -> Vector:
        """(0,)"""
        return np.zeros(0)

    @property
    def apart(self) -> str:
        """A plan feels nothing that is in its way."""
        return "a plan does not feel what is in its way: more keys lead around it"

    def distances(self, x: Points, time: float) -> Vector | None:
        """Keys are of nodes, which the surface alone does not tell."""
        return None

    def summary(self) -> list[str]:
        """Surface, tetrahedra, keys, and those that would be missed."""
        missed = [one for one in self._facts()[KEYS] if not one["met"]]
        return [
            *(_summary(one) for one in self.plans),
            *(f"would miss {one['where']} of {one['object']} by {one['missed']:.3g} {one['unit']}" for one in missed),
        ]

    def rehearse(self, threads: int | None) -> None:
        """The motion is planned already."""

    def make_job(self, threads: int | None) -> Job[Any]:
        """The job that asks the motions frame by frame."""
        first = float(self.numbers[0])
        return planned_job([one.planned(first) for one in self.plans], self.times, self._facts())

    def _facts(self) -> dict[str, Any]:
        """What a report says once; how long it took is no part of it."""
        motions = [motion for one in self.plans for motion in one.motions]
        return {
            **({} if self._alone else {"objects": [one.name for one in self.plans]}),
            KEYS: [fact for one in self.plans for fact in key_facts(one)],
            GROUNDS: [ground_facts(one) for one in self.plans if one.table.ground is not None],
            "modes": [int(one.report["modes"]) for one in motions],
            "dimension": [int(one.report["dimension"]) for one in motions],
            "plan_iterations": [int(one.report["iterations"]) for one in motions],
            "effort": float(sum(one.energy for one in motions)),
            "warnings": [text for one in self.plans for text in warnings_of(one)],
        }  # fmt: skip

    @property
    def _alone(self) -> bool:
        return self.filling.alone


def prepare_plan(
    shot: Shot, frames: tuple[int, int] | None = None, *, keeping: bool = True, threads: int | None = None
) -> PreparedPlan:
    """Read the shot's files and plan its motions; raises one InputError with everything that does not fit. `frames` are
    made instead of the shot's, of the same motions; tetrahedra and modes are kept with the takes, unless `keeping` is
    False."""
    root, store = shot.place, ContentCache(shot.output.folder / BODIES, keeping=keeping)
    refuse_settings(shot, root, _FOR_STEPS)
    root.raise_all()
    filled, rate, origin = fill_bodies(shot.plans, shot, store)
    reading = Reading(shot, rate, origin, store, threads)
    read = [reading.read(one, shot.plans[one.name], root.at("object").at(one.name)) for one in filled]
    root.raise_all()
    plans = tuple(one for one in read if one is not None)
    numbers = _frame_numbers(plans, frames or shot.shot.frames)
    obstacles = read_obstacles(shot, rate, numbers, root)
    root.raise_all()
    first = float(numbers[0])
    times = (numbers - first) / rate
    points = np.concatenate([_directed(one, first, times) for one in plans], axis=1)
    filling = Filling(tuple(one.filled for one in plans), tuple(one.cage for one in plans))
    return PreparedPlan(
        shot=resolved(shot, numbers, {one.name: one.table for one in plans}), written=written(filled), first=first,
        inputs=(*_inputs(plans), *obstacles.inputs), guide=Animation(filling.shell, times, points),
        shell=filling.shell, rest=None, pins=(), seams=(), strength=Curve.of(1.0), numbers=numbers, origin=origin,
        contact=obstacles.about(origin).from_zero(first / rate), plans=plans, filling=filling,
    )  # fmt: skip


def _inputs(plans: Sequence[ReadPlan]) -> list[Any]:
    return [file for one in plans for file in (*one.filled.inputs, *plan_inputs(one.name, one.table))]


def _frame_numbers(plans: Sequence[ReadPlan], frames: tuple[int, int] | None) -> Vector:
    """(t,) the frames to make: those asked for, or from the first motion's beginning to the last one's end."""
    begins = [one.table.begin for one in plans if one.table.begin is not None]
    first = int(np.floor(min(begins)))
    last = max(int(np.ceil(max(one.last for one in plans) - 1e-6)), first)
    first, last = frames or (first, last)
    return np.arange(first, last + 1, dtype=np.float64)


def _directed(one: ReadPlan, first: float, times: Vector) -> Points:
    """(t, n, 3) what is asked for, to look at: keys alone, joined evenly."""
    planned = one.planned(first)
    shapes = asked_shapes(one.motion, np.array([planned.since(float(time)) for time in times]))
    return np.stack([one.cage.points(x) for x in shapes])


def _summary(one: ReadPlan) -> str:
    keys = many(sum(len(told) for told in one.told), "key")
    phases = f" in {many(len(one.told), 'phase')}" if one.table.phases else ""
    modes = max(motion.report["modes"] for motion in one.motions)
    span = f"frames {one.table.begin:g} to {one.last:.6g}"
    return f"{one.filled.summary()}; {keys}{phases}, {span}, planned in {modes} modes"
