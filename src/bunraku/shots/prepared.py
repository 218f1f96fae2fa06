"""A shot whose files are read and fit together: what every take is made from, whatever is simulated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bunraku.contracts import Faces, InputError, Integers, Outcome, Points, Sparse, Vector
from bunraku.direction import Frame, Job, Pin
from bunraku.direction.parts import whole_pieces
from bunraku.direction.track import Seam
from bunraku.geometry import TetMesh, TriMesh
from bunraku.io import Clip
from bunraku.motion import Animation, Curve, RestShapes
from bunraku.numerics import FactorisationError

from .contact import ShotContact
from .filling import Filling, Written
from .inputs import InputFile
from .shot import Shot

_Begun = TypeVar("_Begun")


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared(ABC):
    """What a run, its files, its report and its pictures need to know. Coordinates are about `origin`."""

    shot: Shot
    """resolved: name and frames filled in"""
    written: tuple[Written, ...]
    """a shell, or one body after another"""
    inputs: tuple[InputFile, ...]
    guide: Animation
    """what was directed, to look at beside the result; over the shot's frames, preroll included"""
    shell: TriMesh
    """the surfaces that are written, at rest"""
    rest: RestShapes | None
    """the shape without stress, where it is not the surface's own"""
    pins: tuple[Pin, ...]
    seams: tuple[Seam, ...]
    strength: Curve
    numbers: Vector
    """(t,) frame numbers, preroll included"""
    origin: Vector
    """(3,) [m] in the world"""
    contact: ShotContact
    filling: Filling | None
    """bodies of tetrahedra, where it is their nodes that are simulated"""
    first: float = 0.0
    """the frame number at which time is 0"""

    @property
    def name(self) -> str:
        """The objects', as sentences say them."""
        return ", ".join(one.name for one in self.written)

    @property
    def ground(self) -> float | None:
        """[m] the height of the ground it is kept above by itself, where it is: obstacles have their own."""
        return None

    @property
    def clip(self) -> Clip:
        """The file of the first surface: rate, unit, axis."""
        return self.written[0].clip

    @property
    def point_names(self) -> Sequence[int | str]:
        """(n,) what sentences call each simulated point: a number in its file."""
        return self.written[0].going.point_of_vertex if self.filling is None else self.filling.point_names

    @property
    def preroll(self) -> int:
        """Frames simulated but not written."""
        return self.shot.shot.preroll

    @property
    def times(self) -> Vector:
        """(t,) of the frames [s]."""
        return (self.numbers - self.first) / self.clip.rate

    @property
    @abstractmethod
    def noun(self) -> str:
        """What sentences call what is simulated."""

    @property
    def told(self) -> str:
        """What pictures call that which is shown beside the result."""
        return "guide"

    @property
    def shown(self) -> str:
        """What they call the result."""
        return "result"

    @property
    def alike(self) -> bool:
        """Whether what is shown beside the result is drawn as the result is."""
        return False

    @property
    def rounded(self) -> bool:
        """Whether both are drawn on smooth surfaces, so that waves look round."""
        return False

    def beside(self, frame: Frame) -> Points:
        """(n_guide, 3) what is shown beside the result of a frame."""
        return self.guide.at(frame.time)

    @property
    def reported_beside(self) -> str | None:
        """The name under which frames report that, where it is not known before they are made."""
        return None

    def lengths(self, frame: Frame) -> Mapping[str, Vector]:
        """Name → (n,) [m] that files which can hold it say of every vertex of the written surface beside its place."""
        return {}

    @property
    def forces(self) -> bool:
        """Whether frames report the forces of direction."""
        return True

    @property
    def outside(self) -> str:
        """What sentences call a piece of what contact is kept with."""
        return f"triangle of the {self.noun}"

    @property
    @abstractmethod
    def goal(self) -> str:
        """What must be met, in words."""

    @property
    @abstractmethod
    def gap(self) -> str:
        """What a residual is, in words."""

    @property
    @abstractmethod
    def regions(self) -> tuple[str, ...]:
        """What is directed, by the names that sentences give it."""

    @property
    @abstractmethod
    def functions(self) -> Sparse | None:
        """(k, n) where on the surface each of them is; None where nothing is directed."""

    @abstractmethod
    def held(self, time: float) -> Vector:
        """(k,) how firmly each of them is held at a time [s], 0 to 1."""

    @property
    def parts(self) -> Mapping[str, Integers]:
        """Name → (v,) vertices of the written surface, of the parts that contact knows by their names."""
        return whole_pieces(self.contact.parts, self.shell)

    @property
    def carrier(self) -> Sparse | None:
        """(n, s) how the simulated points carry the vertices of the written surface; None: they are the same."""
        return None if self.filling is None else self.filling.carrier

    @property
    def solids(self) -> Mapping[str, TetMesh]:
        """Name → the tetrahedra of an elastic body, whose nodes are the simulated points, one body after another."""
        return {} if self.filling is None else self.filling.solids

    def vertices(self, x: Points) -> Points:
        """(n, 3) of the written surface, or their velocities, from those (s, 3) of the simulated points."""
        return x if self.carrier is None else np.asarray(self.carrier @ x)

    @property
    def apart(self) -> str:
        """What would keep surfaces apart, in words; empty: nothing would."""
        return "physics.contact = true keeps it apart"

    @property
    def skin(self) -> Faces:
        """(f, 3) triangles of the simulated points that must not pass through anything: of bodies the outer faces of
        their tetrahedra, and the fine surface goes along."""
        return self.shell.faces if self.filling is None else self.filling.body.surface_faces

    @abstractmethod
    def distances(self, x: Points, time: float) -> Vector | None:
        """(k,) [m] how far the written surface, its vertices at x (n, 3), is from each direction at a time [s]; None
        where that cannot be told from the surface alone."""

    @abstractmethod
    def summary(self) -> list[str]:
        """What would be simulated, a line each."""

    @abstractmethod
    def make_job(self, threads: int | None) -> Job:
        """The job that makes the frames; may raise what `job` explains."""

    @abstractmethod
    def rehearse(self, threads: int | None) -> None:
        """Whatever only the beginning of a run would refuse, where that does not take long."""

    def job(self, threads: int | None = None) -> Job:
        """The job that makes the frames."""
        return self._told(lambda: self.make_job(threads))

    def check_beginning(self, threads: int | None = None) -> None:
        """Refuse what `job` would refuse, as far as that is quickly told."""
        self._told(lambda: self.rehearse(threads))

    def _told(self, begin: Callable[[], _Begun]) -> _Begun:
        object_place = self.shot.place.at("object")
        where = object_place.at(self.written[0].name).name if len(self.written) == 1 else object_place.name
        try:
            return begin()
        except InputError as error:
            raise InputError("\n".join(self._placed(line, where) for line in str(error).splitlines())) from error
        except FactorisationError as error:
            raise InputError(
                f"{where}: the first pose cannot be found: {Outcome.FACTORISATION_FAILED.value}"
            ) from error

    def _placed(self, line: str, where: str) -> str:
        """A refusal with its place in the shot: that of contact, of the object it names, or `where`."""
        if line.startswith("contact."):
            return f"{self.shot.place.at('physics').name}.{line}"
        name, _, rest = line.partition(": ")
        if len(self.written) > 1 and name in [one.name for one in self.written]:
            return f"{self.shot.place.at('object').at(name).name}: {rest}"
        return f"{where}: {line}"
