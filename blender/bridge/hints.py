# SPDX-License-Identifier: GPL-3.0-or-later
"""How the panel tells how long something takes, and remedies for a terminal as they are done in Blender."""

from __future__ import annotations

from collections.abc import Sequence

_HINTS = {
    "bunraku check": "In Blender: Edit Mode, Mesh, Clean Up, Fill Holes or Merge by Distance.",
    "physics.contact = true": "In Blender: Contact, in the panel Contact and wind; Quick does without it.",
}


def with_hints(sentences: Sequence[str]) -> tuple[str, ...]:
    """The sentences, and behind them what some of them mean here."""
    return (*sentences, *(hint for word, hint in _HINTS.items() if any(word in one for one in sentences)))


def lasting(seconds: float) -> str:
    """As one says it: '40 s', '12 min', '2.5 h'."""
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 100.0 * 60.0 else f"{seconds / 3600.0:.1f} h"
