"""Up to which frame two runs of a shell are the same: where keyed numbers differ late only, the frames before are.

A step of a shell reads a keyed number at its own times and no later one, so frames up to the first at which two curves
differ are made of the same. Only numbers of which that is true, and tested, are looked at; any other setting that
differs reaches every frame.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from .kinds import is_number

_ANYWHERE = re.compile(r"object\.\w+\.(track\.(strength|cap|cap_pressure)|pressure|gas\.amount)|physics\.wind\.gust")
_WHERE_BOTH_CHANGE = re.compile(
    r"object\.\w+\.material\.(young|weft|shear|bend_scale|strain_limit|stretch_damping|bend_damping|drag)"
)
"""energies of a material that never changes are made once, by other sums"""


def same_until(before: Mapping[str, Any], now: Mapping[str, Any]) -> float:
    """The frame up to which settings of two takes of a shell mean the same; −inf: none, inf: all."""
    until = math.inf
    for path, one, other in _differing(before, now, ""):
        both = _changes(one) and _changes(other)
        if not (_ANYWHERE.fullmatch(path) or (both and _WHERE_BOTH_CHANGE.fullmatch(path))):
            return -math.inf
        until = min(until, _curves_until(one, other))
    return until


def _differing(before: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in sorted(set(before) | set(now)):
            yield from _differing(before.get(name), now.get(name), f"{path}.{name}" if path else name)
    elif before != now:
        yield path, before, now


def _changes(value: Any) -> bool:
    """Whether it is keyed, and to more than one value."""
    return isinstance(value, list) and len({float(key[1]) for key in value}) > 1


def _curves_until(one: Any, other: Any) -> float:
    """The last frame at which two curves, of keys or constant, have been the same all along."""
    first, second = _pieces(one), _pieces(other)
    if first is None or second is None:
        return -math.inf
    for begin in sorted({frame for frame, _ in (*first, *second)}):
        if _at(first, begin) != _at(second, begin):
            return begin
    return math.inf


def _pieces(value: Any) -> list[tuple[float, Any]] | None:
    """(from which frame, what makes the curve from there on) in order; None for what is no curve."""
    if is_number(value):
        return [(-math.inf, float(value))]
    if not isinstance(value, list) or not value:
        return None
    keys = [(float(key[0]), float(key[1]), key[2] if len(key) > 2 else "linear") for key in value]
    found: list[tuple[float, Any]] = [(-math.inf, keys[0][1])]
    for here, there in pairwise(keys):
        found.append((here[0], here[1] if here[1] == there[1] else (here[0], here[1], *there)))
    return [*found, (keys[-1][0], keys[-1][1])]


def _at(pieces: list[tuple[float, Any]], frame: float) -> Any:
    return next(what for begin, what in reversed(pieces) if begin <= frame)
