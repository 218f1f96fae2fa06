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

from bunraku.collision import Surfaces
from bunraku.contracts import Faces, Flags, Integers, Points, Sparse, Vector
from bunraku.geometry import TriMesh, cotangent_laplacian, first_few, lumped_mass, unit_rows

from .outward import Outward, is_closed, part_of, samples, wound_outwards

_log = logging.getLogger(__name__)
_SEARCH = 4.0  # mean edges behind a surface within which a layer is taken for misplaced
_FARTHER = 1.5  # times that distance within which what is behind still is told
_FIRM = 100.0  # how a lift weighs against the smoothness of the change
_FIRMER = 1.3  # from look to look
_MOST_LOOKS = 40
_CLEAR = (0.5, 1.0, 2.0)  # shares of the reach to which layers are lifted beyond the gap, tried one after the other
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

    @property
    def facts(self) -> list[dict[str, object]]:
        """For a report: of each two layers the vertices moved, and those still on the wrong side."""
        return [
            {"inner": one.inner, "outer": one.outer, "moved": one.count, "most_m": one.most, "wrong": list(one.wrong)}
            for one in self.moved
        ]

    def as_begun(self, surfaces: Surfaces, layers: Sequence[str], x: Points, time: float) -> Ordered:
        """The points x (n, 3) that a shot begins with at a time [s], what it took to order those before them, and what
        is behind in them: who is led to averages, or sewn, need not stay where it was put."""
        seen = _ordered(surfaces, layers, x, time, lifts=False)
        moved = (replace(one, wrong=now.wrong) for one, now in zip(self.moved, seen.moved, strict=True))
        return Ordered(x, tuple(moved))

    def tell(self) -> None:
        """In words."""
        for one in self.moved:
            one.tell()


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
    return _ordered(surfaces, layers, first, time, lifts=True)


def _ordered(surfaces: Surfaces, layers: Sequence[str], first: Points, time: float, *, lifts: bool) -> Ordered:
    """Layers as they are found, from the body outwards, each lifted or only looked at."""
    if not layers:
        return Ordered(first)
    names, x, found = list(surfaces.named), np.array(first), []
    inner = _bodies(surfaces, layers, time)
    for name in layers:
        if name not in surfaces.named:
            continue
        part, vertices = names.index(name) + 1, surfaces.named[name]
        own, faces = part_of(x, surfaces.shell.faces, vertices)
        faces = wound_outwards(own, faces, [one.surface for one in inner])
        layer = _Layer(surfaces, name, part, vertices, faces, [_seen(surfaces, one, part) for one in inner])
        x, low = layer.lifted(x, time) if lifts else (x, [np.zeros(len(vertices), dtype=bool) for _ in inner])
        found += layer.moved(first, x, low)
        inner.append(_Inner(name, layer.outward(x[layer.vertices]), part, 0.0))
    return Ordered(x, tuple(found))


def _bodies(surfaces: Surfaces, layers: Sequence[str], time: float) -> list[_Inner]:
    out = []
    for k, one in enumerate(surfaces.obstacles):
        if one.name in layers or is_closed(one.mesh.faces):
            x = one.at(time)
            mesh = TriMesh(x, wound_outwards(x, one.mesh.faces, ()))
            out.append(_Inner(one.name, Outward(mesh), surfaces.parts.obstacle(k), 0.0))
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
        corners = self.surfaces.shell.rest[self.surfaces.shell.faces]
        edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
        return _SEARCH * edge + max((one.gap for one in self.inner), default=0.0)

    def outward(self, x: Points) -> Outward:
        """The layer at its points (v, 3)."""
        return Outward(TriMesh(x, self.faces))

    def lifted(self, x: Points, time: float) -> tuple[Points, list[Flags]]:
        """All points (n, 3) with this layer above what lies within it, and of each of those (v,) what it lifted."""
        begin, out = x[self.vertices], np.array(x)
        low = [self._low(begin, one, _ENOUGH * _CLEAR[0]) for one in self.inner]
        if any(some.any() for some in low) or not self._apart(out, time):
            for clear in _CLEAR:
                lift = _Lift(self, clear * self.surfaces.felt_within)
                out[self.vertices], low = lift.of(begin), lift.lifted
                if self._apart(out, time):
                    break
        return out, low

    def moved(self, begin: Points, end: Points, low: Sequence[Flags]) -> list[Moved]:
        """What it took to go from points (n, 3) to others, of which (v,) were lifted by each that lies within."""
        own = end[self.vertices]
        way = np.linalg.norm(own - begin[self.vertices], axis=1)
        return [
            Moved(
                one.name, self.name, int(some.sum()), float(way[some].max(initial=0.0)),
                tuple(self.vertices[self._low(own, one, None)].tolist()),
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

    def of(self, begin: Points) -> Points:
        """(v, 3) from where the layer is, (v, 3)."""
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
