"""The highlight of a space-time diagram: the messages of one finding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from thence.spec.diagram.names import label_of
from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.oracle import Finding
from thence.spec.packed_events import concerning

MOST_DRAWN: Final = 200
"""Events of the longest run with a finding that is drawn whole: nobody finds a message in more."""

Role: TypeAlias = Literal["plain", "missing", "overtaking", "chain"]


@dataclass(frozen=True, slots=True)
class Highlight:
    """The messages of one finding, and what each is there for.

    Attributes:
        process: where it shows.
        message: the message that is delivered where it should not be; None where the fault is that one is not.
        missing: the message that should have been delivered at `process` before.
        chain: `missing[0]`, ..., `message`, each directly before the next; may be empty.
        event_index: the offending delivery, if the fault is one.
        caption: one sentence for the reader; empty where the finding says it.
        finding: what is brought out, if it is a finding.
        ended: whether the run has ended: what is undelivered in one that has not is not stuck.
    """

    process: int
    message: str | None
    missing: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    event_index: int | None = None
    caption: str = ""
    finding: Finding | None = None
    ended: bool = True

    def caption_in(self, execution: Execution) -> str:
        """The caption, with the names that the processes have in the diagram, and the labels of the messages."""
        if self.caption or self.finding is None:
            return self.caption
        finding = self.finding
        labelled = replace(
            finding,
            message=label_of(finding.message),
            missing=tuple(map(label_of, finding.missing)),
            chain=tuple(map(label_of, finding.chain)),
        )
        return labelled.told(execution.name_of(self.process), ended=self.ended)

    def role(self, message: str) -> Role:
        """The part of `message` in this finding."""
        if message in self.missing:
            return "missing"
        if message == self.message:
            return "overtaking"
        return "chain" if message in self.chain else "plain"


def highlight_of(finding: Finding, *, ended: bool = True) -> Highlight:
    """The highlight of any finding, of a run that has ended or not."""
    match finding.kind:
        case "causal" | "fifo" | "gap":
            return Highlight(
                finding.process,
                finding.message,
                finding.missing,
                finding.chain,
                finding.event_index,
                "",
                finding,
                ended,
            )
        case "duplicate" | "phantom":
            return Highlight(finding.process, finding.message, (), (), finding.event_index, "", finding, ended)
        case "stuck":
            return Highlight(finding.process, None, (finding.message,), (), None, "", finding, ended)


def in_view(execution: Execution, highlight: Highlight) -> tuple[Execution, Highlight]:
    """What is drawn: the whole, or of more than `MOST_DRAWN` events the messages of the highlight."""
    return (execution, highlight) if len(execution.events) <= MOST_DRAWN else focus(execution, highlight)


def focus(execution: Execution, highlight: Highlight) -> tuple[Execution, Highlight]:
    """The execution cut down to the messages of the highlight, for a small picture of a long run.

    The finding still stands in it: happens-before between the messages that are left only needs the chain.
    """
    wanted = {*highlight.missing[:1], *highlight.chain, *([highlight.message] if highlight.message else [])}
    events: list[Event] = []
    steps: list[int] = []
    index: int | None = None
    theirs = [*concerning(execution.events, wanted)]
    senders = {event.message: event.process for _, event in theirs if isinstance(event, Send)}
    # A chain message matters where it is delivered to the sender of the next one, and at the process of the finding.
    places = {(name, senders[after]) for name, after in pairwise(highlight.chain)} | {
        (name, highlight.process) for name in wanted
    }
    for position, event in theirs:
        step = execution.steps[position] if execution.steps else 0
        match event:
            case Send(process, message, destinations):
                kept = tuple(d for d in destinations if (message, d) in places)
                events.append(Send(process, message, kept or destinations))
                steps.append(step)
            case Receive(process, message) | Deliver(process, message):
                if (message, process) not in places:
                    continue
                if position == highlight.event_index:
                    index = len(events)
                events.append(event)
                steps.append(step)
    said = highlight.caption_in(execution)
    caption = f"{said}; {len(events):,} of {len(execution.events):,} events are drawn"
    small = replace(highlight, missing=highlight.missing[:1], event_index=index, caption=caption)
    kept = tuple(steps) if execution.steps else ()
    return replace(execution, events=tuple(events), steps=kept, packets=(), asides=()), small
