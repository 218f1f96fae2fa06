"""A scene for `steer`, in plain parts: a surface, how coarse its body is, keys made by hands, a path, the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.collision import Between, Obstacle, Plane
from bunraku.contracts import Integers, Points, input_error
from bunraku.direction import Contact, Pin, Take
from bunraku.direction.steer import Body, Grip, KeyShape, pose, steer
from bunraku.geometry import Cage, TetMesh, TriMesh, enclose, tet_lumped_mass, tetrahedralise
from bunraku.materials import SolidMaterial
from bunraku.motion import Path

Triple = tuple[float, float, float]
BODY = "body"
"""what contact calls the body of a scene, where it says something of it"""
_SLOW, _SETTLES, _SETTLES_AT = 0.05, 3.0, 10.0
"""[s] damping and length of the run in which a body finds its balance, in long steps"""
_GAP, _REACH = 0.01, 0.06
"""shares of the edge that stay open under a body, and over which it feels the ground"""
_BALANCE = 0.2
"""of contact: steps are solved to a fifth of the error that their length makes"""


@dataclass(frozen=True)
class Hand:
    """Takes hold of all nodes in a box of the rest shape, scales, turns and moves them; one that does nothing holds.

    Where nodes are is left to fTetWild, so hands name places, not nodes.
    """

    low: Triple
    """[m] of the box"""
    high: Triple
    move: Triple = (0.0, 0.0, 0.0)
    """[m]"""
    rotate: Triple = (0.0, 0.0, 0.0)
    """an axis times an angle [rad]"""
    scale: Triple = (1.0, 1.0, 1.0)
    """along x, y and z"""
    pivot: Triple | None = None
    """[m] what stays in place but for the move; None: the middle of the nodes"""
    name: str = "held"
    """what a shot calls the region"""

    def nodes(self, body: TetMesh) -> Integers:
        """(v,) the nodes inside the box."""
        found = self.inside(body.rest)
        if not len(found):
            raise input_error("a hand finds no node of the body", got=f"{self.low} to {self.high}")
        return found

    def inside(self, points: Points) -> Integers:
        """(v,) which of points (n, 3) are inside the box."""
        return np.flatnonzero(((points >= np.array(self.low)) & (points <= np.array(self.high))).all(axis=1))

    def grip(self, body: TetMesh) -> Grip:
        """The grip of a body's nodes."""
        return Grip(self.nodes(body), self.move, self.rotate, self.scale, self.pivot)


@dataclass(frozen=True)
class HandKey:
    """A key shape made by hands; none of them: the body's own shape."""

    time: float
    """[s]"""
    hands: tuple[Hand, ...] = ()

    def key(self, body: TetMesh, material: SolidMaterial) -> KeyShape:
        """The shape a body takes in these hands."""
        if not self.hands:
            return KeyShape(self.time, None)
        return KeyShape(self.time, pose(body, [one.grip(body) for one in self.hands], material=material))


@dataclass(frozen=True, eq=False)
class SteeredScene:
    """Everything a steered shot is made of, but no files."""

    surface: TriMesh
    """fine, closed; it goes along with the body"""
    edge: float
    """[m] of the tetrahedra"""
    material: SolidMaterial
    duration: float
    """[s]"""
    rate: float = 24.0
    keys: tuple[HandKey, ...] = ()
    path: Path | None = None
    pinned: tuple[Hand, ...] = ()
    """nodes that stay where they are"""
    obstacles: tuple[Obstacle | Plane, ...] = ()
    """what it may touch besides itself"""
    friction: float = 0.5
    wholly: bool = False
    """whether all of the fine surface keeps clear of what it touches, also where it reaches out of the tetrahedra: for
    bodies that are touched from all sides. Those that stand on a flat sole would hover."""
    itself: bool = False
    """whether it may touch itself; most soft bodies hardly ever do"""
    blow: tuple[Hand, Triple] | None = None
    """what is hit in the beginning, and how fast that makes it [m/s]"""
    velocity: Triple | None = None
    """[m/s] of the whole body in the beginning"""
    place: Triple = (0.0, 0.0, 0.0)
    """[m] by which the body is moved to where it begins, where no path says so"""
    settled: bool = False
    """whether it begins as it stands in the end under its own weight"""
    lead: bool | float = False
    substeps: int = 1
    tetrahedra: TetMesh | None = None
    """the body, where it is made already"""

    @cached_property
    def body(self) -> TetMesh:
        """The surface, filled."""
        return self.tetrahedra or tetrahedralise(self.surface, edge=self.edge)

    @cached_property
    def cage(self) -> Cage:
        """How the surface goes along."""
        return enclose(self.surface, self.body)

    @cached_property
    def key_shapes(self) -> tuple[KeyShape, ...]:
        """The shapes of the keys."""
        return tuple(one.key(self.body, self.material) for one in self.keys)

    @property
    def contact(self) -> Contact | None:
        """With what is there to touch."""
        if not self.obstacles and not self.itself:
            return None
        wider = [Between(BODY, one.name, thickness=self._gap) for one in self.obstacles] if self.wholly else []
        return Contact(
            _GAP * self.edge, self.friction, self.obstacles, self_contact=self.itself, between=wider,
            reach=self._reach if self._reach == _REACH * self.edge else None, balance=_BALANCE,
        )  # fmt: skip

    @cached_property
    def _reach(self) -> float:
        """[m] over which it feels what it touches: less than usual where the body came out nearer to
        itself at rest than that. Contact finds that out where no reach is said."""
        usual = _REACH * self.edge
        if not self.itself:
            return usual
        skin = TriMesh(self.body.rest, self.body.surface_faces)
        return min(usual, Contact(_GAP * self.edge).surfaces(skin, None, 0.0).felt_within)

    @property
    def _gap(self) -> float:
        """[m] that stays open under the tetrahedra."""
        return _GAP * self.edge + (float(self.cage.how_far.max(initial=0.0)) if self.wholly else 0.0)

    def _named(self, **asked: Any) -> Body:
        """The body, with a name where contact knows it by one."""
        return Body(self.body, BODY if self.wholly else "", **asked)

    @property
    def clear(self) -> float:
        """[m] from what it may touch at which a body feels nothing of it."""
        return self._gap + self._reach

    @property
    def centre(self) -> Points:
        """(3,) [m] the centre of mass at rest."""
        mass = tet_lumped_mass(self.body, 1.0)
        return mass @ self.body.rest / mass.sum()

    def take(self, threads: int | None = None, *, reuse: Take[TetMesh] | None = None) -> Take[TetMesh]:
        """Run it."""
        start = None if self.path is not None else self._start(threads)
        body = self._named(
            material=self.material, keys=self.key_shapes, path=self.path, pins=self._pins(), start=start,
            velocity=self._velocity(), lead=self.lead, surface=self.cage,
        )  # fmt: skip
        return steer(
            body, duration=self.duration, rate=self.rate, substeps=self.substeps, contact=self.contact, threads=threads,
            reuse=reuse,
        )  # fmt: skip

    def _pins(self) -> list[Pin]:
        return [Pin(one.nodes(self.body)) for one in self.pinned]

    def _start(self, threads: int | None) -> Points:
        """(n, 3) where it begins without a path."""
        start = self.body.rest + np.array(self.place)
        if not self.settled:
            return start
        slow = replace(self.material, stiffness_damping=_SLOW)
        body = self._named(material=slow, pins=self._pins(), start=start)
        take = steer(body, duration=_SETTLES, rate=_SETTLES_AT, contact=self.contact, threads=threads)
        return take.animation.points[-1]

    def _velocity(self) -> Points | Triple | None:
        if self.blow is None:
            return self.velocity
        hand, speed = self.blow
        out = np.tile(self.velocity or (0.0, 0.0, 0.0), (self.body.point_count, 1)).astype(np.float64)
        out[hand.nodes(self.body)] += speed
        return out

    def without(self, *names: str) -> SteeredScene:
        """The same without its keys, its path, its blow …: fields set back, with the same body."""
        empty = {"keys": (), "path": None, "blow": None, "pinned": (), "lead": False, "obstacles": ()}
        return replace(self, tetrahedra=self.body, **{name: empty[name] for name in names})


GROUND = Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]), "ground")


def lowest(takes: Sequence[Take[TetMesh]]) -> float:
    """[m] the least height of the surfaces of takes."""
    return min(float(take.surface.points[:, :, 1].min()) for take in takes if take.surface is not None)
