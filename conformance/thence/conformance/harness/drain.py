"""The drain at the end of a case, so that every message that can still be delivered is delivered.

Every packet in flight arrives, oldest first. Then every timer fires, process by process. Both repeat until timers send
nothing more, or nothing new is delivered for a while. A message that is undelivered then is stuck.
"""

from __future__ import annotations

from typing import Final

from thence.conformance.harness.case import Case

PATIENCE: Final = 4
"""Rounds of timers, beyond one for each process, that may pass without a delivery."""


def drain(case: Case) -> None:
    """Lets everything arrive and timers fire, then judges the end of the case."""
    processes = case.settings.processes
    flights = case.network.flights
    waiting = 0
    while not case.over:
        before = case.judge.outstanding
        while flights and not case.over:
            case.receive(flights.pop(0))
        waiting = 0 if case.judge.outstanding != before else waiting + 1
        if waiting > (PATIENCE + processes if before else 1):
            break
        for process in range(processes):
            if not case.over:
                case.tick(process)
        if not flights:
            break
    if not case.over:
        case.judge.judge_end()
