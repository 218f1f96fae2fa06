"""Numbers, frames and regions as sentences say them."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Vector


def digits(value: float, count: int = 2) -> str:
    """'0.051', '3500', '2.1e-08': so many digits that say something; large numbers are written out up to a million."""
    return f"{float(f'{value:.{count}g}'):g}"


def length(value: float) -> str:
    """'2.1e-08 m'."""
    return f"{digits(value)} m"


def millimetres(value: float) -> str:
    """'2.18 mm' for 0.002178 m."""
    return f"{digits(1e3 * value, 3)} mm"


def share(value: float) -> str:
    """'4e-15', or '1.2 %' from a thousandth on."""
    return f"{digits(100 * value)} %" if value >= 1e-3 else f"{value:.1g}"


def ranges(frames: Vector, limit: int = 6) -> str:
    """'1, 5–6, 9–12 and 3 more': frame numbers without flooding the page."""
    breaks = np.flatnonzero(np.diff(frames) > 1.5) + 1
    runs = np.split(frames, breaks)
    told = [f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g}–{run[-1]:g}" for run in runs[:limit]]
    more = sum(len(run) for run in runs[limit:])
    return ", ".join(told) + (f" and {more} more" if more else "")


def on(frames: Vector) -> str:
    """'frame 5', 'frames 5–6, 9'."""
    return f"frame{'' if len(frames) == 1 else 's'} {ranges(frames)}"


def peak(values: Array) -> tuple[int, int]:
    """Frame and region of the largest of values (t, k)."""
    frame, region = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(frame), int(region)


def first_line(text: str) -> str:
    """What a table has room for."""
    return text.partition("\n")[0]
