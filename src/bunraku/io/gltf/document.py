"""The container: .glb chunks or .gltf text, its extensions, and the bytes of its buffers."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from bunraku.contracts import input_error
from bunraku.io.files import missing, read_bytes, unreadable

from .fields import Entry, parse, shown

_MAGIC = b"glTF"
_JSON_CHUNK, _BIN_CHUNK = 0x4E4F534A, 0x004E4942
_LONGEST_NAME = 1000  # characters of a buffer's path
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_SHAPELESS = re.compile(
    r"KHR_(materials|texture|lights|xmp|animation|audio|environment|node)_?\w*|EXT_(texture|lights|materials)_\w+"
    r"|MSFT_(texture_dds|packing_\w+)|ADOBE_materials_\w+|KHR_mesh_quantization"
)
"""required extensions that do not change a shape, or that are understood"""
_COMPRESSED = {"KHR_draco_mesh_compression": "Draco", "EXT_meshopt_compression": "meshopt",
               "KHR_meshopt_compression": "meshopt"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Document:
    """A glTF file: its JSON, and buffers loaded when they are first needed."""

    path: Path
    root: Entry
    binary: bytes | None
    """the .glb's own buffer"""
    size: int
    """[bytes] of the file itself"""
    _buffers: dict[int, bytes] = field(default_factory=dict)
    _files: dict[Path, bytes] = field(default_factory=dict)

    def entry(self, kind: str, index: int, by: Entry) -> Entry:
        """`kind`[index], named by another object of the file."""
        count = self.root.count(kind)
        if index >= count:
            by.refuse(f"names {kind}[{index}], which the file does not have", allowed=f"0 to {count - 1}" if count
                      else "none, it has no such list")  # fmt: skip
        return self.root.at(kind, index)

    def byte_count(self) -> int:
        """Bytes of the file and of the buffers loaded so far."""
        distinct = {id(data): len(data) for data in self._buffers.values() if data is not self.binary}
        return self.size + sum(distinct.values())

    def buffer(self, index: int, by: Entry) -> bytes:
        """The bytes of a buffer, as many at least as it declares."""
        if index not in self._buffers:
            entry = self.entry("buffers", index, by)
            data = self._load(entry, index)
            if entry.integer("byteLength") > len(data):
                entry.refuse(
                    "the buffer is shorter than it declares", f"{len(data)} bytes",
                    f"{entry.integer('byteLength')} bytes", "copy the file again, it may be truncated",
                )  # fmt: skip
            self._buffers[index] = data
        return self._buffers[index]

    def _load(self, entry: Entry, index: int) -> bytes:
        if entry.has("uri"):
            uri = entry.values["uri"]
            if not isinstance(uri, str):
                entry.refuse("'uri' must be a text", uri)
            return _embedded(entry, uri) if uri[:5].lower() == "data:" else self._beside(entry, uri)
        if index == 0 and self.binary is not None:
            return self.binary
        for extension in entry.entry("extensions").values:
            if extension in _COMPRESSED:
                raise compressed(entry.where, extension)
        entry.refuse("the buffer has neither a 'uri' nor bytes in the file")

    def _beside(self, entry: Entry, uri: str) -> bytes:
        """The bytes of a file a buffer names."""
        target = named_file(self.path, entry, uri)
        if target not in self._files:
            try:
                if not target.exists():
                    raise missing(target)
                if not target.is_file():
                    entry.refuse("the buffer's uri names no file", uri)
                self._files[target] = read_bytes(target)
            except OSError as error:
                raise unreadable(target, error) from error
        return self._files[target]


def named_file(path: Path, entry: Entry, uri: str) -> Path:
    """The file a buffer's uri names: beside the .gltf or below it, else refused."""
    name = unquote(uri).replace("\\", "/")
    remedy = "put the buffer beside the .gltf, or export one .glb file"
    if _SCHEME.match(name):
        entry.refuse(
            "buffers are not fetched from elsewhere", shown(uri), "a file beside the .gltf or below it", remedy
        )
    if name.startswith("/") or ".." in name.split("/"):
        entry.refuse("the buffer's uri leaves the folder", shown(uri), "a file beside the .gltf or below it", remedy)
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        entry.refuse("the buffer's uri is no name of a file", shown(uri), remedy=remedy)
    return path.parent / name


def _embedded(entry: Entry, uri: str) -> bytes:
    """The bytes of a data URI."""
    head, comma, body = uri.partition(",")
    if not comma:
        entry.refuse("the buffer's data URI has no data", shown(uri))
    if not head.lower().endswith(";base64"):
        return unquote_to_bytes(body.encode("utf-8", "replace"))
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        entry.refuse("the buffer's data URI is not base64", str(error))


def read_document(path: Path) -> Document:
    """Read a .glb or .gltf file, told apart by content; refused where a required extension is not understood."""
    if path.is_dir():
        raise input_error("is a folder", where=str(path), allowed="a .gltf or .glb file")
    data = read_bytes(path)
    if data[:4] == _MAGIC:
        text, binary = _split(data, path)
    else:
        text, binary = data, None
    if not text.strip(b"\x00 \t\r\n"):
        raise input_error("is empty", where=str(path), got=f"{len(data)} bytes", remedy="export it again")
    document = Document(path, parse(text, str(path)), binary, len(data))
    _check_version(document)
    _check_extensions(document)
    return document


def compressed(where: str, extension: str) -> Exception:
    """The refusal of a compressed mesh."""
    kind = _COMPRESSED[extension]
    return input_error(
        f"the mesh is compressed with {kind}", where=where, got=extension,
        remedy=f"export it without {kind} compression, or run 'gltf-transform copy in.glb out.glb'",
    )  # fmt: skip


def _split(data: bytes, path: Path) -> tuple[bytes, bytes | None]:
    """JSON and buffer of a .glb."""
    remedy = "copy the file again, it may be truncated"
    if len(data) < 20:
        raise input_error("the GLB ends in its header", where=str(path), got=f"{len(data)} bytes", remedy=remedy)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise input_error("only GLB version 2 is read", where=str(path), got=version, remedy="export glTF 2.0")
    if length > len(data):
        raise input_error(
            "the GLB is shorter than it declares", where=str(path), got=f"{len(data)} bytes",
            allowed=f"{length} bytes", remedy=remedy,
        )  # fmt: skip
    chunks = dict(reversed(list(_chunks(data[:length], path))))  # the first of a kind counts
    if _JSON_CHUNK not in chunks:
        raise input_error("the GLB has no JSON chunk", where=str(path), remedy="export it again")
    return chunks[_JSON_CHUNK], chunks.get(_BIN_CHUNK)


def _chunks(data: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    place = 12
    while place + 8 <= len(data):
        length, kind = struct.unpack_from("<II", data, place)
        if place + 8 + length > len(data):
            raise input_error(
                "a chunk of the GLB is longer than the file", where=str(path), got=f"{length} bytes",
                allowed=f"up to {len(data) - place - 8}", remedy="copy the file again, it may be truncated",
            )  # fmt: skip
        if kind in (_JSON_CHUNK, _BIN_CHUNK):
            yield kind, data[place + 8 : place + 8 + length]
        place += 8 + length


def _check_version(document: Document) -> None:
    asset = document.root.entry("asset")
    version = asset.text("minVersion", asset.text("version", ""))
    if version.split(".")[0] != "2":
        asset.refuse("only glTF 2.0 is read", version or "no asset version", "2.0", "export glTF 2.0")


def _check_extensions(document: Document) -> None:
    for name in document.root.texts("extensionsRequired"):
        if name in _COMPRESSED:
            raise compressed(str(document.path), name)
        if not _SHAPELESS.fullmatch(name):
            document.root.refuse(
                "requires an extension that is not understood", shown(name),
                "plain glTF 2.0, KHR_mesh_quantization, materials, textures, lights",
                f"export it without {shown(name)}",
            )  # fmt: skip
