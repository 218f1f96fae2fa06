"""Demos of skins that wrinkle: soft bodies made by code, written out as the files an artist would bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Integers
from bunraku.geometry import Attribute, Scope, Surface, TriMesh
from bunraku.io import write_mesh
from bunraku.motion import Path as Way
from bunraku.scenes.cushion import bent_end, cushion
from bunraku.scenes.pillow import hand, pillow

from .demo_shot import write_demo_shot

Handles = Mapping[str, tuple[Integers, Mapping[str, Any]]]
"""region → its vertices, and what else its handle's table says"""


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
        end = {"frame": 11, "move": [-0.045 * side, 0.0, 0.0], "ease": "smooth"}
        out[name] = hand(mesh, side), {"keys": [{"frame": 1}, end]}
    return out


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
        pillow, _pillow_handles,
        {
            "skin": {"young": 6e6, "poisson": 0.3, "density": 500.0}, "wavelength": 0.13,
            "interior": {"young": 5e4, "poisson": 0.3, "density": 40.0, "stiffness_damping": 0.05}, "cell": 0.08,
        },
        (1, 13), 12.0,
    ),
}  # fmt: skip


def wrinkle_demo_files(name: str) -> tuple[str, ...]:
    """Names of the shot file and of the surface."""
    return f"{name}.toml", f"{name}_rest.usdc"


def write_wrinkle_demo(name: str, folder: Path) -> None:
    """Write the surface, its handles painted on it, and the shot file; files that are there already are kept."""
    chosen = WRINKLE_DEMOS[name]
    shot, rest = wrinkle_demo_files(name)
    if all((folder / file).exists() for file in (shot, rest)):
        return
    mesh = chosen.surface()
    handles = chosen.handles(mesh)
    write_mesh(folder / rest, _painted(mesh, handles))
    table = {
        "role": "wrinkle", "surface": {"file": rest}, "regions": {one: {"painted": one} for one in handles},
        "handles": [{"region": one, **told} for one, (_, told) in handles.items()], **chosen.table,
    }  # fmt: skip
    settings = {
        "shot": {"frames": list(chosen.frames), "rate": chosen.rate}, "object": {name: table},
        "physics": {"substeps": 1, "gravity": [0.0, 0.0, 0.0]},
    }  # fmt: skip
    write_demo_shot(name, chosen.title, settings, folder)


def _painted(mesh: TriMesh, handles: Handles) -> Surface:
    """The surface with a weight for each handle."""
    weights = []
    for name, (vertices, _) in handles.items():
        weight = np.zeros(mesh.point_count, dtype=np.float32)
        weight[vertices] = 1.0
        weights.append(Attribute(name, Scope.POINT, weight))
    return replace(Surface.of(mesh), attributes=tuple(weights))
