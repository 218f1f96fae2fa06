"""Shell materials: bounds one by one, blending, keys, presets, laws."""

from __future__ import annotations

from dataclasses import replace

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
    woven_stiffness,
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


def test_a_preset_with_changes_is_a_mapping() -> None:
    cotton = preset("cotton")
    light = as_material({"preset": "cotton", "weight": 150, "strain_limit": 0.06})
    assert light.areal_mass == pytest.approx(0.150) and light.strain_limit == 0.06
    assert (light.young, light.weft, light.thickness) == (cotton.young, cotton.weft, cotton.thickness)
    assert as_material({"preset": "cotton"}) == cotton
    assert as_material({"young": 2e6, "thickness": 1e-3}) == ShellMaterial(young=2e6, thickness=1e-3)


@pytest.mark.parametrize(
    ("given", "story"),
    [
        ({"preset": "cotton", "wieght": 150}, r"no such key \(got 'wieght'\).*try: 'weight'"),
        ({"weight": 150}, "needs a preset or at least young"),
        ({"preset": "cottn"}, "unknown material .*try: 'cotton'"),
        ({"preset": 3}, "preset of a material is a name"),
        ({"preset": "cotton", "density": 100, "weight": 150}, "weight"),
    ],
)
def test_changes_that_are_refused(given: dict[str, object], story: str) -> None:
    with pytest.raises(InputError, match=story):
        as_material(given)


def test_laws() -> None:
    """Uniaxial plane stress: the compliance's first entry is 1/(E h); shear is G h; D = E h³/12(1 − ν²)."""
    young, poisson, thickness = np.array([2e6, 5e5]), np.array([0.3, -0.2]), np.array([1e-3, 4e-3])
    compliance = np.linalg.inv(stretching_stiffness(young, poisson, thickness))
    assert compliance[:, 0, 0] == pytest.approx(1 / (young * thickness), rel=1e-12)
    assert compliance[:, 1, 0] == pytest.approx(-poisson / (young * thickness), rel=1e-12)
    assert compliance[:, 2, 2] == pytest.approx(2 * (1 + poisson) / (young * thickness), rel=1e-12)
    assert bending_rigidity(young, poisson, thickness) == pytest.approx(young * thickness**3 / 12 / (1 - poisson**2))


def test_weight_in_grams_a_square_metre_stands_for_density() -> None:
    """190 g/m² at 0.4 mm is 475 kg/m³; the thickness given with it counts."""
    assert ShellMaterial(young=1e6, thickness=4e-4, weight=190).density == pytest.approx(475.0)
    assert ShellMaterial(young=1e6).density == 1000.0
    heavier = replace(preset("cotton"), density=None, weight=380, thickness=4e-4)
    assert heavier.density == pytest.approx(2 * 475.0) and heavier.weft == preset("cotton").weft


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"weight": 190, "density": 500}, r"either a density or a weight \(got 'density 500, weight 190'\)"),
        ({"weight": -1}, r"material\.weight is out of range"),
        ({"weight": "190"}, r"material\.weight must be a number"),
        ({"weight": 190, "thickness": "thin"}, r"material\.thickness must be a number"),
        ({"weight": 190, "thickness": 1e-7}, r"does not fit its thickness .*1\.9e\+06 kg/m³"),
    ],
)
def test_wrong_weights_of_cloth_are_refused(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ShellMaterial(young=1e6, **given)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weft", (0.0, -1.0, np.nan, 2e13)),
        ("shear", (0.0, -1.0, np.inf)),
        ("bend_scale", (0.0, -1.0, 1e7)),
        ("strain_limit", (0.0, -0.05, 0.001, np.nan)),
    ],
)
def test_the_newer_numbers_are_bounded_too(name: str, values: tuple[float, ...]) -> None:
    for value in values:
        with pytest.raises(InputError, match=rf"material\.{name} is out of range"):
            ShellMaterial(**{**GOOD, name: value})


def test_no_strain_limit_may_be_written_as_infinity() -> None:
    assert ShellMaterial(**GOOD, strain_limit=np.inf).strain_limit is None
    assert not ShellMaterial(**GOOD, strain_limit=np.inf).limited


def test_moduli_that_would_give_energy_back_are_refused_with_their_values() -> None:
    """ν₁₂² < E₁/E₂: at ν = 0.3 the weft may be eleven times the warp, not twelve; at every key."""
    ShellMaterial(young=1e5, weft=1.1e6)
    said = r"give energy back.*young 100000 Pa, weft 1\.2e\+06 Pa, poisson 0\.3.*poisson² < young/weft"
    with pytest.raises(InputError, match=said):
        ShellMaterial(young=1e5, weft=1.2e6)
    with pytest.raises(InputError, match="give energy back"):
        ShellMaterial(young=[[0, 1e6], [1, 1e5]], weft=1.2e6)


def test_woven_law_is_symmetric_and_inverts_to_its_constants() -> None:
    """1/E₁, 1/E₂, −ν₁₂/E₁ and 1/G stand in the compliance, whatever the thickness; ν₂₁ = ν₁₂ E₂/E₁ follows."""
    e1, e2, nu, g, h = (np.array([x]) for x in (3e5, 1e5, 0.3, 2e4, 2e-3))
    compliance = np.linalg.inv(woven_stiffness(e1, e2, nu, g, h, np.zeros(1)))[0] * h[0]
    exact = [[1 / 3e5, -1e-6, 0], [-1e-6, 1e-5, 0], [0, 0, 5e-5]]
    assert compliance == pytest.approx(np.array(exact), rel=1e-12, abs=1e-20)


def test_woven_blends_are_sound_between_sound_materials() -> None:
    """Moduli in logarithms; ν₁₂ from √(ν₁₂ν₂₁): linear ν here would be 0.25 at E₂/E₁ ≈ 60, which gives energy back."""
    first = ShellMaterial(young=1e5, weft=3.9e5, poisson=0.5, shear=1e4)
    second = ShellMaterial(young=1e4, weft=1e7, poisson=0.0, strain_limit=0.1)
    fields = MaterialBlend((first, second), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])).at(0.0)
    assert fields.weft is not None and fields.shear is not None and fields.strain_limit is not None
    assert fields.weft == pytest.approx([3.9e5, np.sqrt(3.9e12), 1e7])
    assert fields.shear == pytest.approx([1e4, np.sqrt(1e4 * 5e3), 5e3])
    assert fields.poisson[0] == pytest.approx(0.5) and fields.poisson[2] == 0.0
    assert 0 < fields.poisson[1] < np.sqrt(fields.young[1] / fields.weft[1])
    assert fields.strain_limit == pytest.approx([np.inf, 0.2, 0.1])


def test_isotropic_blends_know_no_direction() -> None:
    fields = MaterialBlend.uniform(ShellMaterial(**GOOD), 2).at(0.0)
    assert fields.weft is None and fields.shear is None and fields.strain_limit is None


@pytest.mark.parametrize("warp", [np.zeros(3), np.zeros((2, 2)), np.full(2, np.nan)])
def test_a_warp_of_the_wrong_shape_is_refused(warp: np.ndarray) -> None:
    with pytest.raises(InputError, match="a direction or an angle a face"):
        MaterialBlend((ShellMaterial(**GOOD),), np.ones((2, 1)), warp)


def test_keys_of_woven_moduli_are_read_at_a_time() -> None:
    keyed = ShellMaterial(young=1e6, weft=[[0, 1e5], [1, 3e5]], strain_limit=[[0, 0.1], [1, 0.3]], bend_scale=0.5)
    assert not keyed.constant
    fields = MaterialBlend.uniform(keyed, 1).at(0.5)
    assert fields.weft == pytest.approx([2e5]) and fields.strain_limit == pytest.approx([0.2])
    assert fields.bend_scale == pytest.approx([0.5])


def test_a_single_key_is_a_number() -> None:
    blend = MaterialBlend.uniform(ShellMaterial(young=[[0, 1e6]], weft=[[3, 2e5]]), 1)
    fields = blend.at(7.0)
    assert blend.constant and fields.young == pytest.approx([1e6]) and fields.weft == pytest.approx([2e5])
