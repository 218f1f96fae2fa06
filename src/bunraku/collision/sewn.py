"""Vertices sewn together: what lies around them is one surface there, and does not keep itself off."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Flags, Integers


class Sewn:
    """Pairs of vertices that come to lie on each other: elements that have them are neighbours, as if welded."""

    def __init__(self, pairs: Integers, count: int) -> None:
        """`pairs` (s, 2) of `count` vertices."""
        pairs = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        self.pairs = pairs
        self._count = count
        self._keys = np.unique(pairs[:, 0] * count + pairs[:, 1])
        self._any = np.zeros(count, dtype=bool)
        self._any[pairs] = True

    def __len__(self) -> int:
        return len(self._keys)

    def neighbours(self, first: Integers, second: Integers) -> Flags:
        """(m,) whether some corner of the first element (m, a) is sewn to one of the second (m, b)."""
        out = np.zeros(len(first), dtype=bool)
        some = np.flatnonzero(self._any[first].any(axis=1) & self._any[second].any(axis=1))
        a, b = first[some][:, :, None], second[some][:, None, :]
        keys = np.minimum(a, b) * self._count + np.maximum(a, b)
        at = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        out[some] = (self._keys[at] == keys).any(axis=(1, 2)) if len(self._keys) else False
        return out
