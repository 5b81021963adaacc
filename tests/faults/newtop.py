"""Faulty implementations of Newtop's order by Lamport clocks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.newtop import Kept, Msg, Newtop, Null


class Silent(Newtop):
    """No null messages: the last broadcasts wait for ever for who has nothing to say (T.3). Finding: stuck."""

    FAULT: ClassVar[str] = "null messages missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self) -> list[Command]:
        return []


class ClockNotAdvanced(Newtop):
    """What is received does not advance the clock: a process with a low clock never says that it is far enough.

    Finding: stuck.
    """

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _advance(self, clock: int) -> None:
        return


class DoesNotWait(Newtop):
    """What has the lowest clock of what is there is delivered; nobody is waited for (D.2). Finding: total_order."""

    FAULT: ClassVar[str] = "condition left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, kept: Kept) -> bool:
        return True


class OneIsEnough(Newtop):
    """A message is delivered once any process is as far as its clock (D.2). Finding: total_order."""

    FAULT: ClassVar[str] = "maximum for minimum"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, kept: Kept) -> bool:
        return kept.clock <= max(self._last)


class LastProcessLeftOut(Newtop):
    """Nobody waits for the last process. Finding: total_order."""

    FAULT: ClassVar[str] = "loop over the processes ends too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, kept: Kept) -> bool:
        return kept.clock <= min(self._last[:-1])


class OffByOne(Newtop):
    """A process that is one below the clock is far enough (D.2). Finding: total_order."""

    FAULT: ClassVar[str] = "comparison off by one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, kept: Kept) -> bool:
        return kept.clock <= min(self._last) + 1


class TiesByArrival(Newtop):
    """Of equal clocks, what came first is delivered first (D.1). Finding: total_order."""

    FAULT: ClassVar[str] = "tie not broken"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_in_order(self) -> list[Command]:
        commands: list[Command] = []
        while self._kept:
            first = min(self._kept, key=lambda kept: kept.clock)
            if not self._deliverable(first):
                break
            self._kept.remove(first)
            commands.append(Deliver(first.sender, first.packet.message))
        return commands

    def _take(self, sender: int, packet: Msg) -> None:
        self._last[sender] = packet.clock
        self._kept.append(Kept(packet.clock, sender, packet))


class ByArrival(Newtop):
    """What is below the minimum is delivered as it came, not by clocks (D.1). Finding: total_order."""

    FAULT: ClassVar[str] = "order of the waiting queue ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _take(self, sender: int, packet: Msg) -> None:
        self._last[sender] = packet.clock
        self._kept.append(Kept(packet.clock, sender, packet))

    def _deliver_in_order(self) -> list[Command]:
        able = [kept for kept in self._kept if self._deliverable(kept)]
        self._kept = [kept for kept in self._kept if not self._deliverable(kept)]
        return [Deliver(kept.sender, kept.packet.message) for kept in able]


class NotToOneself(Newtop):
    """A process does not deliver its own broadcasts (S.2). Finding: stuck."""

    FAULT: ClassVar[str] = "own entries dropped"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_in_order(self) -> list[Command]:
        commands = super()._deliver_in_order()
        return [one for one in commands if isinstance(one, Deliver) and one.sender != self._group.identity]


class AtOnceAtItsSender(Newtop):
    """A process delivers its own broadcasts when it sends them. Finding: total_order."""

    FAULT: ClassVar[str] = "own broadcasts not ordered"
    FINDINGS: ClassVar[tuple[str, ...]] = ("total_order", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        identity = self._group.identity
        commands = [*super().causal_send(message), Deliver(identity, message)]
        self._kept = [kept for kept in self._kept if kept.sender != identity]
        mine = [one for one in commands if one == Deliver(identity, message)]
        return [one for one in commands if one not in mine] + mine[:1]


class NullTooHigh(Newtop):
    """A null message says more than its sender keeps: the next message has the same clock. Finding: crash."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("crash",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self) -> list[Command]:
        commands = super().tick()
        return [
            Send(one.destination, Null(one.packet.clock + 1))
            if isinstance(one, Send) and isinstance(one.packet, Null)
            else one
            for one in commands
        ]


FAULTS: list[type] = [
    Silent,
    ClockNotAdvanced,
    DoesNotWait,
    OneIsEnough,
    LastProcessLeftOut,
    OffByOne,
    TiesByArrival,
    ByArrival,
    NotToOneself,
    AtOnceAtItsSender,
    NullTooHigh,
]
