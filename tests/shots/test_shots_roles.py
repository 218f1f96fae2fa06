"""Objects of a shot in other roles, and with other motions to go after: what is written, what goes, what is refused."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from turning import turning

from bunraku import InputError
from bunraku.geometry import tet_bar
from bunraku.io import write_animation, write_mesh
from bunraku.shots import EditedShot, ObjectEdits, read_shot
from bunraku.shots.contact_spec import ROLES
from bunraku.shots.roles import MOTIONS
from bunraku.shots.spec import OBJECT
from bunraku.shots.tables import keys_of

SHOT = """# of the second act
[object.hero]
role = "obstacle"
source = { file = "hero.usda", prim = "/hero" }  # from layout
friction = 0.5

[object.coat]
guide = { file = "coat.usda" }
mesh = { levels = 1 }
material = "denim"
track = { scale = 0.1, method = "clusters" }

[physics]
contact = true

[output]
preview = false
"""
COAT, HERO = ("object", "coat"), ("object", "hero")


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """Two boxes that move, one above the other."""
    low, high = turning(4), turning(4)
    high.points[:, :, 1] += 3.0
    write_animation(tmp_path / "hero.usda", low, rate=24.0, prim="/hero")
    write_animation(tmp_path / "coat.usda", high, rate=24.0, prim="/coat")
    (tmp_path / "coat.toml").write_text(SHOT, encoding="utf-8")
    return tmp_path / "coat.toml"


@pytest.fixture
def edits(shot: Path) -> ObjectEdits:
    return ObjectEdits(EditedShot(shot))


def told(shot: Path) -> dict[str, Any]:
    return tomllib.loads(shot.read_text(encoding="utf-8"))["object"]


def test_every_role_says_where_its_motion_is() -> None:
    assert set(MOTIONS) == set(ROLES)
    assert all(MOTIONS[role] in keys_of(OBJECT.tables[role].cls) for role in ROLES)


def test_an_obstacle_and_the_one_shell_trade_roles(shot: Path) -> None:
    edited = EditedShot(shot)
    diff = ObjectEdits(edited).play(1, HERO, "shell")
    assert told(shot) == {
        "hero": {"role": "shell", "guide": {"file": "hero.usda", "prim": "/hero"}},
        "coat": {"role": "obstacle", "source": {"file": "coat.usda"}},
    }
    assert '+guide = { file = "hero.usda", prim = "/hero" }' in diff and '-material = "denim"' in diff
    assert shot.read_text().startswith('# of the second act\n[object.hero]\nrole = "shell"\n')
    assert edited.can_undo == (
        "hero: shell instead of obstacle, without friction; "
        "coat: obstacle instead of shell, without mesh, material, track"
    )
    assert list(read_shot(shot).shells) == ["hero"]
    edited.undo(2)
    assert shot.read_text() == SHOT


def test_what_both_roles_understand_stays(tmp_path: Path) -> None:
    bar = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))
    write_mesh(tmp_path / "bar.usdc", bar.surface())
    write_mesh(tmp_path / "bar.msh", bar)
    regions = {"foot": {"vertices": [0, 1, 2]}, "stiff": {"vertices": [3, 4], "material": {"preset": "rubber"}}}
    plan = {
        "role": "plan", "surface": {"file": "bar.usdc"}, "tets": {"file": "bar.msh", "unit": "m"}, "modes": 6,
        "material": {"preset": "rubber", "young": 1e5}, "regions": regions, "fixed": ["foot"],
        "keys": [{"frame": 3, "region": "stiff", "move": [0.1, 0.0, 0.0]}],
    }  # fmt: skip
    settings = {"shot": {"frames": [1, 5]}, "object": {"bar": plan}, "output": {"preview": False}}
    shot = tmp_path / "bar.toml"
    shot.write_text(tomli_w.dumps(settings), encoding="utf-8")
    edited = EditedShot(shot)
    ObjectEdits(edited).play(1, ("object", "bar"), "body")
    assert edited.can_undo == "bar: body instead of plan, without modes, fixed, regions.stiff.material, keys"
    kept = {name: plan[name] for name in ("surface", "tets", "material")}
    regions["stiff"].pop("material")
    assert told(shot)["bar"] == {"role": "body", **kept, "regions": regions}
    with pytest.raises(InputError, match="keys: nothing is asked for, so nothing moves"):
        ObjectEdits(edited).play(2, ("object", "bar"), "plan")


@pytest.mark.parametrize(
    ("path", "role", "why"),
    [
        (COAT, "obstacle", "object.coat.role: is all that is simulated"),
        (COAT, "wrinkle", "object.coat.skin: is missing"),
        (COAT, "plan", "object.coat.keys: nothing is asked for"),
        (("object", "ball"), "shell", r"object.ball.role: a sphere stands in the way .* try: a file or a take"),
        (("object", "bal"), "shell", r"no such object \(got 'object.bal'\); allowed: .*try: 'object.ball'"),
        ((), "shell", "no such object"),
    ],
)
def test_a_role_that_cannot_be_is_a_sentence_and_changes_nothing(
    shot: Path, path: tuple[str, ...], role: str, why: str
) -> None:
    text = SHOT + '\n[object.ball]\nrole = "obstacle"\nsource = { sphere = { centre = [0, 9, 0], radius = 0.2 } }\n'
    shot.write_text(text, encoding="utf-8")
    edited = EditedShot(shot)
    with pytest.raises(InputError, match=why):
        ObjectEdits(edited).play(1, path, role)
    assert shot.read_text() == text and edited.revision == 1


def test_the_role_an_object_has_is_no_edit(shot: Path, edits: ObjectEdits) -> None:
    assert edits.play(1, COAT, "shell") == "" and shot.read_text() == SHOT


def test_what_is_offered(shot: Path, edits: ObjectEdits) -> None:
    (shot.parent / "walk.0001.obj").write_text("v 0 0 0\n")
    (shot.parent / "walk.0002.obj").write_text("v 0 0 0\n")
    (shot.parent / "notes.txt").write_text("")
    found = [(one.group, one.title, one.told) for one in edits.motions(COAT)]
    assert found == [
        ("now", "coat.usda", {"file": "coat.usda"}),
        ("object", "as hero: hero.usda /hero", {"file": "hero.usda", "prim": "/hero"}),
        ("file", "hero.usda", {"file": "hero.usda"}),
        ("file", "walk.####.obj", {"file": "walk.####.obj"}),
    ]
    with pytest.raises(InputError, match="no such object"):
        edits.motions(("object", "scarf"))


def test_finished_takes_and_stages_are_offered(shot: Path) -> None:
    folder = read_shot(shot).run(threads=1).folder
    shutil.copytree(folder, folder.with_name("v002"))
    (folder.with_name("v002") / "report.json").unlink()
    takes = [one.told for one in ObjectEdits(EditedShot(shot)).motions(COAT) if one.group == "take"]
    assert takes == [{"take": "coat/v001"}]
    stages = shot.with_name("both.toml")
    table = '[stage.{0}.object.coat]\nguide = {{ file = "coat.usda" }}\n'
    stages.write_text(table.format("one") + table.format("two").replace('file = "coat.usda"', 'stage = "one"'))
    edited = EditedShot(stages)
    (now, *others) = ObjectEdits(edited).motions(("stage", "two", "object", "coat"))
    assert now.told == {"stage": "one"} and {"file": "coat.usda"} in [one.told for one in others]
    assert ObjectEdits(edited).motions(("stage", "one", "object", "coat"))[1].told == {"stage": "two"}
    with pytest.raises(InputError, match="in a circle"):
        ObjectEdits(edited).follow(1, ("stage", "one", "object", "coat"), {"stage": "two"})


def test_another_motion_is_a_line_in_the_file(shot: Path) -> None:
    edited = EditedShot(shot)
    diff = ObjectEdits(edited).follow(1, COAT, {"file": "hero.usda"})
    assert '-guide = { file = "coat.usda" }\n+guide = { file = "hero.usda" }\n' in diff
    assert edited.can_undo == "coat goes after hero.usda"
    edited.undo(2)
    assert shot.read_text() == SHOT


def test_what_is_said_of_a_file_goes_with_it(shot: Path) -> None:
    shot.write_text(SHOT.replace('prim = "/hero" }', 'prim = "/hero", unit = "cm", sew = false }'))
    edited = EditedShot(shot)
    ObjectEdits(edited).follow(1, HERO, {"file": "coat.usda"})
    assert told(shot)["hero"]["source"] == {"file": "coat.usda", "sew": False}
    assert "sew = false }  # from layout" in shot.read_text()


def test_files_without_a_unit_keep_the_one_that_was_said(shot: Path) -> None:
    for name in ("a.obj", "b.obj"):
        write_mesh(shot.parent / name, turning(1).mesh)
    shot.write_text(SHOT.replace('"hero.usda", prim = "/hero"', '"a.obj", unit = "cm"'))
    edits = ObjectEdits(EditedShot(shot))
    edits.follow(1, HERO, {"file": "b.obj"})
    assert told(shot)["hero"]["source"] == {"file": "b.obj", "unit": "cm"}
    edits.follow(2, HERO, {"file": "hero.usda"})
    assert told(shot)["hero"]["source"] == {"file": "hero.usda"}


def test_a_motion_that_cannot_be_is_a_sentence_and_changes_nothing(shot: Path, edits: ObjectEdits) -> None:
    write_mesh(shot.parent / "still.usda", turning(1).mesh)
    for bad, why in (
        ({"file": "nobody.usda"}, "there is no such file"),
        ({"take": "coat/v009"}, "there is no such take"),
        ({"file": "still.usda"}, "object.coat.guide: .*still.usda"),
        ({"sphere": {"centre": [0, 0, 0], "radius": 1}}, "unknown key"),
    ):
        with pytest.raises(InputError, match=why):
            edits.follow(1, COAT, bad)
    assert shot.read_text() == SHOT


def test_of_a_file_of_several_meshes_one_is_chosen(shot: Path, edits: ObjectEdits) -> None:
    """What such a file holds is looked at where a shot names it, or somebody has tried it."""
    parts = ['def Xform "both"\n{\n']
    for name in ("coat", "hero"):
        text = (shot.parent / f"{name}.usda").read_text()
        parts.append(text[text.index("def Mesh") :])
    head = (shot.parent / "coat.usda").read_text()
    (shot.parent / "both.usda").write_text(head[: head.index("def Mesh")] + "".join(parts) + "}\n")
    prims = [{"file": "both.usda", "prim": f"/both/{name}"} for name in ("coat", "hero")]
    offered = [one.told for one in edits.motions(COAT)]
    assert {"file": "both.usda"} in offered and prims[0] not in offered
    with pytest.raises(InputError, match="holds several meshes"):
        edits.follow(1, COAT, {"file": "both.usda"})
    offered = [one.told for one in edits.motions(COAT)]
    assert {"file": "both.usda"} not in offered and all(one in offered for one in prims)
    edits.follow(1, COAT, prims[0])
    assert told(shot)["coat"]["guide"] == prims[0]
    edits.follow(2, COAT, prims[1])
    assert told(shot)["coat"]["guide"] == prims[1]
