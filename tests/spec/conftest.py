"""Random executions, as flat lists of choices that are interpreted leniently."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from thence.spec.events import Deliver, Event, Execution, Receive, Send

Choice = tuple[int, int, int]
Build = Callable[[int, Sequence[Choice]], Execution]


@pytest.fixture(scope="session")
def execution_of() -> Build:
    """Choice (what, who, which): 0-2 send, 3-6 receive a packet in flight, 7-9 deliver a received one, 10 again."""

    def build(processes: int, choices: Sequence[Choice]) -> Execution:
        events: list[Event] = []
        flying: list[tuple[int, str, int]] = []
        waiting: list[tuple[int, str]] = []
        delivered: list[tuple[int, str]] = []
        for what, who, which in choices:
            if what <= 2:
                sender, name = who % processes, f"m{len(events)}"
                others = [p for p in range(processes) if p != sender]
                destinations = tuple(p for bit, p in enumerate(others) if which >> bit & 1) or (others[0],)
                events.append(Send(sender, name, destinations))
                flying += [(sender, name, destination) for destination in destinations]
            elif what <= 6 and flying:
                sender, name, destination = flying.pop(which % len(flying))
                events.append(Receive(destination, name, sender))
                waiting.append((destination, name))
            elif what <= 9 and waiting:
                delivered.append(waiting.pop(which % len(waiting)))
                events.append(Deliver(*delivered[-1]))
            elif what == 10 and delivered:
                events.append(Deliver(*delivered[which % len(delivered)]))
        return Execution(processes, tuple(events))

    return build
