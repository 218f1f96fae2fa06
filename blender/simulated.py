# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender simulates itself. It is right on a frame only where the frames before were shown one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import bpy


def go_to(scene: bpy.types.Scene, frame: int) -> None:
    """The scene on a frame; where something is simulated and not baked, played up to it: a jump would leave it as it
    began, or where it last was."""
    for k in range(min((frame, *_first_frames(scene))), frame + 1):
        scene.frame_set(k)


def _first_frames(scene: bpy.types.Scene) -> Iterator[int]:
    """On which the simulations of a scene begin; of all its objects, for one may move another."""
    for thing in scene.objects:
        for modifier in thing.modifiers:
            if modifier.show_viewport:
                yield from _of_modifier(scene, modifier)
    world = scene.rigidbody_world
    if world is not None and world.enabled:
        yield from _of_cache(world.point_cache)


def _of_modifier(scene: bpy.types.Scene, modifier: bpy.types.Modifier) -> Iterator[int]:
    match modifier.type:
        case "CLOTH" | "SOFT_BODY":
            yield from _of_cache(modifier.point_cache)
        case "PARTICLE_SYSTEM":
            yield from _of_cache(modifier.particle_system.point_cache)
        case "DYNAMIC_PAINT" if modifier.canvas_settings is not None:
            for surface in modifier.canvas_settings.canvas_surfaces:
                yield from _of_cache(surface.point_cache)
        case "NODES":
            for bake in modifier.bakes:
                if bake.node is not None and bake.node.bl_idname == "GeometryNodeSimulationOutput":
                    yield bake.frame_start if bake.use_custom_simulation_frame_range else scene.frame_start


def _of_cache(cache: bpy.types.PointCache) -> Iterator[int]:
    if not cache.is_baked and not cache.use_external:
        yield cache.frame_start
