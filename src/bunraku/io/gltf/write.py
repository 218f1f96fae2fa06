"""Writing .glb: one mesh of triangles, its motion as one morph target a frame."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.contracts import Array, Integers, Points, Vector, input_error
from bunraku.geometry import NORMALS, Surface, triangulate

from .vertices import Vertices, as_vertices

_FLOAT, _SHORT, _INTEGER = 5126, 5123, 5125
_VERTEX_DATA, _INDEX_DATA = 34962, 34963
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_LARGEST_FILE = (1 << 32) - 1  # [bytes] a GLB keeps its length in 32 bits
_JSON_ROOM = 1024  # [bytes] JSON takes beside the arrays, and a target or frame adds


@dataclass(frozen=True, eq=False)
class _Binary:
    """The buffer of a .glb while it is filled, with the JSON that describes it."""

    where: str
    chunks: list[bytes] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """[bytes]"""
        return self.views[-1]["byteOffset"] + len(self.chunks[-1]) if self.views else 0

    def add(self, values: NDArray[Any], *, target: int | None = None, bounds: bool = False) -> int:
        """Put in an array (m,) or (m, w), float32 or whole numbers; gives its accessor."""
        floats = values.dtype.kind == "f"
        stored = values.astype("<f4" if floats else "<u2" if values.max(initial=0) < 0xFFFF else "<u4")
        if floats and not np.isfinite(stored).all():
            raise input_error("coordinates are not finite, or too large for glTF", where=self.where)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self.size, "byteLength": stored.nbytes}
        if target is not None:
            view["target"] = target
        data = stored.tobytes()
        if self.size + len(data) + _JSON_ROOM * (len(self.views) + 1) > _LARGEST_FILE:
            raise input_error(
                "would be larger than 4 GB, the largest GLB there is", where=self.where,
                remedy="write fewer frames, or USD",
            )  # fmt: skip
        self.views.append(view)
        self.chunks.append(data + b"\0" * (-len(data) % 4))
        kind = _FLOAT if floats else {2: _SHORT, 4: _INTEGER}[stored.itemsize]
        accessor = {"bufferView": len(self.views) - 1, "componentType": kind, "count": len(stored),
                    "type": _TYPES[1 if stored.ndim == 1 else stored.shape[1]]}  # fmt: skip
        if bounds:
            low, high = stored.min(axis=0), stored.max(axis=0)
            accessor |= {"min": np.atleast_1d(low).tolist(), "max": np.atleast_1d(high).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def format_glb(
    surface: Surface,
    frames_points: Array | Iterable[Points],
    times: ArrayLike,
    name: str = "shell",
    *,
    frames_normals: Array | Iterable[Points] | None = None,
    origin: ArrayLike = (0.0, 0.0, 0.0),
) -> bytes:
    """The bytes of a GLB: `surface` [m, Y-up], moved through points (t, n, 3) at times (t,) [s], increasing from 0.

    Polygons become triangles. Points with several values of a corner attribute are split: the first n points stay
    what they are, further ones follow. Polygons are grouped by the material they belong to, and turned where the
    surface is left-handed. Points are float32 about `origin` (3,) [m], the node's translation. One frame gives a
    still mesh. `frames_normals` (t, n, 3) shades the frames of a surface that has normals; without it they are lit
    as at rest.
    """
    with np.errstate(all="ignore"):
        return _format(surface, frames_points, _checked(times, name), name, frames_normals, np.asarray(origin, float))


def _format(
    surface: Surface, frames_points: Iterable[Points], times: Vector, name: str,
    frames_normals: Iterable[Points] | None, origin: Vector,
) -> bytes:  # fmt: skip
    frames, shading = iter(frames_points), None if frames_normals is None else iter(frames_normals)
    base = surface.points
    if len(times) == 1:
        base = _next(frames, base, 0, len(times), name)
    vertices, binary = as_vertices(surface), _Binary(name)
    rest = _float32(base[vertices.points] - origin)
    attributes = {"POSITION": binary.add(rest, target=_VERTEX_DATA, bounds=True)}
    normals = None
    for semantic, values in vertices.attributes.items():
        normals = values if semantic == "NORMAL" else normals
        attributes[semantic] = binary.add(values, target=_VERTEX_DATA)
    targets: list[dict[str, int]] = []
    for k in range(len(times) if len(times) > 1 else 0):
        moved = _next(frames, base, k, len(times), name)[vertices.points] - origin
        target = {"POSITION": binary.add(moved - rest, target=_VERTEX_DATA, bounds=True)}
        if shading is not None and normals is not None:
            lit = _next(shading, base, k, len(times), f"{name}, {NORMALS}")[vertices.points]
            target["NORMAL"] = binary.add(lit - normals, target=_VERTEX_DATA)
        targets.append(target)
    if next(frames, None) is not None:
        raise input_error("there are more frames than times", where=name, allowed=str(len(times)))
    mesh, materials = _mesh(surface, vertices, binary, attributes, targets, name)
    document = _document(mesh, materials, origin, name)
    if targets:
        document["animations"] = [_animation(binary, times, name)]
    return _packed(document, binary)


def _checked(times: ArrayLike, name: str) -> Vector:
    """(t,) times as float32 keeps them, refused where they do not increase from 0 or later."""
    stored = np.asarray(times, np.float32).reshape(-1).astype(np.float64)
    if not len(stored) or not np.isfinite(stored).all() or stored[0] < 0 or (np.diff(stored) <= 0).any():
        raise input_error(
            "the times must increase, from 0 or later", where=name, got=f"{len(stored)} times",
            allowed="one or more seconds that differ by more than float32 rounding",
        )  # fmt: skip
    return stored


def _next(frames: Iterator[Points], like: Points, k: int, count: int, name: str) -> Points:
    """Frame k, of the shape it must have."""
    frame = next(frames, None)
    if frame is None or np.shape(frame) != like.shape:
        raise input_error(
            f"frame {k} of {count} is missing or has another shape", where=name,
            got=None if frame is None else np.shape(frame), allowed=str(like.shape),
        )  # fmt: skip
    return np.asarray(frame, np.float64)


def _float32(x: Array) -> Array:
    """Numbers as float32 keeps them."""
    return x.astype(np.float32).astype(np.float64)


def _mesh(
    surface: Surface, vertices: Vertices, binary: _Binary, attributes: dict[str, int], targets: list[dict[str, int]],
    name: str,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # fmt: skip
    """The mesh's JSON, a primitive a material, and the materials'."""
    cut = triangulate(surface.points, surface.counts, surface.corners)
    faces = vertices.corners[cut.corners]
    faces = faces[:, ::-1] if surface.left_handed else faces
    if not len(faces):
        raise input_error("the surface has no polygons", where=name, got=surface.shape_in_words())
    material, names = _materials(surface)
    primitives = []
    for k in range(-1, len(names)):
        own = faces[material[cut.polygons] == k]
        if not len(own):
            continue
        primitive: dict[str, Any] = {"attributes": attributes, "mode": 4}
        primitive["indices"] = binary.add(own.reshape(-1), target=_INDEX_DATA)
        primitive |= {"material": k} if k >= 0 else {}
        primitive |= {"targets": targets} if targets else {}
        primitives.append(primitive)
    mesh: dict[str, Any] = {"name": name, "primitives": primitives}
    if targets:
        mesh["weights"] = [0.0] * len(targets)
        mesh["extras"] = {"targetNames": [f"frame_{k}" for k in range(len(targets))]}
    return mesh, [{"name": one} for one in names]


def _materials(surface: Surface) -> tuple[Integers, list[str]]:
    """(p,) material of each polygon, -1 for none (the first subset that names it counts), and their names."""
    subsets = [one for one in surface.subsets if one.family == "material"]
    out = np.full(surface.polygon_count, -1)
    for k in reversed(range(len(subsets))):
        out[subsets[k].polygons] = k
    return out, [one.name for one in subsets]


def _animation(binary: _Binary, times: Vector, name: str) -> dict[str, Any]:
    """Weights that show frame k alone at its time, and a straight line between neighbours."""
    if 4 * len(times) ** 2 > _LARGEST_FILE:
        raise input_error("too many frames for a GLB", where=name, got=len(times), remedy="write fewer frames, or USD")
    moments = binary.add(times, bounds=True)
    weights = binary.add(np.eye(len(times), dtype=np.float32).reshape(-1))
    return {
        "name": name,
        "samplers": [{"input": moments, "output": weights, "interpolation": "LINEAR"}],
        "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
    }


def _document(mesh: dict[str, Any], materials: list[dict[str, Any]], origin: Vector, name: str) -> dict[str, Any]:
    node: dict[str, Any] = {"name": name, "mesh": 0}
    if origin.any():
        node["translation"] = origin.tolist()
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "bunraku"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [node], "meshes": [mesh],
    }  # fmt: skip
    return document | ({"materials": materials} if materials else {})


def _packed(document: dict[str, Any], binary: _Binary) -> bytes:
    """The file: header, JSON padded with spaces, buffer padded with zeros."""
    body = b"".join(binary.chunks)
    document |= {"buffers": [{"byteLength": len(body)}], "bufferViews": binary.views, "accessors": binary.accessors}
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(body)
    if total > _LARGEST_FILE:
        raise input_error("would be larger than 4 GB, the largest GLB there is", where=binary.where)
    head = struct.pack("<4sII", b"glTF", 2, total)
    return b"".join([
        head, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(body), b"BIN\0"), body,
    ])  # fmt: skip
