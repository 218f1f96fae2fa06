"""Chains of motions: each begins where the one before ends, standing on other vertices, or flying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import (
    Array,
    ContentStore,
    InputError,
    Integers,
    PhysicsStopped,
    Points,
    Vector,
    input_error,
    need,
    whole_number,
)
from bunraku.direction.job import Take
from bunraku.direction.steer import Material
from bunraku.geometry import Cage, TetMesh, TriMesh, check_tets
from bunraku.motion import Animation
from bunraku.numerics import one_blas_thread

from .checks import as_gravity, check_knobs
from .handover import Handed, check_feet, in_flight, onto_ground, take_off
from .keys import SAME_TIME, Key, check_keys
from .motion import Motion, Origin, as_time, carried, frame_times
from .nodes import Ends
from .phases import Flight, Phase, as_landing
from .place import Place
from .reduced import Reduced, Stock
from .solving import solve
from .spent import Spent
from .verb import as_fixed, check_modes, keyed_sets, stock_of

GRAVITY = (0.0, -9.81, 0.0)
_PARTS = ("set up", "solve")


@dataclass(frozen=True, eq=False)
class Chain:
    """Motions one after another, to be asked for at any time. Before and after it the body stays as it is there."""

    motions: tuple[Motion, ...]
    report: Mapping[str, Any] = field(default_factory=dict)
    """how all keys were met, and what it took"""
    phases: tuple[Phase | Flight, ...] = ()
    """what it was planned from"""

    @property
    def mesh(self) -> TetMesh:
        """The tetrahedra that move."""
        return self.motions[0].mesh

    @property
    def begins(self) -> Vector:
        """(p + 1,) [s] when each motion begins, and the last ends."""
        return np.concatenate([[0.0], np.cumsum([one.duration for one in self.motions])])

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.begins[-1])

    def __call__(self, time: float) -> tuple[Points, Points]:
        """(n, 3) points [m] and (n, 3) velocities [m/s] of the body's vertices at a time [s]."""
        return self.points(time), self.velocities(time)

    def points(self, time: float) -> Points:
        """(n, 3) of the body's vertices at a time [s]."""
        motion, since = self.at(time)
        return motion.points(since)

    def velocities(self, time: float) -> Points:
        """(n, 3) [m/s]; none before and after."""
        motion, since = self.at(time)
        return motion.velocities(since)

    def at(self, time: float) -> tuple[Motion, float]:
        """The motion that goes on at a time, and the time since it began [s]."""
        time = as_time(time)
        k = int(np.clip(np.searchsorted(self.begins, time, side="right") - 1, 0, len(self.motions) - 1))
        return self.motions[k], time - float(self.begins[k])

    def key(self, time: float, weight: float = np.inf) -> Key:
        """The whole body's pose and velocity at a time of the chain, as a key of the motion that goes on then: without
        what is fixed in it, and with the time since it began. Where two motions meet it is the end of the first."""
        k = int(np.clip(np.searchsorted(self.begins, as_time(time) - SAME_TIME) - 1, 0, len(self.motions) - 1))
        return self.motions[k].key(float(np.clip(time - self.begins[k], 0.0, self.motions[k].duration)), weight)

    def take(self, rate: float = 24.0, surface: TriMesh | Cage | None = None) -> Take[TetMesh]:
        """All motions as frames."""
        times = frame_times(self.duration, rate, self.mesh.point_count)
        which = np.clip(np.searchsorted(self.begins, times, side="right") - 1, 0, len(self.motions) - 1)
        points, velocities = [], []
        for k, motion in enumerate(self.motions):
            own = times[which == k] - self.begins[k]
            if len(own):
                made = motion.frames(np.minimum(own, motion.duration))
                points.append(made.animation.points)
                velocities.append(made.velocities)
        animation = Animation(self.mesh, times, np.concatenate(points))
        return Take(animation, {}, np.concatenate(velocities), dict(self.report), carried(animation, surface))


def chain(
    body: TetMesh, phases: Sequence[Phase | Flight], *, material: Material | Sequence[Material] = "rubber",
    of_tet: Integers | Sequence[int] | None = None, modes: int = 30, damping: ArrayLike | None = None,
    gravity: Sequence[float] = GRAVITY, warp: bool = True, attach: bool = False, ground: float | None = None,
    before: Chain | None = None, kept: int = 0, threads: int | None = None, cache: ContentStore | None = None,
) -> Chain:  # fmt: skip
    """Plan motions one after another: a walk, a handspring, a jump.

    The first begins at rest in the rest shape. Every other one begins with the pose and the velocity at which the one
    before ends; what it stands on stays where it is then.

    Args:
        body: tetrahedra in their rest shape.
        phases: `Phase` where vertices stand, `Flight` where none does.
        material: as for `plan`.
        of_tet: as for `plan`.
        modes: how many of the lowest modes each motion is made of, besides the pose and the velocity handed on.
        damping: as for `plan`.
        gravity: [m/s²] by which the centre of mass flies; what stands does not feel it.
        warp: as for `plan`.
        attach: as for `plan`.
        ground: as for `plan`.
        before: an earlier chain of the same body: its set-up is taken, and the first phase that is planned anew goes on
            from where it was.
        kept: how many of the first phases are as they were in `before`: their motions are taken, too.
        threads: of kernels and solver; None takes all cores.
        cache: where modes are kept from run to run.

    Returns:
        A `Chain`: like a `Motion`, with its `motions` one by one.
    """
    need(TetMesh, "body", body)
    check_tets(body, "body")
    check_knobs({"warp": warp, "attach": attach}, ground, threads, cache)
    _check(phases, body, modes)
    begin = Spent.now()
    if before is not None:
        need(Chain, "before", before)
    most = 0 if before is None else min(len(before.motions), len(phases))
    if whole_number("kept", kept) > most:
        raise input_error("there are not so many motions to be taken", where="kept", got=kept, allowed=f"0 to {most}")
    known = None if before is None else before.motions[0]
    stock = stock_of(body, material, of_tet, damping, (0.0, 0.0, 0.0), known, threads, cache)
    pull, made = as_gravity(gravity), [*before.motions[:kept]] if before is not None else []
    with one_blas_thread():  # matrices are small, and its threads would spin where those of the kernels work
        for k, one in enumerate(phases[kept:], start=kept):
            was = None if before is None or k >= len(before.motions) else before.motions[k]
            try:
                if isinstance(one, Phase):
                    made.append(_standing(stock, one, made, modes, warp, attach, ground, was))
                else:
                    made.append(_flying(stock, one, made, modes, warp, attach, pull, ground, was))
            except InputError as error:  # only what is made before says whether a flight can land
                raise InputError(f"phases[{k}]: {error}") from None
            except PhysicsStopped as error:
                where = {"index": error.index, "time": error.time, "vertex": error.vertex, "position": error.position}
                raise PhysicsStopped(f"phases[{k}]: {error.reason}", **where) from None
    return Chain(tuple(made), _report(made, begin.since), tuple(phases))


def _check(phases: Sequence[Phase | Flight], body: TetMesh, modes: int) -> None:
    """Refuse what cannot be a chain of a body before any of it is planned; all findings at once."""
    if not isinstance(phases, (list, tuple)) or not phases or not isinstance(phases[0], Phase):
        raise input_error("a chain begins with a phase that stands", where="phases", got=type(phases).__name__)
    wrong = []
    for k, one in enumerate(phases):
        try:
            if isinstance(one, Phase):
                _check_phase(one, body, modes)
            elif isinstance(one, Flight):
                _check_landing(one, body)
            else:
                raise input_error("not a phase", got=type(one).__name__, allowed="a Phase or a Flight")
        except InputError as error:
            wrong += [f"phases[{k}]: {line}" for line in str(error).splitlines()]
    if wrong:
        raise InputError("\n".join(wrong))


def _check_landing(flight: Flight, body: TetMesh) -> None:
    landing = flight.landing(1.0)
    try:
        check_keys(() if landing is None else (landing,), body, np.zeros(0, np.int64), 1.0)
    except InputError as error:
        raise InputError(as_landing(error)) from None


def _check_phase(phase: Phase, body: TetMesh, modes: int) -> None:
    fixed = as_fixed(phase.fixed, body)
    check_feet(fixed)
    check_modes(modes, body, fixed)
    keys = phase.all_keys
    check_keys(keys, body, fixed, phase.duration)
    for key in keys:
        if key.time <= SAME_TIME:
            raise input_error(
                "a phase begins as the one before ends, or at rest: a key says nothing there", where=key.name,
                remedy="a later time, or the end of the phase before",
            )  # fmt: skip
        if phase.rest and key.time >= phase.duration - SAME_TIME:
            raise input_error(
                "a phase that ends at rest in the rest shape has no key at its end", where=key.name,
                remedy="rest=False, or an earlier time",
            )  # fmt: skip


def _standing(
    stock: Stock, phase: Phase, made: Sequence[Motion], modes: int, warp: bool, attach: bool, ground: float | None,
    was: Motion | None,
) -> Motion:  # fmt: skip
    """One phase, after the motions that are made already; `was` is what it was before."""
    fixed = as_fixed(phase.fixed, stock.mesh)
    keys = phase.all_keys
    begin = Spent.now()
    body = stock.reduced(fixed, modes, warped=warp, keyed=keyed_sets(keys) if attach else ())
    origin = Origin(body, made[-1] if made else None)
    handed = _handed_before(was, origin)
    if handed is None and made:
        handed = onto_ground(body, *_end(made[-1]), _turn(made[-1]), _turns(made[-1]))
    elif handed is None:
        handed = Handed(body, Place.still(), np.zeros(body.modes.count), np.zeros(body.modes.count))
    handed.body.prepare([key.vertices for key in keys])
    spent = begin.since
    still = np.zeros(handed.body.modes.count)
    ends = Ends((handed.position, handed.velocity), (still, still) if phase.rest else None)
    found = solve(
        handed.body, keys, phase.duration, ends, place=handed.place, before=was, set_up=spent, ground=ground
    )  # fmt: skip
    return replace(found, origin=origin)


def _flying(
    stock: Stock, flight: Flight, made: Sequence[Motion], modes: int, warp: bool, attach: bool, gravity: Vector,
    ground: float | None, was: Motion | None,
) -> Motion:  # fmt: skip
    """One flight, after the motions that are made already; `was` is what it was before."""
    begin = Spent.now()
    sole = flight.landing(1.0)  # when it lands is not known yet, and nothing here asks for it
    body = stock.flying(modes, warped=warp, keyed=keyed_sets([sole]) if attach and sole is not None else ())
    origin = Origin(body, made[-1], (flight.height, *np.asarray(flight.turn), *gravity))
    handed = _handed_before(was, origin)
    if handed is None:
        handed, duration = _taken_off(body, flight, made[-1], gravity)
    else:
        assert was is not None
        duration = was.duration
    landing = flight.landing(duration)
    keys = () if landing is None else (_moved_along(landing, handed.place),)
    handed.body.prepare([key.vertices for key in keys])
    spent = begin.since
    ends = Ends((handed.position, handed.velocity), None)
    found = solve(handed.body, keys, duration, ends, place=handed.place, before=was, set_up=spent, ground=ground)
    return replace(found, origin=origin)


def _taken_off(body: Reduced, flight: Flight, made: Motion, gravity: Vector) -> tuple[Handed, float]:
    """The body in the air, and for how long [s]."""
    begun = take_off(body, *_end(made), _turn(made), _turns(made), gravity)
    down = float(np.linalg.norm(gravity))
    up = -gravity / down if down else np.array([0.0, 1.0, 0.0])
    assert begun.place.launch is not None
    duration = flight.lasts(float(begun.place.origin @ up), float(begun.place.launch @ up), down)
    return in_flight(body, begun, np.asarray(flight.turn), duration), duration


def _handed_before(was: Motion | None, origin: Origin) -> Handed | None:
    """What was handed over to a motion that began as this one does; handing it over anew would find the same."""
    if was is None or was.origin is None or not was.origin.same(origin):
        return None
    return Handed(was.body, was.place, was.spline.positions[0], was.spline.velocities[0])


def _turn(motion: Motion) -> Array:
    """(3, 3) how the body's own frame is turned at the end of a motion."""
    return motion.place.turn_at(motion.duration)


def _turns(motion: Motion) -> Array:
    """(m, 3) how tetrahedra are turned from the rest shape at the end of a motion, with all whole turns [rad]."""
    place, body, last = motion.place, motion.body, motion.duration
    own = body.warp.numbers(body.modes.displacements(motion.coordinates(last)))[:, :3]
    return place.wound_at(last) + own @ place.turn_at(last).T


def _moved_along(key: Key, place: Place) -> Key:
    """A key about the centre of mass, as one of the world."""
    where = None if key.positions is None else key.positions + place.origin_at(key.time)
    speed = None if key.velocities is None else key.velocities + place.drift_at(key.time)
    return Key(key.time, key.vertices, where, speed, key.weight, key.turn)


def _end(motion: Motion) -> tuple[Points, Points]:
    """(n, 3) the last pose and its velocity."""
    return motion.points(motion.duration), motion.velocities(motion.duration)


def _report(motions: Sequence[Motion], spent: Spent) -> dict[str, Any]:
    reports = [one.report for one in motions]
    return {
        "motions": reports, "met": all(one["met"] for one in reports),
        "sentences": [f"motion {k + 1}: {text}" for k, one in enumerate(reports) for text in one["sentences"]],
        "iterations": sum(one["iterations"] for one in reports),
        "seconds": {"all": spent.seconds, **_parts(reports, "seconds")},
        "processor": {"all": spent.processor, **_parts(reports, "processor")},
    }  # fmt: skip


def _parts(reports: Sequence[Mapping[str, Any]], clock: str) -> dict[str, float]:
    return {name: sum(one[clock][name] for one in reports) for name in _PARTS}
