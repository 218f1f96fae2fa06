"""How a stiff skin wrinkles on a soft interior: wavelength [Remillard 2013, eq. 4.1], onset, and what pulls it back.

A skin of bending rigidity D under the compressive tension N on a half-space buckles where D k⁴ + Ē_q k/2 − N k² is
first zero, at k_c = (Ē_q/4D)^⅓, or k_c h = (3 Ē_q/Ē_x)^⅓, with plane-strain moduli Ē = E/(1 − ν²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.contracts import Vector, input_error, is_between

from .laws import bending_rigidity
from .shell import ShellFields

_LARGEST = 1e12


@dataclass(frozen=True)
class SkinOnSoft:
    """A skin and what it is on."""

    thickness: float
    """of the skin, h [m]"""
    young: float
    """of the skin, E_x [Pa]"""
    under: float
    """Young's modulus of the interior, E_q [Pa]"""
    poisson: float = 0.3
    """of the skin"""
    poisson_under: float = 0.3
    """of the interior"""

    def __post_init__(self) -> None:
        for name, unit in (("thickness", "m"), ("young", "Pa"), ("under", "Pa")):
            value = getattr(self, name)
            if not is_between(value, 1.0 / _LARGEST, _LARGEST):
                raise input_error(f"{name} must be a number", got=repr(value), allowed=f"above 0 {unit}")
        for name in ("poisson", "poisson_under"):
            value = getattr(self, name)
            if not is_between(value, -1.0, 0.5) or value == -1.0:
                raise input_error(f"{name} must be a number", got=repr(value), allowed="above −1, up to 0.5")

    @property
    def ratio(self) -> float:
        """Ē_x/Ē_q, of the plane-strain moduli."""
        return self.young * (1.0 - self.poisson_under**2) / (self.under * (1.0 - self.poisson**2))

    @property
    def rigidity(self) -> float:
        """D = Ē_x h³/12 [N·m]"""
        return self.young * self.thickness**3 / (12.0 * (1.0 - self.poisson**2))

    @property
    def wave_number(self) -> float:
        """k_c [1/m]"""
        return (3.0 / self.ratio) ** (1.0 / 3.0) / self.thickness

    @property
    def wavelength(self) -> float:
        """λ = 2π/k_c [m] [Remillard 2013, eq. 4.1]"""
        return 2.0 * math.pi / self.wave_number

    @property
    def onset(self) -> float:
        """The compression at which a flat skin buckles: ¼ (3 Ē_q/Ē_x)^⅔ = (k_c h)²/4."""
        return 0.25 * (self.wave_number * self.thickness) ** 2

    def amplitude(self, compression: float) -> float:
        """[m] of waves at a compression: h √(ε/ε_c − 1), zero before the onset."""
        return self.thickness * math.sqrt(max(compression / self.onset - 1.0, 0.0))

    @property
    def lift(self) -> float:
        """K = D k_c⁴ [N/m³]: pressure of the interior per height of a wave, where its slope is counted by `slope`."""
        return self.rigidity * self.wave_number**4

    @property
    def slope(self) -> float:
        """b = D k_c² [N/m]: with it K + b k² has the value and the slope of Ē_q k/2 at k_c."""
        return self.rigidity * self.wave_number**2


@dataclass(frozen=True, eq=False)
class VaryingSkin:
    """A skin whose thickness and stiffness differ from face to face, and what it is on; all else as of `SkinOnSoft`."""

    fields: ShellFields
    """of the skin, on f faces"""
    under: float
    """Young's modulus of the interior, E_q [Pa]"""
    poisson_under: float

    @property
    def rigidity(self) -> Vector:
        """(f,) D [N·m]"""
        return bending_rigidity(self.fields.young, self.fields.poisson, self.fields.thickness)

    @property
    def wave_number(self) -> Vector:
        """(f,) k_c = (Ē_q/4D)^⅓ [1/m]"""
        return (self.under / (1.0 - self.poisson_under**2) / (4.0 * self.rigidity)) ** (1.0 / 3.0)

    @property
    def wavelength(self) -> Vector:
        """(f,) λ [m]"""
        return 2.0 * math.pi / self.wave_number

    @property
    def lift(self) -> Vector:
        """(f,) K [N/m³]"""
        return self.rigidity * self.wave_number**4

    @property
    def slope(self) -> Vector:
        """(f,) b [N/m]"""
        return self.rigidity * self.wave_number**2


def thickness_for(wavelength: float, ratio: float) -> float:
    """[m] of a skin that wrinkles with a wavelength [m], Ē_x/Ē_q being given."""
    _positive("wavelength", wavelength, "m")
    _positive("ratio", ratio, "")
    return wavelength / (2.0 * math.pi) * (3.0 / ratio) ** (1.0 / 3.0)


def ratio_for(wavelength: float, thickness: float) -> float:
    """Ē_x/Ē_q with which a skin of a thickness [m] wrinkles with a wavelength [m]."""
    _positive("wavelength", wavelength, "m")
    _positive("thickness", thickness, "m")
    return 3.0 * (wavelength / (2.0 * math.pi * thickness)) ** 3


def _positive(name: str, value: float, unit: str) -> None:
    if not is_between(value, 1.0 / _LARGEST, _LARGEST):
        raise input_error(f"{name} must be a number", got=repr(value), allowed=f"above 0 {unit}".strip())
