"""Closed forms of one damped oscillator, safe for any damping, stiffness and length of time.

    x' = A x + b f,   x = (position, velocity),   A = [[0, 1], [−k, −2δ]],   b = (0, 1),   δ ≥ 0, k ≥ 0

What is needed of it: e^{At}, the response ∫ e^{As} b ds to a constant push, and what pushing can reach, the Gramian
G = ∫ e^{As} b bᵀ e^{Aᵀs} ds. All entries are functions of D = δt and K = kt² times powers of t, and follow from
the response to a unit impulse, h(t) (h'' + 2δh' + kh = 0, h(0) = 0, h'(0) = 1):

    e^{At} = [[h' + 2δh, h], [−kh, h']],   ∫ e^{As} b ds = (∫h, h),   G = [[∫h², h²/2], [h²/2, ∫h'²]]

Since δ, k ≥ 0 nothing grows, so nothing overflows. What could cancel is computed by the one of these that does not:

* differences of exponentials through `expm1` and through the slow root k / (δ + √(δ² − k)), never through δ − √…;
* much damping (D ≥ 1): G from the balance of energy, 4δ∫h'² = 1 − h'² − kh² and ∫h'² = k∫h² + δh² + hh', and where
  the two roots lie far apart from the three integrals of exponentials;
* little damping and some turning (Ω² = K − D² ≥ 1): G from the integrals of cosines;
* neither: by Gauss's rule of ten points. The integrands are positive, so a sum has the accuracy of its terms, and the
  rule's own error is below 1e-17 there.

On the borders of these cases both sides are accurate to a few units of the last place, so no branch can be seen.
The angle Ωt is carried in two numbers: a thousand turns later its sine is as accurate as at once.
"""

from __future__ import annotations

import math

import numba
import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
_SPLIT = 134217729.0  # 2²⁷ + 1: halves a double's digits


@numba.njit(cache=True, inline="always", error_model="numpy")
def _product(a, b):
    """a b in two numbers whose sum is exact [Dekker 1971]."""
    high = a * b
    wide, other = _SPLIT * a, _SPLIT * b
    a1, b1 = wide - (wide - a), other - (other - b)
    a2, b2 = a - a1, b - b1
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


@numba.njit(cache=True, inline="always", error_model="numpy")
def _mean_decay(x):
    """∫₀¹ e^{−xs} ds."""
    return -math.expm1(-x) / x if x > 0.0 else 1.0


@numba.njit(cache=True, error_model="numpy")
def _turn(damping, stiffness, t):
    """cos Ωt, sin Ωt and Ωt for Ω² = k − δ² > 0."""
    square, lost = _product(damping, damping)
    difference = stiffness - square
    back = difference - stiffness
    lost = (stiffness - (difference - back)) + (-square - back) - lost
    omega = math.sqrt(difference)
    again, rest = _product(omega, omega)
    correction = ((difference - again) - rest + lost) / (2.0 * omega)
    angle, rest = _product(omega, t)
    rest += correction * t
    c, s = math.cos(angle), math.sin(angle)
    return c - rest * s, s + rest * c, angle + rest


@numba.njit(cache=True, error_model="numpy")
def free_motion(damping, stiffness, t):
    """h/t, h' and h' + 2δh at t ≥ 0."""
    d, k = damping * t, stiffness * t * t
    if stiffness > damping * damping:
        c, s, angle = _turn(damping, stiffness, t)
        ratio, decay = (s / angle if angle > 0.0 else 1.0), math.exp(-d)
        return decay * ratio, decay * (c - d * ratio), decay * (c + d * ratio)
    rho = t * math.sqrt(damping * damping - stiffness)
    fast = d + rho
    slow = k / fast if fast > 0.0 else 0.0
    impulse = math.exp(-slow) * _mean_decay(2.0 * rho)
    gone = math.exp(-fast)
    return impulse, gone - slow * impulse, gone + fast * impulse


@numba.njit(cache=True, error_model="numpy")
def _sums(damping, stiffness, t):
    """∫h/t², ∫h²/t³ and ∫h'²/t by Gauss's rule."""
    once, square, speed = 0.0, 0.0, 0.0
    for i in range(len(_NODES)):
        impulse, rate, _ = free_motion(damping, stiffness, _NODES[i] * t)
        impulse *= _NODES[i]
        once += _WEIGHTS[i] * impulse
        square += _WEIGHTS[i] * impulse * impulse
        speed += _WEIGHTS[i] * rate * rate
    return once, square, speed


@numba.njit(cache=True, error_model="numpy")
def _damped_sums(d, k, impulse, rate, stays):
    """As `_sums`, where D ≥ 1."""
    speed = (1.0 - rate * rate - k * impulse * impulse) / (4.0 * d)
    if k > 0.5 * d * d:
        return (1.0 - stays) / k, (speed - d * impulse * impulse - impulse * rate) / k, speed
    rho = math.sqrt(d * d - k)
    fast = d + rho
    slow = k / fast
    once = (_mean_decay(slow) - _mean_decay(fast)) / (2.0 * rho)
    square = _mean_decay(2.0 * slow) - 2.0 * _mean_decay(2.0 * d) + _mean_decay(2.0 * fast)
    return once, square / (4.0 * rho * rho), speed


@numba.njit(cache=True, error_model="numpy")
def _turning_sums(d, k, impulse, rate, stays):
    """As `_sums`, where D < 1 and Ω² ≥ 1."""
    square = k - d * d
    omega, decay = math.sqrt(square), math.exp(-d)
    s = impulse / decay * omega
    c = rate / decay + d * s / omega
    wave = (d + decay * decay * (2.0 * omega * s * c - d * (c - s) * (c + s))) / (2.0 * k)
    squared = (_mean_decay(2.0 * d) - wave) / (2.0 * square)
    return (1.0 - stays) / k, squared, k * squared + d * impulse * impulse + impulse * rate


@numba.njit(cache=True, error_model="numpy")
def response(damping, stiffness, t):
    """h/t, h', h' + 2δh, ∫h/t², ∫h²/t³, ∫h'²/t at t ≥ 0: numbers without units."""
    impulse, rate, stays = free_motion(damping, stiffness, t)
    d, k = damping * t, stiffness * t * t
    if d >= 1.0:
        once, square, speed = _damped_sums(d, k, impulse, rate, stays)
    elif k - d * d >= 1.0:
        once, square, speed = _turning_sums(d, k, impulse, rate, stays)
    else:
        once, square, speed = _sums(damping, stiffness, t)
    if k * once < 0.5:
        stays = 1.0 - k * once  # the same number; exactly one where k = 0, so that nothing feels a translation
    return impulse, rate, stays, once, square, speed


@numba.njit(cache=True, error_model="numpy")
def segment_forms(damping, stiffness, load, lengths, rows, offsets):
    """Fill `rows` (m, d, 2, 4) and `offsets` (m, d, 2): a segment's energy is ½ |rows (q₀, v₀, q₁, v₁) + offsets|².

    They are L⁻¹ (x₁ − e^{AT} x₀ + g ∫ e^{As} b ds) with L Lᵀ = G.
    """
    for i in range(len(lengths)):
        t = lengths[i]
        for j in range(len(damping)):
            impulse, rate, stays, once, square, speed = response(damping[j], stiffness[j], t)
            slope = 0.5 * impulse * impulse / square
            first = 1.0 / math.sqrt(square * t) / t
            second = 1.0 / math.sqrt((speed - 0.5 * slope * impulse * impulse) * t)
            above, below = rows[i, j, 0], rows[i, j, 1]
            above[0], above[1], above[2], above[3] = -stays, -impulse * t, 1.0, 0.0
            below[0], below[1], below[2], below[3] = stiffness[j] * impulse * t, -rate, 0.0, 1.0
            offset, other = load[j] * once * t * t, load[j] * impulse * t
            for n in range(4):
                below[n] = second * (below[n] - slope / t * above[n])
                above[n] *= first
            offsets[i, j, 0], offsets[i, j, 1] = first * offset, second * (other - slope / t * offset)


@numba.njit(cache=True, error_model="numpy")
def segment_pulls(damping, stiffness, lengths, reduced, pulls):
    """Fill `pulls` (m, d, 2), G⁻¹ of what free motion misses, from `reduced` (m, d, 2), L⁻¹ of it."""
    for i in range(len(lengths)):
        t = lengths[i]
        for j in range(len(damping)):
            impulse, _, _, _, square, speed = response(damping[j], stiffness[j], t)
            slope = 0.5 * impulse * impulse / square
            second = reduced[i, j, 1] / math.sqrt((speed - 0.5 * slope * impulse * impulse) * t)
            pulls[i, j, 1] = second
            pulls[i, j, 0] = reduced[i, j, 0] / math.sqrt(square * t) / t - slope / t * second


@numba.njit(cache=True, error_model="numpy")
def segment_motion(damping, stiffness, load, lengths, ends, pulls, segments, times, position, velocity, force):
    """Fill position, velocity and force (n, d) at `times` (n,) after the beginning of `segments` (n,).

    x(s) = e^{As} x₀ − g ∫ e^{As} b ds + G(s) e^{Aᵀ(T−s)} pull and f(s) = bᵀ e^{Aᵀ(T−s)} pull: every factor is bounded.
    `ends` (m, d, 4) are met exactly.
    """
    for n in range(len(times)):
        i, s = segments[n], times[n]
        left = max(lengths[i] - s, 0.0)
        for j in range(len(damping)):
            end, pull = ends[i, j], pulls[i, j]
            impulse, rate, stays = free_motion(damping[j], stiffness[j], left)
            impulse *= left
            force[n, j] = impulse * pull[0] + rate * pull[1]
            if left == 0.0:
                position[n, j], velocity[n, j] = end[2], end[3]
                continue
            later = stays * pull[0] - stiffness[j] * impulse * pull[1]
            impulse, rate, stays, once, square, speed = response(damping[j], stiffness[j], s)
            impulse *= s
            both = 0.5 * impulse * impulse
            position[n, j] = (
                stays * end[0] + impulse * end[1] - load[j] * once * s * s
                + square * s * s * s * later + both * force[n, j]
            )  # fmt: skip
            velocity[n, j] = (
                -stiffness[j] * impulse * end[0] + rate * end[1] - load[j] * impulse
                + both * later + speed * s * force[n, j]
            )  # fmt: skip
