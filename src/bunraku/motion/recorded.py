"""What a path is recorded from: a take of one body, or one of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from bunraku.contracts import Array, input_error
from bunraku.geometry import TetMesh

from .animation import Animation


class Recorded(Protocol):
    """A take."""

    @property
    def animation(self) -> Animation[Any]: ...

    @property
    def report(self) -> Mapping[str, Array]: ...

    @property
    def facts(self) -> Mapping[str, Any]: ...


def way_of(take: Recorded, body: int | str | None) -> tuple[Animation[Any], Array | None]:
    """How a body of a take moved, and how it was turned (t, 3, 3), where the take says that; `body` is its number or
    name, where there are several."""
    try:
        animation, facts = take.animation, take.facts
    except AttributeError:
        got = type(take).__name__
        raise input_error("not a take", where="take", got=got, remedy="Path.of(animation)") from None
    turns = take.report.get("rotation")
    bodies: Sequence[Mapping[str, Any]] = facts.get("bodies", ())
    if body is None and len(bodies) < 2:
        return animation, turns
    k = _which(bodies, body)
    (first, last), (begin, end) = bodies[k]["vertices"], bodies[k]["tets"]
    mesh = TetMesh(animation.mesh.rest[first:last], animation.mesh.tets[begin:end] - first)
    own = Animation(mesh, animation.times, animation.points[:, first:last])
    return own, turns if turns is None or len(bodies) == 1 else turns[:, k]


def _which(bodies: Sequence[Mapping[str, Any]], body: int | str | None) -> int:
    names = [one["name"] for one in bodies]
    allowed = ", ".join(names) or "a take of bodies"
    if body is None:
        raise input_error(
            "the take has several bodies", where="take", got=len(names), allowed=allowed, remedy=f"body='{names[0]}'"
        )
    if isinstance(body, str) and body in names:
        return names.index(body)
    if isinstance(body, int) and not isinstance(body, bool) and 0 <= body < len(names):
        return body
    raise input_error("the take has no such body", where="body", got=body, allowed=allowed)
