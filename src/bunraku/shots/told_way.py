"""Where a shot says that something goes, as a path: samples of its own, or how something animated went."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, InputError, Integers, Vector
from bunraku.geometry import TetMesh
from bunraku.motion import Path as Way

from .body_spec import WayTable
from .inputs import InputFile, read_source, source_inputs
from .recorded_way import recorded_body, recorded_input
from .retime import retimed_way

_log = logging.getLogger(__name__)


def told_way(
    told: WayTable, rate: float, first: float, takes: Path, part: tuple[TetMesh, Integers | None] | None = None
) -> tuple[Vector, Array, Array | None]:
    """(t,) times [s] from the frame `first` at a rate [frames/s], (t, 3) points [m] in the world, and (t, 3, 3) turns
    or None. `part`: the body that is directed, and (v,) its nodes that are, None for all."""
    if told.points is None:
        way = retimed_way(_animated(told, rate, takes, part), told.retime, rate)
        return way.times - first / rate, way.points, way.rotations
    rows = np.array(told.points, dtype=np.float64)
    turns = Rotation.from_rotvec(np.radians(rows[:, 4:])).as_matrix() if rows.shape[1] == 7 else None
    return (rows[:, 0] - first) / rate, rows[:, 1:4], turns


def way_inputs(told: WayTable, key: str, takes: Path) -> list[InputFile]:
    """The files a path is read from; raises where they cannot be."""
    if told.points:
        return []
    found = source_inputs(key, read_source(told, None, takes)[1], told)
    return found + (recorded_input(takes, told.take, key) if told.take is not None else [])


def _animated(told: WayTable, rate: float, takes: Path, part: tuple[TetMesh, Integers | None] | None) -> Way:
    """How something animated went, in the world, from its frame 0: a body in a take as its nodes did, and a part of the
    very body that is directed as that part did."""
    clip, _ = read_source(told, rate, takes)
    if told.take is None:
        return Way.of(clip.animation, turning=told.turning)
    try:
        recorded = recorded_body(takes, told.take)
    except InputError as error:
        if told.turning:
            _log.warning("the path turns as the surface of take %s does, by the best fit: %s", told.take, error)
        return Way.of(clip.animation, turning=told.turning)
    body, nodes = part or (None, None)
    if body is not None and nodes is not None and np.array_equal(body.tets, recorded.animation.mesh.tets):
        return Way.of(recorded.animation, nodes)
    return recorded.way(turning=told.turning)
