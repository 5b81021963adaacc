"""Faulty implementations of Almeida's Algorithm 1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace
from typing import ClassVar

from thence.impl.commands import Command, Deliver, Send
from thence.impl.hybrid_basic import Ack, HybridBasic, Msg, Permit, Unsent
from thence.impl.sliding import SlidingArray


class ClockFromZero(HybridBasic):
    """As in the text that we have: ids start at 0, so the first message counts as delivered. Finding: stuck, causal."""

    FAULT: ClassVar[str] = "ck = 0 as printed"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck", "causal", "fifo")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._ck = 0
        self._u = SlidingArray(first=0)

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        if mid == self._u.first == 0:
            self._u.remove()
            return self._advance()
        return super()._receive_ack(sender, mid) if mid else [Send(sender, Permit(mid))]

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        return super()._receive_permit(sender, mid) if mid else self._try_send()


class PermitNotAwaited(HybridBasic):
    """Messages leave while permits are missing (A1.31 left out). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "permit not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, unsent: Unsent) -> bool:
        return True


class OnePermitTolerated(HybridBasic):
    """One missing permit is tolerated: the comparison in A1.31 is off by one. Finding: causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, unsent: Unsent) -> bool:
        return self._p.first + 1 >= unsent.per


class NeverFlagged(HybridBasic):
    """No message ever asks for a permit (A1.34). Finding: causal."""

    FAULT: ClassVar[str] = "permit flag missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _try_send(self) -> list[Command]:
        commands: list[Command] = []
        for command in super()._try_send():
            assert isinstance(command, Send) and isinstance(command.packet, Msg)
            packet = replace(command.packet, per=False)
            self._u[packet.mid].packet = packet
            commands.append(Send(command.destination, packet))
        return commands


class PermitTooEarly(HybridBasic):
    """A message's own acknowledgement brings its permit, whatever is unacknowledged before it. Finding: causal."""

    FAULT: ClassVar[str] = "permit too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        return [*super()._receive_ack(sender, mid), Send(sender, Permit(mid))]


class AnyAckSlides(HybridBasic):
    """Any acknowledgement removes the oldest message from the window (A1.62 left out). Finding: causal."""

    FAULT: ClassVar[str] = "any acknowledgement taken for the oldest one"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        if mid < self._u.first:
            return [Send(sender, Permit(mid))]
        self._u[mid].packet = None
        self._u.remove()
        return self._advance()


class ArrivalOrder(HybridBasic):
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


class NoDuplicateFilter(HybridBasic):
    """A message that has been delivered is delivered again when it comes again (A1.45 left out). Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        commands = super()._receive_msg(sender, packet)
        again = len(commands) == 1 and packet.mid <= self._ld[sender]
        return [*commands, Deliver(sender, packet.message)] if again else commands


class DuplicateFilterOffByOne(HybridBasic):
    """The last message delivered does not count as a duplicate, and is not acknowledged again. Finding: stuck, if
    its acknowledgement was lost and somebody waits for a permit."""

    FAULT: ClassVar[str] = "`<` for `<=` in the duplicate filter"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        if packet.mid == self._ld[sender]:
            return []
        return super()._receive_msg(sender, packet)


class NoRetransmission(HybridBasic):
    """The timer asks for permits and repeats no messages (A1.75 left out). Finding: stuck, if a message is lost."""

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Ack)]


class NoPermitRequest(HybridBasic):
    """The timer repeats messages and asks for no permits (A1.78 left out): a permit that overtook its message is gone.

    Finding: stuck, on a reliable network that reorders.
    """

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Msg)]


class NoAck(HybridBasic):
    """Messages are delivered and not acknowledged. Finding: stuck."""

    FAULT: ClassVar[str] = "acknowledgement missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        return [command for command in super()._receive_msg(sender, packet) if isinstance(command, Deliver)]

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Msg)]


class PredecessorOfAnyReceiver(HybridBasic):
    """The predecessor is the last message to anybody, not to that receiver. Finding: stuck."""

    FAULT: ClassVar[str] = "row overwritten on send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        self._ls[destination] = self._ck - 1
        return super().causal_send(destination, message)


FAULTS: list[type] = [
    ClockFromZero,
    PermitNotAwaited,
    OnePermitTolerated,
    NeverFlagged,
    PermitTooEarly,
    AnyAckSlides,
    ArrivalOrder,
    NoDuplicateFilter,
    DuplicateFilterOffByOne,
    NoRetransmission,
    NoPermitRequest,
    NoAck,
    PredecessorOfAnyReceiver,
]
