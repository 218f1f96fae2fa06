"""What a run would do, said without doing it."""

from __future__ import annotations

from pathlib import Path

from .animations import animation_files
from .contact import ShotContact
from .prepare import prepare
from .provenance import solver_name
from .run import check_target, with_frames
from .shot import Shot
from .wording import millimetres


def plan(
    shot: Shot, *, out: str | Path | None = None, frames: tuple[int, int] | None = None, threads: int | None = None
) -> list[str]:
    """Read and check everything a run would; returns what it would do, a line each. Writes nothing."""
    prepared = prepare(shot if frames is None else with_frames(shot, frames))
    target = check_target(prepared, out)
    table, physics, clip = prepared.table, prepared.shot.physics, prepared.clip
    written = prepared.numbers[prepared.preroll :]
    regions = "without a guide" if prepared.tests is None else f"{prepared.tests.count} regions obey the guide"
    preroll = f", after {prepared.preroll} frames of preroll" if prepared.preroll else ""
    steps = "to convergence" if physics.iterations == "converge" else f"{physics.iterations} Newton iterations a step"
    parts = [table.material.preset or "a material of its own", *(f"region {name}" for name in table.regions)]
    return [
        f"shot {prepared.shot.name}: frames {written[0]:g} to {written[-1]:g} at {clip.rate:g} frames/s{preroll}",
        f"object {prepared.name}: guide {clip.path} of {clip.mesh.point_count} vertices, frames {clip.frames[0]:g} to "
        f"{clip.frames[-1]:g}; shell of {prepared.shell.point_count} vertices, {regions}",
        f"material: {', '.join(parts)}; {len(prepared.pins)} pins",
        f"physics: {physics.substeps} steps a frame, {steps}, {physics.bending} bending, start = {physics.start}",
        *_contact(prepared.contact),
        f"solver: {solver_name(threads)}",
        f"would write {', '.join(animation_files(prepared))} and the report to {target}",
    ]


def _contact(contact: ShotContact) -> list[str]:
    table = contact.table
    if table is None:
        return []
    gap = "the material's thickness stays" if table.thickness is None else f"{millimetres(table.thickness)} stay"
    itself = ", the shell feels itself" if table.self_contact else ""
    obstacles = f"; obstacles: {', '.join(contact.things)}" if contact.things else ""
    layers = f"; layers from the body outwards: {', '.join(table.layers)}" if table.layers else ""
    return [f"contact: {gap} open, friction {table.friction:g}{itself}{obstacles}{layers}"]
