"""Key shapes: what a body should look like at some times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import InputError, Integers, Points, as_float, input_error, need, real_array
from bunraku.geometry import THINNEST_TET, TetMesh, check_coordinates, first_few, thinness

_OTHER_UNIT = 30.0
"""times as large or small: a metre is 39 inches, and no body is drawn out by so much"""
_MIRRORED = 0.1
"""share of the squares left by the best turn: a shape of which a mirrored turn leaves less is mirrored"""
SAME_TIME = 1e-9
"""[s] within which two keys are at the same time"""


@dataclass(frozen=True, eq=False, init=False)
class KeyShape:
    """A shape the body should pass near at a time: it becomes the shape that the body would like to have.

    Where the shape is and how it is turned does not matter. For a part of the body `vertices` name it, and all else
    takes the shape that this part pulls it into. A key without points is the body's own shape again.
    """

    time: float
    """[s]"""
    points: Points | None
    """(n, 3) of all vertices, or (v, 3) of `vertices` [m]; None: the body's own shape"""
    vertices: Integers | None
    """(v,) the part the key is for; None: the whole body"""

    def __init__(self, time: float, points: ArrayLike | None, vertices: Sequence[int] | Integers | None = None) -> None:
        if not isinstance(time, Real) or isinstance(time, bool) or not np.isfinite(as_float(time)):
            raise input_error("a key needs a time in seconds", where="key.time", got=repr(time)[:40])
        object.__setattr__(self, "time", float(time))
        if points is None and vertices is not None:
            raise input_error("a key without points is for the whole body", where="key.vertices")
        shape = None if points is None else _shape(points, self.name)
        part = None if shape is None or vertices is None else _part(vertices, len(shape), self.name)
        object.__setattr__(self, "points", shape)
        object.__setattr__(self, "vertices", part)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"key at {self.time:g} s"


def _shape(given: object, name: str) -> Points:
    try:
        points = real_array(given)
    except (TypeError, ValueError):
        raise input_error("a key's points must be numbers", where=name, got=repr(given)[:40]) from None
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise input_error("a key's points must have shape (n, 3)", where=name, got=points.shape)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise input_error("a key's points must be finite", where=f"{name}, rows {first_few(bad)}")
    points.flags.writeable = False
    return points


def _part(given: object, count: int, name: str) -> Integers:
    try:
        found = np.asarray(given)
    except ValueError:  # lists of different lengths
        found = np.zeros(0)
    if not np.issubdtype(found.dtype, np.integer):
        raise input_error("a key's vertices must be whole numbers", where=name, got=repr(given)[:60])
    whole = found.ndim == 1 and np.issubdtype(found.dtype, np.integer) and len(np.unique(found)) == len(found)
    if not whole or len(found) != count or not count:
        raise input_error(
            "a key needs one point for each vertex it names, none twice", where=name,
            got=f"{found.size} vertices, {count} points",
        )  # fmt: skip
    return found.astype(np.int64)


def check_keys(keys: Sequence[KeyShape], body: TetMesh, start: float, end: float) -> None:
    """Refuse keys that do not belong to a body, or to a shot from `start` to `end` [s]; all findings at once."""
    wrong: list[str] = []
    for k, key in enumerate(keys):
        need(KeyShape, f"keys[{k}]", key)
    inside = [key for key in keys if start - SAME_TIME <= key.time <= end + SAME_TIME]  # others are refused as such
    for before, key in pairwise(inside):
        if abs(key.time - before.time) <= SAME_TIME:
            wrong.append(f"two keys are at {key.time:g} s: a body has one shape at a time; try: move one of them")
        elif key.time < before.time:
            wrong.append(f"keys must be in order of time: {key.time:g} s comes after {before.time:g} s; try: sort them")
    for key in keys:
        try:
            _check_key(key, body, start, end)
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))


def _check_key(key: KeyShape, body: TetMesh, start: float, end: float) -> None:
    if not start - SAME_TIME <= key.time <= end + SAME_TIME:
        raise input_error(
            "a key lies outside the shot", where=key.name, got=f"{key.time:g} s", allowed=f"{start:g} to {end:g} s",
            remedy="a longer duration, or an earlier key",
        )  # fmt: skip
    if key.points is None:
        return
    check_coordinates(key.points, key.name, smallest=0.0)
    count = body.point_count
    if key.vertices is not None:
        part = np.asarray(key.vertices)
        bad = part[(part < 0) | (part >= count)]
        if len(bad):
            raise input_error(
                "a key must name vertices of the body", where=key.name, got=first_few(bad), allowed=f"0 to {count - 1}"
            )
        check_unit(key.points, body.rest[part], key.name)
        _check_part(key.points, part, body, key.name)
    elif len(key.points) != count:
        raise input_error(
            "a key has another number of vertices than the body", where=key.name, got=len(key.points),
            allowed=str(count), remedy="for a part of the body, name its vertices",
        )  # fmt: skip
    else:
        check_unit(key.points, body.rest, key.name)
        check_sound(body.with_rest(key.points), key.name)


def check_unit(points: Points, rest: Points, name: str) -> None:
    """Refuse points (v, 3) so much larger or smaller than at rest (v, 3) that they can only be in another unit."""
    large, usual = (float(np.linalg.norm(np.ptp(x, axis=0))) for x in (points, rest))
    if usual == 0.0 or usual / _OTHER_UNIT < large < usual * _OTHER_UNIT or large == 0.0:
        return
    much = f"{large / usual:.3g} times as large as" if large > usual else f"{usual / large:.3g} times smaller than"
    raise input_error(
        f"the shape is {much} the body at rest", where=name, got=f"{large:.3g} m", allowed=f"about {usual:.3g} m",
        remedy="its unit: points are in metres, and files say theirs with unit",
    )  # fmt: skip


def _check_part(points: Points, part: Integers, body: TetMesh, name: str) -> None:
    """Refuse a part's shape (v, 3) that is mirrored, or inside out in tetrahedra all of whose corners it has."""
    shape = np.array(body.rest)
    shape[part] = points
    check_sound(body.with_rest(shape), name, np.flatnonzero(np.isin(body.tets, part).all(axis=1)))
    a, b = points - points.mean(axis=0), body.rest[part] - body.rest[part].mean(axis=0)
    together = np.linalg.svd(a.T @ b, compute_uv=False)
    apart = float(np.sum(a * a) + np.sum(b * b)) - 2.0 * float(together.sum())  # [m²] left by the best of both kinds
    # A part that lies in a plane has no other side.
    if np.linalg.det(a.T @ b) < 0.0 and apart < _MIRRORED * (apart + 4.0 * together[2]):
        raise input_error("the shape is mirrored", where=name, got=f"{len(part)} vertices", remedy="turn it back")


MILDER = "a milder shape, or one made with bk.pose"


def check_sound(shape: TetMesh, name: str, some: Integers | None = None, *, remedy: str = MILDER) -> None:
    """Refuse a shape some of whose tetrahedra, of all or of `some` (m,), are inside out or without volume."""
    which = np.arange(len(shape.tets)) if some is None else some
    thin = thinness(shape.rest, shape.tets[which])
    bad = which[~(thin > THINNEST_TET)]
    if len(bad):
        all_of_them = bool((thin < -THINNEST_TET).all())
        raise input_error(
            "the shape is mirrored" if all_of_them else "parts of the shape are turned inside out or have no volume",
            where=f"{name}, tets {first_few(bad)}", got=f"{len(bad)} of {len(which)}",
            remedy="turn it back" if all_of_them else remedy,
        )  # fmt: skip
