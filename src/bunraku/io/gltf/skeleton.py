"""The skin of a glTF file as a skeleton: its joints, their motion, and how much each carries a point."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from bunraku.contracts import Array, Points, Sparse, Vector, input_error
from bunraku.io.prims import choose_mesh
from bunraku.rigs import Motion as JointMotion
from bunraku.rigs import Skeleton

from .accessors import Accessors
from .animation import STILL, Motion
from .bake import Body, morphed, read_body
from .document import read_document
from .mesh import read_shape
from .read import chosen_motion
from .tree import Tree, mesh_paths, read_tree

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class GltfSkeleton:
    """A skin's skeleton and what is bound to it, in the world: metres, Y-up."""

    skeleton: Skeleton
    prim_path: str
    """of a mesh with the skin"""
    points: Points
    """(n, 3) [m] of the mesh in the bind pose, in the order stored"""
    weights: Sparse
    """(n, j) how much each joint carries each point"""


def read_gltf_skeleton(path: Path, prim: str | None = None, *, clip: str | None = None) -> GltfSkeleton:
    """The skeleton of the file's only skin, or of the skinned mesh at, under or ending in `prim`, moved by a clip.

    The bind pose stands where the file's own pose, without animation, has the first joint. Where the mesh has parts no
    joint carries, its node is a joint too.
    """
    with np.errstate(all="ignore"):  # what is not finite is refused below
        document = read_document(path)
        accessors, tree = Accessors(document), read_tree(document)
        node, prim_path = _find_skin(tree, path, prim)
        mesh = document.entry("meshes", tree.node(node).integer("mesh"), tree.node(node))
        body = read_body(accessors, tree, node, mesh, read_shape(accessors, mesh))
        motion, frames, rate = chosen_motion(accessors, tree, body, clip, None)
        if (node, "weights") in motion.tracks:
            _log.warning("%s: the mesh's morph targets are not part of a skeleton; left out", tree.node(node).where)
        points = morphed(accessors, body, body.default_weights)
        return _skeleton(tree, body, points, prim_path, motion, frames / rate, rate)


def _find_skin(tree: Tree, path: Path, name: str | None) -> tuple[int, str]:
    """A node with a mesh that has the skin meant, and its path."""
    found = {one: node for one, node in mesh_paths(tree).items() if tree.node(node).has("skin")}
    if not found:
        raise input_error("holds no skeleton: none of its meshes has a skin", where=str(path), remedy="export its skin")
    if name is None and len({tree.node(node).integer("skin") for node in found.values()}) == 1:
        chosen = next(iter(found))
    else:
        chosen = choose_mesh(list(found), name, path, kind="skinned mesh")
    return found[chosen], chosen


def _skeleton(
    tree: Tree, body: Body, points: Points, prim_path: str, motion: Motion, times: Vector, rate: float
) -> GltfSkeleton:
    column = {node: k for k, node in enumerate(body.joints)}
    if len(column) < len(body.joints):
        tree.node(body.node).refuse("a node is a joint of the skin twice, or the skinned mesh itself")
    used = set(body.joints[:-1]) | ({body.node} if (body.carriers == len(body.joints) - 1).any() else set())
    joints = [node for node in tree.lineage(body.joints) if node in used]  # parents first
    order = [column[node] for node in joints]
    above = [_joint_above(tree, node, used) for node in joints]
    local = np.stack([_below(tree, motion, node, up, times) for node, up in zip(joints, above, strict=True)], axis=1)
    inverse = body.inverse_binds[order]
    place = STILL.worlds(tree, joints[:1], np.zeros(1))[joints[0]][0] @ inverse[0]
    sound = [np.isfinite(one).all() for one in (local, inverse, place)]
    if not all(sound) or (np.linalg.det(inverse) == 0).any():
        tree.node(body.node).refuse("the skin's joints have transforms without size or that are no numbers")
    parents = [joints.index(up) if up >= 0 else -1 for up in above]
    names = [tree.node(node).text("name", "")[:200] or f"node_{node}" for node in joints]
    skeleton = Skeleton(
        tuple(names), np.array(parents, dtype=np.int64), place @ np.linalg.inv(inverse), JointMotion.of(times, local),
        np.zeros(0, np.int64), np.zeros((0, 3)), rate,
    )  # fmt: skip
    rest = points @ place[:3, :3].T + place[:3, 3]
    return GltfSkeleton(skeleton, prim_path, rest, csr_array(body.share[:, order]))


def _joint_above(tree: Tree, node: int, joints: set[int]) -> int:
    """The nearest ancestor that is a joint; −1: none is."""
    above = tree.parents[node]
    while above >= 0 and above not in joints:
        above = tree.parents[above]
    return above


def _below(tree: Tree, motion: Motion, node: int, above: int, times: Vector) -> Array:
    """(t, 4, 4) transforms of a node below one of its ancestors, or the world where that is −1."""
    out = np.broadcast_to(np.eye(4), (len(times), 4, 4))
    while node != above:
        out = motion.local(node, tree.placement(node), times) @ out
        node = tree.parents[node]
    return out
