"""Skins that are thicker or stiffer in some places than in others."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Vector, input_error
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, SkinOnSoft, VaryingSkin


def blended(skin: object, mesh: TriMesh) -> MaterialBlend | None:
    """The materials of a skin that has several, checked against its mesh; None of any other."""
    if not isinstance(skin, MaterialBlend):
        return None
    if len(skin.weights) != len(mesh.faces):
        raise input_error(
            "a blend of materials has weights for each face of the body", where="skin", got=len(skin.weights),
            allowed=str(len(mesh.faces)), remedy="bk.MaterialBlend.by_vertex(materials, weights, mesh.faces)",
        )  # fmt: skip
    return skin


def areal_masses(blend: MaterialBlend) -> Vector:
    """(f,) mass per area of each face [kg/m²]."""
    fields = blend.at(0.0)
    return fields.density * fields.thickness


def vertex_wavelengths(mesh: TriMesh, blend: MaterialBlend, layers: SkinOnSoft) -> Vector:
    """(n,) how long waves are at each vertex [m], the mean of its faces; `layers` says what the skin is on."""
    lengths = VaryingSkin(blend.at(0.0), layers.under, layers.poisson_under).wavelength
    flat, each = mesh.faces.reshape(-1), np.repeat(lengths, 3)
    total, count = np.bincount(flat, each, mesh.point_count), np.bincount(flat, minlength=mesh.point_count)
    return np.where(count > 0, total / np.maximum(count, 1), lengths.mean())
