"""What a wedge varies: how values are read, which shots come of them, what is refused before any runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku import InputError
from bunraku.shots import parse_varied
from bunraku.shots.wedge_vary import Combination, combinations, short_names, value_text


def made(path: Path, *texts: str, most: int = 100) -> list[Combination]:
    return combinations(path, parse_varied(texts), most)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1e5,1_000", (1e5, 1000)),
        ("a=denim, silk", ("denim", "silk")),
        ("a=true,false,2", (True, False, 2)),
        ('a="x,y",z', ("x,y", "z")),
        ("a=[1, 2],[[1001, 0.5], [1040, 1]]", ([1, 2], [[1001, 0.5], [1040, 1]])),
        ("a={levels = 3},{file = 'b.usd'}", ({"levels": 3}, {"file": "b.usd"})),
        ("a=cloth_v001.usd", ("cloth_v001.usd",)),
        ("a=1=2", ("1=2",)),
    ],
)
def test_values_are_read_as_a_shot_file_says_them(text: str, values: tuple[object, ...]):
    (one,) = parse_varied([text])
    assert one.values == values and [type(v) for v in one.values] == [type(v) for v in values]


def test_all_combinations_the_last_value_fastest(files):
    found = made(files(), "object.box.material.young=1e5,1e6", "object.box.mesh.levels=0,1")
    assert [tuple(one.values.values()) for one in found] == [(1e5, 0), (1e5, 1), (1e6, 0), (1e6, 1)]
    assert [one.shot.object["box"].mesh.levels for one in found] == [0, 1, 0, 1]  # type: ignore[union-attr]
    assert [one.settings["object"]["box"]["material"]["young"] for one in found] == [1e5, 1e5, 1e6, 1e6]
    assert "material" not in made(files(), "shot.preroll=0")[0].settings["object"]["box"]  # none shares another's


def test_what_stands_for_a_table_is_opened(files):
    path = files(box={"material": "denim"}, physics={"contact": True})
    (one,) = made(path, "object.box.material.young=1e5", "physics.contact.friction=0.5")
    assert one.settings["object"]["box"]["material"] == {"preset": "denim", "young": 1e5}
    assert one.settings["physics"]["contact"] == {"friction": 0.5}
    presets = made(path, "object.box.material.young=1e5", "object.box.material=silk,denim")  # whole tables come first
    assert [one.settings["object"]["box"]["material"]["preset"] for one in presets] == ["silk", "denim"]


def test_entries_of_lists_are_reached(files):
    path = files(box={"pins": [{"vertices": [0], "strength": 0.5}, {"vertices": [1]}]})
    found = made(path, "object.box.pins[1].strength=0.25,0.75")
    assert [one.settings["object"]["box"]["pins"][1]["strength"] for one in found] == [0.25, 0.75]
    assert found[0].settings["object"]["box"]["pins"][0]["strength"] == 0.5
    with pytest.raises(InputError, match=r"pins\[2\]\.strength: there is no such entry \(got 2\); allowed: 0 to 1"):
        made(path, "object.box.pins[2].strength=1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("object.box.material.yuong=1e5", r"object\.box\.material\.yuong: unknown key.*try: 'young'"),
        ("object.bax.material.young=1e5", r"the shot has no such object \(got 'bax'\); allowed: box; try: 'box'"),
        ("object=1", r"object: does not say which object; allowed: box"),
        ("objekt.box.material.young=1e5", r"objekt: unknown key.*try: 'object'"),
        ("object.box.mesh.levels=1,2.5", r"object\.box\.mesh\.levels: must be a whole number \(got 2\.5\)"),
        ("object.box.material.young=soft", r"young.*\(got 'soft'\)"),
        ("object.box.material.young=-1,nan", r"young.*out of range \(got -1\.0\).*\n.*\(got nan\)"),
        ("object.box.guide.file=guyde.usda", r"guyde\.usda: there is no such file; try: did you mean 'guide\.usda'\?"),
        ("object.box.guide.file.name=x", r"nothing lies below object\.box\.guide\.file \(got 'guide\.usda'\)"),
        ("object.box.guide[0]=x", r"there is no such entry \(got 0\); allowed: none: it is no list"),
        ("output.preview=true,false", r"is the same for all takes"),
        ("shot.name=a,b", r"is the same for all takes"),
        ("object.box.mesh.levels=1,1.0", r"names a value twice \(got '1\.0'\)"),
        ("object.box.mesh.levels=", r"lacks a value"),
        ("object.box.mesh.levels=1,,2", r"lacks a value"),
        ("object.box.mesh.levels", r"does not say what to vary"),
        ("=1", r"does not say what to vary"),
        ("object..box=1", r"is no key \(got 'object\.\.box'\)"),
    ],
)  # fmt: skip
def test_slips_are_refused_in_a_sentence(files, text: str, said: str):
    with pytest.raises(InputError, match=rf"(?s)^--vary: .*{said}"):
        made(files(), text)


def test_everything_wrong_is_said_at_once_and_once(files):
    path = files(physics={"substeps": 0})
    with pytest.raises(InputError) as refused:
        made(path, "object.box.material.yuong=1,2", "object.bax.mesh.levels=1", "object.box.mesh.levels=1,-2")
    lines = str(refused.value).splitlines()
    assert len(set(lines)) == len(lines)
    for told in ("material.yuong: unknown key", "bax.mesh.levels: the shot has no", "levels: is out of range (got -2)"):
        assert sum(line.startswith("--vary: object.") and told in line for line in lines) == 1
    assert any("box.toml: physics.substeps: is out of range (got 0)" in line for line in lines)  # the file's own


def test_nothing_to_vary_and_a_key_twice(files):
    with pytest.raises(InputError, match="a wedge needs something to vary"):
        parse_varied([])
    with pytest.raises(InputError, match=r"a\.b: is varied twice"):
        parse_varied(["a.b=1", "a.b=2"])


def test_very_many_combinations_are_asked_for_by_their_number(files):
    texts = ["object.box.material.young=" + ",".join(map(str, range(1, 12))), "object.box.material.density=1,2"]
    with pytest.raises(InputError, match=r"\(got '11 × 2 = 22'\); allowed: up to 21; try: --most 22"):
        made(files(), *texts, most=21)
    assert len(made(files(), *texts, most=22)) == 22
    huge = [f"object.box.material.{key}={','.join(map(str, range(1, 400)))}" for key in ("young", "drag", "density")]
    with pytest.raises(InputError, match="63521199"):  # and that is not counted one by one
        made(files(), *huge)


def test_a_file_of_stages_is_no_shot(tmp_path: Path):
    path = tmp_path / "figure.toml"
    path.write_text("[stage.jump.object.bar]\nrole = 'plan'\n[stage.land]\n")
    with pytest.raises(InputError, match=r"stage: a wedge varies one shot.*\(got 'jump, land'\)"):
        made(path, "stage.jump.object.bar.modes=5,10")


def test_keys_are_told_by_as_little_of_their_end_as_will_do():
    assert short_names(["a.b.young", "a.b.scale"]) == {"a.b.young": "young", "a.b.scale": "scale"}
    assert short_names(["x.skin.young", "x.coat.young"]) == {"x.skin.young": "skin.young", "x.coat.young": "coat.young"}
    values = (1e6, 2.5e-10, 0.04, 7, True, "silk", [1, 2])
    assert [value_text(one) for one in values] == ["1e6", "2.5e-10", "0.04", "7", "true", "silk", "[1, 2]"]
