"""Faulty implementations of FIFO delivery by sequence numbers. That it is not causal is no fault of theirs."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.fifo import Ack, Fifo, Msg


class NothingDelayed(Fifo):
    """Whatever arrives for the first time is delivered at once. Finding: fifo."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        if packet.number in self._early[sender]:
            return [Send(sender, Ack(packet.number))]
        self._early[sender][packet.number] = packet
        return [Deliver(sender, packet.message), Send(sender, Ack(packet.number))]


class OlderDropped(Fifo):
    """What is older than the last one delivered is taken for a duplicate, though it never came. Finding: stuck."""

    FAULT: ClassVar[str] = "highest number taken for the last one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _deliverable(self, sender: int) -> bool:
        if self._early[sender]:
            self._arrived[sender] = max(self._arrived[sender], min(self._early[sender]) - 1)
        return super()._deliverable(sender)


class NoDuplicateFilter(Fifo):
    """A message that has been delivered is delivered again when it comes again (R.1). Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        again = packet.number <= self._arrived[sender]
        commands = super()._receive_msg(sender, packet)
        return [Deliver(sender, packet.message), *commands] if again else commands


class NoRetransmission(Fifo):
    """Nothing is sent again (T.1 left out). Finding: stuck, where a message is lost."""

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def tick(self) -> list[Command]:
        return []


class AckOfTheNewest(Fifo):
    """The message that came is acknowledged, and with it the earlier ones that did not (R.4). Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement of what has not arrived"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        *deliveries, _ = super()._receive_msg(sender, packet)
        return [*deliveries, Send(sender, Ack(packet.number))]


class OldestOnly(Fifo):
    """Only the first of the waiting messages is delivered when what it waited for arrives. Finding: over_delay."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("over_delay",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        self._require_consistent(sender, packet)
        if packet.number > self._arrived[sender]:
            self._early[sender][packet.number] = packet
        commands: list[Command] = []
        if self._deliverable(sender):
            self._arrived[sender] += 1
            commands.append(Deliver(sender, self._early[sender].pop(self._arrived[sender]).message))
        return [*commands, Send(sender, Ack(self._arrived[sender]))]


FAULTS: list[type] = [
    NothingDelayed,
    OlderDropped,
    NoDuplicateFilter,
    NoRetransmission,
    AckOfTheNewest,
    OldestOnly,
]
