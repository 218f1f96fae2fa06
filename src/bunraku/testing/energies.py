"""The check every `Energy` passes: derivatives, symmetry, invariance, rest, positive tangents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Array, Energy, Points

from .differences import ROUNDING, STEPS, CheckFailed, falls_as, random_rotation, unit_directions
from .probes import Probe


def check_energy(
    energy: Energy, probes: Sequence[Probe], *, rest: Points | None = None, rigid: bool = True, directions: int = 3,
    seed: int = 0,
) -> None:  # fmt: skip
    """Raise `CheckFailed` unless the energy keeps its contract at every probe.

    Gradient and condensed Hessian must agree with central differences to second order in h; the gradient must not
    vanish there; local blocks must be symmetric; with `psd` no eigenvalue may lie below −1e-10 of the largest.

    Args:
        rest: (n, 3) where the energy declares to be zero and stationary, or None if it declares no such place.
        rigid: whether it declares to be invariant under rigid motion.
    """
    for probe in probes:
        tangent = dense_tangent(energy, probe.x, psd=False)
        _check_alive(energy, probe, tangent)
        _check_gradient(energy, probe, directions, seed)
        _check_hessian(energy, probe, tangent, directions, seed)
        _check_symmetric(energy, probe)
        _check_psd(energy, probe)
        if rigid:
            _check_rigid(energy, probe, tangent, seed)
    if rest is not None:
        _check_rest(energy, rest)


def dense_tangent(energy: Energy, x: Points, psd: bool) -> Array:
    """(3n, 3n) condensed Hessian H_xx − H_xa H_aa⁻¹ H_ax, summed from the local blocks without any solver of ours."""
    size = x.size + energy.auxiliary_count
    full = np.zeros((size + 1, size + 1))  # the last row and column take what −1 leaves out
    for stencil, blocks in zip(energy.stencils(psd), energy.blocks(x, psd), strict=True):
        if blocks.shape != stencil.block_shape:
            raise CheckFailed(f"blocks of shape {blocks.shape} on a stencil of {stencil.block_shape}")
        columns = stencil.rows if stencil.columns is None else stencil.columns
        np.add.at(full, (stencil.rows[:, :, None], columns[:, None, :]), blocks)
        if stencil.columns is not None:
            np.add.at(full, (columns[:, :, None], stencil.rows[:, None, :]), np.swapaxes(blocks, 1, 2))
    hxx, hxa = full[: x.size, : x.size], full[: x.size, x.size : size]
    if not energy.auxiliary_count:
        return hxx
    return hxx - hxa @ np.linalg.solve(full[x.size : size, x.size : size], full[x.size : size, : x.size])


def _size(x: Points) -> float:
    return float(np.abs(x).max())


def _check_alive(energy: Energy, probe: Probe, tangent: Array) -> None:
    gradient = energy.gradient(probe.x)
    if gradient.shape != probe.x.shape or gradient.dtype != np.float64:
        raise CheckFailed(f"gradient is {gradient.dtype} {gradient.shape}, wanted float64 {probe.x.shape}")
    level = ROUNDING * np.linalg.norm(tangent) * _size(probe.x)
    if not np.linalg.norm(gradient) > level:
        raise CheckFailed(f"{probe.name}: the gradient vanishes, so nothing is checked ({np.linalg.norm(gradient)})")


def _check_gradient(energy: Energy, probe: Probe, directions: int, seed: int) -> None:
    x, gradient = probe.x, energy.gradient(probe.x)
    size = abs(energy.value(x)) + float(np.linalg.norm(gradient)) * _size(x)
    steps = [probe.scale * step for step in STEPS]
    along = unit_directions(x.shape, 4 * directions, seed)  # a single number each: more of them, so none is lucky
    errors = []
    for h in steps:
        slopes = [(energy.value(x + h * d) - energy.value(x - h * d)) / (2.0 * h) for d in along]
        errors.append(float(np.linalg.norm(slopes - np.array([np.sum(gradient * d) for d in along]))))
    floors = [ROUNDING * size / h for h in steps]
    if not falls_as(2, steps, errors, floors):
        raise CheckFailed(_story(probe, "gradient", steps, errors, float(np.linalg.norm(gradient)), floors))


def _check_hessian(energy: Energy, probe: Probe, tangent: Array, directions: int, seed: int) -> None:
    x = probe.x
    steps = [probe.scale * step for step in STEPS]
    along = unit_directions(x.shape, directions, seed + 1)
    errors = np.zeros(len(steps))
    for d in along:
        exact = tangent @ d.reshape(-1)
        for k, h in enumerate(steps):
            change = (energy.gradient(x + h * d) - energy.gradient(x - h * d)) / (2.0 * h)
            errors[k] = np.hypot(errors[k], np.linalg.norm(change.reshape(-1) - exact))
    size = float(np.linalg.norm(tangent))
    floors = [ROUNDING * size * _size(x) / h for h in steps]
    if not falls_as(2, steps, errors.tolist(), floors):
        raise CheckFailed(_story(probe, "condensed Hessian", steps, errors.tolist(), size, floors))


def _check_symmetric(energy: Energy, probe: Probe) -> None:
    """Assembly reads one triangle of a square block, so each block itself must be symmetric."""
    for psd in (False, True):
        for stencil, blocks in zip(energy.stencils(psd), energy.blocks(probe.x, psd), strict=True):
            if stencil.columns is not None:
                continue
            away = np.abs(blocks - np.swapaxes(blocks, 1, 2)).max(initial=0.0)
            if away > ROUNDING * np.abs(blocks).max(initial=0.0):
                raise CheckFailed(f"{probe.name}: local blocks are not symmetric, by {away:.2e}")


def _check_psd(energy: Energy, probe: Probe) -> None:
    values = np.linalg.eigvalsh(dense_tangent(energy, probe.x, psd=True))
    if values.min(initial=0.0) < -1e-10 * np.abs(values).max(initial=0.0):
        raise CheckFailed(f"{probe.name}: psd=True has eigenvalue {values.min():.3e} of {values.max():.3e}")


def _check_rigid(energy: Energy, probe: Probe, tangent: Array, seed: int) -> None:
    generator = np.random.default_rng(seed)
    turn, shift = random_rotation(generator), _size(probe.x) * generator.uniform(-1.0, 1.0, 3)
    x = probe.x
    moved = x @ turn.T + shift
    # Rounding of the moved points, 2 sizes large, seen through the first and second derivative.
    reach = ROUNDING * 2.0 * _size(x)
    gradient = energy.gradient(x)
    force, stiffness = float(np.linalg.norm(gradient)), float(np.linalg.norm(tangent))
    apart = abs(energy.value(moved) - energy.value(x))
    if apart > ROUNDING * abs(energy.value(x)) + reach * force:
        raise CheckFailed(f"{probe.name}: a rigid motion changes the energy by {apart:.2e} of {energy.value(x):.2e}")
    turned = float(np.linalg.norm(energy.gradient(moved) - gradient @ turn.T))
    if turned > ROUNDING * force + reach * stiffness:
        raise CheckFailed(
            f"{probe.name}: a rigid motion does not turn the force with it, by {turned:.2e} of {force:.2e}"
        )


def _check_rest(energy: Energy, rest: Points) -> None:
    stiffness = float(np.linalg.norm(dense_tangent(energy, rest, psd=False)))
    reach = ROUNDING * _size(rest)
    if abs(energy.value(rest)) > stiffness * reach**2:
        raise CheckFailed(f"the energy at rest is {energy.value(rest):.2e}, not zero")
    force = float(np.linalg.norm(energy.gradient(rest)))
    if force > stiffness * reach:
        raise CheckFailed(f"the force at rest is {force:.2e}, not zero")


def _story(probe: Probe, what: str, steps: Sequence[float], errors: Sequence[float], size: float, floors) -> str:
    table = ", ".join(f"h = {h:.1e}: {e:.2e}" for h, e in zip(steps, errors, strict=True))
    return f"{probe.name}: {what} (norm {size:.2e}) is not the derivative; error {table}; rounding {floors[-1]:.1e}"
