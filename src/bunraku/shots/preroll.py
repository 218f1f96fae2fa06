"""An animation laid out over a shot: its frames, and a preroll from the rest shape so that nothing jolts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Points, Vector
from bunraku.motion import Animation, ease


def laid_out(animation: Animation, numbers: Vector, preroll: int, rate: float, rest: Points) -> Animation:
    """The animation from the shot's first frame on, with a sample at each frame (t,), and the preroll before.

    It goes on past the last frame: how it passes a frame does not depend on where the shot ends.
    """
    times = numbers / rate
    every = np.union1d(animation.times[animation.times > times[0]], times)
    poses = np.stack([animation.at(time) for time in every])
    cut = Animation(animation.mesh, every, poses, animation.interpolation)
    return with_preroll(cut, rest, np.arange(numbers[0] - preroll, numbers[0]) / rate) if preroll else cut


def moved(animation: Animation, offset: Vector) -> Animation:
    """The same elsewhere, by an offset (3,) [m]."""
    mesh = animation.mesh.with_rest(animation.mesh.rest + offset)
    return replace(animation, mesh=mesh, points=animation.points + offset)


def with_preroll(guide: Animation, rest: Points, times: Array) -> Animation:
    """The guide with samples at earlier `times` (p,) [s] that lead from `rest` (n, 3) to its first pose.

    At times[0] it stands still in the rest shape; it arrives with the guide's own velocity. What is rigid in
    the way there is turned and carried, only the rest is blended, so that a body that faces elsewhere turns
    around instead of shrinking through itself.
    """
    first, velocity, end = guide.points[0], guide.velocity(float(guide.times[0])), float(guide.times[0])
    blend = _rigid_blend(np.asarray(rest, dtype=np.float64), first)
    share = ease(times, float(times[0]), end)
    # share × velocity × (t − end) vanishes at both ends and arrives with the velocity.
    poses = [blend(s) + s * velocity * (t - end) for s, t in zip(share, times, strict=True)]
    poses[0] = np.array(rest)
    return Animation(
        guide.mesh, np.concatenate([times, guide.times]), np.concatenate([poses, guide.points]), guide.interpolation
    )


def _rigid_blend(a: Points, b: Points):
    """share → points: from a (share 0) to b (share 1), both (n, 3)."""
    centre_a, centre_b = a.mean(axis=0), b.mean(axis=0)
    around_a, around_b = a - centre_a, b - centre_b
    turn = Rotation.from_matrix(_best_rotation(around_a, around_b))
    shape = turn.inv().apply(around_b)
    angle = turn.as_rotvec()

    def at(share: float) -> Points:
        here = around_a + share * (shape - around_a)
        return Rotation.from_rotvec(share * angle).apply(here) + centre_a + share * (centre_b - centre_a)

    return at


def _best_rotation(a: Points, b: Points) -> Array:
    """(3, 3) R that brings R a nearest to b in the mean square [Kabsch 1976]."""
    u, _, vt = np.linalg.svd(b.T @ a)
    mirror = np.sign(np.linalg.det(u @ vt)) or 1.0
    return u @ np.diag([1.0, 1.0, mirror]) @ vt
