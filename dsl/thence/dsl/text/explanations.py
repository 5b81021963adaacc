"""Explanations of the codes of diagnostics, and of the words of verdicts and levels: what `thence explain` prints.

The folder `codes` has a file for each family of codes. `docs/reference/errors.md` is made from the same texts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap

from thence.dsl.text.diagnostics import CODES, nearest

_FOLDER = Path(__file__).with_name("codes")

CHAPTERS = {
    "E01": "Text and syntax",
    "E02": "Names",
    "E03": "Types",
    "E04": "Rules of protocols",
    "E05": "Rules of machines and theories",
    "E06": "Scopes, links, mutants, expectations and scenarios",
    "W09": "Warnings",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A code or word explained.

    Attributes:
        title: its meaning in one sentence.
        why: two or three sentences: the reason, and what to do.
        wrong: a file that gives exactly this code, "" where none can be shown.
        right: the same file as it is meant, without any diagnostic.
    """

    name: str
    title: str
    why: str
    wrong: str = ""
    right: str = ""

    def to_json(self) -> dict[str, str]:
        """The JSON object that `thence explain --json` prints."""
        return {"name": self.name, "title": self.title, "why": self.why, "wrong": self.wrong, "right": self.right}


def explanation(name: str) -> Explanation | None:
    """The explanation of a code or word in any case (`e0131`, `l3`); None where there is none."""
    word = name.strip().strip("`[]")
    for known in (word.upper(), word.lower()):
        if known in CODES:
            entry = _entries(known[:3])[known]
            return Explanation(
                known, CODES[known], _flowing(entry["why"]), entry.get("wrong", ""), entry.get("right", "")
            )
        if known in _entries("words"):
            entry = _entries("words")[known]
            return Explanation(known, entry["title"], _flowing(entry["why"]))
    return None


def words() -> tuple[str, ...]:
    """The words of verdicts and levels that are explained."""
    return tuple(_entries("words"))


def near_codes(name: str) -> tuple[str, ...]:
    """Codes that were perhaps meant, at most three: those that differ in one sign. Of other words, the nearest one."""
    code = name.strip().upper()
    if code[:1] in ("E", "W") and code[1:].isdigit():
        slips = [known for known in CODES if len(known) == len(code) and _differences(known, code) == 1]
        return tuple(sorted(slips, key=lambda known: (known[:3] != code[:3], known))[:3])
    folded = {word.casefold(): word for word in words()}
    near = nearest(name.casefold(), folded)
    return () if near is None else (folded[near],)


def _differences(one: str, other: str) -> int:
    return sum(first != second for first, second in zip(one, other, strict=True))


def render_catalogue() -> str:
    """The text of the page of error codes: one heading a code, so that each has an address."""
    lines = [
        "# Error codes",
        "",
        "Every diagnostic has a code. `thence explain E0131` prints what this page says about it. The examples are",
        "whole files: the first gives exactly this code, the second gives no diagnostic.",
        "",
        "<!-- Generated from dsl/thence/dsl/text/codes; do not edit. -->",
    ]
    for prefix, title in CHAPTERS.items():
        lines += ["", f"## {title}"]
        for code in sorted(code for code in CODES if code.startswith(prefix)):
            found = explanation(code)
            assert found is not None
            lines += ["", f"### {code}", "", f"**{found.title}**", "", *wrap(found.why, 118)]
            if found.wrong:
                lines += ["", "Wrong:", "", "```text", found.wrong.rstrip("\n"), "```"]
                lines += ["", "Right:", "", "```text", found.right.rstrip("\n"), "```"]
    return "\n".join(lines) + "\n"


@cache
def _entries(family: str) -> Mapping[str, Mapping[str, str]]:
    with (_FOLDER / f"{family}.toml").open("rb") as file:
        return tomllib.load(file)


def _flowing(text: str) -> str:
    """The text as one paragraph."""
    return " ".join(text.split())
