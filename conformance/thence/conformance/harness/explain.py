"""Failures for readers: the operations, the findings, the subject's output, and the space-time diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from thence.conformance.cases.schedule import describe
from thence.conformance.harness.shortening import Counterexample, told
from thence.conformance.replay.findings import SENT, CaseFinding, CaseOutcome
from thence.spec.diagram import Highlight, draw_svg, draw_text, highlight_of

DRAWN_EVENTS: Final = 60
"""Events of the longest execution that is drawn in text."""


def explained(shown: Counterexample) -> str:
    """A shortened failure in words, and drawn."""
    hint = hint_of(shown.outcome)
    return "".join([shown.text(), f"\n     {hint}" if hint else "", drawn(shown.outcome, shown.findings)])


def hint_of(outcome: CaseOutcome) -> str:
    """Advice where a system seems to send to everybody, or to itself, and is driven otherwise; empty where not."""
    senders = {entry[2]: entry[1] for entry in outcome.log if entry[0] == SENT}
    for finding in outcome.findings:
        known = finding.judged
        if known is None or known.kind != "phantom" or known.message not in senders:
            continue
        if outcome.settings.delivery != "broadcast":
            return (
                f"hint: {known.message} was sent, but not to p{known.process}; for a broadcast say --delivery broadcast"
            )
        if not outcome.settings.self_sends and known.process == senders[known.message]:
            return f"hint: p{known.process} itself sent {known.message}; if it is to get it, too, say --self-sends"
    return ""


def case_explained(outcome: CaseOutcome) -> str:
    """One case in words, and drawn."""
    lines = [f"{number:>3}  {describe(operation)}" for number, operation in enumerate(outcome.operations, 1)]
    lines += told(outcome.findings)
    if not outcome.findings:
        lines.append(f"  {outcome.nothing}: no verdict" if outcome.vacuous else "  nothing is wrong")
    return "\n".join(lines) + drawn(outcome)


def drawn(outcome: CaseOutcome, findings: Sequence[CaseFinding] | None = None) -> str:
    """The diagram in text, after an empty line; nothing of an empty or a long execution.

    It highlights the first of the findings, by default of the outcome's, that a diagram can show.
    """
    execution = outcome.execution
    if not 0 < len(execution.events) <= DRAWN_EVENTS:
        return ""
    execution = replace(execution, steps=(0,) * len(execution.events))  # the numbers are those of the operations
    highlight = _highlight(outcome.findings if findings is None else findings)
    if highlight is not None:
        highlight = replace(highlight, finding=None)  # the finding stands above the diagram
    return f"\n\n{draw_text(execution, highlight)}"


def picture(outcome: CaseOutcome) -> str:
    """The diagram as SVG."""
    return draw_svg(outcome.execution, _highlight(outcome.findings))


def _highlight(findings: Sequence[CaseFinding]) -> Highlight | None:
    """Of the first finding that a diagram can show; None where there is none: no other fault is to catch the eye."""
    judged = next((finding.judged for finding in findings if finding.judged is not None), None)
    return None if judged is None else highlight_of(judged)
