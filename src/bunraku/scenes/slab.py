"""A slab of soft matter under a skin, pressed together along its length [Remillard 2013, §7.2]: how long are its waves?

The interior is pressed evenly and does not widen (plane strain), so where it has the skin's points is known in closed
form, and what is measured is the skin's coupling alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, input_error, is_between
from bunraku.direction.track import gaussians
from bunraku.direction.wrinkle import Skin
from bunraku.geometry import TriMesh
from bunraku.materials import SkinOnSoft
from bunraku.motion import Animation

from .study import Panel, Study

LENGTH = 0.5
"""[m] of the slab"""
ROWS = 11
"""of vertices across it, where no more are asked for"""
_FINEST = 6000
"""edges along the slab beyond which nobody would wait"""
_MOST_STRAIN = 0.3
"""beyond which neither the theory nor a skin with a linear law means much"""
_BEYOND = 1.005
"""times the onset: where waves are let begin. A skin that is first looked at farther beyond has shorter ones, for what
falls most from a ridge is the shorter the higher that is, and it keeps them"""
_PAD = 16
"""times as many frequencies as a spectrum of the row itself would have"""


@dataclass(frozen=True, eq=False)
class Slab:
    """The slab, how finely it is cut and how far it is pressed."""

    layers: SkinOnSoft
    length: float = LENGTH
    """[m]"""
    per_wave: float = 16.0
    """edges to a wavelength"""
    spacing: float = 2.5
    """wavelengths between what is coupled on average"""
    foundation: bool = True
    """as for `Skin`"""
    pressed: float = 2.0
    """how far it is pressed in the end, over the strain at which theory has it buckle"""
    steps: int = 12
    rows: int = ROWS
    """of vertices across it"""
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("pressed", 0.01, 1e3), ("steps", 1, 10_000), ("rows", 5, 1000), ("per_wave", 4, 1000)):
            if not is_between(getattr(self, name), low, high):
                raise input_error(
                    f"{name} must be a number", got=repr(getattr(self, name)), allowed=f"{low:g} to {high:g}"
                )
        most = self.pressed * self.layers.onset
        if not is_between(most, 0.0, _MOST_STRAIN):
            raise input_error(
                "the skin is so soft that it would have to be pressed too far before it wrinkles",
                got=f"{most:.3g} of its length", allowed=f"up to {_MOST_STRAIN:g}", remedy="a larger ratio",
            )  # fmt: skip
        if self.columns > _FINEST:
            raise input_error(
                "the skin is so thin that its waves are too short for the slab",
                got=f"waves of {self.layers.wavelength:.3g} m in {self.length:g} m",
                allowed=f"from {self.per_wave * self.length / _FINEST:.3g} m", remedy="a thicker or stiffer skin",
            )  # fmt: skip

    @property
    def columns(self) -> int:
        """Edges along the slab."""
        return max(int(np.ceil(self.per_wave * self.length / self.layers.wavelength)), 2 * self.rows)

    @property
    def waves(self) -> float:
        """How many waves fit."""
        return self.length / self.layers.wavelength

    @cached_property
    def mesh(self) -> TriMesh:
        """Squares cut along alternating diagonals, flat, longest along x."""
        edge = self.length / self.columns
        i, j = np.meshgrid(np.arange(self.columns + 1), np.arange(self.rows), indexing="ij")
        rest: Points = np.stack([edge * i.ravel(), np.zeros(i.size), edge * j.ravel()], axis=1).astype(np.float64)
        a = (i[:-1, :-1] * self.rows + j[:-1, :-1]).ravel()
        b, c, d = a + 1, a + self.rows, a + self.rows + 1
        even = ((i[:-1, :-1] + j[:-1, :-1]) % 2 == 0).ravel()
        first = np.where(even[:, None], np.stack([a, b, d], 1), np.stack([a, b, c], 1))
        second = np.where(even[:, None], np.stack([a, d, c], 1), np.stack([b, d, c], 1))
        return TriMesh(rest, np.concatenate([first, second]))

    def strain(self, time: float) -> float:
        """At times from 0 to 1."""
        return time * self.pressed * self.layers.onset

    def places(self, time: float) -> Points:
        """(n, 3) [m] where the interior has the skin's points."""
        return self.mesh.rest * np.array([1.0 - self.strain(time), 1.0, 1.0])

    @cached_property
    def skin(self) -> Skin:
        """Its ends are held; its sides are as far apart as they are and do not slope across, as if it went on."""
        i, j = np.divmod(np.arange(self.mesh.point_count), self.rows)
        ends = np.flatnonzero((i == 0) | (i == self.columns))
        sides = np.flatnonzero(((j == 0) | (j == self.rows - 1)) & (i > 0) & (i < self.columns))
        held: list[tuple[Integers, tuple[int, ...]]] = [(ends, (0, 1, 2)), (sides, (2,))]
        inward = sides + np.where(j[sides] == 0, 1, -1)  # no slope across: free sides would bend more easily
        tests = gaussians(self.mesh, self.spacing * self.layers.wavelength)
        tied = [(sides, inward, (1,))]
        return Skin(self.mesh, self.layers, self.places, tests, self.foundation, held, tied, threads=self.threads)

    def onset(self) -> float:
        """The strain at which the flat skin loses its balance; ∞ where it does not."""
        return self._onset

    @cached_property
    def _onset(self) -> float:
        """By halving: the sign of pivots tells on which side."""
        low, high = 0.0, 1.0
        if self.skin.stable_where_the_interior_is(1.0):
            return np.inf
        for _ in range(14):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.skin.stable_where_the_interior_is(middle) else (low, middle)
        return self.strain(0.5 * (low + high))


@dataclass(frozen=True, eq=False)
class Pressed:
    """What came of pressing a slab."""

    slab: Slab
    animation: Animation
    """its skin, from uncompressed on"""
    converged: bool
    iterations: int

    @property
    def heights(self) -> Vector:
        """(columns + 1,) [m] of the middle row at the end."""
        rows = self.slab.rows
        return self.animation.points[-1][:, 1].reshape(-1, rows)[:, rows // 2]

    @property
    def wavelength(self) -> float:
        """[m] in the material (in space it is shorter by the compression), where the spectrum is highest; NaN of what
        stays flat."""
        return dominant_wavelength(self.heights, self.slab.length / self.slab.columns)

    @property
    def amplitude(self) -> float:
        """[m] of a sine with the same root mean square, over the middle half."""
        count = len(self.heights)
        middle = self.heights[count // 4 : -(count // 4)]
        return float(np.sqrt(2.0) * (middle - middle.mean()).std())


def press(slab: Slab) -> Pressed:
    """Press a slab step by step, each balance looked for from the one before; where waves begin it goes slowly."""
    x, frames, iterations, converged = slab.mesh.rest, [slab.mesh.rest], 0, True
    times = np.linspace(0.0, 1.0, slab.steps + 1)
    begins = slab.onset() / slab.strain(1.0) if slab.foundation else np.inf  # without, the spacing decides
    for before, time in pairwise(slowly_begun(times, begins)):
        solution = slab.skin.at(time, x + slab.places(time) - slab.places(before))
        iterations += solution.stats["iterations"]
        converged &= solution.outcome.usable
        x = solution.value.q.reshape(-1, 3)
        if time in times:
            frames.append(x)
    return Pressed(slab, Animation(slab.mesh, times, np.stack(frames)), converged, iterations)


def slowly_begun(times: Vector, onset: float) -> list[float]:
    """Times with one more just beyond that at which waves begin, so that they are as long as they are then."""
    return sorted({*times.tolist(), *([_BEYOND * onset] if _BEYOND * onset < times[-1] else [])})


def dominant_wavelength(heights: Vector, edge: float) -> float:
    """[m] of the highest peak of a row's spectrum, vertices an edge [m] apart."""
    row = heights - heights.mean()
    if not np.abs(row).max() > 0.0:
        return np.nan
    power: Array = np.abs(np.fft.rfft(row * np.hanning(len(row)), _PAD * len(row))) ** 2
    k = int(power[1:-1].argmax()) + 1
    left, top, right = power[k - 1 : k + 2]
    place = k + 0.5 * (left - right) / (left - 2.0 * top + right)
    return _PAD * len(row) * edge / place


def slab_study(threads: int | None = None) -> Study:
    """Three skins on the same foam, each pressed to twice its onset: the materials say how long waves are."""
    skins = {
        "thin": SkinOnSoft(2e-3, 4e7, 5e5), "twice as thick": SkinOnSoft(4e-3, 4e7, 5e5),
        "eight times as stiff": SkinOnSoft(2e-3, 3.2e8, 5e5),
    }  # fmt: skip
    panels, rows = [], []
    for name, layers in skins.items():
        edges = 10.0 * layers.wavelength / skins["thin"].wavelength  # all cut as finely as the shortest waves need
        slab = Slab(layers, length=0.3, per_wave=edges, pressed=2.0, steps=8, rows=57, threads=threads)
        found = press(slab)
        panels.append(Panel(name, found.animation, unconverged=0 if found.converged else 1, is_skin=True))
        rows.append((name, (1e3 * layers.wavelength, 1e3 * found.wavelength, layers.onset, 1e3 * found.amplitude)))
    columns = ("theory mm", "measured mm", "onset", "amplitude mm")
    return Study(tuple(panels), columns, tuple(rows), (8,), ("pressed to twice the onset",))
