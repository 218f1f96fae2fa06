"""Compile the kernels that the suites use before their workers start, each once, on all cores.

Every worker of a suite would compile for itself what it meets first: twice the same, at the same time. `kernels.json`
lists kernels and the kinds of arguments they are given. It need not be complete, nor right: what is missing is compiled
by the test that needs it, and what no longer exists is left out.

    python tests/compile_kernels.py             compile what is listed and out of date
    python tests/compile_kernels.py --record    add to the list what is compiled now, after a run of the suites
    python tests/compile_kernels.py --times     how long each takes to compile, the longest first [s of the processor]
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernels import called_files, forget_stale

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bunraku"
LIST = Path(__file__).with_name("kernels.json")
MOST_PROCESSES = 4  # as many as the suites have workers at most

Listed = dict[str, dict[str, list[str]]]
"""of files below the package, their kernels and of each the kinds of arguments, as Numba writes them"""


def indexes() -> list[Path]:
    """What Numba keeps of compiled kernels: an index of each."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return sorted(Path(chosen).glob("*/*.nbi") if chosen else SOURCE.rglob("__pycache__/*.nbi"))


def outdated(listed: Listed, kept: Iterable[Path]) -> list[str]:
    """Files of the list of which most kernels have no index, or one that is older than the file.

    Most, not any: some may be listed with arguments that they are no longer given.
    """
    made: dict[str, float] = {}
    for index in kept:
        name = index.name.rsplit("-", 1)[0]  # module.kernel, then the line it begins at
        made[name] = max(made.get(name, 0.0), index.stat().st_mtime)
    out = []
    for file, kernels in listed.items():
        path = SOURCE / file
        if path.exists():
            text = path.read_text(encoding="utf-8")
            there = [kernel for kernel in kernels if f"def {kernel}(" in text]
            old = [kernel for kernel in there if made.get(f"{path.stem}.{kernel}", 0.0) < path.stat().st_mtime]
            if 2 * len(old) > len(there):
                out.append(file)
    return out


def shares(files: list[str], count: int) -> list[list[str]]:
    """Files in `count` shares; those whose kernels call each other's stay together, so that none is compiled twice."""
    groups: list[set[Path]] = [{SOURCE / file} for file in files]
    for path, others in called_files(SOURCE).items():
        touched = [group for group in groups if group & ({path} | others)]
        if len(touched) > 1:
            groups = [group for group in groups if group not in touched] + [set().union(*touched)]
    size = {file: _effort(SOURCE / file) for file in files}
    named = [[file for file in files if SOURCE / file in group] for group in groups]
    out: list[list[str]] = [[] for _ in range(count)]
    for group in sorted(named, key=lambda group: -sum(size[file] for file in group)):
        min(out, key=lambda share: sum(size[file] for file in share)).extend(group)
    return [share for share in out if share]


def _effort(path: Path) -> int:
    """About how long the kernels of a file take: those with parallel loops some four times as long."""
    text = path.read_text(encoding="utf-8")
    return text.count("njit(") + 3 * text.count("parallel=True")


def compile_all(files: list[str], listed: Listed) -> dict[str, float | None]:
    """Compile the kernels of files; of each how long it took [s], None where the list is wrong about it."""
    took: dict[str, float | None] = {}
    for file in files:
        module = importlib.import_module("bunraku." + file.removesuffix(".py").replace("/", "."))
        for kernel, kinds in listed[file].items():
            for number, kind in enumerate(kinds):
                name, begun = f"{file} {kernel} {number}", time.process_time()
                try:
                    getattr(module, kernel).compile(_types(kind))
                    took[name] = time.process_time() - begun
                except Exception:  # whatever it is: the test that needs this kernel will tell
                    took[name] = None
    return took


def print_times(listed: Listed) -> None:
    """With nothing kept of what was compiled before; callers have the time of what they call first."""
    with tempfile.TemporaryDirectory() as empty:
        os.environ["NUMBA_CACHE_DIR"] = empty
        took = compile_all([file for file in listed if (SOURCE / file).exists()], listed)
    done = {name: seconds for name, seconds in took.items() if seconds is not None}
    for name, seconds in sorted(done.items(), key=lambda item: -item[1]):
        print(f"{seconds:7.2f}  {name}")
    print(f"{sum(done.values()):7.2f}  all; {len(took) - len(done)} could not be compiled as listed")


def _types(kind: str) -> Any:
    """Arguments as Numba writes them, read again."""
    from numba import types

    def array(dtype: Any, ndim: int, layout: str, readonly: bool, aligned: bool = True) -> Any:
        return types.Array(dtype, ndim, layout, readonly=readonly, aligned=aligned)

    return eval(kind, {**vars(types), "Array": array})


def _can_be_read(kind: str) -> bool:
    """Not all that Numba writes is Python."""
    try:
        return isinstance(_types(kind), tuple)
    except (TypeError, NameError, SyntaxError, AttributeError):
        return False


def record(listed: Listed) -> Listed:
    """The list, with what is compiled now and without what no longer exists; files with most code first."""
    found: dict[str, dict[str, set[str]]] = {}
    size: dict[str, int] = {}
    files = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    for file, kernels in listed.items():
        for kernel, kinds in kernels.items():
            if f"def {kernel}(" in files.get(file, ""):
                found.setdefault(file, {}).setdefault(kernel, set()).update(kinds)
    for index in indexes():
        stem, kernel = index.name.rsplit("-", 1)[0].split(".", 1)
        room = index.parent.parent.name if index.parent.name == "__pycache__" else index.parent.name.rsplit("_", 1)[0]
        file = next((file for file in files if file.endswith(f"{room}/{stem}.py")), "")
        if f"def {kernel}(" not in files.get(file, ""):
            continue
        with index.open("rb") as stream:
            pickle.load(stream)  # Numba's version
            _, overloads = pickle.loads(stream.read())
        kinds = {str(key[0]) for key in overloads}
        found.setdefault(file, {}).setdefault(kernel, set()).update(kind for kind in kinds if _can_be_read(kind))
        size[file] = size.get(file, 0) + sum(one.stat().st_size for one in index.parent.glob(f"{index.stem}.*.nbc"))
    order = sorted(found, key=lambda file: (-size.get(file, 0), file))
    return {file: {kernel: sorted(kinds) for kernel, kinds in sorted(found[file].items())} for file in order}


def main(arguments: list[str]) -> None:
    listed: Listed = json.loads(LIST.read_text(encoding="utf-8")) if LIST.exists() else {}
    if arguments[:1] == ["--record"]:
        LIST.write_text(json.dumps(record(listed), indent=1) + "\n", encoding="utf-8")
        return
    if arguments[:1] == ["--times"]:
        print_times(listed)
        return
    if arguments:
        compile_all(arguments, listed)
        return
    forget_stale(SOURCE)
    files = outdated(listed, indexes())
    count = min(os.cpu_count() or 1, MOST_PROCESSES)
    running = [subprocess.Popen([sys.executable, __file__, *share]) for share in shares(files, count)]
    for process in running:
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
