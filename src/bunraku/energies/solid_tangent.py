"""The tangent of elastic tetrahedra, formed in the frame of the signed SVD, `LANES` of them at once.

There the Hessian of an isotropic law has 15 entries (`solid_kernels` tells which): three by three of *scalings*, and
for each pair of axes, numbered by the third, `own` = (twist + flip)/2 on F̂ᵢⱼ alone and `mixed` = (flip − twist)/2
between F̂ᵢⱼ and F̂ⱼᵢ. Numbers of one tetrahedron lie beside those of the next, so that the compiler makes vectors
of them: entry k of lane l is at k LANES + l. Matrices of the SVD (f, u, v) have their columns one after another.
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.numerics.jacobi import LANES, clamp_symmetric, signed_svd

from .solid_kernels import neohookean_constants

_NEAREST = 1e-2
"""sum of two stretches below which, with `psd`, a twist is taken for as stiff as there: it would grow beyond bounds"""
_TINY = 1e-14  # sum of two stretches: where it vanishes the rotation is not defined, and the law has a kink
MU, LAM, _VOLUME, _VISCOSITY = 0, 1, 2, 3  # constants of a tetrahedron
OWN, MIXED = 6, 9  # modes: scalings 11, 22, 33, 23, 13, 12 first, as of all symmetric matrices
_PAIRS = 6  # of corners 1, 2, 3: 11, 12, 13, 22, 23, 33


@numba.njit(cache=True, inline="always", error_model="numpy")
def _symmetric(i, k):
    """Where entry (i, k) of a symmetric matrix is among 11, 22, 33, 23, 13, 12."""
    return i if i == k else 6 - i - k


@numba.njit(cache=True, error_model="numpy")
def _take(x, tets, gradients, constants, first, count, f, g):
    """Deformation gradients, as `signed_svd` has them, and rest gradients of tetrahedra; lanes of none are at rest.

    Whether any is viscous.
    """
    mu, lam, volumes, viscosity, given = constants
    viscous = False
    for lane in range(count, LANES):
        for k in range(9):
            f[k * LANES + lane] = 1.0 if k % 4 == 0 else 0.0
            g[k * LANES + lane] = 0.0
        for k in range(4):
            given[k * LANES + lane] = 0.0
    for lane in range(count):
        t = first + lane
        given[MU * LANES + lane], given[LAM * LANES + lane] = mu[t], lam[t]
        given[_VOLUME * LANES + lane], given[_VISCOSITY * LANES + lane] = volumes[t], viscosity[t]
        viscous = viscous or viscosity[t] > 0.0
        for k in range(9):
            g[k * LANES + lane] = gradients[t, k // 3, k % 3]
        for i in range(3):
            origin = x[tets[t, 0], i]
            a, b, c = x[tets[t, 1], i] - origin, x[tets[t, 2], i] - origin, x[tets[t, 3], i] - origin
            for k in range(3):
                f[(3 * k + i) * LANES + lane] = a * gradients[t, 0, k] + b * gradients[t, 1, k] + c * gradients[t, 2, k]
    return viscous


@numba.njit(cache=True, error_model="numpy")
def neohookean_modes(s, given, modes):
    """ψ = µ′/2 (I − 3) − ¾µ′ (J − 1) + λ′/2 (J − 1)² − µ′/2 ln((I + 1)/4), I = Σsᵢ², J = s₁s₂s₃."""
    for lane in range(LANES):
        m, bulk = neohookean_constants(given[MU * LANES + lane], given[LAM * LANES + lane])
        a, b, c = s[lane], s[LANES + lane], s[2 * LANES + lane]
        square = a * a + b * b + c * c
        shear, bend = m * square / (square + 1.0), 2.0 * m / ((square + 1.0) * (square + 1.0))
        swell = bulk * (a * b * c - 1.0) - 0.75 * m
        modes[lane] = shear + bend * a * a + bulk * (b * c) * (b * c)
        modes[LANES + lane] = shear + bend * b * b + bulk * (c * a) * (c * a)
        modes[2 * LANES + lane] = shear + bend * c * c + bulk * (a * b) * (a * b)
        modes[3 * LANES + lane] = bend * b * c + bulk * (c * a) * (a * b) + swell * a
        modes[4 * LANES + lane] = bend * c * a + bulk * (a * b) * (b * c) + swell * b
        modes[5 * LANES + lane] = bend * a * b + bulk * (b * c) * (c * a) + swell * c
        modes[OWN * LANES + lane], modes[MIXED * LANES + lane] = shear + swell * a, shear - swell * a
        modes[(OWN + 1) * LANES + lane], modes[(MIXED + 1) * LANES + lane] = shear + swell * b, shear - swell * b
        modes[(OWN + 2) * LANES + lane], modes[(MIXED + 2) * LANES + lane] = shear + swell * c, shear - swell * c


@numba.njit(cache=True, error_model="numpy")
def corotational_modes(s, given, psd, modes):
    """ψ = µ Σ(sᵢ − 1)² + λ/2 (Σsᵢ − 3)²: only twists can be negative, and do not depend on the third stretch alone."""
    for lane in range(LANES):
        mu, lam = given[MU * LANES + lane], given[LAM * LANES + lane]
        pull = 2.0 * lam * (s[lane] + s[LANES + lane] + s[2 * LANES + lane] - 3.0) - 4.0 * mu
        nearest = _NEAREST if psd and pull > 0.0 else _TINY
        for k in range(3):
            around = s[(k + 1) % 3 * LANES + lane] + s[(k + 2) % 3 * LANES + lane]
            modes[k * LANES + lane], modes[(3 + k) * LANES + lane] = lam + 2.0 * mu, lam
            modes[(OWN + k) * LANES + lane] = 2.0 * mu + pull / max(around, nearest)
            modes[(MIXED + k) * LANES + lane] = 2.0 * mu


@numba.njit(cache=True, error_model="numpy")
def mix_modes(psd, modes):
    """From twists and flips, without what is negative if `psd`, to their half sums and differences."""
    for k in range(3):
        for lane in range(LANES):
            twist, flip = modes[(OWN + k) * LANES + lane], modes[(MIXED + k) * LANES + lane]
            if psd:
                twist, flip = max(twist, 0.0), max(flip, 0.0)
            modes[(OWN + k) * LANES + lane] = 0.5 * (twist + flip)
            modes[(MIXED + k) * LANES + lane] = 0.5 * (flip - twist)


@numba.njit(cache=True, error_model="numpy")
def clamp_lanes(count, matrices, square, values, vectors):
    """Leave of symmetric matrices (six lanes) what has no negative eigenvalues; the others are scratch."""
    for lane in range(count):
        for i in range(3):
            for k in range(3):
                square[i, k] = matrices[_symmetric(i, k) * LANES + lane]
        clamp_symmetric(square, values, vectors)
        for i in range(3):
            for k in range(i, 3):
                matrices[_symmetric(i, k) * LANES + lane] = square[i, k]


@numba.njit(cache=True, error_model="numpy")
def _corner(lanes, a):
    """Three of each lane that belong to a corner, as an array of its own: one compiled body serves all corners."""
    return lanes[3 * a * LANES : 3 * (a + 1) * LANES]


@numba.njit(cache=True, error_model="numpy")
def _elastic(a, b, modes, u, given, out):
    """The block of two corners with gradients a and b in V's frame: formed there, and turned back by U."""
    for lane in range(LANES):
        a0, a1, a2 = a[lane], a[LANES + lane], a[2 * LANES + lane]
        b0, b1, b2 = b[lane], b[LANES + lane], b[2 * LANES + lane]
        p0, p1, p2 = modes[OWN * LANES + lane], modes[(OWN + 1) * LANES + lane], modes[(OWN + 2) * LANES + lane]
        q0, q1 = modes[MIXED * LANES + lane], modes[(MIXED + 1) * LANES + lane]
        q2, s23 = modes[(MIXED + 2) * LANES + lane], modes[3 * LANES + lane]
        s13, s12 = modes[4 * LANES + lane], modes[5 * LANES + lane]
        h00 = modes[lane] * a0 * b0 + p2 * a1 * b1 + p1 * a2 * b2
        h11 = modes[LANES + lane] * a1 * b1 + p0 * a2 * b2 + p2 * a0 * b0
        h22 = modes[2 * LANES + lane] * a2 * b2 + p1 * a0 * b0 + p0 * a1 * b1
        h01, h10 = s12 * a0 * b1 + q2 * a1 * b0, s12 * a1 * b0 + q2 * a0 * b1
        h12, h21 = s23 * a1 * b2 + q0 * a2 * b1, s23 * a2 * b1 + q0 * a1 * b2
        h20, h02 = s13 * a2 * b0 + q1 * a0 * b2, s13 * a0 * b2 + q1 * a2 * b0
        volume = given[_VOLUME * LANES + lane]
        for i in range(3):  # u has its columns one after another, as the SVD leaves it
            x, y, z = u[i * LANES + lane], u[(3 + i) * LANES + lane], u[(6 + i) * LANES + lane]
            t0 = volume * (x * h00 + y * h10 + z * h20)
            t1 = volume * (x * h01 + y * h11 + z * h21)
            t2 = volume * (x * h02 + y * h12 + z * h22)
            for k in range(3):
                out[(3 * i + k) * LANES + lane] = (
                    t0 * u[k * LANES + lane] + t1 * u[(3 + k) * LANES + lane] + t2 * u[(6 + k) * LANES + lane]
                )


@numba.njit(cache=True, error_model="numpy")
def _viscous_stress(f, previous, first, count, given, stress):
    """(τ/dt) 𝔻 (E − Eₙ), symmetric, six lanes."""
    for lane in range(count):
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            own = mixed = 0.0
            for i in range(3):
                own += f[(3 * k + i) * LANES + lane] * f[(3 * k + i) * LANES + lane]
                mixed += f[(3 * a + i) * LANES + lane] * f[(3 * b + i) * LANES + lane]
            stress[k * LANES + lane] = 0.5 * (own - 1.0) - previous[first + lane, k]
            stress[(3 + k) * LANES + lane] = 0.5 * mixed - previous[first + lane, 3 + k]
        trace = stress[lane] + stress[LANES + lane] + stress[2 * LANES + lane]
        pressure = given[_VISCOSITY * LANES + lane] * given[LAM * LANES + lane] * trace
        twice = 2.0 * given[_VISCOSITY * LANES + lane] * given[MU * LANES + lane]
        for k in range(6):
            stress[k * LANES + lane] *= twice
        for k in range(3):
            stress[k * LANES + lane] += pressure


@numba.njit(cache=True, error_model="numpy")
def _push(f, g, square, pushed):
    """F Fᵀ, six lanes, and F gₐ."""
    for i in range(3):
        for k in range(3):
            for lane in range(LANES):
                x, y, z = f[i * LANES + lane], f[(3 + i) * LANES + lane], f[(6 + i) * LANES + lane]
                pushed[(3 * k + i) * LANES + lane] = (
                    x * g[3 * k * LANES + lane] + y * g[(3 * k + 1) * LANES + lane] + z * g[(3 * k + 2) * LANES + lane]
                )
                square[_symmetric(i, k) * LANES + lane] = (
                    x * f[k * LANES + lane] + y * f[(3 + k) * LANES + lane] + z * f[(6 + k) * LANES + lane]
                )


@numba.njit(cache=True, error_model="numpy")
def _viscous(a, b, pushed_a, pushed_b, square, stress, given, out):
    """Adds the block of two corners: 2µ δE:δE′ + λ tr δE tr δE′ + T:(δFᵀδF′)."""
    for lane in range(LANES):
        a0, a1, a2 = a[lane], a[LANES + lane], a[2 * LANES + lane]
        b0, b1, b2 = b[lane], b[LANES + lane], b[2 * LANES + lane]
        yz, xz, xy = stress[3 * LANES + lane], stress[4 * LANES + lane], stress[5 * LANES + lane]
        tension = (
            a0 * (stress[lane] * b0 + xy * b1 + xz * b2)
            + a1 * (xy * b0 + stress[LANES + lane] * b1 + yz * b2)
            + a2 * (xz * b0 + yz * b1 + stress[2 * LANES + lane] * b2)
        )
        volume = given[_VOLUME * LANES + lane]
        shear = volume * given[_VISCOSITY * LANES + lane] * given[MU * LANES + lane]
        bulk = volume * given[_VISCOSITY * LANES + lane] * given[LAM * LANES + lane]
        dot = shear * (a0 * b0 + a1 * b1 + a2 * b2)
        for i in range(3):
            for k in range(3):
                out[(3 * i + k) * LANES + lane] += (
                    dot * square[_symmetric(i, k) * LANES + lane]
                    + shear * pushed_b[i * LANES + lane] * pushed_a[k * LANES + lane]
                    + bulk * pushed_a[i * LANES + lane] * pushed_b[k * LANES + lane]
                )
            out[4 * i * LANES + lane] += volume * tension


@numba.njit(cache=True, error_model="numpy")
def _turn_gradients(g, v, own):
    """Rest gradients in V's frame."""
    for a in range(3):
        for k in range(3):
            for lane in range(LANES):
                own[(3 * a + k) * LANES + lane] = (
                    g[3 * a * LANES + lane] * v[3 * k * LANES + lane]
                    + g[(3 * a + 1) * LANES + lane] * v[(3 * k + 1) * LANES + lane]
                    + g[(3 * a + 2) * LANES + lane] * v[(3 * k + 2) * LANES + lane]
                )


@numba.njit(cache=True, error_model="numpy")
def _put(pairs, lane, out):
    """The blocks of corners 1, 2, 3 into out (12, 12), and what makes rows and columns sum to nothing."""
    pair = 0
    for a in range(3):
        for b in range(a, 3):
            for i in range(3):
                for k in range(3):
                    value = pairs[(9 * pair + 3 * i + k) * LANES + lane]
                    out[3 * a + 3 + i, 3 * b + 3 + k] = out[3 * b + 3 + k, 3 * a + 3 + i] = value
            pair += 1
    for i in range(3):
        for k in range(3, 12):
            out[i, k] = out[k, i] = -(out[3 + i, k] + out[6 + i, k] + out[9 + i, k])
    for i in range(3):
        for k in range(i, 3):
            out[i, k] = out[k, i] = -(out[i, 3 + k] + out[i, 6 + k] + out[i, 9 + k])


@numba.njit(cache=True, error_model="numpy")
def _add_viscosity(f, g, previous, first, count, given, psd, pairs):
    """Adds to the blocks of corners what strains away from those at the start of the step are held by."""
    stress, square, pushed = np.zeros(6 * LANES), np.empty(6 * LANES), np.empty(9 * LANES)
    _viscous_stress(f, previous, first, count, given, stress)
    if psd:
        clamp_lanes(count, stress, np.empty((3, 3)), np.empty(3), np.empty((3, 3)))
    _push(f, g, square, pushed)
    pair = 0
    for a in range(3):
        for b in range(a, 3):
            block = pairs[9 * pair * LANES : 9 * (pair + 1) * LANES]
            _viscous(_corner(g, a), _corner(g, b), _corner(pushed, a), _corner(pushed, b), square, stress, given, block)
            pair += 1


@numba.njit(cache=True, error_model="numpy")
def _fill_chunk(chunk, x, tets, gradients, volumes, mu, lam, neohookean, viscosity, previous, psd, out):
    first, count = chunk * LANES, min(LANES, len(tets) - chunk * LANES)
    f, u, v, s = np.empty(9 * LANES), np.empty(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES)
    g, own, given, modes = np.empty(9 * LANES), np.empty(9 * LANES), np.empty(4 * LANES), np.empty(12 * LANES)
    pairs = np.empty(9 * _PAIRS * LANES)
    viscous = _take(x, tets, gradients, (mu, lam, volumes, viscosity, given), first, count, f, g)
    signed_svd(f, u, s, v)
    if neohookean:
        neohookean_modes(s, given, modes)
    else:
        corotational_modes(s, given, psd, modes)
    mix_modes(psd, modes)
    if psd:
        clamp_lanes(count, modes, np.empty((3, 3)), np.empty(3), np.empty((3, 3)))
    _turn_gradients(g, v, own)
    pair = 0
    for a in range(3):
        for b in range(a, 3):
            block = pairs[9 * pair * LANES : 9 * (pair + 1) * LANES]
            _elastic(_corner(own, a), _corner(own, b), modes, u, given, block)
            pair += 1
    if viscous:
        _add_viscosity(f, g, previous, first, count, given, psd, pairs)
    for lane in range(count):
        _put(pairs, lane, out[first + lane])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_blocks(x, tets, gradients, volumes, mu, lam, neohookean, viscosity, previous, psd, out):
    """Hessians (m, 12, 12) [N/m]; with psd, eigenvalues and viscous stresses below zero left out."""
    # A call alone: what stands in a parallel loop itself is analysed and compiled twice. So is what is called with the
    # loop's own index, which is unsigned inside and signed outside: it is made the same.
    for chunk in numba.prange((len(tets) + LANES - 1) // LANES):
        _fill_chunk(np.int64(chunk), x, tets, gradients, volumes, mu, lam, neohookean, viscosity, previous, psd, out)
