"""Whole files through the front door: real ones load, broken ones end in a sentence, nothing is written outside."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest
from hostile import survive
from test_io_obj_surface import CLOTH

from bunraku.contracts import InputError
from bunraku.geometry import UV, weld
from bunraku.io import read_clip, read_mesh, read_surface, read_tets, survey, write_animation
from bunraku.io.obj import read_obj
from bunraku.motion import Animation

COUNTS = {
    "meshes/armadillo.obj": (14587, 29170), "meshes/horse.obj": (6013, 12022), "meshes/cactus.obj": (5261, 10518),
    "meshes/spot.obj": (2930, 5856), "meshes/stuffed_toy.obj": (6669, 13334), "meshes/koala.obj": (3560, 7116),
    "meshes/penguin.obj": (3362, 6720), "meshes/scorpion.obj": (6315, 12626), "meshes/hand.obj": (7993, 15982),
    "meshes/human_man.obj": (6890, 13776), "meshes/face_lee_perry_smith.glb": (8844, 17684),
    "garments/unisex_shirt.usd": (6436, 12736), "garments/tshirt.obj": (1921, 3726), "garments/dress.obj": (4536, 8801),
    "garments/dress_sewing_panels.obj": (15656, 29456), "garments/makehuman_suit_male04.obj": (1696, 3240),
    "sequences/wolf/wolf_rest.obj": (5075, 10018), "sequences/kick_body/kick_body_frame0.obj": (12811, 25472),
}  # fmt: skip
"""vertices and faces once sewn, from the data's own table"""


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_every_mesh_loads(data: Path, name: str) -> None:
    mesh = read_mesh(data / name)
    assert (mesh.point_count, len(mesh.faces)) == COUNTS[name]


def test_the_split_face_comes_back_with_its_seams(data: Path) -> None:
    surface = read_surface(data / "meshes/face_lee_perry_smith.glb")
    welded = weld(surface)
    assert (surface.point_count, welded.sewn) == (9279, 435)
    moved = welded.mesh.rest * [1.0, 1.1, 1.0]
    assert np.array_equal(welded.spread(moved, np.zeros((0, 3))), surface.points * [1.0, 1.1, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "points", "frames"),
    [
        ("sequences/tshirt_wind", {"rate": 90.0}, 1426, 26),
        ("sequences/wolf/wolf_poses.pc2", {"faces": "sequences/wolf/wolf_rest.obj"}, 5075, 21),
        ("sequences/kick_body/kick_body.pc2", {"faces": "sequences/kick_body/kick_body_frame0.obj"}, 12811, 31),
        ("sequences/cesium_man.glb", {"rate": 24.0}, None, 49),
        ("sequences/fox.glb", {"clip": "Run", "rate": 24.0}, None, 28),
        ("sequences/robot_expressive.glb", {"clip": "Dance", "prim": "/RootNode/Hand.R"}, None, 81),
    ],
)
def test_every_sequence_loads(data: Path, name: str, more: dict, points: int | None, frames: int) -> None:
    if "faces" in more:
        more = more | {"faces": data / more["faces"]}
    clip = read_clip(data / name, **more)
    assert clip.animation.frame_count == frames
    assert points is None or clip.animation.points.shape[1] == points
    moves = np.abs(clip.animation.points - clip.animation.points[0]).max()
    assert moves > 1e-3 * clip.mesh.size


@pytest.mark.parametrize(
    "name", ["armadillo_13k.msh", "octocat.msh", "little_elephant.msh", "bar_2523.msh", "armadillo_4k.node"]
)
def test_every_solid_loads(data: Path, name: str) -> None:
    assert (read_tets(data / "tets" / name).volumes > 0).all()


def test_odd_sizes_are_doubted_with_a_guess(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    suit = data / "garments/makehuman_suit_male04.obj"
    with caplog.at_level(logging.WARNING):
        read_mesh(suit)
    assert "is 14.5 m large if its unit is m; in decimetres it would be 1.4 m: if so, say unit = 'dm'" in caplog.text
    caplog.clear()
    read_mesh(suit, unit="dm")
    assert "unit" not in caplog.text


def test_a_face_eight_metres_wide_is_doubted(data: Path) -> None:
    assert any(
        "8.55 m large" in fact and "say unit" in fact
        for fact in survey(data / "meshes/face_lee_perry_smith.glb").facts()
    )


@pytest.mark.parametrize(
    ("name", "story"),
    [("a.abc", "Alembic cannot be read here; convert it once.*usdcat"), ("a.fbx", "FBX cannot be read"),
     ("a.blend", "export USD from Blender"), ("a.msh", "tetrahedra, not an animated surface"),
     ("a.xyz", "unknown kind of file.*\\.glb")],
)  # fmt: skip
def test_what_is_not_read_says_what_to_do(tmp_path: Path, name: str, story: str) -> None:
    (tmp_path / name).write_bytes(b"whatever")
    with pytest.raises(InputError, match=story):
        read_clip(tmp_path / name)


@pytest.mark.parametrize("seed", range(3))
def test_broken_objs_end_in_a_sentence(tmp_path: Path, seed: int) -> None:
    refused = survive(read_obj, tmp_path / "mutant.obj", CLOTH.encode(), 150, seed)
    assert 20 < refused < 150


@pytest.mark.slow
def test_thousands_of_broken_objs_end_in_a_sentence(tmp_path: Path, data: Path) -> None:
    assert survive(read_obj, tmp_path / "mutant.obj", CLOTH.encode(), 8000, 11) > 1000
    whole = (data / "garments/makehuman_suit_male04.obj").read_bytes()
    survive(read_obj, tmp_path / "mutant.obj", whole, 300, 12)


def test_broken_caches_end_in_a_sentence(tmp_path: Path, wave: Animation) -> None:
    for name in ("mutant.pc2", "mutant.mdd"):
        write_animation(tmp_path / name, wave)
        assert 20 < survive(read_clip, tmp_path / name, (tmp_path / name).read_bytes(), 200, 5) <= 200


def test_a_billion_vertices_in_a_small_file_are_refused_at_once(tmp_path: Path) -> None:
    import struct

    (tmp_path / "a.pc2").write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 10**9, 0.0, 1.0, 10**9))
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(InputError, match="cut short"):
        read_clip(tmp_path / "a.pc2")
    (tmp_path / "b.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999999999999999\n")
    with pytest.raises(InputError, match="line 4: a face"):
        read_mesh(tmp_path / "b.obj")


def test_names_in_a_file_never_become_places(tmp_path: Path) -> None:
    """Materials, groups and objects called like paths out of the folder are carried as words and nothing else."""
    evil = (
        CLOTH.replace("cloth.mtl", "../../etc/evil.mtl")
        .replace("g right", "g ../../evil")
        .replace("coat", "/nowhere/x")
    )
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    (inside / "evil.obj").write_text(evil)
    clip = read_clip(inside / "evil.obj")
    for name in ("a.usda", "a.glb", "a.pc2", "out.####.obj", "out.####.ply"):
        write_animation(inside / name, clip.animation, like=clip)
    assert sorted(file.parent for file in tmp_path.rglob("*") if file.is_file()) == [inside] * 7


@pytest.mark.parametrize("name", ["q.obj", "q.msh", "q.pc2", "q.glb", "q.ply", "q.usdc"])
def test_pipes_are_refused_and_never_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    read = read_tets if name.endswith(".msh") else read_mesh
    sequence = name.endswith((".obj", ".ply"))  # or the first file of one
    with pytest.raises(InputError, match="is no ordinary file" if sequence else None):
        read(tmp_path / name)


def test_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "z.glb").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"z\.glb: is no ordinary file"):
        read_mesh(tmp_path / "z.glb")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "mixed"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_marks_and_line_ends_of_any_system(tmp_path: Path, ends: str, mark: bytes) -> None:
    lines = ["v 0 0 0", "v 1 0 0", "v 1 1 0", "v 0 1 0", "f 1 2 3 \\", "4"]
    text = (
        "".join(line + ("\r", "\n", "\r\n")[k % 3] for k, line in enumerate(lines))
        if ends == "mixed"
        else ends.join(lines)
    )
    (tmp_path / "a.obj").write_bytes(mark + text.encode())
    found = read_obj(tmp_path / "a.obj")
    assert found.points.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]] and found.corners.tolist() == [
        0,
        1,
        2,
        3,
    ]


def test_a_folder_of_unrelated_meshes_is_no_sequence(tmp_path: Path) -> None:
    for name in ("coat.obj", "suit_male04.obj", "dress.obj"):
        (tmp_path / name).write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(
        InputError, match=r"holds several meshes that are no sequence .*coat.obj, dress.obj, suit_male04"
    ):
        read_clip(tmp_path)


def test_one_number_is_enough_for_a_texture_coordinate(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.5\nf 1/1 2/1 3/1\n")
    uv = read_obj(tmp_path / "a.obj").attribute(UV)
    assert uv is not None and uv.values.tolist() == [[0.5, 0.0]]


def test_long_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_mesh(tmp_path / ("x" * 300 + ".obj"))
    with pytest.raises(InputError, match="there is no such file"):
        read_mesh(tmp_path / ("x" * 300 + ".usd"))
