"""A skeleton made to stand in a mesh: as tall as it, and each joint in the middle of the body around it. Rough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, input_error
from bunraku.geometry import TriMesh, closest_points, face_normals, unit_rows

from .skeleton import Skeleton

_RAYS = 16  # across a bone, towards the surface
_ROUNDS = 8  # of moving joints to the middle of what the rays meet
_DEEP = 0.025  # [mesh sizes] below the surface that is well inside
_SKIN = 0.005  # [mesh sizes] below the surface where joints are put that stand outside


def fitted(skeleton: Skeleton, mesh: TriMesh) -> Skeleton:
    """`Skeleton.fitted`."""
    ends = _ends(skeleton)
    height, tall = np.ptp(ends[:, 1]), np.ptp(mesh.rest[:, 1]) if mesh.point_count else 0.0
    if not (height > 0 and tall > 0):
        raise input_error("a skeleton or mesh without height cannot be fitted", got=f"{height:g} m and {tall:g} m")
    factor = float(tall / height)
    out = skeleton.scaled(factor)
    bind = out.bind.copy()
    bind[:, :3, 3] += _middle_and_floor(mesh.rest) - _middle_and_floor(ends * factor)
    out = replace(out, bind=bind)
    return _moved(out, _to_the_middle(out, mesh))


def _ends(skeleton: Skeleton) -> Points:
    """(j + e, 3) joints, then tips, in the bind pose."""
    held = skeleton.bind[skeleton.tip_joints]
    tips = np.einsum("eij,ej->ei", held[:, :3, :3], skeleton.tips) + held[:, :3, 3]
    return np.concatenate([skeleton.bind[:, :3, 3], tips])


def _middle_and_floor(x: Points) -> Vector:
    """(3,) the middle of the bounding box in x and z, its floor in y."""
    low, high = x.min(axis=0), x.max(axis=0)
    return np.array([0.5 * (low[0] + high[0]), low[1], 0.5 * (low[2] + high[2])])


def _to_the_middle(skeleton: Skeleton, mesh: TriMesh) -> Points:
    """(j + e, 3) where joints and tips belong: well inside, in limbs in the middle of the cut across their bone."""
    from .visibility import first_hits  # compiled kernels: only for those who need them

    start = _ends(skeleton)
    above = np.concatenate([skeleton.parents, skeleton.tip_joints])
    rays = mesh.size * _star(_directions(start, above))
    places = _inside(start, mesh)
    for _ in range(_ROUNDS):
        origins = np.repeat(places, _RAYS, axis=0)
        met = first_hits(mesh, origins, rays.reshape(-1, 3)).reshape(-1, _RAYS)
        closed = np.isfinite(met).all(axis=1)  # else it is not inside anything
        # Limbs are met all around; in thicker parts it is enough to be well inside: a hip belongs at its side.
        length = np.minimum(met, _DEEP)[closed]
        places[closed] += np.mean(length[:, :, None] * rays[closed], axis=1)
    return _together(places, start, above)


def _inside(x: Points, mesh: TriMesh) -> Points:
    """The places (k, 3), those outside a closed mesh (or just below its surface) moved a little below it."""
    nearest = closest_points(x, mesh)
    normals = unit_rows(face_normals(mesh.rest, mesh.faces)[nearest.faces])
    depth = -np.sum((x - nearest.points) * normals, axis=1, keepdims=True)
    below = _SKIN * mesh.size
    return np.where(depth > below, x, nearest.points - below * normals)


def _star(along: Points) -> Array:
    """(k, r, 3) unit directions all around, across directions (k, 3)."""
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    u = unit_rows(np.cross(along, least))
    v = np.cross(along, u)
    angle = 2.0 * np.pi * np.arange(_RAYS) / _RAYS
    return np.cos(angle)[None, :, None] * u[:, None] + np.sin(angle)[None, :, None] * v[:, None]


def _directions(ends: Points, above: Integers) -> Points:
    """(k, 3) unit directions of the bones that end in joints and tips; of roots, straight up."""
    out = np.tile([0.0, 1.0, 0.0], (len(ends), 1))
    own = np.flatnonzero(above >= 0)
    span = unit_rows(ends[own] - ends[above[own]])
    out[own] = np.where(span.any(axis=1, keepdims=True), span, out[own])
    return out


def _together(places: Points, start: Points, above: Integers) -> Points:
    """The places, joints that began where their parent was again there."""
    out = places.copy()
    for k in np.flatnonzero(above >= 0):
        if np.allclose(start[k], start[above[k]], rtol=0.0, atol=1e-9):
            out[k] = out[above[k]]
    return out


def _moved(skeleton: Skeleton, places: Array) -> Skeleton:
    """The skeleton with joints and tips of its bind pose at places (j + e, 3), and bones of that length in motion."""
    count = skeleton.joint_count
    shift = places[:count] - skeleton.bind[:, :3, 3]
    bind = skeleton.bind.copy()
    bind[:, :3, 3] = places[:count]
    children = np.flatnonzero(skeleton.parents >= 0)
    inverse = np.linalg.inv(skeleton.bind[:, :3, :3])
    parents = skeleton.parents[children]
    translations = skeleton.motion.translations.copy()
    translations[:, children] += np.einsum("kij,kj->ki", inverse[parents], shift[children] - shift[parents])
    owners = skeleton.tip_joints
    tips = np.einsum("kij,kj->ki", inverse[owners], places[count:] - places[owners])
    return replace(skeleton, bind=bind, tips=tips, motion=replace(skeleton.motion, translations=translations))
