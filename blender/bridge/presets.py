# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of bunraku's materials, and the numbers of them that may be changed; a test holds them equal to bunraku's."""

SHELLS = (
    "silk", "cotton", "denim", "wool", "canvas", "nylon", "felt", "leather", "vinyl", "rubber", "paper", "cellophane",
    "foil",
)  # fmt: skip
SKINS = ("felt", "leather", "vinyl", "rubber", "foil")
"""those a skin may be made of"""
SOLIDS = ("rubber", "tyre", "jelly", "foam", "sponge", "flesh", "fat", "dough", "marshmallow", "cork")
SHELL_NUMBERS = {
    "young": ("Young's modulus", "Pa: how hard it is to stretch", 1e6),
    "thickness": ("Thickness", "m", 0.001),
    "density": ("Density", "kg/m³", 1000.0),
    "bend_scale": ("Bending", "times as stiff against bending as that makes it", 1.0),
    "stretch_damping": ("Stretch damping", "s: how long it takes to be stretched", 0.001),
    "bend_damping": ("Bend damping", "s: how long it takes to be bent", 0.001),
    "drag": ("Drag", "of still air, kg/(m²s)", 0.1),
}
"""key → its name, its unit and what it is, and where a slider begins"""
SOLID_NUMBERS = {
    "young": ("Young's modulus", "Pa: how hard it is to deform", 1e5),
    "poisson": ("Poisson's ratio", "0: it loses volume, 0.5: it keeps it", 0.4),
    "density": ("Density", "kg/m³", 1000.0),
    "stiffness_damping": ("Damping", "s: how long it takes to be deformed", 0.01),
}
SKIN_NUMBERS = {key: SHELL_NUMBERS[key] for key in ("young", "thickness", "density")}
