"""Painted regions and clusters as test functions: averages met, free parts free, bad labels named."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.direction.track import clusters, gaussians, hierarchy, painted, scales, track
from bunraku.geometry import TriMesh, lumped_mass, subdivide
from bunraku.motion import Animation
from bunraku.scenes import box_mesh


@pytest.fixture
def fine(twist: Animation) -> Animation:
    """The twisting box, subdivided twice: a guide of 98 vertices."""
    shell, tests = hierarchy(twist.mesh, 2)
    return Animation(shell, twist.times, np.stack([tests.prolongation @ x for x in twist.points]))


def test_clusters_are_met_on_the_guides_own_mesh(fine: Animation) -> None:
    tests = clusters(fine, count=12, seed=3)
    assert tests.count == 12
    assert np.asarray(tests.guide.sum(axis=0)).max() == 1.0  # a vertex in one region at most
    take = track(fine, fine.mesh, tests, material="vinyl", threads=1)
    assert take.report["residual"].max() < 1e-12 * fine.mesh.size
    wrinkles = np.abs(take.animation.points[-1] - fine.points[-1]).max()
    assert wrinkles > 1e-4  # free below the regions' scale


def test_more_clusters_come_nearer_to_the_guide(fine: Animation) -> None:
    """Fig. 6: distance to the guide falls with the number of regions."""
    apart = []
    for count in (4, 16, 64):
        take = track(fine, fine.mesh, clusters(fine, count=count, seed=0), material="vinyl", threads=1)
        apart.append(np.sqrt(np.mean((take.animation.points - fine.points) ** 2)))
    assert apart[0] > apart[1] > apart[2]


@pytest.mark.parametrize(
    "make",
    [
        lambda guide, shell: clusters(guide, 5, shell=shell),
        lambda guide, shell: scales(guide, 0.5, shell=shell),
        lambda guide, shell: gaussians(guide.mesh, 0.6, shell=shell),
    ],
    ids=["clusters", "scales", "gaussians"],
)
def test_regions_of_the_guide_are_carried_to_any_shell(twist: Animation, make) -> None:
    """To the guide subdivided exactly as the guide's own hats are; to another mesh by nearest places."""
    shell, hats = hierarchy(twist.mesh, 2)
    found = make(twist, shell)
    assert found.count > 1 and found.embedding is None
    assert abs(found.shell - found.guide @ hats.shell).max() == 0.0
    take = track(twist, shell, found, material="vinyl", threads=1)
    assert take.report["residual"].max() < 1e-12 * shell.size
    other = TriMesh(shell.rest[::-1], shell.point_count - 1 - shell.faces)  # numbered from behind: no subdivision
    hung = make(twist, other)
    assert hung.embedding is not None and abs(hung.shell - found.shell[:, ::-1]).max() < 1e-12


def test_regions_of_another_mesh_are_refused_with_the_way_out(twist: Animation) -> None:
    with pytest.raises(InputError, match=r"belong to other meshes .*try: clusters\(guide, 200, shell=shell\)"):
        track(twist, subdivide(twist.mesh, 1)[0], clusters(twist, 3), threads=1)


def test_painted_regions_on_different_meshes_agree_on_average(twist: Animation) -> None:
    """Top and bottom of the box painted on guide and shell, by face and by vertex; the sides obey nothing."""
    shell = subdivide(twist.mesh, 2)[0]
    guide_labels = np.where(twist.mesh.rest[:, 1] > 0.1, 7, np.where(twist.mesh.rest[:, 1] < -0.1, 2, -1))
    level = shell.rest[shell.faces].mean(axis=1)[:, 1]
    top, bottom = shell.rest[:, 1].max(), shell.rest[:, 1].min()
    shell_labels = np.where(level > top - 1e-9, 7, np.where(level < bottom + 1e-9, 2, -1))
    guide_labels = np.where(np.isclose(twist.mesh.rest[:, 1], top), 7, 2)
    tests = painted(twist.mesh, guide_labels, shell, shell_labels)
    assert tests.count == 2
    take = track(twist, shell, tests, material="vinyl", threads=1)
    assert take.report["residual"][1:].max() < 1e-12
    of_guide, of_shell = tests.averages(twist.mesh, shell)
    for frame in range(1, len(twist.times)):
        assert np.allclose(of_shell @ take.animation.points[frame], of_guide @ twist.points[frame], atol=1e-12)


def test_a_vertex_takes_the_label_of_most_of_the_area_around_it() -> None:
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-3, 0, 0], [0, -1, 0]])
    mesh = TriMesh(rest, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]))
    tests = painted(mesh, np.array([5, 9, 9, 5]), mesh, np.array([5, 9, 9, 5]))
    assert tests.guide.toarray().tolist() == [[0, 1, 0, 0, 0], [1, 0, 1, 1, 1]]
    weights, _ = tests.averages(mesh, mesh)
    assert np.allclose(weights.sum(axis=1), 1.0) and lumped_mass(mesh).min() > 0


def test_bad_labels_are_named(caplog: pytest.LogCaptureFixture) -> None:
    mesh = box_mesh()
    for labels, story in [
        (np.zeros(7, int), r"guide: labels must be one a vertex or one a face \(got 7\); allowed: 8 or 12"),
        (np.zeros(8), "guide: labels must be whole numbers"),
        (np.full(8, -2), "guide: labels must be −1"),
        (np.full(8, -1), "no region has a vertex on both"),
    ]:
        with pytest.raises(InputError, match=story):
            painted(mesh, labels, mesh, np.zeros(8, int))
    with caplog.at_level(logging.WARNING):
        tests = painted(mesh, np.array([0, 0, 0, 0, 1, 1, 1, 4]), mesh, np.array([0, 0, 0, 0, 1, 1, 1, 5]))
    assert tests.count == 2 and "regions 4, 5 have no vertex on guide or shell" in caplog.text
