"""Where the warp runs: texture coordinates, painted vectors, axes; and materials by weight in a shot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError
from bunraku.geometry import UV, Attribute, Scope, face_normals
from bunraku.io import Clip, read_clip
from bunraku.materials import preset
from bunraku.shots import read_shot
from bunraku.shots.prepare_shell import prepare_shell
from bunraku.shots.warp import warp_directions

QUADS = """#usda 1.0
(
    defaultPrim = "cloth"
    metersPerUnit = 1
    upAxis = "{up}"
    timeCodesPerSecond = 24
)
def Mesh "cloth"
{{
    int[] faceVertexCounts = [4, 4]
    int[] faceVertexIndices = [0, 1, 4, 3, 1, 2, 5, 4]
    point3f[] points.timeSamples = {{
        1: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0)],
        2: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0)],
    }}
    texCoord2f[] primvars:st = {uv} (interpolation = "faceVarying")
    vector3f[] primvars:grain = [(1, 1, 7), (0, 2, 0)] (interpolation = "uniform")
}}
"""
# The first quad's u runs along x; the second's island is turned by a right angle.
TURNED = "[(0, 0), (1, 0), (1, 1), (0, 1), (5, 5), (5, 6), (4, 6), (4, 5)]"


def cloth(folder: Path, uv: str = TURNED, up: str = "Y") -> Path:
    path = folder / "cloth.usda"
    path.write_text(QUADS.format(uv=uv, up=up))
    return path


def lines(directions: np.ndarray) -> np.ndarray:
    """(f, 3) directions whose sense does not matter."""
    first = directions[np.arange(len(directions)), np.argmax(np.abs(directions), axis=1)]
    return directions * np.sign(first)[:, None]


@pytest.mark.parametrize("levels", [0, 2])
def test_the_warp_runs_along_u_and_children_inherit_it(tmp_path: Path, levels: int) -> None:
    clip = read_clip(cloth(tmp_path))
    found = lines(warp_directions(clip, "uv", levels))
    assert len(found) == 4 * 4**levels
    of_first = np.repeat(clip.welded.polygons == 0, 4**levels)
    assert found[of_first] == pytest.approx(np.tile([1.0, 0, 0], (int(of_first.sum()), 1)), abs=1e-12)
    assert found[~of_first] == pytest.approx(np.tile([0, 1.0, 0], (int((~of_first).sum()), 1)), abs=1e-12)
    assert np.array_equal(lines(warp_directions(clip, None, levels)), found)  # where there are any, they are taken


def test_a_painted_vector_is_let_down_on_its_faces(tmp_path: Path) -> None:
    clip = read_clip(cloth(tmp_path))
    found = warp_directions(clip, "grain", 0)
    expected = np.where((clip.welded.polygons == 0)[:, None], [np.sqrt(0.5), np.sqrt(0.5), 0], [0.0, 1.0, 0.0])
    assert found == pytest.approx(expected, abs=1e-12)


def test_painted_vectors_are_turned_with_a_file_whose_z_is_up(tmp_path: Path) -> None:
    """In the file the cloth lies in x, y and the paint along y; inside, Y is up and the file's y is −z."""
    clip = read_clip(cloth(tmp_path, up="Z"))
    found = lines(warp_directions(clip, "grain", 0))
    assert found[clip.welded.polygons == 1] == pytest.approx(np.tile([0.0, 0, 1.0], (2, 1)), abs=1e-12)


def test_an_axis_lies_on_every_face_and_the_next_takes_over_where_it_cannot(files) -> None:
    clip = prepare_shell(read_shot(files())).clip
    found = warp_directions(clip, None, 0)  # no texture coordinates: upright
    normals = face_normals(clip.mesh.rest, clip.mesh.faces)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(found)))
    assert np.abs(np.sum(found * normals, axis=1)).max() < 1e-12
    lids = np.abs(normals[:, 1]) > 0.5 * np.linalg.norm(normals, axis=1)
    assert found[~lids] == pytest.approx(np.tile([0.0, 1, 0], (8, 1)))
    assert found[lids] == pytest.approx(np.tile([0.0, 0, 1], (4, 1)))


def test_faces_without_texture_area_are_counted_and_upright(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clip = read_clip(cloth(tmp_path, "[(0, 0), (1, 0), (1, 1), (0, 1), (5, 5), (5, 5), (5, 5), (5, 5)]"))
    found = warp_directions(clip, "uv", 0)
    assert found[clip.welded.polygons == 1] == pytest.approx(np.tile([0.0, 1, 0], (2, 1)))
    assert "give no direction on 2 of 4 faces (polygons 1)" in caplog.text


def without(clip: Clip, attribute: Attribute | None = None) -> Clip:
    attributes = () if attribute is None else (attribute,)
    return replace(clip, surface=replace(clip.surface, attributes=attributes))


def test_refusals(tmp_path: Path) -> None:
    clip = read_clip(cloth(tmp_path))
    nothing = Attribute(UV, Scope.POINT, np.zeros((6, 2)))
    wrong = Attribute("grain", Scope.POINT, np.arange(6))
    for one, warp, said in [
        (without(clip), "uv", "the guide has no texture coordinates .*nothing is painted on it.*an axis such as"),
        (clip, "grane", r"the guide has no such attribute \(got 'grane'\); allowed: .*grain"),
        (without(clip, nothing), "uv", "texture coordinates give no direction on any face"),
        (without(clip, wrong), "grain", "'grain' says no direction"),
        (clip, (0.0, 0.0, 0.0), "three numbers, not all zero"),
    ]:
        with pytest.raises(InputError, match=said):
            warp_directions(one, warp, 0)


def test_a_shot_says_its_warp_and_its_weight(files, tmp_path: Path) -> None:
    box = {"material": {"preset": "cotton", "weight": 250, "weft": 8e5, "shear": 9e4}, "warp": [1, 0, 0]}
    prepared = prepare_shell(read_shot(files(box=box)))
    (material,) = prepared.material.materials
    assert material.areal_mass == pytest.approx(0.25)
    assert material.shear == 9e4 and material.weft == 8e5 and material.young == preset("cotton").young
    warp = prepared.material.warp
    assert warp is not None and warp.shape == (48, 3)
    prepared.shot.write(tmp_path / "again.toml")
    again = prepare_shell(read_shot(tmp_path / "again.toml")).material
    assert again.warp is not None and np.array_equal(again.warp, warp)
    assert again.materials == prepared.material.materials


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ({"material": {"preset": "cotton", "weight": 190, "density": 400}}, "material: .*either a density or a weight"),
        ({"material": {"preset": "cotton", "weft": -1.0}}, "material.weft: is out of range"),
        ({"material": {"young": 1e4, "weft": 1e6}}, "material: the material would give energy back"),
        ({"material": {"preset": "silk", "strain_limit": 0.0}}, "material.strain_limit: is out of range"),
        ({"warp": "uv"}, "object.box.warp: the guide has no texture coordinates"),
        ({"warp": [0, 0, 0]}, "object.box.warp: .*not all zero"),
        ({"warp": [0, 1]}, "object.box.warp: is a list of the wrong length"),
    ],
)
def test_a_shot_is_told_what_cannot_be(files, box: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        prepare_shell(read_shot(files(box=box)))
