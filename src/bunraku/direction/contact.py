"""What the artist says about contact."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bunraku.collision import Obstacle, Plane, Surfaces
from bunraku.contracts import Integers, input_error, is_between
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend
from bunraku.motion import Animation

_log = logging.getLogger(__name__)
_LEAST_REACH = 0.1  # of a fifth of the mean edge, where a few short edges are nearer than that at rest
PRESS = 0.02
"""how hard a guide presses surfaces against each other before it yields: the strain that would take"""
Thing = Obstacle | Plane | Animation | TriMesh


@dataclass(frozen=True, eq=False)
class Contact:
    """Surfaces do not pass through each other: the shell through itself, and through obstacles."""

    thickness: float | None = None
    """[m] that stays open between middle surfaces; None: the material's own"""
    friction: float = 0.3
    """coefficient µ of friction, 0 for none"""
    obstacles: Sequence[Thing] = ()
    """meshes that stand still, animations that move as they say, `Obstacle`s and `Plane`s"""
    self_contact: bool = True
    """whether the shell feels itself"""
    press: float = PRESS
    """how hard the guide may press surfaces against each other, as a strain; beyond, it yields there"""
    reach: float | None = None
    """[m] at which surfaces begin to feel each other; None: a fifth of the shell's mean edge"""

    def __post_init__(self) -> None:
        for name, least in (("thickness", 0.0), ("reach", 0.0), ("friction", 0.0), ("press", 0.0)):
            value = getattr(self, name)
            if value is not None and not (is_between(value, least, np.inf) and value < np.inf):
                raise input_error(f"{name} must be a finite number of zero or more", where="contact", got=value)
        object.__setattr__(self, "obstacles", tuple(_obstacle(k, one) for k, one in enumerate(self.obstacles)))

    def surfaces(self, shell: TriMesh, blend: MaterialBlend, time: float, sewn: Integers | None = None) -> Surfaces:
        """For a shell of a material, whose vertices `sewn` (s, 2) lie on each other or will."""
        thickness = self.thickness
        if thickness is None:
            thickness = float(np.max(blend.at(time).thickness, initial=0.0))
        found = Surfaces(
            shell, [one for one in self.obstacles if isinstance(one, Obstacle)],
            [one for one in self.obstacles if isinstance(one, Plane)], reach=self.reach or 0.0, gap=thickness,
            friction=self.friction, self_contact=self.self_contact, sewn=sewn,
        )  # fmt: skip
        return found if self.reach is not None or not self.self_contact else _within_rest(found)


def _within_rest(surfaces: Surfaces) -> Surfaces:
    """With a gap and a reach that the shell keeps from itself at rest, so that it does not push itself apart there; but
    with no less than a tenth of the usual reach, which what is nearer than that feels at rest."""
    alone = replace(surfaces, obstacles=(), planes=())
    closest = min(pairing.near(alone.shell.rest).closest() for pairing, _ in alone.pairings)
    reach, gap = surfaces.felt_within, surfaces.gap
    if closest >= gap + reach or closest <= 0.0:  # what cuts itself at rest is told elsewhere
        return surfaces
    if closest < 2.0 * gap:
        _log.warning(
            "parts of the shell are %.3g m apart at rest: half of that, not the thickness %.3g m, is kept open",
            closest, gap,
        )  # fmt: skip
        gap = 0.5 * closest
    return replace(surfaces, gap=gap, reach=max(0.9 * (closest - gap), _LEAST_REACH * reach))


def _obstacle(k: int, given: object) -> Obstacle | Plane:
    if isinstance(given, (Obstacle, Plane)):
        return given
    if isinstance(given, Animation):
        return Obstacle(given.mesh, given.at, f"obstacle {k}")
    if isinstance(given, TriMesh):
        return Obstacle(given, name=f"obstacle {k}")
    raise input_error(
        "not an obstacle", where=f"contact.obstacles[{k}]", got=type(given).__name__,
        allowed="a TriMesh, an Animation, an Obstacle or a Plane",
    )  # fmt: skip


def as_contact(given: Contact | bool | None) -> Contact | None:
    """True is contact as it comes; False and None are none."""
    if isinstance(given, Contact):
        return given
    if given is None or isinstance(given, bool):
        return Contact() if given else None
    raise input_error("not contact", where="contact", got=type(given).__name__, allowed="True, False or a Contact")
