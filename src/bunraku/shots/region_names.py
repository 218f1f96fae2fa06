"""The regions that the table of a body names, wherever it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .findings import Place, nearest
from .kinds import joined

_LISTS = ("fixed",)
"""keys under which several are named"""


def refuse_unknown_regions(given: Mapping[str, Any], place: Place) -> None:
    """Refuse names of regions that the table of a body, as its file has it, does not define."""
    regions = given.get("regions", {})
    names = list(regions) if isinstance(regions, dict) else []
    others = {name: value for name, value in given.items() if name != "regions"}
    for where, name in named_regions(others, place):
        if name not in names:
            where.refuse(
                "unknown region", got=name, allowed=joined(names) or "none is defined", remedy=nearest(name, names)
            )


def named_regions(given: object, place: Place) -> Iterator[tuple[Place, str]]:
    """Each name with its place, however deep; what has the wrong form is refused elsewhere."""
    for path, name in named_in(given):
        where = place
        for part in path:
            where = where.entry(part) if isinstance(part, int) else where.at(part)
        yield where, name


def named_in(given: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each name with the path that leads to it: keys of tables, places in lists."""
    if isinstance(given, list):
        for k, one in enumerate(given):
            yield from (((k, *path), name) for path, name in named_in(one))
    if not isinstance(given, dict):
        return
    for key, value in given.items():
        if key == "region" and isinstance(value, str):
            yield (key,), value
        elif key in _LISTS and isinstance(value, list):
            yield from (((key, k), one) for k, one in enumerate(value) if isinstance(one, str))
        else:
            yield from (((key, *path), name) for path, name in named_in(value))
