"""Named solid materials. Each says where its numbers come from.

Soft matter differs from batch to batch by factors, so these are round, mid-range values, and each source says which are
merely typical. Poisson's ratios of what hardly changes its volume are given as 0.45 to 0.47, not 0.499: linear
tetrahedra lock beyond that, and a body that locks is stiffer than one that is a little compressible. Those follow the
Neo-Hookean law, which has no kinks where elements are inside out. Dampings are chosen by eye: a jelly wobbles on, flesh
and foam do not.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bunraku.contracts import input_error

from .solid import SOLID_KEYS, SolidMaterial


@dataclass(frozen=True)
class SolidPreset:
    """A named solid and its source."""

    material: SolidMaterial
    source: str


_TYPICAL = "typical values, not measured here: "

SOLID_PRESETS: dict[str, SolidPreset] = {
    "rubber": SolidPreset(
        SolidMaterial(young=5e5, poisson=0.45, density=950.0, stiffness_damping=3e-3, law="neohookean"),
        _TYPICAL + "soft natural rubber or silicone of a toy, modulus 0.3–1 MPa (Shore A 10–25), 0.93–1.1 g/cm³",
    ),
    "tyre": SolidPreset(
        SolidMaterial(young=4e6, poisson=0.46, density=1150.0, stiffness_damping=1e-3, law="neohookean"),
        _TYPICAL + "filled rubber of a tyre or a sole, modulus 2–6 MPa (Shore A 60–70), 1.1–1.2 g/cm³",
    ),
    "jelly": SolidPreset(
        SolidMaterial(young=5e3, poisson=0.45, density=1030.0, stiffness_damping=4e-3, law="neohookean"),
        _TYPICAL + "gelatin of 5–10 %, modulus 2–20 kPa, hardly denser than water; wobbles on by choice",
    ),
    "foam": SolidPreset(
        SolidMaterial(young=5e4, poisson=0.1, density=40.0, stiffness_damping=1e-2, mass_damping=0.2),
        _TYPICAL + "open-celled polyurethane foam of 25–60 kg/m³, modulus 30–100 kPa, Poisson's ratio near 0 in "
        "compression; air in the cells damps it",
    ),
    "sponge": SolidPreset(
        SolidMaterial(young=1.5e4, poisson=0.1, density=30.0, stiffness_damping=2e-2, mass_damping=0.3),
        _TYPICAL + "household sponge, softer than upholstery foam, modulus 10–30 kPa",
    ),
    "flesh": SolidPreset(
        SolidMaterial(young=2e4, poisson=0.45, density=1050.0, stiffness_damping=1.2e-2, law="neohookean"),
        _TYPICAL + "relaxed muscle across its fibres, modulus 5–30 kPa, 1.06 g/cm³; well damped, as tissue is",
    ),
    "fat": SolidPreset(
        SolidMaterial(young=5e3, poisson=0.46, density=920.0, stiffness_damping=1.5e-2, law="neohookean"),
        _TYPICAL + "adipose tissue, modulus 2–10 kPa, 0.92 g/cm³",
    ),
    "dough": SolidPreset(
        SolidMaterial(young=1e4, poisson=0.4, density=1100.0, stiffness_damping=5e-2, law="neohookean"),
        _TYPICAL + "bread dough before it flows, modulus of the order of 10 kPa; overdamped by choice",
    ),
    "marshmallow": SolidPreset(
        SolidMaterial(young=2e4, poisson=0.3, density=400.0, stiffness_damping=1e-2),
        _TYPICAL + "aerated sugar and gelatin of 0.3–0.5 g/cm³, modulus 10–40 kPa",
    ),
    "cork": SolidPreset(
        SolidMaterial(young=2e7, poisson=0.0, density=180.0, stiffness_damping=3e-4),
        _TYPICAL + "natural cork of 120–240 kg/m³, modulus 10–30 MPa, famous for a Poisson's ratio of nearly 0",
    ),
}


def solid_preset(name: str) -> SolidMaterial:
    """The preset of that name; a misspelt one is answered with the nearest."""
    if name in SOLID_PRESETS:
        return SOLID_PRESETS[name].material
    near = difflib.get_close_matches(name, SOLID_PRESETS, n=1)
    raise input_error(
        "unknown solid material", got=name, allowed=", ".join(SOLID_PRESETS), remedy=f"'{near[0]}'" if near else ""
    )


def as_solid(given: SolidMaterial | str | Mapping[str, Any]) -> SolidMaterial:
    """A solid material, the preset a name names, or a preset with changes: `{"preset": "jelly", "young": 8e3}`."""
    if isinstance(given, SolidMaterial):
        return given
    if isinstance(given, str):
        return solid_preset(given)
    if isinstance(given, Mapping):
        return _changed(dict(given))
    allowed = f"a SolidMaterial, one of {', '.join(SOLID_PRESETS)}, or {{'preset': name, …}}"
    raise input_error("not a solid material", got=given, allowed=allowed)


def _changed(given: dict[str, Any]) -> SolidMaterial:
    """A preset, or a bare material, with other values."""
    name = given.pop("preset", None)
    unknown = [key for key in given if key not in SOLID_KEYS]
    if unknown:
        near = difflib.get_close_matches(str(unknown[0]), SOLID_KEYS, n=1)
        allowed, remedy = ", ".join(("preset", *SOLID_KEYS)), f"'{near[0]}'" if near else ""
        raise input_error("a solid material has no such key", got=unknown[0], allowed=allowed, remedy=remedy)
    if name is None and "young" not in given:
        raise input_error("a solid material needs a preset or at least young", got=", ".join(given) or "nothing")
    if name is not None and not isinstance(name, str):
        raise input_error("the preset of a solid material is a name", got=name, allowed=", ".join(SOLID_PRESETS))
    return SolidMaterial(**given) if name is None else replace(solid_preset(name), **given)
