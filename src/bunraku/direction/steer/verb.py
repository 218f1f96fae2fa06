"""`steer`: a steered shot in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from bunraku.contracts import Array, ContentStore, Points, Vector, input_error, need
from bunraku.direction.contact import Contact
from bunraku.direction.job import Job, Take, collect
from bunraku.direction.knobs import listed
from bunraku.direction.pins import Pin
from bunraku.geometry import Cage, TetMesh, TriMesh, enclose, join_surfaces
from bunraku.motion import Animation, Path

from .approach import approaches_of
from .bodies import Body, as_bodies, told_of
from .bracing import hard_collisions
from .cautions import fetched, missed_turns
from .keys import KeyShape
from .lead import led
from .materials import Material
from .report import SteerReport
from .reuse import DIGESTS, kept_frames, taken_up
from .settings import GRAVITY, SteerSettings
from .steering import steering_job


def steer(
    body: TetMesh | Body | Sequence[Body], *, keys: Sequence[KeyShape] | KeyShape = (),
    path: Path | Sequence[Path] | None = None, material: Material = "rubber", duration: float = 2.0,
    rate: float = 24.0, gravity: Sequence[float] = GRAVITY,
    substeps: int = 1, iterations: int | None = None, tolerance: float = SteerSettings.tolerance,
    pins: Sequence[Pin] | Pin = (), contact: Contact | bool | None = None, surface: TriMesh | Cage | None = None,
    start: Points | None = None, velocity: Points | Sequence[float] | None = None, lead: bool | float = False,
    brace: bool = False, interpolation_damping: float = 8.0, mass: str = "lumped", threads: int | None = None,
    single: bool = True, reuse: Take[TetMesh] | None = None, cache: ContentStore | None = None,
) -> Take[TetMesh]:  # fmt: skip
    """Run a steered shot in memory: an elastic body that passes near key shapes and follows paths, or several.

    Args:
        body: tetrahedra in their rest shape, as `tetrahedralise` and `read_tets` give them; or a list of `Body`, each
            with its own material, keys, paths, pins, first pose, lead and surface, which are then not said here.
        keys: shapes to pass near, in order of time. They are loose: the body is drawn to them and stays elastic.
        path: one or several, for the whole body or parts of it. They are exact.
        material: a preset's name ("rubber", "jelly", "flesh" …), a preset with changes, or a `SolidMaterial`.
        duration: [s].
        rate: frames a second; frame k is at k/rate.
        gravity: [m/s²].
        substeps: steps a frame.
        iterations: Newton iterations a step; None runs to convergence.
        tolerance: converged when a Newton step moves nothing by more than this times the body's size.
        pins: vertices held exactly.
        contact: True, or a `Contact` with ground and obstacles: then nothing passes through anything, and where a path
            asks for that it yields; the report says where.
        surface: a fine mesh that goes along with the body (20,000 polygons with a few hundred tetrahedra), or its
            `Cage`; None: the body's own surface.
        start: (n, 3) the first pose [m]; None: the rest shape, brought to where paths begin.
        velocity: (n, 3), or (3,) for all vertices [m/s]; None: as the path begins, else none.
        lead: how much earlier keys are told to the body [s]; True: so that it is nearest to each on the key's own
            time, which takes up to five runs.
        brace: keep the shape that the body is told as it is two frames before and after a hard collision; one more run
            finds these.
        interpolation_damping: of the way from key to key, times the material's.
        mass: "lumped" or "consistent".
        threads: of kernels and solver; None takes all cores, for a few hundred tetrahedra one.
        single: factorise in single precision and refine in double.
        reuse: an earlier take of the shot: its frames are taken over up to the first that an edit changes.
        cache: where the ways between key shapes are kept from run to run.

    Returns:
        A `Take`: `animation` of all vertices of the body (of several one after another: `facts["bodies"]` says which
        vertices, keys and paths are whose), `surface`, and a `report` that has, per frame:
        `residual` (t, p) [m] of each directed point from its path, `force` (t, p, 3) [N] that took,
        `held` (t, p), `point` and `point_velocity` (t, p, 3) of it; `rotation` (t, 3, 3) of the body as a whole, or
        (t, b, 3, 3) of several, `rotation_residual` (t, p) [rad];
        `key_distance` (t, k) [m] of the shape from each key's; `pin_residual` (t, q) [m]; `kinetic`, `elastic`,
        `gravity` (t,) [J], `volume` (t,) [m³], `inverted` (t,) tetrahedra inside out; `iterations`, `converged`,
        `last_step` [m]; with contact `pairs`, `closest` [m], `pinched` and `gave_way` (t, p), whether a path yielded.
        `facts["approaches"]` says how near and how late each key was passed, `facts["warnings"]` what may not be meant.
    """
    given: dict[str, Any] = {
        "keys": keys, "path": path, "material": material, "pins": pins, "start": start, "velocity": velocity,
        "lead": lead, "brace": brace, "interpolation_damping": interpolation_damping, "surface": surface,
        "duration": duration, "rate": rate, "gravity": gravity, "substeps": substeps, "iterations": iterations,
        "tolerance": tolerance, "mass": mass, "threads": threads, "single": single,
    }  # fmt: skip
    if reuse is not None:
        need(Take, "reuse", reuse)
    bodies, shared = as_bodies(body, given)
    bodies = tuple(_with_keys(one) for one in bodies)
    shared |= {"contact": contact, "cache": cache}
    cages = [_carried(one) for one in bodies]
    shared["blows"] = find_blows(bodies, **shared)

    runs = count()

    def run(leads: Vector | None) -> Take[TetMesh]:
        return finished(steering_job(bodies, leads=leads, quiet=next(runs) > 0, **shared), reuse, cages)

    return led(run, bodies, rate)[1] if any(one.lead is True and one.keys for one in bodies) else run(None)


def find_leads(bodies: Sequence[Body], *, rate: float = 24.0, **given: Any) -> Vector:
    """(k,) [s] by how much earlier each key, of all bodies in order, must be told so that its body is nearest to it on
    the key's own time; those of bodies whose lead is a number have that. Other arguments are those of `steering_job`.
    """

    def run(leads: Vector) -> Take[TetMesh]:
        return finished(steering_job(bodies, leads=leads, rate=rate, quiet=True, **given))

    return led(run, bodies, rate)[0]


def find_blows(bodies: Sequence[Body], **given: Any) -> Sequence[float]:
    """[s] when bodies collide hard, in a run without leads, where one of them is to be braced for that; other arguments
    are those of `steering_job`."""
    if not any(one.brace is True and one.keys for one in bodies):
        return ()
    first = finished(steering_job([replace(one, lead=False) for one in bodies], quiet=True, **given))
    return hard_collisions(first.animation.times, first.report)


def finished(
    job: Job[TetMesh], reuse: Take[TetMesh] | None = None, surfaces: Sequence[Cage | None] = ()
) -> Take[TetMesh]:
    """Run a job of `steering_job` to its end, from where an earlier take has it; `surfaces` (b,) go with its bodies."""
    reporter = job.reporter
    assert isinstance(reporter, SteerReport)
    frames = list(taken_up(job, reuse, reporter.of_keys))
    take = collect(job, frames)
    facts = {**job.facts, "reused": 0 if reuse is None else len(kept_frames(reuse, job.facts[DIGESTS]))}
    near = approaches_of(facts, job.times, take.report["key_distance"])
    facts["approaches"] = near
    facts["sentences"] = [str(one) for one in near]
    facts["hard_collisions"] = hard_collisions(job.times, take.report)
    told = (*_taken(facts, job.times, take.report), *missed_turns(job.times, take.report))
    facts["warnings"] = [*facts["warnings"], *told]
    meshes = [one.body for one in reporter.cast.members]
    surface = _surface(take.animation, meshes, surfaces or [None] * len(meshes))
    return replace(take, facts=facts, frames=frames, surface=surface)


def _taken(facts: Mapping[str, Any], times: Vector, report: Mapping[str, Array]) -> list[str]:
    """Sentences about paths that took hold of bodies elsewhere than where those would have been."""
    return [
        f"path {one.path} takes hold at {times[one.frame]:g} s {one.away:.3g} m from where the body would have been: "
        "it is fetched within a step; begin the path where the body is"
        for one in fetched(times, report, facts["size"])
    ]


def _with_keys(one: Body) -> Body:
    with told_of(one.name):
        return replace(one, keys=listed(KeyShape, "keys", one.keys))


def _carried(one: Body) -> Cage | None:
    with told_of(one.name):
        return _cage(one.surface, one.mesh)


def _cage(surface: object, body: object) -> Cage | None:
    """How a fine surface goes with the body."""
    if surface is None:
        return None
    if isinstance(surface, Cage):
        own = surface.body
        same = isinstance(body, TetMesh) and np.array_equal(own.tets, body.tets) and np.array_equal(own.rest, body.rest)
        if not same:
            raise input_error("the cage is of another body", where="surface", got=f"{surface.matrix.shape[1]} nodes")
        return surface
    need(TriMesh, "surface", surface)
    need(TetMesh, "body", body)
    assert isinstance(surface, TriMesh) and isinstance(body, TetMesh)
    return enclose(surface, body)


def _surface(animation: Animation[TetMesh], bodies: Sequence[TetMesh], cages: Sequence[Cage | None]) -> Animation:
    """Of all bodies: their fine surfaces, or their own, one after another."""
    firsts = np.cumsum([one.point_count for one in bodies])[:-1]
    moved, meshes = [], []
    for own, body, cage in zip(np.split(animation.points, firsts, axis=1), bodies, cages, strict=True):
        meshes.append(body.surface() if cage is None else cage.surface)
        moved.append(own[:, body.surface_vertices] if cage is None else np.stack([cage.points(x) for x in own]))
    points: Array = moved[0] if len(moved) == 1 else np.concatenate(moved, axis=1)
    return Animation(join_surfaces(meshes), animation.times, points)
