"""Faulty implementations of Skeen's total order."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.skeen import Final, Msg, Name, Priority, Propose, Round, Skeen, Waiting


class OwnNumbersOnly(Skeen):
    """A final priority does not raise the clock (F.1). Finding: total_order."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"

    def _see(self, number: int) -> None:
        return


class Lowest(Skeen):
    """The sender decides for the lowest proposal (D.1). Finding: crash, where it is below one's own."""

    FAULT: ClassVar[str] = "minimum for maximum"

    def _preferred(self, one: Priority, other: Priority) -> Priority:
        return other if one.process < 0 else min(one, other)


class TiesByArrival(Skeen):
    """Of proposals with equal numbers the first to come is kept, whichever process's it is (D.1). Finding: crash."""

    FAULT: ClassVar[str] = "`<` for `<=`"

    def _preferred(self, one: Priority, other: Priority) -> Priority:
        return other if one.number < other.number else one


class TiesLost(Skeen):
    """Final priorities name the last process, whoever proposed them: ties are not broken. Finding: nonconformance."""

    FAULT: ClassVar[str] = "ties not broken"

    def _receive_propose(self, sender: int, packet: Propose) -> list[Command]:
        me = self._group.processes - 1
        commands = super()._receive_propose(sender, packet)
        finals = [(one.destination, one.packet) for one in commands if isinstance(one, Send)]
        return [Send(to, Final(final.mid, final.number, me)) for to, final in finals if isinstance(final, Final)]


class FirstAnswer(Skeen):
    """The sender decides when the first proposal is there (D.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "one acknowledgement counts for all"

    def _receive_propose(self, sender: int, packet: Propose) -> list[Command]:
        known = self._rounds.pop(packet.mid, None)
        if known is None:
            return []
        return [Send(receiver, Final(packet.mid, packet.number, sender)) for receiver in known.destinations]


class DoesNotWait(Skeen):
    """What is deliverable is delivered, whatever is undecided before it (F.3). Finding: total_order."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _deliver_from_the_head(self) -> list[Command]:
        final = sorted((known.priority, name) for name, known in self._waiting.items() if known.final)
        return [Deliver(name.sender, self._waiting.pop(name).message) for _, name in final]


class NotSorted(Skeen):
    """The queue keeps the order of arrival (F.2). Finding: total_order."""

    FAULT: ClassVar[str] = "order of the waiting queue ignored"

    def _head(self) -> Name | None:
        return next(iter(self._waiting), None)


class DeliversOne(Skeen):
    """One final priority lets one message go (F.3). Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"

    def _deliver_from_the_head(self) -> list[Command]:
        name = self._head()
        if name is None or not self._waiting[name].final:
            return []
        return [Deliver(name.sender, self._waiting.pop(name).message)]


class DeliversAtOnce(Skeen):
    """A message is delivered when it arrives, and its priority is for show. Finding: total_order."""

    FAULT: ClassVar[str] = "no waiting at all"

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        return [*super()._receive_msg(sender, packet), Deliver(sender, packet.message)]

    def _deliver_from_the_head(self) -> list[Command]:
        self._waiting = {name: known for name, known in self._waiting.items() if not known.final}
        return []


class DoesNotCount(Skeen):
    """A process proposes the same number until something is decided (P.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "counter not advanced"

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        commands = super()._receive_msg(sender, packet)
        self._clock -= 1
        return commands


class ForgetsOne(Skeen):
    """Nobody tells the last destination what was decided (D.2). Finding: stuck."""

    FAULT: ClassVar[str] = "loop over the destinations ends too early"

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        commands = super().causal_send(destinations, message)
        known = self._rounds[self._sent]
        self._rounds[self._sent] = Round(known.destinations[:-1] or known.destinations, known.missing, known.highest)
        return commands


class Doubled(Skeen):
    """What is delivered stays in the queue once more. Finding: duplicate."""

    FAULT: ClassVar[str] = "delivered messages not removed"

    def _deliver_from_the_head(self) -> list[Command]:
        commands: list[Command] = []
        while (name := self._head()) is not None and self._waiting[name].final:
            known: Waiting = self._waiting.pop(name)
            commands += [Deliver(name.sender, known.message)] * 2
        return commands


FAULTS: list[type] = [
    OwnNumbersOnly,
    Lowest,
    TiesByArrival,
    TiesLost,
    FirstAnswer,
    DoesNotWait,
    NotSorted,
    DeliversOne,
    DeliversAtOnce,
    DoesNotCount,
    ForgetsOne,
    Doubled,
]
