"""Seams: vertices of the shell that are sewn to others, before the first frame or while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku.collision import Stitches
from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Flags, InputError, Integers, Points, Sparse, Vector, input_error, is_between
from bunraku.geometry import TriMesh, first_few
from bunraku.motion import ease

from .independence import dependent_rows
from .shut import check_room

_log = logging.getLogger(__name__)
_NEARLY = 1e-2  # squared sine: stitches that say nearly the same would fight over the difference
_NEAR_END = 0.15  # share of an edge: nearer to its end, a stitch follows from one to the end itself


@dataclass(frozen=True, eq=False)
class Seam:
    """Vertices that come together and stay together: sewn, and one surface from then on.

    There is no moment across a seam: it is a hinge. Around it the shell does not keep itself off.
    """

    stitches: Sequence[Sequence[int]] | Integers
    """(s, 2) vertices of the shell, each sewn to another; or (s, 3): sewn to a place between two others"""
    shares: Sequence[float] | Vector | None = None
    """(s,) where between the two others: 0 at the first of them, 1 at the second"""
    closed: float | None = None
    """[s] when it is closed, beginning at the first frame; None: before the first frame, without weight or inertia"""

    def __post_init__(self) -> None:
        given = _array(self.stitches)
        if given.ndim != 2 or given.shape[1] not in (2, 3) or not np.issubdtype(given.dtype, np.integer):
            raise input_error("a seam has pairs of vertices (s, 2), or threes (s, 3)", got=_told(given))
        object.__setattr__(self, "stitches", given.astype(np.int64))
        shares = np.zeros(len(given)) if self.shares is None else _array(self.shares)
        fits = shares.shape == (len(given),) and shares.dtype.kind in "fiu"
        if (self.shares is None) == (given.shape[1] == 3) or not fits:
            raise input_error(
                "a seam onto places between vertices has a share a stitch, and one between vertices has none",
                got="no shares" if self.shares is None else _told(shares),
                allowed=f"({len(given)},) of numbers" if given.shape[1] == 3 else "shares=None",
            )  # fmt: skip
        if not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise input_error(
                "shares of a seam lie between 0 and 1", got=float(shares[~((shares >= 0.0) & (shares <= 1.0))][0])
            )
        object.__setattr__(self, "shares", shares.astype(np.float64))
        if self.closed is not None and not is_between(self.closed, -1e300, 1e300):
            raise input_error("seam.closed must be a time in seconds", got=self.closed)

    def check(self, shell: TriMesh, where: str) -> None:
        """Its vertices are the shell's, none is sewn to itself, and no face is sewn shut or laid on another."""
        stitches = np.asarray(self.stitches)
        bad = stitches[(stitches < 0) | (stitches >= shell.point_count)]
        if len(bad):
            raise input_error(
                "a seam must name vertices of the shell", where=where, got=first_few(bad),
                allowed=f"0 to {shell.point_count - 1}",
            )  # fmt: skip
        itself = (stitches[:, :1] == stitches[:, 1:]).any(axis=1)
        if itself.any():
            raise input_error("a seam sews a vertex to itself", where=where, got=first_few(stitches[itself, 0]))
        check_room([self], shell, where)

    def of(self, which: Flags) -> Seam:
        """With the stitches of which (s,) is true."""
        stitches, shares = np.asarray(self.stitches)[which], np.asarray(self.shares)[which]
        return Seam(stitches, shares if stitches.shape[1] == 3 else None, self.closed)

    def weights(self, count: int, near: float = 0.0) -> Sparse:
        """(s, n) rows of the vertex minus the place it is sewn to; shares `near` an end are taken for it."""
        stitches, shares = np.asarray(self.stitches), np.asarray(self.shares)
        shares = np.where(shares < near, 0.0, np.where(shares > 1.0 - near, 1.0, shares))
        onto = stitches[:, 1:]
        parts = np.stack([1.0 - shares, shares], axis=1)[:, : onto.shape[1]]
        rows = np.repeat(np.arange(len(stitches)), 1 + onto.shape[1])
        values = np.concatenate([np.ones((len(stitches), 1)), -parts], axis=1).reshape(-1)
        found: Sparse = sparse.csr_array((values, (rows, stitches.reshape(-1))), shape=(len(stitches), count))
        found.eliminate_zeros()
        return found

    @property
    def pairs(self) -> Integers:
        """(p, 2) vertices that lie on each other once it is closed."""
        stitches, shares = np.asarray(self.stitches), np.asarray(self.shares)
        if stitches.shape[1] == 2:
            return stitches
        return np.concatenate([stitches[shares == 0.0][:, [0, 1]], stitches[shares == 1.0][:, [0, 2]]])

    @property
    def beside(self) -> Integers:
        """(p, 2) vertices and the ends of the edges that they come to lie on."""
        stitches, shares = np.asarray(self.stitches), np.asarray(self.shares)
        if stitches.shape[1] == 2:
            return np.zeros((0, 2), np.int64)
        between = stitches[(shares > 0.0) & (shares < 1.0)]
        return np.concatenate([between[:, [0, 1]], between[:, [0, 2]]])


def check_seams(seams: Sequence[Seam], shell: TriMesh, time: float) -> None:
    """Refuse, all at once, seams that do not fit the shell, or are to be closed when the shot begins, at a time [s]."""
    wrong = []
    for k, seam in enumerate(seams):
        try:
            seam.check(shell, f"seams[{k}]")
            if seam.closed is not None and seam.closed <= time:
                raise input_error(
                    "there is no time to close it in", where=f"seams[{k}].closed", got=f"{seam.closed:g} s",
                    allowed=f"after the first frame, at {time:g} s", remedy="None: closed before the first frame",
                )  # fmt: skip
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))
    if len(seams) > 1:  # what none of them does alone
        check_room(seams, shell, "seams")


def sewn_pairs(seams: Sequence[Seam], count: int) -> Integers:
    """(p, 2) vertices of `count` that are one, or lie on one seam beside each other, once all seams are closed.

    Stitches hand on: three vertices in one place are three pairs. What lies on an edge is beside its ends, and beside
    all else that lies on it.
    """
    exact = _graph(np.concatenate([np.zeros((0, 2), np.int64), *(seam.pairs for seam in seams)]), count)
    places, place = connected_components(exact, directed=False)
    at = sparse.csr_array((np.ones(count), (np.arange(count), place)), shape=(count, places))
    beside = _graph(np.concatenate([np.zeros((0, 2), np.int64), *(seam.beside for seam in seams)]), count)
    near = at.T @ (beside + beside.T) @ at
    whole = sparse.coo_array(sparse.triu(at @ (sparse.eye_array(places) + near + near @ near) @ at.T, k=1))
    return np.unique(np.stack([whole.row, whole.col], axis=1).astype(np.int64), axis=0)


def stitches_of(seams: Sequence[Seam], first: Points, time: float) -> Stitches:
    """All stitches of seams that begin to close at points `first` (n, 3) at a time [s]."""
    weights: Sparse = sparse.csr_array(sparse.vstack([seam.weights(len(first)) for seam in seams]))
    sizes = [len(seam.stitches) for seam in seams]

    def left(t: float) -> Vector:
        return np.repeat([_left(seam.closed, time, t) for seam in seams], sizes)

    return Stitches(weights, left, np.zeros(weights.shape[0]), time).begun(first)


def _left(closed: float | None, time: float, t: float) -> float:
    """The share of its way that is left at t [s] to a seam that begins to close at a time [s]."""
    return 0.0 if closed is None or t >= closed else 1.0 - float(ease(np.array([t]), time, closed)[0])


def _graph(pairs: Integers, count: int) -> Sparse:
    return sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))


def seam_constraints(
    seams: Sequence[Seam], shell: TriMesh, first: Points, mass: Vector, time: float, pinned: Flags,
    press: Callable[[Sparse], Callable[[float], Vector]] | None,
) -> list[LinearConstraint]:  # fmt: skip
    """The conditions of seams on a shell that starts at `first` (n, 3) at a time [s].

    Stitches that follow from others, or lie between vertices that are `pinned` (n,), are left out: three vertices in
    one place take two stitches. `press` makes of weights (s, n) how hard they may press, where there is contact.
    """
    if not seams:
        return []
    weights = [seam.weights(shell.point_count) for seam in seams]
    # Two stitches to places near each other on one edge would draw the edge together: one of them is enough.
    blunt = [seam.weights(shell.point_count, _NEAR_END) for seam in seams]
    kept = np.split(_independent(blunt, pinned), np.cumsum([w.shape[0] for w in weights])[:-1])
    return [
        _constraint(w[keep], seam.closed, first, mass, time, press)
        for seam, w, keep in zip(seams, weights, kept, strict=True)
        if keep.any()
    ]


def _independent(weights: Sequence[Sparse], pinned: Flags) -> Flags:
    """(s,) stitches of all seams that do not follow from others or from pins."""
    held = np.flatnonzero(pinned)
    pins = sparse.csr_array((np.ones(len(held)), (np.arange(len(held)), held)), shape=(len(held), len(pinned)))
    double = dependent_rows(sparse.csr_array(sparse.vstack([pins, *weights])), _NEARLY)
    keep = np.ones(sum(w.shape[0] for w in weights), dtype=bool)
    keep[double[double >= len(held)] - len(held)] = False
    if not keep.all():
        _log.info("%d of %d stitches follow from others or from pins", int((~keep).sum()), len(keep))
    return keep


def _constraint(
    weights: Sparse, closed: float | None, first: Points, mass: Vector, time: float,
    press: Callable[[Sparse], Callable[[float], Vector]] | None,
) -> LinearConstraint:  # fmt: skip
    jacobian = average_jacobian(weights)
    rows = jacobian.shape[0]
    apart: Array = jacobian @ first.reshape(-1)

    def goals(t: float) -> Vector:
        return _left(closed, time, t) * apart

    return LinearConstraint(
        jacobian, goals, lambda _: np.ones(rows), felt_mass(jacobian, mass),
        press=None if press is None else press(abs(weights)),
    )  # fmt: skip


def _array(given: object) -> Array:
    """As an array; lists of lists of several lengths are none."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.asarray("rows of several lengths")


def _told(given: Array) -> str:
    return f"{given.shape} of {given.dtype}"
