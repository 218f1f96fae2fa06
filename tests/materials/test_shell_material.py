"""Shell materials: bounds one by one, blending, keys, presets, laws."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.materials import (
    PRESETS,
    MaterialBlend,
    ShellMaterial,
    as_material,
    bending_rigidity,
    preset,
    stretching_stiffness,
)
from bunraku.motion import Curve
from bunraku.testing import sheet

GOOD = {"young": 1e6, "poisson": 0.3, "thickness": 1e-3, "density": 1000.0}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("young", (0.0, -1.0, 2e13, np.nan, np.inf)),
        ("poisson", (-1.0, -2.0, 0.51, np.nan)),
        ("thickness", (0.0, -1e-3, 11.0, np.nan)),
        ("density", (0.0, -1.0, 2e5, np.inf)),
        ("stretch_damping", (-1e-9, 2e3, np.nan)),
        ("bend_damping", (-1e-9, 2e3, np.nan)),
        ("drag", (-1e-9, 2e6, np.nan)),
        ("yield_curvature", (0.0, -1.0, np.nan)),
        ("hardening", (-2e3, 2e3, np.nan, np.inf)),
    ],
)
def test_a_number_out_of_bounds_is_refused_by_name(name: str, values: tuple[float, ...]) -> None:
    for value in values:
        with pytest.raises(InputError, match=rf"material\.{name} is out of range \(got .*\); allowed: "):
            ShellMaterial(**{**GOOD, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("poisson", 0.5), ("poisson", -0.999), ("stretch_damping", 0.0), ("drag", 0), ("young", 1), ("thickness", 10)],
)
def test_the_bounds_themselves_are_allowed(name: str, value: float) -> None:
    assert getattr(ShellMaterial(**{**GOOD, name: value}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("young", "stiff"),
        ("young", True),
        ("poisson", [[0, 0.1], [1, 0.2]]),
        ("thickness", Curve.of(1.0)),
        ("drag", "1"),
    ],
)
def test_what_is_no_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"material\.{name} must be a number .*may be keyed"):
        ShellMaterial(**{**GOOD, name: value})


def test_an_elastic_shell_is_one_that_yields_never() -> None:
    assert ShellMaterial(**GOOD).yield_curvature == np.inf
    assert ShellMaterial(**{**GOOD, "yield_curvature": np.inf, "hardening": 5.0}).hardening == 5.0


def test_hardening_that_would_create_energy_is_refused() -> None:
    """η Δκ_max ≤ 2 (`energies/plasticity.py`)."""
    assert ShellMaterial(**{**GOOD, "yield_curvature": 4.0, "hardening": 0.5}).hardening == 0.5
    with pytest.raises(InputError, match=r"create energy \(got 'hardening × yield_curvature = 2\.04'\)"):
        ShellMaterial(**{**GOOD, "yield_curvature": 4.0, "hardening": 0.51})


def test_a_key_out_of_bounds_is_refused() -> None:
    with pytest.raises(InputError, match=r"material\.young is out of range \(got -1"):
        ShellMaterial(**{**GOOD, "young": [[0, 1e6], [1, -1.0]]})


def test_keyed_values_are_read_at_a_time() -> None:
    material = ShellMaterial(**{**GOOD, "young": [[0, 1e6], [2, 3e6]], "bend_damping": [[0, 0.0], [1, 0.1, "smooth"]]})
    assert not material.constant
    now = material.at(0.5)
    assert now.constant
    assert now.young == pytest.approx(1.5e6) and now.bend_damping == pytest.approx(0.05)
    assert material.at(9.0).young == 3e6
    assert ShellMaterial(**GOOD).constant


def test_stiffness_blends_in_logarithms_and_the_rest_linearly() -> None:
    """Halfway between 1e4 and 1e8 Pa is 1e6 Pa, between 1 and 4 mm is 2 mm; density, ν and damping are means."""
    first = ShellMaterial(young=1e4, poisson=0.1, thickness=1e-3, density=200, stretch_damping=0.1, drag=1.0)
    second = ShellMaterial(young=1e8, poisson=0.3, thickness=4e-3, density=600, bend_damping=0.4)
    fields = MaterialBlend((first, second), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])).at(0.0)
    assert fields.young == pytest.approx([1e4, 1e6, 1e8])
    assert fields.thickness == pytest.approx([1e-3, 2e-3, 4e-3])
    assert fields.poisson == pytest.approx([0.1, 0.2, 0.3])
    assert fields.density == pytest.approx([200, 400, 600])
    assert fields.stretch_damping == pytest.approx([0.1, 0.05, 0.0])
    assert fields.bend_damping == pytest.approx([0.0, 0.2, 0.4])
    assert fields.drag == pytest.approx([1.0, 0.5, 0.0])


def test_a_blend_of_one_is_that_material() -> None:
    fields = MaterialBlend.uniform(ShellMaterial(**GOOD), 4).at(0.0)
    for name, value in GOOD.items():
        assert getattr(fields, name) == pytest.approx(np.full(4, value), rel=1e-14)


def test_keys_pass_through_a_blend() -> None:
    blend = MaterialBlend.uniform(ShellMaterial(**{**GOOD, "young": [[0, 1e4], [1, 3e4]]}), 2)
    assert not blend.constant
    assert blend.at(0.5).young == pytest.approx([2e4, 2e4])


def test_regions_of_faces_are_sharp_and_of_vertices_blend() -> None:
    mesh = sheet(2, 1)
    base, stiff = ShellMaterial(**GOOD), ShellMaterial(**{**GOOD, "young": 1e8})
    by_face = np.array([-1, 0, 0, -1])
    fields = MaterialBlend.by_region(base, [stiff], by_face, mesh.faces, on="faces").at(0.0)
    assert fields.young == pytest.approx([1e6, 1e8, 1e8, 1e6])
    by_vertex = np.full(mesh.point_count, -1)
    by_vertex[mesh.faces[0, 0]] = 0
    fields = MaterialBlend.by_region(base, [stiff], by_vertex, mesh.faces, on="vertices").at(0.0)
    assert fields.young[0] == pytest.approx(1e6 ** (2 / 3) * 1e8 ** (1 / 3))


@pytest.mark.parametrize(
    "weights",
    [np.ones(3), np.ones((3, 2)), np.array([[-1.0]]), np.array([[0.0]]), np.array([[np.nan]])],
    ids=["one column missing", "one too many", "negative", "nothing", "NaN"],
)
def test_wrong_weights_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(InputError, match="material weights"):
        MaterialBlend((ShellMaterial(**GOOD),), weights)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_materials_with_a_source(name: str) -> None:
    assert preset(name) is as_material(name) is PRESETS[name].material
    assert len(PRESETS[name].source) > 10


def test_a_misspelt_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown material \(got 'coton'\); allowed: .*; try: 'cotton'"):
        preset("coton")
    material = ShellMaterial(**GOOD)
    assert as_material(material) is material


def test_laws() -> None:
    """Uniaxial plane stress: the compliance's first entry is 1/(E h); shear is G h; D = E h³/12(1 − ν²)."""
    young, poisson, thickness = np.array([2e6, 5e5]), np.array([0.3, -0.2]), np.array([1e-3, 4e-3])
    compliance = np.linalg.inv(stretching_stiffness(young, poisson, thickness))
    assert compliance[:, 0, 0] == pytest.approx(1 / (young * thickness), rel=1e-12)
    assert compliance[:, 1, 0] == pytest.approx(-poisson / (young * thickness), rel=1e-12)
    assert compliance[:, 2, 2] == pytest.approx(2 * (1 + poisson) / (young * thickness), rel=1e-12)
    assert bending_rigidity(young, poisson, thickness) == pytest.approx(young * thickness**3 / 12 / (1 - poisson**2))
