"""Partial keys: where some vertices of a body, or its centre of mass, should be at a time, or how fast they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import InputError, Integers, Points, Vector, input_error, is_between, need, real_array
from bunraku.direction.steer import Grip
from bunraku.geometry import TetMesh, check_coordinates, first_few

from .checks import FASTEST

SAME_TIME = 1e-9
"""[s] within which two keys are at the same time"""
_HEAVIEST, _LATEST = 1e6, 1e9
MOST_TURN = 1e4
"""[rad] that a key or a flight may ask for: more is a slip, and whole turns would be lost in rounding"""
_SHORTEST_FRAME, _LEAST_SHARE = 1e-5, 1e-3
"""[s] that a take shows at the least, and share of the duration: what lies nearer together nobody sees apart"""
_FAST = 1e3
"""[1/s] body's sizes in a second: within so short a time nothing is asked to go faster from one key to another"""


@dataclass(frozen=True, eq=False, init=False)
class Key:
    """Where some vertices should be at a time, how fast they should go, or both. All else follows from the motion."""

    time: float
    """[s]"""
    vertices: Integers | None
    """(v,) which vertices; None: the centre of mass"""
    positions: Points | None
    """(v, 3), of the centre of mass (1, 3) [m]; None: anywhere"""
    velocities: Points | None
    """(v, 3), of the centre of mass (1, 3) [m/s]; None: any"""
    weight: float
    """how firmly, against what the motion costs: 1 leaves about a ten-thousandth of the way; inf: exactly"""
    turn: Vector | None
    """(3,) rotation vector: about how far the vertices are turned from the rest shape, whole turns counted. Where that
    is half a turn or more beside what is fixed, places alone do not say which way round [rad]"""

    def __init__(
        self, time: float, vertices: Sequence[int] | Integers | None = None, positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None, weight: float = 1.0, turn: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """`positions` and `velocities` are (v, 3), or (3,) for the centre of mass; velocities (3,) are those of all
        the vertices alike."""
        if not is_between(time, -_LATEST, _LATEST):
            raise input_error("a key needs a time in seconds", where="key.time", got=repr(time)[:40])
        object.__setattr__(self, "time", float(time))
        object.__setattr__(self, "weight", _weight(weight, self.name))
        part = None if vertices is None else _vertices(vertices, self.name)
        object.__setattr__(self, "vertices", part)
        if positions is None and velocities is None:
            raise input_error(
                "a key says neither where nor how fast", where=self.name, remedy="positions or velocities"
            )
        count = 1 if part is None else len(part)
        object.__setattr__(self, "positions", _rows(positions, count, f"{self.name}: positions", alike=part is None))
        object.__setattr__(self, "velocities", _rows(velocities, count, f"{self.name}: velocities", alike=True))
        turned = _rows(turn, 1, f"{self.name}: turn", alike=True)
        if turned is not None and np.abs(turned).max() > MOST_TURN:
            raise input_error(
                "a key asks for a turn beyond all bounds", where=self.name, got=f"{np.abs(turned).max():.3g} rad",
                allowed=f"-{MOST_TURN:g} to {MOST_TURN:g} rad",
            )  # fmt: skip
        object.__setattr__(self, "turn", None if turned is None else turned[0])

    @classmethod
    def posed(
        cls, body: TetMesh, time: float, grip: Grip, velocities: ArrayLike | None = None, weight: float = 1.0
    ) -> Key:
        """The key of vertices taken in the hand: moved, turned and scaled from the body's rest shape as a grip says."""
        need(TetMesh, "body", body)
        need(Grip, "grip", grip)
        vertices = np.asarray(grip.vertices)
        _check_vertices(vertices, body, f"key at {time} s")
        return cls(time, vertices, grip.carried(body.rest[vertices], 1.0), velocities, weight, grip.rotate)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"key at {self.time:g} s"

    @property
    def exact(self) -> bool:
        """Whether it must be met to rounding."""
        return bool(np.isinf(self.weight))


def _weight(given: object, name: str) -> float:
    if not (is_between(given, np.finfo(np.float64).tiny, _HEAVIEST) or is_between(given, np.inf, np.inf)):
        raise input_error(
            "a key's weight says how firmly it is held", where=name, got=repr(given)[:40],
            allowed=f"above 0, up to {_HEAVIEST:g}, or inf",
        )  # fmt: skip
    return float(given)  # type: ignore[arg-type]


def _vertices(given: object, name: str) -> Integers:
    try:
        found = np.asarray(given)
    except ValueError:  # lists of different lengths
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu" or len(np.unique(found)) < len(found):
        raise input_error("a key's vertices must be whole numbers, none twice", where=name, got=repr(given)[:60])
    vertices = found.astype(np.int64)
    vertices.flags.writeable = False
    return vertices


def _rows(given: ArrayLike | None, count: int, name: str, *, alike: bool) -> Points | None:
    """(count, 3), checked; `alike`: one row may stand for all."""
    if given is None:
        return None
    try:
        rows = real_array(given)
        got: object = rows.shape
    except (TypeError, ValueError):
        rows, got = np.zeros(0), repr(given)[:40]
    if rows.shape == (3,) and alike:
        rows = np.tile(rows, (count, 1))
    if rows.shape != (count, 3) or not np.isfinite(rows).all():
        got = "numbers that are none" if rows.shape == (count, 3) else got
        raise input_error(f"{name} must be finite, a row a vertex", got=got, allowed=f"({count}, 3)")
    rows.flags.writeable = False
    return rows


def _check_vertices(vertices: Integers, body: TetMesh, name: str) -> None:
    bad = vertices[(vertices < 0) | (vertices >= body.point_count)]
    if len(bad):
        raise input_error(
            "a key must name vertices of the body", where=name, got=first_few(bad),
            allowed=f"0 to {body.point_count - 1}",
        )  # fmt: skip


def check_keys(keys: Sequence[Key], body: TetMesh, fixed: Integers, duration: float, *, circular: bool = False) -> None:
    """Refuse keys that do not belong to a body or a motion, or that contradict each other; all findings at once. Of a
    `circular` motion the end is the beginning."""
    wrong: list[str] = []
    for key in keys:
        try:
            _check_key(key, body, fixed, duration)
        except InputError as error:
            wrong.append(str(error))
    for one, other in combinations(keys, 2):
        apart = abs(one.time - other.time)
        apart = min(apart, abs(duration - apart)) if circular else apart
        if apart <= SAME_TIME and not wrong:
            wrong += contradictions(one, other, body)
        elif apart <= min(_SHORTEST_FRAME, _LEAST_SHARE * duration) and not wrong:
            wrong += _haste(one, other, apart, body)
    if wrong:
        raise InputError("\n".join(wrong))


def _check_key(key: Key, body: TetMesh, fixed: Integers, duration: float) -> None:
    if not -SAME_TIME <= key.time <= duration + SAME_TIME:
        raise input_error(
            "a key lies outside the motion", where=key.name, got=f"{key.time:g} s", allowed=f"0 to {duration:g} s",
            remedy="a longer duration, or another time",
        )  # fmt: skip
    if key.positions is not None:
        check_coordinates(key.positions, key.name, smallest=0.0)
    if key.velocities is not None and np.abs(key.velocities).max() > FASTEST:
        raise input_error(
            "a key asks for a speed beyond all bounds", where=key.name, got=f"{np.abs(key.velocities).max():.3g} m/s",
            allowed=f"up to {FASTEST:g} m/s",
        )  # fmt: skip
    if key.vertices is None:
        return
    _check_vertices(key.vertices, body, key.name)
    held = key.vertices[np.isin(key.vertices, fixed)]
    if len(held):
        raise input_error(
            "a key asks for vertices that are fixed", where=key.name, got=first_few(held),
            remedy="leave them out of the key, or of the fixed ones",
        )  # fmt: skip


def _shared(one: Key, other: Key) -> tuple[Integers, Integers]:
    """Rows of two keys that are of the same vertices, or of the centre of mass."""
    if (one.vertices is None) != (other.vertices is None):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    mine = np.zeros(1, np.int64) if one.vertices is None else one.vertices
    theirs = np.zeros(1, np.int64) if other.vertices is None else other.vertices
    _, a, b = np.intersect1d(mine, theirs, return_indices=True)
    return a, b


def _haste(one: Key, other: Key, apart: float, body: TetMesh) -> list[str]:
    """Of two keys that no frame shows apart [s]: places that can only be met at absurd speeds."""
    a, b = _shared(one, other)
    if one.positions is None or other.positions is None or not len(a):
        return []
    way = np.linalg.norm(one.positions[a] - other.positions[b], axis=1).max()
    if way <= max(_FAST * apart, 1e-9) * body.size:
        return []
    return [
        str(input_error(
            "two keys nearer in time than any frame ask for different places", where=one.name,
            got=f"{way:.3g} m in {apart:.3g} s", allowed=f"up to {_FAST * body.size:.3g} m/s",
            remedy="keys further apart in time, or leave one of them out",
        ))
    ]  # fmt: skip


def contradictions(one: Key, other: Key, body: TetMesh) -> list[str]:
    """Of two keys at the same time: vertices of which they say different things, places first."""
    a, b = _shared(one, other)
    out = []
    for what, first, second in (
        ("places", one.positions, other.positions), ("velocities", one.velocities, other.velocities)
    ):  # fmt: skip
        if first is None or second is None or not len(a):
            continue
        apart = np.linalg.norm(first[a] - second[b], axis=1)
        if apart.max() > 1e-9 * body.size:
            which = (
                "the centre of mass" if one.vertices is None else f"vertices {first_few(one.vertices[a[apart > 0]])}"
            )
            out.append(
                str(input_error(
                    f"two keys at one time ask for different {what}", where=one.name,
                    got=f"{apart.max():.3g} apart at {which}", remedy="leave one of them out",
                ))
            )  # fmt: skip
    return out
