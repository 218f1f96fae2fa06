"""Running a shot from Python: the take folder, resuming, other takes as guides, units, the lazy twin."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from bunraku import Animation, InputError
from bunraku.io import read_animation, read_clip, write_animation
from bunraku.shots import FrameDone, Noticed, PictureDone, TakeOutcome, frames, outputs, read_shot
from bunraku.shots.faces import heaviest
from bunraku.shots.folder import TakeFolder, check_inputs, next_folder, point_latest, takes_of
from bunraku.shots.force_sheet import force_sheet
from bunraku.shots.prepare import prepare


class StoppedAt:
    """A listener that interrupts after a frame, as Ctrl-C would."""

    def __init__(self, frame: float) -> None:
        self.frame = frame

    def __call__(self, event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == self.frame:
            raise KeyboardInterrupt


def frame_bytes(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted((folder / "frames").glob("frame_*.bkframe"))]


def test_a_take_holds_everything_and_two_takes_are_the_same_bytes(files, tmp_path: Path):
    path = files(output={"preview": False, "formats": ["usdc", "usda", "obj", "pc2"]})
    results = [read_shot(path).run() for _ in range(2)]
    first, second = (result.folder for result in results)
    assert (first, second) == (tmp_path / "takes/box/v001", tmp_path / "takes/box/v002")
    assert (tmp_path / "takes/box/latest").resolve() == second
    assert results[0].outcome is TakeOutcome.FINISHED and results[0].report.met
    names = {one.name for one in first.iterdir()}
    assert names == {"box.usdc", "box.usda", "obj", "box.pc2", "box.obj", "report.json", "timings.json", "index.html",
                     "shot.toml", "provenance.json", "run.log", "frames", "scene"}  # fmt: skip
    for name in ("report.json", "box.usdc", "box.usda", "box.pc2", "obj/box.0003.obj"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert frame_bytes(first) == frame_bytes(second) and len(frame_bytes(first)) == 6
    report = json.loads((first / "report.json").read_text())
    assert "seconds" not in report["per_frame"] and report["outcome"] == "finished"
    assert len(report["per_frame"]["residual_in_file_m"]) == 6
    assert set(json.loads((first / "timings.json").read_text())["frames"]) == {"1", "2", "3", "4", "5", "6"}


def test_the_resolved_shot_in_the_take_runs_again_to_the_same_bytes(files):
    first = read_shot(files()).run()
    again = read_shot(first.folder / "shot.toml").run()
    assert again.folder == first.folder.parent / "v002"
    assert frame_bytes(again.folder) == frame_bytes(first.folder)


def test_the_residual_is_found_again_in_the_file(files):
    result = read_shot(files()).run()
    m = result.report.measured
    assert m.residual.max() < 1e-13
    assert m.in_file is not None and 1e-13 < m.in_file.max() < 1e-7
    prepared = prepare(read_shot(files()))
    of_guide, of_shell = prepared.tests.averages(prepared.guide.mesh, prepared.shell)  # type: ignore[union-attr]
    written = read_animation(result.folder / "box.usdc").points[-1]
    gap = np.linalg.norm(of_shell @ written - of_guide @ prepared.guide.points[-1], axis=1)
    assert gap.max() == pytest.approx(m.in_file[-1].max(), rel=1e-6)


def test_an_interrupted_take_is_resumed_to_the_same_bytes(files, tmp_path: Path):
    shot = read_shot(files())
    (tmp_path / "other/box").mkdir(parents=True)  # as deep: the layer names the guide relative to itself
    whole = shot.run(out=tmp_path / "other/box/whole")
    with pytest.raises(KeyboardInterrupt):
        shot.run(progress=StoppedAt(3))
    folder = tmp_path / "takes/box/v001"
    assert len(frame_bytes(folder)) == 3 and not (folder / "box.usdc").exists()
    assert "interrupted after 3 of 6" in (folder / "run.log").read_text()
    damaged = folder / "frames/frame_000002.bkframe"
    damaged.write_bytes(damaged.read_bytes()[:-7])  # as a power cut may leave it
    made: list[float] = []
    result = shot.run(
        resume=True, progress=lambda event: made.append(event.frame) if isinstance(event, FrameDone) else None
    )
    assert made == [3, 4, 5, 6] and result.folder == folder
    assert frame_bytes(folder) == frame_bytes(whole.folder)
    for name in ("box.usdc", "report.json"):
        assert (folder / name).read_bytes() == (whole.folder / name).read_bytes()
    assert len(json.loads((folder / "timings.json").read_text())["frames"]) == 6


def test_resuming_refuses_other_settings_and_other_inputs_and_names_them(files, guide: Animation, tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        read_shot(files()).run(progress=StoppedAt(2))
    with pytest.raises(InputError, match=r"physics\.substeps was 2, is 3"):
        read_shot(files(physics={"substeps": 3})).run(resume=True)
    with pytest.raises(InputError, match=r"shot\.frames was \[1, 6\], is \[1, 4\]"):
        read_shot(files()).run(resume=True, frames=(1, 4))
    files(guide=Animation(guide.mesh, guide.times, guide.points * 1.01))
    with pytest.raises(InputError, match=r"object\.box\.guide \(its file\) has changed"):
        read_shot(files()).run(resume=True)
    assert [one.name for one in (tmp_path / "takes/box").iterdir()] == ["v001"]
    with pytest.raises(InputError, match="no take to resume"):
        read_shot(files("other")).run(resume=True)


def test_resuming_may_change_the_output_and_warns_of_other_threads(files, tmp_path: Path, caplog):
    with pytest.raises(KeyboardInterrupt):
        read_shot(files()).run(progress=StoppedAt(2), threads=2)
    noticed: list[str] = []
    shot = read_shot(files(output={"preview": False, "formats": ["usda"]}))
    with caplog.at_level(logging.WARNING):
        result = shot.run(
            resume=True, threads=1, progress=lambda e: noticed.append(e.text) if isinstance(e, Noticed) else None
        )
    assert len(noticed) == 1 and "threads was 2, is 1" in noticed[0]
    assert (result.folder / "box.usda").exists()
    resumed = json.loads((result.folder / "provenance.json").read_text())["resumed"]
    assert resumed[0]["done"] == 2 and "threads was 2, is 1" in resumed[0]["differences"]


def test_resuming_a_finished_take_says_so_and_makes_what_is_missing(files):
    shot = read_shot(files())
    first = shot.run()
    before = (first.folder / "box.usdc").read_bytes()
    for name in ("box.usdc", "index.html"):
        (first.folder / name).unlink()
    stamp = (first.folder / "report.json").stat().st_mtime_ns
    again = shot.run(resume=True)
    assert again.already and again.folder == first.folder
    assert (first.folder / "box.usdc").read_bytes() == before and (first.folder / "index.html").exists()
    assert (first.folder / "report.json").stat().st_mtime_ns == stamp


def test_a_finished_take_may_be_the_guide_of_another_shot(files, tmp_path: Path):
    first = read_shot(files()).run()
    path = files("second", box={"guide": {"take": "box/latest"}, "mesh": {"levels": 0}, "track": {"method": "none"},
                                "pins": [{"vertices": [0, 1, 2, 3, 4, 5, 6, 7], "to": "guide"}]})  # fmt: skip
    result = read_shot(path).run()
    assert result.outcome is TakeOutcome.FINISHED
    follows, leads = (read_animation(one.folder / "box.usdc").points[:, :8] for one in (result, first))
    np.testing.assert_allclose(follows, leads, atol=1e-6)
    assert str(first.folder / "box.usdc") in (result.folder / "provenance.json").read_text()
    (first.folder / "report.json").unlink()
    with pytest.raises(InputError, match="the take is not finished"):
        read_shot(path).run()
    with pytest.raises(InputError, match=r"there is no such take.*allowed: box/v001, second/v001"):
        read_shot(files("third", box={"guide": {"take": "box/v009"}})).run()


def test_results_come_back_in_the_guides_unit_axis_and_place(files, guide: Animation, tmp_path: Path):
    far = Animation(guide.mesh, guide.times, guide.points + [3000.0, 0.0, 0.0])
    write_animation(tmp_path / "guide.usda", far, rate=24.0, prim="/box", up_axis="Z", unit=0.01)
    result = read_shot(files()).run()
    clip = read_clip(result.folder / "box.usdc")
    assert (clip.up_axis, clip.meters_per_unit, clip.prim_path) == ("Z", 0.01, "/box_bunraku")
    np.testing.assert_allclose(clip.animation.points[-1, :8].mean(axis=0), far.points[-1].mean(axis=0), atol=0.05)
    assert result.report.met and result.report.measured.residual_in_file is not None
    assert result.report.measured.residual_in_file.max() < 1e-6
    assert json.loads((result.folder / "report.json").read_text())["facts"]["origin"] == [3000.0, 0.0, 0.0]


def test_preroll_is_simulated_but_not_written(files):
    result = read_shot(files(shot={"preroll": 3, "frames": [4, 6]})).run()
    clip = read_clip(result.folder / "box.usdc")
    assert clip.frames.tolist() == [4, 5, 6] and len(frame_bytes(result.folder)) == 6
    assert result.report.measured.frames.tolist() == [4, 5, 6]
    assert "3 frames of preroll led from the rest shape to frame 4" in result.report.sentences[-1].text


def test_frames_of_a_subset_are_those_of_the_whole(files, tmp_path: Path):
    shot = read_shot(files())
    whole, part = shot.run(out=tmp_path / "whole"), shot.run(out=tmp_path / "part", frames=(1, 4))
    assert frame_bytes(part.folder) == frame_bytes(whole.folder)[:4]
    assert read_clip(part.folder / "box.usdc").frames.tolist() == [1, 2, 3, 4]


def test_frames_come_lazily_and_carry_on_from_any_of_them(files):
    shot = read_shot(files())
    whole = list(frames(shot))
    assert [frame.number for frame in whole] == [1, 2, 3, 4, 5, 6]
    some = list(islice(frames(shot), 3))
    rest = list(frames(shot, after=some[-1]))
    assert [frame.number for frame in rest] == [4, 5, 6]
    np.testing.assert_array_equal(rest[-1].points, whole[-1].points)
    np.testing.assert_array_equal(rest[-1].report["force"], whole[-1].report["force"])
    assert whole[-1].time == 6 / 24 and whole[-1].velocity.shape == whole[-1].points.shape


@pytest.mark.slow
def test_a_preview_shows_guide_and_result(files):
    pictures: list[int] = []
    path = files(shot={"frames": [1, 2]}, output={"preview": True})
    result = read_shot(path).run(progress=lambda e: pictures.append(e.index) if isinstance(e, PictureDone) else None)
    assert pictures == [0, 1]
    assert (result.folder / "preview.mp4").read_bytes()[4:8] == b"ftyp"
    assert (result.folder / "contact_sheet.png").read_bytes().startswith(b"\x89PNG")
    page = (result.folder / "index.html").read_text()
    assert 'src="preview.mp4"' in page and 'src="forces.png"' in page
    assert (result.folder / "forces.png").read_bytes().startswith(b"\x89PNG")


def test_forces_are_as_light_as_they_are_strong(files):
    """Two frames of which the second pulls at half of the regions: those are light there, nothing else is."""
    prepared = prepare(read_shot(files(output={"preview": False})))
    found = list(islice(prepared.job(threads=1).frames(), 2))
    still, pulled = np.zeros((8, 3)), np.zeros((8, 3))
    pulled[4:] = [0.0, 3.0, 4.0]
    both = [
        replace(frame, report={"force": force, "held": np.ones(8)})
        for frame, force in zip(found, (still, pulled), strict=True)
    ]
    sheet = force_sheet(prepared, both, [1.0, 2.0], 5.0)
    assert sheet is not None
    middle = sheet.shape[1] // 2
    lit = [part[:-60].max(axis=2) > 200 for part in (sheet[:, :middle], sheet[:, middle:])]
    assert lit[1].sum() > lit[0].sum() + 0.05 * lit[1].size
    assert force_sheet(prepared, both[:1], [1.0], 0.0) is None


def test_the_picture_of_forces_shows_the_largest_and_its_scale_ends_there(files, guide, monkeypatch):
    """The frame that pulls hardest is none of the moments evenly spread, the first and the last."""
    shown = {}

    def sheet(prepared, frames, numbers, most):
        shown.update(
            numbers=list(numbers), most=most, peak=max(np.linalg.norm(f.report["force"], axis=1).max() for f in frames)
        )

    monkeypatch.setattr(outputs, "force_sheet", sheet)
    monkeypatch.setattr(outputs, "_MOMENTS", 3)
    monkeypatch.setattr(outputs.Preview, "make", lambda *words: None)
    points = guide.points.copy()
    points[3, 4:, 1] += 0.05  # a jerk
    result = read_shot(files(guide=replace(guide, points=points), output={"preview": True})).run(threads=1)
    force = result.report.measured.force
    assert shown["most"] == shown["peak"] == force.max()
    assert 0 < np.argmax(force) < 5 and shown["numbers"] == [1.0, float(np.argmax(force)) + 1.0, 6.0]


def test_of_regions_within_regions_the_force_of_the_held_one_is_shown():
    """Three faces: two in part 1 and one in part 2 of region 0, which is held first; then its parts are, 1 less."""
    weights = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    assert heaviest(weights, np.array([1.0, 0.3, 0.3])).tolist() == [0, 0, 0]
    assert heaviest(weights, np.array([0.0, 0.7, 1.0])).tolist() == [1, 1, 2]
    assert heaviest(weights, np.array([0.0, 0.0, 1.0])).tolist() == [-1, -1, 2]


def test_a_preview_that_fails_does_not_lose_the_take(files, monkeypatch, caplog):
    def no_ffmpeg(*args: object) -> None:
        from bunraku import OutputError

        raise OutputError("cannot write preview.mp4: no ffmpeg was found")

    monkeypatch.setattr("bunraku.shots.preview.write_video", no_ffmpeg)
    noticed: list[object] = []
    result = read_shot(files(output={"preview": True})).run(progress=noticed.append)
    assert result.outcome is TakeOutcome.FINISHED and (result.folder / "box.usdc").exists()
    assert any(isinstance(event, Noticed) and "no ffmpeg" in event.text for event in noticed)
    assert "No preview was made" in (result.folder / "index.html").read_text()


def test_numbers_and_latest(tmp_path: Path, monkeypatch):
    for name in ("v002", "v010", "v1000", "latest-notes", "v3"):
        (tmp_path / name).mkdir()
    assert [take.version for take in takes_of(tmp_path)] == ["v1000", "v010", "v002"]
    assert next_folder(tmp_path) == tmp_path / "v1001"
    point_latest(TakeFolder(tmp_path / "v002"))
    point_latest(TakeFolder(tmp_path / "v010"))
    assert (tmp_path / "latest").readlink() == Path("v010")
    (tmp_path / "latest").unlink()
    monkeypatch.setattr(Path, "symlink_to", lambda *a, **k: (_ for _ in ()).throw(OSError("not allowed")))
    point_latest(TakeFolder(tmp_path / "v002"))
    assert (tmp_path / "latest").read_text() == "v002\n"


def test_an_output_that_is_holds_or_lies_in_an_input_is_refused(tmp_path: Path):
    (tmp_path / "in").mkdir()
    guide = tmp_path / "in" / "guide.usda"
    guide.touch()
    (tmp_path / "link").symlink_to(guide)
    for target, said in (
        (guide, "overwrite"),
        (tmp_path / "link", "overwrite"),
        (tmp_path, "holds"),
        (tmp_path / "in", "holds"),
    ):
        with pytest.raises(InputError, match=said):
            check_inputs(target, [guide], [])
    with pytest.raises(InputError, match="inside an input folder"):
        check_inputs(tmp_path / "in" / "takes", [], [tmp_path / "in"])
    check_inputs(tmp_path / "out", [guide], [tmp_path / "in"])
