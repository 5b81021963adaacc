"""Faulty implementations of the optimal multicast of Kshemkalyani and Singhal."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import replace
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.ks import KS, Entry, Log, Msg, merged, purged, without


class MergeDiscarded(KS):
    """What comes with a message is not merged into the log, only the message itself is (R.4). Finding: causal."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        super()._record_delivery(sender, replace(packet, log=()))


class DestinationOnly(KS):
    """A message tells only what its own destination has to wait for (S.2). Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered to the destination only"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _log_for(self, receiver: int, mask: int) -> Log:
        return purged(without(self._log, ~(1 << receiver)))


class OwnEntriesDropped(KS):
    """A message does not tell of earlier ones of its sender (S.2). Finding: fifo."""

    FAULT: ClassVar[str] = "own entries dropped"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _log_for(self, receiver: int, mask: int) -> Log:
        told = super()._log_for(receiver, mask)
        return tuple([entry for entry in told if entry.sender != self._group.identity])


class DestinationLeftOut(KS):
    """A message does not tell its destination what that has to wait for: all its destinations are left out (S.2).

    Finding: fifo.
    """

    FAULT: ClassVar[str] = "own destination left out of the metadata"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _log_for(self, receiver: int, mask: int) -> Log:
        return purged(without(self._log, mask))


class MessageNotAdded(KS):
    """The message itself is not added to what it tells (R.3): who answers it does not tell of it. Finding: causal."""

    FAULT: ClassVar[str] = "metadata of the message itself missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        super()._record_delivery(sender, replace(packet, destinations=0))


class LogAfterDelivery(KS):
    """The log is merged with the next message: an answer does not tell of what it answers. Finding: causal."""

    FAULT: ClassVar[str] = "clock updated after the delivery callback"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("reactive",)

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._late: list[Log] = []

    def receive(self, sender: int, packet: Msg) -> list[Command]:
        for told in self._late:
            self._log = purged(merged(self._log, told))
        self._late = []
        return super().receive(sender, packet)

    def _merge(self, told: Log) -> None:
        self._late.append(told)


class HeadOnly(KS):
    """Only the message that waits the longest is looked at (R.5). Finding: stuck."""

    FAULT: ClassVar[str] = "only the head of the waiting queue looked at"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliver_from(self, start: int) -> list[Command]:
        commands: list[Command] = []
        while self._waiting and self._deliverable(self._waiting[0][1]):
            sender, packet = self._waiting.pop(0)
            commands.append(Deliver(sender, packet.message))
            self._record_delivery(sender, packet)
        return commands


class SenderLeftOut(KS):
    """A message does not wait for those of its own sender (R.1). Finding: fifo."""

    FAULT: ClassVar[str] = "sender's entry left out of the condition"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, packet: Msg) -> bool:
        sender = next(sender for sender, waiting in self._waiting if waiting is packet)
        others = tuple([entry for entry in packet.log if entry.sender != sender])
        return super()._deliverable(replace(packet, log=others))


class OffByOne(KS):
    """One missing message is tolerated: the comparison in R.1 is off by one. Finding: fifo."""

    FAULT: ClassVar[str] = "comparison off by one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, packet: Msg) -> bool:
        earlier = tuple([entry._replace(number=entry.number - 1) for entry in packet.log])
        return super()._deliverable(replace(packet, log=earlier))


class Intersected(KS):
    """Entries that only one of the logs has go (R.4). Finding: causal."""

    FAULT: ClassVar[str] = "intersection for union"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, told: Log) -> None:
        both = merged(self._log, told)
        senders = {entry.sender for entry in self._log}
        known = {entry[:2] for entry in self._log}
        self._log = tuple([entry for entry in both if entry.sender not in senders or entry[:2] in known])


class LogOverwritten(KS):
    """What comes with a message takes the place of the log (R.4). Finding: causal."""

    FAULT: ClassVar[str] = "row overwritten on receipt"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _merge(self, told: Log) -> None:
        self._log = told


class SendsForget(KS):
    """A send clears the log: it tells of itself only (S.3). Finding: causal."""

    FAULT: ClassVar[str] = "row overwritten on send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _record_send(self, mask: int) -> None:
        self._log = (Entry(self._group.identity, self._clock, mask),)


class NoDuplicateFilter(KS):
    """A message that has been delivered is delivered again when it comes again. Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ("duplication",)

    def receive(self, sender: int, packet: Msg) -> list[Command]:
        again = packet.number <= self._delivered[sender]
        return [Deliver(sender, packet.message)] if again else super().receive(sender, packet)


class LastDestinationForgotten(KS):
    """The last destination gets nothing. Finding: stuck."""

    FAULT: ClassVar[str] = "loop over the destinations ends too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        commands = super().causal_send(destinations, message)
        return [one for one in commands if isinstance(one, Send) and one.destination != max(destinations)]


FAULTS: list[type] = [
    MergeDiscarded,
    DestinationOnly,
    OwnEntriesDropped,
    DestinationLeftOut,
    MessageNotAdded,
    LogAfterDelivery,
    HeadOnly,
    SenderLeftOut,
    OffByOne,
    Intersected,
    LogOverwritten,
    SendsForget,
    NoDuplicateFilter,
    LastDestinationForgotten,
]
