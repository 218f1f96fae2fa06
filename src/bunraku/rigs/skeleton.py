"""A skeleton: joints in a tree, the pose a surface is bound in, and how they move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, input_error
from bunraku.geometry import TriMesh

from .rotations import affine, matrices, parted, slerp

_STIFF = 1e-9  # stretches closer to 1 than this are none
_ON_SAMPLE = 1e-6  # [samples] a time closer than this to a sample's is the sample's


@dataclass(frozen=True, eq=False)
class Motion:
    """Transforms of joints below their parents at a sequence of times; each is translation · rotation · stretch.

    Between samples turns follow the shorter arc at a constant rate, the rest runs straight; outside the range the
    first or last sample holds.
    """

    times: Vector
    """(t,) increasing [s]"""
    translations: Array
    """(t, j, 3) [m]"""
    rotations: Array
    """(t, j, 4) quaternions x, y, z, w"""
    stretches: Array | None = None
    """(t, j, 3, 3) symmetric; None: stiff joints"""

    @staticmethod
    def of(times: Vector, local: Array) -> Motion:
        """The motion with transforms (t, j, 4, 4), whatever they are."""
        rotations, stretches = parted(local[..., :3, :3])
        stiff = bool(np.abs(stretches - np.eye(3)).max(initial=0.0) <= _STIFF)
        return Motion(np.asarray(times, np.float64), local[..., :3, 3].copy(), rotations, None if stiff else stretches)

    def local(self, times: Vector) -> Array:
        """(m, j, 4, 4) transforms below the parents at times (m,) [s]; exactly the samples at theirs."""
        before, after, share = _between(self.times, np.asarray(times, np.float64))
        turned = slerp(self.rotations[before], self.rotations[after], share[:, None, None])
        turns = matrices(np.where((share == 0.0)[:, None, None], self.rotations[before], turned))
        if self.stretches is not None:
            turns = turns @ _mixed(self.stretches, before, after, share)
        return affine(turns, _mixed(self.translations, before, after, share))


class Bones(NamedTuple):
    """Straight parts of a skeleton in its bind pose."""

    joints: Integers
    """(b,) the joint each moves with"""
    heads: Points
    """(b, 3) [m] where the joint is"""
    tails: Points
    """(b, 3) [m] its child or tip; the joint itself where it has neither"""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints in a tree with their motion, and the pose in which surfaces are bound to them."""

    names: tuple[str, ...]
    """(j,) a name a joint, not always unlike"""
    parents: Integers
    """(j,) parent of each joint, which comes before it; −1: a root"""
    bind: Array
    """(j, 4, 4) joint-to-world transforms of the bind pose [m]"""
    motion: Motion
    tip_joints: Integers
    """(e,) joints with a tip: an end without a joint of its own"""
    tips: Points
    """(e, 3) [m] where the tips are for their joints"""
    rate: float
    """[frames/s] of the motion's samples as the file tells it"""

    def __post_init__(self) -> None:
        parents = np.array(self.parents, dtype=np.int64)
        count = len(self.names)
        if count == 0 or parents.shape != (count,) or self.bind.shape != (count, 4, 4):
            raise input_error("a skeleton needs a name, a parent and a bind transform a joint", got=count)
        if not ((parents >= -1) & (parents < np.arange(count))).all():
            raise input_error("a joint's parent must come before it", got=parents.tolist()[:20])
        if not np.isfinite(self.bind).all() or (np.linalg.det(self.bind) == 0).any():
            raise input_error("the bind pose has joints without size or place", got=self._named(
                ~np.isfinite(self.bind).all(axis=(1, 2)) | (np.linalg.det(self.bind) == 0)))  # fmt: skip
        object.__setattr__(self, "parents", parents)

    @property
    def joint_count(self) -> int:
        """Number of joints j."""
        return len(self.names)

    @property
    def times(self) -> Vector:
        """(t,) times of the motion's samples [s]."""
        return self.motion.times

    def worlds(self, times: Vector) -> Array:
        """(m, j, 4, 4) joint-to-world transforms at times (m,) [s]."""
        return worlds_of(self.parents, self.motion.local(times))

    def pose(self, time: float) -> Array:
        """(j, 4, 4) joint-to-world transforms at a time [s]."""
        return self.worlds(np.array([time]))[0]

    def bones(self) -> Bones:
        """The straight parts in the bind pose: from a joint to each child and tip.

        Parts without length are left out, unless the joint has no other part and no child: then it is a point.
        """
        origin = self.bind[:, :3, 3]
        children = np.flatnonzero(self.parents >= 0)
        held = self.bind[self.tip_joints]
        ends = np.einsum("eij,ej->ei", held[:, :3, :3], self.tips) + held[:, :3, 3]
        joints = np.concatenate([self.parents[children], self.tip_joints])
        tails = np.concatenate([origin[children], ends])
        long = np.linalg.norm(tails - origin[joints], axis=1) > 1e-9 * np.ptp(origin, axis=0).max(initial=1e-9)
        joints, tails = joints[long], tails[long]
        bare = np.setdiff1d(np.arange(self.joint_count), np.concatenate([joints, self.parents[children]]))
        joints, tails = np.concatenate([joints, bare]), np.concatenate([tails, origin[bare]])
        return Bones(joints, origin[joints], tails)

    def bound_at(self, time: float) -> Skeleton:
        """The skeleton whose bind pose is that of its motion at a time [s], such as a T-pose."""
        return replace(self, bind=self.pose(time))

    def cut(self, first: int, last: int) -> Skeleton:
        """The skeleton with samples `first` to `last` of its motion, both included; times stay as they are."""
        count, motion = len(self.times), self.motion
        if not 0 <= first <= last < count:
            raise input_error("the motion has no such samples", got=f"{first} to {last}", allowed=f"0 to {count - 1}")
        part = slice(first, last + 1)
        stretches = None if motion.stretches is None else motion.stretches[part]
        return replace(self, motion=Motion(
            motion.times[part], motion.translations[part], motion.rotations[part], stretches))  # fmt: skip

    def scaled(self, factor: float) -> Skeleton:
        """The skeleton and its motion, `factor` times as large about the origin."""
        bind = self.bind.copy()
        bind[:, :3, 3] *= factor
        motion = replace(self.motion, translations=self.motion.translations * factor)
        return replace(self, bind=bind, motion=motion, tips=self.tips * factor)

    def turned(self, rotation: Array) -> Skeleton:
        """The skeleton and its motion, turned by (3, 3) about the origin."""
        turn, roots = affine(rotation, np.zeros(3)), self.parents < 0
        motion, turns = self.motion, matrices(self.motion.rotations[:, roots])
        rotations, translations = motion.rotations.copy(), motion.translations.copy()
        rotations[:, roots] = parted(rotation @ turns)[0]
        translations[:, roots] = translations[:, roots] @ rotation.T
        return replace(self, bind=turn @ self.bind,
                       motion=replace(motion, rotations=rotations, translations=translations))  # fmt: skip

    def fitted(self, mesh: TriMesh) -> Skeleton:
        """The skeleton scaled to a mesh's height [m, Y-up], its bind pose moved into it joint by joint. Rough.

        First the bounding boxes are laid over each other: height, floor, middle. Then each joint moves, across its
        bone, to the middle of its limb, or well into a thicker part, where the mesh is closed around it; the bones of
        the motion change their length with it, turns stay. Mesh and bind pose must stand and face alike (`bound_at`
        chooses another pose). The motion is scaled about the origin and stays where it was recorded.
        """
        from .fitting import fitted

        return fitted(self, mesh)

    def _named(self, which: Array) -> str:
        return ", ".join(self.names[k] for k in np.flatnonzero(which)[:5])


def worlds_of(parents: Integers, local: Array) -> Array:
    """(m, j, 4, 4) joint-to-world transforms from those below the parents, which come first."""
    out = np.array(local)
    for joint, parent in enumerate(parents):
        if parent >= 0:
            out[:, joint] = out[:, parent] @ local[:, joint]
    return out


def _between(times: Vector, asked: Vector) -> tuple[Integers, Integers, Vector]:
    """Samples before and after each asked time, and how far (0 to 1) between them it lies."""
    if np.isnan(asked).any():
        raise input_error("a time of a motion must be a number", got="nan")
    place: Vector = np.interp(asked, times, np.arange(len(times), dtype=np.float64))
    whole = np.round(place)
    place = np.where(np.abs(place - whole) < _ON_SAMPLE, whole, place)
    before = np.floor(place).astype(np.int64)
    return before, np.minimum(before + 1, len(times) - 1), place - np.floor(place)


def _mixed(samples: Array, before: Integers, after: Integers, share: Vector) -> Array:
    """(m, …) on straight lines between samples (t, …)."""
    a, b = samples[before], samples[after]
    return a + share.reshape(-1, *[1] * (a.ndim - 1)) * (b - a)
