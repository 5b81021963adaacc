"""The coverage of a case, with a protocol or without one.

With a protocol: its handlers, branches and abstract states, through the replay. Without one: the *situations* of its
processes, as an outside observer distinguishes them. Both have the scenarios that any system may show.
"""

from __future__ import annotations

from thence.conformance.harness.coverage import MANY, CaseCoverage, CoveredReplay, Features, scenarios
from thence.conformance.replay.findings import DELIVERED, RECEIVED, SENT, CaseOutcome

SITUATIONS = (MANY + 1) ** 4
"""Number of situations."""


class Observer:
    """Measures the coverage of cases, which have run with its `replay` if it has one."""

    def __init__(self, replay: CoveredReplay | None) -> None:
        self._replay = replay
        self.features = Features.of(None) if replay is None else replay.features

    def reached(self, outcome: CaseOutcome) -> CaseCoverage:
        """The coverage of the case that has just ended."""
        if self._replay is not None:
            return self._replay.reached(outcome)
        bits = self.features.bits(("scenario", name) for name in scenarios(outcome))
        return CaseCoverage(bits, situations(outcome))


def situations(outcome: CaseOutcome) -> frozenset[int]:
    """The situations of processes in a case, each as a number below `SITUATIONS`.

    A situation has four numbers, counted up to `MANY`: messages sent, messages on the way to the process, messages
    that have arrived and wait, and processes from which it has delivered some.
    """
    count = outcome.settings.processes
    sent, coming = [0] * count, [0] * count
    waiting: list[set[str]] = [set() for _ in range(count)]
    heard: list[set[int]] = [set() for _ in range(count)]
    sender: dict[str, int] = {}
    found: set[int] = set()

    def look(process: int) -> None:
        number = 0
        for part in (sent[process], coming[process], len(waiting[process]), len(heard[process])):
            number = number * (MANY + 1) + min(part, MANY)
        found.add(number)

    for kind, process, message, other in outcome.log:
        if kind == SENT:
            sent[process] += 1
            sender[message] = process
            for destination in other if isinstance(other, tuple) else (other,):
                coming[destination] += 1
                look(destination)
        elif kind == RECEIVED:
            waiting[process].add(message)
        elif kind == DELIVERED and message in sender:
            coming[process] -= 1
            waiting[process].discard(message)
            heard[process].add(sender[message])
        look(process)
    return frozenset(found)
