"""The stiffness of every face of a shell, isotropic or along its warp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Vector, input_error
from bunraku.geometry import TriMesh, direction_angles
from bunraku.materials import (
    MaterialBlend,
    ShellFields,
    bending_flexibility,
    stretching_stiffness,
    woven_stiffness,
)


@dataclass(frozen=True, eq=False)
class Weave:
    """Where the warp of a shell runs, and the stiffness that follows from it in each face's own frame.

    The frame's first axis is the face's first edge (`membrane.corner_gradients`).
    """

    angles: Vector | None
    """(f,) from the first edge to the warp [rad]; None: no material of the shell has a direction"""

    @staticmethod
    def of(mesh: TriMesh, material: MaterialBlend) -> Weave:
        """From the blend's own warp, which woven materials need."""
        if not material.woven:
            return Weave(None)
        if material.warp is None:
            raise input_error(
                "a woven material needs the direction of its warp", remedy="MaterialBlend(…, warp=(f, 3) directions)"
            )
        return Weave(direction_angles(mesh, material.warp) if material.warp.ndim == 2 else material.warp)

    def stretching(self, fields: ShellFields) -> Array:
        """(f, 3, 3) 𝔻 [N/m]."""
        if self.angles is None or fields.weft is None or fields.shear is None:
            return stretching_stiffness(fields.young, fields.poisson, fields.thickness)
        return woven_stiffness(fields.young, fields.weft, fields.poisson, fields.shear, fields.thickness, self.angles)

    def flexibility(self, fields: ShellFields, stiffer: Vector) -> Array | None:
        """(f, 3, 3) of bending [1/(N·m)], `stiffer` (f,) times that of the material; None for isotropic shells."""
        if self.angles is None:
            return None
        sheet = bending_flexibility(self.stretching(fields), fields.thickness)
        return sheet / (fields.bend_scale * stiffer)[:, None, None]


def strongest(fields: ShellFields) -> Vector:
    """(f,) the larger of the moduli along warp and weft times thickness [N/m]."""
    weft = fields.young if fields.weft is None else fields.weft
    return np.maximum(fields.young, weft) * fields.thickness
