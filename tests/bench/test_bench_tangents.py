"""How stiff a skin is to what presses it: a closed form while it is flat, next to nothing once it has waves."""

from __future__ import annotations

import pytest

from bunraku.bench.tangents import LAYERS, pressed, stiffness
from bunraku.scenes.slab import Slab


def test_waves_take_up_what_presses_a_skin() -> None:
    """Flat, half the square of Green's strain ε − ε²/2 has the second derivative (1 − ε)² − (ε − ε²/2). Waves give
    way, and a skin that is taken along does not know that."""
    slab = Slab(LAYERS, 0.16, 10.0, pressed=1.5, rows=5, threads=1)
    flat, waved = (stiffness(slab, x, at) for at, x in pressed(slab, (0.5, 1.5)))
    strain = 0.5 * LAYERS.onset
    closed = (1.0 - strain) ** 2 - (strain - 0.5 * strain**2)
    assert flat.along == pytest.approx(closed, rel=1e-4) and flat.balanced == pytest.approx(closed, rel=1e-4)
    assert waved.height > 0.3 * LAYERS.thickness and waved.along > 0.8
    assert abs(waved.balanced) < 0.1 * waved.along
