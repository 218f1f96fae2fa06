"""USD files made to harm: packages with tricks, nests, references that multiply, tables that lie."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pxr import Usd, UsdUtils

from bunraku.contracts import InputError
from bunraku.io import read_clip, read_mesh
from bunraku.io.usd import safety
from bunraku.io.usd.safety import check_file

Stage = Callable[..., Path]

STILL = """def Mesh "tri" {
  int[] faceVertexCounts = [3]
  int[] faceVertexIndices = [0, 1, 2]
  point3f[] points = [(0,0,0), (1,0,0), (0,1,2)] }"""


@pytest.fixture
def layer(stage: Stage) -> Path:
    return stage(STILL, "tri.usda")


@pytest.fixture
def crate(layer: Path) -> Path:
    Usd.Stage.Open(str(layer)).Export(str(layer.with_suffix(".usdc")))
    return layer.with_suffix(".usdc")


def packed(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as package:
        for name, data in entries.items():
            package.writestr(name, data)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError, match="cannot be read as USD") as caught:
        read_clip(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    return str(caught.value)


def test_a_plain_package_passes(layer: Path, tmp_path: Path) -> None:
    assert read_mesh(packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes(), "tex/a.png": b"x"})).point_count == 3


def test_packages_usd_makes_pass(layer: Path, crate: Path, tmp_path: Path) -> None:
    for source in (layer, crate):
        assert UsdUtils.CreateNewUsdzPackage(str(source), str(tmp_path / "a.usdz"))
        assert check_file(tmp_path / "a.usdz") is (source is crate)


@pytest.mark.parametrize("name", ["../tri.usda", "/tri.usda", "a/../../tri.usda", "..\\tri.usda", "C:\\tri.usda"])
def test_entries_that_leave_the_package(layer: Path, tmp_path: Path, name: str) -> None:
    text = layer.read_bytes()
    assert "leaves the package" in refusal(packed(tmp_path / "a.usdz", {"tri.usda": text, name: text}))


def test_compressed_entries(layer: Path, tmp_path: Path) -> None:
    bomb = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes() + b" " * 10_000_000}, zipfile.ZIP_DEFLATED)
    assert bomb.stat().st_size < 100_000
    assert "compressed" in refusal(bomb)


def test_encrypted_entries(layer: Path, tmp_path: Path) -> None:
    package = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes()})
    data = bytearray(package.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    package.write_bytes(data)
    assert "encrypted" in refusal(package)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name(layer: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.usdz", "w") as package:
        for _ in range(2):
            package.writestr("tri.usda", layer.read_bytes())
    assert "two entries of one name" in refusal(tmp_path / "a.usdz")


def test_too_many_entries(layer: Path, tmp_path: Path) -> None:
    entries = {"tri.usda": layer.read_bytes()} | {f"{k}.txt": b"" for k in range(10_001)}
    assert "10002 entries" in refusal(packed(tmp_path / "a.usdz", entries))


def test_the_first_entry_must_be_a_layer(layer: Path, tmp_path: Path) -> None:
    assert "first entry" in refusal(packed(tmp_path / "a.usdz", {"a.png": b"x", "tri.usda": layer.read_bytes()}))


def test_headers_that_disagree_with_the_directory(layer: Path, tmp_path: Path) -> None:
    package = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes()})
    whole = package.read_bytes()
    package.write_bytes(whole.replace(b"tri.usda", b"tra.usda", 1))
    assert "disagree" in refusal(package)
    package.write_bytes(whole[:22] + struct.pack("<I", 1 << 31) + whole[26:])
    assert "disagree" in refusal(package)
    package.write_bytes(b"hidden" + whole)  # zip readers forgive what stands before
    refusal(package)


def test_a_wrong_sum(layer: Path, tmp_path: Path) -> None:
    package = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes()})
    package.write_bytes(package.read_bytes().replace(b"(1,0,0)", b"(2,0,0)"))
    assert "its sum is wrong" in refusal(package)


def test_packages_in_packages(layer: Path, tmp_path: Path) -> None:
    inner = layer.read_bytes()
    for _ in range(6):
        inner = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes(), "more.usdz": inner}).read_bytes()
    assert "packages in packages" in refusal(tmp_path / "a.usdz")


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_packages_cut_short(layer: Path, tmp_path: Path, cut: float) -> None:
    package = packed(tmp_path / "a.usdz", {"tri.usda": layer.read_bytes(), "more.usda": layer.read_bytes()})
    whole = package.read_bytes()
    package.write_bytes(whole[: int(len(whole) * cut)])
    refusal(package)


NESTS = {
    "prims": ('def "a" {\n', "}\n"), "dictionaries": ("dictionary d = {\n", "}\n"), "tuples": ("(", ")"),
    "lists": ("[", "]"), "hidden": ('def "}}}}" { # }}}}\n', "}\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NESTS)
def test_text_nested_too_deep(tmp_path: Path, kind: str) -> None:
    path, (begin, end) = tmp_path / "deep.usda", NESTS[kind]
    path.write_text("#usda 1.0\n" + begin * 100_000 + end * 100_000)
    start = time.perf_counter()
    assert "nested 100000 deep" in refusal(path)
    assert time.perf_counter() - start < 2.0


def test_brackets_in_strings_do_not_nest(stage: Stage) -> None:
    note = f'string note = "{"{" * 2000}" # {"(" * 2000}\n string more = """{"[" * 2000}\n"""\n'
    assert read_mesh(stage(STILL.replace("int[] faceVertexCounts", note + "int[] faceVertexCounts"))).point_count == 3


def test_text_nested_as_rigs_are(stage: Stage) -> None:
    body = "".join(f'def Xform "j{k}" {{\n' for k in range(200)) + STILL + "\n}" * 200
    assert read_clip(stage(body)).prim_path.count("/") == 201


def test_references_that_multiply(stage: Stage) -> None:
    levels = [STILL.replace('"tri"', '"l0"')]
    for k in range(1, 40):
        twice = "".join(f'def "{name}" ( references = </l{k - 1}> ) {{ }}\n' for name in "xy")
        levels.append(f'def Xform "l{k}" {{\n{twice}}}')
    start = time.perf_counter()
    assert "multiply without bound" in refusal(stage("\n".join(levels)))
    assert time.perf_counter() - start < 2.0


def test_files_that_multiply(stage: Stage) -> None:
    stage(f'def Xform "a" {{ {STILL} }}', "l0.usda", defaultPrim='"a"')
    last = Path()
    for k in range(1, 30):
        twice = "".join(f'def "{name}" ( payload = @./l{k - 1}.usda@ ) {{ }}\n' for name in "xy")
        last = stage(f'def Xform "a" {{\n{twice}}}', f"l{k}.usda", defaultPrim='"a"')
    assert "multiply without bound" in refusal(last)


def test_a_long_chain_of_references(stage: Stage) -> None:
    body = STILL.replace('"tri"', '"l0"') + "\n"
    body += "\n".join(f'def "l{k}" ( references = </l{k - 1}> ) {{ }}' for k in range(1, 300))
    assert "nested too deep" in refusal(stage(body))


def test_a_file_that_refers_to_itself(stage: Stage) -> None:
    path = stage(f'def Xform "a" ( references = @./other.usda@</a> ) {{ {STILL} }}')
    assert read_clip(path).prim_path == "/a/tri"


@pytest.mark.parametrize("size", [8, 87, 88, 200])
def test_crates_cut_short(crate: Path, size: int) -> None:
    whole = crate.read_bytes()
    crate.write_bytes(whole[:size])
    refusal(crate)
    crate.write_bytes(whole[:-size])
    refusal(crate)


def sections(data: bytes | bytearray) -> dict[str, int]:
    """Where each section of a crate begins."""
    (table,) = struct.unpack_from("<q", data, 16)
    (count,) = struct.unpack_from("<Q", data, table)
    found = [struct.unpack_from("<16sqq", data, table + 8 + 32 * k) for k in range(count)]
    return {name.rstrip(b"\0").decode(): start for name, start, _ in found}


@pytest.mark.parametrize("name", ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"])
def test_tables_that_claim_a_thousand_million_entries(crate: Path, name: str) -> None:
    data = bytearray(crate.read_bytes())
    struct.pack_into("<Q", data, sections(data)[name], 10**9)
    crate.write_bytes(data)
    assert "1000000000 entries" in refusal(crate)


@pytest.mark.parametrize("start", [-1, 0, 1 << 40, (1 << 63) - 1])
def test_sections_outside_the_file(crate: Path, start: int) -> None:
    data = bytearray(crate.read_bytes())
    (table,) = struct.unpack_from("<q", data, 16)
    struct.pack_into("<q", data, table + 8 + 16, start)
    crate.write_bytes(data)
    assert "outside the file" in refusal(crate)


def test_a_crate_that_kills_its_reader_is_refused(crate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code, message in (
        ("import os; os.abort()", "crashes"),
        ("import time; time.sleep(60)", "not opened within"),
        ("import os; os._exit(9)", "more memory"),
    ):
        monkeypatch.setattr(safety, "_PROBE", code)
        monkeypatch.setattr(safety, "_PROBE_SECONDS", 1.0)
        assert message in refusal(crate)
    monkeypatch.undo()
    assert read_mesh(crate).point_count == 3


def test_a_crate_is_tried_once_and_anew_when_it_changes(crate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_mesh(crate)
    monkeypatch.setattr(safety, "_PROBE", "import os; os.abort()")
    assert read_mesh(crate).point_count == 3
    os.utime(crate, ns=(1, 1))
    refusal(crate)


def test_a_crate_behind_a_reference_is_tried(stage: Stage, crate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = crate.with_name("known.usdc")
    known.write_bytes(crate.read_bytes())
    read_mesh(known)
    both = "references = [@./known.usdc@</tri>, @./tri.usdc@</tri>]"
    shot = stage(f'def "a" ( {both} ) {{ }}', "shot.usda")
    monkeypatch.setattr(safety, "_PROBE", "import os; os.abort()")
    refusal(shot)
    monkeypatch.undo()
    assert read_clip(shot).prim_path == "/a"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file(tmp_path: Path, stage: Stage) -> None:
    os.mkfifo(tmp_path / "pipe.usda")
    assert "not a file" in refusal(tmp_path / "pipe.usda")
    shot = stage('def "a" ( references = @./pipe.usda@ ) { }', "shot.usda")
    with pytest.raises(InputError, match=r"pipe\.usda: cannot be read as USD \(got 'it is not a file'\)"):
        read_clip(shot)


@pytest.mark.parametrize("text", ["/*", '"\\', "'''\\", '"""\\', "@", "@@@", "'"])
def test_what_is_never_closed_takes_no_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "open.usda").write_text("#usda 1.0\n" + "(" * 501 + text * 200_000)
    start = time.perf_counter()
    refusal(tmp_path / "open.usda")
    assert time.perf_counter() - start < 2.0
