"""The ghost that watches an exploration: causal pasts over undelivered messages.

Per process and per undelivered message, a mask of the undelivered messages in its causal past
(happens-before as in Almeida, section 4.1). Delivered messages are dropped from every mask: every check
reads undelivered members only, so this collection is exact (a bisimulation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from whence.dsl.values import Message


class Pending(NamedTuple):
    """A message that some destination has not delivered: to whom it is due, and its causal past as a mask."""

    message: Message
    due: tuple[int, ...]
    past: int


class Ghost(NamedTuple):
    """`pasts[p]` is the mask of the undelivered messages in the past of process p; `pending` is ascending."""

    pasts: tuple[int, ...]
    pending: tuple[Pending, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A property that an event violates: `message` at `process`, over `missing` where a predecessor is."""

    property: str
    process: int
    message: Message | None = None
    missing: Message | None = None
    detail: str = ""


def sent(ghost: Ghost, process: int, message: Message, bit: int) -> Ghost:
    """After `process` causal-sent `message`, whose mask bit is `bit`."""
    pasts = list(ghost.pasts)
    entry = Pending(message, message.dsts, pasts[process])
    pasts[process] |= bit
    return Ghost(tuple(pasts), tuple(sorted((*ghost.pending, entry))))


def network_sent(ghost: Ghost, process: int, message: Message, bit_of: Callable[[Message], int]) -> list[Finding]:
    """What CSPS and SPS (Almeida, Definitions 4.1 and 4.3) have against network-sending `message` now.

    Judged for every sender k: that k also sent something to `process` is implied where k's message is in the past.
    """
    entry = next((pending for pending in ghost.pending if pending.message == message), None)
    if entry is None:
        return []
    findings = []
    for before in ghost.pending:
        if entry.past & bit_of(before.message) and before.message.src != process:
            findings.append(Finding("csps", process, message, before.message))
            elsewhere = any(due != process for due in before.due)
            if elsewhere and before.message.src not in message.dsts:
                findings.append(Finding("sps", process, message, before.message))
    return findings


def delivered(
    ghost: Ghost, process: int, message: Message, bit_of: Callable[[Message], int]
) -> tuple[Ghost, list[Finding]]:
    """After `process` delivered `message`, and what is wrong with that."""
    entry = next((pending for pending in ghost.pending if pending.message == message), None)
    if entry is None or process not in entry.due:
        kind = "at_most_once" if process in message.dsts else "no_creation"
        return ghost, [Finding(kind, process, message)]
    findings = []
    for before in ghost.pending:
        if process in before.due and before is not entry and entry.past & bit_of(before.message):
            findings.append(Finding("causal", process, message, before.message))
            if before.message.src == message.src:
                findings.append(Finding("fifo", process, message, before.message))
    bit = bit_of(message)
    pasts = list(ghost.pasts)
    pasts[process] |= entry.past | bit
    due = tuple(other for other in entry.due if other != process)
    if due:
        pending = [entry._replace(due=due) if other is entry else other for other in ghost.pending]
    else:
        keep = ~bit
        pasts = [past & keep for past in pasts]
        pending = [
            other._replace(past=other.past & keep) if other.past & bit else other
            for other in ghost.pending
            if other is not entry
        ]
    return Ghost(tuple(pasts), tuple(pending)), findings
