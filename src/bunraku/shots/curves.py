"""Curves over frames as inline SVG. Colours come from the page's style sheet, so that they suit light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bunraku.contracts import Vector

WIDTH, HEIGHT = 560, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 14, 34
_SMALLEST = 1e-18  # what a logarithmic curve shows of zero


@dataclass(frozen=True, eq=False)
class Line:
    """One curve (t,)."""

    label: str
    values: Vector


@dataclass(frozen=True)
class _Axis:
    """Values to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, values: Vector) -> Vector:
        shown = np.log10(np.maximum(values, _SMALLEST)) if self.log else values
        return self.start + (shown - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Values of the marks."""
        if not self.log:
            return _even_ticks(self.low, self.high)
        step = max(1, math.ceil((self.high - self.low) / 5))
        return [10.0**k for k in range(math.ceil(self.low), math.floor(self.high) + 1, step)]


def chart(title: str, unit: str, frames: Vector, lines: Sequence[Line], *, log: bool = False) -> str:
    """A figure with axes, one curve a line, and its peak in words."""
    shown = [line for line in lines if len(line.values) and np.isfinite(line.values).any()]
    if not shown or len(frames) < 2:
        return ""
    across = _Axis(float(frames[0]), float(frames[-1]), _LEFT, WIDTH - _RIGHT)
    up = _value_axis(shown, log)
    marks = "".join([_mark_up(up, value) for value in up.ticks()] + [_mark_across(across, f) for f in across.ticks()])
    curves = "".join(_curve(across, up, frames, line, k) for k, line in enumerate(shown))
    names = [line.label for line in shown] if len(shown) > 1 else []
    legend = "".join(f'<span class="key"><i class="s{k}"></i>{escape(name)}</span>' for k, name in enumerate(names))
    peaks = "; ".join(_peak(line, frames, unit, len(shown) > 1) for line in shown)
    return (
        f'<figure><figcaption><b>{escape(title)}</b> <span class="unit">{escape(unit)}</span>{legend}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)} over frames; {escape(peaks)}">'
        f"{marks}{curves}"
        f'<text x="{WIDTH - _RIGHT}" y="{HEIGHT - 4}" class="tick" text-anchor="end">frame</text></svg>'
        f'<p class="peak">{escape(peaks)}</p></figure>'
    )


def _value_axis(lines: Sequence[Line], log: bool) -> _Axis:
    values = np.concatenate([line.values[np.isfinite(line.values)] for line in lines])
    if log:
        exponents = np.log10(np.maximum(values, _SMALLEST))
        low, high = math.floor(exponents.min()), math.ceil(exponents.max())
        return _Axis(low, max(high, low + 1), HEIGHT - _BOTTOM, _TOP, log=True)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    return _Axis(low, high if high > low else low + 1.0, HEIGHT - _BOTTOM, _TOP)


def _even_ticks(low: float, high: float) -> list[float]:
    """About five round values."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _mark_up(up: _Axis, value: float) -> str:
    y = float(up.at(np.array(value)))
    return (
        f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" class="tick" text-anchor="end">{value:.3g}</text>'
    )


def _mark_across(across: _Axis, value: float) -> str:
    if value != round(value):
        return ""
    x = float(across.at(np.array(value)))
    return f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" class="tick" text-anchor="middle">{value:g}</text>'


def _curve(across: _Axis, up: _Axis, frames: Vector, line: Line, k: int) -> str:
    fine = np.isfinite(line.values)
    pairs = zip(across.at(frames[fine]), up.at(line.values[fine]), strict=True)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)
    top = int(np.nanargmax(line.values))
    x, y = float(across.at(frames[top])), float(up.at(line.values[top]))
    return f'<polyline points="{points}" class="s{k}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" class="s{k}"/>'


def _peak(line: Line, frames: Vector, unit: str, named: bool) -> str:
    top = int(np.nanargmax(line.values))
    name = f"{line.label}: " if named else ""
    value = line.values[top]
    shown = f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return f"{name}at most {shown} {unit}".strip() + f" at frame {frames[top]:g}"
