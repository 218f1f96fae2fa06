"""Parameters of thin shells, with units, bounds and blending."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, fields, replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Vector, as_float, input_error, need, numbers, real_array
from bunraku.motion import Curve, CurveLike

from .laws import check_admissible

# name: (lower bound, bound itself allowed?, upper bound, unit); the bounds catch unit mistakes.
BOUNDS: dict[str, tuple[float, bool, float, str]] = {
    "young": (1e-2, True, 1e13, "Pa"),
    "poisson": (-1.0, False, 0.5, ""),
    "thickness": (1e-7, True, 10.0, "m"),
    "density": (1e-2, True, 1e5, "kg/m³"),
    "stretch_damping": (0.0, True, 1e3, "s"),
    "bend_damping": (0.0, True, 1e3, "s"),
    "drag": (0.0, True, 1e6, "Pa·s/m"),
    "yield_curvature": (1e-6, True, math.inf, "1/m"),
    "hardening": (-1e3, True, 1e3, "m"),
    "weft": (1e-2, True, 1e13, "Pa"),
    "shear": (1e-3, True, 1e13, "Pa"),
    "bend_scale": (1e-6, True, 1e6, ""),
    "strain_limit": (5e-3, True, 10.0, ""),
}
WEIGHT = (1e-2, True, 1e9, "g/m²")
KEYABLE = ("young", "stretch_damping", "bend_damping", "drag", "weft", "shear", "bend_scale", "strain_limit")
OPTIONAL = ("weft", "shear", "strain_limit")
MOST_HARDENING = 2.0
"""η Δκ: at yield the energy held is ½ k D Δκ², so an increment of set dp changes it by (η Δκ² − 2 Δκ) ½ k D dp"""
_BY_LOGARITHM = ("young", "thickness", "weft", "shear", "bend_scale")
_DENSITY = 1000.0


@dataclass(frozen=True)
class ShellMaterial:
    """A thin shell, isotropic or woven. Moduli, `bend_scale`, `strain_limit`, dampings and `drag` may be keyed."""

    young: CurveLike
    """Young's modulus [Pa]; of woven cloth along the warp"""
    poisson: float = 0.3
    """Poisson's ratio, −1 < ν ≤ 0.5; of woven cloth how much the weft narrows when the warp is pulled"""
    thickness: float = 1e-3
    """[m]"""
    density: float | None = None
    """mass per volume [kg/m³]; 1000 where neither it nor `weight` is given"""
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
    weft: CurveLike | None = None
    """Young's modulus across the warp [Pa]; None: as along it"""
    shear: CurveLike | None = None
    """shear modulus in the plane [Pa]; None: young / 2(1 + poisson), as in an isotropic sheet"""
    bend_scale: CurveLike = 1.0
    """bending stiffness over that of a solid sheet: threads and fibres that slide bend more easily"""
    strain_limit: CurveLike | None = None
    """how far it stretches in any direction (0.05: five percent) before it stiffens sharply; None: no limit"""
    weight: InitVar[float | None] = None
    """instead of `density`: mass per area [g/m²], as cloth is sold"""

    def __post_init__(self, weight: float | None) -> None:
        self._set_density(weight)
        if isinstance(self.strain_limit, float) and self.strain_limit == math.inf:
            object.__setattr__(self, "strain_limit", None)
        self._check_values()
        gain = self.hardening * self.yield_curvature if self.hardening > 0.0 else 0.0
        if math.isfinite(self.yield_curvature) and gain > MOST_HARDENING:
            raise input_error(
                "material.hardening is so strong that setting would create energy",
                got=f"hardening × yield_curvature = {gain:g}", allowed=f"up to {MOST_HARDENING:g}",
            )  # fmt: skip
        if self.woven:
            self._check_woven()

    def _check_values(self) -> None:
        for field in fields(self):
            value: Any = getattr(self, field.name)
            if value is None and field.name in OPTIONAL:
                continue
            if isinstance(value, Real) and not isinstance(value, bool):
                _check_number(field.name, as_float(value))
                object.__setattr__(self, field.name, as_float(value))
            elif value is None or field.name not in KEYABLE or isinstance(value, (str, bool)):
                raise input_error(
                    f"material.{field.name} must be a number", got=value,
                    remedy=f"only {', '.join(KEYABLE)} may be keyed",
                )  # fmt: skip
            else:
                curve = Curve.of(value)
                for key in curve.values:
                    _check_number(field.name, float(key))
                object.__setattr__(self, field.name, curve)

    def _set_density(self, weight: float | None) -> None:
        """Density from weight and thickness where a weight is given."""
        if weight is None:
            object.__setattr__(self, "density", _DENSITY if self.density is None else self.density)
            return
        if self.density is not None:
            raise input_error(
                "a material has either a density or a weight", got=f"density {self.density}, weight {weight}",
                remedy="leave one out",
            )  # fmt: skip
        for name, value, bounds in (("weight", weight, WEIGHT), ("thickness", self.thickness, BOUNDS["thickness"])):
            if not isinstance(value, Real) or isinstance(value, bool):
                raise input_error(f"material.{name} must be a number", got=value, remedy="it cannot be keyed")
            _check_number(name, as_float(value), bounds)
        density = float(weight) / 1000.0 / float(self.thickness)
        low, _, high, _ = BOUNDS["density"]
        if not low <= density <= high:
            raise input_error(
                "material.weight does not fit its thickness",
                got=f"{weight:g} g/m² at {1000 * self.thickness:g} mm, which is {density:g} kg/m³",
                allowed=f"from {low:g} up to {high:g} kg/m³",
            )  # fmt: skip
        object.__setattr__(self, "density", density)

    def _check_woven(self) -> None:
        """Admissible at every key; in between, ratios of straight lines lie between those of their ends."""
        curves = [getattr(self, name) for name in ("young", "weft", "shear") if getattr(self, name) is not None]
        moments = np.unique(np.concatenate([Curve.of(curve).times for curve in curves]))
        rows = [woven_constants(self.at(time)) for time in moments] if not self.constant else [woven_constants(self)]
        check_admissible(*np.array(rows).T)

    def at(self, time: float) -> ShellMaterial:
        """The material with its keyed values read at a time [s]."""
        curves = {name: getattr(self, name) for name in KEYABLE if isinstance(getattr(self, name), Curve)}
        return replace(self, **{name: curve.at(time) for name, curve in curves.items()}) if curves else self

    @property
    def constant(self) -> bool:
        """Whether nothing is keyed."""
        return all(Curve.of(getattr(self, name)).constant for name in KEYABLE if getattr(self, name) is not None)

    @property
    def areal_mass(self) -> float:
        """Mass per area [kg/m²]."""
        return (_DENSITY if self.density is None else self.density) * self.thickness

    @property
    def woven(self) -> bool:
        """Whether it has a direction: a weft or a shear modulus of its own."""
        return self.weft is not None or self.shear is not None

    @property
    def limited(self) -> bool:
        """Whether it has a strain limit."""
        return self.strain_limit is not None


def woven_constants(now: ShellMaterial) -> tuple[float, float, float, float]:
    """E₁, E₂, ν₁₂ and G of a material whose values are read, isotropic where nothing else is said."""
    young = Curve.of(now.young).at(0.0)
    weft = young if now.weft is None else Curve.of(now.weft).at(0.0)
    shear = 0.5 * young / (1.0 + now.poisson) if now.shear is None else Curve.of(now.shear).at(0.0)
    return young, weft, now.poisson, shear


def _several(name: str, given: object) -> tuple[ShellMaterial, ...]:
    if not isinstance(given, Sequence):
        raise input_error("must be a list of materials", where=name, got=type(given).__name__)
    for k, one in enumerate(given):
        need(ShellMaterial, f"{name}[{k}]", one)
    return tuple(given)


def _corners(faces: object) -> Integers:
    try:
        found = real_array(faces)
    except (TypeError, ValueError):
        found = np.full((1, 3), np.nan)
    if found.ndim != 2 or found.shape[1] != 3 or not ((found >= 0) & (found == np.floor(found))).all():
        raise input_error("faces must be whole numbers from 0, three each", where="faces", got=faces)
    return found.astype(np.int64)


def _check_number(name: str, value: float, bounds: tuple[float, bool, float, str] | None = None) -> None:
    low, closed, high, unit = bounds or BOUNDS[name]
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
    bend_scale: Vector
    weft: Vector | None
    """None where no material of the blend is woven"""
    shear: Vector | None
    """as `weft`"""
    strain_limit: Vector | None
    """infinite without a limit; None where no material of the blend has one"""


@dataclass(frozen=True, eq=False)
class MaterialBlend:
    """Several materials over one mesh: each face mixes them by its weights.

    Moduli, thickness and `bend_scale`, and so the stretching and bending stiffness, are blended in their
    logarithms (halfway between 1e4 and 1e8 Pa is 1e6 Pa), strain limits in their inverses (no limit is zero), and so
    yield curvatures (halfway between an elastic sheet, ∞, and one that yields at 10/m is 20/m); everything else
    linearly; Poisson's ratio of woven cloth as √(ν₁₂ν₂₁), so that no blend of two sound materials is unsound.
    """

    materials: tuple[ShellMaterial, ...]
    weights: Array
    """(f, k) non-negative, rows sum to one"""
    warp: Array | None = None
    """(f, 3) directions of the warp on the rest shape, or (f,) its angles from each face's first edge [rad], counter-
    clockwise seen from outside; needed where a material is woven"""

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
        if self.warp is not None:
            warp = np.asarray(self.warp, dtype=np.float64)
            if warp.shape not in ((len(weights),), (len(weights), 3)) or not np.isfinite(warp).all():
                raise input_error(
                    "the warp must be finite, a direction or an angle a face", got=warp.shape,
                    allowed=f"({len(weights)}, 3) or ({len(weights)},)",
                )  # fmt: skip
            object.__setattr__(self, "warp", warp)

    @classmethod
    def uniform(cls, material: ShellMaterial, face_count: int) -> MaterialBlend:
        """One material everywhere."""
        return cls((material,), np.ones((face_count, 1)))

    @classmethod
    def by_vertex(cls, materials: Sequence[ShellMaterial], weights: Array, faces: Faces) -> MaterialBlend:
        """From weights (n, k) painted on vertices; a face takes the mean of its corners."""
        materials, corners = _several("materials", materials), _corners(faces)
        painted, least = numbers("weights", weights), int(corners.max(initial=-1)) + 1
        if painted.ndim != 2 or painted.shape[1] != len(materials) or len(painted) < least:
            raise input_error(
                "a blend painted on vertices has a weight for each vertex and material", got=painted.shape,
                allowed=f"({least}, {len(materials)})",
            )  # fmt: skip
        return cls(materials, painted[corners].mean(axis=1))

    @classmethod
    def by_region(
        cls, base: ShellMaterial, regions: Sequence[ShellMaterial], labels: Integers, faces: Faces,
        *, on: Literal["faces", "vertices"],
    ) -> MaterialBlend:  # fmt: skip
        """`labels` (f,) or (n,): region of each face or vertex, −1 for `base`; vertex labels blend across seams."""
        need(ShellMaterial, "base", base)
        if not isinstance(on, str) or on not in ("faces", "vertices"):
            raise input_error("labels are of faces or of vertices", where="on", got=on, allowed="'faces', 'vertices'")
        regions = _several("regions", regions)
        given = numbers("labels", labels)
        if given.ndim != 1 or not ((given >= -1) & (given < len(regions)) & (given == np.floor(given))).all():
            raise input_error(
                "labels must be whole numbers, one each", where="labels", got=labels,
                allowed=f"-1 (the base) to {len(regions) - 1}",
            )  # fmt: skip
        weights = np.eye(len(regions) + 1)[given.astype(np.int64) + 1]
        if on == "faces":
            return cls((base, *regions), weights)
        return cls.by_vertex((base, *regions), weights, faces)

    @property
    def constant(self) -> bool:
        """Whether nothing is keyed."""
        return all(material.constant for material in self.materials)

    @property
    def woven(self) -> bool:
        """Whether a material has a direction."""
        return any(material.woven for material in self.materials)

    @property
    def limited(self) -> bool:
        """Whether a material has a strain limit."""
        return any(material.limited for material in self.materials)

    def at(self, time: float) -> ShellFields:
        """The parameters of every face at a time [s]."""
        now = [material.at(time) for material in self.materials]

        def mix(name: str) -> Vector:
            values = np.array([float(getattr(material, name)) for material in now])
            if name in _BY_LOGARITHM:
                return np.exp(self.weights @ np.log(values))
            if name == "yield_curvature":
                with np.errstate(divide="ignore"):
                    return 1.0 / (self.weights @ (1.0 / values))
            return self.weights @ values

        plain = [field.name for field in fields(ShellFields) if field.name not in OPTIONAL]
        found = ShellFields(**{name: mix(name) for name in plain}, weft=None, shear=None, strain_limit=None)
        if self.woven:
            found = self._woven(found, np.array([woven_constants(material) for material in now]))
        if self.limited:
            limits = [one.strain_limit for one in now]
            tightness = self.weights @ np.array([0.0 if one is None else 1.0 / Curve.of(one).at(0.0) for one in limits])
            limit = np.divide(1.0, tightness, out=np.full(len(tightness), np.inf), where=tightness > 0)
            found = replace(found, strain_limit=limit)
        return found

    def _woven(self, found: ShellFields, constants: Array) -> ShellFields:
        """With the blended moduli of materials whose constants (k, 4) are E₁, E₂, ν₁₂ and G."""
        young, weft, poisson, shear = constants.T
        across, sliding = (np.exp(self.weights @ np.log(values)) for values in (weft, shear))
        even = self.weights @ (poisson * np.sqrt(weft / young))  # √(ν₁₂ν₂₁), below one for a sound material
        return replace(found, weft=across, shear=sliding, poisson=even * np.sqrt(found.young / across))
