"""The buffer protocol of Mattern and Fünfrocken with the improvement of its footnote 4.

Source: Friedemann Mattern, Stefan Fünfrocken, "A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery", section 3.2 and footnote 4. Channels: reliable and FIFO. Messages to one receiver follow each other at once;
before one to another receiver leaves, the last one posted must have been acknowledged.

Listing, in our own words (the paper has no line numbers; labels are ours, by its three parts, as in `mf`):

    Process Pi
      P.1   send m to Pj: give m to the output buffer and go on
      P.2   receive: ask the input buffer for its next message, and wait for it
    Input buffer IBi
      IB.1  asked by Pi: once there is a message, take the oldest and hand it to Pi
      IB.2  a message comes from OBj: answer OBj with an acknowledgement
      IB.3  and append the message
    Output buffer OBi
      OB.1  given m by Pi: append m
      OB.2  for ever: as soon as there is a message, look at the oldest
      OB.3  footnote 4: if it goes to the receiver of the last message transmitted, it need not wait
      OB.4  otherwise wait until that last message has been acknowledged
      OB.5  take it, and transmit it to the input buffer of its receiver

Symbols:

    paper                      here
    OBi                        _ob
    OB.4, waiting              _receiver: whose acknowledgements are awaited, and _unacked: how many of them
    message from OBj to IBi    Msg
    acknowledgement            Ack
    get, deliver, receive      Deliver
    post                       Send of a Msg

Departures:
    - What has to be acknowledged is the last message, as in the sentence that the footnote hangs on ("the previous
      message"): an earlier one to the same receiver is not enough. An acknowledgement carries nothing; on FIFO
      channels it is the last one's when as many have come as messages have gone.
    - As in `mf`, IBi is empty between steps and is not kept, and the loop of OBi runs as far as it can whenever a
      message is inserted or an acknowledgement arrives.
    - An acknowledgement that is not awaited is a ProtocolError; the paper assumes that there is none.

Messages to oneself are allowed: they take the way over the network like any other.
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
    """The oldest message that had not been acknowledged has reached the input buffer."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None


class MFPipelined:
    """One process of the protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ob: deque[tuple[int, Hashable]] = deque()
        """The output buffer: (receiver, message), oldest first."""
        self._receiver = identity
        """The receiver of the last message posted; means nothing while nothing is unacknowledged."""
        self._unacked = 0
        """How many messages to it have not been acknowledged."""

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
        if not self._unacked or sender != self._receiver:
            awaited = f"process {self._receiver}'s" if self._unacked else "none"
            raise ProtocolError(f"process {sender} acknowledges, but {awaited} is awaited")
        self._unacked -= 1
        return self._post()

    def _postable(self, receiver: int) -> bool:
        """Whether a message to `receiver` may be transmitted."""
        return self._unacked == 0 or receiver == self._receiver  # OB.3, OB.4

    def _post(self) -> list[Command]:
        commands: list[Command] = []
        while self._ob and self._postable(self._ob[0][0]):  # OB.2
            receiver, message = self._ob.popleft()  # OB.5
            commands.append(Send(receiver, Msg(message)))  # OB.5
            self._receiver = receiver
            self._unacked += 1
        return commands
