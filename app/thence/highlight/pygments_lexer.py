"""The lexer of `.thence` texts for Pygments, which finds it by the entry point `pygments.lexers`."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from thence.highlight.rules import DOC, Colour, rules

TOKENS: dict[Colour, _TokenType] = {
    "comment": Comment.Single,
    "doc": String.Doc,
    "number": Number.Integer,
    "declaration": Keyword.Declaration,
    "keyword": Keyword,
    "control": Keyword.Reserved,
    "logic": Operator.Word,
    "constant": Keyword.Constant,
    "type": Keyword.Type,
    "declared": Name.Class,
    "builtin": Name.Builtin,
    "self": Name.Builtin.Pseudo,
    "property": Name.Constant,
    "name": Name,
    "operator": Operator,
    "punctuation": Punctuation,
    "blank": Whitespace,
}
"""The token of each colour."""


def _entries() -> list[Any]:
    found: list[Any] = [(DOC, String.Doc, "doc"), (r"\n", Whitespace)]
    for rule in rules():
        colours = [TOKENS[colour] for colour in rule.colours]
        found.append((rule.pattern, colours[0] if len(colours) == 1 else bygroups(*colours)))
    return found


class ThenceLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Specifications in the language of Thence."""

    name = "Thence"
    aliases: ClassVar[list[str]] = ["thence"]
    filenames: ClassVar[list[str]] = ["*.thence"]
    mimetypes: ClassVar[list[str]] = ["text/x-thence"]
    url = "https://pypi.org/project/thence"
    version_added = ""
    flags = re.MULTILINE

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": _entries(),
        "doc": [(DOC, String.Doc, "#pop"), (r'[^"\n]+', String.Doc), (r"\n", String.Doc), ('"', String.Doc)],
    }
