"""Kernels of `observed.py`: what some functionals of the warped body are, and how they change with modal coordinates.

Tetrahedra come in small groups of neighbours. Of a group all that happens stays in the core's own cache: tangents of
its elements (`warp_kernels.py`), summed to blocks of pairs of the group's vertices (a pair has several elements, so
there are fewer of them), times the modes, times the functionals. Nothing of the size of the body is written.
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

SLOTS = 16
"""sums that are kept apart and added at the end, in order: the same bytes for any number of threads"""
WIDE = 4
"""numbers that a processor takes at once: rows are padded to a multiple of it"""


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _first_blocks(j, r, g, gradients, volume, turns, pulls, out):
    """(9, 9) what corners 1, 2, 3 are asked (rows 3 a + i) where they move against the first (columns 3 b + k).

    A corner b that moves along e turns its tetrahedron by ½ g_b × e and stretches it by the symmetric part of e g_bᵀ;
    so a block is volume times −[G gₐ]× ½ J [g_b]× + ½ (gₐ·g_b) R + ½ (R g_b) gₐᵀ. `turns` (3, 3, 3) is filled with the
    volume times ½ J [g_b]×, `pulls` (3, 3) with the rows G gₐ.
    """
    half = 0.5 * volume
    for a in range(3):
        x, y, z = gradients[a, 0], gradients[a, 1], gradients[a, 2]
        for i in range(3):
            pulls[a, i] = g[i, 0] * x + g[i, 1] * y + g[i, 2] * z
            first, second, third = half * j[i, 0], half * j[i, 1], half * j[i, 2]
            turns[a, i, 0], turns[a, i, 1] = second * z - third * y, third * x - first * z
            turns[a, i, 2] = first * y - second * x
    # Scalars, not entries of arrays: the compiler cannot know that arrays are apart, and would read them again.
    r00, r01, r02, r10, r11, r12 = r[0, 0], r[0, 1], r[0, 2], r[1, 0], r[1, 1], r[1, 2]
    r20, r21, r22 = r[2, 0], r[2, 1], r[2, 2]
    for b in range(3):
        x, y, z = half * gradients[b, 0], half * gradients[b, 1], half * gradients[b, 2]
        s0, s1, s2 = r00 * x + r01 * y + r02 * z, r10 * x + r11 * y + r12 * z, r20 * x + r21 * y + r22 * z
        q00, q01, q02 = turns[b, 0, 0], turns[b, 0, 1], turns[b, 0, 2]
        q10, q11, q12 = turns[b, 1, 0], turns[b, 1, 1], turns[b, 1, 2]
        q20, q21, q22 = turns[b, 2, 0], turns[b, 2, 1], turns[b, 2, 2]
        for a in range(3):
            p0, p1, p2 = pulls[a, 0], pulls[a, 1], pulls[a, 2]
            g0, g1, g2 = gradients[a, 0], gradients[a, 1], gradients[a, 2]
            dot = g0 * x + g1 * y + g2 * z
            out[3 * a, 3 * b] = q10 * p2 - q20 * p1 + dot * r00 + s0 * g0
            out[3 * a, 3 * b + 1] = q11 * p2 - q21 * p1 + dot * r01 + s0 * g1
            out[3 * a, 3 * b + 2] = q12 * p2 - q22 * p1 + dot * r02 + s0 * g2
            out[3 * a + 1, 3 * b] = q20 * p0 - q00 * p2 + dot * r10 + s1 * g0
            out[3 * a + 1, 3 * b + 1] = q21 * p0 - q01 * p2 + dot * r11 + s1 * g1
            out[3 * a + 1, 3 * b + 2] = q22 * p0 - q02 * p2 + dot * r12 + s1 * g2
            out[3 * a + 2, 3 * b] = q00 * p1 - q10 * p0 + dot * r20 + s2 * g0
            out[3 * a + 2, 3 * b + 1] = q01 * p1 - q11 * p0 + dot * r21 + s2 * g1
            out[3 * a + 2, 3 * b + 2] = q02 * p1 - q12 * p0 + dot * r22 + s2 * g2


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _second_blocks(bent, turn, pulled, gradients, volume, turns, pulls, first, bends, out):
    """(9, 9) as `_first_blocks` for D²G[v, ·]: [J ωᵥ]× first − volume ([G gₐ]× ½ DJ [g_b]× + [R Sᵥ gₐ]× ½ J [g_b]×).

    `bent` (3, 3) is `jacobian_change`, `turn` (3,) J ωᵥ, `pulled` (3, 3) R Sᵥ; `bends` (3, 3) is scratch.
    """
    half, t0, t1, t2 = 0.5 * volume, turn[0], turn[1], turn[2]
    for a in range(3):
        x, y, z = gradients[a, 0], gradients[a, 1], gradients[a, 2]
        s0 = pulled[0, 0] * x + pulled[0, 1] * y + pulled[0, 2] * z
        s1 = pulled[1, 0] * x + pulled[1, 1] * y + pulled[1, 2] * z
        s2 = pulled[2, 0] * x + pulled[2, 1] * y + pulled[2, 2] * z
        p0, p1, p2 = pulls[a, 0], pulls[a, 1], pulls[a, 2]
        for b in range(3):
            x, y, z = half * gradients[b, 0], half * gradients[b, 1], half * gradients[b, 2]
            for i in range(3):
                c0, c1, c2 = bent[i, 0], bent[i, 1], bent[i, 2]
                bends[i, 0], bends[i, 1], bends[i, 2] = c1 * z - c2 * y, c2 * x - c0 * z, c0 * y - c1 * x
            for k in range(3):
                h0, h1, h2 = bends[0, k], bends[1, k], bends[2, k]
                f0, f1, f2 = first[3 * a, 3 * b + k], first[3 * a + 1, 3 * b + k], first[3 * a + 2, 3 * b + k]
                q0, q1, q2 = turns[b, 0, k], turns[b, 1, k], turns[b, 2, k]
                column = 3 * b + k
                out[3 * a, column] = t1 * f2 - t2 * f1 + h1 * p2 - h2 * p1 + q1 * s2 - q2 * s1
                out[3 * a + 1, column] = t2 * f0 - t0 * f2 + h2 * p0 - h0 * p2 + q2 * s0 - q0 * s2
                out[3 * a + 2, column] = t0 * f1 - t1 * f0 + h0 * p1 - h1 * p0 + q0 * s1 - q1 * s0


@numba.njit(cache=True, error_model="numpy")
def _add_blocks(matrix, slots, t, blocks):
    """Adds what element t asks, (9, 9) `matrix` as of `_first_blocks`, to the group's blocks of pairs of vertices: the
    first corner asks, and moves, against all others."""
    for i in range(3):
        for k in range(3):
            at = 3 * i + k
            m0, m1, m2 = matrix[i, k], matrix[i, 3 + k], matrix[i, 6 + k]
            m3, m4, m5 = matrix[3 + i, k], matrix[3 + i, 3 + k], matrix[3 + i, 6 + k]
            m6, m7, m8 = matrix[6 + i, k], matrix[6 + i, 3 + k], matrix[6 + i, 6 + k]
            first, second, third = m0 + m1 + m2, m3 + m4 + m5, m6 + m7 + m8
            zero = first + second + third
            blocks[slots[t, 0], at] += zero
            blocks[slots[t, 1], at] -= m0 + m3 + m6
            blocks[slots[t, 2], at] -= m1 + m4 + m7
            blocks[slots[t, 3], at] -= m2 + m5 + m8
            blocks[slots[t, 4], at] -= first
            blocks[slots[t, 5], at] += m0
            blocks[slots[t, 6], at] += m1
            blocks[slots[t, 7], at] += m2
            blocks[slots[t, 8], at] -= second
            blocks[slots[t, 9], at] += m3
            blocks[slots[t, 10], at] += m4
            blocks[slots[t, 11], at] += m5
            blocks[slots[t, 12], at] -= third
            blocks[slots[t, 13], at] += m6
            blocks[slots[t, 14], at] += m7
            blocks[slots[t, 15], at] += m8


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _times_modes(blocks, basis, columns, begin, end, first, sums):
    """(3, w) sums of blocks begin … end times the modes at their vertices; `columns` of the first block is `first`."""
    count = basis.shape[2]
    for i in range(3):
        for m in range(count):
            sums[i, m] = 0.0
    for b in range(begin, end):
        near = columns[first + b]
        # Scalars, not entries of arrays: the compiler cannot know that arrays are apart, and would read them again.
        c0, c1, c2, c3, c4 = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3], blocks[b, 4]
        c5, c6, c7, c8 = blocks[b, 5], blocks[b, 6], blocks[b, 7], blocks[b, 8]
        for m in range(count):
            x, y, z = basis[near, 0, m], basis[near, 1, m], basis[near, 2, m]
            sums[0, m] += c0 * x + c1 * y + c2 * z
            sums[1, m] += c3 * x + c4 * y + c5 * z
            sums[2, m] += c6 * x + c7 * y + c8 * z


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_observed(
    speeds, u, v, basis, tets, gradients, volumes, local, starts, vertex_starts, most, indptr, columns, slots,
    most_blocks, weights, values, out,
):  # fmt: skip
    """(SLOTS, c, 3 w) sums over the tetrahedra, w being the padded number of modes, or twice that with `speeds`.

    Without `speeds`: derivatives of Γᵀ(G − I) by the modes, and (SLOTS, c, 3) its values. With them: derivatives of
    Γᵀ DG[v] by the modes' speeds, then by the modes' coordinates. `weights` (Σ group's vertices, c); `indptr`,
    `columns`, `slots` are `Links`.
    """
    padded, groups, sums_kept = basis.shape[2], len(starts) - 1, len(out)
    wide = 2 if speeds else 1
    for slot in numba.prange(sums_kept):
        r, change, g, j, d, bent, pulled, pulls = (
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)),
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)),
        )  # fmt: skip
        own, along, flat, turn, pushed = np.empty(9), np.empty(9), np.empty(9), np.empty(3), np.empty((4, 3))
        turns, first, second = np.empty((3, 3, 3)), np.empty((9, 9)), np.empty((9, 9))
        blocks, bends = np.empty((most_blocks, 9)), np.empty((most_blocks if speeds else 0, 9))
        buffer, asked, sums = np.empty((most, 3 * wide * padded)), np.empty((most, 3)), np.empty((3, padded))
        out[slot] = 0.0
        values[slot] = 0.0
        for group in range(slot * groups // sums_kept, (slot + 1) * groups // sums_kept):
            origin = vertex_starts[group]
            count, link = vertex_starts[group + 1] - origin, indptr[origin]
            blocks[:] = 0.0
            bends[:] = 0.0
            asked[:] = 0.0
            for t in range(starts[group], starts[group + 1]):
                measure(u, tets[t], gradients[t], d, own)
                functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
                meant(own, functions, r, change, g)
                left_jacobian(own, functions, j)
                _first_blocks(j, r, g, gradients[t], volumes[t], turns, pulls, first)
                _add_blocks(first, slots, t, blocks)
                if speeds:
                    measure(v, tets[t], gradients[t], d, along)
                    jacobian_change(own, along, functions, bent)
                    for i in range(3):
                        turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
                    stretch_matrix(along, d)
                    product(r, d, pulled)
                    _second_blocks(bent, turn, pulled, gradients[t], volumes[t], turns, pulls, first, d, second)
                    _add_blocks(second, slots, t, bends)
                else:
                    for i in range(3):
                        for k in range(3):
                            flat[3 * k + i] = change[i, k]
                    push(flat, gradients[t], volumes[t], pushed)
                    for a in range(4):
                        for i in range(3):
                            asked[local[t, a], i] += pushed[a, i]
            for row in range(count):
                begin, end = indptr[origin + row] - link, indptr[origin + row + 1] - link
                _times_modes(blocks, basis, columns, begin, end, link, sums)
                for i in range(3):
                    for m in range(padded):
                        buffer[row, wide * padded * i + m] = sums[i, m]
                if speeds:
                    _times_modes(bends, basis, columns, begin, end, link, sums)
                    for i in range(3):
                        for m in range(padded):
                            buffer[row, wide * padded * i + padded + m] = sums[i, m]
            here = weights[origin : origin + count].T
            out[slot] += np.dot(here, buffer[:count])
            values[slot] += np.dot(here, asked[:count])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_places(u, tets, gradients, volumes, local, starts, vertex_starts, most, weights, out):
    """(SLOTS, c, 3) what `fill_observed` sums of Γᵀ(G − I), without derivatives."""
    groups, slots = len(starts) - 1, len(out)
    for slot in numba.prange(slots):
        r, change, g, d = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        own, flat, pushed, buffer = np.empty(9), np.empty(9), np.empty((4, 3)), np.empty((most, 3))
        out[slot] = 0.0
        for group in range(slot * groups // slots, (slot + 1) * groups // slots):
            first = vertex_starts[group]
            count = vertex_starts[group + 1] - first
            buffer[:count] = 0.0
            for t in range(starts[group], starts[group + 1]):
                measure(u, tets[t], gradients[t], d, own)
                functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
                meant(own, functions, r, change, g)
                for i in range(3):
                    for k in range(3):
                        flat[3 * k + i] = change[i, k]
                push(flat, gradients[t], volumes[t], pushed)
                for a in range(4):
                    for i in range(3):
                        buffer[local[t, a], i] += pushed[a, i]
            out[slot] += np.dot(weights[first : first + count].T, buffer[:count])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_speeds(u, v, tets, gradients, volumes, local, starts, vertex_starts, most, weights, out):
    """(SLOTS, c, 3) what `fill_observed` sums of Γᵀ DG[v], without derivatives."""
    groups, slots = len(starts) - 1, len(out)
    for slot in numba.prange(slots):
        r, change, g, j, d = (
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        )  # fmt: skip
        own, along, turn, flat, pushed = np.empty(9), np.empty(9), np.empty(3), np.empty(9), np.empty((4, 3))
        buffer = np.empty((most, 3))
        out[slot] = 0.0
        for group in range(slot * groups // slots, (slot + 1) * groups // slots):
            first = vertex_starts[group]
            count = vertex_starts[group + 1] - first
            buffer[:count] = 0.0
            for t in range(starts[group], starts[group + 1]):
                measure(u, tets[t], gradients[t], d, own)
                measure(v, tets[t], gradients[t], d, along)
                functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
                meant(own, functions, r, change, g)
                left_jacobian(own, functions, j)
                for i in range(3):
                    turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
                stretch_matrix(along, d)
                product(r, d, change)
                left_cross(turn, g, d)
                for i in range(3):
                    for k in range(3):
                        flat[3 * k + i] = change[i, k] + d[i, k]
                push(flat, gradients[t], volumes[t], pushed)
                for a in range(4):
                    for i in range(3):
                        buffer[local[t, a], i] += pushed[a, i]
            out[slot] += np.dot(weights[first : first + count].T, buffer[:count])
