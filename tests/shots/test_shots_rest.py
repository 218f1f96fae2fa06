"""Rest shapes and plastic materials in shot files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bunraku import InputError, TriMesh, read_shot, write_mesh
from bunraku.geometry import accordion, crinkle
from bunraku.scenes import box_mesh
from bunraku.shots import Overlays, open_take
from bunraku.shots.prepare_shell import prepare_shell

CRINKLE = {"shape": "crinkle", "depth": 0.02, "wavelength": 0.4, "seed": 3}


def test_a_shape_is_made_of_the_shell_and_its_amount_is_keyed(files) -> None:
    amount = [[2, 0.0], [4, 1.0, "smooth"]]
    made = prepare_shell(read_shot(files(box={"mesh": {"levels": 3}, "rest": {**CRINKLE, "amount": amount}})))
    assert made.rest is not None
    world = made.shell.with_rest(made.shell.rest + made.origin)
    expected = crinkle(world, depth=0.02, wavelength=0.4, seed=3)
    assert made.rest.shapes[1] == pytest.approx(expected, abs=1e-9)
    for frame, weight in ((1, 0.0), (2, 0.0), (3, 0.5), (4, 1.0), (6, 1.0)):
        assert made.rest.at(frame / 24.0) == pytest.approx([1 - weight, weight], abs=1e-9)
    folds = {"shape": "accordion", "depth": 0.02, "wavelength": 0.25, "axis": "x"}
    made = prepare_shell(read_shot(files(box={"mesh": {"levels": 3}, "rest": folds})))
    assert made.rest is not None and made.rest.constant
    assert made.rest.shapes[1] == pytest.approx(accordion(world, depth=0.02, wavelength=0.25, axis="x"), abs=1e-9)


def test_a_file_gives_a_shape_and_is_an_input(files, tmp_path: Path) -> None:
    box = box_mesh()
    write_mesh(tmp_path / "tall.obj", TriMesh(box.rest * [1.0, 2.0, 1.0], box.faces))
    made = prepare_shell(read_shot(files(box={"mesh": {"levels": 1}, "rest": {"file": "tall.obj", "unit": "m"}})))
    assert made.rest is not None
    assert np.ptp(made.rest.shapes[1], axis=0) == pytest.approx(np.ptp(box.rest, axis=0) * [1, 2, 1])
    assert "object.box.rest" in [one.key for one in made.inputs]
    write_mesh(tmp_path / "other.obj", TriMesh(box.rest[:3], np.array([[0, 1, 2]])))
    with pytest.raises(InputError, match=r"object\.box\.rest: the rest shape has another topology"):
        prepare_shell(read_shot(files(box={"rest": {"file": "other.obj", "unit": "m"}})))


def test_strain_is_shown_from_the_rest_shape_of_the_frame(files, tmp_path: Path, monkeypatch) -> None:
    """What has just the shape that the rest shape has by then is not strained, though it is far from the mesh's own."""
    rest = {**CRINKLE, "amount": [[1, 0.0], [3, 1.0]]}
    shot = read_shot(
        files(box={"mesh": {"levels": 3}, "rest": rest}, shot={"frames": [1, 3]}, output={"preview": False})
    )
    take = open_take(shot.run(out=tmp_path / "out", threads=1).folder)
    crinkled = take.scene.arrays["rest_shapes"][1]
    monkeypatch.setattr(take, "points", lambda k: crinkled)
    overlays = Overlays(take)
    assert np.abs(overlays.values("strain", 2)).max() < 1e-12
    assert overlays.values("strain", 0).max() > 2.0 * overlays.values("strain", 1).max() > 0.01
    fresh = Overlays(take)  # whichever frame comes first
    np.testing.assert_array_equal(fresh.values("strain", 0), overlays.values("strain", 0))


@pytest.mark.slow
def test_a_shot_with_a_shock_and_a_crease_runs_and_reports(files, tmp_path: Path) -> None:
    """The resolved shot reads back, and frames say how much has set."""
    rest = {**CRINKLE, "amount": [[2, 1.0], [3, 0.0]]}
    material = {"preset": "vinyl", "yield_curvature": 3.0, "hardening": 0.1}
    shot = read_shot(files(box={"mesh": {"levels": 3}, "rest": rest, "material": material}))
    result = shot.run(out=tmp_path / "out")
    again = read_shot(next(result.folder.glob("*.toml")))
    assert again.shells["box"].rest == shot.shells["box"].rest
    assert again.shells["box"].material == shot.shells["box"].material
    found = list(prepare_shell(shot).job(threads=1).frames())
    yielded = [float(frame.report["yielded"]) for frame in found]
    assert yielded == sorted(yielded) and 0.0 < yielded[-1] <= 1.0


def test_the_first_pose_is_stressed_by_a_crinkled_rest_shape_alone(files) -> None:
    """Frame 1 is the mesh's own shape: without stress, unless another one is wished."""
    held = []
    for amount in (0.0, 1.0):
        shot = read_shot(files(box={"mesh": {"levels": 3}, "rest": {**CRINKLE, "amount": amount}}))
        report = next(prepare_shell(shot).job(threads=1).frames()).report
        held.append(float(report["stretching"] + report["bending"]))
    assert held[1] > 1e-3 and held[0] < 1e-12 * held[1]


def test_a_material_may_be_made_elastic(files, tmp_path: Path) -> None:
    shot = read_shot(files(box={"material": {"preset": "vinyl", "yield_curvature": math.inf}}))
    assert prepare_shell(shot).material.materials[0].yield_curvature == math.inf
    shot.write(tmp_path / "again.toml")
    assert read_shot(tmp_path / "again.toml").shells["box"].material == shot.shells["box"].material


@pytest.mark.parametrize(
    ("rest", "what"),
    [
        ({"depth": 0.1}, "needs either 'shape' or 'file'"),
        ({"shape": "crinkel", "depth": 0.1, "wavelength": 1.0}, "rest.shape: unknown word .*'crinkle'"),
        ({"shape": "crinkle", "depth": 0.1}, "rest.wavelength: is missing"),
        ({"shape": "crinkle", "depth": 0.1, "wavelength": 1.0, "prim": "/a"}, "does not go with its shape .*prim"),
        ({"shape": "ridges", "depth": 0.1, "wavelength": 1.0, "seed": 1}, "does not go with its shape .*seed"),
        ({"shape": "crinkle", "depth": 0.1, "wavelength": 1.0, "amount": 2.0}, "rest.amount: is out of range"),
        ({"shape": "crinkle", "depth": 0.1, "wavelength": 1e-3}, "rest: the mesh is too coarse"),
        ({"file": "gone.obj"}, "rest.file: .*"),
    ],
)
def test_mistakes_are_named(files, rest: dict, what: str) -> None:
    with pytest.raises(InputError, match=what):
        prepare_shell(read_shot(files(box={"rest": rest})))
