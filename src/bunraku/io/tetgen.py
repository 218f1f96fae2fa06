"""TetGen's pair of text files: `.node` has the points, `.ele` the tetrahedra."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Integers, Vector, input_error
from bunraku.geometry import TetMesh

from .files import read_bytes
from .tets import tet_mesh
from .tokens import Text, cut_short, whole

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows of a TetGen file, a line each."""

    numbers: Vector
    """(k,) all numbers of the file"""
    header: tuple[int, ...]
    first: Integers
    """(r,) number that each row begins with"""

    def columns(self, start: int, end: int) -> Array:
        """(r, end − start) columns of the rows."""
        return self.numbers[self.first[:, None] + np.arange(start, end)]


def read_tetgen(path: str | Path) -> TetMesh:
    """The tetrahedra of a `.node` or `.ele` file and its partner, numbered from 0 or 1.

    Attributes and markers are ignored; of second-order tetrahedra the four corners are taken.
    """
    nodes, elements = _pair(Path(path))
    points = _table(nodes, 3, "nodes")
    if len(points.header) > 1 and points.header[1] != 3:
        raise input_error("the dimension must be 3", where=str(nodes), got=points.header[1])
    tets = _table(elements, 4, "tetrahedra")
    if len(tets.header) > 1 and tets.header[1] != 4:
        if tets.header[1] != 10:
            raise input_error("a tetrahedron has 4 or 10 nodes", where=str(elements), got=tets.header[1])
        _log.warning("%s: second-order tetrahedra; their middle nodes are left out", elements)
    tags = whole(points.columns(0, 1))[:, 0]
    return tet_mesh(tags, points.columns(1, 4), whole(tets.columns(1, 5)), str(elements))


def format_tetgen(mesh: TetMesh) -> tuple[bytes, bytes]:
    """The `.node` and the `.ele` text of a mesh, numbered from 0; float64 comes back exactly."""
    points = [f"{k} {a!r} {b!r} {c!r}\n" for k, (a, b, c) in enumerate(mesh.rest.tolist())]
    tets = [f"{k} {a} {b} {c} {d}\n" for k, (a, b, c, d) in enumerate(mesh.tets.tolist())]
    node = f"{len(points)} 3 0 0\n" + "".join(points)
    return node.encode("ascii"), (f"{len(tets)} 4 0\n" + "".join(tets)).encode("ascii")


def _pair(path: Path) -> tuple[Path, Path]:
    """The `.node` and the `.ele` file of a path to either; the partner's suffix in the same case."""
    suffix = path.suffix.lower()
    if suffix not in (".node", ".ele"):
        raise input_error("is no TetGen file", where=str(path), got=path.suffix or "no suffix", allowed=".node, .ele")
    other = ".ele" if suffix == ".node" else ".node"
    partner = path.with_suffix(other.upper() if path.suffix.isupper() else other)
    if path.exists() and not partner.exists():
        raise input_error(
            "its partner is missing", where=str(path), got=f"no {partner.name}", remedy="put both files in one folder"
        )
    return (path, partner) if suffix == ".node" else (partner, path)


def _table(path: Path, width: int, what: str) -> _Table:
    """A TetGen file whose rows are a number and at least `width` more."""
    text = Text.of(read_bytes(path), str(path)).without_comments()
    numbers = text.numbers()
    first, widths = text.rows()
    if not len(first):
        raise input_error("is empty", where=str(path), remedy="copy or export the file again")
    header = tuple(whole(numbers[: min(int(widths[0]), 4)]).tolist())
    if header[0] < 0:
        raise text.refusal(f"the number of {what} must be a whole number", 0)
    if header[0] > len(first) - 1:
        raise cut_short(str(path), f"it declares {header[0]} {what}", len(first) - 1, header[0], "rows")
    first, widths = first[1 : header[0] + 1], widths[1 : header[0] + 1]
    short = np.flatnonzero(widths < width + 1)
    if len(short):
        raise text.refusal(f"a row of {what} needs {width + 1} numbers", int(first[short[0]]))
    return _Table(numbers, header, first)
