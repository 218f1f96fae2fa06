"""Local laws of thin shells: plane-stress stretching and plate bending, isotropic or along warp and weft."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Vector, input_error


def stretching_stiffness(young: Vector, poisson: Vector, thickness: Vector) -> Array:
    """(f, 3, 3) plane-stress stiffness times thickness [N/m], for strains (E₁₁, E₂₂, 2E₁₂).

    St. Venant–Kirchhoff: E h / (1 − ν²) · [[1, ν, 0], [ν, 1, 0], [0, 0, (1 − ν)/2]].
    """
    scale = young * thickness / (1.0 - poisson**2)
    stiffness = np.zeros((len(scale), 3, 3))
    stiffness[:, 0, 0] = stiffness[:, 1, 1] = scale
    stiffness[:, 0, 1] = stiffness[:, 1, 0] = scale * poisson
    stiffness[:, 2, 2] = scale * (1.0 - poisson) / 2.0
    return stiffness


def woven_stiffness(
    young: Vector, weft: Vector, poisson: Vector, shear: Vector, thickness: Vector, angle: Vector
) -> Array:
    """(f, 3, 3) orthotropic plane-stress stiffness times thickness [N/m] in the frame of each face.

    `young` E₁ along the warp, `weft` E₂ across, `poisson` ν₁₂ (how much the weft narrows when the warp is pulled;
    ν₂₁ = ν₁₂ E₂/E₁ keeps the law symmetric), `shear` G₁₂; all (f,). `angle` (f,) [rad] turns the frame's first axis
    into the warp.
    """
    check_admissible(young, weft, poisson, shear)
    scale = thickness / (1.0 - poisson**2 * weft / young)
    own = np.zeros((len(young), 3, 3))
    own[:, 0, 0], own[:, 1, 1], own[:, 2, 2] = scale * young, scale * weft, shear * thickness
    own[:, 0, 1] = own[:, 1, 0] = scale * poisson * weft
    turn = _strain_turn(angle)
    return np.swapaxes(turn, 1, 2) @ own @ turn


def check_admissible(young: Vector, weft: Vector, poisson: Vector, shear: Vector) -> None:
    """Refuse constants that would give energy back when strained: moduli must be positive and ν₁₂² < E₁/E₂."""
    # A hair inside the bound: there the stiffness is infinite.
    bad = ~((young > 0) & (weft > 0) & (shear > 0) & (poisson**2 * weft < 0.999 * young))
    if not bad.any():
        return
    k = int(np.argmax(bad))
    got = f"young {young[k]:g} Pa, weft {weft[k]:g} Pa, poisson {poisson[k]:g}, shear {shear[k]:g} Pa"
    raise input_error(
        "the material would give energy back when strained", got=got,
        allowed="positive moduli with poisson² < young/weft", remedy="a smaller poisson or weft",
    )  # fmt: skip


def _strain_turn(angle: Vector) -> Array:
    """(f, 3, 3) strains (E₁₁, E₂₂, 2E₁₂) of a frame into those of a frame turned by an angle (f,)."""
    c, s = np.cos(angle), np.sin(angle)
    rows = [[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]]
    return np.moveaxis(np.array(rows), 2, 0)


def bending_rigidity(young: Vector, poisson: Vector, thickness: Vector) -> Vector:
    """(f,) D = E h³ / (12 (1 − ν²)) [N·m]."""
    return young * thickness**3 / (12.0 * (1.0 - poisson**2))


def bending_flexibility(stretching: Array, thickness: Vector) -> Array:
    """(f, 3, 3) what moments (m₁₁, m₂₂, m₁₂) give curvatures (κ₁₁, κ₂₂, 2κ₁₂) [1/(N·m)].

    `stretching` (f, 3, 3) is the stiffness 𝔻 of the same sheet: its bending stiffness is 𝔻 h²/12.
    """
    return np.linalg.inv(stretching) * (12.0 / thickness**2)[:, None, None]
