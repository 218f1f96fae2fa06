"""What may go wrong around a run: frames and files that get lost, damaged takes, two runs at once, odd counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_shots_run import StoppedAt, frame_bytes

from bunraku import Animation, InputError, OutputError
from bunraku.direction import Job
from bunraku.geometry import subdivide
from bunraku.io import read_clip, write_animation
from bunraku.numerics import FactorisationError
from bunraku.scenes import box_mesh
from bunraku.shots import FrameDone, Noticed, TakeOutcome, read_shot
from bunraku.shots.kernels import BODY_KERNELS, PLAN_KERNELS, kernels_are_cold
from bunraku.shots.lock import LOCK


class Losing:
    """A listener on a disk that loses an early frame, once or each time."""

    def __init__(self, folder: Path, times: int) -> None:
        self.folder, self.left = folder, times
        self.noticed: list[str] = []
        self.made: list[float] = []

    def __call__(self, event: object) -> None:
        if isinstance(event, Noticed):
            self.noticed.append(event.text)
        if isinstance(event, FrameDone):
            self.made.append(event.frame)
            if event.frame == 5 and self.left:
                self.left -= 1
                (self.folder / "frames/frame_000002.bkframe").unlink()


def test_frames_that_get_lost_are_made_again(files, tmp_path: Path):
    shot = read_shot(files())
    whole = shot.run(out=tmp_path / "whole")
    losing = Losing(tmp_path / "lost", 1)
    result = shot.run(out=tmp_path / "lost", progress=losing)
    assert losing.made == [1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    assert any("frames from 3 on are damaged or gone" in text for text in losing.noticed)
    assert result.outcome is TakeOutcome.FINISHED and len(result.report.measured.frames) == 6
    assert frame_bytes(result.folder) == frame_bytes(whole.folder)


def test_frames_that_never_stay_are_no_finished_take(files, tmp_path: Path):
    with pytest.raises(OutputError, match=r"frame 3 does not stay on the disk.*2 of 6 frames are kept"):
        read_shot(files()).run(out=tmp_path / "lost", progress=Losing(tmp_path / "lost", 9))
    assert not (tmp_path / "lost/report.json").exists()


@pytest.mark.parametrize("error", [ZeroDivisionError("oops"), InputError("odd rate"), MemoryError()])
def test_whatever_goes_wrong_with_a_preview_only_warns(files, monkeypatch, error: Exception):
    def broken(*args: object) -> None:
        raise error

    monkeypatch.setattr("bunraku.shots.preview.write_video", broken)
    noticed: list[object] = []
    result = read_shot(files(output={"preview": True})).run(progress=noticed.append)
    assert result.outcome is TakeOutcome.FINISHED and (result.folder / "report.json").exists()
    assert any(isinstance(event, Noticed) and "no preview was made" in event.text for event in noticed)


def test_what_can_be_known_before_is_refused_before(files, guide: Animation, tmp_path: Path):
    half = Animation(guide.mesh, guide.times + 0.5 / 24, guide.points)
    with pytest.raises(InputError, match=r"output\.formats: OBJ and PLY files are numbered by whole frames"):
        read_shot(files(guide=half, output={"preview": False, "formats": ["usdc", "obj"]})).run()
    with pytest.raises(InputError, match=r"pins\[0\]\.to\[0\]: is out of range"):
        read_shot(files(box={"pins": [{"vertices": [0], "to": [1e8, 0.0, 0.0]}]}))
    assert not (tmp_path / "takes").exists()


def test_every_format_is_read_back_and_the_worst_is_named(files, guide: Animation, monkeypatch):
    far = Animation(guide.mesh, guide.times, guide.points + [3000.0, 0.0, 0.0])
    result = read_shot(files(guide=far, output={"preview": False, "formats": ["usdc", "pc2"]})).run()
    m = result.report.measured
    assert m.worst_file == "box.pc2" and m.in_file is not None and m.in_file.max() > 1e-6  # about the world's origin
    assert " in box.pc2" in result.report.sentences[0].text
    assert json.loads((result.folder / "report.json").read_text())["worst_file"] == "box.pc2"


def test_a_file_that_does_not_say_what_was_written_is_no_finished_take(files, monkeypatch):
    from bunraku.shots import outputs

    write = outputs.write_animation_file

    def careless(folder: Path, name: str, *rest: Any) -> None:
        write(folder, name, *rest)
        if name.endswith(".pc2"):
            data = bytearray((folder / name).read_bytes())
            data[-400:-200] = bytes(200)
            (folder / name).write_bytes(bytes(data))

    monkeypatch.setattr(outputs, "write_animation_file", careless)
    with pytest.raises(OutputError, match=r"box\.pc2: does not say what was written"):
        read_shot(files(output={"preview": False, "formats": ["usdc", "pc2"]})).run()


def test_what_was_not_asked_for_is_neither_met_nor_missed(files):
    pins = [{"vertices": [0], "strength": 0.5}]
    result = read_shot(files(box={"track": {"strength": 0.5}, "pins": pins})).run()
    assert result.report.met is None
    assert json.loads((result.folder / "report.json").read_text())["direction_met"] is None
    told = [sentence.text for sentence in result.report.sentences]
    assert any(text.startswith("1 pinned vertex was never firm") for text in told)
    assert not any("held" in text for text in told)
    pins = [{"vertices": [0], "strength": 1.0}]
    assert read_shot(files(box={"track": {"method": "none"}, "pins": pins})).run().report.met is True


def test_a_fault_before_the_first_frame_leaves_no_folder(files, monkeypatch, tmp_path: Path):
    def broken(*args: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("bunraku.shots.run._begin", broken)
    with pytest.raises(ZeroDivisionError):
        read_shot(files()).run()
    assert not (tmp_path / "takes").exists()


def test_a_matrix_that_cannot_be_factorised_is_one_sentence(files, monkeypatch, tmp_path: Path):
    def broken(*args: object, **knobs: object) -> Job:
        raise FactorisationError("zero pivot")

    frames = Job.frames

    def some(self: Job, after: Any = None) -> Any:
        for frame in frames(self, after):
            if frame.index == 2:
                raise FactorisationError("zero pivot")
            yield frame

    with monkeypatch.context() as patch:
        patch.setattr("bunraku.shots.prepare_shell.tracking_job", broken)
        with pytest.raises(InputError, match=r"object\.box: the first pose cannot be found: the linear system"):
            read_shot(files()).run()
    assert not (tmp_path / "takes").exists()
    monkeypatch.setattr(Job, "frames", some)
    result = read_shot(files()).run()
    assert result.outcome is TakeOutcome.STOPPED and "frame 3: the linear system" in result.report.story


def test_a_take_belongs_to_one_run_at_a_time(files, tmp_path: Path):
    shot = read_shot(files())
    take = tmp_path / "takes/box/v001"
    told: list[str] = []

    def second_run(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 3:
            for resume, out in ((True, None), (True, take)):
                with pytest.raises(InputError, match="another run writes into this take") as caught:
                    shot.run(out, resume=resume)
                told.append(str(caught.value))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shot.run(progress=second_run)
    assert len(told) == 2 and len(frame_bytes(take)) == 3 and not (take / LOCK).exists()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (take / LOCK).write_text(f"{child.pid} {os.uname().nodename}\n")
        with pytest.raises(InputError, match=f"process {child.pid}"):
            shot.run(resume=True)
    finally:
        child.communicate(b"\n")
    assert shot.run(resume=True).outcome is TakeOutcome.FINISHED  # its owner is dead
    (take / LOCK).write_text(f"{os.getpid()} {os.uname().nodename}\n")  # of a dead process of the same number
    assert shot.run(resume=True).already and not (take / LOCK).exists()
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / LOCK).write_text(f"{child.pid} {os.uname().nodename}\n")  # killed before it began
    assert shot.run(tmp_path / "named").outcome is TakeOutcome.FINISHED
    (take / LOCK).write_text("4 elsewhere\n")
    with pytest.raises(InputError, match="process 4 on elsewhere"):
        shot.run(resume=True)


def test_counts_no_one_can_mean_are_refused_before_anything_large_is_made(files, guide: Animation, tmp_path: Path):
    with pytest.raises(InputError, match=r"shot\.frames: too many frames \(got '-900000000 to 900000000'\)"):
        read_shot(files(shot={"frames": [-900_000_000, 900_000_000]})).run()
    with pytest.raises(InputError, match=r"mesh\.levels: the shell would have too many faces.*try: 6 or less"):
        finer = subdivide(box_mesh(), 3)[0]
        still = Animation(finer, guide.times[:2], np.stack([finer.rest] * 2))
        read_shot(files(guide=still, box={"mesh": {"levels": 7}})).run()
    stray = Animation(guide.mesh, np.append(guide.times[:-1], 1e9), guide.points)
    with pytest.raises(InputError, match="too many frames"):
        read_shot(files(guide=stray)).run()


def test_samples_between_frames_are_warned_of(files, guide: Animation, tmp_path: Path, caplog):
    shot = read_shot(files())
    seconds = np.arange(6) / 2.0
    write_animation(tmp_path / "guide.usda", replace(guide, times=seconds), rate=1.0, prim="/box")
    result = shot.run()
    assert read_clip(result.folder / "box.usdc").frames.tolist() == [0, 1, 2]
    assert "samples between frames" in caplog.text and "only the 3 whole steps" in caplog.text
    assert "samples between frames" in (result.folder / "run.log").read_text()
    write_animation(tmp_path / "guide.usda", replace(guide, times=seconds / 12), rate=1.0, prim="/box")
    with pytest.raises(InputError, match=r"only one frame would be written \(got '6 samples from 0"):
        shot.run()


def test_a_damaged_old_take_does_not_block_another(files, tmp_path: Path):
    shot = read_shot(files())
    with pytest.raises(KeyboardInterrupt):
        shot.run(progress=StoppedAt(2))
    newer = tmp_path / "takes/box/v002"
    for text in ("{", "[]", "{}", '{"settings": 3}', "[" * 100_000):
        newer.mkdir(exist_ok=True)
        (newer / "provenance.json").write_text(text)
        with pytest.raises(InputError, match="its provenance is not readable"):
            shot.run(newer, resume=True)
    assert shot.run(resume=True).folder == tmp_path / "takes/box/v001"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"frames": [1], "stages": 2}', "\x00"])
def test_damaged_reports_and_timings_are_made_again(files, text: str):
    shot = read_shot(files())
    first = shot.run()
    report = (first.folder / "report.json").read_bytes()
    (first.folder / "report.json").write_text(text)
    (first.folder / "timings.json").write_text(text)
    assert shot.run(resume=True).outcome is TakeOutcome.FINISHED
    assert (first.folder / "report.json").read_bytes() == report
    other = files("other", box={"guide": {"take": "box/latest"}})
    (first.folder / "report.json").write_text(text)
    with pytest.raises(InputError, match="the take is not finished"):
        read_shot(other).run()


@pytest.mark.parametrize(
    ("key", "value"), [("animations", [["box", 3]]), ("animations", {"box": []}), ("animations", 3), ("prims", None)]
)
def test_reports_with_damaged_lists_are_no_finished_takes(files, key: str, value: object):
    folder = read_shot(files()).run().folder
    report = json.loads((folder / "report.json").read_text())
    (folder / "report.json").write_text(json.dumps({**report, key: value}))
    with pytest.raises(InputError, match="the take is not finished"):
        read_shot(files("other", box={"guide": {"take": "box/latest"}})).run()


@pytest.mark.parametrize("damage", [b"", b"not usd", None])
def test_a_damaged_animation_of_a_finished_take_is_written_again(files, damage: bytes | None):
    shot = read_shot(files())
    first = shot.run()
    file, report = first.folder / "box.usdc", (first.folder / "report.json").read_bytes()
    whole = file.read_bytes()
    if damage is None:  # readable, but another animation
        clip = read_clip(file)
        moved = replace(clip.animation, points=clip.animation.points + 0.01)
        write_animation(file, moved, rate=24.0, prim="/bunraku/box")
    else:
        file.write_bytes(damage)
    again = shot.run(resume=True)
    assert again.already and file.read_bytes() == whole
    assert (first.folder / "report.json").read_bytes() == report and again.report.met


def test_leftovers_of_killed_runs_go_when_a_take_is_resumed(files):
    shot = read_shot(files())
    with pytest.raises(KeyboardInterrupt):
        shot.run(progress=StoppedAt(2))
    take = next(files().parent.glob("takes/box/v001"))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = [take / f".bunraku-{dead.pid}-0123abcd-tmp.usdc", take / ".preview.mp4.0123abcd.part"]
    for path in left:
        path.touch()
    shot.run(resume=True)
    assert not any(path.exists() for path in left)


def test_no_home_and_no_cache_is_a_cold_start(monkeypatch, tmp_path: Path):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("bunraku.energies.__file__", str(tmp_path / "__init__.py"))
    assert kernels_are_cold()


def test_kernels_of_shells_are_none_of_plans(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "membrane.fill-1.py311.nbi").touch()
    assert not kernels_are_cold() and kernels_are_cold(BODY_KERNELS) and kernels_are_cold(PLAN_KERNELS)
    for name in PLAN_KERNELS:
        assert kernels_are_cold(PLAN_KERNELS)
        (tmp_path / f"{name}.fill-1.py311.nbi").touch()
    assert not kernels_are_cold(PLAN_KERNELS)


def test_a_shot_is_not_written_over_what_it_reads(files, tmp_path: Path):
    shot = read_shot(files())
    before = (tmp_path / "guide.usda").read_bytes()
    with pytest.raises(InputError, match="would overwrite an input of the shot"):
        shot.write(tmp_path / "guide.usda")
    assert (tmp_path / "guide.usda").read_bytes() == before


def test_a_byte_order_mark_is_no_matter(files):
    path = files()
    shot = read_shot(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_shot(path) == shot


HUGE = "9" * 400
ODD = {
    "physics.tolerance: is out of range": f"[physics]\ntolerance = {HUGE}",
    "physics.substeps: is out of range": f"[physics]\nsubsteps = {HUGE}",
    "holds a value no one can mean": f"[physics]\nsubsteps = {HUGE * 20}",
    "is nested too deeply": "a = " + "[" * 5000 + "]" * 5000,
    "output.folder: a path cannot hold the character NUL": '[output]\nfolder = "a\\u0000b"',
    "output.folder: there is no such home folder": '[output]\nfolder = "~nosuchuser/takes"',
    "track.strength": f"[object.box.track]\nstrength = [[1, {HUGE}], [{HUGE}, 1]]",
}


@pytest.mark.parametrize("said", list(ODD))
def test_odd_values_are_one_sentence(files, said: str):
    path = files()
    extra = ODD[said]
    text = path.read_text()
    path.write_text(
        text.replace("[output]\npreview = false\n", "") + "\n" + extra if "[output]" in extra else extra + "\n" + text
    )
    with pytest.raises(InputError) as caught:
        read_shot(path)
    assert said in str(caught.value) and all(len(line) < 600 for line in str(caught.value).splitlines())


@pytest.mark.parametrize("name", ["a\\u0000b.usda", "~nosuchuser/guide.usda"])
def test_odd_names_of_inputs_are_one_sentence(files, name: str):
    path = files()
    path.write_text(path.read_text().replace('"guide.usda"', f'"{name}"'))
    with pytest.raises(InputError, match=r"guide\.file: (a path cannot hold|there is no such home)"):
        read_shot(path)
