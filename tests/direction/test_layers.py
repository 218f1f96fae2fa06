"""Garments in layers: their order on the first frame, and what is said between two of them."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from layered import AROUND, COAT, SHIRT, dressed, standing, swaying, tube, turns_around

from bunraku import Between, Contact, InputError, Obstacle, Pin, Plane, Seam, Take, TriMesh, clusters, track
from bunraku.collision import Surfaces
from bunraku.contracts import Points
from bunraku.direction.track.layers import in_order
from bunraku.direction.track.outward import Outward, wound_outwards
from bunraku.geometry import faces_through, intersecting_faces
from bunraku.materials import MaterialBlend, as_material
from bunraku.scenes.study import grid_mesh
from bunraku.testing import check_apart

CLOTH = "cotton"
CASES = {
    "inside the shirt": (0.115, 0.0, False),
    "cutting the shirt and the body": (0.125, 0.03, False),
    "inside the body, inside out": (0.095, 0.0, True),
}
GAP, BETWEEN = 0.002, 0.004
UP = np.array([0.0, 1.0, 0.0])


def layered(layers: tuple[str, ...] = ("shirt", "coat")) -> Contact:
    return Contact(
        thickness=GAP, obstacles=[swaying()], parts={"shirt": [0], "coat": [COAT]}, layers=layers,
        between=[Between("coat", "shirt", friction=0.2, thickness=BETWEEN)],
    )  # fmt: skip


def surfaces_of(contact: Contact, shell: TriMesh) -> Surfaces:
    return contact.surfaces(shell, MaterialBlend.uniform(as_material(CLOTH), len(shell.faces)), 0.0)


def crossing(shell: TriMesh, x: Points, body: Points) -> int:
    """Faces of the shell that meet another, or the body."""
    points = np.concatenate([x, body])
    through = faces_through(points, shell.faces, swaying().mesh.faces + len(x), touching=True)
    return int((intersecting_faces(x, shell.faces, touching=True) | through).sum())


def is_outside(x: Points) -> bool:
    """Whether the coat is around the shirt: no vertex of it within the shirt's ends lies inside the shirt, and all of
    the shirt's within the coat's ends lie inside the coat. At the ends themselves fans stand in for what is open."""
    shirt, coat = x[:COAT], x[COAT:]
    ends = shirt[:AROUND, 1].max() + 0.01, coat[-AROUND:, 1].min() - 0.01
    between = [(one[:, 1] > ends[0]) & (one[:, 1] < ends[1]) for one in (shirt, coat)]
    assert all(some.sum() > 3 * AROUND for some in between)
    return bool(
        (turns_around(coat[between[1]], shirt) < 0.5).all() and (turns_around(shirt[between[0]], coat) > 0.5).all()
    )


# The order on the first frame


@pytest.mark.parametrize("case", CASES)
def test_a_coat_is_brought_out_of_the_shirt(case: str, caplog: pytest.LogCaptureFixture) -> None:
    radius, aside, turned = CASES[case]
    shell, body = dressed(radius, aside, turned=turned), swaying().at(0.0)
    surfaces = surfaces_of(layered(), shell)
    assert not is_outside(shell.rest)
    with caplog.at_level(logging.INFO):
        found = in_order(surfaces, ("shirt", "coat"), shell.rest, 0.0)
        found.tell()
    assert crossing(shell, found.points, body) == 0
    assert is_outside(found.points)
    # Vertices of the coat over the shirt are beyond its radius by the gap of the pair; the shirt had no reason to move.
    over = np.abs(found.points[COAT:, 1]) < 0.14
    assert np.linalg.norm(found.points[COAT:][over][:, [0, 2]], axis=1).min() > SHIRT + BETWEEN
    np.testing.assert_array_equal(found.points[:COAT], shell.rest[:COAT])
    # By no more than it takes: to the other side of the shirt, and a few reaches beyond.
    (told,) = [one for one in found.moved if one.inner == "shirt"]
    deepest = SHIRT - (radius - aside)
    assert deepest < told.most < deepest + BETWEEN + 3.0 * surfaces.felt_within
    assert told.count > 10 and not told.wrong
    assert f"{told.count} vertices of coat were moved out of shirt" in caplog.text and "still behind" not in caplog.text


def test_what_is_in_order_is_left_alone() -> None:
    shell = dressed(0.14, 0.0)
    found = in_order(surfaces_of(layered(), shell), ("shirt", "coat"), shell.rest, 0.0)
    np.testing.assert_array_equal(found.points, shell.rest)
    assert not found.moves and [(one.inner, one.outer) for one in found.moved] == [
        ("hero", "shirt"), ("hero", "coat"), ("shirt", "coat"),
    ]  # fmt: skip


def test_the_other_order_moves_the_other_garment() -> None:
    """The coat innermost: then it is freed of the body, stays within, and the shirt is brought out of it."""
    shell = dressed(0.125, 0.0)
    found = in_order(surfaces_of(layered(("coat", "shirt")), shell), ("coat", "shirt"), shell.rest, 0.0)
    np.testing.assert_array_equal(found.points[COAT:], shell.rest[COAT:])
    over = found.points[:COAT, 1] < 0.1
    assert np.linalg.norm(found.points[:COAT][over][:, [0, 2]], axis=1).min() > 0.125 + BETWEEN
    assert crossing(shell, found.points, swaying().at(0.0)) == 0


def test_vertices_that_stay_behind_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """A sheet five edges behind another is too far away to be taken for misplaced: it stays, and is told."""
    wide, small = (grid_mesh(np.linspace(-w, w, k), np.linspace(-w, w, k)) for w, k in ((0.4, 9), (0.1, 3)))
    below = 5.0 * np.mean([0.1, 0.1, np.sqrt(0.02)])
    x = np.concatenate([wide.rest, small.rest - [0.0, below, 0.0]])
    shell = TriMesh(x, np.concatenate([wide.faces, small.faces + wide.point_count]))
    contact = Contact(parts={"shirt": [0], "coat": [81]}, layers=["shirt", "coat"])
    up = np.sum(np.cross(*(wide.rest[wide.faces[0, 1:]] - wide.rest[wide.faces[0, 0]])) * [0, 1, 0])
    assert up > 0.0  # the shirt looks upwards
    with caplog.at_level(logging.INFO):
        found = in_order(surfaces_of(contact, shell), contact.layers, x, 0.0)
        found.tell()
    (told,) = found.moved
    assert told.count == 0 and told.wrong == tuple(range(81, 90))
    assert "9 vertices of coat are still behind shirt: 81, 82, 83, 84, 85 and 4 more" in caplog.text


def test_a_coarse_coat_is_lifted_off_what_sticks_out_of_a_fine_shirt() -> None:
    """One vertex of the shirt is through a large face of the coat, and none of the coat is behind the shirt."""
    fine = grid_mesh(np.linspace(-0.2, 0.2, 9), np.linspace(-0.2, 0.2, 9))
    shirt, coat = np.array(fine.rest), np.array([[-0.19, 0.02, -0.19], [-0.19, 0.02, 0.2], [0.2, 0.02, -0.19]])
    (bump,) = np.flatnonzero(np.linalg.norm(shirt - [-0.05, 0.0, -0.1], axis=1) < 1e-9)
    shirt[bump, 1] = 0.03
    shell = TriMesh(np.concatenate([shirt, coat]), np.concatenate([fine.faces, [[81, 82, 83]]]))
    contact = Contact(thickness=GAP, parts={"shirt": [0], "coat": [81]}, layers=["shirt", "coat"])
    assert intersecting_faces(shell.rest, shell.faces, touching=True).any()
    found = in_order(surfaces_of(contact, shell), contact.layers, shell.rest, 0.0)
    assert not intersecting_faces(found.points, shell.faces, touching=True).any()
    np.testing.assert_array_equal(found.points[:81], shirt)
    assert found.points[81:, 1].min() > 0.0 and found.moves


def test_a_fine_coat_is_lifted_where_one_vertex_is_through_a_coarse_shirt() -> None:
    shirt = np.array([[-0.4, 0.0, -0.4], [-0.4, 0.0, 0.8], [0.8, 0.0, -0.4]])
    fine = grid_mesh(np.linspace(-0.2, 0.2, 9), np.linspace(-0.2, 0.2, 9))
    coat = fine.rest + [0.0, 0.02, 0.0]
    coat[30, 1] = -0.01
    shell = TriMesh(np.concatenate([shirt, coat]), np.concatenate([[[0, 1, 2]], fine.faces + 3]))
    contact = Contact(thickness=GAP, parts={"shirt": [0], "coat": [3]}, layers=["shirt", "coat"])
    found = in_order(surfaces_of(contact, shell), contact.layers, shell.rest, 0.0)
    assert found.points[3:, 1].min() > GAP and not intersecting_faces(found.points, shell.faces, touching=True).any()
    np.testing.assert_array_equal(found.points[:3], shirt)


def test_outside_is_where_the_body_looks() -> None:
    body = swaying()
    inside = Outward(TriMesh(body.at(0.0), wound_outwards(body.at(0.0), body.mesh.faces[:, ::-1], ())))
    x, faces = tube(SHIRT, -0.1, 0.1)
    for given in (faces, faces[:, ::-1]):
        found = Outward(TriMesh(x, wound_outwards(x, given, [inside])))
        assert (np.sum(found.normals * x * [1, 0, 1], axis=1) > 0.0).all()
    taken = wound_outwards(x, faces[:, ::-1], ())  # nothing within: an open piece is taken as it is
    np.testing.assert_array_equal(taken, faces[:, ::-1])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_layers_stay_in_order_over_a_moving_body(case: str) -> None:
    radius, aside, turned = CASES[case]
    shell, body = dressed(radius, aside, turned=turned), swaying()
    take = track(
        standing(shell, 11), shell, None, material=CLOTH, contact=layered(), gravity=(0, 0, 0), tolerance=1e-3,
        substeps=1, threads=1,
    )  # fmt: skip
    times, frames = take.animation.times, take.animation.points
    together = [np.concatenate([x, body.at(float(t))]) for x, t in zip(frames, times, strict=True)]
    faces = np.concatenate([shell.faces, body.mesh.faces + shell.point_count])
    check_apart(faces, together, shell=len(shell.faces), movable=shell.point_count)
    assert all(is_outside(x) for x in frames)
    assert np.abs(frames[-1] - frames[0]).max() > 0.02  # it did move
    assert [one["wrong"] for one in take.facts["layers"]] == [[], [], []]


@pytest.mark.slow
def test_a_guide_that_has_the_coat_inside_yields() -> None:
    """It asks for averages of a coat inside the shirt on every frame: the order is kept, and the report says so."""
    shell, body = dressed(0.115, 0.0), swaying()
    guide = standing(shell, 4)
    take = track(
        guide, shell, clusters(guide, 8), material=CLOTH, contact=layered(), gravity=(0, 0, 0), tolerance=1e-3,
        substeps=1, threads=1,
    )  # fmt: skip
    together = [
        np.concatenate([x, body.at(float(t))]) for x, t in zip(take.animation.points, take.animation.times, strict=True)
    ]
    faces = np.concatenate([shell.faces, body.mesh.faces + shell.point_count])
    check_apart(faces, together, shell=len(shell.faces), movable=shell.point_count)
    assert all(is_outside(x) for x in take.animation.points)
    assert take.report["gave_way"].any(axis=1).all()


@pytest.mark.slow
def test_panels_are_put_in_order_and_then_sewn() -> None:
    """A coat of two panels that lie 1 cm below the shirt, side by side: they are brought above it and sewn there."""
    wide = grid_mesh(np.linspace(-0.15, 0.15, 4), np.linspace(-0.1, 0.1, 3))
    small = grid_mesh(np.linspace(-0.08, 0.0, 3), np.linspace(-0.05, 0.05, 3))
    left, right = (small.rest + [side, -0.01, 0.0] for side in (-0.01, 0.09))
    shell = TriMesh(
        np.concatenate([wide.rest, left, right]), np.concatenate([wide.faces, small.faces + 12, small.faces + 21])
    )
    pairs = np.array([[14, 21], [17, 24], [20, 27]])
    contact = Contact(
        thickness=0.001, parts={"shirt": [0], "coat": [12, 21]}, layers=["shirt", "coat"],
        between=Between("shirt", "coat", thickness=BETWEEN),
    )  # fmt: skip
    take = track(standing(shell, 2), shell, None, material=CLOTH, contact=contact, seams=Seam(pairs), gravity=(0, 0, 0),
                 pins=Pin(np.arange(12)), threads=1, substeps=1, tolerance=1e-3)  # fmt: skip
    for x in take.animation.points:
        assert np.abs(x[pairs[:, 0]] - x[pairs[:, 1]]).max() < 1e-9
        assert x[12:, 1].min() > BETWEEN


@pytest.mark.slow
def test_without_layers_the_coat_stays_where_it_was_given() -> None:
    """The same scene, the coat apart and inside: nothing is declared, so nothing is moved."""
    shell = dressed(0.107, 0.0)
    contact = Contact(thickness=0.001, obstacles=[swaying()])
    take = track(standing(shell, 2), shell, None, material=CLOTH, contact=contact, gravity=(0, 0, 0), tolerance=1e-3,
                 substeps=1, threads=1)  # fmt: skip
    assert not is_outside(take.animation.points[-1])
    assert "layers" not in take.facts


# What is said between two


def on_a_slope(kind: str, angle: float, frictions: tuple[float, float]) -> tuple[Take, int]:
    """Two small sheets, `slow` and `fast`, on a wide one: an obstacle, a plane, or a part of the shell that is pinned.
    Gravity is turned instead of it; and how many vertices a sheet has."""
    sheet = grid_mesh(np.linspace(-0.02, 0.02, 3), np.linspace(-0.02, 0.02, 3))
    count, reach = sheet.point_count, 0.002
    wide = grid_mesh(np.linspace(-0.3, 0.3, 2), np.linspace(-0.3, 0.3, 2))
    x = [sheet.rest + [0.0, GAP + 0.5 * reach, side] for side in (-0.06, 0.06)]
    faces = [sheet.faces, sheet.faces + count]
    parts, things, pins = {"slow": [0], "fast": [count]}, [], []
    if kind == "part":
        x, faces = [*x, wide.rest], [*faces, wide.faces + 2 * count]
        parts["slope"], pins = [2 * count], [Pin(2 * count + np.arange(wide.point_count))]
    else:
        things = [Plane(np.zeros(3), UP, "slope") if kind == "plane" else Obstacle(wide, name="slope")]
    shell = TriMesh(np.concatenate(x), np.concatenate(faces))
    between = [Between(name, "slope", friction=mu) for name, mu in zip(("slow", "fast"), frictions, strict=True)]
    contact = Contact(thickness=GAP, reach=reach, obstacles=things, parts=parts, between=between, friction=9.0,
                      balance=0.0)  # fmt: skip
    gravity, felt = (9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0), {"preset": "felt", "drag": 0.0}
    take = track(standing(shell, 13), shell, None, material=felt, contact=contact, gravity=gravity, pins=pins,
                 threads=1, substeps=1, tolerance=1e-6, velocity="zero")  # fmt: skip
    return take, count


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["obstacle", "plane", "part"])
def test_each_sheet_slides_as_is_said_between_it_and_the_slope(kind: str) -> None:
    """tan 30° = 0.577: with µ = 0.7 a sheet stays, with 0.3 it slides.

    Over a time T the slope pushes a mass m with the momentum m (g cos θ T + Δv_n) in all, and takes µ times that from
    what slides: Δv = g (sin θ − µ cos θ) T − µ Δv_n. Normal forces are those of a step's begin: they lag by one step.
    """
    angle, frictions = np.deg2rad(30.0), (0.7, 0.3)
    take, count = on_a_slope(kind, angle, frictions)
    velocity, dt = take.velocities, 1.0 / 24.0
    slow, fast = velocity[:, :count].mean(axis=1), velocity[:, count : 2 * count].mean(axis=1)
    begin, end = 4, 12
    lasting = (end - begin) * dt
    change = fast[end] - fast[begin]
    wanted = 9.81 * (np.sin(angle) - 0.3 * np.cos(angle)) * lasting - 0.3 * change[1]
    # What the lag moves over the border: µ times the change of the normal force's momentum in a step, before and after.
    lag = 0.3 * (np.abs(np.diff(fast[begin - 1 : begin + 1, 1])) + np.abs(np.diff(fast[end - 1 : end + 1, 1])))[0]
    assert change[0] == pytest.approx(wanted, abs=lag + 1e-3 * wanted)
    assert wanted > 0.3  # [m/s]
    assert np.abs(slow[begin:, 0]).max() < 2e-3  # below twice what counts as still; it would be at 3 cm/s and more
    assert (
        take.animation.points[-1][count : 2 * count, 0] - take.animation.points[0][count : 2 * count, 0]
    ).min() > 0.1


@pytest.mark.parametrize("thickness", [0.001, 0.004, 0.012])
def test_a_sheet_rests_on_another_at_the_thickness_between_them(thickness: float) -> None:
    reach = 0.001
    low, high = (grid_mesh(np.linspace(-w, w, k), np.linspace(-w, w, k)) for w, k in ((0.2, 2), (0.05, 4)))
    x = np.concatenate([low.rest, high.rest + [0.0, thickness + 0.8 * reach, 0.0]])
    shell = TriMesh(x, np.concatenate([low.faces, high.faces + 4]))
    contact = Contact(
        thickness=0.002,
        reach=reach,
        parts={"low": [0], "high": [4]},
        between=Between("low", "high", thickness=thickness),
    )
    take = track(standing(shell, 9), shell, None, material="felt", contact=contact, pins=Pin(np.arange(4)), threads=1,
                 substeps=1, tolerance=1e-5)  # fmt: skip
    last = take.animation.points[-1]
    away = last[4:, 1] - last[:4, 1].mean()
    assert (away > thickness).all() and (away < thickness + reach).all()
    assert np.abs(take.velocities[-1][4:, 1]).max() < 1e-3  # it rests


# What is refused


SHELL = dressed(0.14, 0.0)
HERO, FLOOR = swaying(), Plane(-UP, UP, "floor")
PARTS = {"shirt": [0], "coat": [COAT]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layers": ["shirt", "caot"]}, r"contact.layers\[1\]: there is no such part .*'caot'.*shirt, coat.*'coat'"),
        ({"layers": ["shirt", "coat", "shirt"]}, r"contact.layers\[2\]: a layer is named twice \(got 'shirt'\)"),
        ({"layers": ["shirt", "hero"]}, r"contact.layers\[1\]: an obstacle does not make room"),
        ({"layers": ["hero"]}, "contact.layers: names no part of the shell"),
        ({"layers": ["shirt", "coat"], "self_contact": False}, "contact.layers: the shell does not feel itself"),
        ({"layers": "shirt"}, "contact.layers: layers must be a list"),
        ({"layers": [3]}, r"contact.layers\[0\]: not a str"),
        ({"between": [Between("coat", "flor", friction=1)]}, r"contact.between\[0\]: there is .*'flor'.*'floor'"),
        ({"between": [Between("hero", "floor", friction=1)]}, r"contact.between\[0\]: neither is a part of the shell"),
        (
            {"between": [Between("coat", "hero", friction=1), Between("hero", "coat", thickness=1)]},
            r"contact.between\[1\]: is told twice",
        ),
        (
            {"between": [Between("coat", "shirt", friction=1)], "self_contact": False},
            r"contact.between\[0\]: the shell does not feel itself",
        ),
        ({"between": [0.3]}, r"contact.between\[0\]: not a Between"),
        ({"parts": {"hero": [0]}}, r"contact.parts: an obstacle has this name too \(got 'hero'\)"),
        ({"parts": {"shirt": []}}, r"contact.parts\['shirt'\]: a part of the shell has a name and vertices"),
        ({"parts": {"shirt": [0.5]}}, r"contact.parts\['shirt'\]: a part of the shell has a name and vertices"),
        ({"parts": [0]}, "contact.parts: parts must be a mapping"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_are_refused(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        Contact(**{"obstacles": [HERO, FLOOR], "parts": PARTS, **given})
    assert len(str(error.value).splitlines()) == 1


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as error:
        Contact(parts=PARTS, layers=["a", "shirt", "shirt"], between=[Between("b", "c", friction=1)])
    assert len(str(error.value).splitlines()) == 4


def test_two_obstacles_of_one_name_cannot_be_told_apart() -> None:
    with pytest.raises(InputError, match=r"contact.between\[0\]: several obstacles have this name \(got 'hero'\)"):
        Contact(obstacles=[HERO, HERO], parts=PARTS, between=Between("coat", "hero", friction=0.5))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"shirt": [0, COAT - 1], "cuff": [5]}, r"shirt and cuff are parts of one connected piece .*vertices 5"),
        ({"coat": [2 * COAT]}, rf"contact.parts\['coat'\]: a part must name vertices .*0 to {2 * COAT - 1}"),
    ],
)
def test_parts_are_pieces_of_the_shell_of_their_own(parts: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        surfaces_of(Contact(parts=parts), SHELL)


def test_a_part_that_is_nearer_to_itself_than_its_thickness_is_refused() -> None:
    """Two sheets 1 cm apart are one part."""
    flat = grid_mesh(np.linspace(0, 0.1, 3), np.linspace(0, 0.1, 3))
    shell = TriMesh(np.concatenate([flat.rest, flat.rest + [0, 0.01, 0]]), np.concatenate([flat.faces, flat.faces + 9]))
    for reach in (None, 0.004):
        thick, thin = (
            Contact(parts={"coat": [0, 9]}, between=Between("coat", "coat", thickness=thickness), reach=reach)
            for thickness in (0.02, 0.005)
        )
        with pytest.raises(InputError, match=r"between, of coat: .*nearer to itself .*got '0.02 m'.*below 0.01 m"):
            surfaces_of(thick, shell)
        assert surfaces_of(thin, shell).felt_within < 0.005
    with pytest.raises(InputError, match=r"reach is more than parts .*got '0.006 m'.*up to 0.005 m"):
        surfaces_of(replace(thin, reach=0.006), shell)


def test_how_near_two_parts_are_at_rest_says_nothing() -> None:
    """A coat that lies in the shirt at rest leaves the shell's thickness and reach as they are."""
    near, far = (surfaces_of(layered(), dressed(radius, 0.0)) for radius in (SHIRT + 1e-4, 0.2))
    assert near.gap == far.gap == GAP
    assert near.felt_within == pytest.approx(far.felt_within, rel=0.2)  # edges of the coat are shorter
