"""Motions of the guide that the shell must follow exactly: uniformly accelerated, and rigid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.direction import Take
from bunraku.direction.track import hierarchy, track
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation
from bunraku.scenes import box_mesh

RUBBER = ShellMaterial(young=2e5, poisson=0.3, thickness=4e-3, density=800.0, stretch_damping=2e-3, bend_damping=4e-3)
TIMES = np.arange(7) / 24.0


def follow(guide: Animation, **settings: Any) -> tuple[Take, np.ndarray]:
    """The take without gravity, and its largest distance from the prolonged guide in each frame."""
    shell, tests = hierarchy(guide.mesh, 2)
    take = track(guide, shell, tests, material=RUBBER, gravity=(0, 0, 0), threads=1, **settings)
    exact = np.stack([tests.prolongation @ pose for pose in guide.points])
    return take, np.abs(take.animation.points - exact).max(axis=(1, 2))


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("bending", ["plate", "hinge"])
@pytest.mark.parametrize("iterations", [1, None])
def test_a_uniformly_accelerated_guide_carries_the_shell(mass: str, bending: str, iterations: int | None) -> None:
    """x̄ = X + v t + ½ a t², no gravity. M a is a combination of the rows' Jᵀ, since the hats sum to one and
    Σ_k ∫φ_k ψ_j = ∫ψ_j is the lumped mass: the directions push every point by its own weight, nothing deforms.
    """
    v, a = np.array([1.0, -0.5, 2.0]), np.array([30.0, 20.0, -10.0])
    box = box_mesh()
    t = TIMES[:, None, None]
    guide = Animation(box, TIMES, box.rest + v * t + 0.5 * a * t**2)
    take, away = follow(guide, mass=mass, bending=bending, iterations=iterations)
    assert away.max() <= 1e-9 * take.animation.mesh.size
    total = take.facts["mass"]
    assert take.report["force"][2:].sum(axis=1) == pytest.approx(np.tile(total * a, (5, 1)), rel=1e-6)


def tumbling(box) -> Animation:
    """Turning faster and faster about a moving, tilting axis, while the centre flies a curve."""
    poses = []
    for time in TIMES:
        angle, tilt = 3.0 * time + 4.0 * time**2, 0.8 * time
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        c, s = np.cos(tilt), np.sin(tilt)
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ turn
        poses.append(box.rest @ turn.T + np.array([np.sin(4 * time), time**2, 2 * time]))
    return Animation(box, TIMES, np.stack(poses))


WAYS = {"whole steps": {"iterations": 8}, "converged": {"tolerance": 1e-10}, "to rounding": {"tolerance": 1e-12}}


@pytest.mark.parametrize("bending", ["plate", "hinge"])
@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_a_rigidly_moved_guide_moves_the_shell_rigidly(bending: str, settings: dict) -> None:
    """With hat functions and the consistent mass 𝓜, M P ẍ̄ = 𝓜 Sᵀ ẍ̄ lies in the range of Jᵀ for *any* motion of the
    guide; a rigid one deforms nothing, so x = P x̄ is the solution of every step: to 1e-9 of the size.

    One step a frame, since the guide between its samples is not rigid.
    """
    guide = tumbling(box_mesh())
    take, away = follow(guide, mass="consistent", bending=bending, substeps=1, **settings)
    assert away.max() <= 1e-9 * take.animation.mesh.size
    assert take.report["stretching"].max() + take.report["bending"].max() <= 1e-15 * 2e5 * 4e-3
    turned = np.abs(guide.points[-1] - guide.points[0]).max()
    assert turned > 0.3


def test_the_lumped_mass_does_not_turn_rigidly() -> None:
    """The contrast: lumping moves mass outwards, so centrifugal forces bulge the shell."""
    take, away = follow(tumbling(box_mesh()), mass="lumped", substeps=1)
    assert away.max() > 1e-6 * take.animation.mesh.size


def test_between_its_samples_a_turning_guide_is_not_rigid() -> None:
    """Nor is the shell, with two steps a frame: the cubic through rotated poses shrinks the guide."""
    take, away = follow(tumbling(box_mesh()), mass="consistent", substeps=2)
    assert away.max() > 1e-6 * take.animation.mesh.size
