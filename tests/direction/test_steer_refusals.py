"""What cannot be steered is refused in a sentence; what rarely is meant is warned of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import BAR, LEFT, RIGHT, run, twisted

import bunraku as bk
from bunraku.contracts import InputError, PhysicsStopped
from bunraku.direction import Pin
from bunraku.direction.steer import KeyShape, check_keys
from bunraku.geometry import TetMesh, enclose, tet_bar
from bunraku.materials import SolidMaterial
from bunraku.motion import Path

BENT = twisted(BAR.rest, 0.0, 40.0)
CENTRE = BAR.rest.mean(axis=0)
HERE = Path(np.array([0.0, 1.0]), np.stack([CENTRE, CENTRE]))
TANGLED = BENT.copy()
TANGLED[BAR.tets[0, 0]] = BENT[BAR.tets[0, 1:]].mean(axis=0) * 2.0 - BENT[BAR.tets[0, 0]]
ENDS = np.concatenate([LEFT, RIGHT])
CORNER = BAR.tets[7]
MIRRORED = BAR.rest * [1, 1, -1]
TURNED = Rotation.from_rotvec([0.5, 2.0, 1.0]).as_matrix()
HALVES = [
    Path(np.zeros(1), BAR.rest[half].mean(axis=0)[None], np.flatnonzero(half))
    for half in (BAR.rest[:, 0] < 0.25, BAR.rest[:, 0] >= 0.25)
]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keys": [KeyShape(0.2, BENT[:-1])]}, "key at 0.2 s: a key has another number of vertices"),
        ({"keys": [KeyShape(0.3, BENT), KeyShape(0.2, BENT)]}, "in order of time: 0.2 s comes after 0.3 s"),
        ({"keys": [KeyShape(0.3, BENT), KeyShape(0.3, BAR.rest)]}, "two keys are at 0.3 s"),
        ({"keys": [KeyShape(0.3, BENT * [1, 1, -1])]}, "the shape is mirrored"),
        ({"keys": [KeyShape(0.3, TANGLED)]}, "turned inside out or have no volume"),
        ({"keys": [KeyShape(0.3, 0.0 * BENT)]}, "mirrored|no volume|inside out"),
        ({"keys": [KeyShape(3.0, BENT)]}, "outside the shot"),
        ({"keys": [KeyShape(-0.1, BENT)]}, "outside the shot"),
        ({"keys": [KeyShape(9.0, BENT), KeyShape(0.2, BENT)]}, r"^key at 9 s: a key lies outside the shot[^\n]*$"),
        ({"keys": [KeyShape(0.2, BENT), KeyShape(-1.0, BENT)]}, r"^key at -1 s: a key lies outside the shot[^\n]*$"),
        ({"keys": [KeyShape(0.2, BENT[:2], [0, 900])]}, "must name vertices of the body"),
        ({"keys": [3]}, "must be a KeyShape"),
        ({"keys": 3}, "keys must be one or several"),
        ({"path": 3}, "path must be one or several"),
        ({"path": replace(HERE, vertices=[0, 900])}, "path 0: a path must name vertices of the body"),
        ({"path": [HERE, HERE]}, "two paths direct the whole body"),
        ({"path": [replace(HERE, vertices=[0]), replace(HERE, vertices=[0, 1])]}, "the same vertices"),
        ({"path": HERE, "start": BAR.rest + 1.0}, "not where the path begins"),
        ({"start": BAR.rest[:3]}, "start must be finite, one row a vertex"),
        ({"velocity": BAR.rest[:3]}, "velocity must be finite"),
        ({"velocity": (1, 2)}, r"three numbers for all\) \(got 'shape \(2,\)'\); allowed: shape \(63, 3\) or \(3,\)"),
        ({"velocity": "fast"}, r"velocity must be numbers \(got \"'fast'\"\)"),
        ({"start": BAR.rest * [1, 1, -1]}, r"start, tets 0, 1.*: the first pose is mirrored \(got '144 of 144'\)"),
        ({"start": TANGLED}, "start, tets 0.*: parts of the first pose are inside out"),
        ({"keys": [KeyShape(0.3, (BENT * [1, 1, -1])[ENDS], ENDS)]}, "key at 0.3 s: the shape is mirrored"),
        ({"keys": [KeyShape(0.3, MIRRORED[CORNER], CORNER)]}, "key at 0.3 s, tets 7: the shape is mirrored"),
        ({"keys": [KeyShape(0.3, 1000.0 * BENT)]}, "key at 0.3 s: the shape is 1.* times as large as the body at rest"),
        ({"keys": [KeyShape(0.3, 0.001 * BENT[ENDS], ENDS)]}, "times smaller than the body at rest .*its unit"),
        ({"path": [HERE, *HALVES]}, "path 0: the parts that have paths make up the whole body"),
        ({"path": replace(HERE, vertices=LEFT), "pins": Pin(LEFT)}, "path 0: all vertices of a path are pinned"),
        ({"pins": Pin(LEFT, to="ball")}, r"unknown pin.to \(got 'ball'\); allowed: a point"),
        ({"pins": Pin(LEFT, to="guide")}, "has no guide"),
        ({"velocity": BAR.rest + 1j}, "velocity must be numbers"),
        ({"pins": Pin([900])}, "pin.vertices must name vertices of the body"),
        ({"material": "rubbr"}, "rubber"),
        ({"duration": 0.0}, "duration"),
        ({"duration": 0.001}, "shorter than a frame"),
        ({"rate": -1}, "rate"),
        ({"gravity": (0, 1)}, "gravity"),
        ({"lead": -1.0}, "lead"),
        ({"substeps": 0}, "substeps"),
        ({"substeps": 10**9}, "substeps are too many"),
        ({"mass": "heavy"}, "mass"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"contact": 3}, "not contact"),
        ({"surface": 3}, "TriMesh"),
        ({"surface": enclose(tet_bar().surface(), tet_bar())}, "another body"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        run(**given)
    assert len(str(caught.value).splitlines()) == 1


def test_parts_that_are_bent_twisted_or_far_away_are_no_mirrored_ones() -> None:
    """What looks mirrored must be: a part in a plane has no other side, and ends may be turned about each other."""
    for shape in (twisted(BAR.rest, 180.0, 0.0), twisted(BAR.rest, 90.0, 200.0), BAR.rest @ TURNED.T + 3.0):
        for part in (ENDS, LEFT, np.arange(BAR.point_count)):
            key = KeyShape(0.3, shape[part], part)
            check_keys([key], BAR, 0.0, 1.0)
    flat = LEFT[np.isclose(BAR.rest[LEFT, 2], 0.0)]
    check_keys([KeyShape(0.3, BAR.rest[flat] * [1, -1, 1], flat)], BAR, 0.0, 1.0)


def test_what_is_said_of_a_first_pose_that_cuts_something_speaks_of_a_body() -> None:
    up, ball = np.array([0.0, 1.0, 0.0]), bk.sphere((0.3, 0.2, 0.1), 0.05, edge=0.05)
    near = BAR.rest[:, 1].min() - 1e-6
    for thing in (bk.Obstacle(ball, name="ball"), bk.Plane(0.05 * up, up), bk.Plane(near * up, up)):
        with pytest.raises(InputError) as caught:
            run(contact=bk.Contact(obstacles=[thing]))
        assert "the body " in str(caught.value) and "shell" not in str(caught.value)
    away = BAR.rest + [0.0, 0.04, 0.0]
    with pytest.raises(InputError) as caught:
        run(contact=bk.Contact(obstacles=[bk.Obstacle(bk.sphere((0.3, 0.245, 0.1), 0.02, edge=0.02))]), start=away)
    assert "nothing directs the body out of it" in str(caught.value) and "tests" not in str(caught.value)


def test_two_pins_that_tear_at_one_vertex_are_told_so() -> None:
    """Nothing can be solved; what is no number any more is not given to the solver, which would crash."""
    bar = tet_bar((4, 2, 2), (0.4, 0.2, 0.2))
    up = bar.rest + np.outer(0.3 * bar.rest[:, 0] ** 2, [0, 1, 0])
    with pytest.raises(PhysicsStopped, match="two directions ask for different things of the same vertices"):
        apart = [Pin([0]), Pin([0], to=np.full((1, 3), 5.0))]
        run(bar, pins=apart, material="jelly", keys=KeyShape(0.2, up), duration=0.25)


def test_all_wrong_keys_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        run(keys=[KeyShape(0.4, BENT[:-1]), KeyShape(0.3, BENT), KeyShape(9.0, BENT)])
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("time", "points", "vertices", "said"),
    [
        ("soon", BENT, None, "a time in seconds"), (np.nan, BENT, None, "a time in seconds"),
        (0.1, BENT[:, :2], None, "shape"), (0.1, "bent", None, "must be numbers"), (0.1, BENT + 1j, None, "numbers"),
        (0.1, BENT[:0], None, "shape"), (0.1, BENT * np.nan, None, "finite"),
        (0.1, BENT[:2], [0, 0], "none twice"), (0.1, BENT[:2], [0], "one point for each vertex"),
        (0.1, None, [0], "whole body"),
    ],
)  # fmt: skip
def test_what_is_no_key_is_refused(time: object, points: object, vertices: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        KeyShape(time, points, vertices)  # type: ignore[arg-type]


def test_a_body_must_be_one() -> None:
    with pytest.raises(InputError, match="TetMesh"):
        run(BAR.surface())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="inside out"):
        run(TetMesh(BAR.rest * [1, 1, -1], BAR.tets))


def test_one_tetrahedron_and_several_pieces_are_bodies_too() -> None:
    one = TetMesh(np.array([[0, 0, 0], [1.0, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2, 3]]))
    take = run(one, keys=KeyShape(0.25, one.rest * [1.0, 1.3, 1.0]))
    assert take.report["converged"].all() and take.facts["approaches"][0].distance < 0.05
    both = TetMesh(np.concatenate([one.rest, one.rest + 3.0]), np.concatenate([one.tets, one.tets + 4]))
    apart = run(both)
    assert "the body is in 2 pieces that nothing holds together" in apart.facts["warnings"]
    assert apart.report["converged"].all()


def test_paths_that_jump_are_warned_of_and_followed() -> None:
    times, way = np.arange(6) * 0.1, np.zeros((6, 3))
    way[3:, 0] = 1.5
    take = run(path=Path(times, CENTRE + way))
    assert any("path 0 jumps between sample 2 and 3 (0.2 s to 0.3 s)" in one for one in take.facts["warnings"])
    assert take.report["residual"].max() < 1e-9
    smooth = run(path=Path(times, CENTRE + np.outer(times, [1.0, 0.0, 0.0])))
    assert not smooth.facts["warnings"]


def test_the_fine_surface_goes_along() -> None:
    fine = tet_bar((12, 4, 4), (0.6, 0.2, 0.2)).surface()
    take = run(surface=fine, velocity=(0.0, 2.0, 0.0))
    assert take.surface is not None and take.surface.points.shape == (13, fine.point_count, 3)
    fall = take.surface.points[-1] - fine.rest
    assert np.allclose(fall, fall[0], atol=1e-9)  # all of it falls alike
    own = run(velocity=(0.0, 2.0, 0.0))
    assert own.surface is not None and own.surface.mesh.point_count == len(BAR.surface_vertices)
    assert np.array_equal(own.surface.points, own.animation.points[:, BAR.surface_vertices])
    assert isinstance(own.animation.mesh, TetMesh)


def test_pins_hold_and_consistent_mass_and_mass_damping_run() -> None:
    take = run(pins=Pin(LEFT), mass="consistent", material={"preset": "foam"}, iterations=2)
    assert np.abs(take.animation.points[:, LEFT] - BAR.rest[LEFT]).max() < 1e-9
    assert take.report["pin_residual"].max() < 1e-9 and take.report["elastic"].max() > 0


def test_mass_damping_slows_a_body_with_consistent_mass_as_one_with_lumped() -> None:
    """Rigid motion has one mass: a body that flies loses 1/(1 + α dt) of its speed a step in both."""
    foam = SolidMaterial(2e5, 0.3, 100.0, mass_damping=2.0)
    for mass in ("lumped", "consistent"):
        take = run(mass=mass, material=foam, velocity=(1.0, 0.0, 0.0), gravity=(0, 0, 0), duration=0.25)
        speed = take.velocities[:, :, 0]
        assert np.allclose(speed, (1.0 + 2.0 / 24.0) ** -np.arange(7)[:, None], rtol=1e-6)
