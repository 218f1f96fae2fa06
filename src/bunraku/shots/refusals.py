"""Settings of a shot that mean nothing to what it simulates."""

from __future__ import annotations

from collections.abc import Mapping

from .findings import Place
from .shot import Shot
from .spec import PhysicsTable


def refuse_settings(shot: Shot, root: Place, why: Mapping[str, str]) -> None:
    """Refuse a preroll, and what [physics] says under the names in `why`, which says why not."""
    if shot.shot.preroll:
        root.at("shot").at("preroll").refuse("is for shells, which come from their rest shape", got=shot.shot.preroll)
    usual = PhysicsTable()
    for name, reason in why.items():
        value = getattr(shot.physics, name)
        if value != getattr(usual, name):
            told = value if isinstance(value, (bool, int, float, str)) else None
            root.at("physics").at(name).refuse(reason, got=told, remedy="leave it out")
