"""How hard the guide may pull: caps on the force of direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, InputError, Sparse, Vector, input_error
from bunraku.geometry import TriMesh, vertex_areas
from bunraku.materials import MaterialBlend
from bunraku.motion import Curve, CurveLike

Cap = CurveLike | Array


def check_caps(cap: Cap | None, pressure: CurveLike | None, stretch: float | None) -> None:
    """Refuse what is no cap, or more than one."""
    told = {"cap": cap, "cap_pressure": pressure, "stretch": stretch}
    given = [name for name, value in told.items() if value is not None]
    if len(given) > 1:
        raise input_error("only one of cap, cap_pressure and stretch may be given", got=", ".join(given))
    for name, kind, value in (("cap", "force", cap), ("cap_pressure", "pressure", pressure)):
        if value is None:
            continue
        try:
            numbers = value.astype(np.float64) if isinstance(value, np.ndarray) else Curve.of(value).values
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: {error}") from None
        if not (numbers >= 0).all():  # of an array infinite is allowed: no cap there
            raise input_error(f"{name} must be a {kind} of zero or more", got=float(numbers[~(numbers >= 0)].flat[0]))
    if stretch is not None and not (isinstance(stretch, (int, float)) and 0.0 < stretch <= 10.0):
        raise input_error("stretch must be a share between 0 and 10", got=stretch, allowed="0.01 is one per cent")


def region_caps(
    functions: Sparse, shell: TriMesh, blend: MaterialBlend, cap: Cap | None, pressure: CurveLike | None,
    stretch: float | None,
) -> Callable[[float], Vector] | None:  # fmt: skip
    """time [s] → (k,) newtons each region's guide may pull with, or None where nothing is capped.

    `functions` (k, n) are the regions' on the shell. A pressure acts on a region's area A. `stretch` ε allows the
    force that strains a square of that area by ε, ε E h √A: enough to bend a thin shell, too little to stretch it.
    """
    count = functions.shape[0]
    if cap is not None:
        return _in_newtons(cap, count)
    areas = np.asarray(functions @ vertex_areas(shell.rest, shell.faces)).reshape(-1)
    if pressure is not None:
        curve = Curve.of(pressure)
        return lambda time: curve.at(time) * areas
    if stretch is None:
        return None
    on_faces = _of_faces(functions, shell)

    def allowed(time: float) -> Vector:
        fields = blend.at(time)
        return stretch * (on_faces @ (fields.young * fields.thickness)) * np.sqrt(areas)

    return allowed


def _in_newtons(cap: Cap, count: int) -> Callable[[float], Vector]:
    if isinstance(cap, np.ndarray):
        if cap.shape != (count,):
            raise input_error("cap must be one number, or one a region", got=cap.shape, allowed=f"({count},)")
        each = cap.astype(np.float64)
        return lambda time: each
    curve = Curve.of(cap)
    return lambda time: np.full(count, curve.at(time))


def _of_faces(functions: Sparse, shell: TriMesh) -> Sparse:
    """(k, f) the share of each face in a region."""
    faces = np.repeat(np.arange(len(shell.faces)), 3)
    shape = (shell.point_count, len(shell.faces))
    of_vertex: Sparse = sparse.csr_array((np.ones(len(faces)), (shell.faces.reshape(-1), faces)), shape=shape)
    weights: Sparse = sparse.csr_array(functions @ of_vertex)
    total = np.maximum(np.asarray(weights.sum(axis=1)).reshape(-1), 1e-300)
    return sparse.csr_array(sparse.diags_array(1.0 / total) @ weights)
