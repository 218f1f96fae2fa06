"""Layers in the order that is declared, before the first frame.

From the body outwards each layer is moved out of what lies within it: where it is behind an inner surface, or nearer
than the two may be, it is lifted to above it. What is lifted takes its neighbourhood along: the smoothest change that
lifts enough is looked for, and looked for again until nothing is behind. Only the outer of two layers moves.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.collision import Obstacle, Surfaces
from bunraku.contracts import Faces, Flags, Integers, Points, Sparse, Vector
from bunraku.geometry import TriMesh, cotangent_laplacian, first_few, lumped_mass, unit_rows

from .outward import Outward, is_closed, part_of, samples, wound_outwards

_log = logging.getLogger(__name__)
SEARCH = 4.0
"""mean edges behind a surface within which a layer is taken for misplaced"""
_FARTHER = 1.5  # times that distance within which what is behind still is told
_FIRM = 100.0  # how a lift weighs against the smoothness of the change
_FIRMER = 1.3  # from look to look
_MOST_LOOKS = 40
_CLEAR = (0.5, 1.0, 2.0)  # shares of the reach to which layers are lifted beyond the gap, tried one after the other
_FARTHEST = 3.0  # times the search distance: nothing that was behind by less is lifted so far
_ENOUGH = 0.2  # of that lift, which is left alone


@dataclass(frozen=True)
class Moved:
    """How a layer was moved out of what lies within it."""

    inner: str
    outer: str
    count: int
    """vertices of the outer one that were lifted, or whose faces were: behind the inner one, cutting it or too near"""
    most: float
    """[m] the longest way of one of them"""
    wrong: tuple[int, ...]
    """vertices that are behind it still"""

    def tell(self) -> None:
        """In words."""
        if self.count:
            _log.info(
                "layers: %d vertices of %s were moved out of %s, by up to %.3g m", self.count, self.outer, self.inner,
                self.most,
            )  # fmt: skip
        if self.wrong:
            _log.warning(
                "layers: %d vertices of %s are still behind %s: %s", len(self.wrong), self.outer, self.inner,
                first_few(np.array(self.wrong)),
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Ordered:
    """A pose whose layers are in order, and what it took."""

    points: Points
    """(n, 3)"""
    moved: tuple[Moved, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether anything had to be moved."""
        return any(one.count for one in self.moved)

    def as_begun(self, surfaces: Surfaces, layers: Sequence[str], x: Points, time: float) -> Ordered:
        """The points x (n, 3) that a shot begins with at a time [s], what it took to order those before them, and what
        is behind in them: who is led to averages, or sewn, need not stay where it was put."""
        seen = order_after(surfaces, layers, x, x, time)
        moved = (replace(one, wrong=now.wrong) for one, now in zip(self.moved, seen.moved, strict=True))
        return Ordered(x, tuple(moved))

    def tell(self) -> None:
        """In words."""
        for one in self.moved:
            one.tell()

    @property
    def facts(self) -> list[dict[str, object]]:
        """For a report: of each two layers the vertices moved, and those still on the wrong side."""
        return [
            {"inner": one.inner, "outer": one.outer, "moved": one.count, "most_m": one.most, "wrong": list(one.wrong)}
            for one in self.moved
        ]


@dataclass(frozen=True, eq=False)
class _Inner:
    """A surface within a layer."""

    name: str
    surface: Outward
    part: int
    gap: float
    """[m] that stays open between the two"""


def in_order(surfaces: Surfaces, layers: Sequence[str], first: Points, time: float) -> Ordered:
    """A first pose (n, 3) at a time [s] with its layers in order, from the body outwards.

    Closed obstacles lie within all layers, and so do those that are named before them.
    """
    if not layers:
        return Ordered(first)
    x, found, inner = np.array(first), [], _bodies(surfaces, layers, time)
    for name in layers:
        if name in surfaces.named:
            layer = _layer(surfaces, name, inner, x)
            x, moved = layer.lifted(x, time)
            found += moved
            inner.append(layer.seen_from_outside(x))
    return Ordered(x, tuple(found))


def order_after(surfaces: Surfaces, layers: Sequence[str], first: Points, then: Points, time: float) -> Ordered:
    """What it took from a first pose (n, 3) to another, however that was reached, and what is not in order in it."""
    found, before, after = [], _bodies(surfaces, layers, time), _bodies(surfaces, layers, time)
    for name in layers:
        if name in surfaces.named:
            was, now = _layer(surfaces, name, before, first), _layer(surfaces, name, after, then)
            found += now.moved(first, then, was.low(first))
            before.append(was.seen_from_outside(first))
            after.append(now.seen_from_outside(then))
    return Ordered(then, tuple(found))


def is_body(obstacle: Obstacle, layers: Sequence[str]) -> bool:
    """Whether it lies within all layers: it is closed, or named among them."""
    return obstacle.name in layers or is_closed(obstacle.mesh.faces)


def body_of(obstacle: Obstacle, time: float) -> TriMesh:
    """As it is at a time [s], its faces wound outwards."""
    x = obstacle.at(time)
    return TriMesh(x, wound_outwards(x, obstacle.mesh.faces, ()))


def _layer(surfaces: Surfaces, name: str, inner: Sequence[_Inner], x: Points) -> _Layer:
    """A part of the shell at points x (n, 3), and what lies within it."""
    part, vertices = list(surfaces.named).index(name) + 1, surfaces.named[name]
    own, faces = part_of(x, surfaces.shell.faces, vertices)
    faces = wound_outwards(own, faces, [one.surface for one in inner])
    return _Layer(surfaces, name, part, vertices, faces, [_seen(surfaces, one, part) for one in inner])


def mean_edge(shell: TriMesh) -> float:
    """[m] at rest"""
    corners = shell.rest[shell.faces]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


def _bodies(surfaces: Surfaces, layers: Sequence[str], time: float) -> list[_Inner]:
    out = []
    for k, one in enumerate(surfaces.obstacles):
        if is_body(one, layers):
            out.append(_Inner(one.name, Outward(body_of(one, time)), surfaces.parts.obstacle(k), 0.0))
    return out


def _seen(surfaces: Surfaces, inner: _Inner, part: int) -> _Inner:
    return replace(inner, gap=float(surfaces.parts.gaps[part, inner.part]))


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer and all that lies within it."""

    surfaces: Surfaces
    name: str
    part: int
    vertices: Integers
    """(v,) of the shell"""
    faces: Faces
    """(f, 3) between those, wound outwards"""
    inner: list[_Inner]

    @cached_property
    def within(self) -> float:
        """[m] behind a surface up to which the layer is taken for misplaced."""
        return SEARCH * mean_edge(self.surfaces.shell) + max((one.gap for one in self.inner), default=0.0)

    def outward(self, x: Points) -> Outward:
        """The layer at its points (v, 3)."""
        return Outward(TriMesh(x, self.faces))

    def seen_from_outside(self, x: Points) -> _Inner:
        """As what lies within the next, at points x (n, 3)."""
        return _Inner(self.name, self.outward(x[self.vertices]), self.part, 0.0)

    def lifted(self, x: Points, time: float) -> tuple[Points, list[Moved]]:
        """All points (n, 3) with this layer above what lies within it, and what that took; left where it is if it does
        not come clear of that."""
        begin, low = x[self.vertices], self.low(x)
        if not self.inner or not (any(some.any() for some in low) or not self._apart(x, time)):
            return x, self.moved(x, x, low)
        for clear in _CLEAR:
            lift, out = _Lift(self, clear * self.surfaces.felt_within), np.array(x)
            above = lift.of(begin)
            if above is None:
                break
            out[self.vertices] = above
            if self._apart(out, time):
                return out, self.moved(x, out, lift.lifted)
        return x, self.moved(x, x, [np.zeros_like(some) for some in low])

    def low(self, x: Points) -> list[Flags]:
        """Of each inner surface, (v,) vertices at points x (n, 3) that are behind it, or too near."""
        return [self._low(x[self.vertices], one, _ENOUGH * _CLEAR[0]) for one in self.inner]

    def moved(self, x: Points, out: Points, low: Sequence[Flags]) -> list[Moved]:
        """What it took from points x to out (n, 3), counted of vertices `low` (v,) of each inner surface."""
        begin, end = x[self.vertices], out[self.vertices]
        way = np.linalg.norm(end - begin, axis=1)
        return [
            Moved(
                one.name, self.name, int(some.sum()), float(way[some].max(initial=0.0)),
                tuple(self.vertices[self._low(end, one, None)].tolist()),
            )
            for one, some in zip(self.inner, low, strict=True)
        ]  # fmt: skip

    def _low(self, x: Points, inner: _Inner, share: float | None) -> Flags:
        """(v,) vertices at x (v, 3) that are behind a surface or, with a share of the reach, less above its gap."""
        within = self.within * (_FARTHER if share is None else 1.0)
        look = inner.surface.look(x, self.outward(x).normals, within)
        limit = 0.0 if share is None else inner.gap + share * self.surfaces.felt_within
        return look.counts & (look.heights < limit)

    def _apart(self, x: Points, time: float) -> bool:
        """Whether the layer cuts nothing within it, and is nowhere nearer than it may be."""
        points = self.surfaces.together(x, time)
        for one in self.inner:
            pairing = self.surfaces.pairing_between(one.part, self.part)
            if pairing.intersects(points) or not pairing.near(points).closest() > one.gap:
                return False
        return True


class _Lift:
    """The smoothest change of a layer that lifts it above what lies within it."""

    def __init__(self, layer: _Layer, clear: float) -> None:
        """To `clear` [m] beyond the gaps."""
        self._layer, self._clear = layer, clear
        self._held: dict[tuple[int, bool], Flags] = {}
        self.lifted = [np.zeros(len(layer.vertices), dtype=bool) for _ in layer.inner]
        """of each inner surface (v,) vertices that it lifted, or whose faces"""

    def of(self, begin: Points) -> Points | None:
        """(v, 3) from where the layer is, (v, 3). None where it runs away: what one place asks for, another undoes."""
        x = np.array(begin)
        smooth = self._smoothness(self._layer.outward(begin).mesh)
        for look in range(_MOST_LOOKS):
            found = [self._rows(x, k, above) for k in range(len(self._layer.inner)) for above in (True, False)]
            if not any(short for _, _, short in found):
                break
            jacobian = sparse.csr_array(sparse.vstack([rows for rows, _, _ in found]))
            lifts = np.concatenate([lift for _, lift, _ in found])
            firm = _FIRM * _FIRMER**look
            # The whole change is to be smooth, not each step of it: what is lifted does not wander off sideways.
            pull = firm * (jacobian.T @ lifts) - smooth @ (x - begin).reshape(-1)
            x += splu(sparse.csc_array(smooth + firm * (jacobian.T @ jacobian))).solve(pull).reshape(-1, 3)
            if not np.linalg.norm(x - begin, axis=1).max() < _FARTHEST * self._layer.within:
                return None
        return x

    def _smoothness(self, mesh: TriMesh) -> Sparse:
        """(3 v, 3 v) of a change that dies out within about the search distance."""
        mass = sparse.diags_array(lumped_mass(mesh) / self._layer.within**2)
        one = cotangent_laplacian(mesh) + mass
        return sparse.csr_array(sparse.kron(one, sparse.eye_array(3)))

    def _rows(self, x: Points, k: int, above: bool) -> tuple[Sparse, Vector, bool]:
        """(r, 3 v) rows, (r,) how far they must be lifted [m], and whether any is lower than it may stay.

        From `above`, samples of the layer are seen from the inner surface; else samples of that from the layer.
        """
        inner, within = self._layer.inner[k], self._layer.within
        own = self._layer.outward(x)
        if above:
            weights = samples(own.mesh.faces, len(x))
            look = inner.surface.look(weights @ x, unit_rows(weights @ own.normals), within)
            heights, normals = look.heights, look.normals
        else:
            spread = inner.surface.samples
            normals = unit_rows(spread @ inner.surface.normals)
            look = own.look(spread @ inner.surface.mesh.rest, normals, within, along=normals)
            heights, rows = -look.heights, np.repeat(np.arange(len(normals)), 3)
            at = (rows, look.faces.reshape(-1))
            weights = sparse.csr_array((look.weights.reshape(-1), at), shape=(len(normals), len(x)))
        short = look.counts & (heights < inner.gap + _ENOUGH * self._clear)
        held = self._held.get((k, above), np.zeros(len(short), dtype=bool)) | short
        self._held[k, above] = held
        self.lifted[k] |= np.asarray(abs(weights[np.flatnonzero(short)]).sum(axis=0)).reshape(-1) > 0.0
        lift = inner.gap + self._clear - heights
        active = np.flatnonzero(held & look.counts & (lift > 0.0))
        return _along(weights[active], normals[active]), lift[active], bool(short.any())


def _along(weights: Sparse, directions: Points) -> Sparse:
    """(r, 3 v) rows that measure weights (r, v) along directions (r, 3)."""
    found = sparse.coo_array(weights)
    rows, columns = np.repeat(found.row, 3), (3 * found.col[:, None] + np.arange(3)).reshape(-1)
    values = (found.data[:, None] * directions[found.row]).reshape(-1)
    return sparse.csr_array((values, (rows, columns)), shape=(weights.shape[0], 3 * weights.shape[1]))
