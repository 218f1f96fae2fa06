"""What Python may be handed by mistake: one sentence that names it, never a traceback of NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import bunraku as bk
from bunraku.scenes.study import grid_mesh

MESH = grid_mesh(np.linspace(0, 1, 5), np.linspace(0, 1, 5))
GUIDE = bk.Animation(MESH, np.arange(4) / 24.0, np.repeat(MESH.rest[None], 4, axis=0))
REGIONS = bk.clusters(GUIDE, 4)
FACES = len(MESH.faces)
Call = Callable[[], object]


def _scaled(parts: object) -> Call:
    return lambda: bk.scales(GUIDE, 0.3, parts=parts)  # type: ignore[arg-type]


BAD: dict[str, tuple[Call, str]] = {
    "a mesh as a guide": (lambda: bk.clusters(MESH, 4), "guide: must be a Animation"),  # type: ignore[arg-type]
    "an animation as a mesh": (lambda: bk.gaussians(GUIDE, 0.3), "guide: must be a TriMesh"),  # type: ignore[arg-type]
    "nothing to paint on": (
        lambda: bk.painted(None, np.zeros(3, int), MESH, np.zeros(3, int)),  # type: ignore[arg-type]
        "guide: must be a TriMesh",
    ),
    "points as a shell": (lambda: bk.hierarchy(MESH, shell=MESH.rest), "shell: must be a TriMesh"),  # type: ignore[arg-type]
    "a word for a count": (lambda: bk.clusters(GUIDE, "many"), "number of regions"),  # type: ignore[arg-type]
    "no count": (lambda: bk.clusters(GUIDE, None), "number of regions"),  # type: ignore[arg-type]
    "a word for compactness": (lambda: bk.clusters(GUIDE, 4, compactness="x"), "compactness"),  # type: ignore[arg-type]
    "a seed below zero": (lambda: bk.clusters(GUIDE, 4, seed=-1), "seed: must be a whole number"),
    "a broken seed": (lambda: bk.gaussians(MESH, 0.3, seed=0.5), "seed: must be a whole number"),  # type: ignore[arg-type]
    "half a sample": (lambda: bk.clusters(GUIDE, 4, samples=2.5), "samples: must be a whole"),  # type: ignore[arg-type]
    "a scale too small to square": (lambda: bk.scales(GUIDE, 1e-300), "1e-09 to 1e\\+06 m"),
    "a scale too large to square": (lambda: bk.scales(GUIDE, 1e300), "1e-09 to 1e\\+06 m"),
    "a scale that is no number": (lambda: bk.scales(GUIDE, float("nan")), "must be finite \\(got nan\\)"),
    "too few flags": (_scaled({"a": (np.ones(3, dtype=bool), 0.1)}), "one flag a face"),
    "half a face": (_scaled({"a": ([1.5], 0.1)}), "a: a part's faces must be whole numbers"),
    "a part without faces": (_scaled({"a": 0.1}), "a: a part must be a pair"),
    "parts without names": (_scaled([([1], 0.1)]), "parts: must be a Mapping"),
    "a key without a time": (lambda: bk.changing([REGIONS, REGIONS]), "must be pairs"),  # type: ignore[list-item]
    "a word for a time": (lambda: bk.changing([("a", REGIONS), (1.0, REGIONS)]), "must be pairs"),  # type: ignore[list-item]
    "a key of numbers": (lambda: bk.changing([(0.0, 1), (1.0, 2)]), "key 0: must be a TestFunctions"),  # type: ignore[list-item]
    "a key whose scale is keyed": (
        lambda: bk.changing([(0.0, bk.scales(GUIDE, [(0, 1), (1, 0.5)])), (1.0, REGIONS)]),
        "keyed scale",
    ),
    "a camera in words": (lambda: bk.silhouette(GUIDE, REGIONS, "front"), "camera must be a point"),  # type: ignore[arg-type]
    "a camera beyond the stars": (lambda: bk.silhouette(GUIDE, REGIONS, (1e300, 0, 0)), "camera must be a point"),
    "a strength in words": (
        lambda: bk.silhouette(GUIDE, REGIONS, (0, 0, 5), elsewhere="x"),  # type: ignore[arg-type]
        "strength elsewhere",
    ),
    "a silhouette of changing regions": (
        lambda: bk.silhouette(GUIDE, bk.changing([(0.0, REGIONS), (1.0, REGIONS)]), (0, 0, 5)),  # type: ignore[arg-type]
        "tests: must be a TestFunctions",
    ),
    "a silhouette of another guide": (
        lambda: bk.silhouette(GUIDE, bk.hierarchy(grid_mesh([0, 1, 2], [0, 1]), 0)[1], (0, 0, 5)),
        "belong to another guide",
    ),
    "functions of words": (lambda: bk.TestFunctions([["a"]], [["b"]]), "guide: not test functions"),  # type: ignore[arg-type]
    "tests in words": (lambda: bk.track(GUIDE, MESH, "fine"), "tests: not test functions"),  # type: ignore[arg-type]
    "what hierarchy returns": (
        lambda: bk.track(GUIDE, MESH, bk.hierarchy(MESH, 0)),  # type: ignore[arg-type]
        "try: shell, tests = hierarchy",
    ),
    "caps in words": (
        lambda: bk.track(GUIDE, MESH, REGIONS, cap=np.array(["a"] * 4)),
        "cap: could not convert",
    ),
    "a mesh to track": (lambda: bk.track(MESH, MESH, REGIONS), "guide: must be a Animation"),  # type: ignore[arg-type]
    "a moving shell": (lambda: bk.track(GUIDE, GUIDE, REGIONS), "shell: must be a TriMesh"),  # type: ignore[arg-type]
    "numbers as pins": (lambda: bk.track(GUIDE, MESH, REGIONS, pins=[3]), "pins\\[0\\]: must be a Pin"),  # type: ignore[list-item]
    "a warp in words": (
        lambda: bk.track(GUIDE, MESH, REGIONS, material=bk.ShellMaterial(1e6, weft=1e5), warp="uv"),  # type: ignore[arg-type]
        "warp: not a warp",
    ),
    "a depth in words": (lambda: bk.crinkle(MESH, depth="deep", wavelength=1.0), "depth must be above zero"),  # type: ignore[arg-type]
    "bumps without a length": (lambda: bk.crinkle(MESH, depth=0.1, wavelength=None), "wavelength must be"),  # type: ignore[arg-type]
    "a broken seed of bumps": (
        lambda: bk.crinkle(MESH, depth=0.1, wavelength=1.0, seed=0.5),  # type: ignore[arg-type]
        "seed: must be a whole number",
    ),
    "creases of nothing": (
        lambda: bk.ridges(bk.TriMesh(np.zeros((0, 3)), np.zeros((0, 3), int)), depth=0.1, count=3),
        "without faces",
    ),
    "folds across a flat sheet": (
        lambda: bk.accordion(MESH, depth=0.1, wavelength=0.5, axis="y"),
        "no extent along this axis",
    ),
    "no rest shapes": (lambda: bk.RestShapes(None, None), "must be lists"),  # type: ignore[arg-type]
    "a misspelt ease": (lambda: bk.Curve.of([(0.0, 1.0, "smoooth"), (1.0, 2.0)]), "unknown ease"),
    "bound to a word": (lambda: bk.bind(MESH, "bones"), "skeleton: must be a Skeleton"),  # type: ignore[arg-type]
    "too many levels": (lambda: bk.hierarchy(MESH, 20), "levels: the subdivided mesh would have too many faces"),
    "a number of levels beyond counting": (lambda: bk.hierarchy(MESH, 10**9), "levels: the subdivided"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_says_what_is_wrong(name: str) -> None:
    call, sentence = BAD[name]
    with pytest.raises(bk.InputError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_functions_that_are_not_finite_are_named(broken: float) -> None:
    values = np.eye(3, MESH.point_count)
    values[1, 4] = broken
    with pytest.raises(bk.InputError, match="guide, regions 1: test functions must be finite"):
        bk.TestFunctions(sparse.csr_array(values), sparse.csr_array(values))


def test_labels_too_large_to_count_are_refused_and_not_confused() -> None:
    for labels in (np.full(FACES, 2**62), np.full(FACES, 2**63, dtype=np.uint64)):
        with pytest.raises(bk.InputError, match="labels must be −1"):
            bk.painted(MESH, labels, MESH, labels)  # type: ignore[arg-type]


def test_a_width_of_numpys_is_a_number() -> None:
    assert bk.gaussians(MESH, np.float32(0.3)).count > 1  # type: ignore[arg-type]


def test_a_scale_keyed_far_below_the_mesh_has_no_levels_that_say_the_same(caplog: pytest.LogCaptureFixture) -> None:
    tests = bk.scales(GUIDE, [(0.0, 1.0), (1.0, 1e-6)])  # twenty halvings; the mesh has room for three
    assert tests.held is not None
    assert len({name.split("(")[1] for name in tests.names}) <= 4
    assert len([record for record in caplog.records if "so small" in record.message]) <= 4
    exact = np.flatnonzero(tests.held(1.0) == 1.0)
    assert np.asarray(tests.guide[exact].sum(axis=0)).reshape(-1).tolist() == [1.0] * MESH.point_count


def test_rest_shapes_of_huge_weights_are_blended() -> None:
    shapes = bk.RestShapes([MESH.rest, MESH.rest], [1e308, 1e308])
    assert shapes.at(0.0).tolist() == [0.5, 0.5]


def test_numbers_of_numpys_are_numbers_of_a_material() -> None:
    told = bk.ShellMaterial(np.float32(1e6), np.float32(0.25), thickness=np.float32(0.5), weight=np.int64(500))  # type: ignore[arg-type]
    assert (told.young, told.poisson, told.thickness, told.density) == (1e6, 0.25, 0.5, 1.0)
