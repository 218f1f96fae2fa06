"""Sums that know nothing of BLAS and its threads."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.numerics import inner
from bunraku.numerics.threads import _blas_controls

LONG = 200_000
"""entries: more than OpenBLAS takes one thread for"""


def test_sums_of_products_do_not_depend_on_the_threads_of_blas() -> None:
    controls = _blas_controls()
    if not controls:
        pytest.skip("NumPy's BLAS is not the wheels' own")
    random = np.random.default_rng(0)
    pairs = [(random.normal(size=LONG), random.normal(size=LONG)) for _ in range(8)]
    before, found = [read() for read, _ in controls], []
    try:
        for threads in (1, 2):
            for _, write in controls:
                write(threads)
            found.append([inner(a, b) for a, b in pairs])
    finally:
        for (_, write), count in zip(controls, before, strict=True):
            write(count)
    assert found[0] == found[1]
    size = [float(np.abs(a) @ np.abs(b)) for a, b in pairs]
    exact = [float(np.sum(a.astype(np.longdouble) * b)) for a, b in pairs]
    assert np.abs(np.subtract(found[0], exact)).max() <= 1e-13 * max(size)
