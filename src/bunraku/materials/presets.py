"""Named shell materials. Each says where its numbers come from.

Real sheets span four decades and differ from batch to batch; these are round, mid-range values. Woven cloth is given by
what the KES-F and Cusick tests of textile laboratories measure in its range of weights: areal weight, thickness,
bending rigidity and shear. Its Young's moduli are *effective*: chosen so that E h³ / 12(1 − ν²) is the measured bending
rigidity, which is what one sees. Threads pulled straight are ten times stiffer or more; no prop shows it, and every
step would be dearer. Strain limits are left to the shot: a guide may stretch cloth further than its threads would
allow, and would then fight it. Penava et al. 2014 measured about 0.06 for cotton and polyester, 0.085 for wool.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

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


PRESETS: dict[str, Preset] = {
    "silk": Preset(
        _cloth(70, 0.2, 1.5, 1.2, 0.12, poisson=0.25, stretch_damping=5e-4, bend_damping=5e-4, drag=0.03),
        "light silk: 60–80 g/m², bending rigidity of 1–3 µN·m and shear of 20–40 N/m as KES-F finds for dress silks; "
        "nearly undamped, as the flowing satchel of TRACKS §5.3",
    ),
    "cotton": Preset(
        _cloth(190, 0.4, 1.0, 0.7, 0.1, poisson=0.25, stretch_damping=2e-3, bend_damping=4e-3, drag=0.05),
        "plain woven cotton: ν = 0.24 and 0.3–0.4 mm of Penava et al. 2014, a heavier shirting's 190 g/m²; bending "
        "rigidity 5–10 µN·m and shear 30–60 N/m in the KES-F range of shirtings",
    ),
    "denim": Preset(
        _cloth(475, 0.9, 1.0, 0.6, 0.15, poisson=0.2, stretch_damping=3e-3, bend_damping=6e-3, drag=0.05),
        "14 oz denim: 475 g/m², 0.9 mm; bending rigidity 40–100 µN·m along the warp, about half across",
    ),
    "wool": Preset(
        _cloth(235, 0.57, 0.65, 0.5, 0.08, poisson=0.28, stretch_damping=3e-3, bend_damping=6e-3, drag=0.05),
        "wool suiting: 235 g/m², 0.57 mm and ν = 0.28 of Penava et al. 2014; bending rigidity 8–15 µN·m in the KES-F "
        "range of suitings",
    ),
    "canvas": Preset(
        _cloth(400, 0.7, 3.5, 3.0, 0.3, poisson=0.2, stretch_damping=2e-3, bend_damping=5e-3, drag=0.05),
        "12 oz cotton duck: 400 g/m², 0.7 mm; bending rigidity about 100 µN·m, tightly woven and so firm in shear",
    ),
    "nylon": Preset(
        _cloth(37, 0.07, 100, 85, 12, poisson=0.2, bend_scale=0.6, stretch_damping=5e-4, bend_damping=1e-3, drag=0.05),
        "ripstop parachute nylon: 1.1 oz/yd² (37 g/m²), 0.07 mm; filaments hardly stretch, bending rigidity 1–3 µN·m",
    ),
    "felt": Preset(
        ShellMaterial(
            young=1e6, poisson=0.1, thickness=1.5e-3, density=250, stretch_damping=4e-3, bend_damping=1e-2, drag=0.05
        ),
        "pressed wool felt: 0.2–0.3 g/cm³, modulus of the order of 1 MPa, no direction",
    ),
    "leather": Preset(
        ShellMaterial(
            young=2e7, poisson=0.4, thickness=1.5e-3, density=900, stretch_damping=4e-3, bend_damping=1e-2
        ),
        "upholstery leather: modulus 10–50 MPa, 0.9 g/cm³, 1–2 mm in engineering tables",
    ),
    "vinyl": Preset(
        ShellMaterial(
            young=5e6, poisson=0.4, thickness=2e-3, density=1300, stretch_damping=4e-3, bend_damping=8e-3
        ),
        "plasticised PVC sheet: modulus 2–20 MPa and density 1200–1350 kg/m³ in engineering tables; "
        "well damped, as in TRACKS §5.3",
    ),
    "rubber": Preset(
        ShellMaterial(
            young=1.5e6, poisson=0.49, thickness=0.5e-3, density=950, stretch_damping=1e-3, bend_damping=2e-3
        ),
        "natural rubber sheet of 0.5 mm: modulus 1–2 MPa, hardly compressible, 0.93–0.97 g/cm³ in engineering tables",
    ),
    "paper": Preset(
        ShellMaterial(
            young=3e9, weft=1.5e9, shear=8e8, poisson=0.25, thickness=0.1e-3, weight=80,
            stretch_damping=1e-4, bend_damping=1e-3,
        ),
        "office paper: 80 g/m², 0.1 mm, modulus 2–4 GPa along the machine and about half across",
    ),
    "cellophane": Preset(
        ShellMaterial(
            young=4e9, weft=2e9, shear=1e9, poisson=0.3, thickness=23e-6, density=1450,
            stretch_damping=1e-4, bend_damping=5e-4,
        ),
        "regenerated cellulose film of 23 µm: 1.45 g/cm³, modulus 3–5 GPa along the machine and about half across",
    ),
    "foil": Preset(
        ShellMaterial(
            young=69e9, poisson=0.33, thickness=16e-6, density=2700, stretch_damping=1e-5, bend_damping=5e-4
        ),
        "household aluminium foil of 16 µm: 69 GPa, ν = 0.33, 2.7 g/cm³",
    ),
}  # fmt: skip


def preset(name: str) -> ShellMaterial:
    """The preset of that name; a misspelt one is answered with the nearest."""
    if name in PRESETS:
        return PRESETS[name].material
    near = difflib.get_close_matches(name, PRESETS, n=1)
    raise input_error("unknown material", got=name, allowed=", ".join(PRESETS), remedy=f"'{near[0]}'" if near else "")


def as_material(given: ShellMaterial | str) -> ShellMaterial:
    """A material, or the preset it names."""
    if isinstance(given, ShellMaterial):
        return given
    if isinstance(given, str):
        return preset(given)
    raise input_error("not a material", got=given, allowed=f"a ShellMaterial or one of {', '.join(PRESETS)}")
