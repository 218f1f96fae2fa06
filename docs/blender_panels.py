"""Run by Blender's Python: what the extension's panels lay out at the steps of docs/blender.md, as JSON.

blender_panels.py EXTENSION.zip PYTHON_WITH_BUNRAKU FOLDER
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ZIP, INTERPRETER, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / ".blender")  # nobody's own settings

import bpy  # noqa: E402

EXTENSION = "bl_ext.user_default.bunraku"
SEEN = 9  # frames that are made when the panel of a run is looked at


class Layout:
    """Stands for Blender's, which exists only while a window is drawn: notes what is laid out in it."""

    def __init__(self, notes: list[Any], kind: str = "column", **more: Any) -> None:
        self._items: list[Any] = []
        self._note = {"kind": kind, "items": self._items} | more
        notes.append(self._note)
        self.scale_y, self.use_property_decorate = 1.0, False

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("enabled", "use_property_split", "alignment"):
            self._note[name] = value
        super().__setattr__(name, value)

    def _inner(self, kind: str, **more: Any) -> Layout:
        split = self._note.get("use_property_split", False)
        return Layout(self._items, kind, use_property_split=split, **more)

    def row(self, *, align: bool = False, heading: str = "") -> Layout:
        return self._inner("row", heading=heading)

    def column(self, *, align: bool = False) -> Layout:
        return self._inner("column", align=align)

    def split(self, *, factor: float) -> Layout:
        return self._inner("split", share=factor)

    def box(self) -> Layout:
        return self._inner("box")

    def separator(self) -> None:
        self._items.append({"kind": "separator"})

    def label(self, *, text: str, icon: str = "NONE") -> None:
        self._items.append({"kind": "label", "text": text, "icon": icon})

    def prop(self, data: Any, name: str, *, text: str | None = None, slider: bool = False) -> None:
        told, value = data.bl_rna.properties[name], getattr(data, name)
        note: dict[str, Any] = {"kind": "field", "type": told.type, "text": told.name if text is None else text}
        note["value"] = value if told.type == "BOOLEAN" else shown(told, value)
        if slider:
            note["share"] = (value - told.soft_min) / (told.soft_max - told.soft_min)
        self._items.append(note)

    def prop_search(self, data: Any, name: str, where: Any, of: str) -> None:
        self.prop(data, name)

    def progress(self, *, factor: float, text: str) -> None:
        self._items.append({"kind": "progress", "share": factor, "text": text})

    def menu(self, name: str, *, text: str) -> None:
        self._items.append({"kind": "button", "text": text, "pressed": False})

    def operator(
        self, name: str, *, text: str | None = None, icon: str = "NONE", depress: bool = False, emboss: bool = True
    ) -> Any:  # fmt: skip
        room, act = name.split(".")
        label = getattr(getattr(bpy.ops, room), act).get_rna_type().name if text is None else text
        box = {"kind": "check", "value": icon == "CHECKBOX_HLT"}
        self._items.append({"kind": "button", "text": label, "pressed": depress} if emboss else box)
        return SimpleNamespace()


def shown(told: Any, value: Any) -> str:
    """A property's value as a field has it."""
    if told.type == "ENUM":
        return told.enum_items[value].name
    if told.type == "FLOAT":
        return f"{value:.{told.precision}f}"
    return "" if value is None else getattr(value, "name", str(value))


def panels(*names: str) -> list[Any]:
    """What these panels lay out now, in their order."""
    module = import_module(f"{EXTENSION}.panel")
    found: list[Any] = []
    for name in names:
        one = getattr(module, f"BUNRAKU_PT_{name}")
        layout = Layout(found, "panel", text=one.bl_label)
        stand = SimpleNamespace(layout=layout, settings=lambda *given, one=one: one.settings(None, *given))
        one.draw(stand, bpy.context)
    return found


def steps() -> dict[str, list[Any]]:
    """The figure with the settings of steps 4 to 7, a quick run of it, and its end."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    bpy.ops.bunraku.add_figure()
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "panels.blend"))
    told = bpy.context.active_object.bunraku
    told.levels, told.scale, told.count, told.rest, told.contact = 1, "COUNT", 80, "POSE", True
    told.material.preset = "vinyl"
    found = {"direction": panels("main", "shell", "material"), "settings": panels("world", "frames")}
    job = import_module(f"{EXTENSION}.job")
    bpy.ops.bunraku.run(way="QUICK")
    run = job.current.run
    while run.progress.done < SEEN and not run.over:
        time.sleep(0.05)
        run.poll()
    found["going"] = panels("main")
    job.wait()
    bpy.context.view_layer.objects.active = told.result
    return found | {"done": panels("main", "takes")}


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(repo="user_default", filepath=ZIP, enable_on_install=True)
    bpy.context.preferences.addons[EXTENSION].preferences.interpreter = INTERPRETER
    try:
        (FOLDER / "panels.json").write_text(json.dumps(steps()), encoding="utf-8")
    finally:
        bpy.ops.preferences.addon_disable(module=EXTENSION)


main()
