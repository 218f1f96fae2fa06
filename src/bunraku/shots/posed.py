"""Shapes that something moving has on a frame: a take, or a file."""

from __future__ import annotations

from pathlib import Path

from bunraku.io import Clip

from .body_spec import KeyTable
from .inputs import read_source
from .source_spec import AnimationKeys


def read_posed(told: KeyTable, takes: Path) -> tuple[Clip, Path]:
    """The motion a key's shape is taken from, and the file it comes from."""
    moving = AnimationKeys(file=told.file, prim=told.prim, take=told.take, unit=told.unit, up_axis=told.up_axis)
    return read_source(moving, None, takes)
