"""Why no run of the protocol has the logged events: the first event that cannot be matched, and the deciding guard."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from thence.conformance.replay.configuration import Configuration
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.guards import Wanted
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.process_logs import Arrival, Delivery, Having, Sending
from thence.conformance.replay.replay import Input


@dataclass(frozen=True, slots=True)
class Refusal:
    """A configuration from which the next event cannot be matched.

    Attributes:
        steps: the protocol's steps.
        now: the configuration.
        matched: number of matched events.
        sent: (process, message) of every packet that was sent in any configuration that the search met.
    """

    steps: ObservedSteps
    now: Configuration
    matched: int
    sent: AbstractSet[tuple[int, str | None]]

    def divergence(self) -> Divergence:
        """The event that the protocol cannot do next, and why not."""
        return replace(self._found(), matched=self.matched)

    def _found(self) -> Divergence:
        process, _ = self.now.next()
        entry, state = self.now.entry(process), self.now.locals[process]
        assert entry is not None, "nothing is left to match, and no run was found"
        match entry:
            case Sending(number, destinations):
                return self._unlike(process, (number, destinations))
            case Having(name, arguments):
                return self._unlike(process, (name, arguments))
            case Arrival(message, sender):
                for packet in self.now.first(self.now.channels[sender * self.now.count + process]):
                    if self.steps.replay.carried(packet) == message:
                        return self._unlike(process, (packet,))
                return self._not_there(process, message, sender, f"receives {message} from p{sender}")
            case Delivery(message):
                for channel, packets in enumerate(self.now.channels):
                    for packet in packets if channel % self.now.count == process else ():
                        if self.steps.replay.carried(packet) == message and packet in self.now.first(packets):
                            expected = self.steps.step(process, state, (packet,))
                            return self.steps.replay.explain(process, state, expected, ((message,),), 0)
                source = self.steps.logs.messages[message].src
                return self._not_there(process, message, source, f"delivers {message}")

    def _unlike(self, process: int, given: Input) -> Divergence:
        """The step is possible and does something else than the log says, or it is not possible."""
        state = self.now.locals[process]
        expected = self.steps.step(process, state, given)
        got = []
        for entry in self.now.entries[process][self.now.places[process] + 1 :]:
            if not isinstance(entry, Delivery):
                break
            got.append((entry.message,))
        shown = {name for _, name in self.steps.deliveries(process, expected)}
        visible = [one for one in expected.signature if len(one) == 1 and one[0] in shown]
        # Packets are not compared: the signature has the protocol's own packets in their places.
        rest = iter(got[: len(visible)] if len(got) > len(visible) else got)
        filled = [one if len(one) != 1 or one[0] not in shown else next(rest, None) for one in expected.signature]
        signature = tuple(one for one in filled if one is not None)
        return self.steps.replay.explain(process, state, expected, signature, 0)

    def _not_there(self, process: int, message: str, source: int, said: str) -> Divergence:
        """No packet with the message can arrive: it has come already and is kept, or it has not been sent."""
        came = 0 <= self.steps.logs.last_arrival(process, message) < self.now.places[process]
        came = came or self.steps.logs.messages[message].src == process or (process, message) in self.sent
        where, wanted = (process, [Wanted(None)]) if came else (source, self._carrying(process))
        guard = None
        if (last := self.now.last[where]) is not None:
            found = (self.steps.replay.preventing(where, *last, one) for one in wanted)
            guard = next((one for one in found if one is not None), None)
        own = self.now.last[process]
        title = "at first" if own is None else f"after {self.steps.replay.title(own[1])}"
        expected = f"keeps {message}" if came else f"has no packet with {message} on its way from p{source}"
        return Divergence(process, title, expected, said, self.matched, guard)

    def _carrying(self, process: int) -> list[Wanted]:
        """The packets with a message that could go to the process."""
        return [Wanted(kind.name, process) for kind in self.steps.replay.protocol.packets if kind.carries is not None]
