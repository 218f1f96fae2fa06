"""A take folder as a reviewer sees it: states, frames, curves, sentences, overlays."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku import Animation, InputError
from bunraku.energies import corner_gradients
from bunraku.geometry import TriMesh, closest_points
from bunraku.io import packed, read_arrays, write_animation
from bunraku.scenes import box_mesh, crossing_arms
from bunraku.shots import Overlays, curve_titles, differences_of, open_take, read_shot
from bunraku.shots.kept import kept
from bunraku.shots.lock import locked
from bunraku.shots.overlays import largest_stretch
from bunraku.shots.prepare import prepare
from bunraku.testing import sheet


def _take(folder: Path, **physics: Any) -> Path:
    """Arms that meet on the second of four frames, after one of preroll."""
    guide = crossing_arms(72, along=9, across=3)
    write_animation(folder / "arms.usda", guide, rate=24.0, prim="/arms", frames=np.arange(1, 73))
    arms = {"guide": {"file": "arms.usda"}, "mesh": {"levels": 1},
            "material": {"young": 1e6, "thickness": 5e-4, "density": 400.0}}  # fmt: skip
    told = {"shot": {"frames": [22, 25], "preroll": 1}, "object": {"arms": arms}, "output": {"preview": False},
            "physics": {"substeps": 1, "tolerance": 1e-3, "contact": True, **physics}}  # fmt: skip
    (folder / "arms.toml").write_text(tomli_w.dumps(told), encoding="utf-8")
    return read_shot(folder / "arms.toml").run(threads=1).folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _take(tmp_path_factory.mktemp("arms"))


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy to be harmed."""
    return Path(shutil.copytree(made, tmp_path / "takes/arms/v001"))


def _unfinished(folder: Path, frames: int) -> None:
    """As a run leaves it that ended early."""
    (folder / "report.json").unlink()
    for k in range(frames, 5):
        (folder / f"frames/frame_{k:06d}.bkframe").unlink()


def test_a_finished_take_shows_what_was_kept(made: Path) -> None:
    take = open_take(made)
    assert (take.state, take.ready, take.done, take.count) == ("finished", 4, 5, 5)
    assert take.name == "arms v001" and take.object == "arms" and take.seconds_left is None
    cache = prepare(read_shot(made / "shot.toml")), open_take(made)
    for k in range(4):
        np.testing.assert_array_equal(take.points(k), kept(take.take.cache(), k + 1).points)
        np.testing.assert_allclose(take.guide(k), cache[0].guide.points[k + 1], atol=1e-6)
    assert "substeps = 1" in take.shot
    for k in (-1, 4):
        with pytest.raises(InputError, match="no such frame yet"):
            take.points(k)


def test_states_follow_the_folder(folder: Path) -> None:
    take = open_take(folder)
    _unfinished(folder, 3)
    assert (take.state, take.ready, take.done) == ("interrupted", 2, 3)
    with locked(folder):
        assert take.state == "running" and take.sentences() == []
        assert len(take.curves()["kinetic"]) == 2
    (folder / "report.json").write_text('{"outcome": "stopped", "sentences": ["Stopped."]}')
    assert take.state == "stopped" and take.sentences()[0].kind == "note"
    (folder / "report.json").write_text("[")
    assert take.state == "interrupted"


def test_frames_come_and_go_while_it_is_open(folder: Path, made: Path) -> None:
    _unfinished(folder, 1)
    take = open_take(folder)
    assert take.ready == 0 and take.curves() == {} and len(take.measured.frames) == 0
    for k in (1, 2):
        shutil.copy(made / f"frames/frame_{k:06d}.bkframe", folder / "frames")
    assert take.ready == 2 and len(take.measured.frames) == 2
    for k in (1, 2):
        (folder / f"frames/frame_{k:06d}.bkframe").unlink()
    assert take.ready == 0


def test_looking_removes_nothing_of_the_writer(folder: Path) -> None:
    writing = folder / "frames/.bunraku-999999999-00ff-tmp.bkframe"  # of a process this machine does not know
    writing.write_bytes(b"half")
    take = open_take(folder)
    assert take.ready == 4 and take.measured and take.points(0).size and writing.exists()


def test_the_time_left_is_that_of_the_last_frames(folder: Path) -> None:
    _unfinished(folder, 4)
    for k in range(4):
        os.utime(folder / f"frames/frame_{k:06d}.bkframe", (4e9 + 100.0 * k, 4e9 + 100.0 * k))  # not over yet
    take = open_take(folder)
    assert take.seconds_left is None  # nobody works on it
    with locked(folder):
        assert take.seconds_left == pytest.approx(100.0)


def test_time_that_nobody_worked_is_no_time_that_passed(folder: Path) -> None:
    """Frames of yesterday, resumed today; then a frame that takes seven times as long as those before."""
    _unfinished(folder, 3)
    now = time.time()
    for k in range(3):
        os.utime(folder / f"frames/frame_{k:06d}.bkframe", (now - 86400.0 + 100.0 * k, now - 86400.0 + 100.0 * k))
    take = open_take(folder)
    with locked(folder):
        assert take.seconds_left == pytest.approx(200.0, abs=20.0)
        os.utime(folder / ".lock", (now - 700.0, now - 700.0))
        assert take.seconds_left == pytest.approx(100.0)  # the frame after this one is still to come


def test_what_was_told_before_more_frames_were_made_is_not_told_of_them(folder: Path) -> None:
    """Stopped by physics, then resumed and interrupted some frames later."""
    report = json.loads((folder / "report.json").read_text())
    report |= {"outcome": "stopped", "frames": [22.0], "per_frame": {"kinetic": [7.0]}}
    (folder / "report.json").write_text(json.dumps(report))
    take = open_take(folder)
    assert take.state == "interrupted" and take.sentences() == []
    assert len(take.curves()["kinetic"]) == 4 and "force_N" in take.curves()
    (folder / "frames/frame_000002.bkframe").unlink()  # only the frame is left that it told of
    again = open_take(folder)
    assert again.state == "stopped" and again.curves()["kinetic"].tolist() == [7.0] and again.sentences()


def test_curves_of_a_run_are_those_of_its_report(folder: Path) -> None:
    take = open_take(folder)
    told = take.curves()
    (folder / "report.json").unlink()
    from_frames = take.curves()
    assert {"residual_m", "force_N", "pairs", "closest", "kinetic", "iterations"} <= set(from_frames)
    for name, values in from_frames.items():
        np.testing.assert_allclose(values, told[name], equal_nan=True)
    assert curve_titles()["force_N"] == ("Largest force of direction", "N", False)
    assert curve_titles()["kinetic"][0] == "Energies: kinetic"


def test_sentences_say_where_to_look(made: Path) -> None:
    sentences = open_take(made).sentences()
    report = json.loads((made / "report.json").read_text())
    assert [one.text for one in sentences] == report["sentences"]
    kept_off = next(one for one in sentences if "was kept from the guide by contact" in one.text)
    assert kept_off.kind == "missed" and kept_off.frame in (22, 23, 24, 25)
    region = report["kept_off_by_contact"]
    worst = max(region, key=lambda one: one["max_m"])
    assert kept_off.region is not None and open_take(made).scene.regions[kept_off.region] == worst["region"]
    assert kept_off.frame in worst["frames"]
    force = next(one for one in sentences if "largest force" in one.text)
    assert f"frame {force.frame:g}" in force.text


def test_overlays_agree_with_the_report(made: Path) -> None:
    take = open_take(made)
    overlays, report = Overlays(take), json.loads((made / "report.json").read_text())
    assert list(overlays.kinds) == ["regions", "force", "residual", "missed", "strain", "distance", "contact"]
    force = np.array([overlays.values("force", k).max() for k in range(4)])
    np.testing.assert_allclose(force, report["per_frame"]["force_N"])
    residual = np.array([overlays.values("residual", k).max() for k in range(4)])
    np.testing.assert_allclose(residual, report["per_frame"]["residual_m"])
    missed = max(overlays.values("missed", k).max() for k in range(4))
    assert missed == pytest.approx(max(one["max_m"] for one in report["kept_off_by_contact"]))
    assert overlays.scale("missed") == (0.0, pytest.approx(missed))
    assert overlays.labels is not None and set(overlays.labels) <= set(range(-1, len(take.scene.regions)))
    for name in overlays.kinds:
        low, high = overlays.scale(name)
        assert np.isfinite([low, high]).all() and low < high


def _stretch(mesh: TriMesh, x: np.ndarray) -> np.ndarray:
    return largest_stretch(x, mesh.faces, corner_gradients(mesh.rest, mesh.faces))


@pytest.mark.parametrize(("least", "low"), [(-1e-16, 0.0), (-0.04, -0.04)])
def test_a_scale_begins_at_zero_unless_something_is_below(
    made: Path, monkeypatch: pytest.MonkeyPatch, least: float, low: float
) -> None:
    """Rounding of an unstrained sheet is no compression."""
    overlays = Overlays(open_take(made))
    monkeypatch.setattr(overlays, "values", lambda name, k: np.repeat([least, 0.1], 50))
    assert overlays.scale("strain") == (low, pytest.approx(0.1))


def test_regions_are_coloured_where_they_weigh_most(folder: Path) -> None:
    still = folder / "scene/still.bkscene"
    arrays, meta = read_arrays(still)
    shares = np.random.default_rng(2).uniform(0.1, 1.0, len(arrays["tests/data"]))  # no two alike
    still.write_bytes(packed({**arrays, "tests/data": shares.astype(np.float32)}, meta, ""))
    take = open_take(folder)
    overlays, functions = Overlays(take), take.scene.functions
    assert functions is not None
    m = take.measured.arrays
    weights = functions.toarray()
    some = weights.max(axis=0) > 0.0
    np.testing.assert_array_equal(overlays.labels, np.where(some, weights.argmax(axis=0), -1))
    for k in range(4):
        heaviest = (weights * m["held"][k][:, None]).argmax(axis=0)
        for name, told in {"force": np.linalg.norm(m["force"][k], axis=1), "residual": m["residual"][k]}.items():
            np.testing.assert_array_equal(overlays.values(name, k), np.where(some, told[heaviest], 0.0))


def test_kernels_that_a_run_has_for_itself_hinder_no_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.np.ufunc.parallel.threading_layer", lambda: "workqueue")
    overlays = Overlays(open_take(folder))
    with locked(folder):
        for name in ("strain", "distance"):
            assert overlays.scale(name) == (0.0, 1.0)
            with pytest.raises(InputError, match="while a run goes on in this process"):
                overlays.values(name, 0)
        assert overlays.scale("force")[1] > 0.0
    assert overlays.scale("distance") == (0.0, pytest.approx(overlays.values("distance", 3).max(), rel=0.5))


def test_distances_are_zero_on_the_guide_itself(made: Path) -> None:
    take = open_take(made)
    far = Overlays(take).values("distance", 0)
    corners = take.guide(0).astype(float)
    by_hand = np.linalg.norm(take.points(0)[:, None] - corners[None], axis=2).min(axis=1)
    assert (far <= by_hand + 1e-7).all() and far.max() > 0.0


def test_contact_pairs_are_as_many_and_as_near_as_the_run_said(made: Path) -> None:
    take = open_take(made)
    pairs, closest = take.measured.arrays["pairs"], take.measured.arrays["closest"]
    assert pairs.max() > 0
    for k in range(4):
        segments = Overlays(take).values("contact", k)
        assert segments.shape == (pairs[k], 2, 3)
        if len(segments):
            lengths = np.linalg.norm(segments[:, 0] - segments[:, 1], axis=1)
            assert lengths.min() == pytest.approx(closest[k], rel=1e-6)
            on_shell = closest_points(segments.reshape(-1, 3), TriMesh(take.points(k), take.scene.shell.faces))
            assert on_shell.distances.max() < 1e-9  # both ends


@pytest.mark.slow
def test_contact_pairs_with_obstacles_that_move_and_keep_other_distances(tmp_path: Path) -> None:
    """A sheet that falls onto a ball with a thickness of its own, a plate that rises, and a floor that is thicker."""
    flat = sheet(6, 6, length=0.4)
    lying = TriMesh((flat.rest - flat.rest.mean(axis=0))[:, [0, 2, 1]] * [1, 1, -1], flat.faces)
    plate = TriMesh(lying.rest * 0.2 + [0.1, -0.01, 0.0], flat.faces)
    rising = plate.rest + np.array([0, 0.001, 0]) * np.arange(6)[:, None, None]
    for name, mesh, points in (("sheet", lying, np.repeat(lying.rest[None], 6, 0)), ("plate", plate, rising)):
        animation = Animation(mesh, np.arange(1, 7) / 24.0, points)
        write_animation(tmp_path / f"{name}.usda", animation, rate=24.0, prim=f"/{name}")
    ball = {"sphere": {"centre": [-0.1, -0.06, 0], "radius": 0.05}}
    objects = {
        "sheet": {"guide": {"file": "sheet.usda"}, "track": {"method": "none"}, "mesh": {"levels": 0}},
        "ball": {"role": "obstacle", "thickness": 0.004, "source": ball},
        "plate": {"role": "obstacle", "source": {"file": "plate.usda"}},
        "floor": {"role": "obstacle", "thickness": 0.006, "source": {"plane": {"point": [0, -0.03, 0]}}},
    }  # fmt: skip
    told = {"object": objects, "physics": {"contact": True, "tolerance": 1e-3}, "output": {"preview": False}}
    (tmp_path / "fall.toml").write_text(tomli_w.dumps(told))
    take = open_take(read_shot(tmp_path / "fall.toml").run(threads=1).folder)
    found = [Overlays(take).values("contact", k) for k in range(6)]
    m = take.measured.arrays
    assert [len(one) for one in found] == m["pairs"].tolist() and m["pairs"].max() > 10
    for segments, closest in zip(found, m["closest"], strict=True):
        if len(segments):
            shortest = np.linalg.norm(segments[:, 0] - segments[:, 1], axis=1).min()
            assert shortest == pytest.approx(closest, rel=1e-5)


@pytest.mark.parametrize(("along", "across"), [(1.5, 1.0), (0.7, 1.2), (0.8, 0.9)])
def test_the_largest_stretch_of_what_is_pulled(along: float, across: float) -> None:
    mesh, turn = sheet(3, 2, length=0.3), np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    flat = mesh.rest - mesh.rest.mean(axis=0)
    axes = [int(np.argsort(np.ptp(flat, axis=0))[k]) for k in (2, 1)]
    pulled = np.array(flat)
    pulled[:, axes[0]] *= along
    pulled[:, axes[1]] *= across
    np.testing.assert_allclose(_stretch(mesh, pulled @ turn.T + 3.0), max(along, across) - 1.0, atol=1e-12)


def test_stretch_of_a_shear_is_the_larger_singular_value() -> None:
    mesh = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 1, 0]]), np.array([[0, 1, 2]]))
    gradient = np.array([[1.1, 0.4, 0], [0.0, 0.9, 0], [0, 0, 1]])
    expected = np.linalg.svd(gradient[:2, :2], compute_uv=False)[0] - 1.0
    np.testing.assert_allclose(_stretch(mesh, mesh.rest @ gradient.T), expected, atol=1e-12)


def test_only_what_applies_can_be_drawn(tmp_path: Path) -> None:
    guide = box_mesh()
    write_animation(tmp_path / "guide.usda", _still(guide), rate=24.0, prim="/box")
    told = {"object": {"box": {"guide": {"file": "guide.usda"}, "mesh": {"levels": 1}, "track": {"method": "none"}}},
            "output": {"preview": False}}  # fmt: skip
    (tmp_path / "box.toml").write_text(tomli_w.dumps(told))
    take = open_take(read_shot(tmp_path / "box.toml").run().folder)
    overlays = Overlays(take)
    assert list(overlays.kinds) == ["strain", "distance"] and overlays.labels is None
    assert "force_N" not in take.curves()
    with pytest.raises(InputError, match="no such overlay"):
        overlays.values("force", 0)


def _still(mesh: TriMesh) -> Any:
    return Animation(mesh, np.arange(1, 4) / 24.0, np.repeat(mesh.rest[None], 3, axis=0))


def test_takes_are_found_by_their_shot_and_by_latest(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / "v002")
    (folder.parent / "v003").mkdir()  # not begun
    (folder.parent / "latest").symlink_to("v001")
    assert open_take(folder.parent).take.version == "v002"
    assert open_take(folder.parent / "latest").take.version == "v001"
    (folder.parent / "latest").unlink()
    (folder.parent / "latest").write_text("v001\n")  # where links are not allowed
    assert open_take(folder.parent / "latest").take.version == "v001"


@pytest.mark.parametrize("what", ["nowhere", "empty", "file", "damaged", "old"])
def test_what_is_no_take_is_refused_in_a_sentence(folder: Path, what: str) -> None:
    said = {"nowhere": "there is no such take", "empty": "is no take", "file": "is no take.*a file",
            "damaged": "the take is damaged", "old": "no scene to look at.*--resume"}  # fmt: skip
    target = {"nowhere": folder / "nope", "empty": folder / "frames", "file": folder / "run.log"}.get(what, folder)
    if what == "damaged":
        (folder / "provenance.json").write_text("[1]")
    if what == "old":
        shutil.rmtree(folder / "scene")
    with pytest.raises(InputError, match=said[what]) as refused:
        open_take(target)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("length", [0, 5, 60, 300, -1])
def test_nothing_is_shown_from_a_frame_on_that_was_cut_short(folder: Path, length: int, caplog: Any) -> None:
    file = folder / "frames/frame_000003.bkframe"
    file.write_bytes(file.read_bytes()[:length])
    take = open_take(folder)
    assert take.ready == 2 and take.points(1).size and len(take.measured.frames) == 2 and take.ready == 2
    assert caplog.text.count("frame_000003.bkframe is damaged") == 1
    for name in Overlays(take).kinds:
        assert np.isfinite(Overlays(take).scale(name)).all()
    with pytest.raises(InputError, match="no such frame yet"):
        take.points(2)


def test_frames_of_another_mesh_are_refused(folder: Path) -> None:
    file = folder / "frames/frame_000001.bkframe"
    file.write_bytes(packed({"q": np.zeros(6)}, {}, ""))
    with pytest.raises(InputError, match=r"of another mesh than the scene \(got \(6,\)\)"):
        open_take(folder).points(0)
    file.write_bytes(packed({}, {}, ""))
    with pytest.raises(InputError, match="of another mesh"):
        open_take(folder).points(0)


def test_settings_in_which_takes_differ(made: Path, tmp_path: Path) -> None:
    takes = [open_take(made), open_take(_take(tmp_path, gravity=[0.0, -5.0, 0.0]))]
    found = dict(differences_of(takes))
    assert found["physics.gravity"] == ("[0.0, -9.81, 0.0]", "[0.0, -5.0, 0.0]")
    assert set(found) == {"physics.gravity"} and differences_of(takes[:1]) == []


def test_contact_that_is_said_in_full_differs_only_in_what_is_said_otherwise(made: Path, folder: Path) -> None:
    provenance = json.loads((folder / "provenance.json").read_text())
    provenance["settings"]["physics"]["contact"] = {"friction": 0.5, "press": 0.02, "balance": 0.0, "self": True}
    (folder / "provenance.json").write_text(json.dumps(provenance))
    assert differences_of([open_take(made), open_take(folder)]) == [("physics.contact.friction", ("0.3", "0.5"))]
