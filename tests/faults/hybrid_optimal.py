"""Faulty implementations of Almeida's Algorithm 2."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.hybrid_basic import Ack, Msg, Permit
from thence.impl.hybrid_optimal import Buffered, HybridOptimal
from thence.impl.sliding import SlidingArray


class ClockFromZero(HybridOptimal):
    """As in the text that we have: ids start at 0, so the first message counts as delivered. Finding: stuck, causal."""

    FAULT: ClassVar[str] = "ck = 0 as printed"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck", "causal", "fifo")
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, identity: int, processes: int) -> None:
        super().__init__(identity, processes)
        self._ck = self._m1 = self._m2 = self._u2 = 0
        self._u = SlidingArray(first=0)

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        return

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        if mid:
            return super()._receive_ack(sender, mid)
        if self._u.first > 0:
            return [Send(sender, Permit(0))]
        self._u.remove()
        commands = self._advance(sender)
        return commands + self._advance_u2() if self._u.first == self._u2 < self._u.next else commands

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        return super()._receive_permit(sender, mid) if mid else []


class U2StaysBehind(HybridOptimal):
    """As printed: a causal-send does not advance u2. Spurious requests for permits only: safe, and live with a timer.
    That m2 is not advanced either makes the window an error. Finding: crash."""

    FAULT: ClassVar[str] = "u2 and m2 stay behind as printed"
    FINDINGS: ClassVar[tuple[str, ...]] = ("crash",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        u2, m2 = self._u2, self._m2
        commands = super().causal_send(destination, message)
        self._u2, self._m2 = u2, m2
        return commands

    def receive(self, sender: int, packet: object) -> list[Command]:
        try:
            return super().receive(sender, packet)
        except IndexError as error:
            raise ProtocolError(str(error)) from error


class PermitsIgnored(HybridOptimal):
    """Messages leave while permits are missing (A2.31 left out). Finding: causal, never fifo."""

    FAULT: ClassVar[str] = "permit not awaited"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, buffered: Buffered) -> bool:
        return True


class AnySenderTolerated(HybridOptimal):
    """Permits of one sender are tolerated whoever the receiver is (A2.31 taken too far). Finding: causal."""

    FAULT: ClassVar[str] = "permit of the wrong sender tolerated"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _permitted(self, buffered: Buffered) -> bool:
        return buffered.perm <= self._p2


class SameReceiverForgotten(HybridOptimal):
    """Only the receiver of the oldest message is compared, not what lies before u2 (A2.33 by half). Finding: causal."""

    FAULT: ClassVar[str] = "permit flag missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _needs_permit(self, buffered: Buffered) -> bool:
        return buffered.receiver != self._u.peek().receiver


class NeverFlagged(HybridOptimal):
    """No message ever asks for a permit (A2.33). Finding: causal."""

    FAULT: ClassVar[str] = "permit flag missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _needs_permit(self, buffered: Buffered) -> bool:
        return False


class PermitTooEarly(HybridOptimal):
    """A message's own acknowledgement brings its permit, whatever is unacknowledged before it. Finding: causal."""

    FAULT: ClassVar[str] = "permit too early"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        return [*super()._receive_ack(sender, mid), Send(sender, Permit(mid))]


class P2StaysBehind(HybridOptimal):
    """p2 stays where it is when a permit comes (A2.99 left out): what waits for others never leaves. Finding: stuck."""

    FAULT: ClassVar[str] = "index variable not updated"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _update_p2_and_m2(self) -> None:
        return


class ArrivalOrder(HybridOptimal):
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


class NoDuplicateFilter(HybridOptimal):
    """A message that has been delivered is delivered again when it comes again (A2.73 left out). Finding: duplicate."""

    FAULT: ClassVar[str] = "duplicate filter missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("duplicate",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        commands = super()._receive_msg(sender, packet)
        again = len(commands) == 1 and packet.mid <= self._ld[sender]
        return [*commands, Deliver(sender, packet.message)] if again else commands


class OnlyTheFlagged(HybridOptimal):
    """As indented in the text that we have: only messages that ask for a permit are acknowledged and delivered.
    Finding: stuck."""

    FAULT: ClassVar[str] = "delivery under the wrong condition"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        flagged = packet.per
        commands = super()._receive_msg(sender, packet)
        return commands if flagged else []


class NoRetransmission(HybridOptimal):
    """The timer asks for permits and repeats no messages (A2.20 left out). Finding: stuck, if a message is lost."""

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("loss",)

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Ack)]


class NoPermitRequest(HybridOptimal):
    """The timer repeats messages and asks for no permits (A2.23 left out): a permit that overtook its message is gone.

    Finding: stuck, on a reliable network that reorders.
    """

    FAULT: ClassVar[str] = "retransmission missing"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def tick(self) -> list[Command]:
        return [command for command in super().tick() if isinstance(command, Send) and isinstance(command.packet, Msg)]


class PredecessorOfAnyReceiver(HybridOptimal):
    """The predecessor is the last message to anybody, not to that receiver. Finding: stuck."""

    FAULT: ClassVar[str] = "row overwritten on send"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        self._ls[destination] = self._ck - 1
        return super().causal_send(destination, message)


FAULTS: list[type] = [
    ClockFromZero,
    U2StaysBehind,
    PermitsIgnored,
    AnySenderTolerated,
    SameReceiverForgotten,
    NeverFlagged,
    PermitTooEarly,
    P2StaysBehind,
    ArrivalOrder,
    NoDuplicateFilter,
    OnlyTheFlagged,
    NoRetransmission,
    NoPermitRequest,
    PredecessorOfAnyReceiver,
]
