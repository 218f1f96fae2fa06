"""Repair on real broken files: what it says it did, the shape kept, nothing left to do."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_files import surface_of
from mesh_shapes import volume

from bunraku.geometry import closest_points, examine, repair, weld
from bunraku.geometry.doctor.findings import Kind
from bunraku.geometry.doctor.repair import NOTHING

SLOW = pytest.mark.slow
FILES = {
    "self_intersecting_closed.obj": ((NOTHING,), 0.0),
    "openscad_nonmanifold.obj": (
        (
            "3 points joined to the edges they lay on to close cracks.", "2 repeated faces removed.",
            "2 small flaps folded on themselves removed.", "56 short edges of slivers collapsed.",
            "145 long edges of slivers flipped.", "3 faces without area removed.",
        ),
        1e-5,
    ),
    "degenerate_scan.off": (
        (
            "5 short edges of slivers collapsed.", "1 long edge of a sliver flipped.", "2 faces without area removed.",
        ),
        1e-4,
    ),
    "buddha_100k.obj": (
        (
            "24 repeated faces removed.", "18 small flaps folded on themselves removed.",
            "20 long edges of slivers flipped.", "10 faces of inside-out closed parts turned outwards.",
        ),
        3e-3,
    ),
    "cracked_cad.stl": (
        (
            "8418 points sewn to others on the same spot along seams.", "288 points moved onto others to close cracks.",
            "25 short edges of slivers collapsed.", "24 long edges of slivers flipped.",
        ),
        1e-4,
    ),
}  # fmt: skip
"""what is done, and how far the shape may move, of its size"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW if "100k" in name else ()) for name in FILES])
def test_broken_files(name: str) -> None:
    given = surface_of(f"broken/{name}")
    mended = repair(given)
    said, off = FILES[name]
    assert mended.changes == said
    assert repair(mended.surface).changes == (NOTHING,)
    before, after = weld(given).mesh, weld(mended.surface).mesh
    assert closest_points(after.rest, before).distances.max() <= off * before.size
    assert closest_points(before.rest, after).distances.max() <= off * before.size
    found = examine(mended.surface)
    for kind in (Kind.ZERO_AREA, Kind.REPEATED, Kind.CRACKS, Kind.LOOSE_POINTS, Kind.WINDING, Kind.INSIDE_OUT):
        assert not found.count(kind)
    assert found.count(Kind.CROSSING) <= examine(given).count(Kind.CROSSING)
    assert found.closed == (name != "degenerate_scan.off")
    if found.closed:
        assert volume(after.rest, after.faces) == pytest.approx(volume(before.rest, before.faces), rel=2e-4)


def test_holes_of_the_elephant() -> None:
    """All the small ones, also those that touch each other; nothing crosses, the large openings stay."""
    mended = repair(surface_of("broken/elephant_with_holes.off"))
    assert mended.changes[:2] == (
        "4 points sewn to others on the same spot along seams.", "61 small holes filled.",
    )  # fmt: skip
    assert repair(mended.surface).changes == (NOTHING,)
    found = examine(mended.surface)
    assert not found.count(Kind.CROSSING) and not found.count(Kind.HOLES) and found.count(Kind.OPEN) == 49


def test_strips_of_hair() -> None:
    """Quads that nothing happened to stay quads; repaired once is repaired."""
    given = surface_of("broken/hair_braid.obj")
    mended = repair(given)
    assert repair(mended.surface).changes == (NOTHING,)
    assert (mended.surface.counts == 4).sum() > 0.98 * (given.counts == 4).sum()
    assert examine(mended.surface).count(Kind.CRACKS) == 0


@SLOW
@pytest.mark.parametrize("name", ["meshes/spot.obj", "garments/tshirt.obj", "broken/cracked_cad.stl"])
def test_remeshing(name: str) -> None:
    """Even edges of the length asked for, on the shape."""
    given = surface_of(name)
    before = weld(repair(given).surface).mesh
    length = 0.015 * before.size
    after = repair(given, remesh=length).surface
    found = examine(after)
    assert found.quality is not None and found.quality.thin_hundredth > 0.15
    assert 0.8 * length < found.quality.median_edge < 1.3 * length
    assert found.quality.longest_edge < 1.7 * length
    assert closest_points(after.points, before).distances.max() < 1e-9 * before.size
    assert closest_points(before.rest, weld(after).mesh).distances.max() < 0.01 * before.size
    assert np.isclose(found.area, examine(given).area, rtol=0.03)
    assert not found.count(Kind.CROSSING) and not found.count(Kind.THIN)
