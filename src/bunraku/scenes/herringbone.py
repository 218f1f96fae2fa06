"""A skin on a soft slab that is pressed along one direction and then along the other [Remillard 2013, §7.4]: straight
ridges, which then turn to and fro. Pressed along its length a ridge can shorten by no more than its own squash, unless
it goes in zigzag.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from bunraku.contracts import Array, Integers, Points, Vector, input_error, is_between
from bunraku.direction.track import gaussians
from bunraku.direction.wrinkle import Skin
from bunraku.geometry import TriMesh
from bunraku.materials import SkinOnSoft
from bunraku.motion import Animation

from .study import Panel, Study, grid_mesh

_SPACING = 4.0
"""wavelengths between what is coupled on average: wider than a zigzag"""
_MORE = 4
"""times a search that has used up its iterations goes on"""
_OBLIQUE = (15.0, 75.0)
"""[°] from the first direction: waves that go along neither"""


@dataclass(frozen=True)
class Biaxial:
    """A square piece of an endless skin, its borders planes of symmetry, and how far it is pressed."""

    layers: SkinOnSoft
    across: float = 5.0
    """wavelengths along x, the direction it is pressed along first"""
    along: float = 6.0
    """wavelengths along z"""
    per_wave: float = 7.0
    """edges to a wavelength"""
    pressed: tuple[float, float] = (2.0, 1.6)
    """along x and then along z, over the strain at which theory has it buckle"""
    steps: tuple[int, int] = (2, 8)
    """along x and along z: ridges that are pressed too far at once turn each its own way"""
    threads: int | None = None

    def __post_init__(self) -> None:
        most = max(self.pressed) * self.layers.onset
        if not is_between(most, 0.0, 0.3) or min(self.pressed) < 0.0:
            raise input_error(
                "it is pressed too far, or pulled", where="pressed", got=self.pressed,
                allowed=f"0 to {0.3 / self.layers.onset:.3g} times the onset",
            )  # fmt: skip

    @property
    def counts(self) -> tuple[int, int]:
        """Vertices along x and along z."""
        return round(self.across * self.per_wave) + 1, round(self.along * self.per_wave) + 1

    @cached_property
    def mesh(self) -> TriMesh:
        """Flat, x faster."""
        edge = self.layers.wavelength / self.per_wave
        return grid_mesh(*(np.linspace(0.0, edge * (many - 1), many) for many in self.counts))

    @property
    def times(self) -> Vector:
        """Of the steps: pressed along x until 1, along z until 2."""
        first, second = self.steps
        return np.concatenate([np.linspace(0.0, 1.0, first + 1), np.linspace(1.0, 2.0, second + 1)[1:]])

    def places(self, time: float) -> Points:
        """(n, 3) [m] where the interior has the skin's points."""
        x, z = (share * self.layers.onset * np.clip(time - k, 0.0, 1.0) for k, share in enumerate(self.pressed))
        return self.mesh.rest * np.array([1.0 - x, 1.0, 1.0 - z])

    @cached_property
    def skin(self) -> Skin:
        """On the interior, whose borders hold it across them and keep it from sloping there."""
        wide, long = self.counts
        j, i = np.divmod(np.arange(wide * long), wide)
        x_ends, z_ends = (i == 0) | (i == wide - 1), (j == 0) | (j == long - 1)
        held: list[tuple[Integers, tuple[int, ...]]] = [(np.flatnonzero(x_ends), (0,)), (np.flatnonzero(z_ends), (2,))]
        sides = np.flatnonzero(x_ends)
        others = np.flatnonzero(z_ends & ~x_ends)  # a corner goes as its neighbour along x, which goes on along z
        tied = [
            (sides, sides + np.where(i[sides] == 0, 1, -1), (1,)),
            (others, others + np.where(j[others] == 0, wide, -wide), (1,)),
        ]
        tests = gaussians(self.mesh, _SPACING * self.layers.wavelength)
        return Skin(self.mesh, self.layers, self.places, tests, True, held, tied, threads=self.threads)


@dataclass(frozen=True, eq=False)
class Ridges:
    """What came of pressing it."""

    piece: Biaxial
    animation: Animation
    converged: bool

    def heights(self, frame: int) -> Array:
        """(along z, along x) [m]"""
        wide, long = self.piece.counts
        return self.animation.points[frame][:, 1].reshape(long, wide)

    def turns(self, frame: int) -> Vector:
        """(along z) [°] by which ridges are turned there, all along x together."""
        return ridge_turns(self.heights(frame), self.piece.per_wave)

    def oblique(self, frame: int) -> float:
        """The share of the waves' power that goes along neither direction."""
        return oblique_share(self.heights(frame))


def press_twice(piece: Biaxial) -> Ridges:
    """Press it step by step, each balance looked for from the one before."""
    frames, converged = [piece.mesh.rest], True
    for before, time in pairwise(piece.times):
        guess = frames[-1] + piece.places(float(time)) - piece.places(float(before))
        solution = piece.skin.at(float(time), guess)
        for _ in range(_MORE):  # where straight ridges give way the energy hardly falls for a long time
            if solution.outcome.usable:
                break
            solution = piece.skin.at(float(time), solution.value.q.reshape(-1, 3))
        converged &= solution.outcome.usable
        frames.append(solution.value.q.reshape(-1, 3))
    return Ridges(piece, Animation(piece.mesh, piece.times, np.stack(frames)), converged)


def ridge_turns(heights: Array, per_wave: float) -> Vector:
    """(r,) [°] of heights (r, c), row by row: the direction in which they vary most, over a row and about half a wave
    of rows. Ridges that go across rows are at 0. Turned alike all along a row they add up, turned at random they
    cancel: zigzags show in step only."""
    down, right = np.gradient(heights)
    parts = [(right * right - down * down).mean(axis=1), 2.0 * (right * down).mean(axis=1)]
    even, odd = (gaussian_filter1d(part, 0.25 * per_wave, mode="nearest") for part in parts)
    return np.degrees(0.5 * np.arctan2(odd, even))


def zigzag(turns: Vector) -> tuple[float, int]:
    """Root mean square [°] of turns, and how often they go from clearly one way to clearly the other: by more than half
    of that."""
    size = float(np.sqrt(np.mean(turns**2)))
    clear = np.sign(turns[np.abs(turns) > 0.5 * size])
    return size, int((clear[1:] != clear[:-1]).sum())


def oblique_share(heights: Array) -> float:
    """Of a height's power, what goes between 15° and 75° from either direction."""
    rows, columns = heights.shape
    window = np.outer(np.hanning(rows), np.hanning(columns))
    away = heights - np.average(heights, weights=window)
    if not np.abs(away).max() > 0.0:
        return 0.0
    power = np.abs(np.fft.fft2(away * window, (2 * rows, 2 * columns))) ** 2
    down, right = np.meshgrid(np.fft.fftfreq(2 * rows), np.fft.fftfreq(2 * columns), indexing="ij")
    angle = np.degrees(np.arctan2(np.abs(down), np.abs(right)))
    return float(power[(angle > _OBLIQUE[0]) & (angle < _OBLIQUE[1])].sum() / power.sum())


def herringbone_study(threads: int | None = None) -> Study:
    """A leather-like skin, pressed along one direction and then along the other."""
    piece = Biaxial(SkinOnSoft(2e-3, 4e7, 5e5), threads=threads)
    found = press_twice(piece)
    first, last = piece.steps[0], sum(piece.steps)
    panel = Panel("two presses", found.animation, unconverged=0 if found.converged else 1, is_skin=True)
    rows = []
    for name, frame in (("pressed along x", first), ("then along z", last)):
        (size, changes), heights = zigzag(found.turns(frame)), found.heights(frame)
        rows.append((name, (size, float(changes), 100.0 * found.oblique(frame), 1e3 * float(np.ptp(heights)) / 2.0)))
    columns = ("turned °", "changes", "oblique %", "highest mm")
    remark = f"waves of {1e3 * piece.layers.wavelength:.0f} mm by theory, {piece.mesh.point_count} vertices"
    return Study((panel,), columns, tuple(rows), (first, first + piece.steps[1] * 3 // 4, last), (remark,))
