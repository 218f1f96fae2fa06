"""One command's parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable


class Command(argparse.ArgumentParser):
    """Keeps the lines of its texts, and makes a long end of its help only when help is asked for."""

    appendix: Callable[[], str] | None = None
    """what the help ends with, after the examples"""

    def format_help(self) -> str:
        """As argparse does, the appendix included."""
        if self.appendix is not None:
            self.epilog, self.appendix = (self.epilog or "") + self.appendix(), None
        return super().format_help()
