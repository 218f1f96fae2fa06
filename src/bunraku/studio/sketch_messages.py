"""What server and page say to each other about objects that are painted and posed: messages.py goes on here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .messages import Change


@dataclass(frozen=True)
class SketchPart:
    """A region that the shot defines on an object."""

    name: str
    vertices: int
    """how many it has; which is in the mesh's parcel, under 'part/K'"""
    middle: tuple[float, ...]
    """(3,) [m] at rest: what keys turn about"""


@dataclass(frozen=True)
class KeyMet:
    """How a key of a plan is met."""

    where: str
    """'keys[0]'"""
    met: bool
    missed: float
    unit: str


@dataclass(frozen=True)
class SketchSheet:
    """GET /sketch?object=coat: an object as it is directed, nothing run.

    GET /sketch/mesh?object=coat is a parcel of one entry: faces (f, 3) u4, label (n,) i4 (places in `names`, −1 none),
    area (n,) f4 [m²], and part/K (v,) u4, the vertices of the K-th of `parts`.
    GET /sketch/frames?object=&from=&count=&tab= is a parcel of points (n, 3) of shares, a frame each; where that tab
    tries keys, of these.
    GET /sketch/images?object=&axis=0&tolerance=0.001 has image (n,) i4, the mirror image of each vertex or −1.
    """

    revision: int
    object: str
    role: str
    vertices: int
    faces: int
    frames: tuple[float, ...]
    rate: float
    """[frames/s]"""
    centre: tuple[float, ...]
    radius: float
    """[m] of a ball about the centre that holds all of it over the shot"""
    origin: tuple[float, ...]
    """(3,) [m] in the world of where coordinates are counted from"""
    names: tuple[str, ...]
    """of the regions that are painted"""
    obeyed: bool
    """of a shell: whether they are what obeys the guide"""
    paint: str
    """another where regions, painted or not, have other vertices"""
    parts: tuple[SketchPart, ...]
    kind: Literal["keys", "phases", "shapes", ""]
    """what directs it in time: keys of a plan, phases with keys, key shapes of a body; '' for none of these"""
    keys: Any
    """the list under keys, or phases, as the file says it"""
    begins: tuple[float, ...]
    """the frame on which each phase begins"""
    paths: Any
    """of a body, the list under path"""
    met: tuple[KeyMet, ...]
    sentences: tuple[str, ...]
    """what is to be said of a plan's search"""


@dataclass(frozen=True)
class KeysTried:
    """POST /sketch/keys: keys, or phases, of a plan that the file does not say. Answered with a parcel: points (n, 3)
    of shares on a frame, and met (k, 2) f4, whether each key is and by how much not."""

    object: str
    revision: int
    keys: Any
    frame: int
    """its place among the sheet's frames"""
    tab: str


@dataclass(frozen=True)
class ShapeTried:
    """POST /sketch/shape: a key of a body, answered with a parcel of points (n, 3) of shares. POST /sketch/path: a path
    of it, answered with curve (m, 3) f4 [m]."""

    object: str
    revision: int
    told: Any


@dataclass(frozen=True)
class KnotWanted:
    """POST /sketch/knot: a knot more, on a frame of the shot, of the path that a region of a body goes, or the whole
    body; one that is not there yet is begun. The file stays as it is. Answered with Knotted."""

    object: str
    revision: int
    region: str | None
    frame: float


@dataclass(frozen=True)
class Knotted:
    """Paths with one knot more."""

    paths: Any
    """the list under path"""


@dataclass(frozen=True)
class LabelRun:
    """Vertices that follow each other and have one label."""

    label: int
    count: int


@dataclass(frozen=True)
class PiecesWanted:
    """POST /sketch/pieces: which connected piece each vertex whose label is not −1 is in: label (n,) i4."""

    object: str
    runs: tuple[LabelRun, ...]


@dataclass(frozen=True)
class ClustersWanted:
    """POST /sketch/clusters: regions that follow the guide, label (n,) i4; so many or of a size [m], of what has a
    label in `runs`, of everything where that is empty."""

    object: str
    count: int | None
    scale: float | None
    compactness: float
    seed: int
    runs: tuple[LabelRun, ...]


@dataclass(frozen=True)
class Renamed:
    """A painted region that has another name."""

    before: str
    after: str


@dataclass(frozen=True)
class PaintedLabels:
    """POST /sketch/labels: what is painted is written beside the shot, which names it. Answered with Edited."""

    revision: int
    object: str
    names: tuple[str, ...]
    runs: tuple[LabelRun, ...]
    """of all vertices, by their number"""
    renamed: tuple[Renamed, ...]
    obeyed: bool | None
    """of a shell: whether these regions are what obeys the guide; None: as it is"""
    about: str
    tab: str


@dataclass(frozen=True)
class ObjectEdit:
    """POST /sketch/edit: an edit of one object, refused as well where the object could not be made any more: a key out
    of time, say, or of a region that is fixed. Answered with Edited."""

    revision: int
    object: str
    changes: tuple[Change, ...]
    about: str
    gesture: str
    tab: str
