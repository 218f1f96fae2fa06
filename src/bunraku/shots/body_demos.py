"""Demos of bodies: a steered scene made by code, written out as the files an artist would bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.collision import Between, Obstacle, Plane
from bunraku.direction.knobs import listed
from bunraku.geometry import Attribute, Scope, Surface
from bunraku.io import write_mesh
from bunraku.materials import SolidMaterial
from bunraku.motion import Path as Way
from bunraku.render import Style
from bunraku.scenes import (
    Hand,
    HandKey,
    SteeredScene,
    hopping_letter,
    jelly,
    leaping_character,
    rolling_toy,
    struck_character,
)

from .demo_shot import write_demo_shot
from .looks import dyed


@dataclass(frozen=True)
class BodyDemo:
    """A shot of a body that needs no files of the artist's."""

    title: str
    scene: Callable[[], SteeredScene]
    style: Style
    """how figures draw its take"""


BODY_DEMOS: dict[str, BodyDemo] = {
    "jelly": BodyDemo(
        "a jelly lands, squashes as keyed, leaps on along an arc and wobbles: key shapes, a path, the ground",
        jelly, dyed((0.80, 0.13, 0.20), sheen=0.5),
    ),
    "letter": BodyDemo(
        "a soft letter hops over the letters of its word to its place in it: key shapes, a path, obstacles",
        hopping_letter, dyed((0.16, 0.35, 0.70), sheen=0.3),
    ),
    "leap": BodyDemo(
        "a character bends, stretches, leaps aside, is squashed and leans: four key shapes 8 frames apart, a path",
        leaping_character, dyed((0.72, 0.48, 0.28), sheen=0.2),
    ),
    "hit": BodyDemo(
        "a character that stands on pinned soles is hit on the head, whips over and wobbles to rest: a blow, pins",
        struck_character, dyed((0.72, 0.48, 0.28), sheen=0.2),
    ),
    "roll": BodyDemo(
        "a toy is given the way and the spin of a ball that was rolled over the ground: a path that turns, contact",
        rolling_toy, dyed((0.26, 0.48, 0.72), sheen=0.2),
    ),
}  # fmt: skip


def body_demo_files(name: str) -> tuple[str, ...]:
    """Names of the shot file and of all that belongs to it; of key shapes there are as many as there are kinds."""
    scene = _scene(name)
    shapes = [f"{name}_shape_{k + 1}.obj" for k in range(len(_kinds(scene)))]
    things = [f"{name}_{one.name}.usdc" for one in scene.obstacles if isinstance(one, Obstacle)]
    return f"{name}.toml", f"{name}_rest.usdc", f"{name}.msh", *shapes, *things


def write_body_demo(name: str, folder: Path) -> None:
    """Write surface, tetrahedra, key shapes, obstacles and the shot file; files that are there already are kept."""
    chosen = BODY_DEMOS[name]
    if all((folder / file).exists() for file in (f"{name}.toml", f"{name}_rest.usdc", f"{name}.msh")):
        return
    scene = _scene(name)
    write_mesh(folder / f"{name}_rest.usdc", _painted(scene))
    write_mesh(folder / f"{name}.msh", scene.body)
    files: dict[Any, str] = {}
    for k, key in enumerate(_kinds(scene)):
        hands, shape = key.hands, key.key(scene.body, scene.material)
        assert shape.points is not None
        files[hands] = f"{name}_shape_{k + 1}.obj"
        write_mesh(folder / files[hands], scene.surface.with_rest(scene.cage.points(np.asarray(shape.points))))
    objects: dict[str, Any] = {name: _body(name, scene, files)}
    for one in scene.obstacles:
        objects[one.name or "ground"] = {"role": "obstacle", "source": _source(name, one, folder)}
    settings = {
        "shot": {"frames": [1, 1 + round(scene.duration * scene.rate)], "rate": scene.rate}, "object": objects,
        "physics": {"substeps": scene.substeps, **_contact(name, scene)},
    }  # fmt: skip
    write_demo_shot(name, chosen.title, settings, folder)


@cache
def _scene(name: str) -> SteeredScene:
    """Made once: filling its body takes seconds."""
    return BODY_DEMOS[name].scene()


def _kinds(scene: SteeredScene) -> list[HandKey]:
    """The first key of each kind: hands that do the same make the same shape."""
    return list({one.hands: one for one in reversed(scene.keys) if one.hands}.values())[::-1]


def _body(name: str, scene: SteeredScene, files: dict[Any, str]) -> dict[str, Any]:
    keys = [
        {"frame": _frame(one.time, scene), **({"file": files[one.hands], "unit": "m"} if one.hands else {})}
        for one in scene.keys
    ]
    table: dict[str, Any] = {
        "role": "body", "surface": {"file": f"{name}_rest.usdc"}, "tets": {"file": f"{name}.msh", "unit": "m"},
        "material": _material(scene.material), "keys": keys,
    }  # fmt: skip
    if scene.path is not None:
        table["path"] = [{"points": _rows(scene.path, scene)}]
    if _parts(scene):
        table["regions"] = {one.name: {"painted": one.name} for one in _parts(scene)}
    if scene.pinned:
        table["pins"] = [{"region": one.name} for one in scene.pinned]
    if scene.blow is not None:
        hand, speed = scene.blow
        table["blows"] = [{"region": hand.name, "velocity": list(speed)}]
    if scene.lead:
        table["lead"] = True if scene.lead is True else round(float(scene.lead) * scene.rate, 3)
    return table


def _parts(scene: SteeredScene) -> list[Hand]:
    """What is pinned or hit."""
    return [*scene.pinned, *([] if scene.blow is None else [scene.blow[0]])]


def _painted(scene: SteeredScene) -> Surface:
    """The surface, its parts painted on it as weights."""
    weights = []
    for one in _parts(scene):
        weight = np.zeros(scene.surface.point_count, dtype=np.float32)
        weight[one.inside(scene.surface.rest)] = 1.0
        weights.append(Attribute(one.name, Scope.POINT, weight))
    return replace(Surface.of(scene.surface), attributes=tuple(weights))


def _frame(time: float, scene: SteeredScene) -> float:
    return round(1.0 + time * scene.rate, 4)


def _rows(path: Way, scene: SteeredScene) -> list[list[float]]:
    turns = np.zeros((len(path.times), 0))
    if path.rotations is not None:
        turns = np.degrees(Rotation.from_matrix(path.rotations).as_rotvec())
    frames = [_frame(float(time), scene) for time in path.times]
    numbers = np.round(np.concatenate([path.points, turns], axis=1), 6)
    return [[frame, *row.tolist()] for frame, row in zip(frames, numbers, strict=True)]


def _material(material: SolidMaterial) -> dict[str, Any]:
    return {
        "young": material.young, "poisson": material.poisson, "density": material.density,
        "stiffness_damping": material.stiffness_damping, "mass_damping": material.mass_damping, "law": material.law,
    }  # fmt: skip


def _source(name: str, one: Obstacle | Plane, folder: Path) -> dict[str, Any]:
    if isinstance(one, Plane):
        return {"plane": {"point": np.asarray(one.point).tolist(), "normal": np.asarray(one.normal).tolist()}}
    file = f"{name}_{one.name}.usdc"
    write_mesh(folder / file, one.mesh)
    return {"file": file}


def _contact(name: str, scene: SteeredScene) -> dict[str, Any]:
    told = scene.contact
    if told is None:
        return {}
    table = {"thickness": told.thickness, "friction": told.friction, "reach": told.reach, "balance": told.balance}
    table = {key: value for key, value in table.items() if value is not None}
    wider = listed(Between, "between", told.between)
    between = [{"of": [name, one.second], "thickness": one.thickness} for one in wider]
    return {"contact": {**table, "self": told.self_contact, **({"between": between} if between else {})}}
