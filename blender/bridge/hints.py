# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies that bunraku's sentences name for a terminal, as they are done in Blender."""

from __future__ import annotations

from collections.abc import Sequence

_HINTS = {
    "bunraku check": "In Blender: Edit Mode, Mesh, Clean Up, Fill Holes or Merge by Distance.",
    "physics.contact = true": "In Blender: Contact, in the panel Contact and wind; Quick does without it.",
}


def with_hints(sentences: Sequence[str]) -> tuple[str, ...]:
    """The sentences, and behind them what some of them mean here."""
    return (*sentences, *(hint for word, hint in _HINTS.items() if any(word in one for one in sentences)))
