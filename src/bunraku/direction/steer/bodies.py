"""A body, and what is asked of it alone: one of the bodies of a steered shot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from bunraku.contracts import Array, InputError, input_error, need
from bunraku.direction.pins import Pin
from bunraku.geometry import Cage, TetMesh, TriMesh
from bunraku.motion import Path

from .keys import KeyShape
from .materials import Material


@dataclass(frozen=True, eq=False)
class Body:
    """One of several bodies that are steered together: they share time, gravity and contact, nothing else.

    All vertices are numbered from 0 in each body.
    """

    mesh: TetMesh
    """tetrahedra in their rest shape"""
    name: str = ""
    """what sentences call it; by default "body 1", "body 2" …"""
    material: Material = "rubber"
    keys: Sequence[KeyShape] | KeyShape = ()
    """shapes to pass near, in order of time"""
    path: Path | Sequence[Path] | None = None
    """one or several, for the whole body or parts of it"""
    pins: Sequence[Pin] | Pin = ()
    """vertices held exactly"""
    start: Array | None = None
    """(n, 3) the first pose [m]; None: the rest shape, brought to where paths begin"""
    velocity: Array | Sequence[float] | None = None
    """(n, 3), or (3,) for all vertices [m/s]; None: as the path begins, else none"""
    lead: bool | float = False
    """how much earlier keys are told to the body [s]; True: so that it is nearest to each on the key's own time"""
    brace: bool = False
    """whether the shape a body is told is kept as it is around hard collisions"""
    interpolation_damping: float = 8.0
    """of the way from key to key, times the material's"""
    surface: TriMesh | Cage | None = None
    """a fine mesh that goes along; None: the body's own surface"""

    @property
    def knobs(self) -> dict[str, Any]:
        """Those of its settings that are checked with the shot's."""
        names = ("start", "velocity", "lead", "brace", "interpolation_damping")
        return {name: getattr(self, name) for name in names}


OWN = tuple(one.name for one in fields(Body) if one.name not in ("mesh", "name"))
"""what is said of a body, not of the shot"""
_DEFAULTS = {one.name: one.default for one in fields(Body)}


def as_bodies(given: object, settings: Mapping[str, Any]) -> tuple[tuple[Body, ...], dict[str, Any]]:
    """The bodies of a shot, and what is left of its settings: a single mesh takes what is said of a body from them,
    bodies say it themselves."""
    shared = {name: value for name, value in settings.items() if name not in OWN}
    own = {name: value for name, value in settings.items() if name in OWN}
    if isinstance(given, TetMesh):
        return (Body(given, **own),), shared
    bodies = (given,) if isinstance(given, Body) else given
    if not isinstance(bodies, Sequence) or isinstance(bodies, str) or not bodies:
        raise input_error(
            "nothing to steer", where="body", got=type(given).__name__, allowed="a TetMesh, a Body or a list of them"
        )
    for k, one in enumerate(bodies):
        need(Body, f"body[{k}]", one)
        need(TetMesh, f"body[{k}].mesh", one.mesh)
    for name, value in own.items():
        if not _says_nothing(value, _DEFAULTS[name]):
            raise input_error(
                f"{name} is said of each body", where=name, got=type(value).__name__, remedy=f"Body(…, {name}=…)"
            )
    for k, one in enumerate(bodies):
        need(str, f"body[{k}].name", one.name)
    named = [one if one.name or len(bodies) == 1 else _numbered(one, k) for k, one in enumerate(bodies)]
    names = [one.name for one in named]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise input_error("each body needs a name of its own", where=f"body[{k}].name", got=name)
    return tuple(named), shared


def _says_nothing(value: object, default: object) -> bool:
    """Whether a setting is as if it were left out: [] is (), and 8 is 8.0."""
    if isinstance(default, tuple):
        return isinstance(value, (list, tuple)) and not value
    plain = isinstance(value, (bool, int, float, str)) and isinstance(value, bool) == isinstance(default, bool)
    return value is default or (plain and value == default)


@contextmanager
def told_of(name: str) -> Iterator[None]:
    """What is refused inside is told with the name of the body it is of, where that has one."""
    try:
        yield
    except InputError as error:
        if not name:
            raise
        raise InputError("\n".join(f"{name}: {line}" for line in str(error).splitlines())) from error


def _numbered(body: Body, k: int) -> Body:
    return replace(body, name=f"body {k + 1}")
