"""The doctor on real broken files, against the table of counts in the data's README."""

from __future__ import annotations

import pytest
from mesh_files import surface_of

from bunraku.geometry import examine
from bunraku.geometry.connectivity import Census
from bunraku.geometry.doctor.findings import Diagnosis, Kind, Severity

SLOW = pytest.mark.slow
TABLE = {
    #                  points triangles pieces border crowded turned flat repeated: as stored, then merged by position
    "self_intersecting_closed.obj": ((8582, 17160, 1, 0, 0, 0, 0, 0), (8582, 17160, 1, 0, 0, 0, 0, 0)),
    "openscad_nonmanifold.obj": ((717, 1442, 2, 0, 0, 0, 1, 0), (658, 1442, 1, 0, 18, 36, 1, 3)),
    "elephant_with_holes.off": ((2798, 4463, 1, 1353, 0, 0, 0, 0), (2733, 4463, 1, 1353, 0, 0, 0, 0)),
    "degenerate_scan.off": ((7068, 13477, 8, 665, 0, 0, 4, 0), (7065, 13473, 8, 663, 0, 0, 0, 0)),
    "buddha_100k.obj": ((49950, 100000, 1, 0, 50, 100, 0, 24), (49950, 100000, 1, 0, 50, 100, 0, 24)),
    "cracked_cad.stl": ((10428, 3476, 3476, 10428, 0, 0, 0, 0), (2010, 3476, 1, 576, 0, 0, 0, 0)),
    "hair_braid.obj": ((4493, 5518, 87, 3318, 0, 0, 0, 0), (4380, 5518, 81, 3226, 92, 92, 0, 0)),
}
EXPECTED: dict[str, dict[Kind, int]] = {
    "self_intersecting_closed.obj": {Kind.CROSSING: 334},
    "openscad_nonmanifold.obj": {
        Kind.ZERO_AREA: 30, Kind.THIN: 220, Kind.DUPLICATE_POINTS: 59, Kind.CROWDED_EDGES: 18, Kind.PIECES: 2,
        Kind.CROSSING: 1173, Kind.TOUCHING: 213, Kind.UNEVEN: 417, Kind.DRAWN_OUT: 752,
    },
    "elephant_with_holes.off": {Kind.DUPLICATE_POINTS: 65, Kind.HOLES: 57, Kind.OPEN: 49},
    "degenerate_scan.off": {
        Kind.ZERO_AREA: 4, Kind.THIN: 5, Kind.DUPLICATE_POINTS: 3, Kind.OPEN: 3, Kind.PIECES: 8, Kind.FRAGMENTS: 1,
        Kind.CROSSING: 11, Kind.DRAWN_OUT: 1048,
    },
    "buddha_100k.obj": {Kind.THIN: 20, Kind.REPEATED: 24, Kind.CROWDED_EDGES: 42, Kind.PINCHED: 12, Kind.CROSSING: 69,
                        Kind.OPEN: 16, Kind.DRAWN_OUT: 13111},
    # 114 cross with the repeated faces, whose removal opens 16 slits
    "cracked_cad.stl": {Kind.THIN: 78, Kind.DUPLICATE_POINTS: 8418, Kind.CRACKS: 576, Kind.TOUCHING: 896,
                        Kind.UNEVEN: 1875, Kind.DRAWN_OUT: 2579},
    "hair_braid.obj": {
        Kind.THIN: 1, Kind.BENT: 502, Kind.DUPLICATE_POINTS: 113, Kind.CROWDED_EDGES: 92,
        Kind.HOLES: 3, Kind.OPEN: 96, Kind.PIECES: 87, Kind.CROSSING: 2948, Kind.TOUCHING: 17, Kind.DRAWN_OUT: 2425,
    },
}  # fmt: skip
"""every finding of every file, and no other"""


@pytest.fixture(scope="module", params=[pytest.param(name, marks=SLOW if "100k" in name else ()) for name in TABLE])
def case(request: pytest.FixtureRequest) -> tuple[str, Diagnosis]:
    """A broken file and what the doctor says about it."""
    return request.param, examine(surface_of(f"broken/{request.param}"))


@pytest.mark.slow
def test_counts_of_the_table(case: tuple[str, Diagnosis]) -> None:
    name, found = case
    assert (found.raw, found.merged) == tuple(Census(*row) for row in TABLE[name])
    double = found.finding(Kind.DUPLICATE_POINTS)
    assert found.raw.points - found.merged.points == (0 if double is None else double.count)


def test_findings(case: tuple[str, Diagnosis]) -> None:
    name, found = case
    assert {one.kind: one.count for one in found.findings} == EXPECTED[name]
    assert found.worst is Severity.CARE


def test_what_the_artist_reads() -> None:
    """Of one file."""
    found = examine(surface_of("broken/elephant_with_holes.off"))
    assert found.sentences()[1].startswith(
        "[harmless] 65 points lie exactly on others. 65 only touch and stay apart. (points 2718, 2719, "
    )
    assert (found.border_loops, found.border_edges, found.closed) == (106, 1353, False)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("meshes/spot.obj", set()),
        pytest.param("meshes/horse.obj", set(), marks=SLOW),
        pytest.param("meshes/cactus.obj", set(), marks=SLOW),
        ("garments/tshirt.obj", {Kind.OPEN}),
        pytest.param("garments/dress_sewing_panels.obj", {Kind.OPEN, Kind.PIECES}, marks=SLOW),
        pytest.param("meshes/human_man.obj", {Kind.CROSSING}, marks=SLOW),
    ],
)
def test_healthy_files(name: str, kinds: set[Kind]) -> None:
    """No alarm about what is well."""
    assert {one.kind for one in examine(surface_of(name)).findings} == kinds
