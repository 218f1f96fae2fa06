"""What the extension writes is what bunraku reads: stages of meshes, shots of settings."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bridge import (
    Painted,
    Refusal,
    Shared,
    Source,
    Space,
    StageMesh,
    Track,
    Wind,
    lasting,
    named,
    prim_name,
    shot_name,
    stage_text,
    toml_text,
    track_tables,
    with_hints,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.io import read_clip
from bunraku.shots import read_shot
from bunraku.shots.prepare import prepare

RATE = 24 / 1.001
REST = np.array(
    [[0, 0, 0], [100, 0, 0], [100, 0, 50], [0, 0, 50], [7, 7, 7], [0, 30, 50]], dtype=np.float64
)  # cm, Z-up
POSES = [REST + [0.0, 0.0, 0.37 * k**2] for k in range(4)]


def mesh(**more: Any) -> StageMesh:
    """A quad and a triangle, one point loose, on frames 1001 to 1004."""
    counts, corners = np.array([4, 3]), np.array([0, 1, 2, 3, 3, 2, 5])
    return StageMesh("coat", counts, corners, REST, [1001, 1002, 1003, 1004], POSES, **more)


def test_a_stage_is_read_as_it_was_meant(tmp_path: Path) -> None:
    painted = (
        Painted("st", "texCoord2f", "faceVarying", np.arange(14).reshape(7, 2) / 7),
        Painted("zone", "int", "vertex", np.array([0, 0, 1, -1, -1, 1])),
        Painted("patch", "int", "uniform", np.array([3, 5])),
        Painted("hem", "float", "vertex", np.linspace(0, 1, 6)),
    )
    (tmp_path / "coat.usda").write_text(stage_text(mesh(painted=painted), Space(RATE, 0.01)))
    clip = read_clip(tmp_path / "coat.usda", "/coat")
    assert clip.rate == RATE and clip.frames.tolist() == [1001, 1002, 1003, 1004]
    assert clip.meters_per_unit == 0.01 and clip.up_axis == "Z"
    turned = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # row vectors, Z-up → Y-up
    for k, pose in enumerate(POSES):
        there = np.concatenate([clip.animation.points[k], clip.loose[k]])
        np.testing.assert_allclose(there, (0.01 * pose @ turned)[[0, 1, 2, 3, 5, 4]], atol=1e-7)
    assert clip.surface.counts.tolist() == [4, 3] and clip.surface.corners.tolist() == [0, 1, 2, 3, 3, 2, 5]
    zone, patch, hem = (clip.surface.attribute(name) for name in ("zone", "patch", "hem"))
    assert zone is not None and zone.flat().tolist() == [0, 0, 1, -1, -1, 1]
    assert patch is not None and patch.scope.value == "uniform" and hem is not None and hem.scope.value == "vertex"


def test_single_precision_is_kept_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    points = (rng.normal(size=(6, 3)) * 10.0 ** rng.integers(-6, 6, size=(6, 3))).astype(np.float32)
    found = stage_text(StageMesh("a", np.array([3, 3]), np.arange(6), points), Space(24.0, 1.0))
    (tmp_path / "a.usda").write_text(found)
    from bunraku.io import read_surface

    there = read_surface(tmp_path / "a.usda").points @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    np.testing.assert_array_equal(there.astype(np.float32), points)
    assert found == stage_text(StageMesh("a", np.array([3, 3]), np.arange(6), points), Space(24.0, 1.0))


def shared(**more: Any) -> Shared:
    return Shared(**({"name": "coat", "frames": (1001, 1004), "gravity": (0.0, -9.81, 0.0), "substeps": 2} | more))


@pytest.mark.parametrize("quick", [False, True])
def test_a_shot_with_everything_is_one_that_bunraku_takes(tmp_path: Path, quick: bool) -> None:
    zone = Painted("painted", "int", "vertex", np.array([0, 0, 1, -1, -1, 1]))
    hem = Painted("bunraku_pin", "float", "vertex", np.array([1.0, 0, 0, 0, 0, 0.4]))
    (tmp_path / "coat.usda").write_text(stage_text(mesh(painted=(zone, hem)), Space(RATE, 0.01)))
    ball = StageMesh(
        "ball", np.array([3, 3, 3, 3]), np.array([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]), 30 * np.eye(4, 3) - 500
    )
    (tmp_path / "ball.usda").write_text(stage_text(ball, Space(RATE, 0.01)))
    wind = Wind((0.0, 0.0, 3.0), [(1001, 0.5), (1004, 1.0)], turbulence=0.2, size=0.5, seed=4)
    ask = Track(
        Source("coat.usda", "/coat"), {"method": "painted", "regions": "painted", "strength": 0.5},
        {"preset": "denim", "young": 2e6, "bend_scale": 0.5}, 1, None, "guide",
    )  # fmt: skip
    told = shared(
        obstacles={"coat": Source("ball.usda", "/ball")}, wind=wind, contact=True, friction=0.2, thickness=0.003,
        preroll=2, quick=quick,
    )  # fmt: skip
    (tmp_path / "coat.toml").write_text(toml_text(track_tables("coat", ask, told)))
    found = prepare(read_shot(tmp_path / "coat.toml"))
    assert found.regions == ("region painted 0", "region painted 1")
    assert found.numbers.tolist() == [999, 1000, 1001, 1002, 1003, 1004] and found.pins[0].vertices == [0]
    physics = found.shot.physics
    assert (physics.substeps, physics.iterations) == ((1, 1) if quick else (2, "converge"))
    assert len(found.contact.obstacles) == (0 if quick else 1)


def test_a_look_at_regions_is_two_frames_without_what_leads_to_them() -> None:
    tables = shared(preroll=48, film=True).of_regions().tables("coat", {})
    assert tables["shot"] == {"name": "coat", "frames": [1001, 1002]} and tables["output"]["preview"] is False


def test_names_that_files_take() -> None:
    assert [prim_name(one) for one in ("Coat.001", "3D", "Mäntel", "")] == ["Coat_001", "_3D", "M_ntel", "_"]
    assert [shot_name(one) for one in ("Coat.001", "..", "a/b", "x" * 200)] == ["Coat.001", "_", "a_b", "x" * 100]
    letters = [shot_name(one) for one in ("旗", "鐘", "Mäntel", "ä" * 200)]
    assert len(set(letters)) == 4 and letters[2].startswith("M_ntel_") and len(letters[3]) < 100


def test_sentences_name_painted_regions() -> None:
    said = "region painted 1 and region painted 10 were missed by 2 m"
    assert named(said, ["left", "right"]) == "region 'right' and region painted 10 were missed by 2 m"


def test_remedies_of_the_command_line_are_told_in_blenders_words() -> None:
    said = ["a.toml: it is open; try: close it (bunraku check FILE --repair OUT --fill-holes 1)"]
    assert with_hints(said) == (*said, "In Blender: Edit Mode, Mesh, Clean Up, Fill Holes or Merge by Distance.")
    twice = ["It passes through itself; physics.contact = true keeps it apart."] * 2
    assert with_hints(twice) == (*twice, "In Blender: Contact, in the panel Contact and wind; Quick does without it.")
    assert with_hints(["Met."]) == ("Met.",)


def test_times_are_told_as_one_says_them() -> None:
    assert [lasting(s) for s in (0.4, 99.4, 100.0, 5940.0, 9000.0)] == ["0 s", "99 s", "2 min", "99 min", "2.5 h"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60)
VALUES = st.recursive(
    NUMBERS | st.booleans() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
TABLES = st.dictionaries(
    st.sampled_from(["shot", "object", "ä"]), st.dictionaries(st.sampled_from(["a", "b c", '"']), VALUES)
)


@settings(max_examples=50)
@given(TABLES)
def test_toml_says_what_it_was_given(tables: dict[str, dict[str, Any]]) -> None:
    assert tomllib.loads(toml_text(tables)) == {name: table for name, table in tables.items() if table}


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(Refusal, match="not finite"):
        toml_text({"shot": {"a": float("nan")}})
