"""Total order of deliveries, judged from an execution alone: no two messages in different orders at two processes."""

from __future__ import annotations

from dataclasses import dataclass

from thence.spec.events import Deliver, Execution, printable


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two messages that two processes deliver in different orders; of repeated deliveries the first one counts."""

    one: str
    other: str
    one_first: int
    other_first: int

    def __str__(self) -> str:
        one, other = printable(self.one), printable(self.other)
        return f"p{self.one_first} delivers {one} before {other}, p{self.other_first} the other way round"


def first_crossing(execution: Execution) -> Crossing | None:
    """The crossing that is complete first, or None where the deliveries agree. Quadratic in the deliveries."""
    delivered: list[list[str]] = [[] for _ in range(execution.processes)]
    earlier: dict[tuple[str, str], int] = {}
    for event in execution.events:
        if not isinstance(event, Deliver) or event.message in delivered[event.process]:
            continue
        here = delivered[event.process]
        for before in here:
            elsewhere = earlier.get((event.message, before))
            if elsewhere is not None:
                return Crossing(event.message, before, elsewhere, event.process)
        for before in here:
            earlier.setdefault((before, event.message), event.process)
        here.append(event.message)
    return None
