"""The page of the player as one HTML document: its markup, style and scripts, and what it begins with.

The scripts in `front` are modules of the language of browsers, and small. Here they become one script: in the order of
their imports, without the lines that import and export. So the page needs no second request, and opens from a disk.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function|const|class|let)", re.MULTILINE)
_FIRST: Final = "main.js"


def _read(name: str) -> str:
    return files("thence.play").joinpath("front", name).read_text(encoding="utf-8")


def _modules(name: str, seen: set[str]) -> Iterator[str]:
    """The module's text after those of the modules that it imports, each once."""
    if name in seen:
        return
    seen.add(name)
    text = _read(name)
    for other in _IMPORT.findall(text):
        yield from _modules(other, seen)
    yield f"// {name}\n{_EXPORT.sub('', _IMPORT.sub('', text))}"


@cache
def script() -> str:
    """The script of the page."""
    return '"use strict";\n(() => {\n' + "\n".join(_modules(_FIRST, set())) + "\n})();\n"


@cache
def style() -> str:
    """The style of the page."""
    return _read("player.css")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def policy(*, connect: str = "'none'", more: str = "") -> str:
    """What the page may do, in the form of a Content-Security-Policy: run its own script, and ask `connect`."""
    return (
        f"default-src 'none'; script-src {_digest(script())}{more}; style-src {_digest(style())}; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def in_script(value: Any) -> str:
    """A JSON value as it may stand in a script element: nothing in it ends the element, or opens a comment."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED)


_ESCAPED: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(config: Mapping[str, Any], *, csp: str | None = None, title: str = "Thence player") -> str:
    """The document. `config` says where answers come from, and what the page begins with; see `main.js`."""
    rest = policy() if csp is None else csp
    values = {
        "policy": escape(rest, quote=True),
        "title": escape(title),
        "style": style(),
        "config": in_script(config),
        "script": script(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _read("player.html"))
