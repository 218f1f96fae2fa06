"""messages.py as TypeScript: `python -m bunraku.studio.typescript` writes client/src/messages.ts anew.

The file is read, not run, so that names of types and what is said about them come along. A class becomes an interface,
a name that stands for several values a type; anything else in an annotation is refused.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from bunraku.contracts import input_error
from bunraku.io import write_text

SOURCES = tuple(Path(__file__).with_name(name) for name in ("messages.py", "role_messages.py", "sketch_messages.py"))
TARGET = Path(__file__).with_name("client") / "src" / "messages.ts"
_PLAIN = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "Any": "unknown"}
_HEADING = "// Made from messages.py by `python -m bunraku.studio.typescript`; change it there.\n"


def typescript(source: str) -> str:
    """The client's types for the text of messages.py."""
    body = ast.parse(source).body
    parts = [_class(one) if isinstance(one, ast.ClassDef) else _alias(one, _said(after)) for one, after in _types(body)]
    return "\n".join([_HEADING, *parts])


def _types(body: list[ast.stmt]) -> Iterator[tuple[ast.ClassDef | ast.Assign, ast.stmt | None]]:
    """Classes and names of types, each with the statement after it."""
    for one, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(one, (ast.ClassDef, ast.Assign)):
            yield one, after


def _alias(one: ast.ClassDef | ast.Assign, said: str) -> str:
    assert isinstance(one, ast.Assign)
    return f"{_comment(said, '')}export type {ast.unparse(one.targets[0])} = {_type(one.value)};\n"


def _class(one: ast.ClassDef) -> str:
    lines = [f"{_comment(ast.get_docstring(one) or '', '')}export interface {one.name} {{"]
    for field, after in zip(one.body, [*one.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            comment = _comment(_said(after), "  ")
            lines.append(f"{comment}  readonly {ast.unparse(field.target)}: {_type(field.annotation)};")
    return "\n".join([*lines, "}\n"])


def _type(node: ast.expr) -> str:
    """An annotation in TypeScript."""
    match node:
        case ast.Name(id=name):
            return _PLAIN.get(name, name)
        case ast.Constant(value=None):
            return "null"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{_type(left)} | {_type(right)}"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            values = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return " | ".join(json.dumps(ast.literal_eval(value)) for value in values)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, ast.Constant(value=end)])):
            if end is ...:
                inner = _type(item)
                return f"readonly ({inner})[]" if "|" in inner else f"readonly {inner}[]"
    raise input_error(
        "a message's annotation cannot be said in TypeScript", where=f"messages, line {node.lineno}",
        got=ast.unparse(node),
        allowed="str, int, float, bool, None, Any, Literal, tuple[T, ...], messages, unions of these",
    )  # fmt: skip


def _said(after: ast.stmt | None) -> str:
    """The string that stands after a field, if one does."""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return after.value.value
    return ""


def _comment(text: str, indent: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines()]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    inside = "\n".join(f"{indent} * {line}".rstrip() for line in lines)
    return f"{indent}/**\n{inside}\n{indent} */\n"


def messages() -> str:
    """All that is said."""
    return "\n".join(one.read_text(encoding="utf-8") for one in SOURCES)


def main() -> None:
    """Write the client's types."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    write_text(TARGET, typescript(messages()))


if __name__ == "__main__":
    main()
