"""Parameters of elastic solids, with units and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, get_args

from bunraku.contracts import as_float, input_error

SolidLaw = Literal["corotational", "neohookean"]

# name: (lower bound, bound itself allowed?, upper bound, unit); the bounds catch unit mistakes.
BOUNDS: dict[str, tuple[float, bool, float, str]] = {
    "young": (1e-2, True, 1e13, "Pa"),
    "poisson": (-1.0, False, 0.499, ""),
    "density": (1e-2, True, 1e5, "kg/m³"),
    "stiffness_damping": (0.0, True, 1e3, "s"),
    "mass_damping": (0.0, True, 1e6, "1/s"),
}


@dataclass(frozen=True)
class SolidMaterial:
    """An isotropic elastic solid."""

    young: float
    """Young's modulus [Pa]"""
    poisson: float = 0.3
    """Poisson's ratio, −1 < ν ≤ 0.499; beyond 0.45 linear tetrahedra resist bending more than they should"""
    density: float = 1000.0
    """mass per volume [kg/m³]"""
    stiffness_damping: float = 0.0
    """Kelvin–Voigt retardation time τ [s]: viscous stress = τ × stiffness × strain rate; never damps rigid motion"""
    mass_damping: float = 0.0
    """α [1/s]: force −α × mass × velocity, which damps rigid motion too"""
    law: SolidLaw = "corotational"
    """"corotational": linear in the stretch, for most bodies; "neohookean": keeps its volume in a large squash"""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name == "law":
                continue
            value: Any = getattr(self, field.name)
            if not isinstance(value, Real) or isinstance(value, bool):
                raise input_error(f"material.{field.name} must be a number", got=value)
            _check_number(field.name, as_float(value))
            object.__setattr__(self, field.name, as_float(value))
        if not isinstance(self.law, str) or self.law not in get_args(SolidLaw):
            raise input_error("material.law is unknown", got=self.law, allowed=", ".join(get_args(SolidLaw)))

    @property
    def lame(self) -> tuple[float, float]:
        """Lamé's µ (the shear modulus) and λ [Pa]."""
        shear = self.young / (2.0 * (1.0 + self.poisson))
        return shear, 2.0 * shear * self.poisson / (1.0 - 2.0 * self.poisson)


SOLID_KEYS = tuple(field.name for field in fields(SolidMaterial))
"""what may differ from a preset"""


def _check_number(name: str, value: float) -> None:
    low, closed, high, unit = BOUNDS[name]
    inside = (value >= low if closed else value > low) and value <= high
    if not (inside and math.isfinite(value)):
        allowed = f"{'from' if closed else 'above'} {low:g} up to {high:g} {unit}".strip()
        raise input_error(f"material.{name} is out of range", got=value, allowed=allowed)
