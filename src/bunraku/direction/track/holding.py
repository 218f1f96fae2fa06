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
from .seams import Seam, check_seams, seam_constraints, sewn_pairs, stitches_of

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
                    "seams[%d]: %d stitches lie between vertices that are pinned: they go where the pins say, "
                    "and no seam closes them", k, count,
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


def _held_while_sewn(seam: Seam, shell: TriMesh, pins: Sequence[Pin]) -> Flags:
    """(n,) vertices that a seam cannot move: those attached to a body are so only once seams are closed."""
    return firmly_held(shell, [pin for pin in pins if pin.body is None or seam.closed is not None])


def _closing(seam: Seam, held: Flags, first: Points, gap: float) -> Seam:
    """Without the stitches between vertices that are `held` (n,) farther apart than a gap [m] at points `first` (n, 3):
    nothing closes these, and what no seam draws together has no right to pass through itself."""
    stitches, apart = np.asarray(seam.stitches), seam.weights(len(first)) @ first
    return seam.of(~held[stitches].all(axis=1) | (np.linalg.norm(apart, axis=1) <= gap))


def _with_seams(
    contact: Contact, seams: Sequence[Seam], shell: TriMesh, blend: MaterialBlend, time: float, first: Points
) -> Surfaces:
    """The surfaces of a shell with seams, which begin to close at points `first` (n, 3) at a time [s]."""
    if not seams:
        return contact.surfaces(shell, blend, time)
    pairs = sewn_pairs(seams, shell.point_count)
    return contact.surfaces(shell, blend, time, pairs, stitches_of(seams, first, time))


def touching(
    contact: Contact | None, seams: Sequence[Seam], shell: TriMesh, blend: MaterialBlend, time: float,
    pins: Sequence[Pin], first: Points,
) -> tuple[Surfaces | None, Bodies]:  # fmt: skip
    """The surfaces of a shell at points `first` (n, 3) that may touch, and what its pins may be attached to."""
    check_seams(seams, shell, time)
    for pin in pins:
        check_pin(pin, shell)
    if contact is None:
        return None, Bodies()
    strain = contact.press
    surfaces = _with_seams(contact, seams, shell, blend, time, first)
    closing = [_closing(seam, _held_while_sewn(seam, shell, pins), first, surfaces.gap) for seam in seams]
    if any(len(a.stitches) < len(b.stitches) for a, b in zip(closing, seams, strict=True)):
        surfaces = _with_seams(contact, closing, shell, blend, time, first)

    def press(weights: Sparse) -> Callable[[float], Vector]:
        found = region_caps(weights, shell, blend, None, None, strain)
        assert found is not None
        return found

    return surfaces, Bodies(tuple(surfaces.obstacles), surfaces.parts.most + surfaces.felt_within, press)
