"""Solid materials: bounds one by one, Lamé's constants, presets, changes to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.materials import SOLID_PRESETS, ShellMaterial, SolidMaterial, as_solid, solid_preset

GOOD: dict[str, Any] = {"young": 1e5, "poisson": 0.3, "density": 1000.0}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("young", (0.0, -1.0, 2e13, np.nan, np.inf)),
        ("poisson", (-1.0, -2.0, 0.5, 0.4999, np.nan)),
        ("density", (0.0, -1.0, 2e5, np.inf)),
        ("stiffness_damping", (-1e-9, 2e3, np.nan)),
        ("mass_damping", (-1e-9, 2e6, np.nan)),
    ],
)
def test_a_number_out_of_bounds_is_refused_by_name(name: str, values: tuple[float, ...]) -> None:
    for value in values:
        with pytest.raises(InputError, match=rf"material\.{name} is out of range \(got .*\); allowed: "):
            SolidMaterial(**{**GOOD, name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("poisson", 0.499), ("poisson", -0.999), ("mass_damping", 0), ("young", 1)]
)
def test_the_bounds_themselves_are_allowed(name: str, value: float) -> None:
    found = getattr(SolidMaterial(**{**GOOD, name: value}), name)
    assert found == value and isinstance(found, float)


@pytest.mark.parametrize(
    ("name", "value"), [("young", "stiff"), ("young", True), ("density", None), ("poisson", [0.3])]
)
def test_what_is_not_a_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"material\.{name} must be a number"):
        SolidMaterial(**{**GOOD, name: value})


def test_an_unknown_law_is_refused() -> None:
    with pytest.raises(InputError, match=r"material\.law is unknown \(got 'fung'\); allowed: corotational, neohookean"):
        SolidMaterial(1e5, law="fung")  # type: ignore[arg-type]


@pytest.mark.parametrize("poisson", [-0.5, 0.0, 0.3, 0.49])
def test_lame_constants_give_young_and_poisson_back(poisson: float) -> None:
    """E = µ (3λ + 2µ)/(λ + µ), ν = λ/2(λ + µ); both stiffnesses positive in every admissible material."""
    mu, lam = SolidMaterial(2e5, poisson).lame
    assert mu * (3 * lam + 2 * mu) / (lam + mu) == pytest.approx(2e5, rel=1e-12)
    assert lam / (2 * (lam + mu)) == pytest.approx(poisson, abs=1e-12)
    assert mu > 0 and 3 * lam + 2 * mu > 0


def test_every_preset_is_sound_and_says_where_it_comes_from() -> None:
    assert {"rubber", "jelly", "foam", "flesh"} <= set(SOLID_PRESETS)
    for name, one in SOLID_PRESETS.items():
        assert as_solid(name) is one.material is solid_preset(name)
        assert len(one.source) > 40
        assert one.material.stiffness_damping > 0 and one.material.poisson <= 0.47
    # Where elements may be pressed inside out the law must have no kinks.
    assert all(one.material.law == "neohookean" for one in SOLID_PRESETS.values() if one.material.poisson > 0.35)


def test_a_material_may_stand_as_itself_a_name_or_a_preset_with_changes() -> None:
    own = bk.SolidMaterial(1e5)
    assert as_solid(own) is own
    changed = as_solid({"preset": "jelly", "young": 8e3})
    assert changed.young == 8e3 and changed.density == solid_preset("jelly").density
    assert as_solid({"young": 1e5, "law": "neohookean"}) == SolidMaterial(1e5, law="neohookean")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("rubbr", r"unknown solid material \(got 'rubbr'\); allowed: rubber.*'rubber'"),
        ({"preset": "jelly", "yuong": 1.0}, r"no such key \(got 'yuong'\).*'young'"),
        ({"density": 1.0}, "needs a preset or at least young"),
        ({"preset": 3}, "the preset of a solid material is a name"),
        (ShellMaterial(1e5), "not a solid material"),
        (7, "not a solid material"),
    ],
)
def test_what_is_no_solid_is_refused_with_the_nearest(given: object, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_solid(given)  # type: ignore[arg-type]
