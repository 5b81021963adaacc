"""Arrivals before their message's place in the execution: could they change the verdict?

The logs of different processes fit together in many orders. In another order than that of the execution at hand, a
packet may have arrived earlier. Where only causal sends send, that is all that another order could add.
"""

from __future__ import annotations

from typing import Final

from thence.conformance.replay.configuration import Configuration
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.postponement import Postponement
from thence.conformance.replay.process_logs import Sending
from thence.dsl.run.values import Message

_MOST_TESTED: Final = 20_000
"""Entries that are tested; beyond, an arrival is taken to have an effect."""


class EarlyArrivals:
    """Tests the arrivals of a configuration whose past steps are remembered."""

    def __init__(self, steps: ObservedSteps, now: Configuration, postponement: Postponement) -> None:
        self._steps = steps
        self._now = now
        self._postponement = postponement
        self._tested = 0

    def has_effect(self, process: int, packet: int) -> bool:
        """Whether the packet, sent just now, could have had an effect at the process before this point of its log."""
        carried = self._steps.replay.carried(packet)
        if carried is None or self._steps.replay.chooses:
            return True
        log = self._now.entries[process]
        for place in range(self._now.places[process] - 1, -1, -1):
            entry = log[place]
            if isinstance(entry, Sending):
                sent = Message(process, entry.number, entry.destinations).name
                if sent == carried or self._steps.logs.before(sent, carried):
                    return False
            self._tested += 1
            if self._tested > _MOST_TESTED:
                return True
            state, given = self._now.past[process][place]
            if self._postponement.is_silent(process, state, (packet,)) and not self._postponement.can_swap(
                process, (state, state), (packet,), given
            ):
                return True
        return False
