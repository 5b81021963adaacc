"""The verdicts of a task, in the few words that fit beside a line, and in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GOOD = ("holds", "proved", "tested")
"""The verdicts that confirm a statement."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One statement and its verdict. `expected`: it is the one that the text expects, or that one hopes for."""

    name: str
    verdict: str
    level: str
    expected: bool
    explanation: str = ""
    unknown: str = ""

    @property
    def short_name(self) -> str:
        """The name without the scope that it begins with."""
        return self.name.rpartition(": ")[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a task: verdicts, or why there are none."""

    judged: tuple[Judged, ...] = ()
    failed: str = ""
    seconds: float = 0.0


def judged_from(value: Mapping[str, Any]) -> Judged:
    """A verdict as a worker writes it."""
    return Judged(
        str(value["name"]), str(value["verdict"]), str(value["level"]), bool(value["expected"]),
        str(value["explanation"]), str(value["unknown"]),
    )  # fmt: skip


def summary(outcome: Outcome, expects: bool) -> str:
    """`3 of 3 hold`, `1 of 2 hold, causal refuted as expected`. `expects`: the text states what is expected."""
    if outcome.failed:
        return f"not finished: {outcome.failed}"
    total = len(outcome.judged)
    if not total:
        return "nothing is stated here"
    good = [one for one in outcome.judged if one.verdict in GOOD]
    verb = "proved" if good and all(one.verdict == "proved" for one in good) else "hold"
    parts = [f"{len(good)} of {total} {verb}"] if good else []
    open_ = [one for one in outcome.judged if one.verdict == "unknown" and not one.expected]
    rest = [one for one in outcome.judged if one not in open_]
    parts += [remark(one, expects) for one in rest if one.verdict not in GOOD or not one.expected]
    if open_:
        reasons = dict.fromkeys(one.unknown.removeprefix("incomplete: ") for one in open_ if one.unknown)
        said = open_[0].short_name if len(open_) == 1 else str(len(open_))
        parts.append(f"{said} unknown" + "".join(f" ({reason})" for reason in list(reasons)[:1]))
    return ", ".join(parts)


def remark(judged: Judged, expects: bool) -> str:
    """`causal refuted as expected`, in words that leave out expectations where there are none."""
    said = f"{judged.short_name} {judged.verdict}"
    if not expects or (judged.verdict == "unknown" and not judged.expected):
        return said
    if judged.verdict == "unknown":
        return f"{judged.short_name} not shown, as expected"
    return f"{said} as expected" if judged.expected else f"{said}, not as expected"


def told(outcome: Outcome, expects: bool) -> str:
    """Everything that came out, for a reader."""
    if outcome.failed:
        return summary(outcome, expects)
    lines = [f"{summary(outcome, expects)} ({outcome.seconds:.1f} s)"]
    for one in outcome.judged:
        lines.append(f"  {one.name}: {one.verdict}, {one.level}")
        told_why = one.explanation or one.unknown
        lines += [f"    {line}".rstrip() for line in told_why.splitlines()]
    return "\n".join(lines)
