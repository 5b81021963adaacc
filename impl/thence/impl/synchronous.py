"""Synchronous communication on an asynchronous network: who has sent is blocked until the message has been delivered.

Source: Friedemann Mattern, Stefan Fünfrocken, "A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery", section 2: the "conservative solution" of Isis, and Figure 1. Channels: reliable, in any order. It is causal
without any metadata, and it deadlocks where processes send to each other at the same time: a negative control.

Listing, in our own words (the paper has no line numbers; labels are ours):

    Sending m to Pj
      S.1  send m
      S.2  wait until it is acknowledged; meanwhile, accept nothing
    A message comes from Pj
      R.1  it joins the messages that have arrived
      R.2  as long as there is one, and nothing is waited for
      R.3  accept the oldest: deliver it
      R.4  and acknowledge it
    An acknowledgement comes
      K.1  the waiting is over; what has arrived meanwhile can be accepted

Symbols:

    paper                       here
    block                       _awaited: the receiver whose acknowledgement is awaited, or None
    waiting for delivery        _arrived, in order of arrival

Departures:
    - `causal_send` does not wait: it returns, and until `blocked` is false again, it raises ValueError.
    - An acknowledgement that is not awaited is a ProtocolError.
    - Messages to oneself raise ValueError: the process would wait for itself for ever.
    - Packets carry nothing by which a second copy of a message could be told from the first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """An application message."""

    kind: ClassVar[str] = "MSG"
    message: Hashable


@value
class Ack:
    """The receiver's last message has been delivered."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None


class Synchronous:
    """One process. See the module for the algorithm and `CausalProcess` for the interface, but for `blocked`."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._awaited: int | None = None
        """Who has still to acknowledge the last message."""
        self._arrived: deque[tuple[int, Hashable]] = deque()
        """What has not been accepted: (sender, message), in order of arrival."""

    @property
    def blocked(self) -> bool:
        """Whether the last message is still to be acknowledged: nothing can be sent, and nothing is delivered."""
        return self._awaited is not None

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError while `blocked`, for an unknown destination, oneself, or a message None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("a process that sends to itself waits for itself")
        if self.blocked:
            raise ValueError(f"the message to process {self._awaited} has not been acknowledged yet")
        self._awaited = destination  # S.2
        return [Send(destination, Msg(message))]  # S.1

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for an acknowledgement that is not awaited from it."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                require_message(packet.message)
                self._arrived.append((sender, packet.message))  # R.1
                return self._accept()
            case Ack():
                if self._awaited != sender:
                    awaited = "none" if self._awaited is None else f"process {self._awaited}'s"
                    raise ProtocolError(f"process {sender} acknowledges, but {awaited} is awaited")
                self._awaited = None  # K.1
                return self._accept()
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _acceptable(self) -> bool:
        """Whether the oldest of the messages that have arrived may be delivered."""
        return not self.blocked  # R.2

    def _accept(self) -> list[Command]:
        commands: list[Command] = []
        while self._arrived and self._acceptable():  # R.2
            sender, message = self._arrived.popleft()
            commands.append(Deliver(sender, message))  # R.3
            commands.append(Send(sender, Ack()))  # R.4
        return commands
