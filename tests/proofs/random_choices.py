"""Random protocols that choose: a drawn text in which some statements have become choices."""

from __future__ import annotations

import re
from random import Random

_STATEMENT = re.compile(r"^(?P<margin> {4,})(?P<text>(?! |let |Q\.pop)(?:[^\n:]|:=)*)$", re.MULTILINE)
_LOOP = re.compile(r"\bfor (?P<name>z) in (?P<domain>S|process): ")
OTHERS = ("pass", "f := not f", "k := 0", "S.add(self)", "send CTL(self) to self")
CONDITIONS = ("z != self", "M[z] = 0", "z in S or f", "z < boss")


def with_choices(text: str, seed: int, others: tuple[str, ...] = OTHERS) -> str:
    """The protocol, in which some statements of handlers are one branch of an `either`, and some loops choose."""
    draw = Random(seed * 7 + 1)
    head, start, body = text.partition("  on causal_send")

    def chosen(found: re.Match[str]) -> str:
        if draw.random() < 0.5:
            return found[0]
        such = f" such that {draw.choice(CONDITIONS)}" if draw.random() < 0.6 else ""
        return f"choose z in {found['domain']}{such}: "

    def either(found: re.Match[str]) -> str:
        if draw.random() < 0.7:
            return found[0]
        margin = found["margin"]
        branches = [found["text"], draw.choice(others), *([draw.choice(others)] if draw.random() < 0.2 else [])]
        lines = [f"{margin}{'or' if at else 'either'}:\n{margin}  {branch}" for at, branch in enumerate(branches)]
        return "\n".join(lines)

    return head + start + _STATEMENT.sub(either, _LOOP.sub(chosen, body))
