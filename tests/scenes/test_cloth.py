"""The flying cloth: counts, regions, the design loop, and that only the tracked run keeps to the preview."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation
from bunraku.geometry import edges
from bunraku.scenes import cloth


def test_counts_and_that_the_fine_sheet_subdivides_the_coarse_one(checks) -> None:
    coarse, (fine, tests) = cloth.cloth_mesh(cloth.COARSE), cloth.fine_cloth()
    assert (coarse.point_count, fine.point_count, tests.count) == (35, 1625, 4)
    for mesh in (coarse, fine):
        assert set(edges(mesh.faces).face_count.tolist()) == {1, 2}
    apart = np.linalg.norm(fine.rest[:, None] - coarse.rest[None], axis=2)
    assert apart.min(axis=0).max() < 1e-12  # every coarse vertex is a fine one
    assert tests.prolongation is not None
    assert tests.prolongation @ coarse.rest == pytest.approx(fine.rest, abs=1e-12)


def test_quarters_cover_the_cloth_once_and_agree_on_both_meshes() -> None:
    coarse, (fine, tests) = cloth.cloth_mesh(cloth.COARSE), cloth.fine_cloth()
    assert cloth.quarters(coarse).sum(axis=0) == pytest.approx(np.ones(35), abs=1e-12)
    of_guide, of_shell = tests.averages(coarse, fine)
    assert of_guide @ coarse.rest == pytest.approx(of_shell @ fine.rest, abs=1e-12)


def test_throws_are_seeded_and_previews_deterministic() -> None:
    assert cloth.throws(3, seed=1) == cloth.throws(3, seed=1) != cloth.throws(3, seed=2)
    one, again = (cloth.preview(cloth.throws(1)[0]) for _ in range(2))
    assert (one.caught, one.frame, one.miss) == (again.caught, again.frame, again.miss)
    assert (one.flight.points == again.flight.points).all()


def test_the_choice_is_the_best_of_the_takes() -> None:
    previews = [cloth.preview(throw) for throw in cloth.throws(4)]
    chosen = cloth.choose(previews)
    assert all(chosen.miss + 0.25 * chosen.off_centre <= one.miss + 0.25 * one.off_centre for one in previews)


def test_the_branch_takes_hold_without_a_jolt() -> None:
    """At the catch the twig is where the cloth is and as fast; then it stops within `GIVE` × speed."""
    chosen = cloth.preview(cloth.throws(1)[0])
    mesh = cloth.cloth_mesh(cloth.COARSE)
    pin = cloth.branch_pin(mesh, chosen)
    caught = chosen.frame / cloth.RATE
    vertices = np.asarray(pin.vertices)
    assert chosen.caught in vertices and isinstance(pin.to, Animation)
    assert pin.to.at(caught) == pytest.approx(chosen.flight.at(caught)[vertices], abs=1e-3)
    speed = chosen.flight.velocity(caught)[vertices]
    after = (pin.to.at(caught + 1e-3) - pin.to.at(caught)) / 1e-3
    assert after == pytest.approx(speed, abs=0.2 * np.abs(speed).max())  # it slows by e^(−t/GIVE)
    rest = chosen.flight.at(caught)[vertices] + cloth.GIVE * speed
    assert pin.to.at(pin.to.times[-1]) == pytest.approx(rest, abs=1e-3)


@pytest.mark.slow
def test_only_the_tracked_run_keeps_to_the_preview() -> None:
    study = cloth.cloth_design()
    assert study.value("tracked", "largest mm") < 0.1 * study.value("naive", "largest mm")
    assert study.value("naive", "mean mm from preview") > 20.0
