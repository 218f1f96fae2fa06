"""Array types. All real arrays are float64, SI units, right-handed; shapes are in the docstrings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]  # (m,)
Points = NDArray[np.float64]  # (n, 3) [m]
Array = NDArray[np.float64]  # any shape, given where it is used
Integers = NDArray[np.int64]  # any shape, given where it is used
Flags = NDArray[np.bool_]  # any shape, given where it is used
Faces = NDArray[np.int64]  # (f, 3) vertex indices
Sparse = Any  # scipy.sparse matrix or array, always CSR at our borders


def alike(array: NDArray[Any]) -> NDArray[Any]:
    """The array as compiled kernels are given what they only read: C order, read-only.

    A kernel is compiled for each kind of array it meets. Rest shapes are read-only and positions are not: without this
    every kernel that is given both is compiled twice.
    """
    out = np.ascontiguousarray(array).view()
    out.flags.writeable = False
    return out
