# SPDX-License-Identifier: GPL-3.0-or-later
"""The one run that goes on, looked after by a timer; what the last one said."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy

from .bridge import Ended, Refusal, Run, named, read_take, with_hints
from .request import Request
from .result import show_take

PAUSE = 0.25  # [s]


@dataclass
class Job:
    """A run, and what it is for."""

    run: Run
    title: str
    guide: str = ""
    """the directed object's name; nothing for an installation"""
    number: int = 0
    """by which it is known in this session, whatever it is called, and after an undo"""
    blend: str = ""
    """the .blend it was started in"""
    painted: tuple[str, ...] = ()
    """names of the regions that bunraku knows by numbers"""

    def told(self, sentences: Iterable[str]) -> tuple[str, ...]:
        """Sentences of bunraku's in the artist's words."""
        return with_hints([named(one, self.painted) for one in sentences])


current: Job | None = None
last: Ended | None = None
"""how the run before ended, for the panel"""
last_title = ""
"""what it was for: whatever is selected by then"""


def start(run: Run, title: str, request: Request | None = None) -> None:
    """Look after a run."""
    global current, last
    current = Job(run, title)
    if request is not None:
        guide = request.guide
        current = Job(run, title, guide.name, guide.session_uid, bpy.data.filepath, request.painted)
    last = None
    if not bpy.app.timers.is_registered(tick):  # a script that waited left the one before
        bpy.app.timers.register(tick, first_interval=PAUSE, persistent=True)


def refuse_another() -> None:
    """One at a time."""
    if current is not None:
        raise Refusal(f"{current.title} is still going on; try: Cancel, or wait for it")


def tick() -> float | None:
    """Called by Blender's timer: the seconds until the next time, None when it is over."""
    if current is None:
        return None
    current.run.poll()
    if current.run.ended is not None and not bpy.app.is_job_running("RENDER"):  # which must not lose its objects
        _finish(current, current.run.ended)
    _redraw()
    return None if current is None else PAUSE


def wait() -> Ended:
    """Until the run is over, in scripts."""
    assert current is not None
    current.run.wait()
    tick()
    assert last is not None
    return last


def refused(sentence: str) -> None:
    """Keep what could not be done for the panel."""
    global last, last_title
    if last is None or last.lines != tuple(sentence.splitlines()):
        last, last_title = Ended("failed", tuple(sentence.splitlines())), ""


def cancel() -> None:
    """Call the run off."""
    if current is not None:
        current.run.cancel()


def _finish(job: Job, ended: Ended) -> None:
    global current, last, last_title
    lines, warnings = job.told(ended.lines), job.told(ended.warnings)
    ended = replace(ended, lines=lines, warnings=tuple(one for one in warnings if one not in lines))
    current, last, last_title = None, ended, job.title
    with _in_window():
        _tell(job, ended)


def _tell(job: Job, ended: Ended) -> None:
    """To whoever waits for it: the take, and a sentence."""
    global last
    if ended.folder is not None and job.guide:
        last = _shown(job, ended)
    level = {"done": "WARNING" if last.met is False else "INFO", "cancelled": "WARNING"}.get(last.how, "ERROR")
    if not bpy.app.background:
        _report(level, last.lines[0] if last.lines else job.title)


def _shown(job: Job, ended: Ended) -> Ended:
    """Load the take, where its guide is still there."""
    guide = _guide(job)
    assert ended.folder is not None
    if guide is None:
        return replace(ended, lines=(f"The take is in {ended.folder}; its guide is not here any more.", *ended.lines))
    try:
        show_take(bpy.context, guide, read_take(ended.folder), job.painted)
        bpy.ops.ed.undo_push(message="bunraku take")
    except Refusal as refusal:
        return replace(ended, how="failed", lines=(str(refusal),), met=None)
    return ended


def _guide(job: Job) -> bpy.types.Object | None:
    """The object the run is for: by its number, or by its name where the .blend was opened again since."""
    for one in bpy.data.objects:
        if one.session_uid == job.number:
            return one
    same = job.blend and bpy.data.filepath == job.blend  # of .blends that were never saved any may be open now
    return bpy.data.objects.get(job.guide) if same else None


@contextmanager
def _in_window() -> Iterator[None]:
    """A timer has no window, and Blender's importer and its undo refuse to work without one."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        yield
        return
    with bpy.context.temp_override(window=windows[0]):
        yield


def _report(level: str, text: str) -> None:
    """In the status bar and the info editor: only operators may report."""
    try:
        bpy.ops.bunraku.tell(level=level, text=text)
    except RuntimeError:  # that is how an error's report arrives here, after it was shown
        pass


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _leave() -> None:
    """Blender ends: nothing goes on without it."""
    global current
    if current is not None:
        current.run.cancel()
        current.run.wait()
        current = None


def register() -> None:
    """Be told when Blender ends."""
    atexit.register(_leave)


def unregister() -> None:
    """Call off what goes on."""
    atexit.unregister(_leave)
    _leave()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
