"""The bag: the paper's counts, a sound body, a backflip that turns once and lands where its feet stay."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, Contact, ShellMaterial, hierarchy, track
from bunraku.geometry import edges, intersecting_faces, subdivide
from bunraku.scenes import backflip_guide, bag_mesh
from bunraku.scenes.bag import backflip_poses, posed_bag
from bunraku.shots import DEMOS


def test_the_counts_are_the_papers() -> None:
    """V + 3 (E + F) after two subdivisions: 88 + 3 (245 + 158) = 1,297."""
    mesh = bag_mesh()
    found = edges(mesh.faces)
    assert (mesh.point_count, len(found.vertices), len(mesh.faces)) == (88, 245, 158)
    assert int((found.face_count == 1).sum()) == 16
    assert subdivide(mesh, 2)[0].point_count == 1297
    assert DEMOS["bag"].settings["mesh"]["levels"] == 2


def test_the_body_is_sound_and_even_on_both_sides(checks) -> None:
    mesh = bag_mesh()
    checks.body(mesh, borders=1)
    mirrored = mesh.rest * np.array([-1.0, 1.0, 1.0])
    apart = np.linalg.norm(mesh.rest[:, None] - mirrored[None], axis=2)
    assert apart.min(axis=0).max() < 1e-12
    twin = apart.argmin(axis=0)
    faces = {tuple(sorted(face)) for face in mesh.faces.tolist()}
    assert faces == {tuple(sorted(face)) for face in twin[mesh.faces].tolist()}
    assert mesh.rest[:, 1].min() == pytest.approx(0.0, abs=1e-12)


def test_the_backflip_has_no_pops(checks) -> None:
    def at(rate: float) -> Animation:
        mesh, times = bag_mesh(), np.arange(round(2.0 * rate) + 1) / rate
        return Animation(mesh, times, posed_bag(mesh.rest, backflip_poses(times)))

    checks.no_pops(at)


def test_it_turns_once_backwards_and_lands_standing() -> None:
    guide = backflip_guide()
    rim, floor = guide.points[:, :16].mean(axis=1), guide.points[:, 64:].mean(axis=1)
    up = (rim - floor) / np.linalg.norm(rim - floor, axis=1)[:, None]
    turned = np.unwrap(np.arctan2(up[:, 2], up[:, 1]))
    assert turned[-1] - turned[0] == pytest.approx(-2.0 * np.pi, abs=1e-9)  # up goes to −z first: backwards
    assert guide.points[:, :, 1].min() > -0.03  # feet roll by less than their own thickness into the ground
    assert guide.points[:, :, 1].min(axis=1).max() > 0.3
    landed = guide.points[-1] - guide.points[-1].mean(axis=0) - (guide.points[0] - guide.points[0].mean(axis=0))
    assert np.abs(landed).max() < 1e-9
    assert not np.diff(guide.points[-4:], axis=0).any()


def test_no_face_of_the_guide_is_stretched_or_crushed_beyond_use() -> None:
    """A shell of rubber follows stretches up to about two; the physics was seen to stop at 2.7 times the area."""
    guide = backflip_guide()
    faces = guide.mesh.faces

    def area(x):
        return np.linalg.norm(np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]), axis=1)

    ratios = np.stack([area(x) for x in guide.points]) / area(guide.mesh.rest)
    assert 0.4 < ratios.min() and ratios.max() < 1.8


def test_the_same_guide_every_time() -> None:
    assert (backflip_guide().points == backflip_guide().points).all()


@pytest.mark.slow
def test_the_bag_obeys_and_wrinkles() -> None:
    demo = DEMOS["bag"]
    whole = demo.guide()
    guide = Animation(whole.mesh, whole.times[:21], whole.points[:21])
    shell, tests = hierarchy(guide.mesh, levels=2)
    contact = Contact(**demo.physics["contact"])
    take = track(guide, shell, tests, material=ShellMaterial(**demo.settings["material"]), contact=contact)
    assert take.report["residual"].max() <= 1e-9 * take.facts["size"]
    assert take.report["pairs"].max() > 0
    assert not any(intersecting_faces(x, shell.faces).any() for x in take.animation.points)
    crouched = 8
    assert tests.prolongation is not None
    away = np.linalg.norm(take.animation.points[crouched] - tests.prolongation @ guide.points[crouched], axis=1)
    assert away.max() > 2 * demo.settings["material"]["thickness"]
