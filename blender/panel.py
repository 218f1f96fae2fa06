# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the 3D view's sidebar."""

import textwrap

import bpy

from . import job
from .bridge import Refusal, lasting, versions
from .colouring import colours
from .hands import keyed_frames, shape_frames
from .materials import numbers_of, preset_value
from .operators import directed
from .scene import shot_names, takes_folder

_WIDTH = 48  # [letters] of a line of the panel
_RECENT = 12  # takes that have a button of their own
_NAMES = 0.4  # of a line, for the names of numbers, as Blender has it
_COLOURS = {"material": "Result", "force": "Force", "residual": "Residual", "regions": "Regions"}


class _Panel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "bunraku"


class BUNRAKU_PT_main(_Panel, bpy.types.Panel):
    """Run, and what came of it"""

    bl_idname = "BUNRAKU_PT_main"
    bl_label = "bunraku"

    def draw(self, context: bpy.types.Context) -> None:
        """Instrument, buttons, progress."""
        layout, guide = self.layout, directed(context)
        if guide is None:
            layout.label(text="Select a mesh to direct", icon="INFO")
        else:
            layout.label(text=guide.name, icon="OUTLINER_OB_MESH")
            layout.prop(guide.bunraku, "instrument")
        if job.current is not None:
            _progress(layout, job.current)
        elif guide is not None:
            row = layout.row(align=True)
            row.scale_y = 1.4
            row.operator("bunraku.run", text="Run", icon="PLAY").way = "FINAL"
            row.operator("bunraku.run", text="Quick", icon="MOD_TIME").way = "QUICK"
        if job.last is not None:
            _ending(layout, job.last, job.last_title)


class _Settings(_Panel):
    bl_parent_id = "BUNRAKU_PT_main"
    bl_options = {"DEFAULT_CLOSED"}
    instruments = ()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For the instruments that have such settings."""
        guide = directed(context)
        return guide is not None and (not cls.instruments or guide.bunraku.instrument in cls.instruments)

    def draw(self, context: bpy.types.Context) -> None:
        """The settings of the directed object."""
        layout, guide = self.layout, directed(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.enabled = job.current is None
        self.settings(context, layout, guide, guide.bunraku)


class BUNRAKU_PT_takes(_Settings, bpy.types.Panel):
    """Takes"""

    bl_label = "Takes"
    bl_options = set()

    def settings(self, context, layout, guide, told) -> None:
        """Which there are, and what of one is seen."""
        try:
            found = _takes(context, guide)
        except (Refusal, OSError) as error:  # a folder that may not be looked into
            _lines(layout, str(error))
            return
        shown = told.result.bunraku_result.take if told.result is not None else ""
        for name in found[:_RECENT]:
            row = layout.row()
            row.operator("bunraku.show_take", text=name, depress=name == shown).take = name
        if len(found) > _RECENT:
            layout.menu("BUNRAKU_MT_takes", text=f"Older takes: {len(found) - _RECENT}")
        layout.operator("bunraku.open_take", icon="FILE_FOLDER")
        if told.result is not None:
            row = layout.row(align=True)
            for of in ("material", *colours(told.result)):
                row.operator("bunraku.colour", text=_COLOURS[of]).of = of
            _scale(layout, told.result.bunraku_result)
            _said(layout, told.result.bunraku_result)


class BUNRAKU_MT_takes(bpy.types.Menu):
    """Those for which the panel has no room"""

    bl_label = "Older takes"

    def draw(self, context: bpy.types.Context) -> None:
        """One that is chosen is shown."""
        for name in _takes(context, directed(context))[_RECENT:]:
            self.layout.operator("bunraku.show_take", text=name).take = name


class BUNRAKU_PT_shell(_Settings, bpy.types.Panel):
    """The fine surface, and the scale at which it obeys"""

    bl_label = "Shell and scale"
    bl_options = set()
    instruments = ("TRACK",)

    def settings(self, context, layout, guide, told) -> None:
        """Shell, scale, pins."""
        layout.prop(told, "use_shell")
        if told.use_shell:
            layout.prop(told, "shell")
        layout.prop(told, "levels")
        layout.prop(told, "scale")
        if told.scale in ("COUNT", "METRES"):
            layout.prop(told, {"COUNT": "count", "METRES": "metres"}[told.scale])
            layout.prop(told, "compactness", slider=True)
            layout.prop(told, "seed")
        elif told.scale == "GROUPS":
            layout.prop(told, "prefix")
        elif told.scale == "ATTRIBUTE":
            layout.prop(told, "attribute")
        if told.scale != "NONE":
            layout.operator("bunraku.run", text="Show regions", icon="COLOR").way = "REGIONS"
            layout.prop(told, "strength", slider=True)
        layout.prop_search(told, "pinned", guide, "vertex_groups")
        if told.pinned:
            layout.prop(told, "pin_to")


class BUNRAKU_PT_soft(_Settings, bpy.types.Panel):
    """What moves a soft body"""

    bl_label = "Direction"
    bl_options = set()
    instruments = ("WRINKLE", "STEER", "PLAN")

    def settings(self, context, layout, guide, told) -> None:
        """By instrument."""
        {"WRINKLE": _wrinkle, "STEER": _steer, "PLAN": _plan}[told.instrument](layout, guide, told)


class BUNRAKU_PT_material(_Settings, bpy.types.Panel):
    """What it is made of"""

    bl_label = "Material"

    def settings(self, context, layout, guide, told) -> None:
        """Presets and their sliders."""
        if told.instrument == "TRACK":
            _material(layout, told, "material")
            return
        if told.instrument == "WRINKLE":
            _material(layout, told, "skin")
            layout.prop(told, "use_wavelength")
            if told.use_wavelength:
                layout.prop(told, "wavelength")
            layout.separator()
        _material(layout, told, "solid")
        layout.prop(told, "cell" if told.instrument == "WRINKLE" else "edge")


class BUNRAKU_PT_world(_Settings, bpy.types.Panel):
    """What it meets"""

    bl_label = "Contact and wind"
    instruments = ("TRACK", "WRINKLE", "STEER")

    def settings(self, context, layout, guide, told) -> None:
        """Contact, obstacles, wind."""
        layout.prop(told, "contact")
        part = layout.column()
        part.enabled = told.contact
        for name in ("obstacles", "friction", "use_thickness"):
            part.prop(told, name)
        if told.use_thickness:
            part.prop(told, "thickness")
        if told.instrument == "TRACK":
            layout.prop(told, "wind")


class BUNRAKU_PT_frames(_Settings, bpy.types.Panel):
    """When, and where to"""

    bl_label = "Frames and folder"

    def settings(self, context, layout, guide, told) -> None:
        """Frames, rest shape, steps, folder."""
        layout.prop(told, "use_range")
        if told.use_range:
            layout.prop(told, "first")
            layout.prop(told, "last")
        layout.prop(told, "preroll")
        layout.prop(told, "rest")
        if told.rest == "FRAME":
            layout.prop(told, "rest_frame")
        layout.prop(told, "substeps")
        layout.prop(told, "film")
        layout.prop(told, "shot")
        layout.prop(context.scene.bunraku, "folder")


def _takes(context: bpy.types.Context, guide: bpy.types.Object) -> list[str]:
    """All of an object, the newest first; also those from when it had another name."""
    shown = guide.bunraku.result
    own = shown is not None and shown.bunraku_result.guide == guide  # a duplicate names the other's result
    before = shown.bunraku_result.shots.splitlines() if own else []
    return versions(takes_folder(context.scene), dict.fromkeys([*shot_names(guide).values(), *before]))


def _scale(layout, shown) -> None:
    """What the lightest colours mean."""
    if shown.force or shown.residual:
        force = float(f"{shown.force:.3g}")  # 1430 and not 1.43e+03
        layout.label(text=f"Lightest: {force:g} N, {shown.residual:.2g} m", icon="COLOR")


def _said(layout, shown) -> None:
    """What the shown take's report says, where the end of the last run does not say it already."""
    last = job.last.folder if job.last is not None else None
    if shown.said and (last is None or [last.parent.name, last.name] != shown.take.split("/")):
        box = layout.box()
        box.label(text=shown.take, icon="INFO")
        for line in shown.said.splitlines():
            _lines(box, line)


def _wrinkle(layout, guide, told) -> None:
    layout.prop(told, "moved_by")
    if told.moved_by == "HOOKS":
        _hooks(layout, guide)


def _steer(layout, guide, told) -> None:
    frames = shape_frames(guide)
    layout.label(text=f"Shape keys on {_listed(frames)}" if frames else "No shape key is keyed", icon="SHAPEKEY_DATA")
    layout.prop(told, "poses")
    for one in told.poses.all_objects if told.poses is not None else ():
        if one not in (guide, told.result):
            layout.prop(one.bunraku, "pose_frame", text=one.name)
    layout.prop(told, "path")
    if told.path is not None:
        layout.prop(told, "turning")
    layout.prop(told, "lead")
    _hooks(layout, guide)


def _plan(layout, guide, told) -> None:
    _hooks(layout, guide)
    for name in ("modes", "velocities", "exact", "attach", "free", "use_ground"):
        layout.prop(told, name)
    if told.use_ground:
        layout.prop(told, "ground")


def _hooks(layout, guide) -> None:
    """Which there are, and on which frames they are keyed."""
    found = [one for one in guide.modifiers if one.type == "HOOK" and one.object is not None]
    for one in found:
        frames = keyed_frames(one.object)
        layout.label(text=f"{one.name}: {_listed(frames) if frames else 'held'}", icon="HOOK")
    if not found:
        layout.label(text="No hooks: Edit Mode, Vertex, Hooks", icon="INFO")


def _listed(frames: list[int]) -> str:
    return "frame " + ", ".join(map(str, frames[:8])) + (" …" if len(frames) > 8 else "")


def _material(layout, told, of: str) -> None:
    """Its numbers: the preset's, to be read, and the artist's own, to be changed."""
    material = getattr(told, of)
    layout.prop(material, "preset")
    for key, (name, _) in numbers_of(material).items():
        own, row = getattr(material, f"use_{key}"), layout.split(factor=_NAMES)
        row.use_property_split = False
        left, right = row.row(), row.row(align=True)
        left.alignment = "RIGHT"
        left.label(text=name)
        button = right.operator(
            "bunraku.own_number", text="", icon="CHECKBOX_HLT" if own else "CHECKBOX_DEHLT", emboss=False
        )
        button.of, button.key = of, key
        if own:
            right.prop(material, key, text="")
        else:
            right.label(text=f"{preset_value(material, key):g}")


def _progress(layout: bpy.types.UILayout, going: job.Job) -> None:
    now = going.run.progress
    left = "" if now.seconds_left is None else f", {lasting(now.seconds_left)} left"
    layout.label(text=going.title)
    layout.progress(factor=now.share, text=f"{now.text}{left}")
    layout.operator("bunraku.cancel", icon="X")
    for warning in going.told(now.warnings):
        _lines(layout, warning, "ERROR")


def _ending(layout: bpy.types.UILayout, ended: job.Ended, title: str) -> None:
    box = layout.box()
    if title:
        box.label(text=title)
    icons = {"done": "CHECKMARK" if ended.met is not False else "ERROR", "failed": "ERROR", "cancelled": "INFO"}
    for k, line in enumerate(ended.lines):
        _lines(box, line, icons[ended.how] if k == 0 else "NONE")
    for warning in ended.warnings:
        _lines(box, warning, "ERROR")


def _lines(layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """A sentence over as many lines as it takes."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(textwrap.wrap(text, _WIDTH)):
        column.label(text=line, icon=icon if k == 0 else "BLANK1" if icon != "NONE" else "NONE")


_CLASSES = (
    BUNRAKU_MT_takes, BUNRAKU_PT_main, BUNRAKU_PT_takes, BUNRAKU_PT_shell, BUNRAKU_PT_soft, BUNRAKU_PT_material,
    BUNRAKU_PT_world, BUNRAKU_PT_frames,
)  # fmt: skip


def register() -> None:
    """The panels."""
    for one in _CLASSES:
        bpy.utils.register_class(one)


def unregister() -> None:
    """The panels."""
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
