"""Broken files by mutation: only a sentence may come of them, and soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bunraku.contracts import InputError

LONGEST = 1.5  # [s] an input may take, of this process alone: neighbours on a busy machine do not count
_SNIPPETS = (
    b"999999999999", b"-1", b"nan", b"inf", b"1e999", b" ", b"\n", b"\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff",
    b"0.5", b"#", b"1_0", b"\x80", b"4294967295", b"$EndNodes", b"end_header\n", b"list", b"9" * 30,
)  # fmt: skip


def mutations(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Truncations, flipped bytes, inserted and removed stretches of a file, one to four at a time."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        out = bytearray(data)
        for _ in range(int(random.integers(1, 5))):
            at = int(random.integers(0, len(out) + 1))
            kind = int(random.integers(0, 6))
            if kind == 0:
                del out[at:]
            elif kind == 1 and at < len(out):
                out[at] = int(random.integers(0, 256))
            elif kind == 2 and at < len(out):
                out[at] ^= 1 << int(random.integers(0, 8))
            elif kind == 3:
                out[at:at] = _SNIPPETS[int(random.integers(0, len(_SNIPPETS)))]
            elif kind == 4:
                snippet = _SNIPPETS[int(random.integers(0, len(_SNIPPETS)))]
                out[at : at + len(snippet)] = snippet
            else:
                del out[at : at + int(random.integers(1, 40))]
        yield bytes(out)


def survive(read: Callable[[Path], object], path: Path, data: bytes, count: int, seed: int = 3) -> int:
    """Read mutations of a file's bytes; any failure must be one sentence. Gives how many were refused."""
    refused = 0
    for number, mutant in enumerate(mutations(data, count, seed)):
        path.write_bytes(mutant)
        begin = time.process_time()
        try:
            read(path)
        except InputError as error:
            refused += 1
            assert "\n" not in str(error) and path.stem in str(error), (number, str(error))
        assert time.process_time() - begin < LONGEST, number
    return refused
