"""How stiff near pairs are against turning.

A pair's distance is that of its nearest points: ½d² = min ½|r|² over the places s of these, r = Σ wᵢ(s) xᵢ = d n. With
R = ∂r/∂s = Q U (Q the tangents, orthonormal) and W = ∂w/∂s U⁻¹ the part of the second derivative of a barrier b(d) that
is not along n is

    (|b'|/d) Σₖ (f gᵀ + g fᵀ + g gᵀ) − (|b'|/d) w wᵀ ⊗ (what is neither n nor Q),   f = w ⊗ qₖ,   g = d Wₖ ⊗ n.

Tangents can be turned so that the W are at right angles: then each k is on its own, with one positive eigenvalue. Edges
nearly parallel have short U and turn n fast; without this a step that swings one of them knows of nothing in its way.

The toolkit multiplies the barrier of nearly parallel edges u, v by m(σ) = σ(2 − σ), σ = |u × v|²/ε < 1, which is 0
where they are parallel: to turn them by a degree takes as much as to press them together.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, alike
from bunraku.geometry.vectors import between, cross, dot, over

from .toolkit import Pairs

_PARALLEL = 1e-3  # share of |a|²|b|² below which two edges count as nearly parallel in the toolkit's smoothing
_FLAT = 1e-14  # share of |a|²|b|² that rounding leaves of parallel edges


def turns(pairs: Pairs, weights: Array, normals: Points, distances: Vector, x: Points) -> Array:
    """(m, 2, 12) vectors v: a pair that presses with force F has the stiffness F Σ v vᵀ against the turning of its
    normal."""
    out = np.zeros((len(pairs.corners), 2, 12))
    _turns(pairs.corners, pairs.edges, weights, normals, distances, alike(x), out)
    return out


def leans(corners: Integers, x: Points, rest: Points) -> Array:
    """(m, 2, 12) vectors v: two edges with the barrier b, before it is smoothed, have the stiffness b Σ v vᵀ against
    becoming less parallel."""
    out = np.zeros((len(corners), 2, 12))
    _leans(corners, alike(x), alike(rest), out)
    return out


@numba.njit(cache=True, error_model="numpy")
def smoothing(c, x, rest):
    """What the toolkit multiplies a pair of edges with: 0 where they are parallel, 1 a little off."""
    share = _spread(between(x, c[1], c[0]), between(x, c[3], c[2]), c, rest)
    return share * (2.0 - share) if share < 1.0 else 1.0


@numba.njit(cache=True, error_model="numpy")
def _spread(u, v, c, rest):
    """σ of two edges."""
    turn = cross(u, v)
    return dot(turn, turn) / _least(c, rest)


@numba.njit(cache=True, error_model="numpy")
def _least(c, rest):
    """ε of two edges [m⁴]."""
    u, v = between(rest, c[1], c[0]), between(rest, c[3], c[2])
    return _PARALLEL * dot(u, u) * dot(v, v)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _turns(corners, edges, weights, normals, distances, x, out):
    # A call alone, here and below: what stands in a parallel loop itself takes several times as long to compile.
    for k in numba.prange(len(corners)):
        _turn_pair(corners[k], edges[k], weights[k], normals[k], distances[k], x, out[k])


@numba.njit(cache=True, error_model="numpy")
def _turn_pair(c, is_edges, weights, normal, distance, x, out):
    ways, slopes = np.zeros((2, 3)), np.zeros((2, 4))  # ∂r/∂s and ∂w/∂s
    count = _places(c, is_edges, weights, x, ways, slopes)
    if count == 2:
        count = _upright(ways, slopes)
    elif count == 1:
        _shorten(ways[0], slopes[0], math.sqrt(dot(ways[0], ways[0])))
    for i in range(count):
        _vector(weights, ways[i], slopes[i], normal, distance, out[i])


@numba.njit(cache=True, error_model="numpy")
def _places(c, is_edges, w, x, ways, slopes):
    """How many of the two sides' places are free to move, and how r and w change with them."""
    count = 0
    if is_edges:
        if 0.0 < w[1] < 1.0:
            _set(ways[0], between(x, c[1], c[0]))
            slopes[0, 0], slopes[0, 1] = -1.0, 1.0
            count = 1
        if -1.0 < w[3] < 0.0:
            _set(ways[count], between(x, c[2], c[3]))
            slopes[count, 2], slopes[count, 3] = 1.0, -1.0
            count += 1
    elif c[2] >= 0:
        for i in range(2, 4):
            if c[i] >= 0:
                _set(ways[count], between(x, c[1], c[i]))
                slopes[count, 1], slopes[count, i] = 1.0, -1.0
                count += 1
    return count


@numba.njit(cache=True, error_model="numpy")
def _set(out, vector):
    out[0], out[1], out[2] = vector


@numba.njit(cache=True, error_model="numpy")
def _shorten(way, slope, length):
    """Divide a tangent (3,) and the change of weights (4,) that goes with it."""
    for a in range(3):
        way[a] /= length
    for a in range(4):
        slope[a] /= length


@numba.njit(cache=True, error_model="numpy")
def _sum_of_four(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@numba.njit(cache=True, error_model="numpy")
def _upright(ways, slopes):
    """Make two tangents orthonormal, and the changes of weights that go with them orthogonal; how many there are."""
    size, other = dot(ways[0], ways[0]), dot(ways[1], ways[1])
    _shorten(ways[0], slopes[0], math.sqrt(size))
    along = dot(ways[0], ways[1])
    for a in range(3):
        ways[1, a] -= along * ways[0, a]
    rest = dot(ways[1], ways[1])
    if not rest > _FLAT * other:
        return 1
    for a in range(4):
        slopes[1, a] -= along * slopes[0, a]
    _shorten(ways[1], slopes[1], math.sqrt(rest))
    one, two = slopes[0], slopes[1]
    angle = 0.5 * math.atan2(2.0 * _sum_of_four(one, two), _sum_of_four(one, one) - _sum_of_four(two, two))
    c, s = math.cos(angle), math.sin(angle)
    for a in range(3):
        p, q = ways[0, a], ways[1, a]
        ways[0, a], ways[1, a] = c * p + s * q, c * q - s * p
    for a in range(4):
        p, q = slopes[0, a], slopes[1, a]
        slopes[0, a], slopes[1, a] = c * p + s * q, c * q - s * p
    return 2


@numba.njit(cache=True, error_model="numpy")
def _vector(w, tangent, slope, normal, distance, out):
    """√(λ/d) times the eigenvector of f gᵀ + g fᵀ + g gᵀ with its positive eigenvalue λ."""
    f, g = math.sqrt(_sum_of_four(w, w)), distance * math.sqrt(_sum_of_four(slope, slope))
    if not (f > 0.0 and g > 0.0):
        return
    value = 0.5 * (g * g + g * math.sqrt(g * g + 4.0 * f * f))
    scale = math.sqrt(value / distance / (f * f * g * g + value * value))
    for i in range(4):
        for a in range(3):
            out[3 * i + a] = scale * (g * w[i] * tangent[a] + value * distance / g * slope[i] * normal[a])


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _leans(corners, x, rest, out):
    for k in numba.prange(len(corners)):
        _lean_pair(corners[k], x, rest, out[k])


@numba.njit(cache=True, error_model="numpy")
def _lean_pair(c, x, rest, out):
    u, v = between(x, c[1], c[0]), between(x, c[3], c[2])
    least, share = _least(c, rest), _spread(u, v, c, rest)
    if share >= 1.0:
        return
    turn = cross(u, v)
    if not dot(turn, turn) > _FLAT * dot(u, u) * dot(v, v):  # any direction across serves
        turn = cross(u, _shortest_axis(u))
    turn = over(turn, math.sqrt(dot(turn, turn)))
    one, two = over(u, math.sqrt(dot(u, u))), math.sqrt(dot(v, v))
    sign = math.copysign(1.0, dot(u, v))
    both = one[0] + sign * v[0] / two, one[1] + sign * v[1] / two, one[2] + sign * v[2] / two
    side = over(cross(turn, both), math.sqrt(dot(both, both)))
    # d²m = (4/ε) ((1 − 3σ) of what u × v changes along itself, (1 − σ) of what it changes across).
    _lean(u, v, turn, math.sqrt(4.0 * max(1.0 - 3.0 * share, 0.0) / least), out[0])
    _lean(u, v, side, math.sqrt(4.0 * (1.0 - share) / least), out[1])


@numba.njit(cache=True, error_model="numpy")
def _shortest_axis(u):
    """The axis that a vector goes least along."""
    a, b, c = abs(u[0]), abs(u[1]), abs(u[2])
    if a <= b and a <= c:
        return 1.0, 0.0, 0.0
    return (0.0, 1.0, 0.0) if b <= c else (0.0, 0.0, 1.0)


@numba.njit(cache=True, error_model="numpy")
def _lean(u, v, along, scale, out):
    """How u × v changes along a direction, with each corner."""
    first, second = cross(v, along), cross(along, u)
    for a in range(3):
        out[a], out[3 + a] = -scale * first[a], scale * first[a]
        out[6 + a], out[9 + a] = -scale * second[a], scale * second[a]
