"""Faulty implementations of CBCAST."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import ClassVar

from thence.impl.cbcast import CBCAST, Msg
from thence.impl.commands import Command, Deliver, Send


class MergeDiscarded(CBCAST):
    """A broadcast carries what its sender has sent, and nothing of what it has delivered (D.2). Finding: causal."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        identity = self._group.identity
        merged, self._vt = self._vt, [0] * self._group.processes
        self._vt[identity] = merged[identity]
        commands = super().causal_send(message)
        merged[identity], self._vt = self._vt[identity], merged
        return commands


class OwnEntryDropped(CBCAST):
    """A broadcast does not count the ones before it of the same process: all have the number 1. Finding: stuck."""

    FAULT: ClassVar[str] = "own entries dropped"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        commands = super().causal_send(message)
        self._vt[self._group.identity] = 0
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return


class ClockAfterDelivery(CBCAST):
    """The clock is raised when the application has the broadcast: its answers do not count it. Finding: causal."""

    FAULT: ClassVar[str] = "clock updated after the delivery callback"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("reactive",)

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._before = list(self._vt)

    def causal_send(self, message: Hashable) -> list[Command]:
        identity = self._group.identity
        raised, self._vt = self._vt, list(self._before)
        self._vt[identity] = raised[identity]
        commands = super().causal_send(message)
        raised[identity], self._vt = self._vt[identity], raised
        self._before = list(raised)
        return commands

    def receive(self, sender: int, packet: Msg) -> list[Command]:
        self._before = list(self._vt)
        return super().receive(sender, packet)


class SenderLeftOut(CBCAST):
    """A broadcast does not wait for the earlier ones of its sender (R.2). Finding: fifo."""

    FAULT: ClassVar[str] = "sender's entry left out of the condition"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, packet: Msg) -> bool:
        return all(packet.vt[k] <= self._vt[k] for k in range(self._group.processes) if k != sender)

    def _deliver_from(self, sender: int) -> list[Command]:
        delayed = self._delayed[sender]
        commands: list[Command] = []
        for number in sorted(delayed):
            if self._deliverable(sender, delayed[number]):
                packet = delayed.pop(number)
                commands.append(Deliver(sender, packet.message))
                self._vt = list(map(max, self._vt, packet.vt))
        if not delayed:
            del self._delayed[sender]
        return commands


class OthersLeftOut(CBCAST):
    """A broadcast waits for the earlier ones of its sender only (R.3). Finding: causal."""

    FAULT: ClassVar[str] = "condition drops the entries of others"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, packet: Msg) -> bool:
        return packet.vt[sender] == self._vt[sender] + 1


class OffByOne(CBCAST):
    """One missing broadcast of another process is tolerated. Finding: causal."""

    FAULT: ClassVar[str] = "comparison off by one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int, packet: Msg) -> bool:
        others = [k for k in range(self._group.processes) if k != sender]
        return packet.vt[sender] == self._vt[sender] + 1 and all(packet.vt[k] <= self._vt[k] + 1 for k in others)


class LastSenderOnly(CBCAST):
    """Only what waits from the sender of the packet is looked at (R.4). Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def receive(self, sender: int, packet: Msg) -> list[Command]:
        self._last_sender = sender  # what the fault looks at
        return super().receive(sender, packet)

    def _deliver_what_waits_for_nothing(self) -> list[Command]:
        return self._deliver_from(self._last_sender)


class OneRound(CBCAST):
    """What a delivery of the same round makes deliverable at a lower process is not looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting queue not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_what_waits_for_nothing(self) -> list[Command]:
        return [command for sender in sorted(self._delayed) for command in self._deliver_from(sender)]


class SelfDelivery(CBCAST):
    """The application of the sender gets its own broadcast, which was not sent to it. Finding: phantom."""

    FAULT: ClassVar[str] = "delivered at its sender"
    FINDINGS: ClassVar[tuple[str, ...]] = ("phantom",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        return [*super().causal_send(message), Deliver(self._group.identity, message)]


class NoDuplicateFilter(CBCAST):
    """A broadcast that has been delivered is delivered when it comes again. Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ("duplication",)

    def receive(self, sender: int, packet: Msg) -> list[Command]:
        again = packet.vt[sender] <= self._vt[sender]
        return [Deliver(sender, packet.message)] if again else super().receive(sender, packet)


class LastProcessForgotten(CBCAST):
    """The last process gets no broadcasts. Finding: stuck."""

    FAULT: ClassVar[str] = "loop over the destinations ends too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        sends = [command for command in super().causal_send(message) if isinstance(command, Send)]
        return [send for send in sends if send.destination != self._group.processes - 1]


class OldClock(CBCAST):
    """A broadcast carries the clock from before it was counted. Finding: stuck, for the first one has the number 0."""

    FAULT: ClassVar[str] = "metadata from before the send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, message: Hashable) -> list[Command]:
        before = tuple(self._vt)
        sends = [command for command in super().causal_send(message) if isinstance(command, Send)]
        return [Send(send.destination, replace(send.packet, vt=before)) for send in sends]

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return


FAULTS: list[type] = [
    MergeDiscarded,
    OwnEntryDropped,
    ClockAfterDelivery,
    SenderLeftOut,
    OthersLeftOut,
    OffByOne,
    LastSenderOnly,
    OneRound,
    SelfDelivery,
    NoDuplicateFilter,
    LastProcessForgotten,
    OldClock,
]
