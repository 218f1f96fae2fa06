"""The panel as it is drawn, on a layout that looks at what it is given; played inside Blender by `act.py`."""

# pyright: reportMissingImports=false

from __future__ import annotations

import os
import shutil
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import sets

_ICONS = set(bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys())


class Layout:
    """Stands for Blender's, which exists only while a window is drawn: refuses what that would refuse."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.enabled = self.use_property_split = self.use_property_decorate = True
        self.scale_y = 1.0

    def row(self, *, align: bool = False, heading: str = "") -> Layout:
        return Layout(self.lines)

    def split(self, *, factor: float) -> Layout:
        assert 0.0 < factor < 1.0
        return Layout(self.lines)

    def column(self, *, align: bool = False) -> Layout:
        return Layout(self.lines)

    def box(self) -> Layout:
        return Layout(self.lines)

    def separator(self) -> None:
        pass

    def label(self, *, text: str, icon: str = "NONE") -> None:
        assert icon in _ICONS, icon
        self.lines.append(text)

    def prop(self, data: Any, name: str, *, text: str = "", slider: bool = False) -> None:
        assert name in data.bl_rna.properties, name
        self.lines.append(f"<{name}>")

    def prop_search(self, data: Any, name: str, where: Any, of: str) -> None:
        assert name in data.bl_rna.properties and hasattr(where, of)

    def progress(self, *, factor: float, text: str) -> None:
        assert 0.0 <= factor <= 1.0
        self.lines.append(text)

    def menu(self, name: str, *, text: str) -> None:
        assert hasattr(bpy.types, name), name
        self.lines.append(f"({text})")

    def operator(
        self, name: str, *, text: str = "", icon: str = "NONE", depress: bool = False, emboss: bool = True
    ) -> Any:  # fmt: skip
        assert icon in _ICONS, icon
        room, act = name.split(".")
        known = getattr(getattr(bpy.ops, room), act).get_rna_type().properties
        self.lines.append(f"[{name}{' *' if depress else ''}]")
        return SimpleNamespace(**{one.identifier: None for one in known})


def drawn(thing: Any | None) -> list[str]:
    """All that the panels show for an object."""
    lines: list[str] = []
    bpy.context.view_layer.objects.active = thing
    panel = import_module(f"{sets.EXTENSION}.panel")
    for one in (one for one in panel._CLASSES if issubclass(one, bpy.types.Panel)):
        if getattr(one, "poll", lambda context: True)(bpy.context):
            stand = SimpleNamespace(layout=Layout(lines), settings=lambda *given, one=one: one.settings(None, *given))
            one.draw(stand, bpy.context)
    return lines


def warned(folder: Path) -> dict[str, Any]:
    """A coat lies a good deal off its cage, of which bunraku warns while it goes on; its result wears the coat's
    materials, that of the cage alone the cage's, and what an artist gave it stays."""
    sets.scene(folder, (1, 3))
    cage, coat = sets.waved(sets.sheet("Cage")), sets.sheet("Coat", squares=8, active=False)
    coat.location.z = 0.12
    cage.data.materials.append(bpy.data.materials.new("Grey"))
    for name in ("Wool", "Button"):
        coat.data.materials.append(bpy.data.materials.new(name))
    coat.data.polygons[5].material_index = 1
    told, job = cage.bunraku, sets.job()
    told.use_shell, told.shell, told.levels, told.scale, told.count = True, coat, 0, "COUNT", 4
    bpy.ops.bunraku.run()
    while not job.current.run.progress.warnings and not job.current.run.over:
        time.sleep(0.02)
        job.current.run.poll()
    found: dict[str, Any] = {"going": drawn(cage)}
    job.wait()
    found["done"], found["worn"] = drawn(cage), [_worn(told.result)]
    found["buttons"] = [p.material_index for p in told.result.data.polygons]
    told.use_shell = False
    sets.run(cage)
    found["worn"].append(_worn(told.result))
    told.result.material_slots[0].material = bpy.data.materials.new("Red")
    told.use_shell = True
    sets.run(cage)
    found["worn"].append(_worn(told.result))
    return found


def _worn(thing: Any) -> list[str]:
    return [slot.material.name for slot in thing.material_slots]


def materials(folder: Path) -> dict[str, Any]:
    """Numbers of presets as they are seen: a skin's and its body's; one that is made an own one, and given up again."""
    flag = sets.sheet()
    told = flag.bunraku
    told.material.preset = told.skin.preset = "foil"
    told.solid.preset = "cork"
    found: dict[str, Any] = {"foil": drawn(flag)}
    bpy.ops.bunraku.own_number(of="material", key="thickness")
    found["begins"] = [told.material.use_thickness, told.material.thickness]
    found["own"] = drawn(flag)
    bpy.ops.bunraku.own_number(of="material", key="thickness")
    found["given up"] = [told.material.use_thickness, drawn(flag) == found["foil"]]
    told.instrument = "WRINKLE"
    return found | {"skin": drawn(flag)}


def menu(name: str) -> list[str]:
    """What is offered by one, with the takes it would show."""
    said: list[str] = []

    def operator(known: str, *, text: str) -> Any:
        said.append(text)
        return SimpleNamespace()

    panel = import_module(f"{sets.EXTENSION}.panel")
    getattr(panel, name).draw(SimpleNamespace(layout=SimpleNamespace(operator=operator)), bpy.context)
    return said


def everything(folder: Path) -> dict[str, Any]:
    """Nothing selected, every instrument and scale, a run that goes on, its end, a refusal; and the preferences."""
    found: dict[str, Any] = {"nothing": drawn(None)}
    flag = sets.waved(sets.sheet())
    found["unsaved"] = drawn(flag)
    sets.scene(folder, (1, 3))
    told = flag.bunraku
    for scale in ("COUNT", "METRES", "GROUPS", "ATTRIBUTE", "VERTICES", "NONE"):
        told.scale = scale
        found[scale] = drawn(flag)
    told.use_shell = told.use_thickness = told.use_range = told.use_wavelength = told.use_ground = True
    hand = bpy.data.objects.new("Hand", None)
    told.rest, told.pinned, told.path = "FRAME", "hem", hand
    flag.modifiers.new("hand", "HOOK").object = hand
    for instrument in ("WRINKLE", "STEER", "PLAN", "TRACK"):
        told.instrument = instrument
        found[instrument] = drawn(flag)
    told.use_shell = told.use_range = False
    told.pinned, told.scale, told.levels = "", "VERTICES", 1
    flag.modifiers.remove(flag.modifiers["hand"])
    job = sets.job()
    bpy.ops.bunraku.run()
    found["going"] = drawn(flag)
    job.wait()
    found["done"] = drawn(told.result)
    found["another"] = drawn(sets.sheet("Another"))
    bpy.context.view_layer.objects.active = flag
    told.scale, told.count = "COUNT", 9999
    sets.run(flag)
    found["failed"] = drawn(flag)
    takes = folder / "bunraku/takes/Flag"
    for k in range(2, 16):
        shutil.copytree(takes / "v001", takes / f"v{k:03d}")
        os.utime(takes / f"v{k:03d}/report.json", (2e9 + k, 2e9 + k))
    found["many"] = drawn(flag)
    found["older"] = menu("BUNRAKU_MT_takes")
    bpy.ops.bunraku.show_take(take="Flag/v003")
    found["chosen"] = drawn(flag)
    lines: list[str] = []
    preferences = bpy.context.preferences.addons[sets.EXTENSION].preferences
    type(preferences).draw(SimpleNamespace(layout=Layout(lines), bl_rna=preferences.bl_rna), bpy.context)
    found["preferences"] = lines
    return found
