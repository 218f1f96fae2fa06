"""Steering: elastic bodies that pass near key shapes and follow paths [Kondo 2005]."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from bunraku.constraints import LinearConstraint
from bunraku.contracts import Constraint, ContentStore, InputError, Points, Sparse, State, Stepper, Vector
from bunraku.direction.contact import Contact, as_contact
from bunraku.direction.job import Job
from bunraku.direction.pins import Bodies, Pin, pin_constraint
from bunraku.direction.track.untangle import Untangled, apart, untangle
from bunraku.dynamics import ImplicitEuler, NewtonSettings, System
from bunraku.energies import GravityEnergy
from bunraku.geometry import TetMesh, TriMesh
from bunraku.motion import Animation
from bunraku.numerics import use_threads

from .asked import Asked, asked, check_cache
from .bodies import Body, as_bodies, told_of
from .cast import Cast, of_all
from .facts import digests_of, facts_of
from .holding import Compensation
from .report import SteerReport
from .reuse import DIGESTS
from .settings import SteerSettings
from .start import first_pose, first_velocity, on_paths
from .touching import crossed, pressing, swallowed
from .turning import TurnConstraint, Turned

_log = logging.getLogger(__name__)
FEW = 1000
"""tetrahedra below which one thread is taken unless told otherwise: others take longer to wake than they help"""
_Press = Callable[[Sparse], Callable[[float], Vector]]


def steering_job(
    body: TetMesh | Body | Sequence[Body], *, contact: Contact | bool | None = None,
    cache: ContentStore | None = None, leads: Vector | Sequence[float] | None = None,
    blows: Sequence[float] = (), quiet: bool = False, **settings: Any,
) -> Job[TetMesh]:  # fmt: skip
    """The job behind `steer`, with the same arguments: its frames can be stopped, inspected and resumed.

    `leads` (k,) [s] are by how much earlier than its own time each key, of all bodies in order, is told to its body;
    `lead=True` finds them. `blows` [s] are hard collisions to brace for; `brace=True` finds them.
    `quiet` logs no warnings: for runs that only look for such.
    """
    cast = _cast(body, as_contact(contact), cache, leads, blows, settings)
    for sentence in () if quiet else cast.warnings:
        _log.warning("%s", sentence)
    knobs = cast.knobs
    weight = GravityEnergy(cast.mass.lumped, np.array(knobs.gravity))
    press = pressing(cast.contact, cast.body, cast.young)
    drawn = [one.constraint(press) for one in cast.drawn]
    placed = [_placed(one) for one in cast.members]
    _check_attached(cast)
    pinned = _pinned(cast, cast.body, cast.pins, of_all(placed), cast.mass.lumped, press)
    first = of_all([_on_paths(cast, k, x) for k, x in enumerate(placed)])
    turning = [one for one in cast.drawn if one.path.rotations is not None]
    turns = [TurnConstraint(one, k) for k, one in enumerate(turning)]
    conditions: tuple[Constraint, ...] = (*drawn, *pinned, *turns)
    system = System(cast.mass, (*cast.elastic, weight, *cast.damped), conditions, cast.surfaces)
    newton = NewtonSettings(
        knobs.iterations, knobs.tolerance, cast.size, single=knobs.single,
        balance=0.0 if cast.contact is None else cast.contact.balance,
    )  # fmt: skip
    begun = _begun(cast, system, [*drawn, *pinned], first, replace(newton, balance=0.0))
    start = _start(cast, system, begun)
    reporter = _reporter(cast, system, weight, pinned)
    facts = {**facts_of(cast), DIGESTS: digests_of(cast, start, pinned)}
    return Job(cast.body, knobs.times, knobs.substeps, start, _stepper(cast, system, turns, newton), reporter, facts)


def _cast(
    body: TetMesh | Body | Sequence[Body], contact: Contact | None, cache: ContentStore | None,
    leads: Vector | Sequence[float] | None, blows: Sequence[float], settings: Mapping[str, Any],
) -> Cast:  # fmt: skip
    """The bodies with what is asked of them; leads (k,) are those of all their keys."""
    bodies, shared = as_bodies(body, settings)
    check_cache(cache)
    SteerSettings.of(shared)  # what is wrong with the shot is told of no body
    knobs = [_knobs(one, shared) for one in bodies]
    few = sum(len(one.mesh.tets) for one in bodies) < FEW
    if knobs[0].threads is None and few:
        knobs = [replace(one, threads=1) for one in knobs]
    use_threads(knobs[0].threads)
    counts = np.cumsum([0, *(_count(one.keys) for one in bodies)])
    members = []
    for k, (one, own) in enumerate(zip(bodies, knobs, strict=True)):
        told = None if leads is None else np.asarray(leads, dtype=np.float64)[counts[k] : counts[k + 1]]
        with told_of(one.name):
            members.append(asked(one, contact is not None, cache, told, blows if one.brace else (), own))
    return Cast(tuple(members), contact, replace(knobs[0], start=None, velocity=None))


def _knobs(one: Body, shared: Mapping[str, Any]) -> SteerSettings:
    with told_of(one.name):
        return SteerSettings.of({**shared, **one.knobs})


def _placed(one: Asked) -> Points:
    """(n, 3) the first pose of a body."""
    with told_of(one.name):
        return first_pose(one.body, one.rest.at(0.0), one.paths, one.knobs)


def _count(keys: object) -> int:
    """How many keys are given; what is none is refused later."""
    return len(keys) if isinstance(keys, Sequence) else 1


def _pinned(
    cast: Cast, body: TetMesh, pins: Sequence[Pin], first: Points, mass: Vector, press: _Press | None
) -> list[LinearConstraint]:
    """The conditions of pins on a body of a lumped mass (n,) that starts at `first` (n, 3)."""
    skin = TriMesh(body.rest, body.surface_faces)
    still = Animation(skin, np.zeros(1), first[None])
    things = _attachable(cast, press)
    return [pin_constraint(pin, skin, first, mass, still, None, things) for pin in pins]


def _attachable(cast: Cast, press: _Press | None) -> Bodies:
    """What pins may be attached to."""
    surfaces = cast.surfaces
    if surfaces is None:
        return Bodies(guide=False)
    return Bodies(tuple(surfaces.obstacles), surfaces.parts.most + surfaces.felt_within, press, guide=False)


def _check_attached(cast: Cast) -> None:
    """Refuse pins to what is not there, with the name of their body."""
    things = _attachable(cast, None)
    for one in cast.members:
        with told_of(one.name):
            for target in (pin.body for pin in one.pins):
                if target is not None:
                    things.named(target)


def _on_paths(cast: Cast, k: int, first: Points) -> Points:
    """(n, 3) the first pose of body k, drawn onto its paths."""
    one = cast.members[k]

    def conditions() -> list[LinearConstraint]:
        pinned = _pinned(cast, one.body, one.pins, first, one.mass.lumped, None)
        return [*(path.constraint() for path in one.paths), *pinned]

    with told_of(one.name):
        return on_paths(first, one.paths, one.body, System(one.mass, (cast.solids[k],)), conditions, one.knobs)


def _begun(
    cast: Cast, system: System, conditions: Sequence[LinearConstraint], first: Points, newton: NewtonSettings
) -> Untangled:
    """The first pose (n, 3), led out of what it cuts."""
    if cast.surfaces is None:
        return Untangled(first)
    several = len(cast.members) > 1 and cast.surfaces.self_contact
    placed = {one.name: one.body.with_rest(x) for one, x in zip(cast.members, cast.each(first), strict=True)}
    inside = swallowed(placed) if several else None
    if inside is not None:
        raise inside
    if apart(cast.surfaces, first, 0.0):
        return Untangled(first)
    try:
        return untangle(system, cast.surfaces, conditions, first, 0.0, newton, cast.knobs.threads, noun="body")
    except InputError as error:
        raise (crossed(placed) if several else None) or error from error


def _start(cast: Cast, system: System, begun: Untangled) -> State:
    velocities = []
    for one, x in zip(cast.members, cast.each(begun.points), strict=True):
        with told_of(one.name):
            velocities.append(first_velocity(x, one.body, one.paths, one.knobs, cast.step))
    velocity = of_all(velocities)
    state = State(0.0, begun.points.reshape(-1).copy(), velocity.reshape(-1).copy())
    return replace(state, memory={**system.remember(state), **begun.pinched})


def _stepper(cast: Cast, system: System, turns: Sequence[TurnConstraint], newton: NewtonSettings) -> Stepper:
    plain = ImplicitEuler(system, newton, threads=cast.knobs.threads)
    stepper: Stepper = Turned(plain, turns) if turns else plain
    if len(cast.drawn) < len(cast.paths):
        stepper = Compensation(stepper, system, cast.paths)
    return stepper


def _reporter(cast: Cast, system: System, weight: GravityEnergy, pinned: Sequence[LinearConstraint]) -> SteerReport:
    drawn = cast.drawn
    rows = [3 * drawn.index(one) if one in drawn else None for one in cast.paths]
    ends = 3 * len(drawn) + np.cumsum([0, *(pin.jacobian.shape[0] for pin in pinned)])
    pin_rows = [np.arange(a, b) for a, b in pairwise(ends)]
    return SteerReport(cast, system, weight, rows, pin_rows)
