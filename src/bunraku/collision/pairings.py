"""Which surfaces may touch which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.contracts import Flags, Integers

from .nearby import MANY, Nearby
from .parts import Meeting, Particular
from .sewn import Sewn
from .toolkit import Pairing, inside

if TYPE_CHECKING:
    from .surfaces import Surfaces

_Found = Iterator[tuple[Pairing | Nearby, int]]


def pairings_without(surfaces: Surfaces, pinched: Integers) -> list[tuple[Pairing | Nearby, int]]:
    """With the number of points each takes; pinched vertices (p,), and elements that have one, feel only the shell.

    While nothing is pinched all surfaces that keep the same gap are looked at together. Pairs of parts of which
    something particular is said are left out there, and looked at with those of the same gap and friction.
    """
    without = np.zeros(len(surfaces.rest), dtype=bool)
    without[pinched] = True
    sewn = None if surfaces.sewn is None else Sewn(surfaces.sewn, len(surfaces.rest))
    return [*_ordinary(surfaces, without, sewn), *_particular(surfaces, without, sewn), *_planes(surfaces, without)]


def _ordinary(surfaces: Surfaces, without: Flags, sewn: Sewn | None) -> _Found:
    shell, size, count = surfaces.shell, len(surfaces.rest), surfaces.count
    particular = [one.parts for one in surfaces.parts.particular]
    labels = surfaces.parts.labels
    knobs: dict[str, Any] = {"reach": surfaces.felt_within, "gap": surfaces.gap, "movable": count}
    all_but, own = Meeting(labels, particular, alone=False), Meeting(labels[:count], particular, alone=False)
    alone = [*sorted(set(surfaces.gaps) - {surfaces.gap})]  # gaps that only some obstacles keep
    together = surfaces.gap in surfaces.gaps
    if without.any():
        if surfaces.self_contact:
            yield Pairing(shell.rest, shell.faces, sewn=sewn, meeting=own, **knobs), count
        alone += [surfaces.gap] if together else []
    elif surfaces.self_contact or together:
        knobs |= {"without": _others(surfaces, surfaces.gap), "meeting": all_but}
        among = surfaces.self_contact
        yield _among_obstacles(surfaces, among_movable=among, sewn=sewn, **knobs), size
    for gap in alone:
        knobs |= {"gap": gap, "without": without | _others(surfaces, gap), "meeting": all_but}
        yield _among_obstacles(surfaces, among_movable=False, **knobs), size


def _among_obstacles(surfaces: Surfaces, *, without: Flags, **knobs: Any) -> Pairing | Nearby:
    """The shell and obstacles; where these are large, what is about as far out as the shell."""

    def made(some: Flags) -> Pairing:
        return Pairing(surfaces.rest, surfaces.faces, without=some, **knobs)

    others = surfaces.faces[len(surfaces.shell.faces) :]
    if len(others) < MANY:
        return made(without)
    return Nearby(made, surfaces.shell.faces, others, surfaces.count, without)


def _particular(surfaces: Surfaces, without: Flags, sewn: Sewn | None) -> _Found:
    """Pairs of parts of which something particular is said, with planes left out."""
    parts, groups = surfaces.parts, dict[tuple[bool, float, float], list[Particular]]()
    for one in parts.particular:
        own = parts.is_shell(one.parts[1])
        if one.parts[1] < parts.plane(0) and (surfaces.self_contact or not own):
            groups.setdefault((own, one.gap, one.friction), []).append(one)
    for (own, gap, friction), some in groups.items():
        pairs = [one.parts for one in some]
        others = parts.not_of([part for pair in pairs for part in pair]) | (without & (not own))
        size = surfaces.count if own else len(surfaces.rest)
        pairing = Pairing(
            surfaces.rest[:size], surfaces.shell.faces if own else surfaces.faces, reach=surfaces.felt_within, gap=gap,
            movable=surfaces.count, among_movable=own, without=others[:size], sewn=sewn if own else None,
            meeting=Meeting(parts.labels[:size], pairs, alone=True), friction=friction,
        )  # fmt: skip
        yield pairing, size


def _planes(surfaces: Surfaces, without: Flags) -> _Found:
    """Planes that are alike together, but those of which something particular is said by themselves."""
    parts, count = surfaces.parts, surfaces.count
    said = {k: [one for one in parts.particular if one.parts[1] == parts.plane(k)] for k in range(len(surfaces.planes))}
    alike = dict[tuple[float, float | None], list[int]]()
    own = {k: (parts.otherwise(parts.plane(k))[0], surfaces.planes[k].friction) for k in said}
    for k in (k for k, some in said.items() if not some):
        alike.setdefault(own[k], []).append(k)
    for knobs, some in alike.items():
        yield _with_planes(surfaces, some, without, *knobs), count
    for k, some in said.items():
        named = [one.parts[0] for one in some]
        rest = ~parts.not_of(named) | without
        if some and not rest[:count].all():
            yield _with_planes(surfaces, [k], rest, *own[k]), count
        for one in some:
            others = parts.not_of([one.parts[0]]) | without
            yield _with_planes(surfaces, [k], others, one.gap, one.friction), count


def _with_planes(surfaces: Surfaces, which: list[int], without: Flags, gap: float, friction: float | None) -> Pairing:
    planes = [(surfaces.planes[k].normal, surfaces.planes[k].point) for k in which]
    none, count = np.zeros((0, 3), np.int64), surfaces.count
    # Vertices without faces would feel each other as well. What is on none of the shell's faces feels no plane: nodes
    # that a skin is embedded in may well be beyond one.
    others = without[:count] | inside(surfaces.shell.faces, count, count)
    return Pairing(
        surfaces.shell.rest, none, reach=surfaces.felt_within, gap=gap, movable=count, planes=planes,
        among_movable=False, without=others, friction=friction,
    )  # fmt: skip


def pairings_of_parts(surfaces: Surfaces) -> list[Pairing]:
    """Each part of the shell with itself and nothing else, those of one gap together."""
    parts, shell = surfaces.parts, surfaces.shell
    labels, own = parts.labels[: surfaces.count], np.diagonal(parts.gaps)
    out = []
    for gap in np.unique(own[np.unique(labels)]):
        some = np.flatnonzero(own == gap).tolist()
        meeting = Meeting(labels, [(part, part) for part in some], alone=True)
        others = parts.not_of(some)[: surfaces.count]
        knobs: dict[str, Any] = {"reach": surfaces.felt_within, "gap": float(gap), "movable": surfaces.count}
        sewn = None if surfaces.sewn is None else Sewn(surfaces.sewn, surfaces.count)
        out.append(Pairing(shell.rest, shell.faces, sewn=sewn, without=others, meeting=meeting, **knobs))
    return out


def pairing_between(surfaces: Surfaces, first: int, second: int) -> Pairing:
    """Two parts and nothing else; the lower number is of the shell, the other of the shell or an obstacle."""
    parts, (first, second) = surfaces.parts, sorted((first, second))
    own = parts.is_shell(second)
    sewn = None if surfaces.sewn is None or not own else Sewn(surfaces.sewn, len(surfaces.rest))
    return Pairing(
        surfaces.rest, surfaces.faces, reach=surfaces.felt_within, gap=float(parts.gaps[first, second]),
        movable=surfaces.count, among_movable=own, without=parts.not_of([first, second]), sewn=sewn,
        meeting=Meeting(parts.labels, [(first, second)], alone=True),
    )  # fmt: skip


def _others(surfaces: Surfaces, gap: float) -> Flags:
    """(n + o,) vertices of obstacles that keep another gap."""
    sizes = [surfaces.count, *(obstacle.mesh.point_count for obstacle in surfaces.obstacles)]
    return np.repeat(np.array([False, *(own != gap for own in surfaces.gaps)]), sizes)
