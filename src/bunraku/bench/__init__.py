"""The measured tables. Knows no screens."""

from collections.abc import Callable, Iterator

from . import contact as _contact
from . import files as _files
from . import forms as _forms
from . import peers as _peers
from . import step as _step
from . import tracks as _tracks

BENCHES: dict[str, tuple[str, Callable[..., Iterator[str]]]] = {
    "contact": ("what contact costs: a bag, sheets on a ball, a folded sheet, with it and without", _contact.run),
    "files": ("what reading and writing cost, format by format", _files.run),
    "forms": ("three linear systems for the plate's bending, and the hinge's", _forms.run),
    "peers": ("the same sheets in NVIDIA Newton and in Blender's cloth, where installed, at equal error", _peers.run),
    "step": ("what one Newton iteration costs, by size, against the bare solver and the untracked shell", _step.run),
    "tracks": (
        "the scenes of the TRACKS paper, tracked and untracked in one run, and where a step's time goes",
        _tracks.run,
    ),
}
