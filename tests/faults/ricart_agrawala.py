"""Faulty implementations of Ricart and Agrawala's mutual exclusion."""

from __future__ import annotations

from typing import ClassVar

from thence.impl.commands import Command, Send
from thence.impl.ricart_agrawala import Reply, RicartAgrawala


class TiesLost(RicartAgrawala):
    """Of two requests with the same number neither comes first (B.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "ties not broken"

    def _comes_first(self, number: int, node: int) -> bool:
        return self._number < number


class LaterFirst(RicartAgrawala):
    """Ties are broken the other way round at nodes with an odd number (B.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "ties broken differently by different nodes"

    def _comes_first(self, number: int, node: int) -> bool:
        me = self._group.identity
        return self._number < number or (self._number == number and (me < node) != bool(me % 2))


class Deaf(RicartAgrawala):
    """The numbers of others are not noted (B.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"

    def _receive_request(self, sender: int, number: int) -> list[Command]:
        highest = self._highest
        commands = super()._receive_request(sender, number)
        self._highest = highest
        return commands


class AlwaysReplies(RicartAgrawala):
    """A node that is requesting replies at once (B.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _comes_first(self, number: int, node: int) -> bool:
        return False


class OneReplyLeft(RicartAgrawala):
    """A node enters while one reply is missing (A.5). Finding: nonconformance."""

    FAULT: ClassVar[str] = "off by one"

    def _receive_reply(self, sender: int) -> list[Command]:
        commands = super()._receive_reply(sender)
        self._inside = len(self._missing) <= 1
        return commands


class Forgets(RicartAgrawala):
    """Only the first of the deferred replies is sent (A.7). Finding: nonconformance."""

    FAULT: ClassVar[str] = "waiting requests dropped"

    def release(self) -> list[Command]:
        return super().release()[:1]


class RepliesTwice(RicartAgrawala):
    """A node that leaves replies to all others, whether they wait or not (A.7). Finding: nonconformance."""

    FAULT: ClassVar[str] = "reply sent twice"

    def release(self) -> list[Command]:
        super().release()
        others = [node for node in range(self._group.processes) if node != self._group.identity]
        return [Send(node, Reply()) for node in others]


FAULTS: list[type] = [TiesLost, LaterFirst, Deaf, AlwaysReplies, OneReplyLeft, Forgets, RepliesTwice]
