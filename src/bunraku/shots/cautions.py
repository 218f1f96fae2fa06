"""What a shot may ask for but is unlikely to mean: warned of before anything is simulated."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from bunraku.contracts import Vector
from bunraku.direction.track.caps import region_caps
from bunraku.geometry import lumped_mass

if TYPE_CHECKING:
    from .prepare_shell import PreparedShell

_log = logging.getLogger(__name__)
_MANY, _MANY_REGIONS = 20_000, 2_000


def caution(prepared: PreparedShell) -> None:
    """Warn of everything that is unlikely to be meant."""
    _many_vertices(prepared)
    _caps_below_weight(prepared)
    _open_seams(prepared)


def _many_vertices(prepared: PreparedShell) -> None:
    """A shell that takes long, most likely for a default that was meant for coarse guides."""
    count, levels = prepared.shell.point_count, prepared.table.mesh.split
    if count <= _MANY:
        return
    regions = 0 if prepared.tests is None else prepared.tests.count
    fewer = f"mesh = {{ levels = {levels - 1} }}" if levels else "a coarser mesh"
    many = " and track = { method = 'clusters', count = 200 }" if regions > _MANY_REGIONS else ""
    _log.warning(
        "the shell has %d vertices (the guide's %d, split %d times) and %d regions: expect seconds to minutes a frame; "
        "try: %s%s", count, prepared.clip.mesh.point_count, levels, regions, fewer, many,
    )  # fmt: skip


def _caps_below_weight(prepared: PreparedShell) -> None:
    """Caps that cannot carry the shell together: it falls away from its guide, whatever that does."""
    tests, track = prepared.tests, prepared.table.track
    if tests is None or prepared.pins:  # pins may carry it
        return
    told = (prepared.caps[name] for name in ("cap", "cap_pressure", "stretch"))
    caps = region_caps(tests.shell, prepared.shell, prepared.material, *told)
    weight = _weight(prepared)
    if caps is None or weight == 0.0:
        return
    times = prepared.times
    held = np.array([np.ones(tests.count) if tests.held is None else tests.held(float(time)) for time in times])
    strength = np.array([prepared.strength.at(float(time)) for time in times])
    most = np.array([caps(float(time)) for time in times])
    carried: Vector = strength * (held * most).sum(axis=1)
    weak = (carried < weight) & (carried > 0.0)  # zero is how one lets go
    if weak.any():
        name = next(name for name in ("cap", "cap_pressure", "stretch") if getattr(track, name) is not None)
        least = int(np.argmin(np.where(weak, carried, np.inf)))
        _log.warning(
            "track.%s: the caps of all %d regions together allow %.2g N at frame %g, less than the shell's weight of "
            "%.2g N: it falls away from the guide on %d of %d frames; try: at least %.2g times as much",
            name, tests.count, carried[least], prepared.numbers[least], weight, int(weak.sum()), len(times),
            2.0 * weight / carried[least],
        )  # fmt: skip


def _open_seams(prepared: PreparedShell) -> None:
    """Seams that are still open when the shot ends."""
    last = float(prepared.times[-1])
    for k, seam in enumerate(prepared.seams):
        if seam.closed is not None and seam.closed > last:
            _log.warning(
                "seams[%d].closed: frame %g lies after the last one, %g: the seam is still open there", k,
                seam.closed * prepared.clip.rate, prepared.numbers[-1],
            )  # fmt: skip


def _weight(prepared: PreparedShell) -> float:
    """Of the shell [N], at the first frame."""
    fields = prepared.material.at(float(prepared.times[0]))
    mass = float(lumped_mass(prepared.shell, fields.density * fields.thickness).sum())
    return mass * float(np.linalg.norm(prepared.shot.physics.gravity))
