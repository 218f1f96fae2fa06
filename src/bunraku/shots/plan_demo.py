"""What a demo of a planned motion is made of: a body made by code and the table of its object in a shot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bunraku.geometry import TriMesh
from bunraku.render import Style

from .looks import dyed

Triple = tuple[float, float, float]
Box = tuple[Triple, Triple]
"""its lowest and its highest corner [m]"""


@dataclass(frozen=True)
class PlanDemo:
    """A shot of a planned motion that needs no files of the artist's."""

    title: str
    surface: Callable[[], TriMesh]
    edge: float
    """[m] of the tetrahedra"""
    regions: Mapping[str, Box]
    """name → the box whose points of the surface are in it"""
    table: Mapping[str, Any]
    """all else of the object"""
    tets: int | None = None
    """about how many tetrahedra it should have, within a few per cent; None: as many as come"""
    frames: tuple[int, int] | None = None
    """of the shot; None: those of its phases"""
    moments: tuple[int, ...] = ()
    """frames, from 0, that a sheet of it shows"""
    view: Triple = (-0.3, -0.15, -1.0)
    """the direction in which figures look at it"""
    ground: bool = True
    """whether figures draw a ground at y = 0"""
    style: Style = field(default_factory=lambda: dyed((0.20, 0.45, 0.42), sheen=0.4))
    """how figures draw its take"""
