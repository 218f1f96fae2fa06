"""Hostile and damaged USD files: what is checked before USD, which trusts its input, parses them.

Text is refused where it nests too deep for a recursive parser. Packages must be plain: stored entries that the
directory at the end and the headers on the way agree about, sums that are right. Binary layers (crates) get a look at
their table of contents and are then opened once in a process of their own, with little memory and time, since USD can
crash on them. References that multiply without bound are refused before they are followed.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from bunraku.contracts import InputError, input_error
from bunraku.io.files import missing
from bunraku.io.files import unreadable as _system_refusal

_log = logging.getLogger(__name__)

_DEEPEST = 500
"""levels of brackets in a text, or of prims in one another"""
_ARC = 8
"""levels a reference counts for: following many in a row takes USD cubic time"""
_MOST_ENTRIES = 10_000
"""of a package"""
_CRATE, _ZIP = b"PXR-USDC", b"PK\x03\x04"
_LAYERS = (".usd", ".usda", ".usdc")
_PROBE_SECONDS, _PROBE_MEMORY = 20.0, (640 << 20) + (16 << 20) * (os.cpu_count() or 1)
"""[s] and bytes, with the stacks of USD's threads, that a small file may take on being opened"""
_PROBE_GROWTH = 24
"""bytes of memory more for each byte of a file; a second more for each million"""
_EXPANSION = 1020
"""the most numbers a byte of a crate's compressed tables can stand for"""


def check_file(path: Path) -> bool:
    """Refuse a file USD should not be given; whether it holds a crate, and so must be vouched for."""
    if not path.is_file():
        raise missing(path) if not path.exists() else _refused(path, "it is not a file")
    if path.stat().st_size == 0:
        raise _refused(path, "the file is empty")
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _check(memoryview(data).toreadonly(), path, str(path), 0)
    except OSError as error:
        raise _system_refusal(path, error) from error


def _check(data: memoryview, path: Path, name: str, level: int) -> bool:
    """Refuse a layer's or a package's bytes by their kind; whether a crate is among them."""
    with data:
        head = bytes(data[:8])
        if head.startswith(_ZIP):
            return _check_package(data, path, level)
        if head == _CRATE:
            _check_crate(data, path)
            return True
        if PurePosixPath(name).suffix.lower() in _LAYERS:
            _check_text(data, path)
        return False


_HIDDEN = re.compile(
    rb'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'(?:[^\\]|\\.)*?(?:\'\'\'|\Z)|"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?'
    rb"|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|@@@.*?(?:@@@|\Z)|@[^@\n]*@?",
    re.DOTALL,
)
"""strings, comments and asset paths: brackets in them nest nothing; what is never closed goes on to the end, so that
no byte is looked at twice"""


def _check_text(data: memoryview, path: Path) -> None:
    """Refuse text whose brackets nest deeper than a recursive parser's stack."""
    steps = np.zeros(256, np.int8)
    steps[list(b"([{")], steps[list(b")]}")] = 1, -1
    if np.count_nonzero(steps[np.frombuffer(data, np.uint8)] > 0) <= _DEEPEST:
        return
    bare = np.frombuffer(_HIDDEN.sub(b"", data), np.uint8)
    depth = int(np.cumsum(steps[bare], dtype=np.int64).max(initial=0))
    if depth > _DEEPEST:
        raise _refused(path, f"brackets nested {depth} deep", f"{_DEEPEST}")


def _check_crate(data: memoryview, path: Path) -> None:
    """Refuse a crate whose tables lie outside it or claim more than their bytes can hold."""
    size = len(data)
    if size < 88:
        raise _refused(path, f"a binary layer of {size} bytes")
    (table,) = struct.unpack_from("<q", data, 16)
    (count,) = struct.unpack_from("<Q", data, table) if 88 <= table <= size - 8 else (0,)
    if not 0 < count <= min(100, (size - table - 8) // 32):
        raise _refused(path, "a binary layer cut short or damaged")
    for k in range(count):
        title, start, length = struct.unpack_from("<16sqq", data, table + 8 + 32 * k)
        if not (88 <= start and 0 <= length and start + length <= size):
            raise _refused(path, f"a damaged binary layer, section {_word(title)!r} outside the file")
        (claimed,) = struct.unpack_from("<Q", data, start) if length >= 8 else (0,)
        if claimed > _EXPANSION * length:
            raise _refused(path, f"a damaged binary layer, {claimed} entries in {length} bytes")


def _word(title: bytes) -> str:
    return title.split(b"\0")[0].decode("ascii", "replace")


def _check_package(data: memoryview, path: Path, level: int) -> bool:
    """Refuse a usdz that is not plain: USD walks the headers from the first byte, others read the directory."""
    entries = _directory(data, path)
    crate, place = False, 0
    for number, entry in enumerate(entries):
        start, name = _local_header(data, place, entry, path)
        end = start + entry.file_size
        if end > len(data):
            raise _refused(path, f"the entry {name!r} ends outside the package")
        if number == 0 and PurePosixPath(name).suffix.lower() not in _LAYERS:
            raise _refused(path, f"its first entry is {name!r}", "a USD layer first")
        if zlib.crc32(data[start:end]) != entry.CRC:
            raise _refused(path, f"the entry {name!r} is damaged, its sum is wrong")
        if PurePosixPath(name).suffix.lower() in (*_LAYERS, ".usdz"):
            if level > 2:
                raise _refused(path, "packages in packages in packages")
            crate |= _check(data[start:end], path, name, level + 1)
        place = end
    return crate


def _directory(data: memoryview, path: Path) -> list[zipfile.ZipInfo]:
    """The entries a package's directory names, in the order of their bytes."""
    try:
        with zipfile.ZipFile(_Window(data)) as package:
            entries = sorted(package.infolist(), key=lambda entry: entry.header_offset)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error) as error:
        raise _refused(path, f"no whole package: {error}") from None
    names = [entry.filename for entry in entries]
    if not 0 < len(entries) <= _MOST_ENTRIES:
        raise _refused(path, f"a package of {len(entries)} entries", f"1 to {_MOST_ENTRIES}")
    if len(set(names)) < len(names):
        raise _refused(path, "two entries of one name")
    for entry in entries:
        parts = PurePosixPath(entry.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in entry.filename:
            raise _refused(path, f"the entry {entry.filename!r} leaves the package")
        if entry.flag_bits & 1:
            raise _refused(path, f"the entry {entry.filename!r} is encrypted")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise _refused(path, f"the entry {entry.filename!r} is compressed", "stored entries")
    return entries


def _local_header(data: memoryview, place: int, entry: zipfile.ZipInfo, path: Path) -> tuple[int, str]:
    """Where an entry's bytes begin, and its name, by the header before it; refused where the directory disagrees."""
    if entry.header_offset != place or place + 30 > len(data):
        raise _refused(path, f"bytes between the entries, before {entry.filename!r}")
    mark, flags, method, stored, size, name_length, extra = struct.unpack_from("<4s2xHH8xII HH", data, place)
    name = bytes(data[place + 30 : place + 30 + name_length])
    same = (mark, method, stored, size) == (_ZIP, entry.compress_type, entry.compress_size, entry.file_size)
    if not same or flags & 0b1001 or name.decode("utf-8", "replace") != entry.filename:
        raise _refused(path, f"the header and the directory disagree about {entry.filename!r}")
    return place + 30 + name_length + extra, entry.filename


class _Window:
    """Bytes as the seekable file `zipfile` wants, not copied."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._place = data, 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = 0) -> int:
        self._place = max(0, offset + (0, self._place, len(self._data))[whence])
        return self._place

    def read(self, count: int = -1) -> bytes:
        end = len(self._data) if count is None or count < 0 else min(len(self._data), self._place + count)
        found = bytes(self._data[self._place : end])
        self._place += len(found)
        return found

    def close(self) -> None:
        pass


_PROBE = """
import json, os, sys
path, sys.path[:], memory, seconds = json.loads(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (2 * seconds, 2 * seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass
from pxr import Sdf, Usd, UsdGeom, UsdSkel
def visit(spec):
    if spec:
        spec.instanceable, spec.referenceList, spec.payloadList, spec.inheritPathList, spec.specializesList
        variants = [one.primSpec for each in spec.variantSets.values() for one in each.variants.values()]
        for child in [*spec.nameChildren, *variants]:
            visit(child)
def inspect(layer):
    layer.GetCompositionAssetDependencies()
    for spec in layer.rootPrims:
        visit(spec)
def fetch(attribute):
    times = attribute.GetTimeSamples()
    attribute.Get()
    for time in [*times[:5000], *times[5000:][-5000:]]:
        attribute.Get(time)
def attempt(step, *given):
    try:
        return step(*given)
    except MemoryError:
        os._exit(9)
    except UnicodeError:
        return None
    except Exception as error:
        if 'Corrupt asset' in told(error):
            os._exit(8)
        return None
def told(error):
    try:
        return str(error)
    except UnicodeError:
        return ''
root = attempt(Sdf.Layer.FindOrOpen, path)
if root:
    attempt(inspect, root)
stage = attempt(Usd.Stage.Open, path)
if stage:
    attempt(stage.GetCompositionErrors)
    for layer in attempt(stage.GetUsedLayers) or []:
        attempt(inspect, layer)
    for prim in attempt(lambda: list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))) or []:
        for attribute in attempt(prim.GetAuthoredAttributes) or []:
            attempt(fetch, attribute)
os._exit(0)
"""
_vouched: set[tuple[str, int, int]] = set()


def is_vouched(path: Path) -> bool:
    """Whether a crate has been opened without harm since it was last written."""
    return _key(path) in _vouched


def vouch(paths: Iterable[Path]) -> None:
    """Remember files that have been opened without harm."""
    _vouched.update(map(_key, paths))


def _key(path: Path) -> tuple[str, int, int]:
    facts = path.stat()
    return os.path.realpath(path), facts.st_size, facts.st_mtime_ns


def probe(path: Path) -> None:
    """Open a file in another process, once, and refuse it where that process dies, or takes too long or too much.

    About 0.2 s. Left out where there is no Python to start, as inside other programs.
    """
    if not Path(sys.executable or "").name.lower().startswith("python"):
        _log.debug("%s is not tried in a process of its own: %s is no Python", path, sys.executable)
        return
    size = path.stat().st_size
    seconds, memory = _PROBE_SECONDS + size / 1e6, _PROBE_MEMORY + _PROBE_GROWTH * size
    job = json.dumps([str(path), sys.path, memory, int(seconds) + 1])
    try:
        with tempfile.TemporaryDirectory() as scratch:  # where USD leaves the report of a crash
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _PROBE, job], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=seconds, check=False, env={**os.environ, "TMPDIR": scratch},
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _refused(path, f"not opened within {seconds:.0f} s") from None
    except OSError as error:
        _log.debug("%s is not tried in a process of its own: %s", path, error)
        return
    if done.returncode == 9:
        raise _refused(path, "it asks for more memory than a file of its size can mean")
    if done.returncode not in (0, 1):
        raise _refused(path, "a damaged binary layer" + ("" if done.returncode == 8 else ", USD crashes on it"))


_ARCS = {"references", "payload", "inheritPaths", "specializes"}


def check_growth(layers: list[Any], most: int, where: str, find: Callable[[Any, str], Any]) -> None:
    """Refuse references that nest too deep or multiply to more than `most` prims, before USD follows them.

    `layers`: the root layer and all it refers to; `find(layer, asset)` gives the one of an asset path, or None.
    """
    known: dict[tuple[str, str], tuple[int, int]] = {}
    too_deep = _refused(
        Path(where), "prims or references nested too deep", f"{_DEEPEST} prims, {_DEEPEST // _ARC} references"
    )

    def grown(layer: Any, spec: Any, depth: int) -> tuple[int, int]:
        """How many prims a prim spec becomes and how deep they nest; (0, 0) within itself, as USD cuts circles."""
        if not spec:  # named by its parent but not there; to touch it is fatal
            raise _refused(Path(where), "a damaged binary layer, prims without their data")
        key = (layer.identifier, str(spec.path))
        if key in known:
            return known[key]
        if depth > _DEEPEST:
            raise too_deep
        known[key] = (0, 0)
        said = set(spec.ListInfoKeys())
        parts = [(1, *grown(layer, child, depth + 1)) for child in spec.nameChildren]
        targets = _targets(layers, layer, spec, find) if said & _ARCS else []
        parts += [(_ARC, *grown(*target, depth + _ARC)) for target in targets]
        for variants in spec.variantSets.values() if "variantSetNames" in said else ():
            each = [(1, *grown(layer, one.primSpec, depth + 1)) for one in variants.variants.values()]
            parts += [max(each, key=lambda part: part[1])] if each else []
        total, height = 1 + sum(part[1] for part in parts), max((part[0] + part[2] for part in parts), default=0)
        if height > _DEEPEST:
            raise too_deep
        if total > most:
            raise _refused(Path(where), "its references multiply without bound", f"{most} prims")
        known[key] = (1 if "instanceable" in said and spec.instanceable else total, height)
        return total, height

    for layer in layers[:1] + [one for one in layers[1:] if one.subLayerPaths]:
        for spec in layer.rootPrims:
            grown(layer, spec, 0)


def _targets(layers: list[Any], layer: Any, spec: Any, find: Callable[[Any, str], Any]) -> list[tuple[Any, Any]]:
    """The layer and prim spec of everything a prim spec refers to."""
    places: list[tuple[Any, Any]] = []
    arcs = [*spec.referenceList.GetAddedOrExplicitItems()] if spec.hasReferences else []
    arcs += [*spec.payloadList.GetAddedOrExplicitItems()] if spec.hasPayloads else []
    for arc in arcs:
        other = find(layer, arc.assetPath) if arc.assetPath else layer
        if other is not None:
            name = str(arc.primPath) or (other.defaultPrim and "/" + other.defaultPrim.strip("/"))
            places.append((other, name))
    paths = [*spec.inheritPathList.GetAddedOrExplicitItems()] if spec.hasInheritPaths else []
    paths += [*spec.specializesList.GetAddedOrExplicitItems()] if spec.hasSpecializes else []
    places += [(layer, str(path)) for path in paths]
    found: list[tuple[Any, Any]] = []
    for other, name in places:
        owners = [other, *layers] if other is layer else [other]
        owner = next((one for one in owners if name and one.GetPrimAtPath(name)), None)
        if owner is not None:
            found.append((owner, owner.GetPrimAtPath(name)))
    return found


def _refused(path: Path, got: str, allowed: str = "") -> InputError:
    remedy = "open it in usdview or re-export it"
    return input_error("cannot be read as USD", where=str(path), got=got, allowed=allowed, remedy=remedy)
