"""The part of the Blender extension that needs no Blender."""

from __future__ import annotations

import sys
from pathlib import Path

EXTENSION = Path(__file__).resolve().parents[2] / "blender"
sys.path.insert(0, str(EXTENSION))
