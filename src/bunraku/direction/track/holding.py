"""What holds a shell besides averages: pins, attachments and seams, from the pose it starts in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.collision import Surfaces
from bunraku.constraints import LinearConstraint
from bunraku.contracts import Flags, Points, Sparse, Vector
from bunraku.direction.contact import Contact
from bunraku.direction.pins import Bodies, Pin, check_pin, pin_constraint
from bunraku.geometry import Embedding, TriMesh
from bunraku.materials import MaterialBlend
from bunraku.motion import Animation

from .caps import region_caps
from .seams import Seam, check_seams, seam_constraints, sewn_pairs

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Holding:
    """Pins and seams of a shell, and what pins may be attached to."""

    pins: Sequence[Pin]
    seams: Sequence[Seam]
    shell: TriMesh
    guide: Animation
    onto: Embedding | None
    """carries the guide's points to the shell's"""
    mass: Vector
    """(n,) lumped [kg]"""
    bodies: Bodies

    def __post_init__(self) -> None:
        for pin in self.pins:
            check_pin(pin, self.shell)
        check_seams(self.seams, self.shell, float(self.guide.times[0]))
        held = firmly_held(self.shell, self.pins)
        between = [int(held[np.asarray(seam.stitches)].all(axis=1).sum()) for seam in self.seams]
        for k, count in enumerate(between):
            if count:
                _log.warning(
                    "seams[%d]: %d stitches lie between vertices that are pinned: they go where the pins say, and are "
                    "closed only if the pins bring them together", k, count,
                )  # fmt: skip

    def at(self, first: Points, *, attached: bool = True) -> list[LinearConstraint]:
        """The conditions of a shell that starts at points `first` (n, 3): of the pins, with those `attached` to bodies
        or without, then of the seams."""
        chosen = [pin for pin in self.pins if attached or pin.body is None]
        pins = [pin_constraint(p, self.shell, first, self.mass, self.guide, self.onto, self.bodies) for p in chosen]
        time, held = float(self.guide.times[0]), firmly_held(self.shell, chosen)
        return pins + seam_constraints(self.seams, self.shell, first, self.mass, time, held, self.bodies.press)

    @property
    def sewn_before(self) -> bool:
        """Whether a seam is to be closed before the first frame."""
        return any(seam.closed is None for seam in self.seams)


def firmly_held(shell: TriMesh, pins: Sequence[Pin]) -> Flags:
    """(n,) vertices that are pinned on three axes, exactly and always."""
    held = np.zeros(shell.point_count, dtype=bool)
    for pin in pins:
        if pin.firm:
            held[np.asarray(pin.vertices)] = True
    return held


def touching(
    contact: Contact | None, seams: Sequence[Seam], shell: TriMesh, blend: MaterialBlend, time: float
) -> tuple[Surfaces | None, Bodies]:
    """The surfaces of a shell that may touch, and what its pins may be attached to."""
    check_seams(seams, shell, time)
    if contact is None:
        return None, Bodies()
    sewn = sewn_pairs(seams, shell.point_count) if seams else None
    surfaces, strain = contact.surfaces(shell, blend, time, sewn), contact.press

    def press(weights: Sparse) -> Callable[[float], Vector]:
        found = region_caps(weights, shell, blend, None, None, strain)
        assert found is not None
        return found

    return surfaces, Bodies(tuple(surfaces.obstacles), surfaces.parts.most + surfaces.felt_within, press)
