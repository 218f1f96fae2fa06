"""The curves of a report by name: what they are called, in which unit, and which belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Vector


@dataclass(frozen=True)
class Chart:
    """Curves that are drawn together."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]
    """(name, label) of each curve; an empty label is the chart's title"""
    log: bool = False
    """whether a logarithmic scale shows them better"""


CHARTS = (
    Chart(
        "Distance from what was directed",
        "m",
        (("residual_m", "in memory"), ("residual_in_file_m", "in the file")),
        log=True,
    ),
    Chart("Largest force of direction", "N", (("force_N", "force"),)),
    Chart(
        "Energies",
        "J",
        (("kinetic", "kinetic"), ("stretching", "stretching"), ("bending", "bending"), ("elastic", "elastic")),
    ),
    Chart("Push of the plan beside the body's own mechanics", "m/s²", (("push", ""),)),
    Chart("Highest wave of the skin", "m", (("highest", ""),)),
    Chart("How far the body presses its skin together", "", (("compression", ""),)),
    Chart("Farthest a muscle is from its shape", "m", (("muscle_residual_m", ""),)),
    Chart("Ridges left for lower energy", "", (("ridges", ""),)),
    Chart("Newton iterations", "", (("iterations", "iterations"),)),
    Chart("Near pairs", "", (("pairs", ""),)),
    Chart("Least distance of surfaces", "m", (("closest", ""),)),
    Chart("Triangles that pass through something", "", (("intersections", ""),)),
    Chart("Overpressure", "Pa", (("pressure_Pa", ""),)),
    Chart("Volume", "m³", (("volume_m3", ""), ("volume", ""))),
    Chart("Turn missed", "rad", (("rotation_residual", ""),), log=True),
    Chart("Exposure to the wind", "", (("exposure", ""),)),
    Chart("Share that has set", "", (("yielded", ""),)),
    Chart("Strength", "", (("strength", "strength"),)),
)
"""those of a take's page"""
MORE = (
    Chart("Distance of pins from their goals", "m", (("pin_residual_m", ""),), log=True),
    Chart("Energy of weight", "J", (("gravity", ""),)),
    Chart("Last Newton correction", "m", (("last_step", ""),), log=True),
    Chart("Whether every step converged", "", (("converged", ""),)),
    Chart("Averages of skin and body apart", "m", (("coupling", ""),), log=True),
    Chart("Newton iterations of the inside", "", (("interior_iterations", ""),)),
    Chart("Pinched vertices", "", (("pinched", ""),)),
)
"""further numbers a frame reports"""


def worth_showing(curves: Mapping[str, Vector], directed: bool) -> dict[str, Vector]:
    """The curves (t,) by name that say something; `directed`: whether any region obeys a guide."""
    shown = {name: np.asarray(values, float) for name, values in curves.items()}
    if not directed:
        for name in ("residual_m", "residual_in_file_m", "force_N"):
            shown.pop(name, None)
    pairs, closest = shown.get("pairs"), shown.get("closest")
    if pairs is not None and closest is not None and len(pairs) == len(closest):
        shown["closest"] = np.where(pairs > 0, closest, np.nan)  # nothing is near where there are no pairs
    if "intersections" in shown and not shown["intersections"].any():
        del shown["intersections"]
    if "strength" in shown and (shown["strength"] == shown["strength"][:1]).all():
        del shown["strength"]
    return shown
