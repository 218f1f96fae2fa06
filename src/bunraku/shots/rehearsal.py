"""What a run would do, said without doing it."""

from __future__ import annotations

from pathlib import Path

from .animations import animation_files
from .contact import ShotContact
from .prepare import prepare
from .provenance import solver_name
from .run import check_target
from .shot import Shot
from .wording import millimetres


def dry_run(
    shot: Shot, *, out: str | Path | None = None, frames: tuple[int, int] | None = None, threads: int | None = None
) -> list[str]:
    """Read and check everything a run would; returns what it would do, a line each. Writes nothing."""
    prepared = prepare(shot, frames, keeping=False, threads=threads)
    target = check_target(prepared, out)
    prepared.check_beginning(threads)
    clip = prepared.clip
    files = [name for names in animation_files(prepared).values() for name in names]
    written = prepared.numbers[prepared.preroll :]
    preroll = f", after {prepared.preroll} frames of preroll" if prepared.preroll else ""
    return [
        f"shot {prepared.shot.name}: frames {written[0]:g} to {written[-1]:g} at {clip.rate:g} frames/s{preroll}",
        *prepared.summary(),
        *_contact(prepared.contact),
        f"solver: {solver_name(threads)}",
        f"would write {', '.join(files)} and the report to {target}",
    ]


def _contact(contact: ShotContact) -> list[str]:
    table = contact.table
    if table is None:
        return []
    gap = "the material's thickness stays" if table.thickness is None else f"{millimetres(table.thickness)} stay"
    itself = ", it feels itself" if table.self_contact else ""
    obstacles = f"; obstacles: {', '.join(contact.things)}" if contact.things else ""
    layers = f"; layers from the body outwards: {', '.join(table.layers)}" if table.layers else ""
    return [f"contact: {gap} open, friction {table.friction:g}{itself}{obstacles}{layers}"]
