# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist asks for, as the tables of a shot file. Numbers are SI and Y-up here: `capture` converts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

REGIONS, PIN = "painted", "bunraku_pin"
"""names of what is painted on a guide's stage"""
TAKES = "takes"
Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class Source:
    """A mesh in a file, as a shot names it."""

    file: str
    prim: str

    def table(self) -> dict[str, Any]:
        """Its table."""
        return {"file": self.file, "prim": self.prim}


@dataclass(frozen=True)
class Wind:
    """The wind of a scene."""

    velocity: Vector3
    """[m/s]"""
    gust: Sequence[tuple[int, float]] = ()
    """by what it is multiplied on a frame; nothing where it is steady"""
    turbulence: float = 0.0
    size: float | None = None
    """[m] of eddies"""
    seed: int = 0

    def table(self) -> dict[str, Any]:
        """Its table."""
        found: dict[str, Any] = {"velocity": list(self.velocity)}
        if self.gust:
            found["gust"] = [list(key) for key in self.gust]
        if self.turbulence:
            found |= {"turbulence": self.turbulence, "seed": self.seed}
            found |= {} if self.size is None else {"size": self.size}
        return found


@dataclass(frozen=True)
class Shared:
    """What shots of every instrument say."""

    name: str
    frames: tuple[int, int]
    gravity: Vector3
    """[m/s²]"""
    substeps: int
    obstacles: Mapping[str, Source] = field(default_factory=dict)
    wind: Wind | None = None
    contact: bool = False
    friction: float | None = None
    thickness: float | None = None
    """[m]; None: the material's"""
    preroll: int = 0
    film: bool = False
    """whether a preview is rendered into the take"""
    quick: bool = False
    """coarser steps and no contact, of the same settings"""

    def of_regions(self) -> Shared:
        """The same as quickly as regions can be looked at: two frames."""
        return replace(self, frames=(self.frames[0], self.frames[0] + 1), preroll=0, quick=True, film=False)

    def tables(self, own: str, object_table: Mapping[str, Any], *, iterations: bool = True) -> dict[str, Any]:
        """The whole shot about an object's table; `iterations`: whether a quick one takes one iteration a step."""
        shot: dict[str, Any] = {"name": self.name, "frames": list(self.frames)}
        if self.preroll:
            shot["preroll"] = self.preroll
        physics: dict[str, Any] = {"gravity": list(self.gravity), "substeps": 1 if self.quick else self.substeps}
        if self.quick and iterations:
            physics["iterations"] = 1
        if self.contact and not self.quick:
            told = {"friction": self.friction, "thickness": self.thickness}
            physics["contact"] = {key: value for key, value in told.items() if value is not None} or True
        if self.wind is not None:
            physics["wind"] = self.wind.table()
        objects = {own: dict(object_table)}
        if "contact" in physics:  # without contact nothing stands in the way
            for name, source in self.obstacles.items():
                objects[free_name(name, objects)] = {"role": "obstacle", "source": source.table()}
        output = {"folder": TAKES, "formats": ["usdc"], "drawn": ["force", "residual", "regions"], "preview": self.film}
        return {"shot": shot, "object": objects, "physics": physics, "output": output}


@dataclass(frozen=True)
class Track:
    """A shell that obeys a guide."""

    guide: Source
    scale: Mapping[str, Any]
    """how the guide is obeyed: method, and count, scale or regions"""
    material: Mapping[str, Any]
    levels: int = 0
    mesh: Source | None = None
    """another mesh for the shell"""
    pins: str | None = None
    """'guide' or 'start': what the points painted as pinned do"""


def track_tables(own: str, ask: Track, shared: Shared) -> dict[str, Any]:
    """The shot of a tracked shell."""
    table: dict[str, Any] = {"guide": ask.guide.table()}
    table["mesh"] = {"levels": ask.levels} if ask.mesh is None else ask.mesh.table() | {"levels": ask.levels}
    table["material"] = dict(ask.material)
    table["track"] = dict(ask.scale)
    if ask.pins is not None:
        table["regions"] = {"pinned": {"painted": PIN}}
        table["pins"] = [{"region": "pinned", "to": ask.pins}]
    return shared.tables(own, table)


def named(sentence: str, regions: Sequence[str]) -> str:
    """A sentence of bunraku's with painted regions by their own names instead of their numbers."""

    def name(found: re.Match[str]) -> str:
        number = int(found.group(1))
        return repr(regions[number]) if number < len(regions) else found.group()

    return re.sub(rf"\b{REGIONS} (\d+)\b", name, sentence)


def shot_name(name: str) -> str:
    """A name that folders of takes may have; letters that they may not are told apart by a sum behind it."""
    found = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".-")[:100] or "_"
    return found if name.isascii() else f"{found[:90]}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number behind it where it is taken."""
    count, free = 2, name
    while free in taken:
        free, count = f"{name}_{count}", count + 1
    return free
