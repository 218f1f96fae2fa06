"""Rotations as quaternions x, y, z, w, and the matrices they are part of. Any number of leading dimensions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array

_SAME_DIRECTION = 0.9995  # cosine from which a straight line between quaternions is as good as an arc


def unit(q: Array) -> Array:
    """Quaternions (…, 4) of length 1; zero ones stay."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return q / np.where(length > 0, length, 1.0)


def slerp(a: Array, b: Array, share: Array) -> Array:
    """(…, 4) along the shorter arc from a to b; share (…, 1) from 0 to 1."""
    a, b = unit(a), unit(b)
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    b, cosine = np.where(cosine < 0, -b, b), np.abs(cosine)
    angle = np.arccos(np.minimum(cosine, 1.0))
    close = cosine > _SAME_DIRECTION
    sine = np.where(close, 1.0, np.sin(angle))
    first = np.where(close, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    second = np.where(close, share, np.sin(share * angle) / sine)
    return unit(first * a + second * b)


def product(a: Array, b: Array) -> Array:
    """(…, 4) the turn b, then the turn a: as matrices, a · b."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack([
        aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz,
    ], axis=-1)  # fmt: skip


def about(axis: int, angle: Array) -> Array:
    """(…, 4) turns by angles (…) [rad] about the x, y or z axis."""
    out = np.zeros((*np.shape(angle), 4))
    out[..., axis], out[..., 3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
    return out


def matrices(q: Array) -> Array:
    """(…, 3, 3) of quaternions of any length but zero."""
    x, y, z, w = np.moveaxis(unit(q), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def composed(translation: Array, rotation: Array, scale: Array) -> Array:
    """(t, 4, 4) translation · rotation · scale; each part (t, w) or (1, w)."""
    out = np.zeros((max(len(translation), len(rotation), len(scale)), 4, 4))
    out[:, :3, :3] = matrices(rotation) * scale[:, None, :]
    out[:, :3, 3] = translation
    out[:, 3, 3] = 1.0
    return out


def parted(linear: Array) -> tuple[Array, Array]:
    """Quaternions (…, 4) and what is left (…, 3, 3): linear = rotation · rest, the rest symmetric."""
    left, _, right = np.linalg.svd(linear)
    turn = left @ right
    turn = turn * np.where(np.linalg.det(turn) < 0, -1.0, 1.0)[..., None, None]  # a mirror belongs to the rest
    flat = Rotation.from_matrix(turn.reshape(-1, 3, 3)).as_quat()
    return flat.reshape(*linear.shape[:-2], 4), np.swapaxes(turn, -1, -2) @ linear


def affine(linear: Array, shift: Array) -> Array:
    """(…, 4, 4) from (…, 3, 3) and (…, 3)."""
    out = np.zeros((*linear.shape[:-2], 4, 4))
    out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = linear, shift, 1.0
    return out
