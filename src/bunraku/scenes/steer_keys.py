"""Figure 8 of [Kondo 2005]: a character that is hit and wobbles; four key shapes; the keyed result; a new path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bunraku.contracts import Array, Points, Vector
from bunraku.direction import Take
from bunraku.direction.steer import KeyShape
from bunraku.energies import mean_rotation
from bunraku.geometry import TetMesh, TriMesh, tet_lumped_mass, tet_masses
from bunraku.materials import SolidMaterial
from bunraku.motion import Animation, Path

from .soft_shapes import character
from .steer_paths import surface_panel
from .steered import GROUND, Hand, HandKey, SteeredScene, Triple, lowest
from .study import Panel, Study

RATE = 30.0
APART = 8
"""frames between keys, as many as the paper's"""
_FAR = 10.0
_FLESH = SolidMaterial(young=2e4, poisson=0.42, density=200.0, stiffness_damping=6e-3, law="neohookean")
_FEET = Hand((-_FAR, -_FAR, -_FAR), (_FAR, 0.03, _FAR), name="soles")
_FLIES = 0.7  # of the time between the second key and the third
KEYS = ("bend", "stretch", "squash", "lean")


def _head(move: Triple, rotate: Triple = (0.0, 0.0, 0.0), scale: Triple = (1.0, 1.0, 1.0)) -> tuple[Hand, ...]:
    """The feet held, and the head taken in the hand."""
    return _FEET, Hand((-_FAR, 0.27, -_FAR), (_FAR, _FAR, _FAR), move, rotate, scale)


def four_keys(apart: int = APART) -> tuple[HandKey, ...]:
    """Bend, stretch up, squash, lean."""
    shapes = (
        _head((0.115, -0.055, 0.0), (0.0, 0.0, -0.95)),
        _head((0.0, 0.085, 0.0), scale=(0.92, 1.1, 0.92)),
        _head((0.0, -0.085, 0.0), scale=(1.12, 0.9, 1.12)),
        _head((-0.085, -0.012, 0.0), (0.0, 0.0, 0.45)),
    )
    return tuple(HandKey((k + 1) * apart / RATE, hands) for k, hands in enumerate(shapes))


def hit_character(surface: TriMesh | None = None, edge: float = 0.052) -> SteeredScene:
    """It stands on pinned soles, and its head is hit from the side."""
    head = Hand((-_FAR, 0.22, -_FAR), (_FAR, _FAR, _FAR), name="head")
    return SteeredScene(
        character() if surface is None else surface, edge, _FLESH, 48 / RATE, RATE, pinned=(_FEET,), settled=True,
        itself=True, blow=(head, (-1.9, 0.0, 0.0)), substeps=2,
    )  # fmt: skip


def struck_character() -> SteeredScene:
    """The same as a shot has it, which begins at rest: it sinks by a few millimetres while it is thrown about by
    centimetres. Its soles are pinned just above the ground, so that they do not feel it."""
    scene = hit_character()
    ground = replace(GROUND, point=np.array([0.0, scene.body.rest[:, 1].min() - 1.01 * scene.clear, 0.0]))
    return replace(scene, tetrahedra=scene.body, settled=False, obstacles=(ground,))


def keyed_character(scene: SteeredScene, *, lead: bool | float) -> SteeredScene:
    """The same with four key shapes."""
    return replace(scene, tetrahedra=scene.body, keys=four_keys(), lead=lead)


def leaping(scene: SteeredScene, width: float = 0.28, height: float = 0.07) -> SteeredScene:
    """The keyed character on a new path: from the stretched key to the squashed one it leaps `width` [m] aside."""
    path = leap_path(scene.body, scene.key_shapes, scene.duration, width, height)
    path = replace(path, points=path.points + [0.0, 1.01 * scene.clear, 0.0])
    return replace(scene, tetrahedra=scene.body, path=path, pinned=(), blow=None, obstacles=(GROUND,), friction=0.8)


def leaping_character() -> SteeredScene:
    """The keyed character on its new path, told its keys a frame earlier."""
    return leaping(keyed_character(hit_character(), lead=1.0 / RATE))


def leap_path(body: TetMesh, keys: Sequence[KeyShape], duration: float, width: float, height: float) -> Path:
    """Where and how turned each key has the body's middle over the ground; from the second on an arc through the air,
    whose end is a little before the third: a body lands first and is squashed then."""
    mass = tet_lumped_mass(body, 1.0)
    shapes = [body.rest, *(key.points for key in keys if key.points is not None)]
    middles = np.stack([mass @ x / mass.sum() - [0.0, x[:, 1].min(), 0.0] for x in shapes])
    turns = np.stack([mean_rotation(x, body.rest, body.tets, tet_masses(body)) for x in shapes])
    times = np.array([0.0, *(key.time for key in keys)])
    middles[3:, 0] += width
    touch = times[2] + _FLIES * (times[3] - times[2])
    share = np.linspace(0.0, 1.0, 6)[1:]
    landed = np.array([middles[3, 0], middles[0, 1], middles[3, 2]])
    arc = middles[2] + share[:, None] * (landed - middles[2])
    arc[:, 1] += 4.0 * height * share * (1.0 - share)
    air = times[2] + share * (touch - times[2])
    rising = np.array([0.6 * times[3] + 0.4 * times[4]])
    up = middles[3] + 0.25 * (middles[4] - middles[3])
    end = np.linspace(times[-1], duration, 3)[1:]
    return _sorted((times, middles, turns), (air, arc, turns[0]), (rising, up, turns[3]), (end, middles[-1], turns[-1]))


def _sorted(*parts: tuple[Vector, Array, Array]) -> Path:
    times = np.concatenate([one[0] for one in parts])
    points = np.concatenate([np.broadcast_to(one[1], (len(one[0]), 3)) for one in parts])
    turns = np.concatenate([np.broadcast_to(one[2], (len(one[0]), 3, 3)) for one in parts])
    order = np.argsort(times)
    return Path(times[order], points[order], rotations=turns[order])


def key_study(threads: int | None = None, scene: SteeredScene | None = None) -> Study:
    """Figure 8: hit (a), keys (b), keyed without and with lead (c), on a new path (d)."""
    own = hit_character() if scene is None else scene
    hit = own.take(threads)
    plain = keyed_character(own, lead=False)
    late, led = plain.take(threads), keyed_character(own, lead=True).take(threads)
    leads = np.asarray(plain.keys[0].time) - led.facts["told_at"][1]
    leaps = leaping(replace(plain, lead=float(leads))).take(threads)
    takes = {"(c) keyed": late, "(c) keyed, with lead": led, "(d) new path": leaps}
    panels = [surface_panel("(a) hit", hit), Panel("(b) keys", shown_keys(plain, hit.animation.times))]
    panels += [surface_panel(name, take) for name, take in takes.items()]
    near = [take.facts["approaches"] for take in takes.values()]
    rows = []
    for k, name in enumerate(KEYS):
        row = [number for one in near for number in (100.0 * one[k].distance / one[k].way, one[k].frames)]
        rows.append((name, tuple(row)))
    columns = tuple(
        f"{what} {name}" for name in ("plain", "led", "path") for what in ("% of way left,", "frames late,")
    )
    remarks = (
        f"{len(own.body.tets)} tetrahedra, {len(own.surface.faces)} polygons; lowest point of (d) "
        f"{1e3 * lowest([leaps]):.1f} mm, off its path at most {_off(leaps, own):.1g} of its size",
    )  # fmt: skip
    return Study(tuple(panels), columns, tuple(rows), (0, 4, 8, 12, 16, 20, 24, 28, 32, 40), remarks)


def _off(take: Take[TetMesh], scene: SteeredScene) -> float:
    return float(take.report["residual"].max()) / scene.body.size


def shown_keys(scene: SteeredScene, times: Vector) -> Animation:
    """The key shapes, each from half way before its time on; first the body's own."""
    shapes: list[Points] = [scene.body.rest, *(one.points for one in scene.key_shapes if one.points is not None)]
    at = np.array([0.0, *(one.time for one in scene.key_shapes)])
    which = np.argmin(np.abs(times[:, None] - at), axis=1)
    return Animation(scene.surface, times, np.stack([scene.cage.points(shapes[k]) for k in which]))
