"""Writes docs/verification.md: `python -m tests.verification.report PATH`, or this file as a script."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as a module of the folder above, its neighbours would not be found

from claims import document


def main() -> int:
    """Write the file named on the command line; 1 when a claim does not hold."""
    text, holds = document()
    Path(sys.argv[1]).write_text(text)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
