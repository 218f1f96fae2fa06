"""Linear blend skinning: each point is a weighted sum of where its joints carry it.

One sparse product a block of frames: a row of `carrying` holds a point's weights times its x, y, z and 1 in the
columns of its joints, `carried` what each joint makes of x, y, z and 1.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from bunraku.contracts import Array, Points, Sparse

_BLOCK_NUMBERS = 1 << 22  # numbers a block of frames may need besides its points


def carrying(weights: Sparse, points: Points) -> csr_array:
    """(n, 4j) from weights (n, j) in CSR and points (n, 3) in the bind pose."""
    share: Sparse = csr_array(weights)
    row = np.repeat(np.arange(len(points)), np.diff(share.indptr))
    data = np.empty((share.nnz, 4))
    data[:, :3] = share.data[:, None] * points[row]
    data[:, 3] = share.data
    columns = 4 * share.indices[:, None].astype(np.int64) + np.arange(4)
    shape = (len(points), 4 * share.shape[1])
    return csr_array((data.reshape(-1), columns.reshape(-1), 4 * share.indptr.astype(np.int64)), shape=shape)


def carried(moves: Array) -> Array:
    """(4j, 3t) from transforms (t, j, 4, 4) or (t, j, 3, 4) of the joints since the bind pose."""
    return moves[..., :3, :].transpose(1, 3, 0, 2).reshape(4 * moves.shape[1], -1)


def skinned(points: Points, weights: Sparse, moves: Array) -> Array:
    """(t, n, 3) points (n, 3) carried by joints: Σ_j weights[n, j] · moves[t, j] · points[n].

    `moves` (t, j, 4, 4) or (t, j, 3, 4): bind pose to world.
    """
    rows = carrying(weights, points)
    out = np.empty((len(moves), len(points), 3))
    size = max(1, _BLOCK_NUMBERS // (3 * len(points) + 16 * moves.shape[1]))
    for start in range(0, len(moves), size):
        part = slice(start, min(start + size, len(moves)))
        out[part] = (rows @ carried(moves[part])).reshape(len(points), -1, 3).transpose(1, 0, 2)
    return out
