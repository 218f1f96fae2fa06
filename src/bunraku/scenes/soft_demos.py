"""A jelly that lands, squashes as keyed and bounces on; a soft letter that hops over a word to its place in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.collision import Obstacle
from bunraku.geometry import TriMesh
from bunraku.materials import SolidMaterial

from .hops import Landing, hopping
from .soft_letters import X_HEIGHT, letter
from .soft_shapes import pudding
from .steer_paths import surface_panel
from .steered import GROUND, Hand, HandKey, SteeredScene, Triple, lowest
from .study import Study

_FAR = 100.0
RATE = 30.0
JELLY = SolidMaterial(young=2.2e4, poisson=0.44, density=600.0, stiffness_damping=2e-3, law="neohookean")
FOAM_RUBBER = SolidMaterial(young=3e4, poisson=0.40, density=250.0, stiffness_damping=3e-3, law="neohookean")
_JELLY_SCALE = 2.5  # of the pudding: 0.33 m tall
_ADVANCE = 0.29  # [m] from letter to letter
_KERN = 0.045  # [m] by which what follows r stands closer
_NO_WAY = 1e-3  # of the body's size: a key this near to the one before it is there already
WORD = "unraku"
"""the letters that stand; what hops is the one before them"""


def _ends(low: float, high: float, move: Triple, scale: Triple = (1.0, 1.0, 1.0)) -> tuple[Hand, ...]:
    """What is below `low` [m] held, what is above `high` taken in the hand."""
    return (
        Hand((-_FAR, -_FAR, -_FAR), (_FAR, low, _FAR)),
        Hand((-_FAR, high, -_FAR), (_FAR, _FAR, _FAR), move, scale=scale),
    )


def jelly(edge: float | None = None, body_edge: float = 0.095) -> SteeredScene:
    """A pudding falls in from the left, is squashed, leaps on along an arc, hops once more and wobbles to rest."""
    mould = pudding(None if edge is None else edge / _JELLY_SCALE)
    surface = TriMesh(mould.rest * _JELLY_SCALE, mould.faces)
    tall = 0.130 * _JELLY_SCALE
    squash = _ends(0.02, 0.8 * tall, (0.0, -0.28 * tall, 0.0), (1.15, 0.9, 1.15))
    stretch = _ends(0.02, 0.8 * tall, (0.0, 0.22 * tall, 0.0), (0.9, 1.05, 0.9))
    keys = (
        HandKey(5 / RATE, stretch), HandKey(11 / RATE, squash), HandKey(18 / RATE, stretch), HandKey(26 / RATE),
        HandKey(31 / RATE, squash), HandKey(36 / RATE, stretch), HandKey(42 / RATE),
    )  # fmt: skip
    scene = SteeredScene(surface, body_edge, JELLY, 75 / RATE, RATE, keys, obstacles=(GROUND,), friction=0.9)
    high = float(scene.centre[1]) + scene.clear
    landings = (
        Landing(7 / RATE, 14 / RATE, -0.55, high, 0.20 * high, 0.10, 0.5 / RATE),
        Landing(27 / RATE, 34 / RATE, 0.15, high, 0.22 * high, 0.09, 1.5 / RATE),
        Landing(44 / RATE, 44 / RATE, 0.58, high, 0.0),
    )
    path = hopping(landings, (-0.95, high + 0.24), RATE, stands=False)
    return replace(scene, path=path, tetrahedra=scene.body, substeps=3, lead=0.03)


def _place(k: int) -> float:
    """[m] x of the k-th letter of the word; the one after r stands closer."""
    return k * _ADVANCE - (_KERN if k > 3 else 0.0)


def standing_word(edge: float = 0.02) -> tuple[Obstacle, ...]:
    """The letters that are hopped over; the place of the first of the word is about x = 0."""
    out = []
    for k, name in enumerate(WORD):
        mesh = letter(name, edge)
        out.append(Obstacle(TriMesh(mesh.rest + [_place(k + 1), 0.0, 0.0], mesh.faces), name=f"{name}{k}"))
    return tuple(out)


def hopping_letter(edge: float | None = None, body_edge: float = 0.07) -> SteeredScene:
    """A soft b comes from the right over the letters of its word, and stands where it belongs."""
    surface = letter("b") if edge is None else letter("b", edge)
    squash = _ends(0.03, 0.30, (0.0, -0.085, 0.0), (1.1, 0.9, 1.1))
    stretch = _ends(0.03, 0.30, (0.0, 0.085, 0.0), (0.95, 1.05, 0.95))
    landing_at = (11, 31, 50, 72)
    keys: list[HandKey] = []
    for frame in landing_at:
        keys += [HandKey((frame - 1) / RATE), HandKey((frame + 4) / RATE, squash)]
        if frame != landing_at[-1]:
            keys.append(HandKey((frame + 9) / RATE, stretch))
    keys.append(HandKey((landing_at[-1] + 10) / RATE))
    scene = SteeredScene(
        surface, body_edge, FOAM_RUBBER, 104 / RATE, RATE, tuple(keys), friction=0.9,
        obstacles=(*standing_word(0.02 if edge is None else 2.0 * edge), GROUND),
    )  # fmt: skip
    high = float(scene.centre[1]) + scene.clear
    middle = float(scene.centre[0])
    places = ((6, X_HEIGHT), (4, X_HEIGHT), (2, X_HEIGHT), (0, 0.0))
    landings = [
        Landing(frame / RATE, (frame + 7) / RATE, _place(k) + middle, high + floor, 0.28 * high, crouch=2 / RATE)
        for frame, (k, floor) in zip(landing_at, places, strict=True)
    ]
    landings[-1] = replace(landings[-1], leave=(landing_at[-1] + 9) / RATE)
    path = hopping(landings, (7.6 * _ADVANCE, high + X_HEIGHT + 0.35), RATE, stands=True)
    return replace(scene, path=path, tetrahedra=scene.body, substeps=2, lead=0.02)


def jelly_study(threads: int | None = None) -> Study:
    """The jelly, and how near and how late it passed its keys."""
    return _study("jelly", jelly(), (0, 5, 7, 8, 10, 12, 14, 16, 21, 26, 30, 36, 44, 47, 50, 75), threads)


def letter_study(threads: int | None = None) -> Study:
    """The letter, and how near and how late it passed its keys."""
    return _study("b", hopping_letter(), (0, 8, 14, 18, 22, 28, 34, 38, 44, 54, 58, 64, 70, 75, 84, 104), threads)


def _study(name: str, scene: SteeredScene, moments: tuple[int, ...], threads: int | None) -> Study:
    take = scene.take(threads)
    rows = tuple(
        (f"key at frame {one.key * scene.rate:.0f}", (100.0 * one.distance / one.way, one.frames))
        for one in take.facts["approaches"]
        if one.way > _NO_WAY * scene.body.size
    )
    off = take.report["residual"][:, 0] / scene.body.size
    yields = np.asarray(take.report["gave_way"][:, 0], dtype=bool)
    remarks = (
        f"{len(scene.body.tets)} tetrahedra, {len(scene.surface.faces)} polygons, "
        f"{take.report['seconds'].sum():.1f} s for {len(take.animation.times)} frames",
        f"off its path at most {off[np.logical_not(yields)].max():.1g} of its size, on {yields.sum()} frames "
        f"where it gives way to what it touches {off.max():.2g}; lowest point {1e3 * lowest([take]):.1f} mm",
    )
    shown = tuple(one for one in scene.obstacles if isinstance(one, Obstacle))
    columns = "% of way left", "frames late"
    return Study((surface_panel(name, take),), columns, rows, moments, remarks, shown)
