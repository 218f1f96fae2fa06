"""What keys ask for, to look at beside the plan: they alone, joined evenly.

On the frame of a key its vertices are where it says, what is fixed stays, and all else is in static balance with
them; from one key to the next everything goes and turns evenly. Nothing swings, and nothing is anticipated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Factorisation, Flags, Integers, Points, Sparse, Vector
from bunraku.direction.steer.rigid import best_rotation, centre
from bunraku.numerics import choose, upper_triangle

from .chain import Chain
from .keys import SAME_TIME, Key
from .motion import Motion

_LOOSE = 1e-8
"""share of the stiffness, by mass, that keeps parts in place which nothing holds"""

_FLAT = 1e-6
"""share of their size within which vertices lie on a line"""


def asked_shapes(motion: Motion | Chain, times: Vector) -> Array:
    """(t, n, 3) the body as its keys alone have it, at times (t,) [s]."""
    known: dict[int, _Asked] = {}
    out = []
    for time in times:
        one, since = motion.at(float(time))
        out.append(known.setdefault(id(one), _Asked(one)).points(since))
    return np.stack(out)


@dataclass(frozen=True, eq=False)
class _Shape:
    """A shape in the body's own frame: a displacement whose turns are linearised, and what is lacking once it is
    warped."""

    linear: Points
    """(n, 3) [m]"""
    lacking: Points
    """(n, 3) [m]"""


@dataclass(frozen=True, eq=False)
class _Asked:
    """What the keys of one motion ask for."""

    motion: Motion

    def points(self, time: float) -> Points:
        """(n, 3) at a time [s]."""
        motion = self.motion
        own = float(time) % motion.duration if motion.spline.circular else float(np.clip(time, 0.0, motion.duration))
        whens, shapes = self._nodes
        k = int(np.clip(np.searchsorted(whens, own, side="right"), 1, len(whens) - 1))
        share = np.clip((own - whens[k - 1]) / max(whens[k] - whens[k - 1], SAME_TIME), 0.0, 1.0)
        one, other = shapes[k - 1], shapes[k]
        linear = (1.0 - share) * one.linear + share * other.linear
        lacking = (1.0 - share) * one.lacking + share * other.lacking
        return motion.place.points(motion.mesh.rest + self._warped(linear) + lacking, own)

    def _warped(self, linear: Points) -> Points:
        body = self.motion.body
        return body.warp.displacements(linear) if body.warped else linear

    @cached_property
    def _nodes(self) -> tuple[Vector, list[_Shape]]:
        """(m,) times, the ends among them, and (m,) shapes."""
        motion, body = self.motion, self.motion.body
        own = [motion.place.own_key(key, body.mass) for key in motion.keys if key.positions is not None]
        whens = sorted({round(key.time, 9) for key in own})
        nodes = [(when, self._spread([k for k in own if abs(k.time - when) <= SAME_TIME])) for when in whens]
        if motion.spline.circular and nodes:
            around = motion.duration
            nodes = [(nodes[-1][0] - around, nodes[-1][1]), *nodes, (nodes[0][0] + around, nodes[0][1])]
        else:  # at ends without a key nothing is asked: there it is as the motion is
            if not nodes or nodes[0][0] > SAME_TIME:
                nodes = [(0.0, self._made(0.0)), *nodes]
            if nodes[-1][0] < motion.duration - SAME_TIME:
                nodes.append((motion.duration, self._made(motion.duration)))
        return np.array([when for when, _ in nodes]), [shape for _, shape in nodes]

    def _made(self, time: float) -> _Shape:
        linear = self.motion.body.modes.displacements(self.motion.coordinates(time))
        return _Shape(linear, np.zeros_like(linear))

    @cached_property
    def _inners(self) -> dict[bytes, _Inner]:
        return {}

    def _without(self, held: Integers) -> _Inner:
        """The body without what is held; keys of the same vertices share its factorisation."""
        return self._inners.setdefault(held.tobytes(), _Inner(self.motion, held))

    def _spread(self, keys: Sequence[Key]) -> _Shape:
        """The shape that has the vertices of keys of one time where they say."""
        body, rest = self.motion.body, self.motion.mesh.rest
        linear, goal = np.zeros_like(rest), rest.copy()
        held = [body.fixed]
        for key in keys:
            if key.vertices is not None and key.positions is not None:
                own = body.mass[key.vertices]
                where = rest[key.vertices]
                linear[key.vertices] = (
                    _linearised(where, key.positions, own) if body.warped else key.positions - where
                )  # fmt: skip
                goal[key.vertices] = key.positions
                held.append(key.vertices)
        inner = self._without(np.unique(np.concatenate(held)))
        linear = inner.extended(linear)
        lacking = inner.extended(goal - rest - self._warped(linear))
        for key in keys:
            if key.vertices is None and key.positions is not None:
                away = key.positions[0] - body.mass @ (rest + self._warped(linear) + lacking) / body.mass.sum()
                lacking = lacking + inner.shifted(away)
        return _Shape(linear, lacking)


def _linearised(rest: Points, goal: Points, mass: Vector) -> Points:
    """(v, 3) displacements from rest (v, 3) to a goal, their common turn linearised, for the warp."""
    here, there = centre(rest, mass), centre(goal, mass)
    arm, size = rest - here, float(np.linalg.norm(rest - here))
    if np.linalg.matrix_rank(arm, tol=_FLAT * size) < 2:  # nobody knows how a point or a line is turned
        return goal - rest
    turn = best_rotation(rest, goal, mass)
    return (goal - there) @ turn - arm + np.cross(Rotation.from_matrix(turn).as_rotvec(), arm) + (there - here)


@dataclass(frozen=True, eq=False)
class _Inner:
    """The body in its linear range without vertices that are held."""

    motion: Motion
    held: Integers

    def extended(self, moved: Points) -> Points:
        """(n, 3) as given at the held vertices, in static balance elsewhere."""
        matrix, free = self._parts
        out = np.zeros_like(moved)
        out[self.held] = moved[self.held]
        flat = out.reshape(-1)
        if len(self.held) and free.any():
            flat[free] = -self._factor.solve((matrix @ flat)[free])
        return out

    def shifted(self, by: Vector) -> Points:
        """(n, 3) displacements in balance under a load by mass that bring the centre of mass (3,) [m] further."""
        mass, (_, free) = self.motion.body.mass, self._parts
        if not free.any():
            return np.zeros((len(mass), 3))
        loads = np.stack([np.outer(mass, axis).reshape(-1)[free] for axis in np.eye(3)])
        fields = np.zeros((3, 3 * len(mass)))
        fields[:, free] = self._factor.solve(loads)
        fields = fields.reshape(3, -1, 3)
        reached = np.einsum("dni,n->id", fields, mass) / mass.sum()
        return np.einsum("dni,d->ni", fields, np.linalg.solve(reached, by))

    @cached_property
    def _parts(self) -> tuple[Sparse, Flags]:
        stock = self.motion.body.stock
        mass = np.repeat(stock.mass, 3)
        loose = _LOOSE * float(stock.stiffness.diagonal().mean() / mass.mean())
        free = np.ones(len(mass), dtype=bool)
        free.reshape(-1, 3)[self.held] = False
        return sparse.csr_array(stock.stiffness + loose * sparse.diags_array(mass)), free

    @cached_property
    def _factor(self) -> Factorisation:
        matrix, free = self._parts
        factor = choose(threads=self.motion.body.stock.threads, positive=True)
        indptr, indices, values = upper_triangle(sparse.csr_array(matrix[free][:, free]))
        factor.analyse(indptr, indices)
        factor.factor(values)
        return factor
