"""Creased shapes of a mesh, to be rest shapes: accordion folds, ridges around a body, crinkles.

Each moves vertices along their normals by a function of place alone, so that a finer mesh has the same creases. The
faces stay; edges grow by what the creases need, as if the sheet had been moulded rather than folded.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, input_error, is_between, need, whole_number

from .topology import edges
from .trimesh import TriMesh, vertex_normals

AXES = ("x", "y", "z")


def accordion(
    mesh: TriMesh, *, depth: float, folds: int | None = None, wavelength: float | None = None, axis: str = "y"
) -> Points:
    """(n, 3) zigzag folds that follow each other along an axis; along y they are horizontal.

    Args:
        depth: from the bottom of a fold to its top, along the normals [m].
        folds: how many whole folds over the mesh's extent, or
        wavelength: the length of one along the axis [m].
        axis: "x", "y" or "z".
    """
    _check(mesh)
    along = mesh.rest[:, _axis(axis)]
    begin, extent = float(along.min()), float(np.ptp(along))
    length = _one_wavelength("folds", folds, wavelength, extent)
    phase = (along - begin) / length
    _resolved(mesh, phase[:, None], length)
    zigzag = 4.0 * np.abs(phase - np.floor(phase + 0.5)) - 1.0  # −1 … 1, from the bottom
    return _raised(mesh, 0.5 * _number("depth", depth) * zigzag)


def ridges(
    mesh: TriMesh, *, depth: float, count: int | None = None, wavelength: float | None = None, axis: str = "y"
) -> Points:
    """(n, 3) round ridges that run along an axis, around the body; about y they are vertical.

    An open sheet has no way around it: take `accordion` along its width.

    Args:
        depth: from the bottom of a ridge to its top, along the normals [m].
        count: how many around the axis through the middle of the mesh's extent, or
        wavelength: from one to the next at the mean distance from that axis [m].
        axis: "x", "y" or "z".
    """
    _check(mesh)
    k = _axis(axis)
    middle = 0.5 * (mesh.rest.min(axis=0) + mesh.rest.max(axis=0))
    u, v = (mesh.rest[:, other] - middle[other] for other in ((k + 1) % 3, (k + 2) % 3))
    around = 2.0 * np.pi * float(np.hypot(u, v).mean())
    number = max(round(around / _one_wavelength("count", count, wavelength, around)), 1)
    turn = np.arctan2(v, u)
    # A chord of the circle stands for its arc: it has no seam.
    _resolved(mesh, number / (2.0 * np.pi) * np.column_stack([np.cos(turn), np.sin(turn)]), around / number)
    return _raised(mesh, 0.5 * _number("depth", depth) * np.cos(number * turn))


def crinkle(mesh: TriMesh, *, depth: float, wavelength: float, seed: int = 0) -> Points:
    """(n, 3) smooth random bumps.

    Args:
        depth: between the lowest and the highest bump there can be, along the normals [m].
        wavelength: how far bumps lie apart [m].
        seed: another number, other bumps.
    """
    _check(mesh)
    whole_number("seed", seed)
    _resolved(mesh, mesh.rest / _number("wavelength", wavelength), wavelength)
    places = mesh.rest / (0.5 * wavelength)  # a bump and a dent, a cell each
    return _raised(mesh, _number("depth", depth) * (value_noise(places, seed) - 0.5))


def value_noise(places: Array, seed: int) -> Vector:
    """(n,) smooth noise from 0 to 1 at places (n, 3): a random number at each whole point, C² in between."""
    cell = np.floor(places)
    u = places - cell
    u = u * u * u * (u * (6.0 * u - 15.0) + 10.0)
    total = np.zeros(len(places))
    for corner in np.ndindex(2, 2, 2):
        step = np.array(corner)
        weight = np.where(step == 1, u, 1.0 - u).prod(axis=1)
        total += weight * _hashed((cell + step).astype(np.int64), seed)
    return total


def _hashed(cells: Integers, seed: int) -> Vector:
    """(n,) a number from 0 to 1 for each whole point (n, 3), the same on every machine."""
    with np.errstate(over="ignore"):
        mixed = np.full(len(cells), seed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
        for axis in range(3):
            mixed = (mixed ^ cells[:, axis].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
            mixed *= np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(32)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def _raised(mesh: TriMesh, by: Vector) -> Points:
    return mesh.rest + by[:, None] * vertex_normals(mesh.rest, mesh.faces)


def _check(mesh: TriMesh) -> None:
    need(TriMesh, "mesh", mesh)
    if not len(mesh.faces):
        raise input_error("a mesh without faces has no creases", got=f"{mesh.point_count} vertices")


def _axis(axis: str) -> int:
    if axis not in AXES:
        raise input_error("unknown axis", got=axis, allowed=", ".join(AXES))
    return AXES.index(axis)


def _number(name: str, value: float) -> float:
    if not is_between(value, np.nextafter(0.0, 1.0), np.finfo(np.float64).max):
        raise input_error(f"{name} must be above zero", got=value if isinstance(value, Real) else repr(value))
    return float(value)


def _one_wavelength(name: str, count: int | None, wavelength: float | None, extent: float) -> float:
    """[m] from a count over an extent or a wavelength, exactly one of which was given."""
    if (count is None) == (wavelength is None):
        raise input_error(f"needs either '{name}' or 'wavelength'", got="neither" if count is None else "both")
    if extent <= 0:
        raise input_error("the mesh has no extent along this axis", remedy="another axis")
    if wavelength is not None:
        return _number("wavelength", wavelength)
    assert count is not None
    return extent / _number(name, count)


def _resolved(mesh: TriMesh, phase: Array, wavelength: float) -> None:
    """Refuse creases that the mesh's edges would step over; `phase` (n, d) is a place in wavelengths."""
    start, end = edges(mesh.faces).vertices.T
    steps = np.linalg.norm(phase[end] - phase[start], axis=1)
    steps = steps[steps > 1e-9]  # edges along a crease do not count
    step = float(np.median(steps)) if len(steps) else 0.0
    if step > 0.5:
        raise input_error(
            "the mesh is too coarse for such creases", got=f"wavelength {wavelength:.3g} m",
            allowed=f"from {2.0 * step * wavelength:.3g} m, two edges", remedy="a finer mesh, or a longer wavelength",
        )  # fmt: skip
