"""Whether surfaces stay apart: an answer that owes nothing to the solver that kept them so.

On each frame every triangle is asked whether it crosses another; between frames every corner and every edge whether it
touches a face or an edge on the straight way. The second errs on the side of finding too much: a frame's straight way
may also cut a corner that the solver's steps went around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points, Vector
from bunraku.geometry import intersecting_faces

from .differences import CheckFailed


@dataclass(frozen=True, eq=False)
class Apart:
    """What was found on t frames."""

    crossing: Integers
    """(t,) faces of the shell that cross another face, of the shell or of an obstacle, or touch one"""
    beyond: Integers
    """(t,) vertices of the shell that are not in front of every plane"""
    passing: Integers
    """(t − 1,) vertices and edges that touch a face or an edge on the way to the next frame"""

    @property
    def clean(self) -> bool:
        """Whether nothing was found, on frames and between."""
        return not (self.crossing.any() or self.beyond.any() or self.passing.any())

    def sentence(self) -> str:
        """The first of each kind."""
        found = []
        for what, counts, where in (
            ("faces cross", self.crossing, "on frame index"),
            ("vertices are behind a plane", self.beyond, "on frame index"),
            ("pairs meet", self.passing, "after frame index"),
        ):
            if counts.any():
                first = int(np.flatnonzero(counts)[0])
                found.append(f"{counts[first]} {what} {where} {first}, {np.count_nonzero(counts)} such in all")
        return "; ".join(found) or "nothing meets"


def passings(
    begin: Points, end: Points, faces: Faces, *, gap: float = 0.0, movable: int | None = None
) -> tuple[Integers, ...]:
    """Vertices and faces (2,) and corners of two edges (4,), one row each, that come within `gap` [m] on the straight
    way from `begin` to `end` (n, 3); of each vertex and edge one.

    Pairs without a vertex below `movable` do not count.
    """
    from bunraku.geometry.passing import passing_pairs  # compiled kernels: only for those who need them

    vertices, sides = passing_pairs(begin, end, faces, gap=gap, movable=movable)
    return (*vertices, *sides)


def survey_apart(
    faces: Faces, frames: Sequence[Points], *, shell: int | None = None, movable: int | None = None,
    planes: Sequence[tuple[Vector, Vector]] = (), gap: float = 0.0, between: bool = True,
    sewn: Integers | None = None,
) -> Apart:  # fmt: skip
    """Look at frames (n, 3) of a shell, perhaps with obstacles behind it: its vertices are the first `movable`, its
    faces the first `shell`. Obstacles may do to each other what they like. `planes` are (normal, point) [m]; between
    frames nothing may come within `gap` [m]. On frames, faces with vertices that are `sewn` (s, 2) to each other are
    neighbours: where they meet does not count.
    """
    own = len(faces) if shell is None else shell
    crossing = np.array([np.count_nonzero(_meets_shell(x, faces, own, sewn)) for x in frames], dtype=np.int64)
    beyond = np.array([np.count_nonzero(_behind(x[:movable], planes, gap)) for x in frames], dtype=np.int64)
    ways = pairwise(frames) if between else ()
    passing = np.array([len(passings(a, b, faces, gap=gap, movable=movable)) for a, b in ways], dtype=np.int64)
    return Apart(crossing, beyond, passing)


def check_apart(
    faces: Faces, frames: Sequence[Points], *, shell: int | None = None, movable: int | None = None,
    planes: Sequence[tuple[Vector, Vector]] = (), gap: float = 0.0, between: bool = True,
    sewn: Integers | None = None,
) -> Apart:  # fmt: skip
    """`survey_apart` that raises `CheckFailed` where something was found."""
    found = survey_apart(
        faces, frames, shell=shell, movable=movable, planes=planes, gap=gap, between=between, sewn=sewn
    )
    if not found.clean:
        raise CheckFailed(found.sentence())
    return found


def _meets_shell(x: Points, faces: Faces, shell: int, sewn: Integers | None) -> Flags:
    """(shell,) faces of the shell that cross or touch any other face: whichever of two is asked, the answer is one."""
    return intersecting_faces(x, faces, touching=True, sewn=sewn)[:shell]


def _behind(x: Points, planes: Sequence[tuple[Vector, Vector]], gap: float) -> Flags:
    out = np.zeros(len(x), dtype=bool)
    for normal, point in planes:
        out |= (x - point) @ normal <= gap
    return out
