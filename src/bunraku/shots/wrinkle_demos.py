"""Demos of skins that wrinkle: soft bodies made by code, written out as the files an artist would bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Integers, Points
from bunraku.geometry import Attribute, Scope, Surface, TriMesh
from bunraku.io import write_animation, write_mesh
from bunraku.materials import SolidMaterial
from bunraku.motion import Animation
from bunraku.motion import Path as Way
from bunraku.scenes.cushion import bent_end, cushion
from bunraku.scenes.frown import BONE, MUSCLES, STIFFNESS, held
from bunraku.scenes.head import head, skull
from bunraku.scenes.pillow import hand, pillow
from bunraku.scenes.seat import CELL, COUCH, DEPTH, FIVE, FOAM, GRIP, button, dropped, leather, seat, under

from .demo_shot import write_demo_shot

Handles = Mapping[str, tuple[Integers, Mapping[str, Any]]]
"""region → its vertices, and what else its handle's table says"""


@dataclass(frozen=True)
class DemoMuscle:
    """A muscle whose shapes are written to files."""

    relaxed: Callable[[], TriMesh]
    contracted: Callable[[], Points] | None
    """(n, 3) [m]; None: as it is relaxed"""
    table: Mapping[str, Any]
    """all else of it"""


@dataclass(frozen=True)
class WrinkleDemo:
    """A shot of a skin that wrinkles that needs no files of the artist's."""

    title: str
    surface: Callable[[], TriMesh]
    handles: Callable[[TriMesh], Handles]
    table: Mapping[str, Any]
    """all else of the object"""
    frames: tuple[int, int]
    rate: float
    """[frames/s]"""
    muscles: Mapping[str, DemoMuscle] = field(default_factory=dict)
    things: Mapping[str, Callable[[], Animation]] = field(default_factory=dict)
    """what is in its way, moved by hand; time counts from the first frame"""
    physics: Mapping[str, Any] = field(default_factory=dict)
    """what differs from one step a frame without weight"""


def _cushion_handles(mesh: TriMesh) -> Handles:
    """Both ends turned along an arc."""
    times = np.linspace(0.0, 1.0, 7)
    out: dict[str, tuple[Integers, Mapping[str, Any]]] = {}
    for name, side in (("left", -1), ("right", 1)):
        handle = bent_end(mesh, side, times)
        way = handle.motion
        assert isinstance(way, Way) and way.rotations is not None
        turns = np.degrees(Rotation.from_matrix(way.rotations).as_rotvec())
        moves = way.points - way.points[0]
        keys = [
            {"frame": 1 + 2 * k, "move": np.round(moves[k], 6).tolist(), "rotate": np.round(turns[k], 4).tolist()}
            for k in range(len(times))
        ]
        out[name] = handle.vertices, {"keys": keys}
    return out


def _pillow_handles(mesh: TriMesh) -> Handles:
    """Two hands that press the pillow together."""
    out: dict[str, tuple[Integers, Mapping[str, Any]]] = {}
    for name, side in (("left", -1), ("right", 1)):
        end = {"frame": 11, "move": [-0.035 * side, 0.0, 0.0], "ease": "smooth"}
        out[name] = hand(mesh, side), {"keys": [{"frame": 1}, end]}
    return out


def _button_handles(mesh: TriMesh) -> Handles:
    """The underside, on which the seat stands, and five buttons that are drawn in."""
    end = {"frame": 11, "move": [0.0, -DEPTH, 0.0], "ease": "smooth"}
    out: dict[str, tuple[Integers, Mapping[str, Any]]] = {"under": (under(mesh), {})}
    for k, place in enumerate(FIVE):
        out[f"button_{k + 1}"] = button(mesh, *place), {"keys": [{"frame": 1}, end]}
    return out


def _frown_muscles() -> dict[str, DemoMuscle]:
    """Corrugators first, then the procerus, then the zygomatics; and the skull."""
    out: dict[str, DemoMuscle] = {}
    for name, one in MUSCLES.items():
        begun = next(frame for kind, frame in _BEGUN.items() if name.startswith(kind))
        keys = [[begun, 0.0], [begun + 5, 1.0, "smooth"]]
        told = {"activation": keys, "stiffness": STIFFNESS, "anchored": True, "name": name}
        out[name] = DemoMuscle(lambda one=one: one.relaxed, lambda one=one: one.contracted, told)
    told = {"activation": 0.0, "stiffness": BONE, "anchored": True, "name": "skull"}
    return {**out, "skull": DemoMuscle(skull, None, told)}


def _leather(thickness: float) -> dict[str, Any]:
    """A seat's skin of a thickness [m], as a table."""
    found = leather(thickness)
    return {"young": found.young, "poisson": found.poisson, "thickness": thickness, "density": found.density}


def _plain(soft: SolidMaterial) -> dict[str, Any]:
    """What is under it, as a table."""
    return {name: getattr(soft, name) for name in ("young", "poisson", "density", "stiffness_damping")}


_BEGUN = {"corrugator": 1, "procerus": 2, "zygomatic": 3}
"""the frames on which muscles begin to contract"""

WRINKLE_DEMOS: dict[str, WrinkleDemo] = {
    "cushion": WrinkleDemo(
        "a foam cushion is bent by its ends, and the skin of its inner side wrinkles across: keyed handles",
        lambda: cushion(0.016), _cushion_handles,
        {
            "skin": {"young": 3e6, "poisson": 0.3, "thickness": 9e-3, "density": 900.0},
            "interior": {"young": 1e5, "poisson": 0.3, "density": 60.0, "stiffness_damping": 0.05}, "cell": 0.09,
        },
        (1, 13), 12.0,
    ),
    "pillow": WrinkleDemo(
        "a pillow is squeezed between two hands: a cover that is told how long its waves are to be",
        lambda: pillow(0.0125), _pillow_handles,
        {
            "skin": {"young": 6e6, "poisson": 0.3, "density": 500.0}, "wavelength": 0.1,
            "interior": {"young": 1e5, "poisson": 0.3, "density": 40.0, "stiffness_damping": 0.05}, "cell": 0.08,
            # Drawn along, this cover is stiffer than all that is in it: felt, it would give way at the hands alone.
            "two_way": False,
        },
        (1, 13), 12.0,
    ),
    "buttons": WrinkleDemo(
        "five buttons are drawn deep into a leather seat: folds run from each to the next",
        lambda: seat(0.008), _button_handles, {"skin": _leather(1.2e-3), "interior": _plain(FOAM), "cell": CELL},
        (1, 13), 12.0,
    ),
    "seat": WrinkleDemo(
        "a ball is dropped on a leather seat, which lies in folds around it: contact with what moves by hand",
        lambda: seat(0.0075), lambda mesh: {"under": (under(mesh), {})},
        {"skin": _leather(2e-3), "interior": _plain(COUCH), "cell": CELL},
        (1, 12), 30.0, things={"ball": lambda: dropped(np.linspace(0.0, 11.0 / 30.0, 45))},
        physics={"substeps": 2, "gravity": [0.0, -9.81, 0.0], "contact": {"friction": GRIP}},
    ),
    "frown": WrinkleDemo(
        "a puppet's head frowns by three muscles, and its brow wrinkles: muscles from files, keyed",
        lambda: head(0.003), lambda mesh: {name: (vertices, {}) for name, vertices in held(mesh).items()},
        {
            "skin": {"young": 8e5, "poisson": 0.3, "density": 1000.0}, "wavelength": 0.025,
            "interior": {"young": 2e4, "poisson": 0.3, "density": 1000.0, "stiffness_damping": 0.02}, "cell": 0.03,
        },
        (1, 9), 12.0, _frown_muscles(),
    ),
}  # fmt: skip


def wrinkle_demo_files(name: str) -> tuple[str, ...]:
    """Names of the shot file, of the surface, and of the muscles' shapes."""
    shapes = (file for pair in _shape_files(name).values() for file in dict.fromkeys(pair))
    return f"{name}.toml", f"{name}_rest.usdc", *shapes, *_thing_files(name).values()


def _thing_files(name: str) -> dict[str, str]:
    """Of what is in its way."""
    return {thing: f"{name}_{thing}.usdc" for thing in WRINKLE_DEMOS[name].things}


def _shape_files(name: str) -> dict[str, tuple[str, str]]:
    """Of each muscle, relaxed and contracted; one file where the two are the same."""
    out: dict[str, tuple[str, str]] = {}
    for muscle, one in WRINKLE_DEMOS[name].muscles.items():
        relaxed = f"{name}_{muscle}.usdc"
        out[muscle] = relaxed, relaxed if one.contracted is None else f"{name}_{muscle}_contracted.usdc"
    return out


def write_wrinkle_demo(name: str, folder: Path) -> None:
    """Write the surface, its handles painted on it, its muscles and the shot file; files that are there already are
    kept."""
    chosen = WRINKLE_DEMOS[name]
    files = wrinkle_demo_files(name)
    if all((folder / file).exists() for file in files):
        return
    mesh = chosen.surface()
    handles = chosen.handles(mesh)
    write_mesh(folder / files[1], _painted(mesh, handles))
    table = {
        "role": "wrinkle", "surface": {"file": files[1]}, "regions": {one: {"painted": one} for one in handles},
        "handles": [{"region": one, **told} for one, (_, told) in handles.items()], **chosen.table,
    }  # fmt: skip
    if chosen.muscles:
        table["muscles"] = _muscle_tables(name, folder)
    objects: dict[str, Any] = {name: table}
    for thing, file in _thing_files(name).items():
        moving = chosen.things[thing]()
        write_animation(folder / file, moving, frames=1.0 + chosen.rate * moving.times, rate=chosen.rate)
        objects[thing] = {"role": "obstacle", "source": {"file": file}}
    settings = {
        "shot": {"frames": list(chosen.frames), "rate": chosen.rate}, "object": objects,
        "physics": {"substeps": 1, "gravity": [0.0, 0.0, 0.0], **chosen.physics},
    }  # fmt: skip
    write_demo_shot(name, chosen.title, settings, folder)


def _muscle_tables(name: str, folder: Path) -> list[dict[str, Any]]:
    """The muscles of a shot, their shapes written."""
    out: list[dict[str, Any]] = []
    for muscle, (first, second) in _shape_files(name).items():
        one = WRINKLE_DEMOS[name].muscles[muscle]
        relaxed = one.relaxed()
        write_mesh(folder / first, relaxed)
        if one.contracted is not None:
            write_mesh(folder / second, relaxed.with_rest(one.contracted()))
        out.append({"relaxed": {"file": first}, "contracted": {"file": second}, **one.table})
    return out


def _painted(mesh: TriMesh, handles: Handles) -> Surface:
    """The surface with a weight for each handle."""
    weights = []
    for name, (vertices, _) in handles.items():
        weight = np.zeros(mesh.point_count, dtype=np.float32)
        weight[vertices] = 1.0
        weights.append(Attribute(name, Scope.POINT, weight))
    return replace(Surface.of(mesh), attributes=tuple(weights))
