"""Which regions yielded to their caps, when, and by how much."""

from __future__ import annotations

import numpy as np

from .prepared import Prepared
from .report import Measured, YieldedRegion


def yielded_regions(prepared: Prepared, m: Measured) -> tuple[YieldedRegion, ...]:
    """Those that were away from the guide for a cap, the farthest first."""
    away = np.where(m.yielding, m.arrays["residual"], 0.0)
    farthest = away.max(axis=0, initial=0.0)
    order = np.argsort(-farthest, kind="stable")
    return tuple(
        YieldedRegion(prepared.regions[int(k)], m.frames[m.yielding[:, k]], float(farthest[k]))
        for k in order
        if farthest[k] > 0.0
    )
