"""Layers of a shot whose first pose cannot be taken as it is: where they begin, and what is said of it."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from bunraku import Animation, Between, Contact, Obstacle, Pin, Plane, TriMesh, track
from bunraku.direction.track.layers import in_order
from bunraku.direction.track.tangles import tangles
from bunraku.direction.track.untangle import apart
from bunraku.materials import MaterialBlend, as_material
from bunraku.scenes.study import grid_mesh

WIDE = grid_mesh(np.linspace(-0.15, 0.15, 4), np.linspace(-0.1, 0.1, 3))
SMALL = grid_mesh(np.linspace(-0.04, 0.04, 3), np.linspace(-0.04, 0.04, 3))
CONTACT = Contact(thickness=0.001, parts={"shirt": [0], "coat": [12]}, layers=["shirt", "coat"])
COAT = np.arange(12, 21)


def heap() -> TriMesh:
    """A shirt that looks upwards, a coat 15 mm below it, and two rags beside them."""
    pieces = [WIDE.rest, SMALL.rest - [0, 0.015, 0], SMALL.rest + [1, 0, 0], SMALL.rest + [1, 0.05, 0]]
    starts = (0, 12, 21, 30)
    faces = [m.faces + k for m, k in zip((WIDE, SMALL, SMALL, SMALL), starts, strict=True)]
    return TriMesh(np.concatenate(pieces), np.concatenate(faces))


def test_layers_are_in_order_where_the_first_pose_is_led_to_from_the_rest_shape(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The rags cut each other in the first pose, so it is led to from the rest shape, where the coat is inside too."""
    shell = heap()
    first = np.array(shell.rest)
    first[30:] = np.column_stack([1.0 + 0.0 * SMALL.rest[:, 0], SMALL.rest[:, 0], SMALL.rest[:, 2]])
    guide = Animation(shell, np.arange(2) / 24.0, np.repeat(first[None], 2, axis=0))
    with caplog.at_level(logging.INFO):
        take = track(guide, shell, None, contact=CONTACT, pins=Pin(np.arange(12)), gravity=(0, 0, 0), threads=1,
                     substeps=1, tolerance=1e-3)  # fmt: skip
    assert "was led there from its rest shape" in caplog.text
    for x in take.animation.points:
        np.testing.assert_allclose(x[:12, 1], 0.0, atol=1e-9)  # the shirt is held
        assert x[COAT, 1].min() > 0.001
    (told,) = take.facts["layers"]
    assert told["moved"] == 9 and told["wrong"] == []
    assert caplog.text.count("vertices of coat were moved out of shirt") == 1


def test_what_is_behind_is_told_of_the_points_that_a_shot_begins_with() -> None:
    shell = heap()
    surfaces = CONTACT.surfaces(shell, MaterialBlend.uniform(as_material("cotton"), len(shell.faces)), 0.0)
    found = in_order(surfaces, CONTACT.layers, shell.rest, 0.0)
    (put,) = found.moved
    assert not put.wrong and put.count == 9
    (kept,) = found.as_begun(surfaces, CONTACT.layers, found.points, 0.0).moved
    assert kept == put
    begun = found.as_begun(surfaces, CONTACT.layers, shell.rest, 0.0)
    (told,) = begun.moved
    assert told.wrong == tuple(COAT.tolist()) and (told.count, told.most) == (put.count, put.most)
    np.testing.assert_array_equal(begun.points, shell.rest)


def test_what_was_lifted_comes_to_rest_before_the_first_frame() -> None:
    """A coat is flat at rest, and in the guide a vertex of it is behind the shirt: once lifted it would spring."""
    fine = grid_mesh(np.linspace(-0.04, 0.04, 5), np.linspace(-0.04, 0.04, 5))
    shell = TriMesh(
        np.concatenate([WIDE.rest, fine.rest + [0, 0.01, 0]]), np.concatenate([WIDE.faces, fine.faces + 12])
    )
    first = np.array(shell.rest)
    first[24, 1] = -0.02
    guide = Animation(shell, np.arange(2) / 24.0, np.repeat(first[None], 2, axis=0))
    surfaces = CONTACT.surfaces(shell, MaterialBlend.uniform(as_material("cotton"), len(shell.faces)), 0.0)
    lifted = in_order(surfaces, CONTACT.layers, first, 0.0).points
    knobs = {"pins": Pin(np.arange(12)), "gravity": (0, 0, 0), "threads": 1, "substeps": 1, "tolerance": 1e-3}
    energies = []
    for begin in (shell.rest, lifted, first):
        take = track(guide, shell, None, contact=CONTACT, start=begin, velocity="zero", **knobs)
        energies.append(take.report["stretching"][0] + take.report["bending"][0])
    flat, sprung, rested = energies
    assert flat < 1e-12 and rested < 0.1 * sprung


def test_a_pose_is_clear_of_a_plane_by_the_thickness_between_them() -> None:
    """Three millimetres above a floor, where five are common and one is said of the coat alone."""
    shell = TriMesh(SMALL.rest + [0, 0.003, 0], SMALL.faces)
    floor = Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]), "floor")
    for between, clear in (((), False), (Between("coat", "floor", thickness=0.001), True)):
        contact = Contact(thickness=0.005, obstacles=[floor], parts={"coat": [0]}, between=between)
        surfaces = contact.surfaces(shell, MaterialBlend.uniform(as_material("cotton"), len(shell.faces)), 0.0)
        assert apart(surfaces, shell.rest, 0.0) is clear


def test_what_is_too_near_is_told_although_another_part_is_nearer_and_may_be() -> None:
    """One part is 1 mm above an obstacle and must keep half of that; the other is 3 mm above it and must keep 4."""
    shell = TriMesh(
        np.concatenate([SMALL.rest + [0, 0.001, 0], SMALL.rest + [0.2, 0.003, 0]]),
        np.concatenate([SMALL.faces, SMALL.faces + 9]),
    )
    ground = Obstacle(grid_mesh(np.linspace(-1, 1, 2), np.linspace(-1, 1, 2)), name="ground")
    said = [Between("near", "ground", thickness=5e-4), Between("far", "ground", thickness=4e-3)]
    contact = Contact(thickness=5e-4, obstacles=[ground], parts={"near": [0], "far": [9]}, between=said)
    surfaces = contact.surfaces(shell, MaterialBlend.uniform(as_material("cotton"), len(shell.faces)), 0.0)
    (told,) = tangles(surfaces, shell.rest, 0.0)
    assert told.what == "the shell is 0.003 m from ground, where its thickness keeps 0.004 m open"
