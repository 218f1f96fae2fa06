"""A sheet in Blender's cloth, in a process of its own: an order as JSON in, a result as JSON out.

Needs bpy and NumPy, nothing of bunraku. Blender's cloth is made of springs and has its own units, which free fall and
a sheet stretched by its weight have shown: a frame is one unit of time whatever the frame rate, gravity is a thousandth
of the scene's, a spring's stiffness is `tension` over the mean length of all edges, and a hinge's moment is
`bending` / 30 × edge length × height of its triangles × angle. Springs along a mesh of squares stretch like a sheet
whose E h is a spring's stiffness; D / cell is the hinge of a sheet rolled along its mesh. Every vertex weighs alike,
also at edges, so the sheet swings like one that is longer by half a cell. No damping, no drag.
"""

import json
import os
import sys
import time

import numpy as np

_MASS = 1000.0  # all masses and stiffnesses times this: small ones are rounded or bounded by the interface


def main():
    """Read, simulate, write."""
    order = json.load(sys.stdin)
    if order["threads"]:
        os.environ["OMP_NUM_THREADS"] = str(order["threads"])
    import bpy  # pyright: ignore[reportMissingImports]

    scene, sheet = set_up(bpy, order)
    frames, seconds, begun = [np.array(order["points"])], [], time.perf_counter()
    scene.frame_set(0)
    while len(seconds) < order["frames"] and time.perf_counter() - begun < order["limit"]:
        begin = time.perf_counter()
        scene.frame_set(len(seconds) + 1)
        made = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
        seconds.append(time.perf_counter() - begin)
        flat = np.empty(3 * len(made))
        made.foreach_get("co", flat)
        frames.append(y_up(flat.reshape(-1, 3)))
    np.save(order["out"], np.array(frames))
    told = {"seconds": seconds, "version": f"Blender {bpy.app.version_string}"}
    sys.stdout.write("\nRESULT " + json.dumps(told) + "\n")


def z_up(points):
    """From Y up."""
    x, y, z = np.array(points, dtype=float).T
    return np.stack([x, -z, y], axis=1)


def y_up(points):
    """From Z up."""
    x, y, z = points.T
    return np.stack([x, z, -y], axis=1)


def set_up(bpy, order):
    """An empty file with the sheet and the ball."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, frame = bpy.context.scene, 1.0 / order["rate"]
    scene.gravity = (0.0, 0.0, -order["gravity"] * frame**2 * 1000.0)
    scene.frame_start, scene.frame_end = 0, order["frames"]
    sheet = add(bpy, "sheet", order["points"], order["faces"])
    if order["ball"]:
        ball = add(bpy, "ball", order["ball"]["points"], order["ball"]["faces"])
        ball.modifiers.new("collision", "COLLISION")
        ball.collision.thickness_outer = 0.001
        ball.collision.cloth_friction = order["cloth"]["friction"]
        ball.collision.damping = 0.0
    cloth = sheet.modifiers.new("cloth", "CLOTH")
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 0, order["frames"]
    make_cloth(cloth.settings, order, frame)
    touch(cloth.collision_settings, order)
    if order["pins"]:
        sheet.vertex_groups.new(name="pins").add(order["pins"], 1.0, "REPLACE")
        cloth.settings.vertex_group_mass, cloth.settings.pin_stiffness = "pins", 1.0
    return scene, sheet


def add(bpy, name, points, faces):
    """A mesh in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(z_up(points).tolist(), [], faces)
    found = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(found)
    return found


def make_cloth(settings, order, frame):
    """Mass and stiffness in Blender's units."""
    cloth, cell, faces = order["cloth"], order["cell"], np.array(order["faces"])
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    ends = np.array(order["points"])[edges]
    mean = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()
    settings.quality = order["setting"]["substeps"]
    settings.mass = _MASS * cloth["weight"] * cell**2
    stiffness = _MASS * cloth["stretching"] * mean * frame**2
    settings.tension_stiffness = settings.compression_stiffness = settings.shear_stiffness = stiffness
    settings.bending_model = "ANGULAR"
    settings.bending_stiffness = _MASS * 30.0 * cloth["bending"] / cell**2 * frame**2
    settings.air_damping = settings.tension_damping = settings.compression_damping = 0.0
    settings.shear_damping = settings.bending_damping = 0.0


def touch(settings, order):
    """What it collides with."""
    settings.use_collision = bool(order["ball"])
    settings.distance_min = settings.self_distance_min = max(order["cloth"]["thickness"], 0.001)
    settings.friction = settings.self_friction = order["cloth"]["friction"]
    settings.damping = 0.0
    settings.use_self_collision = order["self_collision"]


if __name__ == "__main__":
    main()
