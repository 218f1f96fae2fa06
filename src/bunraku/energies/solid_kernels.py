"""Kernels of elastic tetrahedra: energy and force of isotropic laws, and what their tangent (`solid_tangent`) is.

With F = U diag(s) Vᵀ an isotropic energy ψ(F) is a function ψ(s₁, s₂, s₃), and its Hessian has nine eigenmatrices
U Q Vᵀ in closed form: three *scalings*, diagonal, from the 3 × 3 matrix A = ∂²ψ/∂sᵢ∂sⱼ, and for each pair (i, j) a

    twist  (eᵢeⱼᵀ − eⱼeᵢᵀ)/√2,  eigenvalue (ψᵢ + ψⱼ)/(sᵢ + sⱼ),   and a
    flip   (eᵢeⱼᵀ + eⱼeᵢᵀ)/√2,  eigenvalue (ψᵢ − ψⱼ)/(sᵢ − sⱼ),   with ψᵢ = ∂ψ/∂sᵢ.

Leaving out what is negative makes it positive semi-definite [Smith 2019].
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.numerics.jacobi import LANES, put_lane, signed_svd


@numba.njit(cache=True, error_model="numpy")
def _deform(x, tet, gradients, f):
    for i in range(3):
        origin = x[tet[0], i]
        a, b, c = x[tet[1], i] - origin, x[tet[2], i] - origin, x[tet[3], i] - origin
        for k in range(3):
            f[i, k] = a * gradients[0, k] + b * gradients[1, k] + c * gradients[2, k]


@numba.njit(cache=True, error_model="numpy")
def green(f, e):
    """½ (FᵀF − I) as (E₁₁, E₂₂, E₃₃, E₂₃, E₁₃, E₁₂)."""
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        e[k] = 0.5 * (f[0, k] * f[0, k] + f[1, k] * f[1, k] + f[2, k] * f[2, k] - 1.0)
        e[3 + k] = 0.5 * (f[0, a] * f[0, b] + f[1, a] * f[1, b] + f[2, a] * f[2, b])


@numba.njit(cache=True, inline="always", error_model="numpy")
def neohookean_constants(mu, lam):
    """What makes the law's first-order response at rest that of Lamé's µ and λ; see `solid.py`."""
    return 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu


@numba.njit(cache=True, inline="always", error_model="numpy")
def _determinant(f):
    return (
        f[0, 0] * (f[1, 1] * f[2, 2] - f[1, 2] * f[2, 1])
        + f[0, 1] * (f[1, 2] * f[2, 0] - f[1, 0] * f[2, 2])
        + f[0, 2] * (f[1, 0] * f[2, 1] - f[1, 1] * f[2, 0])
    )


@numba.njit(cache=True, error_model="numpy")
def neohookean_energy(f, e, mu, lam):
    """Per volume. Near rest first-order terms cancel on paper, so that no rounding is left of them."""
    m, bulk = neohookean_constants(mu, lam)
    green(f, e)
    change = _determinant(f) - 1.0
    trace = 2.0 * (e[0] + e[1] + e[2])  # |F|² − 3
    if change > -0.5:  # J² = det(I + 2E) = 1 + trace + rest, of second order and above
        squares = e[3] ** 2 + e[4] ** 2 + e[5] ** 2
        rest = 4.0 * (e[0] * e[1] + e[1] * e[2] + e[2] * e[0] - squares)
        rest += 8.0 * (e[0] * e[1] * e[2] + 2.0 * e[3] * e[4] * e[5])
        rest -= 8.0 * (e[0] * e[3] ** 2 + e[1] * e[4] ** 2 + e[2] * e[5] ** 2)
        change = (trace + rest) / (2.0 + change)
        shape = (trace * change - 2.0 * rest) / (2.0 * (2.0 + change))
    else:
        shape = 0.5 * trace - change
    quarter = 0.25 * trace
    return m * (0.75 * shape + 0.5 * (quarter - np.log1p(quarter))) + 0.5 * bulk * change * change


@numba.njit(cache=True, error_model="numpy")
def viscous_stress(f, previous, e, mu, lam, viscosity, stress):
    """(τ/dt) 𝔻 (E − Eₙ), symmetric (3, 3); returns twice its energy per volume."""
    green(f, e)
    for k in range(6):
        e[k] -= previous[k]
    pressure = viscosity * lam * (e[0] + e[1] + e[2])
    twice = viscosity * 2.0 * mu
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        stress[k, k] = twice * e[k] + pressure
        stress[a, b] = stress[b, a] = twice * e[3 + k]
    total = pressure * (e[0] + e[1] + e[2])
    for k in range(3):
        total += twice * (e[k] * e[k] + 2.0 * e[3 + k] * e[3 + k])
    return total


@numba.njit(cache=True, error_model="numpy")
def _decompose(x, tets, gradients, first, count, f, lanes, u, s, v):
    """The signed SVDs of `count` deformation gradients, in lanes; f (3, 3) is scratch."""
    for lane in range(count):
        _deform(x, tets[first + lane], gradients[first + lane], f)
        put_lane(f, lane, lanes)
    signed_svd(lanes, u, s, v)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_strains(x, tets, gradients, out):
    """Green strains (m, 6)."""
    for chunk in numba.prange((len(tets) + LANES - 1) // LANES):
        f = np.empty((3, 3))
        for t in range(chunk * LANES, min((chunk + 1) * LANES, len(tets))):
            _deform(x, tets[t], gradients[t], f)
            green(f, out[t])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_energies(x, tets, gradients, volumes, mu, lam, neohookean, viscosity, previous, out):
    """Energies (m,) [J]."""
    for chunk in numba.prange((len(tets) + LANES - 1) // LANES):
        lanes, u, s, v = np.zeros(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        f, stress, e = np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
        first, count = chunk * LANES, min(LANES, len(tets) - chunk * LANES)
        if not neohookean:
            _decompose(x, tets, gradients, first, count, f, lanes, u, s, v)
        for lane in range(count):
            t = first + lane
            _deform(x, tets[t], gradients[t], f)
            if neohookean:
                total = neohookean_energy(f, e, mu[t], lam[t])
            else:
                a, b, c = s[lane] - 1.0, s[LANES + lane] - 1.0, s[2 * LANES + lane] - 1.0
                total = mu[t] * (a * a + b * b + c * c) + 0.5 * lam[t] * (a + b + c) ** 2
            if viscosity[t] > 0.0:
                total += 0.5 * viscous_stress(f, previous[t], e, mu[t], lam[t], viscosity[t], stress)
            out[t] = volumes[t] * total


@numba.njit(cache=True, error_model="numpy")
def corotational_stress(u, s, v, lane, mu, lam, p):
    """P = U diag(ψᵢ) Vᵀ = 2µ (F − R) + λ tr(S − I) R."""
    spread = lam * (s[lane] + s[LANES + lane] + s[2 * LANES + lane] - 3.0)
    a = 2.0 * mu * (s[lane] - 1.0) + spread
    b = 2.0 * mu * (s[LANES + lane] - 1.0) + spread
    c = 2.0 * mu * (s[2 * LANES + lane] - 1.0) + spread
    for k in range(3):
        x, y, z = a * v[k * LANES + lane], b * v[(3 + k) * LANES + lane], c * v[(6 + k) * LANES + lane]
        for i in range(3):
            p[i, k] = u[i * LANES + lane] * x + u[(3 + i) * LANES + lane] * y + u[(6 + i) * LANES + lane] * z


@numba.njit(cache=True, error_model="numpy")
def neohookean_stress(f, mu, lam, p):
    """P = µ′ (1 − 1/(|F|² + 1)) F + (λ′ (J − 1) − ¾ µ′) cof F."""
    m, bulk = neohookean_constants(mu, lam)
    square = 0.0
    for i in range(3):
        for k in range(3):
            square += f[i, k] * f[i, k]
    shear = m * square / (square + 1.0)
    swell = bulk * (_determinant(f) - 1.0) - 0.75 * m
    for i in range(3):
        j, h = (i + 1) % 3, (i + 2) % 3
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            p[i, a] = shear * f[i, a] + swell * (f[j, b] * f[h, c] - f[j, c] * f[h, b])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_forces(x, tets, gradients, volumes, mu, lam, neohookean, viscosity, previous, out):
    """Derivatives of the energies by the corners (m, 4, 3) [N]."""
    for chunk in numba.prange((len(tets) + LANES - 1) // LANES):
        lanes, u, s, v = np.zeros(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES), np.empty(9 * LANES)
        f, p, stress, e = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
        first, count = chunk * LANES, min(LANES, len(tets) - chunk * LANES)
        if not neohookean:
            _decompose(x, tets, gradients, first, count, f, lanes, u, s, v)
        for lane in range(count):
            t = first + lane
            _deform(x, tets[t], gradients[t], f)
            if neohookean:
                neohookean_stress(f, mu[t], lam[t], p)
            else:
                corotational_stress(u, s, v, lane, mu[t], lam[t], p)
            if viscosity[t] > 0.0:
                viscous_stress(f, previous[t], e, mu[t], lam[t], viscosity[t], stress)
                for i in range(3):
                    for k in range(3):
                        p[i, k] += f[i, 0] * stress[0, k] + f[i, 1] * stress[1, k] + f[i, 2] * stress[2, k]
            g, volume = gradients[t], volumes[t]
            for i in range(3):
                out[t, 0, i] = 0.0
                for a in range(3):
                    pull = volume * (p[i, 0] * g[a, 0] + p[i, 1] * g[a, 1] + p[i, 2] * g[a, 2])
                    out[t, a + 1, i] = pull
                    out[t, 0, i] -= pull
