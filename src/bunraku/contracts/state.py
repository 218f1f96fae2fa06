"""What evolves in time, and nothing else: a `State` alone resumes a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .arrays import Array, Vector


@dataclass(frozen=True)
class State:
    """The state of a system at one moment."""

    time: float
    """[s]"""
    q: Vector
    """(d,) coordinates; for full coordinates the points (n, 3) flattened [m]"""
    velocity: Vector
    """(d,) rate of `q` [m/s]"""
    memory: Mapping[str, Array] = field(default_factory=dict)
    """all else that evolves: unwrapped hinge angles, plastic rest shapes, …"""
