"""How long the waves of a skin on a soft slab are, against theory [Remillard 2013, figs 7–1 to 7–3]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.contracts import input_error, is_between
from bunraku.io import write_animation
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import Pressed, Slab, press
from bunraku.shots import check_makeable

from . import dense as _dense

_UNDER = 1e5
"""[Pa] of the interior: only the ratio counts"""
SWEEP: tuple[tuple[float, float], ...] = (
    (1e-3, 30.0), (1e-3, 100.0), (1e-3, 1e3), (1e-3, 1e4), (2e-3, 30.0), (2e-3, 100.0), (2e-3, 1e3), (5e-4, 1e4),
)  # fmt: skip
"""thickness [m] and E_x/E_q: at least four waves in the slab, sixteen edges a wave"""
_WAYS: tuple[tuple[str, float, bool], ...] = (
    ("coupled every 2.5 λ, foundation", 2.5, True), ("coupled every 1.5 λ, foundation", 1.5, True),
    ("coupled every 4 λ, foundation", 4.0, True), ("coupled every 0.64 λ, none (the thesis)", 0.6366, False),
    ("coupled every 1.5 λ, none", 1.5, False), ("coupled every 2.5 λ, none", 2.5, False),
)  # fmt: skip
_STIFFEST = 1e9
_SUFFIXES = (".usda", ".usdc", ".usd")
_HEAD = (
    "thickness mm   ratio  waves  vertices |  λ mm   measured  ratio | onset  ratio | amplitude mm  ratio | iterations"
)


def run(
    thickness: float | None = None, ratio: float | None = None, pressed: float | None = None, out: Path | None = None,
    poisson: float = 0.3, sweep: Sequence[tuple[float, float]] = SWEEP, per_wave: float = 16.0,
    dense: bool = False, threads: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """One slab where a thickness [m], a ratio E_x/E_q, how far it is `pressed` over its onset or a file is given, its
    skin written to `out`; else the whole table; `dense`: beside slabs of solid elements."""
    if dense:
        asked = {"--thickness": thickness, "--ratio": ratio, "--pressed": pressed, "--out": out}
        for name, value in asked.items():
            if value is not None:
                raise input_error("the dense slabs are a table of their own", where=name, remedy="leave it out")
        yield from _dense.run(poisson, threads=threads)
        return
    if thickness is not None or ratio is not None or pressed is not None or out is not None:
        given = 1e-3 if thickness is None else thickness, 100.0 if ratio is None else ratio
        slab = _slab(*given, poisson, per_wave, threads)
        slab = slab if pressed is None else replace(slab, pressed=pressed)
        if out is not None:
            _check_writable(out)
        yield _HEAD
        yield _row(slab, out)
        return
    slabs = [_slab(*one, poisson, per_wave, threads) for one in sweep]
    yield "a slab of 0.5 m pressed to twice the strain at which its skin buckles; wavelengths in the material"
    yield _HEAD
    for slab in slabs:
        yield _row(slab, None)
    yield ""
    yield "what decides: the materials with the foundation, the spacing alone without"
    yield f"{'2 mm, ratio 100':42s} measured/λ"
    for name, spacing, foundation in _WAYS:
        slab = replace(_slab(2e-3, 100.0, poisson, per_wave, threads), spacing=spacing, foundation=foundation)
        found = press(slab)
        yield f"{name:42s} {found.wavelength / slab.layers.wavelength:10.3f}{_unfinished(found)}"


def _check_writable(out: Path) -> None:
    """Before a run of minutes, not after it."""
    if out.suffix not in _SUFFIXES or out.is_dir():
        raise input_error("not a USD file", where="--out", got=str(out), allowed=", ".join(_SUFFIXES))
    if not out.absolute().parent.is_dir():
        raise input_error("there is no such folder", where="--out", got=str(out.parent), remedy="make it first")
    check_makeable(out.absolute().parent)


def _slab(thickness: float, ratio: float, poisson: float, per_wave: float, threads: int | None) -> Slab:
    if not is_between(ratio, 1e-3, _STIFFEST):
        raise input_error(
            "ratio must be a number", where="--ratio", got=repr(ratio), allowed=f"above 0, up to {_STIFFEST:g}"
        )
    slab = Slab(SkinOnSoft(thickness, ratio * _UNDER, _UNDER, poisson, poisson), per_wave=per_wave, threads=threads)
    if slab.waves < 1.0:
        raise input_error(
            "the skin is so thick that not one wave fits into the slab",
            got=f"waves of {slab.layers.wavelength:.3g} m in {slab.length:g} m",
            allowed=f"up to {slab.length:g} m; four and more tell something", remedy="a thinner or softer skin",
        )  # fmt: skip
    return slab


def _unfinished(found: Pressed) -> str:
    return "" if found.converged else "  not converged"


def _row(slab: Slab, out: Path | None) -> str:
    layers, onset, found = slab.layers, slab.onset(), press(slab)
    if out is not None:
        write_animation(out, found.animation)
    long, high = found.wavelength, found.amplitude
    expected = layers.amplitude(slab.strain(1.0))
    return (
        f"{1e3 * layers.thickness:12.3g} {layers.young / layers.under:7.0f} {slab.waves:6.1f} "
        f"{slab.mesh.point_count:9d} | {1e3 * layers.wavelength:5.1f} {1e3 * long:10.1f} "
        f"{long / layers.wavelength:6.3f} | {onset:6.4f} {onset / layers.onset:6.3f} | {1e3 * high:12.3f} "
        f"{high / expected if expected else np.nan:6.3f} | {found.iterations:10d}{_unfinished(found)}"
    )
