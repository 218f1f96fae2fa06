"""Frame numbers and frame rate of an animation whose times are seconds."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Vector, input_error

from .clip import DEFAULT_RATE, check_rate

_WHOLE = 1e-6  # [frames] closer than this to a whole frame number is that number
_AGREE = 1e-3  # [frames] by which given frames and rate may differ from the times


def timeline(times: Vector, frames: Vector | None, rate: float | None, where: str) -> tuple[Vector, float]:
    """Frame numbers (t,) and rate [frames/s] for times (t,) [s]; what is not given follows from the rest.

    Without frames a time t is frame t × rate. Without a rate it is that of the given frames, or one frame
    for the smallest step between times (24 where there is one time only). 24000/1001 and its kin are exact.
    """
    if frames is not None:
        frames = np.array(frames, dtype=np.float64)
        if frames.shape != times.shape or not np.isfinite(frames).all():
            raise input_error("frames must be one finite number a time", where=where, got=frames.shape,
                              allowed=str(times.shape))  # fmt: skip
        if (np.diff(frames) <= 0).any():
            raise input_error("frame numbers must increase", where=where, got=frames[:5].tolist())
    if rate is None:
        rate = _natural_rate(times, frames)
    check_rate(rate, where)
    if frames is None:
        return _snapped(times * rate), float(rate)
    drift = np.abs((frames - frames[0]) - (times - times[0]) * rate)
    if drift.max() > _AGREE:
        worst = int(drift.argmax())
        raise input_error(
            "frames and rate contradict the animation's times", where=f"{where}, frame {frames[worst]:g}",
            got=f"{(frames[worst] - frames[0]) / rate:g} s after the first", remedy="give only one of them",
            allowed=f"{times[worst] - times[0]:g} s",
        )  # fmt: skip
    return frames, float(rate)


def _natural_rate(times: Vector, frames: Vector | None) -> float:
    if len(times) < 2:
        return DEFAULT_RATE
    if frames is None:
        rate = 1.0 / float(np.diff(times).min())
    else:
        rate = float(frames[-1] - frames[0]) / float(times[-1] - times[0])
    for exact in (float(round(rate)), round(rate * 1.001) * 1000.0 / 1001.0):
        if abs(rate - exact) <= 1e-9 * exact:
            return exact
    return rate


def _snapped(frames: Vector) -> Vector:
    whole = np.round(frames)
    return np.where(np.abs(frames - whole) < _WHOLE, whole, frames)
