"""Faulty implementations of Cykas."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.cykas import Cykas, Eager, Normal


class SecretModeIgnored(Cykas):
    """A process sends although it has secrets to keep (A2.2 left out). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "secret mode ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _sendable(self, receiver: int) -> bool:
        return not self._unack >> receiver & 1


class AnswersEagerSender(Cykas):
    """Section 2.3: in secret mode, messages to the latest eager sender still leave. Finding: causal (5 messages)."""

    FAULT: ClassVar[str] = "secret mode too weak"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._confidant: int | None = None

    def _receive_message(self, sender: int, packet: Normal | Eager) -> list[Command]:
        if isinstance(packet, Eager):
            self._confidant = sender
        return super()._receive_message(sender, packet)

    def _sendable(self, receiver: int) -> bool:
        told = self._mode == 0 or receiver == self._confidant
        return told and not self._unack >> receiver & 1


class SecretAsFlag(Cykas):
    """The number of YCTs awaited is only a flag: the first YCT ends secret mode. Finding: causal."""

    FAULT: ClassVar[str] = "counter kept as a flag"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_message(self, sender: int, packet: Normal | Eager) -> list[Command]:
        commands = super()._receive_message(sender, packet)
        self._mode = min(self._mode, 1)
        return commands

    def _receive_yct(self, sender: int) -> list[Command]:
        self._mode = 0
        return self._try_send_message()


class TellsTooEarly(Cykas):
    """A YCT leaves as soon as its receiver has acknowledged, whoever else has not. Finding: causal."""

    FAULT: ClassVar[str] = "permit too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _tellable(self, receiver: int) -> bool:
        return not self._unack >> receiver & 1


class AlwaysNormal(Cykas):
    """Every message goes out as a normal one. Finding: causal."""

    FAULT: ClassVar[str] = "secrets not marked"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _try_send_message(self) -> list[Command]:
        commands: list[Command] = []
        while self._ob and self._sendable(self._ob[0][0]):
            receiver, message = self._ob.popleft()
            commands.append(Send(receiver, Normal(message)))
            self._unack |= 1 << receiver
        return commands


class SeveralPerReceiver(Cykas):
    """A message does not wait until the one before it to the same receiver is acknowledged (A2.7). Finding: fifo."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _sendable(self, receiver: int) -> bool:
        return self._mode == 0

    def _receive_ack(self, sender: int) -> list[Command]:
        return super()._receive_ack(sender) if self._unack >> sender & 1 else []

    def _receive_yct(self, sender: int) -> list[Command]:
        return super()._receive_yct(sender) if self._mode > 0 else []


class EagerNotAcknowledged(Cykas):
    """Eager messages are delivered and not acknowledged. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_message(self, sender: int, packet: Normal | Eager) -> list[Command]:
        commands = super()._receive_message(sender, packet)
        return [command for command in commands if isinstance(packet, Normal) or isinstance(command, Deliver)]


class NoSendOnYct(Cykas):
    """The last YCT ends secret mode, and the output buffer is not looked at again (A5.2 left out). Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_yct(self, sender: int) -> list[Command]:
        super()._receive_yct(sender)
        return []


class AsPrinted(Cykas):
    """Algorithm 4 as in the text that we have: try to send once for each receiver of eager messages, so not at all
    where there is none. Finding: stuck (2 messages to one receiver), and causal (6 messages)."""

    FAULT: ClassVar[str] = "Algorithm 4 as printed"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._eager_receivers: set[int] = set()

    def _try_send_message(self) -> list[Command]:
        commands = super()._try_send_message()
        for command in commands:
            if isinstance(command, Send) and isinstance(command.packet, Eager):
                self._eager_receivers.add(command.destination)
        return commands

    def _receive_ack(self, sender: int) -> list[Command]:
        self._unack &= ~(1 << sender)
        commands: list[Command] = []
        for receiver in sorted(self._eager_receivers):
            notes = self._eager_sent[receiver]
            for position in range(len(notes)):
                notes[position] &= ~(1 << sender)
            commands += self._try_send_yct(receiver)
            commands += self._try_send_message()
        return commands


class TellsTwice(Cykas):
    """Every YCT is sent twice. Finding: causal, since the receiver counts (and an unexpected YCT)."""

    FAULT: ClassVar[str] = "retransmission without idempotence"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _try_send_yct(self, receiver: int) -> list[Command]:
        return [command for command in super()._try_send_yct(receiver) for _ in range(2)]

    def _receive_yct(self, sender: int) -> list[Command]:
        return super()._receive_yct(sender) if self._mode > 0 else []


FAULTS: list[type] = [
    SecretModeIgnored,
    AnswersEagerSender,
    SecretAsFlag,
    TellsTooEarly,
    AlwaysNormal,
    SeveralPerReceiver,
    EagerNotAcknowledged,
    NoSendOnYct,
    AsPrinted,
    TellsTwice,
]
