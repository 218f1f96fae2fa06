"""The barrier b(d) of a distance d that may not fall to the gap g and is felt within the reach r beyond it [Li 2020].

    b = −(s − ŝ)² ln(s/ŝ),   s = d² − g²,   ŝ = (g + r)² − g²      for s < ŝ, else 0

Derivatives here are with respect to d itself, which is what a pair's stiffness is.
"""

from __future__ import annotations

import math

import numba


@numba.njit(cache=True, error_model="numpy")
def height(distance, gap, reach):
    """b [m⁴]."""
    s, whole = distance * distance - gap * gap, reach * (2.0 * gap + reach)
    return -((s - whole) ** 2) * math.log(s / whole) if s < whole else 0.0


@numba.njit(cache=True, error_model="numpy")
def slope(distance, gap, reach):
    """db/dd [m³], never positive."""
    s, whole = distance * distance - gap * gap, reach * (2.0 * gap + reach)
    if s >= whole:
        return 0.0
    away = s - whole
    return 2.0 * distance * (-2.0 * away * math.log(s / whole) - away * away / s)


@numba.njit(cache=True, error_model="numpy")
def bend(distance, gap, reach):
    """d²b/dd² [m²]."""
    s, whole = distance * distance - gap * gap, reach * (2.0 * gap + reach)
    if s >= whole:
        return 0.0
    away = s - whole
    first = -2.0 * away * math.log(s / whole) - away * away / s
    second = -2.0 * math.log(s / whole) - 4.0 * away / s + away * away / (s * s)
    return 4.0 * distance * distance * second + 2.0 * first


def activation_stiffness(stiffness: float, gap: float, reach: float) -> float:
    """What b must be multiplied by so that a pair half-way into the reach is as stiff as `stiffness` [N/m].

    Scaled to the shell's own stiffness the barrier bends as it does: softer, it is pressed to the floor and every step
    is cut short; stiffer, every touch is a kick.
    """
    return stiffness / bend(gap + 0.5 * reach, gap, reach)
