"""Kernels of an elastic lattice: energy, force and tangent, summed over the places of integration of each element.

An element has 27 places in the box about its matter and, where it does not fill its cell, as many in the whole cell for
the little that is everywhere (`geometry.LEAST_FILL`): its two *layers*. The 27 deformation gradients of a layer are
decomposed at once, in lanes. The laws are those of tetrahedra (`solid_kernels`, `solid_tangent`).
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.numerics.jacobi import LANES, clamp_symmetric, signed_svd, take_lane

from .solid_kernels import corotational_stress, green, neohookean_energy, neohookean_stress, viscous_stress
from .solid_tangent import LAM, MIXED, MU, OWN, clamp_lanes, corotational_modes, mix_modes, neohookean_modes

PLACES = 27
"""of integration, in a layer"""


@numba.njit(cache=True, error_model="numpy")
def _own_points(x, element, own):
    """Nodes of an element (3, a), from the first one: rounding goes with the element's size, not with its place."""
    for a in range(len(element)):
        for i in range(3):
            own[i, a] = x[element[a], i] - x[element[0], i]


@numba.njit(cache=True, error_model="numpy")
def _slopes(values, slopes, g):
    """Gradients (27, 3, a) of the functions at the places of a layer, from tables (3, 3, k) along the axes."""
    side = values.shape[2]
    for q in range(PLACES):
        x, y, z = q // 9, q // 3 % 3, q % 3
        for a in range(side):
            for b in range(side):
                for c in range(side):
                    n = (a * side + b) * side + c
                    g[q, 0, n] = slopes[0, x, a] * values[1, y, b] * values[2, z, c]
                    g[q, 1, n] = values[0, x, a] * slopes[1, y, b] * values[2, z, c]
                    g[q, 2, n] = values[0, x, a] * values[1, y, b] * slopes[2, z, c]


@numba.njit(cache=True, error_model="numpy")
def _deform(own, g, f):
    """Deformation gradients in lanes; lanes of none are at rest."""
    for lane in range(PLACES, LANES):
        for k in range(9):
            f[k * LANES + lane] = 1.0 if k % 4 == 0 else 0.0
    for q in range(PLACES):
        for k in range(3):
            for i in range(3):
                total = 0.0
                for a in range(own.shape[1]):
                    total += own[i, a] * g[q, k, a]
                f[(3 * k + i) * LANES + q] = total


@numba.njit(cache=True, inline="always", error_model="numpy")
def _weight(volumes, least, whole, element, layer, q):
    """Volume that a place stands for."""
    return volumes[element, q] if layer == 0 else least[element] * whole[q]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_strains(x, elements, values, slopes, least, out):
    """Green strains (m, 2, 27, 6)."""
    for e in numba.prange(len(elements)):
        own, g = np.empty((3, elements.shape[1])), np.empty((PLACES, 3, elements.shape[1]))
        f, matrix = np.empty(9 * LANES), np.empty((3, 3))
        _own_points(x, elements[e], own)
        out[e] = 0.0
        for layer in range(2 if least[e] > 0.0 else 1):
            table = np.int64(e) if layer == 0 else len(elements)
            _slopes(values[table], slopes[table], g)
            _deform(own, g, f)
            for q in range(PLACES):
                take_lane(f, q, matrix)
                green(matrix, out[e, layer, q])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_energies(x, elements, values, slopes, volumes, least, whole, law, previous, out):
    """Energies (m,) [J]; `law` is µ, λ, τ/dt and whether it is Neo-Hookean."""
    mu, lam, viscosity, neohookean = law
    for e in numba.prange(len(elements)):
        own, g = np.empty((3, elements.shape[1])), np.empty((PLACES, 3, elements.shape[1]))
        f, u, s, v = np.empty(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        matrix, stress, strain = np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
        _own_points(x, elements[e], own)
        energy = 0.0
        for layer in range(2 if least[e] > 0.0 else 1):
            table = np.int64(e) if layer == 0 else len(elements)
            _slopes(values[table], slopes[table], g)
            _deform(own, g, f)
            if not neohookean:
                signed_svd(f, u, s, v)
            for q in range(PLACES):
                take_lane(f, q, matrix)
                if neohookean:
                    total = neohookean_energy(matrix, strain, mu, lam)
                else:
                    a, b, c = s[q] - 1.0, s[LANES + q] - 1.0, s[2 * LANES + q] - 1.0
                    total = mu * (a * a + b * b + c * c) + 0.5 * lam * (a + b + c) ** 2
                if viscosity > 0.0:
                    total += 0.5 * viscous_stress(matrix, previous[e, layer, q], strain, mu, lam, viscosity, stress)
                energy += _weight(volumes, least, whole, e, layer, q) * total
        out[e] = energy


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_forces(x, elements, values, slopes, volumes, least, whole, law, previous, out):
    """Derivatives of the energies by the nodes (m, a, 3) [N]."""
    mu, lam, viscosity, neohookean = law
    for e in numba.prange(len(elements)):
        own, g = np.empty((3, elements.shape[1])), np.empty((PLACES, 3, elements.shape[1]))
        f, u, s, v = np.empty(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        matrix, p, stress, strain = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
        _own_points(x, elements[e], own)
        out[e] = 0.0
        for layer in range(2 if least[e] > 0.0 else 1):
            table = np.int64(e) if layer == 0 else len(elements)
            _slopes(values[table], slopes[table], g)
            _deform(own, g, f)
            if not neohookean:
                signed_svd(f, u, s, v)
            for q in range(PLACES):
                take_lane(f, q, matrix)
                if neohookean:
                    neohookean_stress(matrix, mu, lam, p)
                else:
                    corotational_stress(u, s, v, q, mu, lam, p)
                if viscosity > 0.0:
                    viscous_stress(matrix, previous[e, layer, q], strain, mu, lam, viscosity, stress)
                    for i in range(3):
                        for k in range(3):
                            for j in range(3):
                                p[i, k] += matrix[i, j] * stress[j, k]
                weight = _weight(volumes, least, whole, e, layer, q)
                for a in range(elements.shape[1]):
                    for i in range(3):
                        out[e, a, i] += weight * (p[i, 0] * g[q, 0, a] + p[i, 1] * g[q, 1, a] + p[i, 2] * g[q, 2, a])


@numba.njit(cache=True, error_model="numpy")
def _elastic_tangent(u, v, modes, q, frame, out):
    """∂P/∂F (3, 3, 3, 3) of one lane, from its Hessian in the frame of the SVD; `frame` is (3, 3, 3, 3) scratch."""
    for p in range(3):
        for r in range(3):
            for i in range(3):
                for j in range(3):
                    frame[p, r, i, j] = u[(3 * p + i) * LANES + q] * v[(3 * r + j) * LANES + q]
    out[:] = 0.0
    for p in range(3):
        for r in range(3):
            third = 3 - p - r
            for k in range(3):
                for m in range(3):
                    if p == r:
                        pulled = 0.0
                        for n in range(3):
                            entry = p if n == p else 6 - p - n
                            pulled += modes[entry * LANES + q] * frame[n, n, k, m]
                    else:
                        pulled = modes[(OWN + third) * LANES + q] * frame[p, r, k, m]
                        pulled += modes[(MIXED + third) * LANES + q] * frame[r, p, k, m]
                    for i in range(3):
                        for j in range(3):
                            out[i, j, k, m] += frame[p, r, i, j] * pulled


@numba.njit(cache=True, error_model="numpy")
def _add_viscous_tangent(f, stress, mu, lam, out):
    """Adds that of F T: T:(δFᵀδF′) + 2µ δE:δE′ + λ tr δE tr δE′, µ and λ already times τ/dt."""
    for i in range(3):
        for k in range(3):
            square = mu * (f[i, 0] * f[k, 0] + f[i, 1] * f[k, 1] + f[i, 2] * f[k, 2])
            for j in range(3):
                for m in range(3):
                    out[i, j, k, m] += mu * f[i, m] * f[k, j] + lam * f[i, j] * f[k, m]
                    if i == k:
                        out[i, j, k, m] += stress[j, m]
                    if j == m:
                        out[i, j, k, m] += square


@numba.njit(cache=True, fastmath=True, error_model="numpy")
def _add_place(weight, tangent, g, pulled, total):
    """Adds to total (3, 3, a, a) the block of one place: Σ_jl g_a[j] ∂P/∂F[i, j, k, l] g_b[l]; g is (3, a)."""
    nodes = g.shape[1]
    for i in range(3):
        for k in range(3):
            for j in range(3):
                one, two, three = (
                    weight * tangent[i, j, k, 0],
                    weight * tangent[i, j, k, 1],
                    weight * tangent[i, j, k, 2],
                )
                for b in range(nodes):
                    pulled[j, b] = one * g[0, b] + two * g[1, b] + three * g[2, b]
            for a in range(nodes):
                one, two, three = g[0, a], g[1, a], g[2, a]
                for b in range(nodes):
                    total[i, k, a, b] += one * pulled[0, b] + two * pulled[1, b] + three * pulled[2, b]


@numba.njit(cache=True, error_model="numpy")
def _put(total, out):
    """From (3, 3, a, a) to (3a, 3a), symmetric to the last bit."""
    nodes = total.shape[2]
    for a in range(nodes):
        for b in range(a, nodes):
            for i in range(3):
                for k in range(3):
                    if a < b or i <= k:
                        out[3 * a + i, 3 * b + k] = out[3 * b + k, 3 * a + i] = total[i, k, a, b]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_blocks(x, elements, values, slopes, volumes, least, whole, law, previous, psd, out):
    """Hessians (m, 3a, 3a) [N/m]; with psd, eigenvalues of ∂P/∂F and viscous stresses below zero left out."""
    mu, lam, viscosity, neohookean = law
    nodes = elements.shape[1]
    for e in numba.prange(len(elements)):
        own, g, total = np.empty((3, nodes)), np.empty((PLACES, 3, nodes)), np.zeros((3, 3, nodes, nodes))
        f, u, s, v = np.empty(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        given, modes, pulled = np.zeros(4 * LANES), np.empty(12 * LANES), np.empty((3, nodes))
        tangent, frame = np.empty((3, 3, 3, 3)), np.empty((3, 3, 3, 3))
        matrix, scratch, stress = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        eigen, strain = np.empty(3), np.empty(6)
        given[MU * LANES : (MU + 1) * LANES], given[LAM * LANES : (LAM + 1) * LANES] = mu, lam
        _own_points(x, elements[e], own)
        for layer in range(2 if least[e] > 0.0 else 1):
            table = np.int64(e) if layer == 0 else len(elements)
            _slopes(values[table], slopes[table], g)
            _deform(own, g, f)
            signed_svd(f, u, s, v)
            if neohookean:
                neohookean_modes(s, given, modes)
            else:
                corotational_modes(s, given, psd, modes)
            mix_modes(psd, modes)
            if psd:
                clamp_lanes(PLACES, modes, matrix, eigen, scratch)
            for q in range(PLACES):
                weight = _weight(volumes, least, whole, e, layer, q)
                if weight == 0.0:
                    continue
                _elastic_tangent(u, v, modes, q, frame, tangent)
                if viscosity > 0.0:
                    take_lane(f, q, matrix)
                    viscous_stress(matrix, previous[e, layer, q], strain, mu, lam, viscosity, stress)
                    if psd:
                        clamp_symmetric(stress, eigen, scratch)
                    _add_viscous_tangent(matrix, stress, viscosity * mu, viscosity * lam, tangent)
                _add_place(weight, tangent, g[q], pulled, total)
        _put(total, out[e])
