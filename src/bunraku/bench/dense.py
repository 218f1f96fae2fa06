"""The slab as solids through and through, beside a skin on a foundation and beside theory [Remillard 2013, §7.2]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bunraku.materials import SkinOnSoft
from bunraku.scenes.dense_slab import DenseSlab, first_waves, press_dense
from bunraku.scenes.slab import Slab, press

UNDER = 1e5
"""[Pa] of the interior: only the ratio counts"""
POINTS: tuple[tuple[float, float], ...] = ((2e-3, 30.0), (2e-3, 100.0), (2e-3, 1e3))
"""thickness [m] and E_x/E_q"""
_REFINED: tuple[tuple[str, dict[str, float]], ...] = (
    ("6 elements a wave, 1 through the skin, 1.5 λ deep", {"per_wave": 6.0}), ("8 a wave (the table above)", {}),
    ("12 a wave", {"per_wave": 12.0}), ("16 a wave", {"per_wave": 16.0}), ("2 through the skin", {"through": 2}),
    ("1 λ deep", {"depth": 1.0}), ("3 λ deep", {"depth": 3.0}),
)  # fmt: skip
_POISSONS = (0.0, 0.3, 0.45)
_HEAD = (
    "thickness mm   ratio   λ mm |  λ dense | onset dense   ours |  λ dense   ours | amplitude dense   ours | "
    "unknowns dense   ours"
)


def run(
    poisson: float = 0.3, points: Sequence[tuple[float, float]] = POINTS, pressed: float = 2.0,
    threads: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """The table, what refinement changes, and what Poisson's ratio does."""
    yield "all over theory; a slab of solid elements in plane strain (27-node bricks, corotational) beside ours"
    yield f"{'':28s}|        when waves begin        |     pressed to {pressed:g} times the onset of theory"
    yield _HEAD
    for thickness, ratio in points:
        yield _row(_layers(thickness, ratio, poisson), pressed, threads)
    yield ""
    thickness, ratio = points[-1]
    yield f"what refinement changes ({1e3 * thickness:g} mm, ratio {ratio:g}), when waves begin"
    yield f"{'':52s} λ dense  onset dense"
    for name, given in _REFINED:
        yield _begun(name, DenseSlab(_layers(thickness, ratio, poisson), threads=threads), given)
    yield ""
    yield f"what Poisson's ratio of both changes ({1e3 * thickness:g} mm, ratio {ratio:g}), when waves begin"
    for one in _POISSONS:
        yield _begun(f"{one:g}", DenseSlab(_layers(thickness, ratio, one), threads=threads), {})


def _layers(thickness: float, ratio: float, poisson: float) -> SkinOnSoft:
    return SkinOnSoft(thickness, ratio * UNDER, UNDER, poisson, poisson)


def _begun(name: str, slab: DenseSlab, given: dict[str, float]) -> str:
    wavelength, onset = first_waves(replace(slab, **given))
    return f"{name:52s} {wavelength / slab.layers.wavelength:7.3f} {onset / slab.layers.onset:12.3f}"


def _row(layers: SkinOnSoft, pressed: float, threads: int | None) -> str:
    dense = DenseSlab(layers, pressed=pressed, threads=threads)
    own = Slab(layers, pressed=pressed, threads=threads)
    first, onset = first_waves(dense)
    solid, skin = press_dense(dense), press(own)
    expected = layers.amplitude(own.strain(1.0))
    told = "" if solid.converged and skin.converged else "  not converged"
    return (
        f"{1e3 * layers.thickness:12.3g} {layers.young / layers.under:7.0f} {1e3 * layers.wavelength:6.1f} | "
        f"{first / layers.wavelength:8.3f} | {onset / layers.onset:11.3f} {own.onset() / layers.onset:6.3f} | "
        f"{solid.wavelength / layers.wavelength:8.3f} {skin.wavelength / layers.wavelength:6.3f} | "
        f"{solid.amplitude / expected:15.3f} {skin.amplitude / expected:6.3f} | "
        f"{2 * len(solid.points):14d} {3 * own.mesh.point_count:6d}{told}"
    )
