"""A bent bar [Remillard 2013, figs 3–2, 5–1, 5–2]: local against spectral coupling, and linear against smooth cells."""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.materials import SkinOnSoft
from bunraku.scenes.bent_bar import CELL, SHORT, BentBar, bend, even_kink, kink

_AROUND = 6
"""edges across the bar"""
LONG = SkinOnSoft(8e-3, 1e7, 1e5)
"""a skin with waves twice as long as those of `SHORT`, 162 mm"""
_STEPS = 2


def run(around: int = _AROUND, threads: int | None = None) -> Iterator[str]:
    """Both tables."""
    yield from couplings(around, threads)
    yield ""
    yield from kinks(around, threads)


def couplings(around: int, threads: int | None) -> Iterator[str]:
    """Wrinkles away from the bend."""
    bar = BentBar(SHORT, around, threads=threads)
    yield (
        f"a bar of {bar.mesh.point_count} vertices bent by {bar.angle:g}°, waves of {1e3 * SHORT.wavelength:.0f} mm: "
        "heights of the skin over the interior"
    )
    yield f"{'':46s} functions | in the bend mm | in the arms mm | share of ∫w² in the arms %"
    for foundation, spacing in ((False, 1.0), (True, 2.5)):
        for coupling in ("local", "spectral"):
            bar = BentBar(
                SHORT, around, coupling=coupling, foundation=foundation, spacing=spacing, steps=_STEPS, threads=threads
            )
            found = bend(bar)
            told, numbers = "" if found.converged else "  not converged", found.wrinkled()
            name = f"{coupling}, every {spacing:g} λ, {'foundation' if foundation else 'none (the thesis)'}"
            yield (
                f"{name:46s} {bar.skin.tests.count:9d} | {1e3 * numbers['bend']:14.2f} | {1e3 * numbers['away']:14.2f} "
                f"| {100.0 * numbers['share']:26.2f}{told}"
            )


def kinks(around: int, threads: int | None) -> Iterator[str]:
    """What turns where cells meet."""
    even = 100.0 * even_kink(BentBar(SHORT, around).mesh)
    yield f"of what the surface turns along the bend, where cells of {CELL:g} m meet, % (an even bend: {even:.0f})"
    yield f"{'':46s} interior |   skin"
    for layers in (SHORT, LONG):
        for degree, name in ((1, "linear"), (2, "quadratic, C¹")):
            bar = BentBar(layers, around, degree=degree, steps=_STEPS, threads=threads)
            found = bend(bar)
            told = "" if found.converged else "  not converged"
            interior, skin = (kink(bar.mesh, x) for x in (bar.interior.points[-1], found.animation.points[-1]))
            name = f"{name}, waves of {1e3 * layers.wavelength:.0f} mm"
            yield f"{name:46s} {100.0 * interior:8.1f} | {100.0 * skin:6.1f}{told}"
