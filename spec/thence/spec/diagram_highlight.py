"""The highlight of a space-time diagram: the messages of one finding."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.oracle import Finding

MOST_DRAWN: Final = 2_000
"""Events of the longest run that is drawn whole: nobody finds a message in more."""

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
        caption: one sentence for the reader.
    """

    process: int
    message: str | None
    missing: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    event_index: int | None = None
    caption: str = ""

    def role(self, message: str) -> Role:
        """The part of `message` in this finding."""
        if message in self.missing:
            return "missing"
        if message == self.message:
            return "overtaking"
        return "chain" if message in self.chain else "plain"


def highlight_of(finding: Finding) -> Highlight:
    """The highlight of any finding."""
    match finding.kind:
        case "causal" | "fifo" | "gap":
            return Highlight(
                finding.process, finding.message, finding.missing, finding.chain, finding.event_index, str(finding)
            )
        case "duplicate" | "phantom":
            return Highlight(finding.process, finding.message, (), (), finding.event_index, str(finding))
        case "stuck":
            return Highlight(finding.process, None, (finding.message,), (), None, str(finding))


def in_view(execution: Execution, highlight: Highlight) -> tuple[Execution, Highlight]:
    """What is drawn: the whole, or of more than `MOST_DRAWN` events the messages of the highlight."""
    return (execution, highlight) if len(execution.events) <= MOST_DRAWN else focus(execution, highlight)


def focus(execution: Execution, highlight: Highlight) -> tuple[Execution, Highlight]:
    """The execution cut down to the messages of the highlight, for a small picture of a long run.

    The finding still stands in it: happens-before between the messages that are left only needs the chain.
    """
    wanted = {*highlight.missing[:1], *highlight.chain, *([highlight.message] if highlight.message else [])}
    events: list[Event] = []
    index: int | None = None
    senders = {e.message: e.process for e in execution.events if e.message in wanted and isinstance(e, Send)}
    # A chain message matters where it is delivered to the sender of the next one, and at the process of the finding.
    places = {(name, senders[after]) for name, after in pairwise(highlight.chain)} | {
        (name, highlight.process) for name in wanted
    }
    for position, event in enumerate(execution.events):
        if event.message not in wanted:
            continue
        match event:
            case Send(process, message, destinations):
                kept = tuple(d for d in destinations if (message, d) in places)
                events.append(Send(process, message, kept or destinations))
            case Receive(process, message) | Deliver(process, message):
                if (message, process) not in places:
                    continue
                if position == highlight.event_index:
                    index = len(events)
                events.append(event)
    small = Highlight(
        highlight.process, highlight.message, highlight.missing[:1], highlight.chain, index, highlight.caption
    )
    return Execution(execution.processes, tuple(events), execution.names), small
