"""A study: several takes of one guide beside each other, and the numbers that compare them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.collision import Obstacle
from bunraku.contracts import Array, Points, Vector
from bunraku.direction import Take
from bunraku.geometry import TriMesh
from bunraku.motion import Animation


@dataclass(frozen=True, eq=False)
class Panel:
    """One animation of a study."""

    name: str
    animation: Animation
    is_guide: bool = False
    unconverged: int | None = None
    """frames on which a step used up its Newton iterations; None for what was not simulated"""
    caption: str = ""
    """on pictures, where it is not the name"""
    paint: Array | None = None
    """(f, 3) sRGB colours of its faces, where they have not all the figure's"""
    is_skin: bool = False
    """whether it wrinkles, or is what a skin is on: it is drawn on a smooth surface so that waves look round"""

    @staticmethod
    def of(name: str, take: Take, *, is_skin: bool = False) -> Panel:
        """Of a take, with what it tells of its steps."""
        unconverged = int(np.sum(np.logical_not(take.report["converged"])))
        return Panel(name, take.animation, unconverged=unconverged, is_skin=is_skin)

    @property
    def title(self) -> str:
        """What pictures say."""
        return self.caption or self.name


@dataclass(frozen=True, eq=False)
class Study:
    """Animations of equal times, and a table."""

    panels: tuple[Panel, ...]
    columns: tuple[str, ...]
    """heads of the table's numbers"""
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    """a name and a number a column"""
    moments: tuple[int, ...]
    """frames worth a picture"""
    remarks: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    """drawn with every panel"""
    captions: tuple[str, ...] = ()
    """of the moments, where they are not their frames' numbers"""

    def table(self) -> list[str]:
        """Lines of text."""
        wide = max(len(name) for name, _ in self.rows) + 2
        lines = [" " * wide + "  ".join(f"{head:>22}" for head in self.columns)]
        lines += [f"{name:<{wide}}" + "  ".join(f"{value:22.4g}" for value in values) for name, values in self.rows]
        return [*lines, *self.remarks, *self._convergence()]

    def _convergence(self) -> Iterator[str]:
        """Whether the numbers are those of converged steps."""
        run = [(panel, panel.unconverged) for panel in self.panels if panel.unconverged is not None]
        short = [f"{one.name} on {count} of {one.animation.frame_count} frames" for one, count in run if count]
        if short:
            yield f"a step used up its Newton iterations before it had converged: {', '.join(short)}"
        elif run:
            yield "every step converged"

    def value(self, row: str, column: str) -> float:
        """A number of the table."""
        return dict(self.rows)[row][self.columns.index(column)]


def grid_mesh(x: Sequence[float] | Vector, z: Sequence[float] | Vector) -> TriMesh:
    """A flat sheet in y = 0 with vertices at all x and z [m], x running faster; diagonals alternate; it faces up."""
    across, along = np.meshgrid(np.asarray(x, dtype=np.float64), np.asarray(z, dtype=np.float64))
    points = np.stack([across.ravel(), np.zeros(across.size), along.ravel()], axis=1)
    n = len(x)
    j, i = np.divmod(np.arange((n - 1) * (len(z) - 1)), n - 1)
    a = j * n + i
    b, c, d = a + 1, a + n + 1, a + n
    even = ((i + j) % 2 == 0)[:, None, None]
    one = np.stack([np.stack([a, c, b], 1), np.stack([a, d, c], 1)], 1)
    other = np.stack([np.stack([a, d, b], 1), np.stack([b, d, c], 1)], 1)
    return TriMesh(points, np.where(even, one, other).reshape(-1, 3))


def ripples(mesh: TriMesh, height: float, seed: int) -> Points:
    """(n, 3) the rest shape with seeded heights of up to `height` [m]: something for buckling to grow from."""
    random = np.random.default_rng(seed)
    points = np.array(mesh.rest)
    points[:, 1] += height * random.uniform(-1.0, 1.0, mesh.point_count)
    return points
