"""Work shared out over threads. The kernels release the interpreter's lock, so Python's own threads do.

Compiled parallel loops would cost three times the compile time and a threading layer that may not be entered
from two places at once. Every task writes only its own part: the bytes do not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba


def share_out(task: Callable[[int], object], count: int) -> None:
    """Run task(0) … task(count − 1) on as many threads as `numba.set_num_threads` allows."""
    threads = min(numba.get_num_threads(), count)
    if threads <= 1:
        for k in range(count):
            task(k)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(task, range(count)):
            pass  # asking for the result raises what the task raised
