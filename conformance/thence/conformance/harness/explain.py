"""Failures for readers: the operations, the findings, the subject's output, and the space-time diagram."""

from __future__ import annotations

from typing import Final

from thence.conformance.cases.schedule import describe
from thence.conformance.harness.pictures import svg_of, text_of
from thence.conformance.harness.shortening import PRINTED_LINES, Counterexample
from thence.conformance.replay.findings import CaseOutcome
from thence.spec import oracle

DRAWN_EVENTS: Final = 60
"""Events of the longest execution that is drawn in text."""


def explained(shown: Counterexample) -> str:
    """A shortened failure in words, and drawn."""
    return f"{shown.text()}{drawn(shown.outcome)}"


def case_explained(outcome: CaseOutcome) -> str:
    """One case in words, and drawn."""
    lines = [f"{number:>3}  {describe(operation)}" for number, operation in enumerate(outcome.operations, 1)]
    for finding in outcome.findings:
        lines.append(f"  => {finding}")
        lines += [f"     | {line}" for line in finding.traceback.splitlines()[-PRINTED_LINES:]]
    if not outcome.findings:
        lines.append("  nothing was delivered: no verdict" if outcome.vacuous else "  nothing is wrong")
    return "\n".join(lines) + drawn(outcome)


def drawn(outcome: CaseOutcome) -> str:
    """The diagram in text, after an empty line; nothing of an empty or a long execution."""
    execution = outcome.execution
    if not 0 < len(execution.events) <= DRAWN_EVENTS:
        return ""
    return f"\n\n{text_of(execution, _judged(outcome))}"


def picture(outcome: CaseOutcome) -> str:
    """The diagram as SVG."""
    return svg_of(outcome.execution, _judged(outcome))


def _judged(outcome: CaseOutcome) -> oracle.Finding | None:
    return next((finding.judged for finding in outcome.findings if finding.judged is not None), None)
