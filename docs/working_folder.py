"""Where scripts that draw Blender's pictures put what they make on the way: in a folder that is named, or lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory


def in_working_folder(main: Callable[[Path], None]) -> None:
    """Run in the folder that the command line names, made if it is not there, else in one that goes afterwards."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]).resolve())
    else:
        with TemporaryDirectory() as made:
            main(Path(made))
