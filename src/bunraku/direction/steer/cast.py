"""The bodies of a shot together: their vertices numbered one after another, their masses, paths and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.collision import Surfaces
from bunraku.contracts import Array, EnergySource, Points, Vector
from bunraku.direction.contact import Contact
from bunraku.direction.pins import Pin
from bunraku.dynamics import Mass
from bunraku.energies import MassDamping, Placed, Solid
from bunraku.geometry import TetMesh, join_tets

from .asked import Asked
from .holding import Directed
from .settings import SteerSettings
from .touching import surfaces_of


@dataclass(frozen=True, eq=False)
class Cast:
    """What is asked of each body, and of all of them."""

    members: tuple[Asked, ...]
    contact: Contact | None
    knobs: SteerSettings
    """of the shot; what is said of a body is in its own"""

    @cached_property
    def body(self) -> TetMesh:
        """All bodies as one mesh."""
        return join_tets([one.body for one in self.members])

    @cached_property
    def firsts(self) -> list[int]:
        """(b,) the number of each body's first vertex."""
        return [0, *np.cumsum([one.body.point_count for one in self.members])[:-1].tolist()]

    @property
    def size(self) -> float:
        """[m] of the largest body."""
        return max(one.body.size for one in self.members)

    @cached_property
    def mass(self) -> Mass:
        """Of all vertices."""
        if len(self.members) == 1:
            return self.members[0].mass
        each = [one.mass for one in self.members]
        consistent = [one.consistent for one in each if one.consistent is not None]
        matrix = sparse.csr_array(sparse.block_diag(consistent)) if consistent else None
        return Mass(np.concatenate([one.lumped for one in each]), matrix)

    @cached_property
    def paths(self) -> tuple[Directed, ...]:
        """Those of all bodies, in order."""
        total = self.body.point_count
        return tuple(
            path.among(first, total) for first, one in zip(self.firsts, self.members, strict=True) for path in one.paths
        )

    @property
    def drawn(self) -> list[Directed]:
        """The paths that are held inside the step."""
        return [one for one in self.paths if one.path.hold == "constraint"]

    @cached_property
    def pins(self) -> tuple[Pin, ...]:
        """Those of all bodies, in order."""
        return tuple(
            replace(pin, vertices=np.asarray(pin.vertices) + first)
            for first, one in zip(self.firsts, self.members, strict=True)
            for pin in one.pins
        )

    @cached_property
    def surfaces(self) -> Surfaces | None:
        """What may touch."""
        if self.contact is None:
            return None
        parts = {
            one.name: np.arange(first, first + one.body.point_count)
            for first, one in zip(self.firsts, self.members, strict=True)
            if len(self.members) > 1 or one.name in self.contact.named
        }
        return surfaces_of(self.contact, self.body, [one.path for one in self.paths], self.knobs, parts)

    @cached_property
    def solids(self) -> tuple[Solid, ...]:
        """(b,) what makes each body elastic, of its own vertices."""
        return tuple(Solid(one.body, one.material, one.rest if one.keys else None) for one in self.members)

    @property
    def elastic(self) -> tuple[EnergySource, ...]:
        """What makes them elastic, of all vertices."""
        return tuple(self._placed(k, solid) for k, solid in enumerate(self.solids))

    @property
    def damped(self) -> tuple[EnergySource, ...]:
        """What slows them down in space, of all vertices."""
        return tuple(
            self._placed(k, MassDamping(one.body, one.material, self.knobs.mass == "consistent"))
            for k, one in enumerate(self.members)
            if one.material.mass_damping
        )

    def _placed(self, k: int, source: EnergySource) -> EnergySource:
        """What is of the vertices of body k, among those of all."""
        if len(self.members) == 1:
            return source
        return Placed(source, self.firsts[k], self.members[k].body.point_count, self.body.point_count)

    @property
    def young(self) -> Vector:
        """(n,) stiffness of what each vertex is of [Pa]."""
        return np.concatenate([np.full(one.body.point_count, one.material.young) for one in self.members])

    @property
    def step(self) -> float:
        """[s]"""
        return 1.0 / (float(self.knobs.rate) * self.knobs.substeps)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may not be meant, of all bodies."""
        return tuple(one.told(sentence) for one in self.members for sentence in one.warnings)

    def each(self, x: Array) -> list[Array]:
        """(b,) of what has a row a vertex (n, …): the rows of each body."""
        return np.split(x, self.firsts[1:])


def of_all(parts: Sequence[Points]) -> Points:
    """(n, 3) of all bodies from (b,) of each."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
