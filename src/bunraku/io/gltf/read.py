"""Reading glTF: one mesh of a file, moved by one of its animations, as points in the world."""

from __future__ import annotations

import difflib
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Vector, input_error
from bunraku.geometry import NORMALS, Attribute, Surface, of_triangles
from bunraku.io.clip import DEFAULT_RATE, check_rate

from .accessors import Accessors
from .animation import STILL, Motion, key_times, read_motion
from .bake import Body, bake, read_body, rest_pose
from .document import Document, named_file, read_document
from .fields import Entry
from .mesh import Shape, read_attributes, read_shape
from .tree import Tree, find_mesh, mesh_paths, read_tree

_log = logging.getLogger(__name__)

_RATES = (12, 240)  # [1/s] key spacings that are taken for a frame rate
_ON_FRAME = 0.02  # [frames] how near a key is to the frame it means
_MOST_FRAMES = 20_000
_MOST_BYTES = 4 << 30  # of baked points


@dataclass(frozen=True, eq=False)
class GltfRecording:
    """A mesh of a glTF file and its motion, in the world: metres, Y-up."""

    surface: Surface
    """the file's own pose, without animation; points in the order stored"""
    prim_path: str
    """'/Armature/body': names of the mesh's node and its ancestors"""
    frames: Vector
    """(t,) frame numbers from 0"""
    points: Array
    """(t, n, 3) [m] as the file gives them, finite or not"""
    rate: float
    """[frames/s]; frame k is at k / rate"""


def read_gltf(
    path: Path, prim: str | None = None, limit: int | None = None, *, clip: str | None = None, rate: float | None = None
) -> GltfRecording:
    """The file's only mesh, or the one at, under or ending in `prim`, baked; the first `limit` frames.

    `clip` names one of the file's animations: its only one where not given. (With `limit` 1, which asks for no
    motion, several animations and no `clip` give the pose without animation.) `rate` [frames/s] is that of the keys
    where not given, else 24. A file without animations gives one frame.
    """
    if rate is not None:
        check_rate(rate, str(path))
    with np.errstate(all="ignore"):  # what is not finite is the caller's to judge, by frame
        return _read(read_document(path), prim, limit, clip, rate)


def gltf_files(path: Path) -> list[Path]:
    """The file and the buffers it names."""
    document = read_document(path)
    found = {path.resolve()}
    for buffer in document.root.entries("buffers"):
        uri = buffer.values.get("uri")
        if isinstance(uri, str) and uri[:5].lower() != "data:":
            found.add(named_file(path, buffer, uri).resolve())
    return sorted(found)


def gltf_meshes(path: Path) -> list[str]:
    """The paths of the file's meshes."""
    return list(mesh_paths(read_tree(read_document(path))))


def _read(
    document: Document, prim: str | None, limit: int | None, clip: str | None, rate: float | None
) -> GltfRecording:
    accessors, tree = Accessors(document), read_tree(document)
    node, prim_path = find_mesh(tree, document.path, prim)
    entry = tree.node(node)
    if "EXT_mesh_gpu_instancing" in entry.entry("extensions").values:
        _log.warning("%s: its instances (EXT_mesh_gpu_instancing) are left out", entry.where)
    mesh = document.entry("meshes", entry.integer("mesh"), entry)
    shape = read_shape(accessors, mesh)
    body = read_body(accessors, tree, node, mesh, shape)
    motion, frames, chosen_rate = chosen_motion(accessors, tree, body, clip, rate, limit)
    surface = _surface(accessors, shape, body, tree)
    points = (
        surface.points[None].copy() if motion is STILL else bake(accessors, tree, body, motion, frames / chosen_rate)
    )
    return GltfRecording(surface, prim_path, frames, points, float(chosen_rate))


def chosen_motion(
    accessors: Accessors, tree: Tree, body: Body, clip: str | None, rate: float | None, limit: int | None = None
) -> tuple[Motion, Vector, float]:
    """The animation that is meant, the numbers (t,) of its frames and their rate [frames/s]."""
    animation, shape = _choose(accessors, clip, limit), body.shape
    if animation is None:
        return STILL, np.zeros(1), rate or DEFAULT_RATE
    motion = read_motion(accessors, animation, tree, tree.lineage(body.joints), shape.target_count)
    keys = key_times(accessors, animation)
    chosen_rate = rate or _rate_of(keys)
    return motion, _frames(animation, float(keys[-1]), chosen_rate, limit, len(shape.points)), float(chosen_rate)


def _surface(accessors: Accessors, shape: Shape, body: Body, tree: Tree) -> Surface:
    """The mesh where nothing is animated, with what is painted on it."""
    attributes = read_attributes(accessors, shape)
    stored = next((np.asarray(one.values, np.float64) for one in attributes if one.name == NORMALS), None)
    points, normals, mirrored = rest_pose(accessors, tree, body, stored)
    if normals is not None:
        attributes = [Attribute(NORMALS, one.scope, normals) if one.name == NORMALS else one for one in attributes]
    surface = of_triangles(points, shape.faces, attributes)
    return replace(surface, subsets=shape.subsets, left_handed=mirrored)


def _choose(accessors: Accessors, clip: str | None, limit: int | None) -> Entry | None:
    """The animation that is meant: the only one, or the one named."""
    root, path = accessors.document.root, str(accessors.document.path)
    named = _named(root.entries("animations"))
    if clip is None:
        if len(named) > 1 and limit != 1:
            raise input_error(
                "holds several animations", where=path, got=_listing(accessors, named),
                remedy=f"name one: clip={next(iter(named))!r}",
            )  # fmt: skip
        return next(iter(named.values())) if len(named) == 1 else None
    if clip in named:
        return named[clip]
    if not named:
        raise input_error("has no animations", where=path, got=clip, remedy="leave clip out")
    by_case = {name.lower(): name for name in list(named)[:1000]}
    near = difflib.get_close_matches(clip.lower()[:200], by_case, n=1)
    raise input_error(
        "has no such animation", where=path, got=clip, allowed=_listing(accessors, named),
        remedy=f"did you mean {by_case[near[0]]!r}?" if near else "name one of them",
    )  # fmt: skip


def _named(animations: Sequence[Entry]) -> dict[str, Entry]:
    """Animations under unlike names."""
    out: dict[str, Entry] = {}
    for k, animation in enumerate(animations):
        name = animation.text("name", "")[:200] or f"animation_{k}"
        out[name if name not in out else f"{name}_{k}"] = animation
    return out


def _listing(accessors: Accessors, named: dict[str, Entry]) -> str:
    """'Walk (0.71 s), Run (1.16 s)'."""
    texts = [f"{name} ({key_times(accessors, one)[-1]:.2f} s)" for name, one in list(named.items())[:20]]
    return ", ".join(texts) + (f" and {len(named) - 20} more" if len(named) > 20 else "")


def _rate_of(keys: Vector) -> float:
    """The frame rate [1/s] on whose frames all keys lie: a whole number, else 24."""
    steps = np.diff(keys)
    rate = round(1.0 / max(float(steps.min()), 1e-6)) if len(steps) else 0
    on_frames = np.abs(keys * rate - np.round(keys * rate)).max() <= _ON_FRAME
    return float(rate) if _RATES[0] <= rate <= _RATES[1] and on_frames else DEFAULT_RATE


def _frames(animation: Entry, duration: float, rate: float, limit: int | None, points: int) -> Vector:
    """(t,) numbers of the frames from time 0 to the last key."""
    last = max(duration, 0.0) * rate + _ON_FRAME
    count = math.floor(min(last, 1e15)) + 1
    count = count if limit is None else max(1, min(count, limit))
    most = max(1, min(_MOST_FRAMES, _MOST_BYTES // (24 * points)))
    if count > most:
        animation.refuse(
            "the animation gives too many frames", f"{duration:.6g} s, {count} frames of {points} points",
            f"up to {most} frames", "give a lower rate=, or cut the animation",
        )  # fmt: skip
    return np.arange(count, dtype=np.float64)
