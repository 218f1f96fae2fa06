# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting, on the object that is directed; saved in the .blend."""

import bpy

from .materials import ShellMaterial, SkinMaterial, SolidMaterial
from .properties import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

INSTRUMENTS = (
    ("TRACK", "Track", "A thin shell obeys this animation at a scale and is free below it"),
    ("WRINKLE", "Wrinkle", "A stiff skin on something soft wrinkles where hooks, or its animation, press it"),
    ("STEER", "Steer", "An elastic body passes near its shape keys, and goes exactly along a path"),
    ("PLAN", "Plan", "A motion by the least force through where hooks are on the frames they are keyed"),
)
SCALES = (
    ("COUNT", "Regions", "So many regions that follow the animation: few are loose, many are tight"),
    ("METRES", "Metres", "What is larger than this obeys the animation, what is smaller is free"),
    ("GROUPS", "Vertex groups", "Every vertex group of a prefix is a region; each vertex is in its heaviest"),
    ("ATTRIBUTE", "Attribute", "Points or faces with the same whole number are a region; below zero they are free"),
    ("VERTICES", "Around each vertex", "The average around each vertex of the guide is met"),
    ("NONE", "Nothing", "A plain simulation that begins as the guide does"),
)
RESTS = (
    ("FIRST", "First frame", "Without stress it is as on the first frame"),
    ("FRAME", "Frame", "Without stress it is as on this frame"),
    ("POSE", "Armatures at rest", "Without stress it is as its armatures' rest position has it"),
)
MOVERS = (
    ("HOOKS", "Hooks", "Each hook takes its points along; all else is soft"),
    ("ANIMATION", "Animation", "The body is where its animation has it, and its skin wrinkles"),
)
PINS = (("guide", "Guide", "Pinned points go with the guide"), ("start", "Start", "Pinned points stay"))


class ObjectSettings(bpy.types.PropertyGroup):
    """How an object is directed, by any instrument."""

    instrument: EnumProperty(name="Instrument", items=INSTRUMENTS)
    shot: StringProperty(
        name="Shot", description="Name of its shot and of the folder of its takes; empty: the object's"
    )
    use_range: BoolProperty(name="Own frames", description="Other frames than the scene's")
    first: IntProperty(name="First", default=1)
    last: IntProperty(name="Last", default=24)
    preroll: IntProperty(
        name="Preroll", min=0, max=100000,
        description="Frames before the first that lead from the rest shape to it; simulated, not shown",
    )  # fmt: skip
    rest: EnumProperty(name="Rest shape", items=RESTS)
    rest_frame: IntProperty(name="Frame", default=1)

    use_shell: BoolProperty(name="Another object", description="The shell is another mesh that lies on this one")
    shell: PointerProperty(name="Shell", type=bpy.types.Object)
    levels: IntProperty(
        name="Levels", default=2, min=0, max=8, description="How often each triangle is split into four"
    )
    scale: EnumProperty(name="Scale", items=SCALES, default="VERTICES")
    count: IntProperty(name="Regions", default=40, min=1, max=1_000_000)
    metres: FloatProperty(
        name="Metres", default=0.2, min=1e-6, soft_max=10.0, description="In metres, whatever the scene's unit"
    )
    prefix: StringProperty(
        name="Prefix", default="region", description="Vertex groups whose names begin so are regions"
    )
    attribute: StringProperty(name="Attribute", default="regions")
    compactness: FloatProperty(name="Compactness", default=0.5, min=0.0, max=1.0)
    seed: IntProperty(name="Seed", min=0)
    strength: FloatProperty(name="Strength", default=1.0, min=0.0, max=1.0, description="1 obeys exactly, 0 not at all")
    material: PointerProperty(type=ShellMaterial)
    pinned: StringProperty(name="Pinned", description="Vertex group of the points that are held")
    pin_to: EnumProperty(name="To", items=PINS)

    solid: PointerProperty(type=SolidMaterial)
    skin: PointerProperty(type=SkinMaterial)
    edge: FloatProperty(
        name="Tetrahedra", min=0.0, precision=3, description="Their edges, in metres; 0: a tenth of the body's size"
    )
    moved_by: EnumProperty(name="Moved by", items=MOVERS)
    use_wavelength: BoolProperty(
        name="Own wavelength", description="How long waves are, and the skin's thickness follows"
    )
    wavelength: FloatProperty(name="Wavelength", default=0.05, min=1e-6, precision=4, description="In metres")
    cell: FloatProperty(
        name="Cells", min=0.0, precision=3, description="Of the inside, in metres; 0: a tenth of the body's size"
    )
    poses: PointerProperty(
        name="Poses", type=bpy.types.Collection, description="Posed duplicates, each the body's shape on its own frame"
    )
    pose_frame: IntProperty(name="Frame", default=1, description="On which this duplicate is the body's shape")
    path: PointerProperty(
        name="Path", type=bpy.types.Object,
        description="Where the middle of the body goes: an animated object, or a curve that is gone along evenly",
    )  # fmt: skip
    turning: BoolProperty(name="Turning", description="The body turns as the path's object does")
    lead: BoolProperty(name="On time", description="Keys are told earlier, found by a few runs, for the body is late")
    modes: IntProperty(name="Modes", default=30, min=1, max=2000, description="Shapes that the motion is made of")
    velocities: BoolProperty(name="Velocities", description="Keys also ask for the velocities their hooks have then")
    exact: BoolProperty(name="Exactly", description="Keys are met exactly, as far as the modes can")
    attach: BoolProperty(name="Attach", description="More shapes, that reach keys which the modes cannot")
    free: BoolProperty(name="Free ends", description="It begins and ends anywhere, instead of at rest")
    use_ground: BoolProperty(name="Ground", description="Nothing of it goes below a height, but for what is fixed")
    ground: FloatProperty(name="Height", description="In metres")

    contact: BoolProperty(name="Contact", description="It feels itself and the obstacles")
    obstacles: PointerProperty(
        name="Obstacles", type=bpy.types.Collection, description="Meshes that it cannot pass through"
    )
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, soft_max=1.0)
    use_thickness: BoolProperty(
        name="Own gap", description="Another gap between surfaces than the material's thickness"
    )
    thickness: FloatProperty(name="Gap", default=0.002, min=0.0, precision=4, description="In metres")
    wind: BoolProperty(name="Wind", description="The scene's wind fields blow on it")
    substeps: IntProperty(name="Steps a frame", default=2, min=1, max=10000)
    film: BoolProperty(name="Film", description="Also render a preview into the take's folder")

    result: PointerProperty(name="Result", type=bpy.types.Object, description="What shows the takes of this object")


class ResultSettings(bpy.types.PropertyGroup):
    """What a result is of."""

    guide: PointerProperty(name="Guide", type=bpy.types.Object)
    take: StringProperty(name="Take", description="The take that is shown")
    shots: StringProperty(name="Shots", description="Names of the shots whose takes were shown here, one a line")
    said: StringProperty(name="Said", description="What its report says, a sentence a line")
    force: FloatProperty(name="Force", description="The largest force of direction [N], which has the lightest colour")
    residual: FloatProperty(name="Residual", description="The largest residual [m], which has the lightest colour")


class SceneSettings(bpy.types.PropertyGroup):
    """Of all shots of a scene."""

    folder: StringProperty(
        name="Folder", subtype="DIR_PATH", default="//bunraku",
        description="Shots, what they are made of, and takes; // is beside the .blend",
    )  # fmt: skip


_CLASSES = (ObjectSettings, ResultSettings, SceneSettings)


def register() -> None:
    """The groups, where they belong."""
    for one in _CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Object.bunraku = PointerProperty(type=ObjectSettings)
    bpy.types.Object.bunraku_result = PointerProperty(type=ResultSettings)
    bpy.types.Scene.bunraku = PointerProperty(type=SceneSettings)


def unregister() -> None:
    """What `register` did; the values stay in the .blend."""
    del bpy.types.Scene.bunraku, bpy.types.Object.bunraku_result, bpy.types.Object.bunraku
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
