"""Whether the element kernels are compiled already, so that the first run can say why it waits."""

from __future__ import annotations

import os
from pathlib import Path

import bunraku.energies


def kernels_are_cold() -> bool:
    """Whether no compiled kernel is found where numba keeps them."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return not any(Path(chosen).rglob("membrane*.nbi"))
    beside = Path(bunraku.energies.__file__).parent / "__pycache__"
    try:
        at_home = Path.home() / ".cache" / "numba"
        return not any(beside.glob("*.nbi")) and not (at_home.is_dir() and any(at_home.rglob("membrane*.nbi")))
    except (OSError, RuntimeError):  # no home, or none that may be read
        return True
