"""Skins and morphs become points: each point a weighted sum of where its joints carry it.

A mesh without a skin has one joint, its node; so everything is one sparse product a block of frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bunraku.contracts import Array, Integers, Points, Vector
from bunraku.rigs import carried, carrying

from .accessors import Accessors
from .animation import STILL, Motion
from .fields import Entry
from .mesh import Shape, influences, is_skinned, target_pieces
from .tree import Tree

_MOST_WORK = 2e11  # morph targets × points × frames
_BLOCK_NUMBERS = 1 << 22  # numbers a block of frames may need besides its points


@dataclass(frozen=True, eq=False)
class Body:
    """A mesh and what carries it."""

    shape: Shape
    node: int
    joints: tuple[int, ...]
    """nodes that carry points; the last is the mesh's own"""
    inverse_binds: Array
    """(j, 4, 4) where points are for a joint, from where they are stored"""
    points: Integers
    """(m,) ascending, one entry an influence"""
    carriers: Integers
    """(m,) place in `joints`"""
    weights: Vector
    """(m,)"""
    default_weights: Vector
    """(k,) of the morph targets"""

    @property
    def share(self) -> csr_array:
        """(n, j) how much each joint carries each point; an entry an influence, in their order."""
        starts = np.searchsorted(self.points, np.arange(len(self.shape.points) + 1))
        shape = (len(self.shape.points), len(self.joints))
        return csr_array((self.weights, self.carriers, starts), shape=shape)


def read_body(accessors: Accessors, tree: Tree, node: int, mesh: Entry, shape: Shape) -> Body:
    """What carries the points of a node's mesh: the joints of its skin, or the node."""
    entry = tree.node(node)
    joints, binds = _skin(accessors, entry)
    parts = []
    for block in shape.blocks:
        if entry.has("skin") and is_skinned(block):
            parts.append(influences(accessors, block, len(joints)))
        else:  # the node's transform carries what no joint does
            own = np.arange(block.first, block.first + block.count)
            parts.append((own, np.full(block.count, len(joints)), np.ones(block.count)))
    points, carriers, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Body(
        shape, node, (*joints, node), np.concatenate([binds, np.eye(4)[None]]), points, carriers, weights,
        _default_weights(entry, mesh, shape.target_count),
    )  # fmt: skip


def _skin(accessors: Accessors, node: Entry) -> tuple[list[int], Array]:
    """Joints (nodes) of a node's skin and (j, 4, 4) inverse bind matrices; none where it has no skin."""
    if not node.has("skin"):
        return [], np.zeros((0, 4, 4))
    document = accessors.document
    skin = document.entry("skins", node.integer("skin"), node)
    joints = skin.integers("joints")
    if not joints:
        skin.refuse("the skin has no joints")
    for joint in joints:
        document.entry("nodes", joint, skin)
    if not skin.has("inverseBindMatrices"):
        return joints, np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    stored = accessors.floats(skin.integer("inverseBindMatrices"), skin, ("MAT4",))
    if len(stored) < len(joints):
        skin.refuse("has fewer inverse bind matrices than joints", len(stored), f"{len(joints)}")
    return joints, stored[: len(joints)].reshape(-1, 4, 4).transpose(0, 2, 1)


def _default_weights(node: Entry, mesh: Entry, targets: int) -> Vector:
    """(k,) weights of the morph targets where nothing is animated: the node's, else the mesh's, else 0."""
    holder = node if node.has("weights") else mesh
    if targets == 0 or not holder.has("weights"):
        return np.zeros(targets)
    return holder.numbers("weights", targets)


def bake(accessors: Accessors, tree: Tree, body: Body, motion: Motion, times: Vector) -> Array:
    """(t, n, 3) points in the world."""
    count = len(body.shape.points)
    out = np.empty((len(times), count, 3))
    rows = carrying(body.share, morphed(accessors, body, body.default_weights))
    track = motion.tracks.get((body.node, "weights"))
    work = 0.0
    for span in _spans(len(times), 16 * len(tree.lineage(body.joints)) + 3 * count):
        moved = _carried(tree, body, motion, times[span])
        if track is None:
            out[span] = (rows @ moved).reshape(count, -1, 3).transpose(1, 0, 2)
            continue
        for k, weights in enumerate(track.at(times[span])):
            work += np.count_nonzero(weights) * float(count)
            if work > _MOST_WORK:
                tree.node(body.node).refuse("too many morph targets, points and frames to bake", remedy="give rate=")
            points = morphed(accessors, body, weights)
            rows.data.reshape(-1, 4)[:, :3] = body.weights[:, None] * points[body.points]
            out[span.start + k] = rows @ moved[:, 3 * k : 3 * k + 3]
    return out


def rest_pose(
    accessors: Accessors, tree: Tree, body: Body, normals: Points | None
) -> tuple[Points, Points | None, bool]:
    """(n, 3) points and normals in the world where nothing is animated, and whether most of them are mirrored."""
    points = bake(accessors, tree, body, STILL, np.zeros(1))[0]
    moved = _carried(tree, body, STILL, np.zeros(1)).reshape(-1, 4, 3)[:, :3].reshape(-1, 9)
    turn = (body.share @ moved).reshape(-1, 3, 3).transpose(0, 2, 1)
    x, y, z = turn[..., 0], turn[..., 1], turn[..., 2]
    cofactors = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-1)
    sign = np.sign(np.sum(x * cofactors[..., 0], axis=1))
    mirrored = bool(np.count_nonzero(sign < 0) * 2 > len(sign))
    if normals is None:
        return points, None, mirrored
    local = normals.copy()
    _add_targets(local, accessors, body, body.default_weights, "NORMAL")
    world = np.einsum("nij,nj->ni", cofactors, local) * np.where(sign < 0, -1.0, 1.0)[:, None]
    length = np.linalg.norm(world, axis=1, keepdims=True)
    return points, world / np.where(length > 0, length, 1.0), mirrored


def _spans(frames: int, numbers: int) -> Iterator[slice]:
    """Frames in blocks, so that work that needs so many numbers a frame stays small."""
    size = max(1, min(64, _BLOCK_NUMBERS // numbers))
    for start in range(0, frames, size):
        yield slice(start, min(start + size, frames))


def _carried(tree: Tree, body: Body, motion: Motion, times: Vector) -> Array:
    """(4j, 3t) what each joint makes of x, y, z and 1, frame by frame."""
    worlds = motion.worlds(tree, body.joints, times)
    moves = np.empty((len(times), len(body.joints), 3, 4))
    for k, (joint, inverse_bind) in enumerate(zip(body.joints, body.inverse_binds, strict=True)):
        moves[:, k] = (worlds[joint] @ inverse_bind)[:, :3]
    return carried(moves)


def morphed(accessors: Accessors, body: Body, weights: Vector) -> Points:
    """(n, 3) points as stored, moved by the morph targets."""
    points = body.shape.points.copy()
    _add_targets(points, accessors, body, weights, "POSITION")
    return points


def _add_targets(values: Points, accessors: Accessors, body: Body, weights: Vector, semantic: str) -> None:
    """Add the morph targets' displacements to values (n, 3)."""
    for target in np.flatnonzero(weights):
        for span, displacement in target_pieces(accessors, body.shape, int(target), semantic):
            values[span] += weights[target] * displacement.astype(np.float64)
