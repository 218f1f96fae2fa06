"""Kernels of `observed.py` for a few functionals: how they change with every vertex, found backwards.

A functional along x, y or z is the sum of Λ : (G − I) by volume with Λ = e wᵀ, w the gradient of its weights. In one
tetrahedron

    d(Λ : G) = e · (J ω × G w + R S w)    of the nine numbers (ω, S) of a direction,

which is a matrix times the direction's gradient, and so a force at each corner: no mode is looked at, and modes are
multiplied once with the sum at the vertices. The same is done for velocities, Λ : DG[v], and the place.
"""

from __future__ import annotations

import numba
import numpy as np

from .warp_kernels import (
    jacobian_change,
    left_cross,
    left_jacobian,
    meant,
    measure,
    product,
    push,
    rotation_functions,
    stretch_matrix,
)

FEW_SLOTS = 4
"""sums that are kept apart and added at the end, in order: the same bytes for any number of threads"""


@numba.njit(cache=True, error_model="numpy")
def _as_matrix(numbers, out):
    """(9,) entry (i, k) at 3 k + i of the matrix M with M : D = numbers · (ω, S) of D."""
    a, b, c = 0.5 * numbers[0], 0.5 * numbers[1], 0.5 * numbers[2]
    yz, xz, xy = 0.5 * numbers[6], 0.5 * numbers[7], 0.5 * numbers[8]
    out[0], out[4], out[8] = numbers[3], numbers[4], numbers[5]
    out[5], out[7] = yz + a, yz - a
    out[6], out[2] = xz + b, xz - b
    out[1], out[3] = xy + c, xy - c


@numba.njit(cache=True, error_model="numpy")
def _stretch_numbers(i, m, w, out):
    """Numbers 3 … 8 of e_i · M S w, which is linear in a stretch S."""
    out[3], out[4], out[5] = m[i, 0] * w[0], m[i, 1] * w[1], m[i, 2] * w[2]
    out[6] = m[i, 1] * w[2] + m[i, 2] * w[1]
    out[7] = m[i, 0] * w[2] + m[i, 2] * w[0]
    out[8] = m[i, 0] * w[1] + m[i, 1] * w[0]


@numba.njit(cache=True, error_model="numpy")
def _first_numbers(i, w, p, r, j, out):
    """(9,) of Λ = e_i wᵀ, with p = G w: how e_i · G w changes with the nine numbers, e_i · (J ω × p + R S w)."""
    k, m = (i + 1) % 3, (i + 2) % 3
    for b in range(3):
        out[b] = j[k, b] * p[m] - j[m, b] * p[k]
    _stretch_numbers(i, r, w, out)


@numba.njit(cache=True, error_model="numpy")
def _second_numbers(i, w, p, s, j, bent, turn, turned, out):
    """(9,) of Λ = e_i wᵀ: how Λ : DG[v] = e_i · (J ωᵥ × p + s) changes with the nine numbers; p = G w, s = R Sᵥ w.

    `bent` (3, 3) is `jacobian_change`, `turn` (3,) J ωᵥ, `turned` (3, 3) has the columns J ωᵥ × R e.
    """
    k, m = (i + 1) % 3, (i + 2) % 3
    along = turn[0] * p[0] + turn[1] * p[1] + turn[2] * p[2]
    for b in range(3):
        # Entry i of (DJ[e] ωᵥ) × p + J ωᵥ × (J e × p) + J e × s; a × (b × c) = b (a·c) − c (a·b).
        across = turn[0] * j[0, b] + turn[1] * j[1, b] + turn[2] * j[2, b]
        out[b] = (
            bent[k, b] * p[m] - bent[m, b] * p[k] + j[i, b] * along - p[i] * across + j[k, b] * s[m] - j[m, b] * s[k]
        )
    _stretch_numbers(i, turned, w, out)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_few(speeds, u, v, tets, gradients, volumes, places, weights, values, first, second):
    """Values (slots, c, 3) of Γᵀ(G − I), and (slots, c, 3, n, 3) how each changes with every vertex.

    With `speeds`, `second` (slots, c, 3, n, 3) is how each changes with the place of every vertex where u moves at v:
    that of the velocities; `first` is then how velocities change with those of vertices. `weights` (c, k) are at the
    `places` (m, 4) of the corners.
    """
    slots, count = len(values), len(tets)
    for slot in numba.prange(slots):
        r, change, g, j, d, bent, turned, pulled = (
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)),
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)),
        )  # fmt: skip
        own, along, numbers, flat, w = np.empty(9), np.empty(9), np.empty(9), np.empty(9), np.empty(3)
        turn, pushed, p, s = np.empty(3), np.empty((4, 3)), np.empty(3), np.empty(3)
        values[slot] = 0.0
        first[slot] = 0.0
        second[slot] = 0.0
        for t in range(slot * count // slots, (slot + 1) * count // slots):
            measure(u, tets[t], gradients[t], d, own)
            functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
            meant(own, functions, r, change, g)
            left_jacobian(own, functions, j)
            if speeds:
                measure(v, tets[t], gradients[t], d, along)
                jacobian_change(own, along, functions, bent)
                for i in range(3):
                    turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
                left_cross(turn, r, turned)
                stretch_matrix(along, d)
                product(r, d, pulled)
            for c in range(weights.shape[0]):
                origin = weights[c, places[t, 0]]
                for k in range(3):
                    w[k] = 0.0
                    for a in range(3):
                        w[k] += (weights[c, places[t, a + 1]] - origin) * gradients[t, a, k]
                for i in range(3):
                    p[i] = g[i, 0] * w[0] + g[i, 1] * w[1] + g[i, 2] * w[2]
                    if speeds:
                        s[i] = pulled[i, 0] * w[0] + pulled[i, 1] * w[1] + pulled[i, 2] * w[2]
                for i in range(3):
                    values[slot, c, i] += volumes[t] * (change[i, 0] * w[0] + change[i, 1] * w[1] + change[i, 2] * w[2])
                    _first_numbers(i, w, p, r, j, numbers)
                    _as_matrix(numbers, flat)
                    push(flat, gradients[t], volumes[t], pushed)
                    for a in range(4):
                        for k in range(3):
                            first[slot, c, i, tets[t, a], k] += pushed[a, k]
                    if speeds:
                        _second_numbers(i, w, p, s, j, bent, turn, turned, numbers)
                        _as_matrix(numbers, flat)
                        push(flat, gradients[t], volumes[t], pushed)
                        for a in range(4):
                            for k in range(3):
                                second[slot, c, i, tets[t, a], k] += pushed[a, k]
