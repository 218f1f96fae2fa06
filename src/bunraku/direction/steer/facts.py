"""What is said once of a steered shot: its size, its keys, and what each frame is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bunraku.constraints import LinearConstraint
from bunraku.contracts import Array, State
from bunraku.motion import Path

from .cast import Cast
from .reuse import frame_digests


def digests_of(cast: Cast, start: State, pinned: Sequence[LinearConstraint]) -> list[str]:
    """(t,) what each frame is made of."""
    knobs = cast.knobs
    own = ("gravity", "rate", "substeps", "iterations", "tolerance", "mass", "single")
    constants: list[Any] = [cast.body.rest, cast.body.tets, *(getattr(knobs, name) for name in own)]
    moving: list[Callable[[float], Array]] = []
    for one in cast.members:
        constants += [one.name, one.body.point_count, one.material, bool(one.keys)]
        moving += [one.rest.at] if one.keys else []
    constants += [part for one in cast.paths for part in (one.vertices, one.path.hold, one.path.rotations is None)]
    constants += [part for pin in pinned for part in (pin.jacobian.indices, pin.jacobian.indptr)]
    for one in cast.paths:
        moving += [one.path.at, one.path.rotation, _holding(one.path)]
    for pin in pinned:
        moving += [pin.goals, pin.strength]
    _add_contact(cast, constants, moving)
    return frame_digests(knobs.times, knobs.substeps, start, constants, moving)


def _add_contact(cast: Cast, constants: list[Any], moving: list[Callable[[float], Array]]) -> None:
    contact, surfaces = cast.contact, cast.surfaces
    if contact is None or surfaces is None:
        return
    said = (surfaces.gap, surfaces.reach, surfaces.friction, surfaces.self_contact, contact.press, contact.balance)
    constants += [said, list(surfaces.between), *surfaces.named.values(), list(surfaces.named)]
    for plane in surfaces.planes:
        constants += [plane.name, plane.point, plane.normal, plane.thickness, plane.friction]
    for thing in surfaces.obstacles:
        constants += [thing.name, thing.mesh.faces, thing.thickness, thing.friction]
        moving.append(thing.at)


def _holding(path: Path) -> Callable[[float], Array]:
    return lambda time: np.array([float(path.holds(time))])


def facts_of(cast: Cast) -> dict[str, Any]:
    """Counts, sizes, warnings; of keys those of all bodies, in order."""
    body = cast.body
    facts: dict[str, Any] = {
        "vertices": body.point_count, "tets": len(body.tets), "size": cast.size,
        "mass": float(cast.mass.lumped.sum()), "volume": float(body.volumes.sum()), "rate": float(cast.knobs.rate),
        "warnings": list(cast.warnings), "bodies": _bodies(cast),
        "key_times": [key.time for one in cast.members for key in one.keys],
        "key_ways": [way for one in cast.members for way in one.ways],
        "told_at": [float(time) for one in cast.members for time in one.rest.times],
        "interpolation_seconds": [way.seconds for one in cast.members for way in one.rest.ways],
    }  # fmt: skip
    if cast.surfaces is not None:
        facts["contact"] = {"gap_m": float(cast.surfaces.gap), "reach_m": float(cast.surfaces.felt_within)}
    return facts


def _bodies(cast: Cast) -> list[dict[str, Any]]:
    """Which vertices, tetrahedra, keys and paths are those of each body: from the first to before the last."""
    members = cast.members
    counts = {
        "vertices": [one.body.point_count for one in members], "tets": [len(one.body.tets) for one in members],
        "keys": [len(one.keys) for one in members], "paths": [len(one.paths) for one in members],
    }  # fmt: skip
    ranges = {name: list(pairwise(np.cumsum([0, *each]).tolist())) for name, each in counts.items()}
    return [
        {
            "name": one.name, "size": one.body.size, "brace": one.knobs.brace,
            **{name: list(each[k]) for name, each in ranges.items()},
        }
        for k, one in enumerate(members)
    ]  # fmt: skip
