"""Stiffness of near pairs, as local blocks.

A pair's corners xᵢ with signed weights wᵢ span its distance vector Σ wᵢ xᵢ = d n. Along n it has the barrier's second
derivative k, across it (friction) t: the block is wᵢ wⱼ (k n nᵀ + t (I − n nᵀ)), positive semi-definite as it stands.
What n turns by adds the positive part of its own second derivative (`turning.py`); the negative part is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector, alike
from bunraku.geometry.vectors import at, between, dot, less
from bunraku.numerics import distinct

from .barrier import bend, height, slope
from .toolkit import Pairs
from .turning import leans, smoothing, turns


@dataclass(frozen=True, eq=False)
class Gaps:
    """How pairs stand: (m,) distances, (m, 3) directions and (m, 4) weights of their corners, (m,) their share."""

    pairs: Pairs
    points: Points
    """(n, 3) where they stand so"""
    rest: Points
    """(n, 3)"""
    weights: Array
    normals: Points
    distances: Vector
    shares: Vector
    """the toolkit's weight of a pair, times its smoothing where edges are nearly parallel"""
    gap: float
    """[m] that the pairs keep open"""
    reach: float
    """[m] beyond it, within which they feel each other"""

    @classmethod
    def of(cls, pairs: Pairs, x: Points, rest: Points, gap: float, reach: float) -> Gaps:
        """At points x (n, 3), with a `gap` [m] to keep, felt within a reach [m]; `rest` (n, 3) tells the length of
        edges."""
        m = len(pairs.corners)
        weights, normals = np.zeros((m, 4)), np.zeros((m, 3))
        distances, shares = np.zeros(m), np.array(pairs.weights)
        _measure(
            pairs.corners, pairs.edges, alike(x), alike(rest), weights, normals,
            distances, shares,
        )  # fmt: skip
        flat = pairs.planes.any(axis=1)
        away = x[pairs.corners[flat, 0]]
        normals[flat], weights[flat, 0] = pairs.planes[flat, :3], 1.0
        distances[flat] = np.sum(away * normals[flat], axis=1) - pairs.planes[flat, 3]
        return cls(pairs, x, rest, weights, normals, distances, shares, gap, reach)

    @property
    def corners(self) -> Integers:
        """(m, 4) of the pairs."""
        return self.pairs.corners

    def pressing(self, stiffness: float) -> tuple[Vector, Vector]:
        """(m,) force [N] and (m,) stiffness [N/m] along the normals."""
        force, stiff = np.empty(len(self.distances)), np.empty(len(self.distances))
        _press(self.distances, self.shares * stiffness, self.gap, self.reach, force, stiff)
        return force, stiff

    def rubbing(self, force: Vector, coefficient: Vector | float, way: Points, still: float) -> Vector:
        """(m,) stiffness [N/m] across the normals, of friction with lagged normal forces (m,) [N].

        The force over the way it opposes: friction that slides has no stiffness along its way, but this keeps the
        matrix positive and the step short.
        """
        moved = self.relative(way)
        moved -= np.sum(moved * self.normals, axis=1)[:, None] * self.normals
        size = np.linalg.norm(moved, axis=1)
        return coefficient * force * np.where(size < still, (2.0 - size / still) / still, 1.0 / np.maximum(size, still))

    def relative(self, way: Points) -> Points:
        """(m, 3) of points that go `way` (n, 3): how the two sides of each pair go apart."""
        moved = np.where(self.corners[:, :, None] >= 0, way[self.corners], 0.0)
        return np.einsum("mi,mij->mj", self.weights, moved)

    def blocks(self, along: Vector, across: Vector | None, out: Array) -> None:
        """(m, 12, 12) of springs along the normals and, if there are any, across them."""
        _blocks(self.weights, self.normals, along, np.zeros(len(along)) if across is None else across, out)

    def add_turning(self, force: Vector, stiffness: float, out: Array) -> None:
        """To (m, 12, 12), what holds pairs that press with a force (m,) [N] against turning."""
        pairs = self.pairs
        _add(turns(pairs, self.weights, self.normals, self.distances, self.points), force, np.arange(len(out)), out)
        leaning = np.flatnonzero(pairs.edges & (self.shares < pairs.weights))
        level = np.empty(len(leaning))
        _heights(self.distances[leaning], stiffness * pairs.weights[leaning], self.gap, self.reach, level)
        _add(leans(pairs.corners[leaning], self.points, self.rest), level, leaning, out)

    def forces(self, along: Vector, across: Vector | None, way: Points) -> Points:
        """(n, 3) the blocks times `way` (n, 3), summed at the points."""
        moved = self.relative(way)
        normal = np.sum(moved * self.normals, axis=1)[:, None] * self.normals
        pull = along[:, None] * normal + (0.0 if across is None else across[:, None] * (moved - normal))
        out = np.zeros_like(way)
        kept = self.corners >= 0
        spread = self.weights[:, :, None] * pull[:, None, :]
        for axis in range(3):
            out[:, axis] = np.bincount(self.corners[kept], spread[:, :, axis][kept], len(way))
        return out


def touched(gaps: Gaps, force: Vector, count: int) -> Flags:
    """(count,) points that some pair presses on."""
    out = np.zeros(count, dtype=bool)
    pressed = gaps.corners[force > 0.0]
    pressed = pressed[(pressed >= 0) & (pressed < count)]
    out[pressed] = True
    return out


def pairs_within(corners: Integers, count: int) -> Integers:
    """(p, 2) all pairs of points below `count` that share a row of corners (m, 4), each once, in order."""
    first, second = np.triu_indices(corners.shape[1])
    both = np.sort(np.stack([corners[:, first].reshape(-1), corners[:, second].reshape(-1)], axis=1), axis=1)
    both = both[(both[:, 0] >= 0) & (both[:, 1] < count)]
    keys = distinct(both[:, 0] * count + both[:, 1])
    return np.stack([keys // count, keys % count], axis=1)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _press(distances, stiffness, gap, reach, force, stiff):
    for k in numba.prange(len(distances)):
        force[k] = -stiffness[k] * slope(distances[k], gap, reach)
        stiff[k] = max(0.0, stiffness[k] * bend(distances[k], gap, reach))


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _heights(distances, stiffness, gap, reach, out):
    for k in numba.prange(len(distances)):
        out[k] = stiffness[k] * height(distances[k], gap, reach)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _add(vectors, scale, rows, out):
    """To the block of each row, its scale times Σ v vᵀ."""
    for k in numba.prange(len(rows)):
        if 0.0 < scale[k] < np.inf:  # what is crushed to the gap, to rounding, has no stiffness to tell
            for n in range(vectors.shape[1]):
                v = vectors[k, n]
                for i in range(12):
                    if v[i] != 0.0:
                        for j in range(12):
                            out[rows[k], i, j] += scale[k] * (v[i] * v[j])


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _blocks(weights, normals, along, across, out):
    for k in numba.prange(len(out)):
        _block(weights[k], normals[k], along[k], across[k], out[k])


@numba.njit(cache=True, error_model="numpy")
def _block(weights, n, along, across, out):
    """Row by row, as they lie in memory: there may be a hundred megabytes of them."""
    stiff = along - across
    for a in range(3):
        of_x, of_y, of_z = n[a] * n[0] * stiff, n[a] * n[1] * stiff, n[a] * n[2] * stiff
        if a == 0:
            of_x += across
        elif a == 1:
            of_y += across
        else:
            of_z += across
        for i in range(4):
            row = out[3 * i + a]
            for j in range(4):
                both = weights[i] * weights[j]
                row[3 * j], row[3 * j + 1], row[3 * j + 2] = both * of_x, both * of_y, both * of_z


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _measure(corners, edges, x, rest, weights, normals, distances, shares):
    # A call alone: what stands in a parallel loop itself takes several times as long to compile.
    for k in numba.prange(len(corners)):
        share, distances[k] = _measure_pair(corners[k], edges[k], x, rest, weights[k], normals[k])
        shares[k] *= share


@numba.njit(cache=True, error_model="numpy")
def _measure_pair(c, is_edges, x, rest, weights, normal):
    """Fill weights and normal of a pair; its smoothing and its distance."""
    share = 1.0
    if is_edges:
        _edge_weights(at(x, c[0]), at(x, c[1]), at(x, c[2]), at(x, c[3]), weights)
        share = smoothing(c, x, rest)
    elif c[3] >= 0:
        _face_weights(at(x, c[0]), at(x, c[1]), at(x, c[2]), at(x, c[3]), weights)
    elif c[2] >= 0:
        along = between(x, c[2], c[1])
        t = dot(between(x, c[0], c[1]), along) / dot(along, along)
        weights[0], weights[1], weights[2] = 1.0, t - 1.0, -t
    elif c[1] >= 0:
        weights[0], weights[1] = 1.0, -1.0
    away = np.zeros(3)
    for i in range(4):
        if c[i] >= 0:
            for axis in range(3):
                away[axis] += weights[i] * x[c[i], axis]
    distance = np.sqrt(dot(away, away))
    if distance > 0.0:
        for axis in range(3):
            normal[axis] = away[axis] / distance
    return share, distance


@numba.njit(cache=True, error_model="numpy")
def _face_weights(p, a, b, c, out):
    """p minus its foot on the plane of a, b, c."""
    u, v, w = less(b, a), less(c, a), less(p, a)
    uu, uv, vv = dot(u, u), dot(u, v), dot(v, v)
    wu, wv = dot(w, u), dot(w, v)
    scale = 1.0 / (uu * vv - uv * uv)
    s, t = (vv * wu - uv * wv) * scale, (uu * wv - uv * wu) * scale
    out[0], out[1], out[2], out[3] = 1.0, s + t - 1.0, -s, -t


@numba.njit(cache=True, error_model="numpy")
def _edge_weights(a, b, c, d, out):
    """The nearest point of a–b minus that of c–d; ends count."""
    u, v, w = less(b, a), less(d, c), less(a, c)
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    bottom = uu * vv - uv * uv
    s = min(1.0, max(0.0, (uv * vw - vv * uw) / bottom)) if bottom > 1e-14 * uu * vv else 0.5
    t = min(1.0, max(0.0, (uv * s + vw) / vv))
    s = min(1.0, max(0.0, (uv * t - uw) / uu))
    out[0], out[1], out[2], out[3] = 1.0 - s, s, t - 1.0, -t
