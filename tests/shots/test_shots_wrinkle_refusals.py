"""What a shot of a skin refuses, each at its place and with a remedy; and what it warns of and does all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from soft_bar import BAR, FOAM, LEFT, PUSH, RIGHT, SKIN, bar, wrinkled, write_bar

from bunraku import InputError, TriMesh
from bunraku.cli import main
from bunraku.geometry import Attribute, Scope, Surface, face_areas
from bunraku.io import write_mesh
from bunraku.materials import SkinOnSoft
from bunraku.shots import read_shot
from bunraku.shots.prepare_wrinkle import prepare_wrinkle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bar(tmp_path)
    return tmp_path


def opened(mesh: TriMesh) -> TriMesh:
    return TriMesh(mesh.rest, mesh.faces[1:])


def walled(mesh: TriMesh) -> TriMesh:
    """With a closed fin on one of its edges, which then has four faces."""
    a, b, _ = mesh.faces[0]
    p, q = mesh.point_count, mesh.point_count + 1
    away = mesh.rest[[a, b]].mean(axis=0) + [[-0.1, 0.1, 0.0], [-0.1, 0.0, 0.1]]
    fin = [[a, b, p], [b, a, q], [a, p, q], [p, b, q]]
    return TriMesh(np.concatenate([mesh.rest, away]), np.concatenate([mesh.faces, fin]))


SAID: list[tuple[dict[str, Any], str]] = [
    ({"surface": None}, "object.bar: needs either 'surface' or 'guide' (got 'neither')"),
    ({"guide": {"file": "bar.obj"}}, "object.bar: needs either 'surface' or 'guide' (got 'both')"),
    ({"skin": None}, "object.bar.skin: is missing"),
    ({"skin": {**SKIN, "thickness": 0.0}}, "object.bar.skin.thickness: "),
    ({"skin": {**SKIN, "weft": 1e6}}, "object.bar.skin.weft: unknown key"),
    ({"skin": {**SKIN, "young": "stiff"}}, "object.bar.skin.young: must be a number"),
    ({"skin": "lether"}, "object.bar.skin: unknown material (got 'lether')"),
    ({"skin": 3}, "object.bar.skin: must be a preset's name or a table"),
    ({"interior": "fom"}, "object.bar.interior: "),
    ({"cell": 0.0}, "object.bar.cell: is out of range"),
    ({"stepper": "explicit"}, "object.bar.stepper: "),
    ({"degree": 3}, "object.bar.degree: is out of range"),
    ({"wavelength": -1.0}, "object.bar.wavelength: is out of range"),
    ({"handles": [{"region": "middle"}]}, "object.bar.handles[0].region: unknown region (got 'middle')"),
    (
        {"handles": [{"region": "left", "keys": [{"frame": 3}, {"frame": 1}]}]},
        "object.bar.handles[0].keys[1]: keys must be in order of frames",
    ),
    (
        {"handles": [{"region": "left", "keys": [{"frame": 1}], "path": {"points": [[1, 0, 0, 0]]}}]},
        "object.bar.handles[0]: has either keys or a path",
    ),
    ({"regions": {"a": {"vertices": [0], "skin": {"weft": 1e6}}}}, "object.bar.regions.a.skin.weft: unknown key"),
    ({"muscle": 1}, "object.bar.muscle: unknown key"),
]


@pytest.mark.parametrize(("table", "said"), SAID, ids=[said for _, said in SAID])
def test_what_the_table_says_wrong_is_said(folder: Path, table: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        wrinkled(folder, **table)
    assert said in str(error.value)


def test_a_guide_leaves_no_room_for_handles(folder: Path) -> None:
    with pytest.raises(InputError, match=r"where its guide has it \(got 'handles'\)"):
        wrinkled(folder, surface=None, guide={"file": "bar.obj"})


ENDS = {"left": {"vertices": LEFT.tolist()}, "right": {"vertices": RIGHT.tolist()}}
BOTH = LEFT.tolist() + RIGHT.tolist()

PREPARED: list[tuple[dict[str, Any], str]] = [
    ({"physics": {"tolerance": 1e-3}}, "physics.tolerance: is not for skins"),
    ({"physics": {"wind": {"velocity": [1, 0, 0]}}}, "physics.wind: is for shells"),
    ({"frames": (3, 3)}, "shot.frames: a body needs two frames at least"),
    ({"wavelength": 0.1}, "object.bar.skin: thickness and stiffness say how long waves are"),
    ({"wavelength": 0.1, "skin": {"poisson": 0.3}}, "object.bar.skin: a wavelength chooses the thickness or"),
    ({"skin": {"poisson": 0.3}}, "object.bar.skin: a material needs a preset or at least young"),
    ({"regions": {"left": {"vertices": [500]}, "right": {"vertices": [0]}}}, "object.bar.regions.left.vertices: "),
    (
        {
            "regions": {
                **ENDS,
                "a": {"vertices": [0], "skin": {"thickness": 1e-3}},
                "b": {"vertices": BOTH, "skin": "leather"},
            }
        },
        "object.bar.regions: vertices lie in two regions with skins of their own (got '0')",
    ),
    ({"regions": {**ENDS, "a": {"vertices": [0], "skin": {"weight": 1e9}}}}, "object.bar.regions.a.skin"),
    ({"regions": {"left": {"painted": "paw"}, "right": {"vertices": [0]}}}, "object.bar.regions.left.painted: "),
]


@pytest.mark.parametrize(("given", "said"), PREPARED, ids=[said for _, said in PREPARED])
def test_what_does_not_fit_is_said_at_its_place(folder: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        prepare_wrinkle(wrinkled(folder, **given))
    assert said in str(error.value)


BEGUN: list[tuple[dict[str, Any], Callable[[TriMesh], TriMesh] | None, str]] = [
    ({}, opened, "object.bar: mesh: an open surface has no interior"),
    ({}, walled, "object.bar: mesh: edges with three or more faces"),
    ({"cell": 1.0}, None, "object.bar: cell: cell must be a length above 0 and not above the body's own"),
    ({"cell": 1e-4}, None, "object.bar: cell: cells are so small that there would be too many"),
    ({"skin": {**SKIN, "young": 1e4}}, None, "object.bar: skin: the skin is softer than what it is on"),
    ({"stepper": "symplectic"}, None, "object.bar: stepper: explicit steps so long would blow up"),
    (
        {"regions": {**ENDS, "a": {"vertices": [0], "skin": {"young": 1e3}}}},
        None,
        "object.bar: skin: the skin is softer",
    ),
    ({"skin": "cotton"}, None, "object.bar: skin: a skin is an elastic solid sheet"),
    ({"handles": [PUSH[0], {**PUSH[1], "region": "left"}]}, None, "two handles take hold of the same vertices"),
]


@pytest.mark.parametrize(("table", "shape", "said"), BEGUN, ids=[said for *_, said in BEGUN])
def test_what_cannot_begin_ends_with_a_sentence_and_leaves_nothing(
    folder: Path, table: dict[str, Any], shape: Callable[[TriMesh], TriMesh] | None, said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if shape is not None:
        write_mesh(folder / "bar.obj", shape(BAR))
    settings = {"object": {"bar": bar(**table)}, "shot": {"frames": [1, 3]}}
    (folder / "bar.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")
    for dry in ([], ["--dry-run"]):
        assert main(["run", str(folder / "bar.toml"), "--threads", "1", *dry]) == 2
        assert said in capsys.readouterr().err
    assert not list(folder.glob("takes/*/*"))


def test_a_second_skin_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="several shells, or shells, bodies, plans and skins together"):
        wrinkled(folder, others={"other": bar()})


def test_a_wanted_wavelength_chooses_the_skin(folder: Path) -> None:
    def chosen(skin: Any) -> SkinOnSoft:
        found = prepare_wrinkle(wrinkled(folder, wavelength=0.09, skin=skin)).material
        assert isinstance(found.young, float)
        return SkinOnSoft(found.thickness, found.young, FOAM["young"], found.poisson, FOAM["poisson"])

    thick = chosen({"young": 2e7, "poisson": 0.45})
    assert thick.wavelength == pytest.approx(0.09, rel=1e-12) and thick.young == 2e7
    stiff = chosen({"thickness": 3e-3, "poisson": 0.1})
    assert stiff.wavelength == pytest.approx(0.09, rel=1e-12) and stiff.thickness == 3e-3
    named = chosen("leather")
    assert named.wavelength == pytest.approx(0.09, rel=1e-12)
    assert chosen({"preset": "leather", "thickness": 2e-3}).thickness == 2e-3


def test_a_region_may_have_a_skin_of_its_own(folder: Path) -> None:
    """What is not said of it is as everywhere; on faces about its border both are mixed; both weigh what they weigh."""
    own: dict[str, Any] = {**ENDS, "right": {**ENDS["right"], "skin": {"thickness": 12e-3}}}
    shot = wrinkled(folder, regions=own, wavelength=0.09, skin={"young": 2e7, "poisson": 0.45}, frames=(1, 2))
    found = prepare_wrinkle(shot)
    assert found.blend is not None and found.material == found.blend.materials[0]
    base, thick = found.blend.materials
    assert (thick.young, thick.poisson, thick.thickness) == (2e7, 0.45, 12e-3)
    on_it = np.isin(BAR.faces, RIGHT).sum(axis=1)
    assert found.blend.weights[:, 1] == pytest.approx(on_it / 3.0)
    layers = [SkinOnSoft(one.thickness, 2e7, FOAM["young"], 0.45, FOAM["poisson"]) for one in (base, thick)]
    assert found._begun.facts["wavelengths"][0] == pytest.approx(0.09)
    assert 0.09 < found._begun.facts["wavelengths"][1] <= layers[1].wavelength
    assert "waves of 90 to " in found.summary()[1] and ", the shortest over 1.8 edges" in found.summary()[1]
    result = shot.run(threads=1)
    facts = json.loads((result.folder / "report.json").read_text())["facts"]
    areas = face_areas(BAR.rest, BAR.faces)
    mixed = base.thickness ** (1.0 - on_it / 3.0) * thick.thickness ** (on_it / 3.0)
    assert facts["mass"] == pytest.approx(1000.0 * areas @ mixed + 60.0 * 0.4 * 0.15**2, rel=1e-3)
    (again,) = read_shot(result.folder / "shot.toml").wrinkles.values()
    assert again.regions["right"].skin is not None and again.regions["right"].skin.values == {"thickness": 12e-3}


def brushed(folder: Path, weights: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The table of a bar whose file has a thick skin painted on it with weights."""
    surface = replace(Surface.of(BAR), attributes=(Attribute("thick", Scope.POINT, weights.astype(np.float32)),))
    write_mesh(folder / "brushed.usdc", surface)
    thick = {"painted": "thick", "skin": {"thickness": 12e-3}}
    return {"surface": {"file": "brushed.usdc"}, "regions": {**ENDS, "thick": thick}, "wavelength": None}


def test_a_skin_that_is_brushed_on_goes_over_as_it_is_painted(folder: Path) -> None:
    """Twice as thick on the right, a little more on every vertex on the way there; not as thick from a half on."""
    share = BAR.rest[:, 0] / 0.4
    found = prepare_wrinkle(wrinkled(folder, **brushed(folder, share))).blend
    assert found is not None
    assert found.weights[:, 1] == pytest.approx(share[BAR.faces].mean(axis=1), abs=1e-6)
    thickness = found.at(0.0).thickness
    assert thickness == pytest.approx(6e-3 * 2.0 ** share[BAR.faces].mean(axis=1), rel=1e-5)
    with pytest.raises(InputError, match=r"regions.thick.painted: a skin that is painted has weights \(got '0 to 2'"):
        prepare_wrinkle(wrinkled(folder, **brushed(folder, 2.0 * share)))


def test_a_skin_that_is_brushed_on_faintly_counts_for_what_it_is(folder: Path) -> None:
    """Nowhere by more than a half: a skin that is a third thicker at most, and growth by two fifths. A handle has no
    such weights to go by, and nothing at all stays refused."""
    table = brushed(folder, BAR.rest[:, 0])
    found = prepare_wrinkle(wrinkled(folder, **table, growth_painted="thick", growth=0.1))
    assert found.blend is not None and found.blend.at(0.0).thickness.max() > 6e-3 * 2.0**0.35
    assert found.growing == pytest.approx(BAR.rest[:, 0], abs=1e-6)
    with pytest.raises(InputError, match=r"regions.thick.painted: nothing is in the part .*weights above 0.5"):
        prepare_wrinkle(wrinkled(folder, **{**table, "handles": [{"region": "thick"}]}))
    nothing = brushed(folder, np.zeros(BAR.point_count))
    with pytest.raises(InputError, match=r"thick.painted: nothing is in the part .*weights above 0.5 somewhere$"):
        prepare_wrinkle(wrinkled(folder, **nothing))
    with pytest.raises(InputError, match=r"growth_painted: nothing is in the part .*weights above 0 somewhere"):
        prepare_wrinkle(wrinkled(folder, **{**nothing, "regions": ENDS}, growth_painted="thick", growth=0.1))


def test_two_skins_that_are_brushed_on_may_share_vertices_up_to_all_of_them(folder: Path) -> None:
    table = brushed(folder, BAR.rest[:, 0] / 0.4)
    own = {"skin": {"thickness": 3e-3}, "vertices": LEFT.tolist()}
    found = prepare_wrinkle(wrinkled(folder, **{**table, "regions": {**table["regions"], "thin": own}})).blend
    assert found is not None and len(found.materials) == 3
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    own["vertices"] = RIGHT.tolist()
    with pytest.raises(InputError, match="vertices lie in two regions with skins of their own"):
        prepare_wrinkle(wrinkled(folder, **{**table, "regions": {**table["regions"], "thin": own}}))


@pytest.mark.slow
def test_waves_below_two_edges_are_warned_of_and_run(folder: Path) -> None:
    thin = {**SKIN, "thickness": 2e-3}
    result = wrinkled(folder, frames=(1, 2), skin=thin, cell=0.04).run(threads=1)
    (told,) = [one.text for one in result.report.sentences if "the mesh cannot have them" in one.text]
    assert "Waves of 0.0404 m have 0.81 edges of the mesh" in told and "edges of 0.0051 m would show them" in told
    assert len(result.report.measured.frames) == 2 and result.report.met is True
    assert any("Cells of 0.04 m are smaller than" in one.text for one in result.report.sentences)


def test_a_body_that_is_pushed_through_itself_is_told_of(folder: Path) -> None:
    """An end that goes farther than the body is long; pushed less, nothing is said."""

    def told(move: float) -> list[str]:
        push = [PUSH[0], {"region": "right", "keys": [{"frame": 1}, {"frame": 2, "move": [move, 0.0, 0.0]}]}]
        result = wrinkled(folder, frames=(1, 2), handles=push).run(threads=1)
        assert result.report.arrays["inverted"].shape == (2,)
        return [one.text for one in result.report.sentences if "inside out" in one.text]

    assert not told(-0.02)
    (said,) = told(-0.6)
    assert said.startswith("The body is inside out in places on frame 2: at most ") and "cells, at frame 2; " in said
