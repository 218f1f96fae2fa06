"""How stiff a skin is to what presses it [Remillard 2013, §6.3]: as its points would be that went along with the
interior, Bᵀ K B, and as it is when it finds its balance anew, the condensed Bᵀ Hᵀ (H K⁻¹ Hᵀ)⁻¹ H B.

Both are second derivatives along one motion of the interior, which presses a slab evenly: of the energy with the skin
taken along, and of the least energy there is. Steps that minimise the energies of both at once have the second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Points
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import Slab

LAYERS = SkinOnSoft(2e-3, 1e7, 1e5)
_LENGTH, _PER_WAVE = 0.25, 12.0
_AT = (0.5, 0.9, 1.2, 1.5, 2.0)
"""times the onset"""
_APART = 0.01
"""times the onset, between energies of which differences are taken"""


@dataclass(frozen=True)
class Stiffness:
    """Of a skin, over that of a flat one that is as wide as it is: second derivatives by the strain."""

    along: float
    """points that go along with the interior"""
    balanced: float
    """points that find their balance"""
    height: float
    """[m] of the waves"""


def stiffness(slab: Slab, x: Points, at: float) -> Stiffness:
    """Of a slab whose skin is in balance at x (n, 3), pressed `at` times its onset."""
    skin, now = slab.skin, at / slab.pressed
    step = _APART / slab.pressed
    strain = slab.strain(step)
    along, balanced = [], []
    for moved in (-step, 0.0, step):
        there = x + slab.places(now + moved) - slab.places(now)
        along.append(skin.energy(now + moved, there))
        balanced.append(float(skin.at(now + moved, there).stats["energy"]))
    flat = LAYERS.young / (1.0 - LAYERS.poisson**2) * LAYERS.thickness * np.prod(np.ptp(slab.mesh.rest[:, ::2], axis=0))
    first, second = (float(np.diff(one, 2)[0]) / strain**2 / float(flat) for one in (along, balanced))
    return Stiffness(first, second, float(np.ptp(x[:, 1])) / 2.0)


def pressed(slab: Slab, at: Sequence[float]) -> Iterator[tuple[float, Points]]:
    """Its skin in balance, pressed on and on to times its onset; a little wave to begin with leads off the ridge."""
    before = slab.places(0.0)
    x = before + 1e-3 * LAYERS.thickness * np.sin(2.0 * np.pi * slab.mesh.rest[:, :1] / LAYERS.wavelength)
    for one in at:
        there = slab.places(one / slab.pressed)
        x, before = slab.skin.at(one / slab.pressed, x + there - before).value.q.reshape(-1, 3), there
        yield one, x


def run(threads: int | None = None) -> Iterator[str]:
    """The table."""
    waves = f"waves of {1e3 * LAYERS.wavelength:.0f} mm"
    yield f"a slab of {_LENGTH:g} m, {waves}: its skin's stiffness, over that of a flat one at rest"
    yield f"{'':30s} pressed/onset | waves, thicknesses | along, Bᵀ K B | balanced, condensed"
    for foundation, name in ((True, "foundation"), (False, "none (the thesis)")):
        spacing = 2.5 if foundation else 1.0
        slab = Slab(LAYERS, _LENGTH, _PER_WAVE, spacing, foundation, pressed=_AT[-1], threads=threads)
        for at, x in pressed(slab, _AT):
            found = stiffness(slab, x, at)
            yield (
                f"{name:30s} {at:13.2f} | {found.height / LAYERS.thickness:18.3f} | {found.along:13.4f} | "
                f"{found.balanced:19.4f}"
            )
