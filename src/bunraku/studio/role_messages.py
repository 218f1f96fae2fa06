"""What server and page say to each other about objects' roles and what they go after: messages.py goes on here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["shell", "obstacle", "body", "plan", "wrinkle"]


@dataclass(frozen=True)
class RoleWanted:
    """POST /shot/role: another role for an object. What only its former one understands goes."""

    revision: int
    path: tuple[str | int, ...]
    """of the object's table"""
    role: Role
    tab: str


@dataclass(frozen=True)
class MotionWanted:
    """POST /shot/motion: something else for an object to go after."""

    revision: int
    path: tuple[str | int, ...]
    """of the object's table"""
    told: Any
    """as the file will say it: { file, prim }, { take }, …"""
    tab: str


@dataclass(frozen=True)
class OfferedMotion:
    """Something that an object may go after."""

    told: Any
    title: str
    group: Literal["now", "object", "stage", "take", "file"]
    """what it goes after now; what another object does, a stage, a finished take, a file"""


@dataclass(frozen=True)
class OfferedMotions:
    """GET /shot/motions?object=coat&stage=: what an object may go after, that which it does first."""

    revision: int
    motions: tuple[OfferedMotion, ...]
