"""The regions that the table of a planned body names, wherever it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .findings import Place


def named_regions(given: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, str]]:
    """Each name with its place, from what the file says; what has the wrong form is refused elsewhere."""
    yield from _standing(given, place)
    for p, phase in enumerate(_list(given.get("phases"))):
        if isinstance(phase, dict):
            where = place.at("phases").entry(p)
            yield from _standing(phase, where)
            yield from _one(phase.get("flight"), where.at("flight"))


def _standing(given: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, str]]:
    for k, name in enumerate(_list(given.get("fixed"))):
        if isinstance(name, str):
            yield place.at("fixed").entry(k), name
    for k, one in enumerate(_list(given.get("keys"))):
        yield from _one(one, place.at("keys").entry(k))


def _one(given: object, place: Place) -> Iterator[tuple[Place, str]]:
    name = given.get("region") if isinstance(given, dict) else None
    if isinstance(name, str):
        yield place.at("region"), name


def _list(given: object) -> list[Any]:
    return given if isinstance(given, list) else []
