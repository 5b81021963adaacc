"""Faulty implementations of Almeida's Algorithm 3."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Set
from dataclasses import replace
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.hybrid_basic import Ack, Msg, Permit
from thence.impl.hybrid_multicast import HybridMulticast, Unsent


class MulticastsUnflagged(HybridMulticast):
    """Several receivers are no reason for permits (A3.13): who has a message does not wait for the others.

    Finding: causal, never fifo.
    """

    FAULT: ClassVar[str] = "permit flag missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _needs_permits(self, unsent: Unsent) -> bool:
        return self._u.size > 0


class UnackedUnflagged(HybridMulticast):
    """Unacknowledged messages are no reason for permits (A3.13). Finding: causal."""

    FAULT: ClassVar[str] = "permit flag missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _needs_permits(self, unsent: Unsent) -> bool:
        return len(unsent.pids) > 1


class PermitNotAwaited(HybridMulticast):
    """Messages leave while permits are missing (A3.10). Finding: causal."""

    FAULT: ClassVar[str] = "permit not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, unsent: Unsent) -> bool:
        return True


class OnePermitTolerated(HybridMulticast):
    """One missing permit is tolerated: the comparison in A3.10 is off by one. Finding: causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, unsent: Unsent) -> bool:
        return self._p.first + 1 >= unsent.per


class OneAckIsEnough(HybridMulticast):
    """The first acknowledgement counts for all receivers (A3.29). Finding: causal."""

    FAULT: ClassVar[str] = "any acknowledgement taken for all"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        if self._u.first <= mid < self._u.next:
            self._u[mid].packets.clear()
        return super()._receive_ack(sender, mid)


class PermitTooEarly(HybridMulticast):
    """A receiver's acknowledgement brings its permit, whatever the others have done. Finding: causal."""

    FAULT: ClassVar[str] = "permit too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        return [*super()._receive_ack(sender, mid), Send(sender, Permit(mid))]


class PermitToTheLast(HybridMulticast):
    """Only the process whose acknowledgement came last gets a permit (A3.37). Finding: stuck without a timer's help.

    A timer of the others asks for the permit again; so that the fault shows, they do not ask.
    """

    FAULT: ClassVar[str] = "loop over the receivers left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        commands = [command for command in super()._receive_ack(sender, mid) if isinstance(command, Send)]
        return [command for command in commands if command.destination == sender]

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Msg)]


class OnePredecessor(HybridMulticast):
    """One predecessor for all receivers: the newest of theirs (A3.18, D1 of the errata). Finding: stuck."""

    FAULT: ClassVar[str] = "row overwritten on send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        newest = max(self._ls[destination] for destination in destinations)
        for destination in destinations:
            self._ls[destination] = newest
        return super().causal_send(destinations, message)


class LastReceiverForgotten(HybridMulticast):
    """The last receiver is not remembered for the predecessor of the next message (A3.20). Finding: fifo."""

    FAULT: ClassVar[str] = "loop over the receivers ends too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal", "crash")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        last = max(destinations)
        before = self._ls[last]
        commands = super().causal_send(destinations, message)
        self._ls[last] = before
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        if packet.mid > self._ld[sender] > packet.pid:
            self._ld[sender] = packet.pid
        return super()._receive_msg(sender, packet)


class ArrivalOrder(HybridMulticast):
    """The predecessor is ignored: what arrives is delivered, unless it is a duplicate. Finding: fifo."""

    FAULT: ClassVar[str] = "FIFO order ignored"
    FINDINGS: ClassVar[tuple[str, ...]] = ("fifo", "causal")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._got: defaultdict[int, set[int]] = defaultdict(set)

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        if packet.mid in self._got[sender]:
            return [Send(sender, Ack(packet.mid))]
        self._got[sender].add(packet.mid)
        self._ld[sender] = packet.pid
        self._rb[sender].clear()
        return super()._receive_msg(sender, packet)

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return


class NoDuplicateFilter(HybridMulticast):
    """A message that has been delivered is delivered again when it comes again (A1.45). Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        commands = super()._receive_msg(sender, packet)
        again = len(commands) == 1 and packet.mid <= self._ld[sender]
        return [*commands, Deliver(sender, packet.message)] if again else commands


class NoRetransmission(HybridMulticast):
    """The timer asks for permits and repeats no messages (A3.41). Finding: stuck, if a message is lost."""

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Ack)]


class NoAck(HybridMulticast):
    """Messages are delivered and not acknowledged. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        return [command for command in super()._receive_msg(sender, packet) if isinstance(command, Deliver)]

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Msg)]


class FlagNotSent(HybridMulticast):
    """The flag stays at the sender: receivers ask for no permits. Finding: causal."""

    FAULT: ClassVar[str] = "metadata filtered"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        return super()._receive_msg(sender, replace(packet, per=False))


FAULTS: list[type] = [
    MulticastsUnflagged,
    UnackedUnflagged,
    PermitNotAwaited,
    OnePermitTolerated,
    OneAckIsEnough,
    PermitTooEarly,
    PermitToTheLast,
    OnePredecessor,
    LastReceiverForgotten,
    ArrivalOrder,
    NoDuplicateFilter,
    NoRetransmission,
    NoAck,
    FlagNotSent,
]
