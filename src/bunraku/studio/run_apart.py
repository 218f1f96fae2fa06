"""A run in a process of its own: `python -m bunraku.studio.run_apart`.

It is told the shot's text in one line of JSON, and tells what happens in such lines. When nobody listens any more, its
input ends, and it stops as it does when somebody asks it to.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from bunraku.contracts import BunrakuError
from bunraku.shots import (
    Event,
    Noticed,
    Preparing,
    Remarked,
    Shot,
    Started,
    StopAsked,
    TakeOutcome,
    run_shot,
    settings_of,
    shot_or_stages_of,
)


def main() -> None:
    """Make the take that is asked for."""
    line = sys.stdin.readline()
    if not line:  # nothing was asked for
        return
    asked = json.loads(line)
    alone, remarks = threading.Event(), list[str]()
    threading.Thread(target=_wait_until_alone, args=(alone,), daemon=True).start()

    def tell(event: Event) -> None:
        if alone.is_set():
            raise StopAsked("nobody listens any more")
        match event:
            case Preparing(text) | Noticed(text):
                _say(saying=text)
            case Remarked(text):  # stays to be read when there are frames to look at
                remarks[:] = [text]
                _say(saying=text)
            case Started(folder=folder):
                _say(folder=str(folder), saying="".join(remarks))

    why, failed = "", True
    try:
        why, failed = _made(asked, tell)
    except KeyboardInterrupt:
        why, failed = "the run was stopped", False
    except BunrakuError as error:
        why = str(error)
    except Exception as error:
        why = f"unexpected {type(error).__name__}: {error}"
    _say(ended=why, failed=failed)


def _made(asked: dict[str, Any], tell: Any) -> tuple[str, bool]:
    """How it ended, in words, and whether that is a failure."""
    source = Path(asked["source"])
    found, threads = shot_or_stages_of(settings_of(asked["text"], source.name), source), asked["threads"]
    if isinstance(found, Shot):
        stopped = run_shot(found, progress=tell, threads=threads, reuse=True).outcome is TakeOutcome.STOPPED
    else:
        stopped = bool(found.run(progress=tell, threads=threads).stopped)
    return ("physics stopped the run; the frames before are kept" if stopped else ""), stopped


def _wait_until_alone(alone: threading.Event) -> None:
    sys.stdin.read()
    alone.set()


def _say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
