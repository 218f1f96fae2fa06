# SPDX-License-Identifier: GPL-3.0-or-later
"""A moving mesh as the text of a USD stage, in the unit, axes and frame numbers of the scene it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_TUPLES = {"texCoord2f": 2, "point3f": 3}


@dataclass(frozen=True)
class Space:
    """What a scene says about its coordinates; Blender's are Z-up."""

    rate: float
    """[frames/s]"""
    unit: float
    """[m] of a unit of length"""


@dataclass(frozen=True, eq=False)
class Painted:
    """Numbers on the elements of a mesh."""

    name: str
    kind: str
    """"int", "float" or "texCoord2f\""""
    on: str
    """"vertex", "uniform" (a polygon) or "faceVarying" (a corner)"""
    values: NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class StageMesh:
    """A mesh in world space, its rest shape and its frames."""

    name: str
    """of the prim"""
    counts: NDArray[np.integer]
    """(p,) corners of each polygon"""
    corners: NDArray[np.integer]
    rest: NDArray[np.floating]
    """(n, 3)"""
    frames: Sequence[int] = ()
    points: Sequence[NDArray[np.floating]] = ()
    """(n, 3) of each frame; nothing for a mesh that stands still"""
    painted: Sequence[Painted] = field(default_factory=tuple)

    @property
    def prim(self) -> str:
        """Its path."""
        return f"/{self.name}"


def prim_name(name: str) -> str:
    """A name that USD takes: letters, digits and '_', not beginning with a digit."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{found}" if found[0].isdigit() else found


def stage_text(mesh: StageMesh, space: Space) -> str:
    """The whole stage; equal meshes give equal texts."""
    return "\n".join(_lines(mesh, space)) + "\n"


def _lines(mesh: StageMesh, space: Space) -> Iterator[str]:
    yield "#usda 1.0"
    yield "("
    yield f'    defaultPrim = "{mesh.name}"'
    yield f"    metersPerUnit = {space.unit!r}"
    yield '    upAxis = "Z"'
    yield f"    timeCodesPerSecond = {space.rate!r}"
    yield f"    framesPerSecond = {space.rate!r}"
    if mesh.frames:
        yield f"    startTimeCode = {mesh.frames[0]}"
        yield f"    endTimeCode = {mesh.frames[-1]}"
    yield ")"
    yield ""
    yield f'def Mesh "{mesh.name}"'
    yield "{"
    yield '    uniform token subdivisionScheme = "none"'
    yield f"    int[] faceVertexCounts = {_array('int', mesh.counts)}"
    yield f"    int[] faceVertexIndices = {_array('int', mesh.corners)}"
    yield f"    point3f[] points = {_array('point3f', mesh.rest)}"
    if mesh.frames:
        yield "    point3f[] points.timeSamples = {"
        for frame, points in zip(mesh.frames, mesh.points, strict=True):
            yield f"        {frame}: {_array('point3f', points)},"
        yield "    }"
    for one in mesh.painted:
        yield f'    {one.kind}[] primvars:{one.name} = {_array(one.kind, one.values)} (interpolation = "{one.on}")'
    yield "}"


def _array(kind: str, values: NDArray[np.generic]) -> str:
    """Numbers as USD's text has them; nine digits are all that single precision holds."""
    array = np.asarray(values)
    width = _TUPLES.get(kind, 1)
    one = "%d" if kind == "int" else "%.9g"
    item = one if width == 1 else "(" + ", ".join([one] * width) + ")"
    if kind != "int":
        array = array.astype(np.float32)
    flat = array.reshape(-1).tolist()
    return "[" + ", ".join([item] * (len(flat) // width)) % tuple(flat) + "]"
