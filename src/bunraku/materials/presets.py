"""Named shell materials. Each says where its numbers come from.

Real sheets span four decades and differ from batch to batch; these are round, mid-range values, and each source says
which of them are merely typical. Woven cloth is given by what textile laboratories measure: areal weight, thickness,
bending rigidity and shear. Its Young's moduli are *effective*: chosen so that E h³ / 12(1 − ν²) is the measured bending
rigidity, which is what one sees. Threads pulled straight are ten times stiffer or more; no prop shows it, and every
step would be dearer. Strain limits are left to the shot: a guide may stretch cloth further than its threads would
allow, and would then fight it. Penava et al. 2014 measured about 0.06 for cotton and polyester, 0.085 for wool.
A solid sheet of thickness h sets when its faces are strained by ε, at the curvature 2 ε/h. A mesh shows curvatures up
to about π over its edge: what yields beyond that does not set on it, however sharply it is folded.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from bunraku.contracts import input_error

from .shell import ShellMaterial


@dataclass(frozen=True)
class Preset:
    """A named material and its source."""

    material: ShellMaterial
    source: str


def _cloth(weight: float, thickness: float, young: float, weft: float, shear: float, **more: float) -> ShellMaterial:
    """A woven fabric: weight [g/m²], thickness [mm], moduli [MPa]."""
    return ShellMaterial(
        young=1e6 * young, weft=1e6 * weft, shear=1e6 * shear, thickness=1e-3 * thickness, weight=weight, **more
    )


def _yield_curvature(strain: float, thickness: float) -> float:
    """Of a solid sheet [1/m]: its faces are strained by ½ h κ."""
    return 2.0 * strain / thickness


_TYPICAL = "typical values, not measured here: "

PRESETS: dict[str, Preset] = {
    "silk": Preset(
        _cloth(70, 0.2, 1.5, 1.2, 0.12, poisson=0.25, stretch_damping=5e-4, bend_damping=5e-4, drag=0.03),
        _TYPICAL + "light dress silk of 60–80 g/m², bending rigidity 1–3 µN·m, shear 20–40 N/m; nearly undamped by "
        "choice, as the flowing satchel of TRACKS §5.3",
    ),
    "cotton": Preset(
        _cloth(190, 0.4, 1.0, 0.7, 0.1, poisson=0.25, stretch_damping=2e-3, bend_damping=4e-3, drag=0.05),
        "ν = 0.25 rounds the 0.243 of Penava et al. 2014, whose cotton is thinner (0.32 mm, 150 g/m²); all else are "
        "typical values of a heavier shirting, not measured here: bending rigidity 5–10 µN·m, shear 30–60 N/m",
    ),
    "denim": Preset(
        _cloth(475, 0.9, 1.0, 0.6, 0.15, poisson=0.2, stretch_damping=3e-3, bend_damping=6e-3, drag=0.05),
        _TYPICAL + "14 oz denim of 475 g/m² and 0.9 mm, bending rigidity 40–100 µN·m along the warp, less across",
    ),
    "wool": Preset(
        _cloth(235, 0.57, 0.65, 0.5, 0.08, poisson=0.28, stretch_damping=3e-3, bend_damping=6e-3, drag=0.05),
        "235 g/m², 0.57 mm and ν = 0.28 of Penava et al. 2014; all else are typical values of a suiting, not measured "
        "here: bending rigidity 8–15 µN·m",
    ),
    "canvas": Preset(
        _cloth(400, 0.7, 3.5, 3.0, 0.3, poisson=0.2, stretch_damping=2e-3, bend_damping=5e-3, drag=0.05),
        _TYPICAL + "12 oz cotton duck of 400 g/m² and 0.7 mm, bending rigidity about 100 µN·m, tightly woven and so "
        "firm in shear",
    ),
    "nylon": Preset(
        _cloth(37, 0.07, 100, 85, 12, poisson=0.2, bend_scale=0.6, stretch_damping=5e-4, bend_damping=1e-3, drag=0.05),
        _TYPICAL + "ripstop parachute nylon of 1.1 oz/yd² (37 g/m²) and 0.07 mm; filaments hardly stretch, bending "
        "rigidity 1–3 µN·m",
    ),
    "felt": Preset(
        ShellMaterial(
            young=1e6, poisson=0.1, thickness=1.5e-3, density=250, stretch_damping=4e-3, bend_damping=1e-2, drag=0.05
        ),
        _TYPICAL + "pressed wool felt of 0.2–0.3 g/cm³, modulus of the order of 1 MPa, no direction",
    ),
    "leather": Preset(
        ShellMaterial(
            young=2e7, poisson=0.4, thickness=1.5e-3, density=900, stretch_damping=4e-3, bend_damping=1e-2
        ),
        _TYPICAL + "upholstery leather of 1–2 mm, modulus 10–50 MPa, 0.9 g/cm³; it creeps rather than yields, so no "
        "yield curvature is given",
    ),
    "vinyl": Preset(
        ShellMaterial(
            young=5e6, poisson=0.4, thickness=2e-3, density=1300, stretch_damping=4e-3, bend_damping=8e-3
        ),
        _TYPICAL + "plasticised PVC sheet, modulus 2–20 MPa, 1200–1350 kg/m³; well damped by choice, as in TRACKS "
        "§5.3; it creeps rather than yields, so no yield curvature is given",
    ),
    "rubber": Preset(
        ShellMaterial(
            young=1.5e6, poisson=0.49, thickness=0.5e-3, density=950, stretch_damping=1e-3, bend_damping=2e-3
        ),
        _TYPICAL + "natural rubber sheet of 0.5 mm, modulus 1–2 MPa, hardly compressible, 0.93–0.97 g/cm³",
    ),
    "paper": Preset(
        ShellMaterial(
            young=3e9, weft=1.5e9, shear=8e8, poisson=0.25, thickness=0.1e-3, weight=80,
            stretch_damping=1e-4, bend_damping=1e-3, yield_curvature=_yield_curvature(5e-3, 0.1e-3),
        ),
        _TYPICAL + "office paper of 80 g/m² and 0.1 mm, modulus 2–4 GPa along the machine and about half across; it "
        "yields at a strain of 0.5–1 %, here 0.5 %; no hardening is claimed",
    ),
    "cellophane": Preset(
        ShellMaterial(
            young=4e9, weft=2e9, shear=1e9, poisson=0.3, thickness=23e-6, density=1450,
            stretch_damping=1e-4, bend_damping=5e-4, yield_curvature=_yield_curvature(2e-2, 23e-6),
        ),
        _TYPICAL + "regenerated cellulose film of 23 µm, 1.45 g/cm³, modulus 3–5 GPa along the machine and about half "
        "across; it yields at a strain of 2–3 %, here 2 %; no hardening is claimed",
    ),
    "foil": Preset(
        ShellMaterial(
            young=69e9, poisson=0.33, thickness=16e-6, density=2700, stretch_damping=1e-5, bend_damping=5e-4,
            yield_curvature=_yield_curvature(1e-3, 16e-6), hardening=2e-3,
        ),
        _TYPICAL + "household aluminium foil of 16 µm, 69 GPa, ν = 0.33, 2.7 g/cm³; soft aluminium yields at a strain "
        "of about 0.1 %; the hardening is chosen by eye",
    ),
}  # fmt: skip


MATERIAL_KEYS = (*(field.name for field in fields(ShellMaterial)), "weight")
"""what may differ from a preset"""


def preset(name: str) -> ShellMaterial:
    """The preset of that name; a misspelt one is answered with the nearest."""
    if name in PRESETS:
        return PRESETS[name].material
    near = difflib.get_close_matches(name, PRESETS, n=1)
    raise input_error("unknown material", got=name, allowed=", ".join(PRESETS), remedy=f"'{near[0]}'" if near else "")


def as_material(given: ShellMaterial | str | Mapping[str, Any]) -> ShellMaterial:
    """A material, the preset a name names, or a preset with changes: `{"preset": "cotton", "weight": 150}`."""
    if isinstance(given, ShellMaterial):
        return given
    if isinstance(given, str):
        return preset(given)
    if isinstance(given, Mapping):
        return _changed(dict(given))
    allowed = f"a ShellMaterial, one of {', '.join(PRESETS)}, or {{'preset': name, …}}"
    raise input_error("not a material", got=given, allowed=allowed)


def _changed(given: dict[str, Any]) -> ShellMaterial:
    """A preset, or a bare material, with other values."""
    name = given.pop("preset", None)
    unknown = [key for key in given if key not in MATERIAL_KEYS]
    if unknown:
        near = difflib.get_close_matches(str(unknown[0]), MATERIAL_KEYS, n=1)
        allowed, remedy = ", ".join(("preset", *MATERIAL_KEYS)), f"'{near[0]}'" if near else ""
        raise input_error("a material has no such key", got=unknown[0], allowed=allowed, remedy=remedy)
    if name is None and "young" not in given:
        raise input_error("a material needs a preset or at least young", got=", ".join(given) or "nothing")
    if name is not None and not isinstance(name, str):
        raise input_error("the preset of a material is a name", got=name, allowed=", ".join(PRESETS))
    base = ShellMaterial(young=1.0) if name is None else preset(name)
    if "weight" in given:  # instead of the preset's density
        given = {"density": None, **given}
    return replace(base, **given)
