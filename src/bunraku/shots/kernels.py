"""Whether the element kernels are compiled already, so that the first run can say why it waits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import bunraku.energies

SHELL_KERNELS = ("membrane",)
BODY_KERNELS = ("solid_kernels", "solid_tangent")
SKIN_KERNELS = ("membrane", "lattice_solid_kernels")
PLAN_KERNELS = ("observed_kernels", "observed_few_kernels", "bend_kernels", "warp_kernels")
"""modules whose kernels every shell, every steered body, every skin and every planned motion needs"""


def kernels_are_cold(of: Sequence[str] = SHELL_KERNELS) -> bool:
    """Whether of one of the modules no compiled kernel is found where numba keeps them."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(bunraku.energies.__file__).parent.parent
    try:
        home = Path.home() / ".cache" / "numba"
        return not all(_are_kept(f"{name}.*.nbi", chosen, package, home) for name in of)
    except (OSError, RuntimeError):  # no home, or none that may be read
        return True


def _are_kept(name: str, chosen: str | None, package: Path, home: Path) -> bool:
    if chosen:
        return any(Path(chosen).rglob(name))
    return any(package.glob(f"*/__pycache__/{name}")) or (home.is_dir() and any(home.rglob(name)))
