"""What compiled kernels are given to read is of one kind, whatever it was, and is not copied for it."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import alike


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("writable", [True, False])
def test_arrays_become_alike(order: str, writable: bool) -> None:
    given = np.asarray(np.arange(12.0).reshape(4, 3), order="F" if order == "F" else "C")
    given.flags.writeable = writable
    out = alike(given)
    assert np.array_equal(out, given)
    assert out.flags.c_contiguous and not out.flags.writeable
    assert given.flags.writeable == writable
    assert np.shares_memory(out, given) == (order == "C")
