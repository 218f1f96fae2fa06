"""How firmly a motion withstands keys all together, where it goes some ways at no cost.

A free body drifts, one without damping swings on: alone, a key that asks for that is withstood by nothing. But keys
withstand each other. So forces are looked for that have the linear motion do what all keys ask, where they oppose each
other, and that do no work on what costs nothing: a key is as stiff as its force beside the way that keys ask for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Array, Flags, Vector

REACHABLE = 1e-8
"""share of the largest compliance below which a direction of keys is none the modes can go"""
LIMP = 1e-3
"""share of the compliance along what keys ask, below which that of a direction counts as no smaller: else a trace of
what modes hardly do would make keys a thousand times as firm"""
_TINY = float(np.finfo(np.float64).tiny)


def opposed(
    rows: Sequence[Array], asked: Sequence[Vector], speeds: Sequence[bool], soft: Array, costless: Array, seconds: float
) -> list[float]:
    """(k,) stiffnesses of keys with rows (r, n) each that are asked for changes (r,); `speeds` says which are of
    velocities.

    Args:
        rows: of each key.
        asked: of each key.
        speeds: of each key.
        soft: (n, c) C with C Cᵀ how unknowns give way, but for what costs nothing.
        costless: (n, z) what costs nothing.
        seconds: that make a velocity of a way where keys ask for one of them only.
    """
    scales = _scales(asked, speeds, seconds)
    if scales is None or not rows:
        return [0.0] * len(rows)
    each = np.array([scales[int(speed)] for speed in speeds])
    unit = np.repeat(1.0 / each, [len(one) for one in asked])
    matrix, goal = np.concatenate(rows) * unit[:, None], np.concatenate(asked) * unit
    free = _spanned(matrix @ costless)
    give, goal = matrix @ soft, goal - free @ (free.T @ goal)
    left, sizes, _ = np.linalg.svd(give - free @ (free.T @ give), full_matrices=False)
    values = sizes**2
    some: Flags = values > REACHABLE * max(float(values.max(initial=0.0)), _TINY)
    along = left[:, some].T @ goal
    share = along**2 / max(float(along @ along), _TINY)
    force = left[:, some] @ (along / np.maximum(values[some], LIMP * float(share @ values[some])))
    ends = np.cumsum([len(one) for one in asked])[:-1]
    return [float(np.linalg.norm(part)) / scale**2 for part, scale in zip(np.split(force, ends), each, strict=True)]


def _scales(asked: Sequence[Vector], speeds: Sequence[bool], seconds: float) -> tuple[float, float] | None:
    """The largest ways and velocities asked for; nothing where none is."""
    most = [max((float(np.linalg.norm(a)) for a, b in zip(asked, speeds, strict=True) if b == kind), default=0.0)
            for kind in (False, True)]  # fmt: skip
    if not any(most):
        return None
    return most[0] or most[1] * seconds, most[1] or most[0] / seconds


def _spanned(columns: Array) -> Array:
    """(r, s) an orthonormal basis of what columns (r, z) span, but for rounding."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > 1e-9 * max(float(sizes.max(initial=0.0)), _TINY)]
