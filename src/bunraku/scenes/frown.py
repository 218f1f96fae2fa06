"""A puppet's head that frowns by three muscles, in three skins [Remillard 2013, §7.5].

The procerus draws the glabella down, the corrugators draw the brows together, the zygomatics raise the cheeks: one
procerus, of the others one on each side. The skull is a sixth that never contracts: anchored, it holds the flesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Integers, Points
from bunraku.direction.job import Take
from bunraku.direction.wrinkle import Handle, Muscle, wrinkle
from bunraku.geometry import TriMesh, edges
from bunraku.materials import ShellMaterial, SolidMaterial
from bunraku.materials.wrinkling import thickness_for
from bunraku.motion import Animation

from .head import EYE, EYEBALL, NECK, head, skull
from .level_set import even_surface
from .soft_shapes import Part
from .study import Panel, Study

FLESH = SolidMaterial(young=2e4, poisson=0.3, density=1000.0, stiffness_damping=0.02)
STIFFER = 40.0
"""times as stiff as flesh is its skin"""
CELL = 0.03
STIFFNESS, BONE = 60.0, 300.0
"""times as stiff as flesh are the muscles, and what holds the skull"""
_LONG = 0.5
"""[s] that a frown takes"""
WAVES = {"thick skin": 0.040, "middling skin": 0.027, "thin skin": 0.018}
"""[m] as theory has them"""


def skin_of(wavelength: float) -> ShellMaterial:
    """A skin of flesh's own kind, as thick as has waves that long [m]."""
    young = STIFFER * FLESH.young
    return ShellMaterial(
        young=young, poisson=FLESH.poisson, thickness=thickness_for(wavelength, STIFFER), density=FLESH.density
    )


@dataclass(frozen=True)
class Sculpted:
    """A muscle as sculpted."""

    part: Part
    """relaxed, from its origin on the bone to where it takes hold of the flesh"""
    shorter: float
    """how long it is when contracted, over its length"""
    sinks: float = 0.0
    """[m] by which its origin is drawn down with the glabella"""

    @cached_property
    def relaxed(self) -> TriMesh:
        """Closed, with edges half as long as it is thick."""
        reach = max(self.part.thick) * max(self.part.flat)
        ends = np.array([self.part.a, self.part.b])
        return even_surface(self.part.distance, ends.min(axis=0) - reach, ends.max(axis=0) + reach, 0.5 * reach)

    @property
    def contracted(self) -> Points:
        """(n, 3) [m] the same vertices: shorter towards the origin, and thicker, so that its volume stays."""
        origin, end = np.array(self.part.a), np.array(self.part.b)
        long = np.linalg.norm(end - origin)
        axis = (end - origin) / long
        from_origin = self.relaxed.rest - origin
        along = (from_origin @ axis)[:, None]
        down = np.array([0.0, -1.0, 0.0]) + axis[1] * axis  # across the axis: a shear
        out = origin + self.shorter * along * axis + (from_origin - along * axis) / np.sqrt(self.shorter)
        return out + self.sinks * (1.0 - along / long) * down


_CORRUGATOR = Part((0.006, 0.006, 0.0945), (0.048, 0.019, 0.0760), (0.0080, 0.0085))
_ZYGOMATIC = Part((0.060, -0.050, 0.058), (0.036, -0.098, 0.064), (0.0095, 0.0075))

MUSCLES: Mapping[str, Sculpted] = {
    "procerus": Sculpted(
        Part((0.0, -0.036, 0.104), (0.0, 0.008, 0.0950), (0.0070, 0.0085), (1.3, 1.0, 1.0)), 0.62
    ),
    "corrugator_left": Sculpted(_CORRUGATOR, 0.62, 0.011),
    "corrugator_right": Sculpted(_CORRUGATOR.mirrored(), 0.62, 0.011),
    "zygomatic_left": Sculpted(_ZYGOMATIC, 0.75),
    "zygomatic_right": Sculpted(_ZYGOMATIC.mirrored(), 0.75),
}  # fmt: skip
"""what frowns"""


def held(mesh: TriMesh) -> dict[str, Integers]:
    """(v,) vertices of the back of the head with the neck, and of the eyeballs with their lids."""
    x = mesh.rest
    away = np.linalg.norm(np.abs(x) * [1.0, 0.0, 0.0] + x * [0.0, 1.0, 1.0] - EYE, axis=1)
    behind = (x[:, 2] < -0.055) | (x[:, 1] < NECK + 0.035)
    return {"back": np.flatnonzero(behind), "eyes": np.flatnonzero(away < EYEBALL + 0.0035)}


def brows(mesh: TriMesh) -> Integers:
    """(v,) vertices of the skin over and between the brows, down to the root of the nose."""
    x = mesh.rest
    return np.flatnonzero((np.abs(x[:, 0]) < 0.045) & (np.abs(x[:, 1] - 0.018) < 0.035) & (x[:, 2] > 0.06))


def crown(mesh: TriMesh) -> Integers:
    """(v,) vertices of the top of the head."""
    return np.flatnonzero(mesh.rest[:, 1] > 0.095)


def frowning(
    mesh: TriMesh, skin: ShellMaterial, frames: int = 5, threads: int | None = None, *, cell: float = CELL
) -> Take:
    """The head, or one that its muscles fit in, relaxed at first and frowning at last."""
    activation = [[0.0, 0.0], [0.9 * _LONG, 1.0, "smooth"]]
    muscles = [
        Muscle(one.relaxed, one.contracted, activation, STIFFNESS, anchored=True) for one in MUSCLES.values()
    ]  # fmt: skip
    bone = skull()
    handles = [Handle(which, lambda time, which=which: mesh.rest[which]) for which in held(mesh).values()]
    return wrinkle(
        mesh, skin=skin, interior=FLESH, cell=cell, handles=handles,
        muscles=[*muscles, Muscle(bone, bone.rest, 0.0, BONE, anchored=True)],
        duration=_LONG, rate=frames / _LONG, gravity=(0.0, 0.0, 0.0), threads=threads,
    )  # fmt: skip


def edge_among(mesh: TriMesh, vertices: Integers) -> float:
    """[m] the median length of edges among vertices (v,)."""
    pairs = edges(mesh.faces).vertices
    a, b = mesh.rest[pairs[np.isin(pairs, vertices).all(axis=1)]].transpose(1, 0, 2)
    return float(np.median(np.linalg.norm(b - a, axis=1)))


def missing(take: Take) -> tuple[float, ...]:
    """[%] of their ways that procerus, corrugators and zygomatics are from their shapes at last, the worse of two."""
    away, ways = take.report["muscle_residual"][-1], np.array(take.facts["muscle_ways"])
    share = dict(zip(MUSCLES, 100.0 * away[: len(MUSCLES)] / ways[: len(MUSCLES)], strict=True))
    kinds = ("procerus", "corrugator", "zygomatic")
    return tuple(max(float(of) for name, of in share.items() if name.startswith(kind)) for kind in kinds)


def frown_study(threads: int | None = None, edge: float = 0.0021, frames: int = 5) -> Study:
    """One frown in three skins, beside the interior's without waves."""
    mesh = head(edge)
    takes = {name: frowning(mesh, skin_of(wave), frames, threads) for name, wave in WAVES.items()}
    where, top, length = brows(mesh), crown(mesh), edge_among(mesh, brows(mesh))
    rows = []
    for name, take in takes.items():
        wave, height = take.facts["wavelength"], np.abs(take.report["height"][-1])
        highest = (1e3 * float(height[one].max()) for one in (where, top))
        rows.append((name, (1e3 * wave, wave / length, *highest, *missing(take))))
    middle = takes["middling skin"]
    assert middle.surface is not None
    still = Animation(mesh, middle.animation.times, np.repeat(mesh.rest[None], frames + 1, axis=0))
    panels = [Panel("relaxed", still), Panel("the interior", middle.surface)]
    panels += [Panel.of(name, take) for name, take in takes.items()]
    columns = (
        "waves by theory mm", "edges a wave", "highest at brows mm", "on the crown mm", "procerus misses %",
        "corrugator misses %", "zygomatic misses %",
    )  # fmt: skip
    remarks = (
        f"{mesh.point_count} vertices, edges of {1e3 * length:.1f} mm at the brows",
        "the interior is that of the middling skin; what muscles miss is told of the way from relaxed to contracted",
    )
    return Study(tuple(panels), columns, tuple(rows), (frames,), remarks)
