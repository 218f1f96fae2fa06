# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as Blender shows them, frame by frame, as meshes in world space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

import bpy
import numpy as np

from .bridge import Painted, Refusal, StageMesh
from .simulated import go_to

MATERIAL = "bunraku_material"
"""what says on a stage which of an object's materials a polygon has"""
_SHAPES = ("MESH", "CURVE", "SURFACE", "META", "FONT")

Painter = Callable[[bpy.types.Object, bpy.types.Mesh], Sequence[Painted]]


@dataclass
class Wanted:
    """An object to be captured."""

    thing: bpy.types.Object
    name: str
    """of its prim"""
    moving: bool = True
    """whether it is written on every frame, or only where it moves"""
    paint: Painter | None = None
    """what is painted on its evaluated mesh, besides texture coordinates and materials"""
    let_go: Sequence[bpy.types.Modifier] = ()
    """its modifiers that are off while it is at rest"""
    shape: _Shape | None = None
    points: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class _Shape:
    points: int
    counts: np.ndarray
    corners: np.ndarray
    order: np.ndarray
    """(c,) which corner of Blender's each corner is"""
    painted: tuple[Painted, ...]


def capture(
    context: bpy.types.Context, wanted: Sequence[Wanted], frames: range, resting: AbstractContextManager[None],
    seen: Callable[[bpy.types.Depsgraph], None] = lambda graph: None,
) -> list[StageMesh]:  # fmt: skip
    """The objects on some frames, and as they are while the scene is `resting`. It is then as it was before.

    `seen` looks at each frame, too.
    """
    scene = context.scene
    with ExitStack() as stack:
        stack.enter_context(_frame_kept(scene))
        for one in wanted:
            stack.enter_context(_shown(context, one.thing))
        manager = context.window_manager
        manager.progress_begin(0, len(frames))
        stack.callback(manager.progress_end)
        with resting:
            shapes = [_posed(context, one, "at rest") for one in wanted]
        go_to(scene, frames[0])
        for k, frame in enumerate(frames):
            scene.frame_set(frame)
            for one in wanted:
                one.points.append(_posed(context, one, f"on frame {frame}"))
            seen(context.evaluated_depsgraph_get())
            manager.progress_update(k)
    return [_stage_mesh(one, points, frames) for one, points in zip(wanted, shapes, strict=True)]


def armatures(thing: bpy.types.Object) -> list[bpy.types.Object]:
    """Those that deform an object, or that it hangs on: by its modifiers and as its parent."""
    by = [modifier.object for modifier in thing.modifiers if modifier.type == "ARMATURE"]
    return [one for one in (*by, thing.parent) if one is not None and one.type == "ARMATURE"]


@contextmanager
def resting(
    scene: bpy.types.Scene, frame: int, posed: Sequence[bpy.types.Object] = (),
    let_go: Sequence[bpy.types.Modifier] = (),
) -> Iterator[None]:  # fmt: skip
    """While held, the scene is on a frame, the armatures that deform some objects are in their rest position, and some
    modifiers are off."""
    found = {one.data for thing in posed for one in armatures(thing)}
    before = {armature: armature.pose_position for armature in found}
    for armature in found:
        armature.pose_position = "REST"
    for modifier in let_go:
        modifier.show_viewport = False
    try:
        go_to(scene, frame)
        yield
    finally:
        for modifier in let_go:
            modifier.show_viewport = True
        for armature, position in before.items():
            armature.pose_position = position


def _stage_mesh(one: Wanted, rest: np.ndarray, frames: range) -> StageMesh:
    shape = one.shape
    assert shape is not None
    still = not one.moving and all(np.array_equal(points, rest) for points in one.points)
    return StageMesh(
        one.name, shape.counts, shape.corners, rest, [] if still else list(frames), [] if still else one.points,
        shape.painted,
    )  # fmt: skip


def _posed(context: bpy.types.Context, one: Wanted, when: str) -> np.ndarray:
    """(n, 3) in the world now; what does not move is looked at the first time, and must stay."""
    graph = context.evaluated_depsgraph_get()
    shown = one.thing.evaluated_get(graph)
    mesh = shown.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
    try:
        if mesh is None or not len(mesh.polygons):
            raise Refusal(f"{one.thing.name!r} has no faces {when}; try: an object with a surface")
        matrix = np.array(shown.matrix_world, dtype=np.float64)
        if one.shape is None:
            one.shape = _shape(one, mesh, mirrored=np.linalg.det(matrix[:3, :3]) < 0.0)
        elif (len(mesh.vertices), len(mesh.loops)) != (one.shape.points, len(one.shape.corners)):
            raise Refusal(
                f"the mesh of {one.thing.name!r} changes {when}: {len(mesh.vertices)} points and {len(mesh.loops)} "
                "corners; try: switch off the modifier that adds or removes geometry"
            )
        elif not np.array_equal(_corners(mesh)[one.shape.order], one.shape.corners):
            raise Refusal(
                f"the faces of {one.thing.name!r} change {when}; try: switch off the modifier that makes new faces, "
                "or let Triangulate split quads in a fixed way"
            )
        flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        return flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    finally:
        shown.to_mesh_clear()


def _shape(one: Wanted, mesh: bpy.types.Mesh, *, mirrored: bool) -> _Shape:
    counts, corners = np.empty(len(mesh.polygons), np.int32), _corners(mesh)
    mesh.polygons.foreach_get("loop_total", counts)
    order = np.arange(len(corners))
    if (
        mirrored
    ):  # Blender turns faces over in drawing where a matrix mirrors; in the world they are wound the other way
        first = np.repeat(np.cumsum(counts) - counts, counts)
        order = first + np.repeat(counts, counts) - 1 - (order - first)
    painted = [*_texture(mesh, order), *_materials(mesh), *(one.paint(one.thing, mesh) if one.paint else ())]
    return _Shape(len(mesh.vertices), counts, corners[order], order, tuple(painted))


def _corners(mesh: bpy.types.Mesh) -> np.ndarray:
    """(c,) the point of each corner."""
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners


def _texture(mesh: bpy.types.Mesh, order: np.ndarray) -> list[Painted]:
    layer = mesh.uv_layers.active
    if layer is None:
        return []
    flat = np.empty(2 * len(mesh.loops), dtype=np.float32)
    layer.uv.foreach_get("vector", flat)
    return [Painted("st", "texCoord2f", "faceVarying", flat.reshape(-1, 2)[order])]


def _materials(mesh: bpy.types.Mesh) -> list[Painted]:
    index = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("material_index", index)
    return [Painted(MATERIAL, "int", "uniform", index)] if index.any() else []


@contextmanager
def _frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, part = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=part)


@contextmanager
def _shown(context: bpy.types.Context, thing: bpy.types.Object) -> Iterator[None]:
    """Blender does not pose what is hidden: the object is shown meanwhile."""
    if thing.type not in _SHAPES:
        raise Refusal(f"{thing.name!r} has no surface; try: a mesh")
    if thing.mode == "EDIT":
        thing.update_from_editmode()
    if thing.name not in context.view_layer.objects:
        raise Refusal(f"{thing.name!r} is not in the view layer {context.view_layer.name!r}; try: link it to the scene")
    hidden, off = thing.hide_get(), thing.hide_viewport
    thing.hide_viewport = False
    if hidden:
        thing.hide_set(False)
    try:
        context.view_layer.update()
        if not thing.visible_get():
            raise Refusal(f"{thing.name!r} is in a collection that is hidden or excluded; try: show the collection")
        yield
    finally:
        thing.hide_viewport = off
        if hidden:
            thing.hide_set(True)
