"""A shot on a file as artists have them: quads, open seams, loose points; back out the way it came."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, UV, Attribute, Scope, Subset, Surface, TriMesh
from bunraku.io import Sample, read_poses, read_surface, write_frames, write_mesh
from bunraku.shots import contents, read_shot
from bunraku.shots.prepare import prepare

SEAM, LOOSE = 9, 12
FRAMES = 4


def coat() -> Surface:
    """A 4 × 2 sheet of quads, cut in two along a seam with points of its own on either side; one loose point."""
    left = [[x, y, 0.0] for x in (0.0, 0.25, 0.5) for y in (0.0, 0.2, 0.4)]
    right = [[x, y, 0.0] for x in (0.5, 0.75, 1.0) for y in (0.0, 0.2, 0.4)]
    points = np.array([*left, [7.0, 7.0, 7.0], *right])
    quads = [
        [a, a + 3, a + 4, a + 1] for first in (0, 10) for a in (first + 3 * i + j for i in range(2) for j in range(2))
    ]
    uv = Attribute(UV, Scope.POINT, points[:, :2] * 0.5)
    halves = (Subset("left", np.arange(4)), Subset("right", np.arange(4, 8)))
    return Surface(points, np.full(8, 4), np.array(quads).reshape(-1), (uv,), halves)


def poses() -> list[np.ndarray]:
    """The sheet folds up; the loose point rises by itself."""
    found = []
    for k in range(FRAMES):
        x = coat().points.copy()
        x[:, 2] += 0.02 * k * (x[:, 0] - 0.5) ** 2
        x[9] = [7.0, 7.0 + k, 7.0]
        found.append(x)
    return found


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    samples = (Sample(1.0 + k, x) for k, x in enumerate(poses()))
    write_frames(tmp_path / "coat.####.obj", coat(), samples, rate=24.0, unit="cm", up_axis="Z")
    return tmp_path / "coat.####.obj"


def shot(folder: Path, *, formats: list[str], levels: int = 0, **coat_table: Any) -> Path:
    table = {"guide": {"file": "coat.####.obj", "unit": "cm", "up_axis": "Z"}, "mesh": {"levels": levels}} | coat_table
    path = folder / "fold.toml"
    path.write_text(tomli_w.dumps({"object": {"coat": table}, "output": {"preview": False, "formats": formats}}))
    return path


@pytest.mark.parametrize("levels", [0, 1])
def test_every_format_comes_out_as_the_guide_came_in(guide: Path, tmp_path: Path, levels: int) -> None:
    formats = ["usdc", "obj", "ply", "pc2", "mdd", "glb"]
    result = read_shot(shot(tmp_path, formats=formats, levels=levels)).run()
    assert result.report.met
    told: dict[str, Any] = {"unit": "cm", "up_axis": "Z", "rate": 24.0}
    names = {"usdc": ("coat.usdc", {"prim": "/bunraku/coat"}), "obj": ("obj/coat.####.obj", told),
             "ply": ("ply/coat.####.ply", told), "pc2": ("coat.pc2", told), "mdd": ("coat.mdd", told)}  # fmt: skip
    found = {kind: read_poses(result.folder / name, **more)[1] for kind, (name, more) in names.items()}
    for kind, points in found.items():
        assert np.abs(points - found["obj"]).max() < 2e-6, kind
    points = found["obj"]
    surface = read_surface(result.folder / "obj/coat.0002.obj", unit="cm", up_axis="Z")
    assert [(subset.name, len(subset.polygons)) for subset in surface.subsets] == [
        ("left", len(surface.counts) // 2), ("right", len(surface.counts) // 2)
    ]  # fmt: skip
    uv = surface.attribute(UV)
    assert uv is not None
    if levels == 0:
        assert surface.same_topology(coat())
        assert np.allclose(uv.flat(), coat().attributes[0].values[coat().corners])
        # The seam stays closed though its points are two; the loose point goes where the guide has it.
        assert np.array_equal(points[:, 6:9], points[:, 10:13])
        assert np.allclose(points[:, 9], [x[9] for x in poses()], atol=1e-9)
    else:
        assert surface.polygon_count == 16 * 4 and not (np.abs(points) > 5).any()


def test_numbers_in_the_shot_are_the_files_own(guide: Path, tmp_path: Path) -> None:
    """Point 12 of the file is vertex 8 of the sewn sheet, shared with point 8."""
    prepared = prepare(read_shot(shot(tmp_path, formats=["usdc"], pins=[{"vertices": [12, 18]}])))
    assert prepared.shell.point_count == 15
    held = prepared.pins[0].vertices
    assert np.allclose(prepared.shell.rest[held], [[0.5, 0.4, 0.0], [1.0, 0.4, 0.0]])
    regions = {"cuff": {"faces": [7], "material": "leather"}}
    prepared = prepare(read_shot(shot(tmp_path, formats=["usdc"], regions=regions)))
    assert np.flatnonzero(prepared.material.weights[:, 1]).tolist() == [14, 15]
    with pytest.raises(InputError, match=r"pins\[0\]\.vertices: names points of no face.*got '9'"):
        prepare(read_shot(shot(tmp_path, formats=["usdc"], pins=[{"vertices": [9]}])))
    with pytest.raises(InputError, match=r"numbers outside the written surface .got '19'.; allowed: 0 to 18"):
        prepare(read_shot(shot(tmp_path, formats=["usdc"], pins=[{"vertices": [19]}])))


def test_a_file_without_a_unit_needs_one(guide: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not say its unit.*got 'a shape of 100 × .*try: unit = 'cm'"):
        prepare(read_shot(shot(tmp_path, formats=["usdc"], guide={"file": "coat.####.obj"})))


def test_a_take_in_any_format_may_be_the_next_guide(guide: Path, tmp_path: Path) -> None:
    for formats in (["mdd"], ["obj"], ["usdc"]):
        first = read_shot(shot(tmp_path, formats=formats)).run()
        path = shot(tmp_path, formats=["usdc"], guide={"take": f"fold/{first.folder.name}"})
        again = prepare(read_shot(path))
        assert again.clip.meters_per_unit == 0.01 and again.clip.up_axis == "Z"
        assert np.allclose(again.clip.mesh.rest, prepare(read_shot(shot(tmp_path, formats=formats))).clip.mesh.rest)
        assert len(again.clip.frames) == FRAMES


def test_seams_may_be_left_open(guide: Path, tmp_path: Path) -> None:
    table = {"file": "coat.####.obj", "unit": "cm", "up_axis": "Z", "sew": False}
    assert prepare(read_shot(shot(tmp_path, formats=["usdc"], guide=table))).shell.point_count == 18


def test_a_rest_shape_without_a_unit_needs_one_too(guide: Path, tmp_path: Path) -> None:
    write_mesh(tmp_path / "rest.obj", coat(), unit="cm", up_axis="Z")
    with pytest.raises(InputError, match=r"object\.coat\.mesh: .*rest\.obj: the file does not say its unit"):
        prepare(read_shot(shot(tmp_path, formats=["usdc"], mesh={"file": "rest.obj"})))
    told = {"file": "rest.obj", "unit": "cm", "up_axis": "Z"}
    assert prepare(read_shot(shot(tmp_path, formats=["usdc"], mesh=told))).shell.size == pytest.approx(np.hypot(1, 0.4))


def test_loose_points_have_the_velocity_they_move_with(guide: Path, tmp_path: Path) -> None:
    going = prepare(read_shot(shot(tmp_path, formats=["usdc"]))).written[0].going
    still = np.zeros((15, 3))
    assert np.allclose(going.sample(2.0, still, still).velocities[9], [0.0, 24.0, 0.0])  # type: ignore[index]


def test_the_faces_of_a_cache_are_given_in_the_shot(guide: Path, tmp_path: Path) -> None:
    first = read_shot(shot(tmp_path, formats=["pc2"])).run()
    (first.folder / "coat.obj").rename(tmp_path / "body.obj")
    (first.folder / "coat.pc2").rename(tmp_path / "moving.pc2")
    table = {"file": "moving.pc2", "faces": "body.obj", "unit": "cm", "up_axis": "Z"}
    prepared = prepare(read_shot(shot(tmp_path, formats=["usdc"], guide=table)))
    assert len(prepared.clip.frames) == FRAMES and len(prepared.inputs) == 2


@pytest.mark.parametrize("bending", ["plate", "hinge"])
def test_single_triangles_are_simulated(tmp_path: Path, bending: str) -> None:
    """Confetti has no edge to bend about; stretching alone holds it together."""
    for k in (1, 2, 3):
        (tmp_path / f"coat.{k:04d}.obj").write_text(
            f"v 0 0 {k}\nv 1 0 {k}\nv 0 1 {k}\nv 5 0 {k}\nv 6 0 {k}\nv 5 1 {k}\nf 1 2 3\nf 4 5 6\n"
        )
    path = shot(tmp_path, formats=["usdc"])
    path.write_text(path.read_text() + f"[physics]\nbending = '{bending}'\n")
    assert read_shot(path).run().report.met


def test_guides_beside_a_take_are_described_whatever_their_kind(tmp_path: Path) -> None:
    others = {"walker_rest.usdc": "a shape that the shot file names", "walker.msh": "the body's tetrahedra"}
    for name in ("walker.usdc", "walker_guide.usdc", "walker.toml", "guide.usda", *others):
        (tmp_path / name).write_text("")
    about = {one.name: one.about for one in contents(tmp_path, ["walker"])}
    assert about["walker.usdc"] == "the animation" and about["walker_guide.usdc"] == about["guide.usda"] == "the guide"
    assert {name: about[name] for name in others} == others


def test_frames_without_a_sample_are_said(guide: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "coat.0002.obj").unlink()
    prepare(read_shot(shot(tmp_path, formats=["usdc"])))
    assert "has no sample on 1 of 4 frames" in caplog.text


def test_groups_of_the_file_are_regions_by_name(guide: Path, tmp_path: Path) -> None:
    result = read_shot(shot(tmp_path, formats=["usdc"], levels=1, track={"method": "painted"})).run()
    assert result.report.met and result.report.measured.regions == 2
    assert any("around region left" in one.text or "around region right" in one.text for one in result.report.sentences)
    with pytest.raises(InputError, match=r"track: the guide has no such regions .got 'cuffs'.; allowed: group, uv"):
        prepare(read_shot(shot(tmp_path, formats=["usdc"], track={"method": "painted", "regions": "cuffs"})))


def test_labels_and_colours_of_points_are_regions(tmp_path: Path) -> None:
    shades = np.where(coat().points[:, :1] < 0.6, [[255, 0, 0]], [[0, 0, 255]]).astype(np.uint8)
    labels = np.where(coat().points[:, 0] < 0.3, 4, np.where(np.arange(19) > 16, 8, -1))  # 17, 18: the far edge
    more = (Attribute(COLOUR, Scope.POINT, shades), Attribute("zone", Scope.POINT, labels))
    surface = replace(coat(), attributes=more)
    samples = (Sample(1.0 + k, x) for k, x in enumerate(poses()))
    write_frames(tmp_path / "coat.####.ply", surface, samples, rate=24.0, unit="cm", up_axis="Z")
    told = {"file": "coat.####.ply", "unit": "cm", "up_axis": "Z"}
    for name, count in (("colour", 2), ("zone", 2)):
        path = shot(tmp_path, formats=["usdc"], guide=told, track={"method": "painted", "regions": name})
        prepared = prepare(read_shot(path))
        assert prepared.tests is not None and prepared.tests.count == len(prepared.region_names) == count
    assert prepared.region_names == ("zone 4", "zone 8")
    near, far = prepared.tests.guide.toarray() > 0  # type: ignore[union-attr]
    assert sorted(prepared.clip.mesh.rest[far, :2].tolist()) == [[1.0, 0.2], [1.0, 0.4]]
    assert (prepared.clip.mesh.rest[near, 0] < 0.3).all() and near.sum() == 6


def test_clusters_may_be_given_by_their_size(guide: Path, tmp_path: Path) -> None:
    """A sheet of 1 m × 0.4 m: ten squares of 0.2 m."""
    prepared = prepare(read_shot(shot(tmp_path, formats=["usdc"], track={"method": "clusters", "scale": 0.35})))
    assert prepared.tests is not None and prepared.tests.count == 3


@pytest.mark.parametrize("output", [{}, {"clips": True}, {"shutter": [-0.25, 0.25]}])
def test_part_of_a_stage_that_moves_on_is_read_back_frame_by_frame(tmp_path: Path, output: dict[str, Any]) -> None:
    """The parent is keyed on frames 1 to 6; the shot has 2 to 4."""
    keys = ", ".join(f"{k}: ({0.01 * k}, 0, 0)" for k in range(1, 7))
    (tmp_path / "car.usda").write_text(f"""#usda 1.0
( metersPerUnit = 1
  upAxis = "Y"
  timeCodesPerSecond = 24 )
def Xform "car" {{
    double3 xformOp:translate.timeSamples = {{ {keys} }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "flag" {{
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    }}
}}
""")
    text = {"shot": {"frames": [2, 4]}, "object": {"flag": {"guide": {"file": "car.usda"}, "mesh": {"levels": 0}}},
            "output": {"preview": False, **output}}  # fmt: skip
    (tmp_path / "flag.toml").write_text(tomli_w.dumps(text))
    result = read_shot(tmp_path / "flag.toml").run()
    assert result.report.met and result.report.measured.frames.tolist() == [2.0, 3.0, 4.0]


def test_a_mesh_of_its_own_has_what_is_painted_on_it(guide: Path, tmp_path: Path) -> None:
    """Regions that are directed, below zero where it is free, and a part to pin, where the guide has neither."""
    inner = np.array([[0.1, 0.1, 0.0], [0.9, 0.1, 0.0], [0.9, 0.3, 0.0], [0.1, 0.3, 0.0]])
    painted = (
        Attribute("held", Scope.POINT, np.array([3, 3, -1, -1], dtype=np.int32)),
        Attribute("collar", Scope.POINT, np.array([1, 0, 0, 0], dtype=np.float32)),
    )
    mesh = replace(Surface.of(TriMesh(inner, np.array([[0, 1, 2], [0, 2, 3]]))), attributes=painted)
    write_mesh(tmp_path / "fine.usda", mesh)
    told = {"file": "fine.usda"}
    path = shot(
        tmp_path, formats=["usdc"], mesh=told, track={"method": "painted", "regions": "held"},
        regions={"collar": {"painted": "collar"}}, pins=[{"region": "collar", "to": "guide"}],
    )  # fmt: skip
    prepared = prepare(read_shot(path))
    assert prepared.region_names == ("held 3",) and prepared.pins[0].vertices == [0]
    assert np.flatnonzero(prepared.functions.toarray()[0]).tolist() == [0, 1]  # type: ignore[union-attr]
    wrong = shot(
        tmp_path, formats=["usdc"], mesh=told, regions={"cuff": {"painted": "cuff"}}, pins=[{"region": "cuff"}]
    )
    with pytest.raises(InputError, match=r"coat\.regions\.cuff\.painted: the surface has no such part \(got 'cuff'\)"):
        prepare(read_shot(wrong))
