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

from bunraku.contracts import Array, Integers, Points, Vector

from .toolkit import Pairs

_PARALLEL = 1e-3  # share of |a|²|b|² below which two edges count as nearly parallel in the toolkit's smoothing
_FLAT = 1e-14  # share of |a|²|b|² that rounding leaves of parallel edges


def turns(pairs: Pairs, weights: Array, normals: Points, distances: Vector, x: Points) -> Array:
    """(m, 2, 12) vectors v: a pair that presses with force F has the stiffness F Σ v vᵀ against the turning of its
    normal."""
    out = np.zeros((len(pairs.corners), 2, 12))
    _turns(pairs.corners, pairs.edges, weights, normals, distances, np.ascontiguousarray(x), out)
    return out


def leans(corners: Integers, x: Points, rest: Points) -> Array:
    """(m, 2, 12) vectors v: two edges with the barrier b, before it is smoothed, have the stiffness b Σ v vᵀ against
    becoming less parallel."""
    out = np.zeros((len(corners), 2, 12))
    _leans(corners, np.ascontiguousarray(x), np.ascontiguousarray(rest), out)
    return out


@numba.njit(cache=True, error_model="numpy")
def smoothing(c, x, rest):
    """What the toolkit multiplies a pair of edges with: 0 where they are parallel, 1 a little off."""
    share = _spread(x[c[1]] - x[c[0]], x[c[3]] - x[c[2]], c, rest)
    return share * (2.0 - share) if share < 1.0 else 1.0


@numba.njit(cache=True, error_model="numpy")
def _spread(u, v, c, rest):
    """σ of two edges."""
    turn = np.cross(u, v)
    return np.dot(turn, turn) / _least(c, rest)


@numba.njit(cache=True, error_model="numpy")
def _least(c, rest):
    """ε of two edges [m⁴]."""
    u, v = rest[c[1]] - rest[c[0]], rest[c[3]] - rest[c[2]]
    return _PARALLEL * np.dot(u, u) * np.dot(v, v)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _turns(corners, edges, weights, normals, distances, x, out):
    for k in numba.prange(len(corners)):
        ways, slopes = np.zeros((2, 3)), np.zeros((2, 4))  # ∂r/∂s and ∂w/∂s
        count = _places(corners[k], edges[k], weights[k], x, ways, slopes)
        if count == 2:
            count = _upright(ways, slopes)
        elif count == 1:
            length = math.sqrt(np.dot(ways[0], ways[0]))
            ways[0] /= length
            slopes[0] /= length
        for i in range(count):
            _vector(weights[k], ways[i], slopes[i], normals[k], distances[k], out[k, i])


@numba.njit(cache=True, error_model="numpy")
def _places(c, is_edges, w, x, ways, slopes):
    """How many of the two sides' places are free to move, and how r and w change with them."""
    count = 0
    if is_edges:
        if 0.0 < w[1] < 1.0:
            ways[0], slopes[0, 0], slopes[0, 1] = x[c[1]] - x[c[0]], -1.0, 1.0
            count = 1
        if -1.0 < w[3] < 0.0:
            ways[count], slopes[count, 2], slopes[count, 3] = x[c[2]] - x[c[3]], 1.0, -1.0
            count += 1
    elif c[2] >= 0:
        for i in range(2, 4):
            if c[i] >= 0:
                ways[count], slopes[count, 1], slopes[count, i] = x[c[1]] - x[c[i]], 1.0, -1.0
                count += 1
    return count


@numba.njit(cache=True, error_model="numpy")
def _upright(ways, slopes):
    """Make two tangents orthonormal, and the changes of weights that go with them orthogonal; how many there are."""
    size, other = np.dot(ways[0], ways[0]), np.dot(ways[1], ways[1])
    length = math.sqrt(size)
    ways[0] /= length
    slopes[0] /= length
    along = np.dot(ways[0], ways[1])
    ways[1] -= along * ways[0]
    rest = np.dot(ways[1], ways[1])
    if not rest > _FLAT * other:
        return 1
    slopes[1] = (slopes[1] - along * slopes[0]) / math.sqrt(rest)
    ways[1] /= math.sqrt(rest)
    angle = 0.5 * math.atan2(
        2.0 * np.dot(slopes[0], slopes[1]), np.dot(slopes[0], slopes[0]) - np.dot(slopes[1], slopes[1])
    )
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
    f, g = math.sqrt(np.dot(w, w)), distance * math.sqrt(np.dot(slope, slope))
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
        c = corners[k]
        u, v = x[c[1]] - x[c[0]], x[c[3]] - x[c[2]]
        least, share = _least(c, rest), _spread(u, v, c, rest)
        if share >= 1.0:
            continue
        turn = np.cross(u, v)
        if not np.dot(turn, turn) > _FLAT * np.dot(u, u) * np.dot(v, v):  # any direction across serves
            axis = np.zeros(3)
            axis[np.argmin(np.abs(u))] = 1.0
            turn = np.cross(u, axis)
        turn /= math.sqrt(np.dot(turn, turn))
        both = u / math.sqrt(np.dot(u, u)) + math.copysign(1.0, np.dot(u, v)) * v / math.sqrt(np.dot(v, v))
        side = np.cross(turn, both) / math.sqrt(np.dot(both, both))
        # d²m = (4/ε) ((1 − 3σ) of what u × v changes along itself, (1 − σ) of what it changes across).
        _lean(u, v, turn, math.sqrt(4.0 * max(1.0 - 3.0 * share, 0.0) / least), out[k, 0])
        _lean(u, v, side, math.sqrt(4.0 * (1.0 - share) / least), out[k, 1])


@numba.njit(cache=True, error_model="numpy")
def _lean(u, v, along, scale, out):
    """How u × v changes along a direction, with each corner."""
    first, second = scale * np.cross(v, along), scale * np.cross(along, u)
    for a in range(3):
        out[a], out[3 + a] = -first[a], first[a]
        out[6 + a], out[9 + a] = -second[a], second[a]
