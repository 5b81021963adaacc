"""The drain at the end of a case, so that every message that can still be delivered is delivered.

Every packet in flight arrives, oldest first. Then every timer fires, process by process. Both repeat until nothing
changes any more: everything is delivered, and timers bring neither packets nor deliveries; or for many rounds in a row
nothing was delivered. A message that is undelivered then is stuck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from thence.conformance.harness.case import Case

PATIENCE: Final = 12
"""Rounds of timers in a row, beyond one for each process, that may pass without a delivery while messages wait. A timer
may count, or send and be answered, before it has an effect; one that has none within so many rounds is taken to have
none at all."""


def drain(case: Case) -> None:
    """Lets everything arrive and timers fire, then judges the end of the case. No answer comes later."""
    for _ in draining(case):
        raise AssertionError("an answer is awaited")


def draining(case: Case) -> Iterator[None]:
    """The same, by and by: it stops wherever the case awaits an answer."""
    processes = case.settings.processes
    flights, judge = case.network.flights, case.judge
    left, idle, rounds = judge.outstanding, 0, 0
    while not case.over:
        while flights and not case.over:
            case.receive(flights.pop(0))
            if case.awaited is not None:
                yield
        idle = 0 if judge.outstanding != left else idle + 1
        left = judge.outstanding
        if case.over or not case.has_timers or idle > (PATIENCE + processes if left else 1):
            break
        for timer in case.timers:
            for process in range(processes):
                if not case.over:
                    case.tick(process, timer)
                    if case.awaited is not None:
                        yield
        rounds += 1
        if not flights and not left:
            break
    if not case.over:
        judge.judge_end(max(0, min(idle - 1, rounds)))
