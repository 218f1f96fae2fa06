"""What became of a skin, in sentences: which waves its materials demand, whether they came, how high they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import many

from .prepared import Prepared
from .report import HEIGHT, MET, Measured, Rows, Sentence
from .wording import digits, millimetres, on, ranges
from .wrinkle_facts import waves

_SAME = 1e-9  # of the size: two shapes of a muscle as near as that are one
_WRINKLED = 0.1
"""of the skin's thickness: lower waves are not called so"""
_IN_TIME = "the body begins at rest, so a handle that begins elsewhere is met from the next frame on"


def skin_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Nothing where there is no skin on a soft body."""
    if "edges_a_wave" not in m.facts:
        return
    yield from _missed(prepared, m)
    if m.facts["interior"] == "animated":
        yield Sentence("note", "The body goes as its guide has it, and its skin follows it.")
    yield Sentence("note", f"The materials demand {waves(m.facts)}.")
    yield from _pressed(m)
    yield _highest(prepared, m)
    yield from _muscles(m)
    yield from _inside_out(m)
    yield from _unbalanced(m)


def _missed(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Why each handle is missed that is."""
    away = m.arrays["residual"]
    missed = away > MET * m.size
    for k in np.flatnonzero(missed.any(axis=0)).tolist():
        worst = int(np.argmax(away[:, k]))
        frames = m.frames[missed[:, k]]
        yield Sentence(
            "missed",
            f"{_capital(prepared.regions[k])} is missed on {many(len(frames), 'frame')} ({ranges(frames)}), by up to "
            f"{millimetres(float(away[worst, k]))} at frame {m.frames[worst]:g}: {_why(prepared, m, k, missed[:, k])}.",
            float(m.frames[worst]), k,
        )  # fmt: skip


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _why(prepared: Prepared, m: Measured, handle: int, missed: Rows) -> str:
    """The reason that applies, as far as it can be told."""
    if missed[0] and not missed[1:].any():
        return _IN_TIME
    name = prepared.regions[handle]
    others = [a if b == name else b for a, b in m.facts["close"] if name in (a, b)]
    if others:
        return f"it is less than two cells from {', '.join(others)}; smaller cells would keep them apart"
    if m.facts["by_nodes"]:
        return "the cells cannot follow it exactly; smaller cells would come nearer"
    return "something is in its way, or its step did not converge"


def _pressed(m: Measured) -> Iterator[Sentence]:
    """Whether the skin was pressed beyond its onset, so that waves are to be expected."""
    pressed, onset = m.arrays["compression"], float(m.facts["onset"])
    worst = int(np.argmax(pressed))
    by = f"a hundredth of its surface by {digits(100 * float(pressed[worst]))} % or more, at frame {m.frames[worst]:g}"
    beyond = m.frames[pressed > onset]
    if len(beyond):
        text = f"The body presses its skin together beyond that on {on(beyond)}: {by}."
    else:
        text = f"The body never presses its skin together so far, so no wrinkles are to be expected: {by}."
    yield Sentence("note", text, float(m.frames[worst]))


def _highest(prepared: Prepared, m: Measured) -> Sentence:
    highest, thickness = m.arrays["highest"], float(m.facts["thickness"])
    worst = int(np.argmax(highest))
    vertex = int(np.argmax(np.abs(m.arrays[HEIGHT][worst])))
    if highest[worst] < _WRINKLED * thickness:
        text = (
            f"The skin does not wrinkle: it is nowhere farther than {millimetres(float(highest[worst]))} from the body."
        )
        return Sentence("note", text, float(m.frames[worst]))
    way = "out of" if m.arrays[HEIGHT][worst, vertex] > 0.0 else "into"
    return Sentence(
        "note",
        f"The skin goes farthest {way} the body, {millimetres(float(highest[worst]))}, "
        f"{digits(float(highest[worst]) / thickness)} times its thickness, at frame {m.frames[worst]:g} at point "
        f"{prepared.point_names[vertex]}.",
        float(m.frames[worst]),
    )  # fmt: skip


def _muscles(m: Measured) -> Iterator[Sentence]:
    """How near each muscle came to its shape: what is around it, and its own matter, hold it back."""
    for k, name in enumerate(m.facts["muscles"]):
        away, way = m.arrays["muscle_residual"][:, k], float(m.facts["muscle_ways"][k])
        worst = int(np.argmax(away))
        alike = "relaxed and contracted it has one shape"
        told = f"relaxed it is {millimetres(way)} from being contracted" if way > _SAME * m.size else alike
        yield Sentence(
            "note",
            f"Muscle {name} is farthest from its shape at frame {m.frames[worst]:g}, by "
            f"{millimetres(float(away[worst]))} on average; {told}.",
            float(m.frames[worst]),
        )  # fmt: skip


def _inside_out(m: Measured) -> Iterator[Sentence]:
    """Where the body is pressed so far that what is inside goes through itself, which a smooth skin may hide."""
    inverted = m.arrays["inverted"]
    if not inverted.any():
        return
    worst = int(np.argmax(inverted))
    yield Sentence(
        "note", f"The body is inside out in places on {on(m.frames[inverted > 0])}: at most "
        f"{int(inverted[worst])} of {m.facts['elements']} cells, at frame {m.frames[worst]:g}; handles, muscles or "
        "drying that ask for less, or more substeps, would keep it whole.", float(m.frames[worst]),
    )  # fmt: skip


def _ended(m: Measured) -> str:
    """How steps ended that all converged."""
    if not m.facts["two_way"] or "longest_step" in m.facts:  # explicit steps end in none
        return "The skin is in stable balance on every frame"
    return "Every step converged" if "pairs" in m.arrays else "Every step ended in a stable minimum"


def _unbalanced(m: Measured) -> Iterator[Sentence]:
    limited = ~np.asarray(m.arrays["converged"], dtype=bool)
    made = m.arrays["iterations"]
    if limited.any():
        frames = m.frames[limited]
        yield Sentence(
            "missed",
            f"On {many(len(frames), 'frame')} ({ranges(frames)}) the search for the balance of the skin was given up "
            "before it had converged, so the wrinkles there are less exact; more substeps help.", float(frames[0]),
        )  # fmt: skip
        return
    worst = int(np.argmax(made))
    yield Sentence(
        "met", f"{_ended(m)}: {made.mean():.1f} iterations a frame on average, at "
        f"most {int(made[worst])} at frame {m.frames[worst]:g}.", float(m.frames[worst]),
    )  # fmt: skip
