"""The measured tables. Knows no screens."""

from collections.abc import Callable, Iterator

from . import step as _step

BENCHES: dict[str, tuple[str, Callable[..., Iterator[str]]]] = {
    "step": ("what one Newton iteration costs, by size, against the bare solver and the untracked shell", _step.run),
}
