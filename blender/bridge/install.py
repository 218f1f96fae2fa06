# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes an environment of its own and installs bunraku into it, telling what it does in JSON lines: run as a program.

It is made beside the one of before, whose place it takes when bunraku starts in it: what is called off or fails
harms nothing.

python install.py ENVIRONMENT SOURCE
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def main(environment: Path, source: str) -> int:
    """Returns 0 when bunraku can be started there."""
    tell("stage", text="making the environment")
    made = in_the_making(environment)
    try:
        venv.create(made, with_pip=True, clear=made.exists())
    except (OSError, subprocess.CalledProcessError) as error:
        return _fail(f"{made}: the environment cannot be made ({error})")
    python = str(interpreter_of(made))
    tell("stage", text="installing bunraku")
    words = [python, "-m", "pip", "install", "--disable-pip-version-check", source]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        return _fail(f"{source}: cannot be installed ({said[-1] if said else 'pip said nothing'})")
    version = subprocess.run([python, "-m", "bunraku", "--version"], capture_output=True, text=True, check=False)
    if version.returncode:
        return _fail(f"{source}: is installed and holds no bunraku that starts")
    try:
        if environment.exists():
            shutil.rmtree(environment)
        os.replace(made, environment)
    except OSError as error:
        return _fail(f"{environment}: cannot be replaced ({error.strerror or error}); try: end what runs in it")
    tell("done", exit_code=0, sentences=[f"{version.stdout.strip()} is installed"], folder=str(environment),
         direction_met=None)  # fmt: skip
    return 0


def in_the_making(environment: Path) -> Path:
    """Where it is until it is finished."""
    return environment.with_name(f"{environment.name}.part")


def interpreter_of(environment: Path) -> Path:
    """The Python of an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def tell(event: str, **facts: object) -> None:
    """A line."""
    print(json.dumps({"event": event, **facts}), flush=True)


def _fail(message: str) -> int:
    tell("error", exit_code=2, message=message)
    return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
