"""The buffer protocol of Mattern and Fünfrocken (also called MFSS).

Source: Friedemann Mattern, Stefan Fünfrocken, "A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery", section 3.2. Channels: reliable, in any order. One message of a process is on its way at a time: the next
leaves the output buffer when the receiver has acknowledged the one before.

Listing, in our own words (the paper has no line numbers; labels are ours, by its three parts):

    Process Pi
      P.1   send m to Pj: give m to the output buffer and go on
      P.2   receive: ask the input buffer for its next message, and wait for it
    Input buffer IBi
      IB.1  asked by Pi: once there is a message, take the oldest and hand it to Pi
      IB.2  a message comes from OBj: answer OBj with an acknowledgement
      IB.3  and append the message
    Output buffer OBi
      OB.1  given m by Pi: append m
      OB.2  for ever: as soon as there is a message, take the oldest
      OB.3  transmit it to the input buffer of its receiver
      OB.4  and wait until that input buffer has acknowledged it

Symbols:

    paper                      here
    OBi                        _ob
    OB.4, waiting              _awaited: the receiver whose acknowledgement is awaited, or None
    message from OBj to IBi    Msg
    acknowledgement            Ack
    get, deliver, receive      Deliver
    post                       Send of a Msg

Departures:
    - The application is always ready to receive: IBi is empty between steps and is not kept. IB.3, IB.1 and P.2 are
      the one command Deliver.
    - OBi is not a thread. Its loop runs as far as it can whenever a message is inserted or an acknowledgement arrives.
    - An acknowledgement that is not awaited is a ProtocolError; the paper assumes that there is none.

Messages to oneself are allowed: they take the way over the network like any other, and wait for their own
acknowledgement.
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
    """An application message on its way from output to input buffer."""

    kind: ClassVar[str] = "MSG"
    message: Hashable


@value
class Ack:
    """The last message has reached the input buffer."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None


class MF:
    """One process of the buffer protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ob: deque[tuple[int, Hashable]] = deque()
        """The output buffer: (receiver, message), oldest first."""
        self._awaited: int | None = None
        """Who has still to acknowledge the last message posted."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` to `destination`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        self._ob.append((destination, message))  # P.1, OB.1
        return self._post()

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for an acknowledgement that is not awaited from it."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                return self._get(sender, packet)
            case Ack():
                return self._acknowledged(sender)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _get(self, sender: int, packet: Msg) -> list[Command]:
        require_message(packet.message)
        return [
            Send(sender, Ack()),  # IB.2
            Deliver(sender, packet.message),  # IB.3, IB.1, P.2
        ]

    def _acknowledged(self, sender: int) -> list[Command]:
        if self._awaited != sender:
            raise ProtocolError(f"process {sender} acknowledges, but {self._awaits()}")
        self._awaited = None  # OB.4
        return self._post()

    def _postable(self) -> bool:
        """Whether the oldest message of the output buffer may be transmitted, supposing that there is one."""
        return self._awaited is None  # OB.4

    def _post(self) -> list[Command]:
        commands: list[Command] = []
        while self._ob and self._postable():  # OB.2
            receiver, message = self._ob.popleft()  # OB.2
            commands.append(Send(receiver, Msg(message)))  # OB.3
            self._awaited = receiver  # OB.4
        return commands

    def _awaits(self) -> str:
        return "no acknowledgement is awaited" if self._awaited is None else f"process {self._awaited}'s is awaited"
