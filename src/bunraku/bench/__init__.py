"""The measured tables. Knows no screens."""

from collections.abc import Callable, Iterator

from . import bodies as _bodies
from . import contact as _contact
from . import coupling as _coupling
from . import files as _files
from . import forms as _forms
from . import peers as _peers
from . import plan as _plan
from . import statics as _statics
from . import steer as _steer
from . import step as _step
from . import tangents as _tangents
from . import tracks as _tracks
from . import wavelength as _wavelength
from . import wrinkle as _wrinkle

BENCHES: dict[str, tuple[str, Callable[..., Iterator[str]]]] = {
    "bodies": ("surfaces filled with tetrahedra: counts, seconds, volume and distance by edge length", _bodies.run),
    "contact": ("what contact costs: a bag, sheets on a ball, a folded sheet, with it and without", _contact.run),
    "coupling": (
        "a bent bar: wrinkles that a coupling puts where nothing bends, and kinks that cells put into a skin",
        _coupling.run,
    ),
    "files": ("what reading and writing cost, format by format", _files.run),
    "forms": ("three linear systems for the plate's bending, and the hinge's", _forms.run),
    "peers": ("the same sheets in NVIDIA Newton and in Blender's cloth, where installed, at equal error", _peers.run),
    "plan": (
        "the nine scenes of the paper behind plan: set-up, search, edits and playing beside its figures",
        _plan.run,
    ),
    "statics": ("ways to find the balance of a skin: seconds, iterations, and whether it is stable", _statics.run),
    "step": ("what one Newton iteration costs, by size, against the bare solver and the untracked shell", _step.run),
    "steer": ("frames a second of a steered body with a fine surface, and a step of it by size", _steer.run),
    "tangents": (
        "how stiff a wrinkled skin is to what presses it: taken along, and when it finds its balance",
        _tangents.run,
    ),
    "tracks": (
        "the scenes of the TRACKS paper, tracked and untracked in one run, and where a step's time goes",
        _tracks.run,
    ),
    "wavelength": ("how long the waves of a skin on a soft slab are, against theory", _wavelength.run),
    "wrinkle": ("what a skin in balance costs, by size, beside the thesis behind wrinkle", _wrinkle.run),
}
