"""Muscles of a wrinkling body: what the verb does with them, and what it refuses."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.direction.wrinkle import wrinkling_job
from bunraku.geometry.tet_bar import tet_bar
from bunraku.testing import block_surface

SMALL = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
FOAM = bk.SolidMaterial(young=1e5, poisson=0.3, density=60.0)
SKIN = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=6e-3)
INSIDE = block_surface(np.ones((4, 1, 1)), 0.05)
INSIDE = INSIDE.with_rest(INSIDE.rest + [0.1, 0.05, 0.05])
SHORTER = (INSIDE.rest - [0.2, 0.0, 0.0]) * [0.6, 1.0, 1.0] + [0.2, 0.0, 0.0]


def job(muscles: Any, body: Any = SMALL, **given: Any) -> Any:
    asked: dict[str, Any] = {"cell": 0.1, "duration": 0.5, "rate": 8.0, "gravity": (0, 0, 0), "threads": 1, **given}
    return wrinkling_job(body, skin=SKIN, interior=FOAM, muscles=muscles, **asked)


def test_a_muscle_that_contracts_draws_the_body_together_and_its_skin_along() -> None:
    """Both ends come alike, for nothing holds either; the report says how far it is from its shape. A body that feels
    its skin, which is stiffer than it as a whole, comes less far."""
    muscle = bk.Muscle(INSIDE, SHORTER, [[0.0, 0.0], [0.25, 1.0, "smooth"]])
    found = job(muscle, two_way=False)
    assert found.facts["muscle_samples"][0] > 100
    first, *_, last = frames = list(islice(found.frames(), 5))
    assert first.report["interior"] == pytest.approx(SMALL.rest, abs=1e-12)
    assert first.report["muscle_residual"] == pytest.approx([0.0], abs=1e-12)
    left, right = (np.isclose(SMALL.rest[:, 0], x) for x in (0.0, 0.4))
    moved = last.report["interior"] - SMALL.rest
    assert moved[left, 0].mean() > 0.005 and moved[left, 0].mean() == pytest.approx(-moved[right, 0].mean(), rel=1e-3)
    assert 0.0 < last.report["muscle_residual"][0] < 0.02 and all(one.report["converged"] for one in frames)
    assert (last.points - SMALL.rest)[left, 0].mean() > 0.005
    *_, felt = islice(job(muscle).frames(), 5)
    assert 0.0 < (felt.points - SMALL.rest)[left, 0].mean() < 0.5 * moved[left, 0].mean()


def test_activations_may_be_numbers_curves_or_functions() -> None:
    for activation in (0.5, bk.Curve.of(0.5), lambda time: 0.5):
        assert bk.Muscle(INSIDE, SHORTER, activation).at(3.0) == 0.5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"relaxed": 3}, "muscle.relaxed"),
        ({"contracted": SHORTER[:-1]}, "same vertices"),
        ({"contracted": SHORTER * np.nan}, "same vertices"),
        ({"contracted": SHORTER * [-1.0, 1.0, 1.0]}, "inside out"),
        ({"contracted": 1e-3 * SHORTER}, "the units of both"),
        ({"contracted": 1e3 * SHORTER}, "the units of both"),
        ({"stiffness": 0.0}, "muscle.stiffness"),
        ({"anchored": 1}, "muscle.anchored"),
        ({"activation": "strong"}, "not a number, nor keys"),
        ({"activation": [[0, 0], [1, -1e6]]}, r"muscle.activation: an activation is a number.*-1000000.0"),
    ],
)
def test_shapes_that_are_no_muscle(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        bk.Muscle(**{"relaxed": INSIDE, "contracted": SHORTER, "activation": 1.0, **given})


def _muscle(relaxed: bk.TriMesh, activation: Any = 1.0) -> bk.Muscle:
    return bk.Muscle(relaxed, relaxed.rest, activation)


STILL = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest]))


@pytest.mark.parametrize(
    ("muscles", "body", "sentence"),
    [
        (_muscle(INSIDE.with_rest(INSIDE.rest + [0.2, 0.0, 0.0])), SMALL, r"muscles\[0\].relaxed: reaches out"),
        (_muscle(INSIDE.with_rest(100.0 * INSIDE.rest)), SMALL, "points outside, up to"),
        ([_muscle(INSIDE), _muscle(bk.TriMesh(INSIDE.rest, INSIDE.faces[1:]))], SMALL, r"muscles\[1\].*open surface"),
        (_muscle(INSIDE, lambda time: "strong"), SMALL, r"muscles\[0\].activation: an activation is a number"),
        (_muscle(INSIDE, lambda time: 1.0 / 0.0), SMALL, r"muscles\[0\].activation: .*ZeroDivisionError"),
        (_muscle(INSIDE, lambda time: 50.0), SMALL, r"muscles\[0\].activation: .*50.0 at"),
        (_muscle(INSIDE), STILL, "muscles: an animated body"),
        ("strong", SMALL, "muscles"),
    ],
)  # fmt: skip
def test_muscles_that_do_not_fit_their_body(muscles: Any, body: Any, sentence: str) -> None:
    given = {"cell": None, "duration": None, "rate": None} if body is STILL else {}
    with pytest.raises(InputError, match=sentence):
        list(islice(job(muscles, body, **given).frames(), 2))
