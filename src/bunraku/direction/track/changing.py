"""Test functions that change over time: the weights of each region go smoothly from one key to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from bunraku.contracts import Sparse, Vector, input_error, need
from bunraku.geometry import TriMesh
from bunraku.motion import ease

from .test_functions import TestFunctions


def changing(keys: Sequence[tuple[float, TestFunctions]]) -> ChangingTests:
    """Regions that are those of each key at its time [s], and between keys averages of the two keys' weights.

    All keys have the same number of regions on the same guide and shell; each region becomes the one of the next key
    that it shares most vertices with. The conditions stay exact throughout: what changes is which average is directed.
    """
    try:
        times = np.array([float(time) for time, _ in keys])
    except (TypeError, ValueError):
        raise input_error(
            "the keys of test functions must be pairs", got=type(keys).__name__, allowed="[(time, tests), …]"
        ) from None
    if len(times) < 2:
        raise input_error("changing test functions need at least two keys", got=len(times))
    if not np.isfinite(times).all() or not (np.diff(times) > 0).all():
        raise input_error("the keys of test functions must increase in time", got=times.tolist())
    tests = tuple(functions for _, functions in keys)
    for k, one in enumerate(tests):
        need(TestFunctions, f"key {k}", one)
        if one.held is not None:
            raise input_error("test functions that change cannot have a keyed scale too", where=f"key {k}")
    shapes = {(one.guide.shape, one.shell.shape) for one in tests}
    if len(shapes) > 1:
        raise input_error("the keys of test functions differ in regions or meshes", got=sorted(shapes))
    matched = [tests[0]]
    for one in tests[1:]:
        shared = (abs(matched[-1].shell) @ abs(one.shell).T).toarray()
        matched.append(one.only(linear_sum_assignment(shared, maximize=True)[1]))
    return ChangingTests(times, tuple(matched))


@dataclass(frozen=True, eq=False)
class _Averages:
    """The keys' averages on two meshes, which it keeps so that no others get their ids."""

    meshes: tuple[TriMesh, TriMesh]
    guide: list[Sparse]
    """(m,) matrices (k, n_guide)"""
    shell: list[Sparse]
    """(m,) matrices (k, n_shell)"""


@dataclass(frozen=True, eq=False)
class ChangingTests:
    """Test functions with keys."""

    times: Vector
    """(m,) [s]"""
    tests: tuple[TestFunctions, ...]
    """(m,)"""
    _known: dict[tuple[int, int], _Averages] = field(default_factory=dict, repr=False)

    @property
    def count(self) -> int:
        """Number of regions k."""
        return self.tests[0].count

    @property
    def guide(self) -> Sparse:
        """(k, n_guide) values of the first key."""
        return self.tests[0].guide

    @property
    def shell(self) -> Sparse:
        """(k, n_shell) values of the first key."""
        return self.tests[0].shell

    @property
    def prolongation(self) -> Sparse | None:
        """That of the first key."""
        return self.tests[0].prolongation

    @property
    def embedding(self):
        """That of the first key."""
        return self.tests[0].embedding

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the first key."""
        return self.tests[0].names

    held = None
    nested = False

    def averages(self, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """At the first key, with the pattern of all."""
        return self.averages_at(float(self.times[0]), guide, shell)

    def averages_at(self, time: float, guide: TriMesh, shell: TriMesh) -> tuple[Sparse, Sparse]:
        """(k, n_guide) and (k, n_shell) at a time [s]."""
        known = self._of(guide, shell)
        k = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 2))
        u = float(ease(time, self.times[k], self.times[k + 1]))  # the acceleration it asks for has no jump either
        return _between(known.guide[k], known.guide[k + 1], u), _between(known.shell[k], known.shell[k + 1], u)

    def _of(self, guide: TriMesh, shell: TriMesh) -> _Averages:
        """Of two meshes, made once for those of the last call."""
        key = id(guide), id(shell)
        if key not in self._known:
            self._known.clear()
            pairs = [one.averages(guide, shell) for one in self.tests]
            on_guide, on_shell = (_one_pattern([pair[side] for pair in pairs]) for side in range(2))
            self._known[key] = _Averages((guide, shell), on_guide, on_shell)
        return self._known[key]


def _one_pattern(matrices: Sequence[Sparse]) -> list[Sparse]:
    """The matrices with zeros stored where any of them has an entry."""
    shape = matrices[0].shape
    flat = [one.tocoo().row.astype(np.int64) * shape[1] + one.tocoo().col for one in matrices]
    union = np.unique(np.concatenate(flat))
    rows, columns = union // shape[1], union % shape[1]
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    out = []
    for one, place in zip(matrices, flat, strict=True):
        data = np.zeros(len(union))
        data[np.searchsorted(union, place)] = one.tocoo().data
        out.append(sparse.csr_array((data, columns, starts), shape=shape))
    return out


def _between(a: Sparse, b: Sparse, u: float) -> Sparse:
    return sparse.csr_array(((1.0 - u) * a.data + u * b.data, a.indices, a.indptr), shape=a.shape)
