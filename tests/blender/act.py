"""Run by Blender's Python: a scene of `scenes_*.py` in a Blender of its own, with the extension installed from its zip.

act.py MODULE SCENE ZIP INTERPRETER FOLDER {arguments as json} prints what the scene returns as json, on the last line.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

MODULE, SCENE, ZIP, INTERPRETER, FOLDER, ARGUMENTS = sys.argv[1:]
os.environ["BLENDER_USER_RESOURCES"] = str(Path(FOLDER) / ".blender")  # nobody's own settings
sys.path.insert(0, str(Path(__file__).parent))

import bpy  # noqa: E402

EXTENSION = "bl_ext.user_default.bunraku"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(repo="user_default", filepath=ZIP, enable_on_install=True)
    bpy.context.preferences.addons[EXTENSION].preferences.interpreter = INTERPRETER
    try:
        found = getattr(import_module(MODULE), SCENE)(Path(FOLDER), **json.loads(ARGUMENTS))
    finally:  # Blender as a module crashes as it ends where classes with callbacks are still registered
        if EXTENSION in bpy.context.preferences.addons:
            bpy.ops.preferences.addon_disable(module=EXTENSION)
    print()
    print(json.dumps(found))


main()
