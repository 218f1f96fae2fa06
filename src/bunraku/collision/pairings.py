"""Which surfaces may touch which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.contracts import Flags, Integers

from .sewn import Sewn
from .toolkit import Pairing

if TYPE_CHECKING:
    from .surfaces import Surfaces


def pairings_without(surfaces: Surfaces, pinched: Integers) -> list[tuple[Pairing, int]]:
    """With the number of points each takes; pinched vertices (p,), and elements that have one, feel only the shell.

    While nothing is pinched all surfaces that keep the same gap are looked at together.
    """
    knobs: dict[str, Any] = {"reach": surfaces.felt_within, "gap": surfaces.gap, "movable": surfaces.count}
    shell, size, found = surfaces.shell, len(surfaces.rest), []
    sewn = None if surfaces.sewn is None else Sewn(surfaces.sewn, size)
    without = np.zeros(size, dtype=bool)
    without[pinched] = True
    alone = [*sorted(set(surfaces.gaps) - {surfaces.gap})]  # gaps that only some obstacles keep
    together = surfaces.gap in surfaces.gaps
    if len(pinched):
        if surfaces.self_contact:
            found.append((Pairing(shell.rest, shell.faces, sewn=sewn, **knobs), surfaces.count))
        alone += [surfaces.gap] if together else []
    elif surfaces.self_contact or together:
        knobs["without"] = _others(surfaces, surfaces.gap)
        both = Pairing(surfaces.rest, surfaces.faces, among_movable=surfaces.self_contact, sewn=sewn, **knobs)
        found.append((both, size))
    for gap in alone:
        knobs |= {"gap": gap, "without": without | _others(surfaces, gap)}
        found.append((Pairing(surfaces.rest, surfaces.faces, among_movable=False, **knobs), size))
    if surfaces.planes:
        planes = [(plane.normal, plane.point) for plane in surfaces.planes]
        none = np.zeros((0, 3), np.int64)
        knobs |= {"gap": surfaces.gap, "without": without[: surfaces.count]}
        # Vertices without faces would feel each other as well.
        found.append((Pairing(shell.rest, none, planes=planes, among_movable=False, **knobs), surfaces.count))
    return found


def _others(surfaces: Surfaces, gap: float) -> Flags:
    """(n + o,) vertices of obstacles that keep another gap."""
    sizes = [surfaces.count, *(obstacle.mesh.point_count for obstacle in surfaces.obstacles)]
    return np.repeat(np.array([False, *(own != gap for own in surfaces.gaps)]), sizes)
