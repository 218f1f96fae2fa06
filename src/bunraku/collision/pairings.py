"""Which surfaces may touch which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.contracts import Integers

from .sewn import Sewn
from .toolkit import Pairing

if TYPE_CHECKING:
    from .surfaces import Surfaces


def pairings_without(surfaces: Surfaces, pinched: Integers) -> list[tuple[Pairing, int]]:
    """With the number of points each takes; pinched vertices (p,), and elements that have one, feel only the shell.

    While nothing is pinched all surfaces are looked at together.
    """
    knobs: dict[str, Any] = {"reach": surfaces.felt_within, "gap": surfaces.gap, "movable": surfaces.count}
    shell, size, found = surfaces.shell, len(surfaces.rest), []
    sewn = None if surfaces.sewn is None else Sewn(surfaces.sewn, size)
    if len(pinched):
        without = np.zeros(size, dtype=bool)
        without[pinched] = True
        if surfaces.self_contact:
            found.append((Pairing(shell.rest, shell.faces, sewn=sewn, **knobs), surfaces.count))
        if surfaces.obstacles:
            found.append((Pairing(surfaces.rest, surfaces.faces, among_movable=False, without=without, **knobs), size))
        knobs["without"] = without[: surfaces.count]
    elif surfaces.self_contact or surfaces.obstacles:
        both = Pairing(surfaces.rest, surfaces.faces, among_movable=surfaces.self_contact, sewn=sewn, **knobs)
        found.append((both, size))
    if surfaces.planes:
        planes = [(plane.normal, plane.point) for plane in surfaces.planes]
        none = np.zeros((0, 3), np.int64)
        # Vertices without faces would feel each other as well.
        found.append((Pairing(shell.rest, none, planes=planes, among_movable=False, **knobs), surfaces.count))
    return found
