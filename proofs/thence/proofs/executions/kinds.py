"""Kinds of executions, each a condition on the order of events alone; nothing is run.

From the strictest: *synchronous*: some global order has every receive right after its send, that is, there is no crown
(Charron-Bost, Mattern, Tel). *buffered*: there is an order of the insertions into input buffers (the `get` events of
Mattern and Fünfrocken, section 3.2) that agrees with the sends of each process, with the receives of each process, and
with s(m) < g(m) < r(m). *mailbox*: FIFO n-1, each process receives its messages in the order of their sends, in some
global order. *causal*, *fifo*: as in Almeida, section 4.1. *asynchronous*: any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise
from typing import Final, Literal, TypeAlias

from thence.proofs.executions.ordering import Ordering

Kind: TypeAlias = Literal["synchronous", "buffered", "mailbox", "causal", "fifo", "asynchronous"]

KINDS: Final[tuple[Kind, ...]] = ("synchronous", "buffered", "mailbox", "causal", "fifo", "asynchronous")
"""From the strictest; each contains those before it (`buffered` and `mailbox` are equal)."""

_Point: TypeAlias = tuple[str, int]
"""A send, get or receive of a message."""


def kinds_of(ordering: Ordering) -> frozenset[Kind]:
    """The kinds of the execution, each decided by its own definition. Raises: ValueError where it is no execution."""
    past = _past(ordering)
    found: set[Kind] = {"asynchronous"}
    if is_crown_free(ordering):
        found.add("synchronous")
    if _acyclic((*_local(ordering), *_gets(ordering))):
        found.add("buffered")
    if _acyclic((*_local(ordering), *_mail(ordering))):
        found.add("mailbox")
    overtaken = [
        (m, n)
        for line in ordering.processes
        for n, m in combinations([message for kind, message in line if kind == "receive"], 2)
        if ("send", m) in past["send", n]
    ]
    if not overtaken:
        found.add("causal")
    if not any(ordering.ends[m][0] == ordering.ends[n][0] for m, n in overtaken):
        found.add("fifo")
    return frozenset(found)


def strictest(ordering: Ordering) -> Kind:
    """The first of KINDS among the kinds of the execution."""
    found = kinds_of(ordering)
    return next(kind for kind in KINDS if kind in found)


def is_crown_free(ordering: Ordering) -> bool:
    """No s(1) < r(2), s(2) < r(3), ..., s(k) < r(1) with happened-before, k at least 2."""
    past = _past(ordering)
    messages = range(len(ordering.ends))
    return _acyclic(
        (("", m), ("", n)) for m in messages for n in messages if m != n and ("send", m) in past["receive", n]
    )


def _local(ordering: Ordering) -> Iterable[tuple[_Point, _Point]]:
    """The order of each process, and each send before its receive."""
    for line in ordering.processes:
        for first, second in pairwise(line):
            yield (first.kind, first.message), (second.kind, second.message)
    for message in range(len(ordering.ends)):
        yield ("send", message), ("receive", message)


def _gets(ordering: Ordering) -> Iterable[tuple[_Point, _Point]]:
    """Between its send and its receive each message is inserted, in the order of its sender and of its receiver."""
    for message in range(len(ordering.ends)):
        yield ("send", message), ("get", message)
        yield ("get", message), ("receive", message)
    for line in ordering.processes:
        for kind in ("send", "receive"):
            own = [event.message for event in line if event.kind == kind]
            for first, second in pairwise(own):
                yield ("get", first), ("get", second)


def _mail(ordering: Ordering) -> Iterable[tuple[_Point, _Point]]:
    """The messages that one process receives are sent in that order."""
    for line in ordering.processes:
        own = [event.message for event in line if event.kind == "receive"]
        for first, second in pairwise(own):
            yield ("send", first), ("send", second)


def _past(ordering: Ordering) -> Mapping[_Point, set[_Point]]:
    """The events that happened before each event. Raises: ValueError where it is no execution."""
    order = ordering.linear()
    if order is None:
        raise ValueError("the sends and receives wait for one another in a circle")
    last: dict[int, _Point] = {}
    past: dict[_Point, set[_Point]] = {}
    for process, event in order:
        point = (event.kind, event.message)
        causes = [last[process]] if process in last else []
        if event.kind == "receive":
            causes.append(("send", event.message))
        past[point] = {earlier for cause in causes for earlier in (*past[cause], cause)}
        last[process] = point
    return past


def _acyclic(edges: Iterable[tuple[_Point, _Point]]) -> bool:
    before: dict[_Point, set[_Point]] = {}
    for first, second in edges:
        before.setdefault(second, set()).add(first)
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return False
    return True
