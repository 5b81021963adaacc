"""Faulty implementations of causal order at one server. That clients are not in causal order is no fault of theirs."""

from __future__ import annotations

from typing import Any, ClassVar

from thence.impl.client_server import ClientServer, Msg, Request
from thence.impl.commands import Command, Deliver
from thence.impl.matrix import Row, counted


class MaximumLeftOut(ClientServer):
    """A client does not take over the vector of a message from another client (C.4). Finding: causal."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        return [Deliver(sender, packet.message)]


class NothingCompared(ClientServer):
    """The server consumes whatever comes (S.1). Finding: causal."""

    FAULT: ClassVar[str] = "delivery condition left out"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _consumable(self, sender: int, counts: Row) -> bool:
        return True


class OffByOne(ClientServer):
    """One message may be missing (S.1). Finding: causal."""

    FAULT: ClassVar[str] = "`<` for `<=`"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _consumable(self, sender: int, counts: Row) -> bool:
        return all(j == sender or own + 1 >= n for j, (own, n) in enumerate(zip(self._v, counts, strict=True)))


class NoRescan(ClientServer):
    """What waits at the server is not looked at again. Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def _receive_request(self, sender: int, packet: Request) -> list[Command]:
        self._held[sender, packet.counts[sender]] = packet
        return self._consume([(sender, packet.counts[sender])])


class CountedTwice(ClientServer):
    """A client counts what it issues twice. Finding: stuck, where another client tells of it."""

    FAULT: ClassVar[str] = "clock advanced twice"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ("fifo",)

    def causal_send(self, destination: int, message: Any) -> list[Command]:
        commands = super().causal_send(destination, message)
        if self._group.identity != 0 and destination == 0:
            self._v = counted(self._v, self._group.identity)
        return commands


FAULTS: list[type] = [
    MaximumLeftOut,
    NothingCompared,
    OffByOne,
    NoRescan,
    CountedTwice,
]
