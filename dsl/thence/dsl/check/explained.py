"""An explanation as text, with the message that its wrong example gives: what `thence explain` prints."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.explanations import Explanation
from thence.dsl.text.parse import parse

_WIDTH = 80


def explained(found: Explanation) -> str:
    """The title, the reason, the wrong example with its message, the right one; lines of 80 characters."""
    return "\n".join(_lines(found))


def _lines(found: Explanation) -> Iterator[str]:
    yield from fill(f"{found.name}: {found.title}", _WIDTH).splitlines()
    yield ""
    yield from fill(found.why, _WIDTH).splitlines()
    if not found.wrong:
        return
    yield from ("", "Wrong:", "")
    yield from _file(found.wrong)
    yield ""
    yield from _said(found)
    yield from ("", "Right:", "")
    yield from _file(found.right)


def _file(text: str) -> Iterator[str]:
    return (f"    {line}".rstrip() for line in text.splitlines())


def _said(found: Explanation) -> Iterator[str]:
    """The message that the wrong example gives."""
    tree, diagnostics = parse(found.wrong, "example")
    if tree is not None:
        diagnostics += elaborate(tree, "example")[1]
    first = diagnostics[0]
    said = f"Line {first.span.line}: {first.message}"
    yield from fill(
        said + "".join(f"; {note}" for note in first.notes[:1]), _WIDTH, subsequent_indent="  "
    ).splitlines()
