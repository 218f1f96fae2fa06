"""Parameters of thin shells, with units, bounds and blending."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Vector, input_error
from bunraku.motion import Curve, CurveLike

# name: (lower bound, bound itself allowed?, upper bound, unit); the bounds catch unit mistakes.
_BOUNDS: dict[str, tuple[float, bool, float, str]] = {
    "young": (1e-2, True, 1e13, "Pa"),
    "poisson": (-1.0, False, 0.5, ""),
    "thickness": (1e-7, True, 10.0, "m"),
    "density": (1e-2, True, 1e5, "kg/m³"),
    "stretch_damping": (0.0, True, 1e3, "s"),
    "bend_damping": (0.0, True, 1e3, "s"),
    "drag": (0.0, True, 1e6, "Pa·s/m"),
    "yield_curvature": (1e-6, True, math.inf, "1/m"),
    "hardening": (-1e3, True, 1e3, "m"),
}
MOST_HARDENING = 2.0
"""η Δκ: at yield the energy held is ½ k D Δκ², so an increment of set dp changes it by (η Δκ² − 2 Δκ) ½ k D dp"""
KEYABLE = ("young", "stretch_damping", "bend_damping", "drag")


@dataclass(frozen=True)
class ShellMaterial:
    """An isotropic thin shell. `young`, the dampings and `drag` may be keyed over time (`Curve`)."""

    young: CurveLike
    """Young's modulus [Pa]"""
    poisson: float = 0.3
    """Poisson's ratio, −1 < ν ≤ 0.5"""
    thickness: float = 1e-3
    """[m]"""
    density: float = 1000.0
    """mass per volume [kg/m³]"""
    stretch_damping: CurveLike = 0.0
    """Kelvin–Voigt retardation time of stretching [s]: viscous stress = time × stiffness × strain rate"""
    bend_damping: CurveLike = 0.0
    """Kelvin–Voigt retardation time of bending [s]"""
    drag: CurveLike = 0.0
    """air drag: force per area and velocity through the air [Pa·s/m]"""
    yield_curvature: float = math.inf
    """how far the shell may be bent from its rest shape before it sets [1/m]; inf: elastic"""
    hardening: float = 0.0
    """η [m]: stiffness grows as exp(η × set curvature); below zero folds soften, and localise in one row of faces"""

    def __post_init__(self) -> None:
        self._check_values()
        gain = self.hardening * self.yield_curvature if self.hardening > 0.0 else 0.0
        if math.isfinite(self.yield_curvature) and gain > MOST_HARDENING:
            raise input_error(
                "material.hardening is so strong that setting would create energy",
                got=f"hardening × yield_curvature = {gain:g}", allowed=f"up to {MOST_HARDENING:g}",
            )  # fmt: skip

    def _check_values(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                _check_number(field.name, float(value))
            elif field.name not in KEYABLE or isinstance(value, (str, bool)):
                raise input_error(
                    f"material.{field.name} must be a number", got=value,
                    remedy=f"only {', '.join(KEYABLE)} may be keyed",
                )  # fmt: skip
            else:
                curve = Curve.of(value)
                for key in curve.values:
                    _check_number(field.name, float(key))
                object.__setattr__(self, field.name, curve)

    def at(self, time: float) -> ShellMaterial:
        """The material with its keyed values read at a time [s]."""
        return replace(self, **{name: Curve.of(getattr(self, name)).at(time) for name in KEYABLE})

    @property
    def constant(self) -> bool:
        """Whether nothing is keyed."""
        return all(Curve.of(getattr(self, name)).constant for name in KEYABLE)


def _check_number(name: str, value: float) -> None:
    low, closed, high, unit = _BOUNDS[name]
    inside = (value >= low if closed else value > low) and value <= high
    if not (inside and (math.isfinite(value) or high == math.inf)):
        allowed = f"{'from' if closed else 'above'} {low:g} up to {high:g} {unit}".strip()
        raise input_error(f"material.{name} is out of range", got=value, allowed=allowed)


@dataclass(frozen=True, eq=False)
class ShellFields:
    """A shell's parameters on every face, each (f,), at one moment; names and units as in `ShellMaterial`."""

    young: Vector
    poisson: Vector
    thickness: Vector
    density: Vector
    stretch_damping: Vector
    bend_damping: Vector
    drag: Vector
    yield_curvature: Vector
    hardening: Vector


@dataclass(frozen=True, eq=False)
class MaterialBlend:
    """Several materials over one mesh: each face mixes them by its weights.

    Young's modulus and thickness, and so the stretching and bending stiffness, are blended in their
    logarithms (halfway between 1e4 and 1e8 Pa is 1e6 Pa); the yield curvature in its reciprocal, a radius, so that
    halfway between an elastic sheet (∞) and one that yields at 10/m is 20/m; everything else linearly.
    """

    materials: tuple[ShellMaterial, ...]
    weights: Array
    """(f, k) non-negative, rows sum to one"""

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 2 or weights.shape[1] != len(self.materials):
            raise input_error(
                "material weights must have one column a material",
                got=weights.shape,
                allowed=f"(faces, {len(self.materials)})",
            )
        if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(axis=1) <= 0).any():
            raise input_error("material weights must be finite, non-negative and not all zero on a face")
        object.__setattr__(self, "weights", weights / weights.sum(axis=1, keepdims=True))

    @classmethod
    def uniform(cls, material: ShellMaterial, face_count: int) -> MaterialBlend:
        """One material everywhere."""
        return cls((material,), np.ones((face_count, 1)))

    @classmethod
    def by_vertex(cls, materials: Sequence[ShellMaterial], weights: Array, faces: Faces) -> MaterialBlend:
        """From weights (n, k) painted on vertices; a face takes the mean of its corners."""
        return cls(tuple(materials), np.asarray(weights, dtype=np.float64)[faces].mean(axis=1))

    @classmethod
    def by_region(
        cls, base: ShellMaterial, regions: Sequence[ShellMaterial], labels: Integers, faces: Faces,
        *, on: Literal["faces", "vertices"],
    ) -> MaterialBlend:  # fmt: skip
        """`labels` (f,) or (n,): region of each face or vertex, −1 for `base`; vertex labels blend across seams."""
        labels = np.asarray(labels, dtype=np.int64)
        weights = np.eye(len(regions) + 1)[labels + 1]
        if on == "faces":
            return cls((base, *regions), weights)
        return cls.by_vertex((base, *regions), weights, faces)

    @property
    def constant(self) -> bool:
        """Whether nothing is keyed."""
        return all(material.constant for material in self.materials)

    def at(self, time: float) -> ShellFields:
        """The parameters of every face at a time [s]."""
        now = [material.at(time) for material in self.materials]

        def mix(name: str) -> Vector:
            values = np.array([float(getattr(material, name)) for material in now])
            if name in ("young", "thickness"):
                return np.exp(self.weights @ np.log(values))
            if name == "yield_curvature":
                with np.errstate(divide="ignore"):
                    return 1.0 / (self.weights @ (1.0 / values))
            return self.weights @ values

        return ShellFields(**{field.name: mix(field.name) for field in fields(ShellFields)})
