"""Opening USD stages without harm, the meshes on them, and what USD says in our words."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from pxr import Ar, Pcp, Sdf, Tf, Usd, UsdGeom, UsdUtils

from bunraku.contracts import InputError, input_error
from bunraku.io.prims import choose_mesh

from .safety import check_file, check_growth, is_vouched, probe, vouch

_log = logging.getLogger(__name__)

MOST_PRIMS = 500_000
"""on a stage, instances counted each"""
_MOST_MESSAGES = 8
"""of USD's own that are passed on"""
_USD_ERRORS = (
    Tf.ErrorException, getattr(Tf, "CppException", Tf.ErrorException), UnicodeError, MemoryError, OverflowError,
)  # fmt: skip
_PROXIES = Usd.TraverseInstanceProxies


@contextmanager
def usd_session(path: Path) -> Iterator[None]:
    """USD at work on a file: its messages go to the log, its errors become one sentence."""
    with _messages(path):
        try:
            yield
        except _USD_ERRORS as error:
            raise unreadable(path, error) from None


def open_stage(path: Path) -> Usd.Stage:
    """The stage of a file, every layer of it checked before USD parses it."""
    with usd_session(path):
        layers = _open_layers(path)
        return Usd.Stage.Open(layers[0])


def used_files(path: Path) -> list[Path]:
    """The file and every layer it is composed of, with the files of value clips; packages count as one file."""
    stage = open_stage(path)
    with usd_session(path):
        layers = [layer.realPath for layer in stage.GetUsedLayers() if layer.realPath]
        real = {Path(Ar.SplitPackageRelativePathOuter(one)[0]) for one in layers}
        clips = {file for prim in Usd.PrimRange.Stage(stage, _PROXIES()) for file in _clip_files(prim)}
    return sorted(real | clips | {path.resolve()})


def _open_layers(path: Path) -> list[Sdf.Layer]:
    """The file's layer and those it refers to, each checked first; keeps them open as long as the list lives."""
    crates = _checked(path, path, [])
    root = Sdf.Layer.FindOrOpen(str(path))
    if root is None:
        raise input_error("cannot be read as USD", where=str(path), remedy="open it in usdview or re-export it")
    layers, known = [root], {root.identifier}
    for layer in layers:
        # USD keeps open files in memory: take what has changed on disk, but no one's unsaved edits.
        if not layer.dirty:
            layer.Reload()
        for asset in filter(None, layer.GetCompositionAssetDependencies()):
            name = Sdf.Layer.SplitIdentifier(Sdf.ComputeAssetPathRelativeToLayer(layer, asset))[0]
            if name not in known:
                known.add(name)
                layers += _open_dependency(path, name, crates)
    check_growth(layers, MOST_PRIMS, str(path), Sdf.Layer.FindRelativeToLayer)
    vouch(crates)
    return layers


def _open_dependency(root: Path, name: str, crates: list[Path]) -> list[Sdf.Layer]:
    """[the layer of an identifier]; [] where it is missing or broken, which USD says on composing."""
    resolved = str(Ar.GetResolver().Resolve(name))
    if not resolved:
        return []
    _checked(Path(Ar.SplitPackageRelativePathOuter(resolved)[0]), root, crates)
    try:
        found = Sdf.Layer.FindOrOpen(name)
    except Tf.ErrorException:
        found = None
    return [] if found is None else [found]


def _checked(path: Path, root: Path, crates: list[Path]) -> list[Path]:
    """Refuse a file that must not be parsed. `crates`, which it returns: those found that no one has vouched for.

    The first of them has the whole stage of `root` tried in another process.
    """
    if check_file(path) and not is_vouched(path):
        if not crates:
            probe(root)
        crates.append(path)
    return crates


def check_clips(path: Path, prim: Usd.Prim) -> None:
    """Refuse value clips of a prim that must not be parsed: USD opens them only when it needs their values."""
    crates: list[Path] = []
    while prim and not prim.IsPseudoRoot():
        for file in _clip_files(prim):
            _checked(file, path, crates)
        prim = prim.GetParent()
    vouch(crates)


def _clip_files(prim: Usd.Prim) -> list[Path]:
    """The files of a prim's value clips that are there."""
    clips, assets = Usd.ClipsAPI(prim), []
    for name in clips.GetClips() or {}:
        template = clips.GetClipTemplateAssetPath(name)
        assets += (clips.ComputeClipAssetPaths(name) if template else clips.GetClipAssetPaths(name)) or []
        assets += [one for one in [clips.GetClipManifestAssetPath(name)] if one]
    found = [Path(Ar.SplitPackageRelativePathOuter(one.resolvedPath)[0]) for one in assets if one.resolvedPath]
    return [file for file in found if file.is_file()]


def find_mesh(stage: Usd.Stage, path: Path, name: str | None, schema: type = UsdGeom.Mesh) -> Usd.Prim:
    """The mesh prim meant, or that of another schema: the only one, or the one at, under or ending in `name`.

    Where several fit, those of purpose `guide` are passed over, if that leaves one: what we write demotes the guide
    to it. Hidden meshes and proxies count like any other: which one is meant is asked, not guessed.
    """
    meshes = _meshes(stage, schema)
    kind, remedy = ("mesh", "export a mesh prim")
    if schema is UsdGeom.TetMesh:
        kind, remedy = ("body of tetrahedra (TetMesh)", "read its surface with read_mesh, and tetrahedralise that")
    if not meshes:
        raise input_error(f"holds no {kind}", where=str(path), got=_contents(stage), remedy=remedy)
    what = "mesh" if schema is UsdGeom.Mesh else "solid"
    return meshes[choose_mesh(list(meshes), name, path, lambda one: _is_guide(meshes[one]), what)]


def mesh_paths(path: Path) -> list[str]:
    """The paths of a file's mesh prims, those of purpose `guide` left out where others are left."""
    stage = open_stage(path)
    with usd_session(path):
        meshes = _meshes(stage, UsdGeom.Mesh)
        shown = [one for one, prim in meshes.items() if not _is_guide(prim)]
        return shown or list(meshes)


def _meshes(stage: Usd.Stage, schema: type) -> dict[str, Usd.Prim]:
    everything = Usd.PrimRange.Stage(stage, _PROXIES())
    return {str(prim.GetPath()): prim for prim in islice(everything, MOST_PRIMS) if prim.IsA(schema)}


def _is_guide(prim: Usd.Prim) -> bool:
    return UsdGeom.Imageable(prim).ComputePurpose() == UsdGeom.Tokens.guide


def _contents(stage: Usd.Stage) -> str:
    """What is on a stage without meshes: its prims' types, and what could not be composed."""
    kinds = sorted({str(prim.GetTypeName()) for prim in islice(stage.Traverse(), MOST_PRIMS)} - {""})
    return "; ".join([", ".join(kinds) or "an empty stage", *composition_errors(stage)])


def composition_errors(stage: Usd.Stage) -> list[str]:
    """What USD could not compose, a sentence each and each once."""
    said = list(dict.fromkeys(_sentence(error) for error in stage.GetCompositionErrors()))
    more = [f"and {len(said) - _MOST_MESSAGES} more like these"] if len(said) > _MOST_MESSAGES else []
    return said[:_MOST_MESSAGES] + more


def _sentence(error: Pcp.ErrorBase) -> str:
    """A composition error in our words."""
    text, site = str(error), str(error.rootSite.path)
    names = text.split("@")[1::2]
    asset = names[0] if names else "?"
    if isinstance(error, Pcp.ErrorInvalidSublayerPath):
        return f"the sublayer {asset} is missing or cannot be read"
    if isinstance(error, Pcp.ErrorInvalidAssetPath):
        return f"the file {asset} that <{site}> refers to is missing or cannot be read"
    if isinstance(error, Pcp.ErrorUnresolvedPrimPath):
        target = text.split("<", 1)[-1].split(">", 1)[0]
        return f"<{site}> refers to <{target}>, which is not in {asset}"
    if isinstance(error, Pcp.ErrorArcCycle):
        return f"the references at <{site}> run in a circle"
    if isinstance(error, Pcp.ErrorSublayerCycle):
        return "the sublayers run in a circle"
    return _one_line(text)


_lock = threading.Lock()
_depth = 0
_delegate: UsdUtils.CoalescingDiagnosticDelegate | None = None


@contextmanager
def _messages(path: Path) -> Iterator[None]:
    """Keep USD's messages from the terminal; the outermost of nested uses logs them, each once.

    While a delegate lives USD prints nothing. It is one for all threads, as are USD's messages. Those of composition
    are left out, as `composition_errors` says them; those before a refusal are of no further interest.
    """
    global _depth, _delegate
    with _lock:
        _depth += 1
        _delegate = _delegate or UsdUtils.CoalescingDiagnosticDelegate()
    level = logging.DEBUG
    try:
        yield
        level = logging.WARNING
    finally:
        with _lock:
            _depth -= 1
            caught = _delegate.TakeUncoalescedDiagnostics() if _delegate and not _depth else []
            _delegate = _delegate if _depth else None
        said = dict.fromkeys(_commentary(one) for one in caught)
        said = [one for one in said if "ing stage on stage @" not in one]  # instantiating, recomposing
        for text in said[:_MOST_MESSAGES]:
            _log.log(level, "%s: USD says: %s", path, _one_line(text))
        if len(said) > _MOST_MESSAGES:
            _log.log(level, "%s: USD says %d things more", path, len(said) - _MOST_MESSAGES)


def _commentary(diagnostic: object) -> str:
    try:
        return str(getattr(diagnostic, "commentary", ""))
    except UnicodeError:
        return "something that is not text"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:197] + "…"


def unreadable(path: Path, error: Exception) -> InputError:
    """The refusal of a file USD cannot read."""
    remedy = "open it in usdview or re-export it"
    return input_error("cannot be read as USD", where=str(path), got=reason(error), remedy=remedy)


def os_error(error: Tf.ErrorException) -> OSError:
    """The system's error behind one of USD's, found by its text."""
    text = str(error)
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT)
    code = next((code for code in codes if os.strerror(code) in text), 0)
    return OSError(code, os.strerror(code) if code else reason(error))


def reason(error: Exception) -> str:
    """The message in the first line of a USD error, without its place in USD's source."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than a file of its size can mean"
    try:
        lines = [line for line in str(error).splitlines() if line.strip()]
    except UnicodeError:
        lines = ["text that is not UTF-8"]
    if isinstance(error, UnicodeError):
        return "text that is not UTF-8"
    return _one_line(lines[0].split(" : ", 1)[-1].strip().strip("'")) if lines else "unknown error"
