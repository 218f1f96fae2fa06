"""What is under a skin, from what the artist gave: a lattice, an animation as it is, or a lattice that follows one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Vector, input_error
from bunraku.geometry import Lattice, TriMesh, check_physical, first_few, lattice_around
from bunraku.materials import SolidMaterial
from bunraku.motion import Animation, Curve

from .followed import SPACING, Followed
from .handles import Handle
from .interior import AnimatedInterior, Interior, LatticeInterior
from .muscles import Muscle
from .settings import WrinkleSettings

_CELL = 0.1
"""of the body's size: the cells of the lattice where none are said"""


@dataclass(frozen=True, eq=False)
class Given:
    """What was said of the body."""

    body: TriMesh | Animation
    material: SolidMaterial
    cell: float | None
    """[m]"""
    handles: Sequence[Handle]
    muscles: Sequence[Muscle]
    degree: int

    def lattice(self, mesh: TriMesh) -> Lattice:
        """About a mesh."""
        return lattice_around(mesh, _CELL * mesh.size if self.cell is None else self.cell, degree=self.degree)


def interior_of(given: Given, knobs: WrinkleSettings, skin_mass: Vector) -> Interior:
    """Refused where what was said does not go together; `skin_mass` (n,) of the skin's vertices [kg]."""
    swelling = Curve.of(knobs.swelling)
    swells = bool(swelling.values.any())
    if isinstance(given.body, Animation) and given.cell is None and not knobs.two_way:
        return _as_it_is(given, given.body, swells)
    followed = None
    if isinstance(given.body, Animation):
        _check_followed(given, given.body, knobs)
        lattice = given.lattice(given.body.mesh)
        followed = Followed(given.body, SPACING * lattice.cell)
    else:
        _check_handles(given.handles, given.body)
        lattice = given.lattice(given.body)
    return LatticeInterior(
        lattice, given.material, given.handles, np.array(knobs.gravity), skin_mass, knobs.threads, followed,
        given.muscles, swelling if swells else None,
    )  # fmt: skip


def _as_it_is(given: Given, body: Animation, swells: bool) -> AnimatedInterior:
    said = {
        "handles": bool(given.handles), "muscles": bool(given.muscles), "swelling": swells, "degree": given.degree != 2
    }  # fmt: skip
    if any(said.values()):
        raise input_error(
            "an animated body is where its animation has it",
            where=", ".join(name for name, is_said in said.items() if is_said),
            remedy="leave them out, or give the mesh alone: body.mesh",
        )  # fmt: skip
    check_physical(body.mesh)
    body.check("body")
    return AnimatedInterior(body)


def _check_followed(given: Given, body: Animation, knobs: WrinkleSettings) -> None:
    if knobs.two_way is False:
        raise input_error(
            "an animation that is followed by a lattice is for two ways", where="cell", remedy="leave the cell out"
        )
    if given.handles:
        raise input_error(
            "a body that follows an animation has no handles", where="handles",
            remedy="leave them out, or give the mesh alone: body.mesh",
        )  # fmt: skip
    check_physical(body.mesh)
    body.check("body")


def _check_handles(handles: Sequence[Handle], body: TriMesh) -> None:
    for k, one in enumerate(handles):
        one.check(body, f"handles[{k}]")
        for j, other in enumerate(handles[:k]):
            both = np.intersect1d(one.vertices, other.vertices)
            if len(both):
                raise input_error(
                    "two handles take hold of the same vertices", where=f"handles[{j}] and handles[{k}]",
                    got=first_few(both), remedy="leave them out of one of the two",
                )  # fmt: skip
