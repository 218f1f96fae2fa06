"""Named shell materials. Each says where its numbers come from.

Moduli of real sheets span four decades and depend on direction; these are round, isotropic,
mid-range values chosen to behave like the thing they are named after at the scale of a prop or a
garment. The bending rigidity follows from the same constants (D = E h³ / 12(1 − ν²)); for woven cloth
the modulus is therefore an *effective* one, between the stiffer membrane and the softer bending.
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


PRESETS: dict[str, Preset] = {
    "vinyl": Preset(
        ShellMaterial(
            young=5e6, poisson=0.4, thickness=2e-3, density=1300, stretch_damping=4e-3, bend_damping=8e-3
        ),
        "plasticised PVC sheet: modulus 2–20 MPa and density 1200–1350 kg/m³ in engineering tables; "
        "well damped, as in TRACKS §5.3",
    ),
    "cotton": Preset(
        ShellMaterial(
            young=1e6, poisson=0.3, thickness=0.4e-3, density=480,
            stretch_damping=2e-3, bend_damping=4e-3, drag=0.05,
        ),
        "woven cotton: 0.19 kg/m² and 0.3–0.5 mm, the order of Penava et al. 2014",
    ),
    "silk": Preset(
        ShellMaterial(
            young=6e5, poisson=0.3, thickness=0.2e-3, density=500,
            stretch_damping=5e-4, bend_damping=5e-4, drag=0.05,
        ),
        "light silk: about 0.1 kg/m², 0.2 mm; nearly undamped, as the flowing satchel of TRACKS §5.3",
    ),
    "leather": Preset(
        ShellMaterial(
            young=2e7, poisson=0.4, thickness=1.5e-3, density=900, stretch_damping=4e-3, bend_damping=1e-2
        ),
        "upholstery leather: modulus 10–50 MPa, 0.9 g/cm³, 1–2 mm in engineering tables",
    ),
    "paper": Preset(
        ShellMaterial(
            young=2e9, poisson=0.2, thickness=0.1e-3, density=800, stretch_damping=1e-4, bend_damping=1e-3
        ),
        "office paper: 80 g/m², 0.1 mm, modulus 2–4 GPa",
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
