"""Layers of a shot whose first pose cannot be taken as it is: where they begin, and what is said of it."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from bunraku import Animation, Contact, Pin, TriMesh, track
from bunraku.direction.track.layers import in_order
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
