# SPDX-License-Identifier: GPL-3.0-or-later
"""bunraku's instruments in Blender: what is selected is directed, bunraku simulates it in a process of its own, and the
take plays beside it. No physics here, and bunraku is never imported."""

from . import job, materials, operators, panel, preferences, settings

_PARTS = (preferences, materials, settings, operators, panel)


def register() -> None:
    """Called when the extension is enabled."""
    for part in _PARTS:
        part.register()
    job.register()


def unregister() -> None:
    """Called when it is disabled: a run that goes on is called off."""
    job.unregister()
    for part in reversed(_PARTS):
        part.unregister()
