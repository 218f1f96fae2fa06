"""A mesh's primitives become one shape: points as stored, triangles, what is painted on them, targets, influences."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Faces, Integers, Points, Vector
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset

from .accessors import VECTORS, Accessors
from .document import compressed
from .fields import Entry

_log = logging.getLogger(__name__)

_DRACO = "KHR_draco_mesh_compression"
_STRIP, _FAN, _TRIANGLES = 5, 6, 4
_SKIPPED = {0: "points", 1: "lines", 2: "lines", 3: "lines"}
_CORNERS_PER_BYTE = 16  # of all primitives together; a strip of bytes has three
_MOST_TARGETS = 20_000
_MOST_SETS = 16  # of four joints a point
_NUMBERED = re.compile(r"(TEXCOORD|COLOR|JOINTS|WEIGHTS)_(\d{1,3})")

_Key = tuple[tuple[tuple[str, int], ...], ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Points that primitives share: one set of stored arrays."""

    first: int
    """place of its first point in the whole mesh"""
    count: int
    attributes: Entry
    """semantic → accessor"""
    targets: tuple[Entry, ...]
    """a morph target each, semantic → accessor"""

    @property
    def span(self) -> slice:
        return slice(self.first, self.first + self.count)


@dataclass(frozen=True, eq=False)
class Shape:
    """A mesh as stored, before any node or skin moves it."""

    points: Points
    """(n, 3)"""
    faces: Faces
    """(f, 3)"""
    subsets: tuple[Subset, ...]
    blocks: tuple[Block, ...]
    target_count: int


def read_shape(accessors: Accessors, mesh: Entry) -> Shape:
    """All primitives of a mesh that are made of triangles; points of primitives that share them come once."""
    blocks: dict[_Key, Block] = {}
    faces: list[Faces] = []
    by_material: dict[int, list[Integers]] = {}
    done = 0
    for primitive in mesh.entries("primitives"):
        block = _block(accessors, primitive, blocks)
        if block is None:
            continue
        triangles = _triangles(accessors, primitive, block)
        faces.append(triangles + block.first)
        if primitive.has("material"):
            own = np.arange(done, done + len(triangles))
            by_material.setdefault(primitive.integer("material"), []).append(own)
        done += len(triangles)
        if 3 * done > _CORNERS_PER_BYTE * accessors.document.byte_count():
            primitive.refuse("the mesh has more triangles than the file's size explains", done)
    if done == 0:
        mesh.refuse("the mesh has no triangles", f"{mesh.count('primitives')} primitives", remedy="export its faces")
    every = tuple(blocks.values())
    points = np.concatenate([_positions(accessors, block) for block in every])
    subsets = tuple(_subsets(accessors, mesh, by_material))
    return Shape(points, np.concatenate(faces), subsets, every, max(len(block.targets) for block in every))


def read_attributes(accessors: Accessors, shape: Shape) -> list[Attribute]:
    """Texture coordinates, normals, colours and the artist's own, a row a point.

    glTF counts v from the top of a picture: here from the bottom, as the other formats do.
    """
    semantics = dict.fromkeys(name for block in shape.blocks for name in block.attributes.values)
    out = []
    for semantic in semantics:
        name = _attribute_name(semantic)
        if name is None:
            continue
        parts = [_painted(accessors, block, semantic) for block in shape.blocks]
        width = max((part.shape[1] for part in parts if part is not None), default=0)
        if width == 0:
            continue
        accessors.spend(shape.blocks[0].attributes, len(shape.points) * width)
        whole = np.full((len(shape.points), width), 1.0 if semantic.startswith("COLOR") else 0.0)
        for block, part in zip(shape.blocks, parts, strict=True):
            if part is None:
                _log.warning("%s: has no %s, which other parts have", block.attributes.where, semantic)
            else:
                whole[block.span, : part.shape[1]] = part
        if semantic.startswith("TEXCOORD"):
            whole[:, 1] = 1.0 - whole[:, 1]
        out.append(Attribute(name, Scope.POINT, whole[:, 0] if width == 1 else whole))
    return out


def influences(accessors: Accessors, block: Block, joints: int) -> tuple[Integers, Integers, Vector]:
    """(m,) point of the mesh, joint of the skin, and weight: weights of a point add up to 1."""
    sets = [
        k for k in range(_MOST_SETS) if block.attributes.has(f"JOINTS_{k}") and block.attributes.has(f"WEIGHTS_{k}")
    ]
    kinds, by = ("VEC4",), block.attributes
    joint = np.hstack([accessors.array(by.integer(f"JOINTS_{k}"), by, kinds, block.count) for k in sets])
    weight = np.hstack([accessors.floats(by.integer(f"WEIGHTS_{k}"), by, kinds, block.count) for k in sets])
    if joint.dtype.kind != "u":
        by.refuse("the joints of points are not whole numbers without a sign", str(joint.dtype))
    total = weight.sum(axis=1)
    worst = float(total[np.argmax(np.abs(total - 1.0))])
    if abs(worst - 1.0) > 0.01:
        _log.warning("%s: the skin's weights do not add up to 1 (worst %.4g); they are scaled", by.where, worst)
    weight[total == 0.0, 0] = 1.0  # a point no joint holds follows its first one
    weight /= np.where(total == 0.0, 1.0, total)[:, None]
    point, slot = np.nonzero(weight)
    used = joint[point, slot].astype(np.int64)
    if used.max(initial=0) >= joints:
        by.refuse("points follow joints the skin does not have", int(used.max()), f"0 to {joints - 1}")
    return point + block.first, used, weight[point, slot]


def is_skinned(block: Block) -> bool:
    """Whether a block's points follow joints."""
    return block.attributes.has("JOINTS_0") and block.attributes.has("WEIGHTS_0")


def target_pieces(
    accessors: Accessors, shape: Shape, target: int, semantic: str
) -> Iterator[tuple[slice, NDArray[np.generic]]]:
    """(points, (m, 3) displacement as stored) of a morph target, block by block."""
    for block in shape.blocks:
        if target < len(block.targets) and block.targets[target].has(semantic):
            entry = block.targets[target]
            yield block.span, accessors.array(entry.integer(semantic), entry, ("VEC3",), block.count)


def _block(accessors: Accessors, primitive: Entry, blocks: dict[_Key, Block]) -> Block | None:
    """The primitive's points, added to `blocks` unless they are there; None where it has no triangles."""
    mode = primitive.integer("mode", _TRIANGLES)
    if mode not in (_TRIANGLES, _STRIP, _FAN):
        if mode not in _SKIPPED:
            primitive.refuse("unknown 'mode'", mode, "0 to 6")
        _log.warning("%s: is made of %s; left out", primitive.where, _SKIPPED[mode])
        return None
    attributes = primitive.entry("attributes")
    if not attributes.has("POSITION"):
        if _DRACO in primitive.entry("extensions").values:
            raise compressed(primitive.where, _DRACO)
        _log.warning("%s: has no positions; left out", primitive.where)
        return None
    position = attributes.integer("POSITION")
    if _DRACO in primitive.entry("extensions").values and not accessors.has_bytes(position, attributes):
        raise compressed(primitive.where, _DRACO)
    stored = (attributes, *primitive.entries("targets"))
    key = tuple(tuple(sorted((name, one.integer(name)) for name in one.values)) for one in stored)
    if key not in blocks:
        last = next(reversed(blocks.values()), None)
        blocks[key] = _new_block(accessors, primitive, attributes, last.span.stop if last else 0)
    return blocks[key]


def _new_block(accessors: Accessors, primitive: Entry, attributes: Entry, first: int) -> Block:
    count = len(accessors.array(attributes.integer("POSITION"), attributes, ("VEC3",)))
    targets = tuple(primitive.entries("targets"))
    if len(targets) > _MOST_TARGETS:
        primitive.refuse("too many morph targets", len(targets), f"up to {_MOST_TARGETS}")
    if first + count > accessors.document.byte_count():
        primitive.refuse("the mesh has more points than the file has bytes", first + count)
    return Block(first, count, attributes, targets)


def _positions(accessors: Accessors, block: Block) -> Points:
    return accessors.floats(block.attributes.integer("POSITION"), block.attributes, ("VEC3",))


def _triangles(accessors: Accessors, primitive: Entry, block: Block) -> Faces:
    """(f, 3) points of the block. [glTF 2.0, 3.7.2.1]."""
    mode = primitive.integer("mode", _TRIANGLES)
    order = np.arange(block.count)
    if primitive.has("indices"):
        order = accessors.indices(primitive.integer("indices"), primitive, block.count)
    if mode == _TRIANGLES:
        if len(order) % 3:
            _log.warning("%s: %d corners are left over; left out", primitive.where, len(order) % 3)
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    k = np.arange(max(len(order) - 2, 0))
    if mode == _STRIP:
        return order[np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=1)]
    return order[np.stack([k + 1, k + 2, np.zeros_like(k)], axis=1)]


def _subsets(accessors: Accessors, mesh: Entry, by_material: dict[int, list[Integers]]) -> Iterator[Subset]:
    """A subset a material, unlike in name."""
    used: set[str] = set()
    for material, parts in by_material.items():
        name = accessors.document.entry("materials", material, mesh).text("name", "") or f"material_{material}"
        name = name if name not in used else f"{name}_{material}"
        used.add(name)
        yield Subset(name, np.concatenate(parts), "material")


def _attribute_name(semantic: str) -> str | None:
    """What an attribute is called here; None for those that are not carried."""
    if semantic == "NORMAL":
        return NORMALS
    match = _NUMBERED.fullmatch(semantic)
    if match and match[1] in ("TEXCOORD", "COLOR"):
        number = "" if int(match[2]) == 0 else str(int(match[2]))
        return (UV if match[1] == "TEXCOORD" else COLOUR) + number
    return semantic if semantic.startswith("_") and semantic.isprintable() else None


def _painted(accessors: Accessors, block: Block, semantic: str) -> Array | None:
    """(m, w) values of one semantic on a block's points."""
    by = block.attributes
    if not by.has(semantic):
        return None
    kinds = {"N": ("VEC3",), "T": ("VEC2",), "C": ("VEC3", "VEC4")}.get(semantic[0], VECTORS)
    if semantic.startswith("_") and accessors.kind(by.integer(semantic), by) not in kinds:
        _log.warning("%s: %s is made of matrices; left out", by.where, semantic)
        return None
    return accessors.floats(by.integer(semantic), by, kinds, block.count)
