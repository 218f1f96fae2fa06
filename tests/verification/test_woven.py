"""Woven sheets against closed forms: pulled along warp, weft and between them; rolled about each direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from plates import square

import bunraku as bk
from bunraku.contracts import Array, InputError
from bunraku.energies import Bending, Membrane
from bunraku.geometry import TriMesh, axis_directions
from bunraku.materials import MaterialBlend, ShellMaterial

E1, E2, NU, G, H = 3e5, 1e5, 0.3, 2e4, 2e-3
CLOTH = ShellMaterial(young=E1, weft=E2, poisson=NU, shear=G, thickness=H)


def modulus(angle: float) -> float:
    """1/E(θ) = c⁴/E₁ + s⁴/E₂ + (1/G − 2ν₁₂/E₁) c²s²; at 45° ¼(1/E₁ + 1/E₂ + 1/G − 2ν₁₂/E₁)."""
    c, s = np.cos(angle), np.sin(angle)
    return 1.0 / (c**4 / E1 + s**4 / E2 + (1 / G - 2 * NU / E1) * c**2 * s**2)


def blend(mesh: TriMesh, angle: float) -> MaterialBlend:
    """The cloth with its warp at an angle to x."""
    warp = axis_directions(mesh, np.array([np.cos(angle), np.sin(angle), 0.0]))
    return replace(MaterialBlend.uniform(CLOTH, len(mesh.faces)), warp=warp)


def compliance(angle: float) -> Array:
    """(3, 3) strains (11, 22, 2·12) of unit stresses for a warp at an angle to x, from the tensor law by hand."""
    own = np.array([[1 / E1, -NU / E1, 0], [-NU / E1, 1 / E2, 0], [0, 0, 1 / G]])
    c, s = np.cos(angle), np.sin(angle)
    stress = np.array([[c * c, s * s, 2 * c * s], [s * s, c * c, -2 * c * s], [-c * s, c * s, c * c - s * s]])
    return stress.T @ own @ stress


def stretched(mesh: TriMesh, strain: Array) -> Array:
    """Points whose Green strain is exactly (E₁₁, E₂₂, 2E₁₂) everywhere: F = (1 + 2E)^½."""
    e = np.array([[strain[0], strain[2] / 2], [strain[2] / 2, strain[1]]])
    values, vectors = np.linalg.eigh(np.eye(2) + 2 * e)
    f = vectors @ np.diag(np.sqrt(values)) @ vectors.T
    return np.column_stack([mesh.rest[:, :2] @ f.T, np.zeros(len(mesh.rest))])


@pytest.mark.parametrize("kind", ["one-diag", "random"])
@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi / 4, 0.3], ids=["warp", "weft", "45°", "17°"])
def test_a_pull_along_x_meets_the_modulus_of_its_direction(kind: str, angle: float) -> None:
    """Strained as the compliance says, the sheet is in uniaxial tension σ: energy ½σ²/E(θ), nothing pulls inside or
    across, and the ends carry σh (times the stretch: the force follows the deformed edge).
    """
    mesh, sigma = square(kind, 6), 40.0  # [Pa] a strain of the order of 1e-3
    strain = compliance(angle) @ [sigma, 0, 0]
    assert strain[0] == pytest.approx(sigma / modulus(angle), rel=1e-12)
    energy = Membrane(mesh, blend(mesh, angle)).elastic(0.0)
    x = stretched(mesh, strain)
    assert energy.value(x) == pytest.approx(0.5 * sigma**2 / modulus(angle) * H, rel=1e-10)
    force = energy.gradient(x)
    inside = (np.abs(mesh.rest[:, :2] - 0.5) < 0.5 - 1e-9).all(axis=1)
    right = mesh.rest[:, 0] > 1 - 1e-9
    pull = force[right].sum(axis=0)
    stretch = (x[:, :2][right] - x[:, :2][0]).mean(axis=0)  # only to see that it is nearly one
    assert stretch[0] == pytest.approx(1.0, abs=1e-2)
    assert np.abs(force[inside]).max() <= 1e-11 * sigma * H / 1e-3
    first = x[1] - x[0]  # a deformed piece of the bottom edge: the direction x of the rest shape
    assert mesh.rest[1, 1] == mesh.rest[0, 1] == 0.0
    along = first / (mesh.rest[1, 0] - mesh.rest[0, 0])
    assert pull == pytest.approx(sigma * H * along, abs=1e-10 * sigma * H / 1e-3)


def test_turning_the_warp_by_a_right_angle_swaps_the_moduli() -> None:
    """Warp along y is a sheet with E₁ and E₂ exchanged and ν₂₁ for ν₁₂, to rounding."""
    mesh = square("random", 6)
    swapped = ShellMaterial(young=E2, weft=E1, poisson=NU * E2 / E1, shear=G, thickness=H)
    other = replace(MaterialBlend.uniform(swapped, len(mesh.faces)), warp=blend(mesh, 0.0).warp)
    x = mesh.rest + 0.02 * np.random.default_rng(4).normal(size=mesh.rest.shape)
    for source in (Membrane, Bending):
        turned, exchanged = source(mesh, blend(mesh, np.pi / 2)).elastic(0.0), source(mesh, other).elastic(0.0)
        plain = source(mesh, blend(mesh, 0.0)).elastic(0.0)
        assert turned.value(x) == pytest.approx(exchanged.value(x), rel=1e-10)
        assert abs(plain.value(x) / turned.value(x) - 1) > 0.02


@pytest.mark.parametrize("kind", ["one-diag", "random", "cvt"])
@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi / 4, 0.3], ids=["warp", "weft", "45°", "17°"])
@pytest.mark.parametrize(
    "curvature", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], ids=["rolled", "rolled across", "twisted"]
)
def test_rolled_and_twisted_plates(kind: str, angle: float, curvature: tuple[float, float, float]) -> None:
    """With edges held to the moments a plate of that curvature has (m = D κ, normal to each edge), C m = b exactly:
    D₁₁, D₂₂, D₁₂ and D₆₆ h³/12 of the turned law, on any mesh.

    Faces at the rim lack a hinge, so their share is left out: what is compared is b on edges with two inner faces.
    """
    mesh, small = square(kind, 6), 1e-4
    k = np.array(curvature)
    moment = np.linalg.inv(compliance(angle)) * H**3 / 12 @ k  # (m₁₁, m₂₂, m₁₂)
    energy = Bending(mesh, blend(mesh, angle)).elastic(0.0)
    x = mesh.rest.copy()
    u, v = x[:, 0], x[:, 1]
    x[:, 2] = 0.5 * small * (k[0] * u**2 + k[1] * v**2 + k[2] * u * v)
    start, end = mesh.rest[energy.hinges[:, 0]], mesh.rest[energy.hinges[:, 1]]
    along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    n = np.column_stack([-along[:, 1], along[:, 0]])
    normal = moment[0] * n[:, 0] ** 2 + moment[1] * n[:, 1] ** 2 + 2 * moment[2] * n[:, 0] * n[:, 1]
    b = energy.rotations(x) / small
    found = energy.compliance.gathered(energy.compliance.spread(normal))
    whole = np.ones(len(b), dtype=bool)  # edges of faces all of whose edges have hinges
    lacking = (energy.compliance.edges < 0).any(axis=1)
    touched = energy.compliance.edges[lacking]
    whole[touched[touched >= 0]] = False
    assert whole.sum() > 20
    sign = np.sign(np.sum(b[whole] * found[whole]))
    assert sign * found[whole] == pytest.approx(b[whole], abs=3e-7 * np.abs(b).max())


def test_the_isotropic_branch_is_the_woven_one_with_equal_moduli() -> None:
    """Two routes to one number: E₂ = E₁ and G = E/2(1 + ν) in any direction, against the law without one."""
    mesh = square("random", 6)
    plain = ShellMaterial(young=E1, poisson=NU, thickness=H, bend_scale=0.4)
    woven = replace(plain, weft=E1, shear=E1 / 2 / (1 + NU))
    angles = np.random.default_rng(2).uniform(-3, 3, len(mesh.faces))
    x = mesh.rest + 0.02 * np.random.default_rng(5).normal(size=mesh.rest.shape)
    for source in (Membrane, Bending):
        one = source(mesh, MaterialBlend.uniform(plain, len(angles))).elastic(0.0)
        other = source(mesh, MaterialBlend((woven,), np.ones((len(angles), 1)), angles)).elastic(0.0)
        assert other.value(x) == pytest.approx(one.value(x), rel=1e-10)
        assert other.gradient(x) == pytest.approx(one.gradient(x), abs=1e-10 * np.abs(one.gradient(x)).max())


def sag(warp: object) -> float:
    """How far the lower edge of a hung sheet has come down in half a second [m]."""
    rest = square("one-diag", 4).rest
    mesh = TriMesh(rest, square("one-diag", 4).faces)
    times = np.arange(7) / 12
    still = bk.Animation(mesh, times, np.repeat(rest[None], len(times), axis=0))
    cloth = replace(CLOTH, density=2000.0, stretch_damping=0.05)
    held = bk.Pin(np.flatnonzero(rest[:, 1] > 1 - 1e-9))
    take = bk.track(still, mesh, None, material=cloth, pins=held, warp=warp, threads=1)  # type: ignore[arg-type]
    return float(-take.animation.points[-1][:, 1].min())


def test_track_takes_a_warp_in_every_form_and_hangs_it_upright_by_itself() -> None:
    """Three times softer across, a sheet hung by its weft comes down further; angles count from the first edge."""
    mesh = square("one-diag", 4)
    upright = sag([0, 1, 0])
    assert sag([1, 0, 0]) > 1.5 * upright > 0
    assert sag(None) == upright == sag(axis_directions(mesh, np.array([0.0, 1.0, 0.0])))
    first = mesh.rest[mesh.faces[:, 1]] - mesh.rest[mesh.faces[:, 0]]
    assert sag(0.5 * np.pi - np.arctan2(first[:, 1], first[:, 0])) == pytest.approx(upright, rel=1e-9)
    with pytest.raises(InputError, match="a direction or an angle a face"):
        sag(np.zeros(5))
    with pytest.raises(InputError, match=r"the warp is zero or stands on the face.*32 such faces"):
        sag(np.tile([0.0, 0.0, 1.0], (32, 1)))


def test_a_woven_material_without_a_warp_is_refused() -> None:
    mesh = square("one-diag", 4)
    with pytest.raises(InputError, match="needs the direction of its warp"):
        Membrane(mesh, MaterialBlend.uniform(CLOTH, len(mesh.faces)))
