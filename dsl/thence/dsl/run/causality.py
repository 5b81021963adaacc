"""The history of a system's run, as far as checks need it: causal pasts over undelivered messages.

Each process and each undelivered message has a mask: the undelivered messages in its causal past (happens-before as in
Almeida, section 4.1). Delivered messages are dropped from every mask. Every check reads undelivered members only, so
nothing that matters is lost (a bisimulation). A message is delivered when each of its destinations has delivered it;
one that goes to nobody is delivered at once. The history of a machine is another thing: relations over all messages,
see `ir.machine_builtins`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

from thence.dsl.run.values import Message

WATCHED: Final = ("total_order", "causally_ordered")
"""The properties for which the history keeps more: only where a protocol claims them, or a check asks for them."""


class Pending(NamedTuple):
    """A message that some destination has not delivered: to whom it is due, and its causal past as a mask."""

    message: Message
    due: tuple[int, ...]
    past: int


class History(NamedTuple):
    """`pasts[p]` is the mask of the undelivered messages in the past of process p; `pending` is ascending.

    `order` has the pairs (a, b) such that some process delivered a before b, while another destination of both has
    still to deliver a: no other pair can come to be delivered in the other order. It is kept for `total_order` only.

    `overtaken` has the pairs (a, p) such that process p delivered a message that a happened before, and has still to
    deliver a. It is kept for `causally_ordered` only.
    """

    pasts: tuple[int, ...]
    pending: tuple[Pending, ...]
    order: tuple[tuple[Message, Message], ...] = ()
    overtaken: tuple[tuple[Message, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A property that an event violates: `message` at `process`, over `missing` where a predecessor is."""

    property: str
    process: int
    message: Message | None = None
    missing: Message | None = None
    detail: str = ""


def sent(history: History, process: int, message: Message, bit: int) -> History:
    """After `process` causal-sent `message`, whose mask bit is `bit`."""
    if not message.dsts:
        return history
    pasts = list(history.pasts)
    entry = Pending(message, message.dsts, pasts[process])
    pasts[process] |= bit
    return history._replace(pasts=tuple(pasts), pending=tuple(sorted((*history.pending, entry))))


def network_sent(history: History, process: int, message: Message, bit_of: Callable[[Message], int]) -> list[Finding]:
    """The violations of CSPS and SPS (Almeida, Definitions 4.1 and 4.3) by network-sending `message` now.

    Judged for every sender k: that k also sent something to `process` is implied where k's message is in the past.
    A message to several destinations is network-sent to all of them at once: the demands of each destination count.
    """
    entry = next((pending for pending in history.pending if pending.message == message), None)
    if entry is None:
        return []
    findings = []
    for before in history.pending:
        if entry.past & bit_of(before.message) and before.message.src != process:
            findings.append(Finding("csps", process, message, before.message))
            elsewhere = any(due != process for due in before.due)
            if elsewhere and any(destination != before.message.src for destination in message.dsts):
                findings.append(Finding("sps", process, message, before.message))
    return findings


def delivered(
    history: History,
    process: int,
    message: Message,
    bit_of: Callable[[Message], int],
    watched: Collection[str] = (),
) -> tuple[History, list[Finding]]:
    """After `process` delivered `message`, with the violations; those of `WATCHED` properties only if `watched`."""
    entry = next((pending for pending in history.pending if pending.message == message), None)
    if entry is None or process not in entry.due:
        kind = "at_most_once" if process in message.dsts else "no_creation"
        return history, [Finding(kind, process, message)]
    findings = []
    for before in history.pending:
        if process in before.due and before is not entry and entry.past & bit_of(before.message):
            findings.append(Finding("causal", process, message, before.message))
            if before.message.src == message.src:
                findings.append(Finding("fifo", process, message, before.message))
    bit = bit_of(message)
    pasts = list(history.pasts)
    pasts[process] |= entry.past | bit
    due = tuple(other for other in entry.due if other != process)
    if due:
        pending = [entry._replace(due=due) if other is entry else other for other in history.pending]
    else:
        keep = ~bit
        pasts = [past & keep for past in pasts]
        pending = [
            other._replace(past=other.past & keep) if other.past & bit else other
            for other in history.pending
            if other is not entry
        ]
    after = History(tuple(pasts), tuple(pending), history.order, history.overtaken)
    if "causally_ordered" in watched:
        over = tuple(one.missing for one in findings if one.property == "causal")
        if (message, process) in history.overtaken:
            findings.append(Finding("causally_ordered", process, message))
        late = {*history.overtaken, *((one, process) for one in over if one is not None)} - {(message, process)}
        after = after._replace(overtaken=tuple(sorted(late)))
    if "total_order" in watched:
        findings += _crossed(history, process, message)
        after = after._replace(order=_order(history, after, process, message))
    return after, findings


def _crossed(history: History, process: int, message: Message) -> list[Finding]:
    """The messages that `process` delivered before `message`, and another process after it."""
    due = {pending.message: pending.due for pending in history.pending}
    return [
        Finding("total_order", process, message, late)
        for early, late in history.order
        if early == message and process in late.dsts and process not in due.get(late, ())
    ]


def _order(before: History, after: History, process: int, message: Message) -> tuple[tuple[Message, Message], ...]:
    """The pairs after `process` delivered `message`."""
    earlier = {
        (pending.message, message)
        for pending in before.pending
        if process in pending.message.dsts and process not in pending.due
    }
    due = {pending.message: pending.due for pending in after.pending}
    return tuple(
        sorted(
            (early, late)
            for early, late in {*before.order, *earlier}
            if any(destination in late.dsts for destination in due.get(early, ()))
        )
    )
