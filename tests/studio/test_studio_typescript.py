"""The client's types are those of messages.py."""

from __future__ import annotations

import pytest

from bunraku import InputError
from bunraku.studio.typescript import TARGET, messages, typescript


def test_the_committed_types_are_those_of_the_messages():
    """Else: python -m bunraku.studio.typescript."""
    assert TARGET.read_text(encoding="utf-8") == typescript(messages())


def test_what_annotations_become():
    made = typescript(
        'Way = Literal["up", 2]\n"""which way"""\n'
        'class One:\n    """A thing."""\n    a: tuple[float | None, ...]\n    """[m]"""\n'
        "    b: tuple[One, ...] | None\n"
        "    c: Way\n    d: bool\n"
    )
    assert '/** which way */\nexport type Way = "up" | 2;\n' in made
    assert "/** A thing. */\nexport interface One {\n  /** [m] */\n  readonly a: readonly (number | null)[];\n" in made
    assert "  readonly b: readonly One[] | null;\n  readonly c: Way;\n  readonly d: boolean;\n}\n" in made


@pytest.mark.parametrize("annotation", ["dict[str, int]", "tuple[int, str]", "list[int]", "'Way'"])
def test_what_typescript_could_not_say_is_refused(annotation: str):
    with pytest.raises(InputError, match="line 2"):
        typescript(f"class One:\n    a: {annotation}\n")
