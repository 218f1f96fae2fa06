# SPDX-License-Identifier: GPL-3.0-or-later
"""bunraku's materials and the numbers of them that may be changed; a test holds them equal to bunraku's."""

from collections.abc import Mapping

SHELL_NUMBERS = {
    "young": ("Young's modulus", "Pa: how hard it is to stretch"),
    "thickness": ("Thickness", "m"),
    "density": ("Density", "kg/m³"),
    "bend_scale": ("Bending", "times as stiff against bending as that makes it"),
    "stretch_damping": ("Stretch damping", "s: how long it takes to be stretched"),
    "bend_damping": ("Bend damping", "s: how long it takes to be bent"),
    "drag": ("Drag", "of still air, kg/(m²s)"),
}
"""key → its name, its unit and what it is"""
SOLID_NUMBERS = {
    "young": ("Young's modulus", "Pa: how hard it is to deform"),
    "poisson": ("Poisson's ratio", "0: it loses volume, 0.5: it keeps it"),
    "density": ("Density", "kg/m³"),
    "stiffness_damping": ("Damping", "s: how long it takes to be deformed"),
}
SKIN_NUMBERS = {key: SHELL_NUMBERS[key] for key in ("young", "thickness", "density")}
_SHELLS = {
    "silk": (1.5e6, 0.0002, 350.0, 1.0, 0.0005, 0.0005, 0.03),
    "cotton": (1e6, 0.0004, 475.0, 1.0, 0.002, 0.004, 0.05),
    "denim": (1e6, 0.0009, 527.777778, 1.0, 0.003, 0.006, 0.05),
    "wool": (6.5e5, 0.00057, 412.280702, 1.0, 0.003, 0.006, 0.05),
    "canvas": (3.5e6, 0.0007, 571.428571, 1.0, 0.002, 0.005, 0.05),
    "nylon": (1e8, 0.00007, 528.571429, 0.6, 0.0005, 0.001, 0.05),
    "felt": (1e6, 0.0015, 250.0, 1.0, 0.004, 0.01, 0.05),
    "leather": (2e7, 0.0015, 900.0, 1.0, 0.004, 0.01, 0.0),
    "vinyl": (5e6, 0.002, 1300.0, 1.0, 0.004, 0.008, 0.0),
    "rubber": (1.5e6, 0.0005, 950.0, 1.0, 0.001, 0.002, 0.0),
    "paper": (3e9, 0.0001, 800.0, 1.0, 0.0001, 0.001, 0.0),
    "cellophane": (4e9, 0.000023, 1450.0, 1.0, 0.0001, 0.0005, 0.0),
    "foil": (6.9e10, 0.000016, 2700.0, 1.0, 0.00001, 0.0005, 0.0),
}
_SOLIDS = {
    "rubber": (5e5, 0.45, 950.0, 0.003),
    "tyre": (4e6, 0.46, 1150.0, 0.001),
    "jelly": (5e3, 0.45, 1030.0, 0.004),
    "foam": (5e4, 0.1, 40.0, 0.01),
    "sponge": (1.5e4, 0.1, 30.0, 0.02),
    "flesh": (2e4, 0.45, 1050.0, 0.012),
    "fat": (5e3, 0.46, 920.0, 0.015),
    "dough": (1e4, 0.4, 1100.0, 0.05),
    "marshmallow": (2e4, 0.3, 400.0, 0.01),
    "cork": (2e7, 0.0, 180.0, 0.0003),
}
Presets = Mapping[str, Mapping[str, float]]
"""name → its numbers by their keys"""
SHELLS: Presets = {name: dict(zip(SHELL_NUMBERS, values, strict=True)) for name, values in _SHELLS.items()}
SOLIDS: Presets = {name: dict(zip(SOLID_NUMBERS, values, strict=True)) for name, values in _SOLIDS.items()}
SKINS: Presets = {
    name: {key: SHELLS[name][key] for key in SKIN_NUMBERS} for name in ("felt", "leather", "vinyl", "rubber", "foil")
}
"""those a skin may be made of"""
