# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bunraku is run, and how one is installed."""

from pathlib import Path

import bpy
from bpy.props import IntProperty, StringProperty

from .bridge import Refusal
from .bridge.install import interpreter_of


class BunrakuPreferences(bpy.types.AddonPreferences):
    """The same for every .blend."""

    bl_idname = __package__

    interpreter: StringProperty(
        name="Python with bunraku", subtype="FILE_PATH",
        description="The Python in whose environment bunraku is installed; empty: the one that Install made",
    )  # fmt: skip
    threads: IntProperty(
        name="Threads", min=0, max=256,
        description="How many threads bunraku takes; 0: all. The bytes of a take depend on it",
    )  # fmt: skip
    source: StringProperty(
        name="Install from", subtype="FILE_PATH",
        description="The folder or the wheel of bunraku that Install is to take",
    )  # fmt: skip

    def draw(self, context: bpy.types.Context) -> None:
        """In Preferences, Get Extensions or Add-ons."""
        layout = self.layout
        layout.prop(self, "interpreter")
        layout.prop(self, "threads")
        box = layout.box()
        box.label(text=f"In an environment of its own: {environment()}")
        box.prop(self, "source")
        row = box.row()
        row.enabled = bpy.app.online_access
        row.operator("bunraku.install")
        if not bpy.app.online_access:
            box.label(text="Blender is offline: Preferences, System, Allow Online Access", icon="INFO")


def preferences() -> BunrakuPreferences:
    """This extension's."""
    return bpy.context.preferences.addons[__package__].preferences


def environment() -> Path:
    """Where Install makes its environment."""
    try:
        return Path(bpy.utils.extension_path_user(__package__, path="environment"))
    except ValueError:  # not installed as an extension
        return Path(bpy.utils.user_resource("DATAFILES", path="bunraku")) / "environment"


def interpreter() -> str:
    """The Python to run bunraku with."""
    named = preferences().interpreter
    if named:
        path = Path(bpy.path.abspath(named)).absolute()  # a link stays one: it says which environment is meant
        if not path.is_file():
            raise Refusal(f"{path}: there is no such Python; try: another one in the extension's preferences")
        return str(path)
    own = interpreter_of(environment())
    if not own.is_file():
        raise Refusal("no bunraku is known yet; try: name its Python in the extension's preferences, or Install there")
    return str(own)


def register() -> None:
    """The class."""
    bpy.utils.register_class(BunrakuPreferences)


def unregister() -> None:
    """The class."""
    bpy.utils.unregister_class(BunrakuPreferences)
