"""`bunraku check`: findings in words and as json, a mended copy, and everything it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from bunraku.geometry import TetMesh, examine
from bunraku.io import read_surface, read_tets, write_mesh
from bunraku.scenes import box_mesh

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
BROKEN = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 5 5 5
f 1 2 3
f 1 3 4
f 3 1 2
f 1 1 2
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "broken.obj"
    path.write_text(BROKEN)
    return path


def test_findings_are_said_in_plain_words(broken: Path, bunraku) -> None:
    code, out, _ = bunraku("check", "broken.obj")
    assert code == 0
    for words in (
        "The file does not say its unit", "5 points, 4 polygons", "1 face lies on another with the same three points",
        "(polygons 2)", "(points 4)", "To do:",
    ):  # fmt: skip
        assert words in out, words


def test_a_clean_mesh_is_said_to_be_clean(tmp_path: Path, bunraku) -> None:
    write_mesh(tmp_path / "box.obj", box_mesh())
    code, out, _ = bunraku("check", str(tmp_path / "box.obj"), "--unit", "m")
    assert code == 0 and "Nothing is wrong with it." in out and "Unit m, Y up." in out


def test_json_says_the_same(broken: Path, bunraku) -> None:
    code, out, _ = bunraku("check", "broken.obj", "--unit", "cm", "--json")
    said = json.loads(out)
    assert code == 0 and said["unit"] == 0.01 and said["file"] == "broken.obj" and said["frames"] == [0.0]
    kinds = {one["kind"]: one for one in said["diagnosis"]["findings"]}
    assert kinds["loose points"]["where"] == [4] and kinds["repeated faces"]["count"] == 1
    assert all(one["sentence"] and one["severity"] for one in kinds.values())


def test_a_mended_copy_is_written_and_what_changed_is_said(broken: Path, bunraku) -> None:
    code, out, _ = bunraku("check", "broken.obj", "--unit", "cm", "--repair", "mended.ply")
    assert code == 0 and "mended copy: mended.ply" in out
    mended = read_surface("mended.ply", unit="cm")
    assert mended.point_count == 4 and mended.polygon_count == 2
    assert np.allclose(mended.points[:, :2].max(axis=0), 0.01)
    assert not [one for one in examine(mended).findings if one.severity.value != "harmless"]
    assert broken.read_text() == BROKEN


def test_repair_refuses_to_overwrite(broken: Path, bunraku) -> None:
    for target in ("broken.obj", "./broken.obj"):
        code, _, err = bunraku("check", "broken.obj", "--repair", target)
        assert code == 2 and "would overwrite the file itself" in err and "broken_mended.obj" in err
    Path("there.obj").write_text("mine")
    code, _, err = bunraku("check", "broken.obj", "--repair", "there.obj")
    assert code == 2 and "nothing is overwritten" in err and Path("there.obj").read_text() == "mine"
    code, _, err = bunraku("check", "broken.obj", "--repair", "mended.abc")
    assert code == 2 and "cannot hold a mesh" in err and not Path("mended.abc").exists()
    code, _, err = bunraku("check", "broken.obj", "--remesh", "0.1")
    assert code == 2 and "--repair OUT" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.obj",), "there is no such file"),
        (("cloth.abc",), "Alembic cannot be read"),
        (("broken.obj", "--prim", "/a"), "files have no prim"),
        (("broken.obj", "--unit", "-3"), "positive length"),
        (("broken.obj", "--unit", "furlong"), "neither m, dm"),
        (("broken.obj", "--repair", "x.obj", "--remesh", "-1"), "above zero"),
        (("broken.obj", "--repair", "x.obj", "--remesh", "nan"), "above zero"),
        (("broken.obj", "--repair", "no/such/folder/x.obj"), "the folder does not exist"),
        (("solid.msh", "--repair", "x.obj"), "cannot hold a mended solid"),
    ],
)
def test_refusals_are_one_sentence(broken: Path, bunraku, words: tuple[str, ...], said: str) -> None:
    for name in ("cloth.abc", "solid.msh"):
        Path(name).write_bytes(b"something")
    code, out, err = bunraku("check", *words)
    assert code == 2 and said in err and out == ""
    assert not Path("x.obj").exists()


def test_points_that_are_not_finite_are_found_and_fail(tmp_path: Path, bunraku) -> None:
    (tmp_path / "nan.obj").write_text("v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n")
    code, out, _ = bunraku("check", str(tmp_path / "nan.obj"))
    assert code == 2 and "[refused]" in out and "(points 1)" in out


def test_a_sequence_tells_its_frames_and_gaps(tmp_path: Path, bunraku) -> None:
    for k in (1, 2, 3, 7, 8):
        (tmp_path / f"{k:04d}.obj").write_text(f"v 0 0 {k}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    code, out, _ = bunraku("check", str(tmp_path))
    assert code == 0 and "5 frames, 1 to 8" in out and "missing after frame 3" in out


def test_solids_are_counted(bunraku) -> None:
    if not DATA.is_dir():
        pytest.skip(f"third-party test data is not there: {DATA}; BUNRAKU_TEST_DATA says where it is")
    code, out, _ = bunraku("check", str(DATA / "tets/bar_2523.msh"))
    assert code == 0 and "886 points, 2523 tetrahedra, a surface of 1618 triangles" in out


def test_solids_are_mended(tmp_path: Path, bunraku) -> None:
    """A node lies in the plane of three others: refused, and with --repair a copy without that tetrahedron."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    write_mesh(tmp_path / "flat.msh", TetMesh(rest, np.array([[0, 1, 2, 3], [1, 4, 2, 0]])))
    code, out, err = bunraku("check", str(tmp_path / "flat.msh"), "--unit", "m")
    assert code == 2 and "1 tetrahedron has no volume" in out and "without volume" in err
    code, out, _ = bunraku("check", str(tmp_path / "flat.msh"), "--unit", "m", "--repair", str(tmp_path / "good.msh"))
    assert code == 0 and "left out 1 tetrahedron without volume to speak of" in out
    assert np.array_equal(read_tets(tmp_path / "good.msh").rest, rest[:4])


@pytest.mark.parametrize("faces", ["f 1 2 3\nf 2 3 4\n", "f 1 1 1\n"])
def test_check_refuses_what_a_run_would_refuse(tmp_path: Path, bunraku, faces: str) -> None:
    (tmp_path / "line.obj").write_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\n" + faces)
    code, out, _ = bunraku("check", str(tmp_path / "line.obj"), "--unit", "m")
    assert code == 2 and "A run would refuse it:" in out and "has no faces" in out


def test_settings_are_named_as_the_command_line_does(tmp_path: Path, bunraku) -> None:
    (tmp_path / "big.obj").write_text("v 0 0 0\nv 14 0 0\nv 0 14 0\nf 1 2 3\n")
    _, out, _ = bunraku("check", str(tmp_path / "big.obj"))
    assert "say --unit dm" in out and "unit =  " not in out


@pytest.mark.parametrize(
    ("words", "said"), [(("--weld", "nan"), "weld_distance"), (("--fill-holes", "-1"), "fill_holes")]
)
def test_odd_numbers_of_the_repair_are_refused(broken: Path, bunraku, words: tuple[str, ...], said: str) -> None:
    code, _, err = bunraku("check", "broken.obj", "--repair", "x.obj", *words)
    assert code == 2 and said in err and not Path("x.obj").exists()


def test_a_polygon_of_many_corners_is_looked_at_in_bounded_time(tmp_path: Path, bunraku) -> None:
    angle = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    lines = [f"v {np.cos(a):.9f} {np.sin(a):.9f} 0\n" for a in angle]
    (tmp_path / "ngon.obj").write_text("".join(lines) + "f " + " ".join(map(str, range(1, 20_001))) + "\n")
    code, out, _ = bunraku("check", str(tmp_path / "ngon.obj"), "--unit", "m")
    assert code in (0, 2) and "20000 points, 1 polygons" in out
