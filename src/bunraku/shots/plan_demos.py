"""Demos of planned motions, written out as the files an artist would bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bunraku.geometry import TetMesh, TriMesh, tetrahedralise
from bunraku.io import write_mesh

from .demo_shot import write_demo_shot
from .plan_demo import Box, PlanDemo
from .plan_demo_blocks import BLOCKS
from .plan_demo_cactus import CACTUS
from .plan_demo_letter import LETTER

RATE = 24.0
_TRIES, _NEAR_ENOUGH = 8, 0.03
PLAN_DEMOS: dict[str, PlanDemo] = {**BLOCKS, **LETTER, **CACTUS}


def plan_demo_files(name: str) -> tuple[str, ...]:
    """Names of the shot file and of all that belongs to it."""
    return f"{name}.toml", f"{name}_rest.usdc", f"{name}.msh"


def write_plan_demo(name: str, folder: Path) -> None:
    """Write surface, tetrahedra and the shot file; files that are there already are kept."""
    chosen = PLAN_DEMOS[name]
    shot, skin, tets = plan_demo_files(name)
    if all((folder / file).exists() for file in (shot, skin, tets)):
        return
    surface = chosen.surface()
    write_mesh(folder / skin, surface)
    write_mesh(folder / tets, filled(surface, chosen))
    table = {
        "role": "plan", "surface": {"file": skin}, "tets": {"file": tets, "unit": "m"},
        "regions": {one: {"vertices": _inside(surface, box)} for one, box in chosen.regions.items()}, **chosen.table,
    }  # fmt: skip
    frames: dict[str, Any] = {} if chosen.frames is None else {"frames": list(chosen.frames)}
    settings = {"shot": {**frames, "rate": RATE}, "object": {name: table}}
    write_demo_shot(name, chosen.title, settings, folder)


def filled(surface: TriMesh, demo: PlanDemo) -> TetMesh:
    """The body of a demo. How many tetrahedra an edge makes is not known before: where a number is asked for, it is
    filled again, with an edge that fits better, and the nearest is taken."""
    edge, wanted = demo.edge, demo.tets
    body = best = tetrahedralise(surface, edge=edge)
    if wanted is None:
        return body
    for _ in range(_TRIES):
        if abs(len(best.tets) / wanted - 1.0) <= _NEAR_ENOUGH:
            break
        edge *= (len(body.tets) / wanted) ** (1.0 / 6.0)  # half-way: the next may err to the other side
        body = tetrahedralise(surface, edge=edge)
        best = min(best, body, key=lambda one: abs(len(one.tets) - wanted))
    return best


def _inside(surface: TriMesh, box: Box) -> list[int]:
    low, high = np.array(box)
    return np.flatnonzero(((surface.rest >= low) & (surface.rest <= high)).all(axis=1)).tolist()
