"""What is in the way of a pose: which faces cut which, what lies behind a plane, what is nearer than its thickness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bunraku.collision import Surfaces
from bunraku.contracts import Points
from bunraku.geometry import faces_through, first_few, intersecting_faces

_LOOKED_AT = 30  # faces that cut something, of which the message tells the pairs


@dataclass(frozen=True)
class Tangle:
    """One thing that is in the way."""

    what: str
    remedy: str


def tangles(surfaces: Surfaces, x: Points, time: float) -> list[Tangle]:
    """What is in the way of points x (n, 3) at a time [s]: crossings first; where there are none, what is too near."""
    return [*_crossings(surfaces, x, time), *_behind(surfaces, x)] or list(_too_near(surfaces, x, time))


def _crossings(surfaces: Surfaces, x: Points, time: float) -> Iterator[Tangle]:
    faces = surfaces.shell.faces
    if surfaces.self_contact:
        cut = np.flatnonzero(intersecting_faces(x, faces, touching=True))[:_LOOKED_AT]
        pairs = [
            f"{a} and {b}"
            for k, a in enumerate(cut)
            for b in cut[k + 1 :]
            if intersecting_faces(x, faces[[a, b]], touching=True).all()
        ]
        if pairs:
            yield Tangle(f"faces {first_few(pairs)}", "a rest shape without intersections (bunraku check FILE)")
    for one in surfaces.obstacles:
        through = faces_through(np.concatenate([x, one.at(time)]), faces, one.mesh.faces + len(x), touching=True)
        if through.any():
            remedy = f"{_outside(one.name)}, or contact.layers, which moves it out of what it is worn over"
            yield Tangle(f"faces {first_few(np.flatnonzero(through))} and {one.name}", remedy)


def _behind(surfaces: Surfaces, x: Points) -> Iterator[Tangle]:
    for plane in surfaces.planes:
        height = (x - plane.point) @ plane.normal
        behind = np.flatnonzero(height <= 0.0)
        if len(behind):
            deepest = f"{abs(height.min()):.3g} m"
            yield Tangle(f"vertices {first_few(behind)} are up to {deepest} behind {plane.name}", _outside(plane.name))


def _outside(name: str) -> str:
    return f"a rest shape or a first pose that is clear of {name}"


_ON_ITSELF = "a rest shape whose parts do not lie on each other"


def _too_near(surfaces: Surfaces, x: Points, time: float) -> Iterator[Tangle]:
    """Each thing alone, for pairs of all together do not tell whose they are."""
    alone = replace(surfaces, obstacles=(), planes=())
    others = [replace(alone, self_contact=False, obstacles=[one]) for one in surfaces.obstacles]
    others += [replace(alone, self_contact=False, planes=[one]) for one in surfaces.planes]
    names = [one.name for one in (*surfaces.obstacles, *surfaces.planes)]
    own = [(alone, "itself")] if surfaces.self_contact else []
    for some, name in [*own, *zip(others, names, strict=True)]:
        closest, gap = _tightest(some, x, time)
        if closest <= gap:
            clear = _ON_ITSELF if some is alone else _outside(name)
            yield Tangle(
                f"the shell is {closest:.3g} m from {name}, where its thickness keeps {gap:.3g} m open",
                f"{_said_in(some, gap, name)} below {closest:.3g} m" if closest > 1e-3 * gap else clear,
            )


def _said_in(surfaces: Surfaces, gap: float, name: str) -> str:
    """Which setting has made a gap [m] what it is."""
    if gap == surfaces.gap:
        return "contact.thickness"
    return "contact.between" if any(one.gap == gap for one in surfaces.parts.particular) else f"{name}.thickness"


def _tightest(surfaces: Surfaces, x: Points, time: float) -> tuple[float, float]:
    """[m] the distance of what may touch at points x (n, 3) and has least beyond its gap, and that gap; ∞ where nothing
    is within reach."""
    points = surfaces.together(x, time)
    found = [(pairing.near(points[:size]).closest(), pairing.gap) for pairing, size in surfaces.pairings]
    return min(found, key=lambda one: one[0] - one[1], default=(np.inf, 0.0))


def told(found: list[Tangle], noun: str = "shell") -> tuple[str, str]:
    """In one sentence: what, and the first thing to try; `noun` is what the shell is called."""
    if not found:
        return "surfaces nearer than their thickness", "a smaller contact.thickness"
    return "; ".join(one.what.replace("the shell", f"the {noun}") for one in found), found[0].remedy
