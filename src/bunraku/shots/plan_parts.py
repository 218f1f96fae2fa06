"""What a shot says about a planned body, turned into what `plan` takes: keys, landings, materials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Integers, Points, Vector
from bunraku.direction.plan import Flight, Key
from bunraku.direction.steer import Grip
from bunraku.geometry import closest_points

from .body_parts import Parts
from .findings import Place
from .plan_spec import FlightTable, PlanKey, PlanObject, PlanRegion

NO_NODES: Integers = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Told:
    """A key as the file tells it, for sentences."""

    where: str
    """'keys[0]'"""
    frame: float
    """of the shot"""
    region: str | None
    """None: the centre of mass, or the whole body"""
    landing: bool = False
    """whether it is the end of a flight"""


def key_of(parts: Parts, told: PlanKey, fixed: Integers, root: Place) -> Key:
    """A key of the body's nodes, its time counted from the frame `parts.first`."""
    body, time, weight = parts.cage.body, parts.time(told.frame), weight_of(told.weight)
    if told.region is not None:
        nodes: Integers | None = parts.nodes(told.region, root)
    else:
        nodes = None if told.file is None else np.setdiff1d(np.arange(body.point_count), fixed)
    places: Array | None = None
    if told.file is not None:
        places = parts.shape(told)[nodes]
    elif told.placed and nodes is not None:
        pivot = None if told.pivot is None else np.array(told.pivot) - parts.origin
        places = carried(told, nodes, body.rest[nodes], pivot)
    elif told.centre is not None:
        places = np.array(told.centre) - parts.origin
    turn = None if told.rotate is None or places is None else np.radians(told.rotate)
    return Key(time, nodes, places, told.velocity, weight, turn)


def landing_of(parts: Parts, told: FlightTable, mass: Vector, gravity: Vector, root: Place) -> Flight:
    """A flight and its landing; mass (n,) of the nodes [kg]."""
    rest, size = parts.cage.body.rest, float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.array([0.0, 1.0, 0.0])
    centre = mass @ rest / mass.sum()
    height = float(centre @ up) if told.height is None else told.height - float(parts.origin @ up)
    turn = np.radians(told.turn)
    nodes = None if told.region is None else parts.nodes(told.region, root)
    places: Points | None = None
    if nodes is not None and told.placed:
        about = (rest[nodes] - centre) @ Rotation.from_rotvec(turn).as_matrix().T
        places = carried(told, nodes, about)
    return Flight(height, nodes, places, told.velocity, weight_of(told.weight), turn)


def carried(told: PlanKey | FlightTable, nodes: Integers, points: Points, pivot: Vector | None = None) -> Points:
    """(v, 3) where points (v, 3) of nodes are moved, turned and scaled to, about a pivot or their middle."""
    none = (0.0, 0.0, 0.0)
    grip = Grip(nodes, told.move or none, np.radians(told.rotate or none), told.scale or 1.0, pivot)
    return grip.carried(points, 1.0)


def weight_of(told: float | str) -> float:
    """How firmly, as a number."""
    return np.inf if told == "exact" else float(told)


def materials_of(table: PlanObject, parts: Parts, place: Place) -> dict[str, Any]:
    """`material`, and `of_tet` where regions have their own: every tetrahedron is of the region whose points, of the
    surface, it is nearest to."""
    own = {name: one for name, one in table.regions.items() if one.material is not None}
    if not own:
        return {"material": table.material.material}
    cage, labels = parts.cage, _labels(own, parts, place)
    middles = cage.body.rest[cage.body.tets].mean(axis=1)
    near = closest_points(middles, cage.surface)
    corners = labels[cage.surface.faces[near.faces]]
    share = np.stack([np.where(corners == k, near.weights, 0.0).sum(axis=1) for k in range(len(own) + 1)], axis=1)
    materials = [one.material.material for one in own.values() if one.material is not None]
    return {"material": [table.material.material, *materials], "of_tet": share.argmax(axis=1)}


def _labels(own: Mapping[str, PlanRegion], parts: Parts, place: Place) -> Integers:
    """(p,) which of the regions points of the surface are in, from 1; 0: none. Painted ones may meet: the points where
    they do are of the first."""
    labels = np.zeros(parts.cage.surface.point_count, np.int64)
    for k, (name, one) in enumerate(own.items()):
        vertices = parts.vertices(name, Place("", place.folder))  # what is wrong with it is told elsewhere
        free = labels[vertices] == 0
        taken = vertices[~free]
        if len(taken) and (one.painted is None or not free.any()):
            other = list(own)[int(labels[taken[0]]) - 1]
            place.at("regions").at(name).at("material").refuse(
                "two regions with materials share points", got=f"{len(taken)} of them are in '{other}'",
                remedy="each point in one of them",
            )  # fmt: skip
        labels[vertices[free]] = k + 1
    return labels
