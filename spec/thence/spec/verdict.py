"""Verdicts on statements, and their strength."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Literal


class Verdict(Enum):
    """The five verdicts. `PROVED` is never used for anything bounded."""

    PROVED = "proved"
    HOLDS = "holds"
    TESTED = "tested"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Level(IntEnum):
    """Strength of the evidence."""

    L0 = 0
    """Tested: sampled."""
    L1 = 1
    """Exhaustive in a stated scope."""
    L2 = 2
    """Unbounded, one solver."""
    L3 = 3
    """Unbounded, two solvers."""
    L4 = 4
    """Unbounded, with a proof object checked by an independent checker."""


Kind = Literal["theorem", "machine", "scope", "link", "mutant", "scenario", "conform", "campaign", "trace", "check"]


@dataclass(frozen=True, slots=True)
class Result:
    """One statement and what came out of it.

    Attributes:
        name: the statement, unique within its subject (`causal`, `fifo_sps_causal`, `scope small: fifo`).
        kind: which link of the chain it belongs to.
        subject: the protocol, machine, theory, implementation or file that it is about.
        expected: whether the verdict is the one that the file (or the user's command) expects.
        seconds: wall time spent on it.
        facts: the JSON fields that apply, by the names of DESIGN.md (`states`, `transitions`, `depth`,
            `property`, `scope`, `obligations`, `assumptions`, `cases`, `events`, `failures`, `digest`,
            `counterexample`, `unknown`, `seed`, ...); values are JSON values.
        explanation: for a reader: the counterexample as steps or as an execution, the picture, the attempts.
        picture: the space-time diagram as SVG, for reports that can show it; not part of the JSON object.
        wanted: the verdict that the file states in an `expect`; None where it states none. Not part of the JSON object.
    """

    name: str
    kind: Kind
    subject: str
    verdict: Verdict
    level: Level
    expected: bool
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)
    explanation: str = ""
    picture: str = ""
    wanted: Verdict | None = None

    def to_json(self) -> dict[str, Any]:
        """The documented JSON object of one result."""
        return {
            "name": self.name,
            "kind": self.kind,
            "subject": self.subject,
            "verdict": self.verdict.value,
            "level": self.level.name,
            "expected": self.expected,
            "seconds": round(self.seconds, 3),
            **self.facts,
        }


def exit_code(results: Iterable[Result]) -> int:
    """0 as expected, 1 refuted or an expectation missed, 3 unknown where something else was expected."""
    surprises = [result.verdict for result in results if not result.expected]
    if not surprises:
        return 0
    return 3 if all(verdict is Verdict.UNKNOWN for verdict in surprises) else 1
