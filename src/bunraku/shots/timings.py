"""How long things took, in a file of its own, so that everything else is the same for the same run."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bunraku.contracts import OutputError
from bunraku.io import write_json

_EVERY = 5.0  # [s] between two writes while frames are made


@dataclass
class Timings:
    """Seconds a frame, kept across interruptions."""

    path: Path
    frames: dict[str, float] = field(default_factory=dict)
    """frame number → [s]"""
    stages: dict[str, float] = field(default_factory=dict)
    """what comes after the frames → [s]"""
    _saved: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, path: Path) -> Timings:
        """Those of an earlier run of the same take, where there are any."""
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            frames, stages = ({str(k): float(v) for k, v in known[part].items()} for part in ("frames", "stages"))
            return cls(path, frames, stages)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # damaged: begin anew
            return cls(path)

    @property
    def total(self) -> float:
        """All frames together [s]."""
        return sum(self.frames.values())

    def add(self, frame: float, seconds: float) -> None:
        """Note a frame."""
        self.frames[f"{frame:g}"] = seconds
        if time.monotonic() - self._saved > _EVERY:
            self.save()

    def save(self) -> None:
        """Write the file. If that fails, so will the next frame, whose error matters more."""
        self._saved = time.monotonic()
        with suppress(OutputError):
            write_json(self.path, {"frames": self.frames, "stages": self.stages, "total_s": self.total})
