"""Turns of paths: far ones, half ones, and samples that are moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku import Animation, InputError, Path, TriMesh


def turning(*degrees: float) -> Path:
    """About y, a sample a second."""
    turns = Rotation.from_rotvec(np.outer(np.radians(degrees), [0.0, 1.0, 0.0])).as_matrix()
    return Path(np.arange(len(degrees)), np.zeros((len(degrees), 3)), rotations=turns)


def test_an_even_spin_is_even_however_fast() -> None:
    """Ends look two samples ahead: 200° there, not 160° back."""
    for step in (30.0, 100.0, 170.0):
        path = turning(0, step, 2 * step, 3 * step)
        spins = [path.spin(time) for time in np.linspace(0.0, 3.0, 25)]
        np.testing.assert_allclose(spins, np.tile([0, np.radians(step), 0], (25, 1)), atol=1e-5)


def test_half_a_turn_between_samples_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"samples 1 and 2 \(1 s to 2 s\).*178°.*a sample between"):
        turning(0, 20, 198)
    assert turning(0, 20, 190).rotation(1.5) is not None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Path.of(None), "animation: must be a Animation"),  # type: ignore[arg-type]
        (lambda: Path.recorded(5), "take: not a take"),  # type: ignore[arg-type]
        (lambda: turning(0, 10).moved(9, (0, 0, 0)), "a sample is moved to a point"),
        (lambda: turning(0, 10).moved(0, (0, 0)), "a sample is moved to a point"),
        (lambda: turning(0, 10).moved("0", (0, 0, 0)), "a sample is moved to a point (got \"sample '0'"),  # type: ignore[arg-type]
        (lambda: turning(0, 10).moved(0.5, (0, 0, 0)), "a sample is moved to a point"),  # type: ignore[arg-type]
        (
            lambda: Path([0, 1], np.zeros((2, 3)), rotations=[[0, 0, 0, 1], [0, 0, 0, 0]]),
            "path.rotations, sample 1: not a rotation (got [0.0, 0.0, 0.0, 0.0]); allowed: a quaternion x, y, z, w",
        ),
        (lambda: Path([0], np.zeros((1, 3)), rotations=[[0, 0, np.nan, 1]]), "rotations, sample 0: not a rotation"),
        (lambda: Path([0], [[0, 0, 0]], [[0], [1, 2]]), "vertices must be a list of whole numbers"),  # type: ignore[list-item]
        (lambda: Path([0], [[0, 0, 0]], hold=np.array([1, 2])), "unknown hold"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_path_is_said_in_a_sentence(call: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        call()
    assert said in str(refused.value)


def test_vertices_before_the_first_are_named() -> None:
    mesh = TriMesh(np.eye(3), np.array([[0, 1, 2]]))
    with pytest.raises(InputError, match=r"no such vertices \(got '-1'\)"):
        Path.of(Animation(mesh, np.zeros(1), np.eye(3)[None]), [-1])
