"""What may stand for a solid material."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bunraku.materials import SolidMaterial

Material = SolidMaterial | str | Mapping[str, Any]
"""a `SolidMaterial`, a preset's name, or a preset with changes"""
