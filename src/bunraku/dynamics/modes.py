"""Natural modes of an elastic body: the lowest eigenpairs of (K, M), rigid motion exact, and what is added to them.

A body, or a part of it that hangs together, moves rigidly as far as its fixed vertices allow: six ways, three about one
fixed vertex, one about an axis of fixed vertices, none otherwise. These have λ = 0 and are written down, not computed;
the elastic ones are orthogonal to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components

from bunraku.contracts import Array, Factorisation, Flags, Integers, Points, Sparse, Vector, input_error, whole_number
from bunraku.numerics import choose, lowest_eigenpairs, upper_triangle

_FREE = 1e-9  # share of the largest: a combination of rigid motions that moves fixed vertices by less leaves them alone
_DEPENDENT = 1e-7  # length that is left of a unit vector without what is in the others: less is nothing new


@dataclass(frozen=True, eq=False)
class Modes:
    """Shapes in which a body oscillates, each on its own."""

    shapes: Array
    """(n, 3, d) displacements with φᵢᵀMφⱼ = δᵢⱼ [kg^−½], zero at fixed vertices; rigid ones first"""
    stiffness: Vector
    """(d,) λ = ω² [1/s²], 0 for rigid ones, then from low to high"""
    rigid: int
    """how many are rigid"""

    @property
    def count(self) -> int:
        """Number of modes d."""
        return len(self.stiffness)

    @property
    def elastic(self) -> Modes:
        """Those that are not rigid."""
        return Modes(np.ascontiguousarray(self.shapes[:, :, self.rigid :]), self.stiffness[self.rigid :], 0)

    def lowest(self, count: int) -> Modes:
        """The first so many, all where there are fewer; of rigid ones translations come first."""
        if count >= self.count:
            return self
        return Modes(np.ascontiguousarray(self.shapes[:, :, :count]), self.stiffness[:count], min(self.rigid, count))

    def displacements(self, q: Array) -> Array:
        """(n, 3) of modal coordinates q (d,), or (r, n, 3) of rows q (r, d) [m]."""
        flat = self.shapes.reshape(-1, self.count)
        return (np.atleast_2d(q) @ flat.T).reshape(*q.shape[:-1], *self.shapes.shape[:2])

    def coordinates(self, displacements: Array, mass: Vector) -> Array:
        """(d,) modal coordinates of the nearest combination, by mass (n,), to displacements (n, 3), or (r, d)."""
        weighted = (displacements * mass[:, None]).reshape(*displacements.shape[:-2], -1)
        return weighted @ self.shapes.reshape(-1, self.count)


@dataclass(frozen=True, eq=False)
class LinearBody:
    """An elastic body in its linear range: what modes are made of."""

    rest: Points
    """(n, 3) [m]"""
    stiffness: Sparse
    """(3n, 3n) CSR [N/m]"""
    mass: Vector
    """(n,) [kg]"""
    fixed: Integers
    """(f,) vertices that stay"""

    def __post_init__(self) -> None:
        count = len(self.rest)
        fixed = np.unique(np.asarray(self.fixed, dtype=np.int64))
        if len(fixed) and not 0 <= fixed[0] <= fixed[-1] < count:
            wrong = int(fixed[0] if fixed[0] < 0 else fixed[-1])
            raise input_error("is no vertex", where="fixed", got=wrong, allowed=f"0 to {count - 1}")
        if len(fixed) == count:
            raise input_error("all vertices are fixed, so nothing can move", where="fixed", got=f"{count} of {count}")
        if self.stiffness.shape != (3 * count, 3 * count) or self.mass.shape != (count,) or not (self.mass > 0).all():
            raise input_error(
                "needs a stiffness and a mass above zero for every vertex", where="modes",
                got=f"stiffness {self.stiffness.shape}, mass {self.mass.shape}",
                allowed=f"{(3 * count, 3 * count)}, {(count,)}",
            )  # fmt: skip
        object.__setattr__(self, "fixed", fixed)

    @property
    def loose(self) -> Flags:
        """(n,) vertices that are not fixed."""
        out = np.ones(len(self.rest), dtype=bool)
        out[self.fixed] = False
        return out

    def extended(self, moved: Points) -> Points:
        """(n, 3) displacements in static balance whose values at the fixed vertices are given, (f, 3) [m]."""
        out = np.zeros_like(self.rest)
        out[self.fixed] = moved
        if not moved.any():
            return out
        return self._balance.displacements(out.reshape(-1, 1)).reshape(out.shape)

    @cached_property
    def _balance(self) -> _Balance:
        """Of what is not fixed: poses are handed on to the same feet again and again."""
        return _Balance.of(self, np.repeat(self.loose, 3))

    def rigid(self) -> Array:
        """(n, 3, r) M-orthonormal rigid motions, linearised, that leave fixed vertices alone; every part its own."""
        return self._rigid

    @cached_property
    def _rigid(self) -> Array:
        graph = sparse.csr_array(self.stiffness)
        rows = np.repeat(np.arange(3 * len(self.rest)), np.diff(graph.indptr)) // 3
        links = sparse.coo_array(
            (np.ones(len(rows), dtype=bool), (rows, graph.indices // 3)), shape=2 * (len(self.rest),)
        )
        parts, label = connected_components(links, directed=False)
        found = np.concatenate([self._rigid_of(label == part) for part in range(parts)], axis=2)
        found.setflags(write=False)
        return found

    def _rigid_of(self, part: Flags) -> Array:
        """(n, 3, r) of one part: translations first, then rotations about its centre of mass, where all are free."""
        six = rigid_motions(self.rest, self.mass * part) * part[:, None, None]
        held = self.fixed[part[self.fixed]]
        if len(held):
            # Which combinations of the six leave them alone; the six are orthonormal, so are these.
            # Thousands of vertices may be held: their six columns are first turned into at most six rows.
            few = np.linalg.qr(six[held].reshape(-1, 6), mode="r")
            _, size, combinations = np.linalg.svd(few, full_matrices=True)
            size = np.concatenate([size, np.zeros(6 - len(size))])
            six = six @ combinations[size <= _FREE * np.abs(six).max()].T
            six[self.fixed] = 0.0
        return six


def rigid_motions(rest: Points, mass: Vector) -> Array:
    """(n, 3, 6) three translations, then rotations about the principal axes through the centre of mass, linearised.

    M-orthonormal for masses (n,), of which some may be zero.
    """
    total = float(mass.sum())
    arm = rest - mass @ rest / total
    spread = (mass[:, None] * arm).T @ arm
    inertia, axes = np.linalg.eigh(np.trace(spread) * np.eye(3) - spread)
    axes = axes * np.where(axes[np.argmax(np.abs(axes), axis=0), np.arange(3)] < 0.0, -1.0, 1.0)
    out = np.empty((len(rest), 3, 6))
    out[:, :, :3] = np.eye(3) / np.sqrt(total)
    for k in range(3):
        out[:, :, 3 + k] = np.cross(axes[:, k], arm) / np.sqrt(inertia[k])
    return out


def natural_modes(
    body: LinearBody, count: int, *, threads: int | None = None, order: Integers | None = None
) -> Modes:  # fmt: skip
    """All rigid modes of a body, then its `count` lowest elastic ones (fewer where it has fewer).

    `order` (v,) is that of elimination of vertices that are not fixed, where it is known: `Warp.order`.
    """
    count = whole_number("modes", count)
    rigid, free = body.rigid(), np.repeat(body.loose, 3)
    known = rigid.reshape(len(free), rigid.shape[2])[free]
    inner = sparse.csr_array(body.stiffness[free][:, free])
    each = None if order is None else (3 * order[:, None] + np.arange(3)).reshape(-1)
    found = lowest_eigenpairs(inner, np.repeat(body.mass, 3)[free], count, known=known, threads=threads, order=each)
    shapes = np.zeros((3 * len(body.rest), found.vectors.shape[1]))
    shapes[free] = found.vectors
    whole = np.concatenate([rigid, shapes.reshape(len(body.rest), 3, -1)], axis=2)
    return Modes(whole, np.concatenate([np.zeros(rigid.shape[2]), found.values]), rigid.shape[2])


def enriched(modes: Modes, vectors: Array, body: LinearBody) -> Modes:
    """Modes of the span of some modes and other displacements (n, 3, e) as well.

    Rigid ones stay as they are; the others oscillate each on its own again. What is no news to the modes is left out.
    """
    mass = np.repeat(body.mass, 3)[:, None]
    flat = modes.shapes.reshape(3 * len(body.rest), modes.count)
    more = vectors.reshape(len(flat), vectors.shape[2]) * np.repeat(body.loose, 3)[:, None]
    length = np.sqrt(np.sum(mass * more * more, axis=0))
    more = more[:, length > 0] / length[length > 0]
    for _ in range(2):
        more = more - flat @ (flat.T @ (mass * more))
    values, inner = eigh(more.T @ (mass * more))
    kept = values > _DEPENDENT**2
    more = more @ (inner[:, kept] / np.sqrt(values[kept]))
    more = more - flat @ (flat.T @ (mass * more))
    elastic = np.concatenate([flat[:, modes.rigid :], more], axis=1)
    stiffness, mixed = eigh(elastic.T @ (body.stiffness @ elastic), elastic.T @ (mass * elastic))
    elastic = elastic @ mixed
    elastic *= np.where(np.random.default_rng(0).normal(size=len(elastic)) @ elastic < 0.0, -1.0, 1.0)
    shapes = np.concatenate([flat[:, : modes.rigid], elastic], axis=1).reshape(*modes.shapes.shape[:2], -1)
    return Modes(shapes, np.concatenate([np.zeros(modes.rigid), np.maximum(stiffness, 0.0)]), modes.rigid)


def attachments(body: LinearBody, vertices: Integers | Sequence[int], *, threads: int | None = None) -> Array:
    """(n, 3, e) how a body gives way when some vertices are moved as one: e ≤ 6 rigid motions of those vertices.

    The vertices take the motion exactly and the rest of the body is in equilibrium. What can still move rigidly is kept
    where it was, in the mean: its inertia is the counterforce (inertia relief).
    """
    keyed = np.unique(np.asarray(vertices, dtype=np.int64))
    if not len(keyed) or not 0 <= keyed[0] <= keyed[-1] < len(body.rest):
        raise input_error("needs vertices of the body", where="attachments", got=f"{len(keyed)} vertices")
    if np.isin(keyed, body.fixed).any():
        raise input_error(
            "vertices are fixed, so they cannot be moved", where="attachments",
            got=f"vertex {keyed[np.isin(keyed, body.fixed)][0]}", remedy="keys on vertices that are not fixed",
        )  # fmt: skip
    inner = np.repeat(body.loose, 3)
    inner[(3 * keyed[:, None] + np.arange(3)).reshape(-1)] = False
    if not inner.any():
        return _moved_as_one(body, keyed).reshape(len(body.rest), 3, -1)
    balance = _Balance.of(body, inner, threads)
    return balance.displacements(_moved_as_one(body, keyed)).reshape(len(body.rest), 3, -1)


@dataclass(frozen=True, eq=False)
class _Balance:
    """Static balance of some coordinates of a body, the others being told, without rigid motion that leaves fixed
    vertices alone."""

    stiffness: Sparse
    inner: Flags
    """(3n,) which are in balance"""
    felt: Array
    """(3n, r) masses times the rigid motions"""
    matrix: Sparse
    factor: Factorisation

    @classmethod
    def of(cls, body: LinearBody, inner: Flags, threads: int | None = None) -> _Balance:
        """Factorised."""
        rigid = body.rigid()
        felt = np.repeat(body.mass, 3)[:, None] * rigid.reshape(3 * len(body.rest), rigid.shape[2])
        matrix = body.stiffness[inner][:, inner]
        if felt.shape[1]:
            beside = sparse.csr_array(felt[inner])
            matrix = sparse.block_array([[matrix, beside], [beside.T, None]])
        factor = choose(threads=threads, pivoting=bool(felt.shape[1]), positive=not felt.shape[1])
        indptr, indices, values = upper_triangle(sparse.csr_array(matrix))
        factor.analyse(indptr, indices)
        factor.factor(values)
        return cls(body.stiffness, inner, felt, matrix, factor)

    def displacements(self, prescribed: Array) -> Array:
        """(3n, e) as prescribed (3n, e), but in balance."""
        inner, matrix = self.inner, self.matrix
        right = np.concatenate([-(self.stiffness @ prescribed)[inner], -self.felt.T @ prescribed])
        solved = self.factor.solve(np.ascontiguousarray(right.T))
        solved += self.factor.solve(right.T - (matrix @ solved.T).T)
        out = prescribed.copy()
        out[inner] = solved[:, : int(inner.sum())].T
        return out


def _moved_as_one(body: LinearBody, keyed: Integers) -> Array:
    """(3n, e) the rigid motions of some vertices, the others at rest; those of one vertex or of a line are fewer."""
    share = np.zeros(len(body.rest))
    share[keyed] = body.mass[keyed]
    centre = share @ body.rest / share.sum()
    size = max(float(np.abs(body.rest[keyed] - centre).max()), 1e-9 * float(np.ptp(body.rest, axis=0).max()))
    turns = [np.cross(axis, (body.rest - centre) / size) for axis in np.eye(3)]
    pushes = [np.tile(axis, (len(body.rest), 1)) for axis in np.eye(3)]
    six = np.stack([*pushes, *turns], axis=2).astype(np.float64)
    six[np.setdiff1d(np.arange(len(six)), keyed)] = 0.0
    flat = six.reshape(-1, 6) * np.sqrt(np.repeat(share / share.sum(), 3))[:, None]
    values, combinations = np.linalg.eigh(flat[:, 3:].T @ flat[:, 3:])
    turned = six.reshape(-1, 6)[:, 3:] @ combinations[:, values > _FREE]
    return np.concatenate([six.reshape(-1, 6)[:, :3], turned], axis=1)
