"""Checks the bodies and guides of several scenes share."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku import Animation, Surface, TriMesh, examine
from bunraku.geometry import intersecting_faces


class Checks:
    """What every body and every guide of a scene must be."""

    @staticmethod
    def body(mesh: TriMesh, *, borders: int) -> None:
        """One oriented manifold piece with so many borders that does not cross itself; no finding but its borders."""
        found = examine(Surface.of(mesh))
        assert (found.pieces, found.genus, found.border_loops) == (1, 0, borders)
        assert [one.kind.name for one in found.findings] == ["OPEN"] * bool(borders)
        assert not intersecting_faces(mesh.rest, mesh.faces).any()
        # Facing out: the volume seen from the middle is positive (an open bag's cone of the rim included).
        corners = (mesh.rest - mesh.rest.mean(axis=0))[mesh.faces]
        assert np.linalg.det(corners).sum() > 0

    @staticmethod
    def largest_acceleration(guide: Animation) -> float:
        """[m/s²] by second differences of the frames."""
        rate = 1.0 / float(guide.times[1] - guide.times[0])
        assert np.isfinite(guide.points).all()
        return float(np.linalg.norm(np.diff(guide.points, n=2, axis=0), axis=2).max() * rate**2)

    @staticmethod
    def no_pops(make, rates: tuple[float, float] = (96.0, 384.0)) -> NDArray[np.float64]:
        """The largest acceleration at two frame rates.

        A jump of speed Δv within a frame shows as Δv × rate, four times as much at four times the rate; a guide whose
        speed is continuous keeps the largest acceleration it has.
        """
        found = np.array([Checks.largest_acceleration(make(rate)) for rate in rates])
        assert found[1] < 1.5 * found[0]
        return found


@pytest.fixture(scope="session")
def checks() -> type[Checks]:
    return Checks
