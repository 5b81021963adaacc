"""Cykas, sender-side causal delivery with eager sends, Algorithm 4 repaired.

Source: Yan Tong, Nathan Liittschwager, Lindsey Kuper, "Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery", section 2.2, Algorithms 1-5. Channels: reliable, exactly once, in any order.
A message may leave before earlier ones are acknowledged; its receiver then sends no messages ("secret mode") until the
sender tells it that it may (YCT, "you can tell").

Listing, in our own words (labels: algorithm and line of the paper; process i):

    Algorithm 1, the application sends m
      A1.1   append m to the output buffer
      A1.2   try to send
    Algorithm 2, try to send
      A2.2   in secret mode: nothing
      A2.4   as long as there is a message in the output buffer
      A2.5   look at the oldest
      A2.6   j is its receiver
      A2.7   if j has a message of ours still to acknowledge: stop
      A2.9   if nobody has
      A2.10  then send it as a normal message
      A2.12  else send it as an eager one
      A2.13  and note for j who has still to acknowledge, as it is now
      A2.15  drop the message from the output buffer
      A2.16  j has now to acknowledge
    Algorithm 3, a message arrives
      A3.1   if it is eager, one more YCT is awaited
      A3.3   deliver it
      A3.4   acknowledge it to its sender
    Algorithm 4, an acknowledgement arrives
      A4.1   i is its sender
      A4.2   i has nothing more to acknowledge
      A4.3   for each receiver of eager messages
      A4.4   in each note for that receiver
      A4.5   i has acknowledged
      A4.7   try to tell that receiver
      A4.8   try to send (once, after the loop: see Departures)
      A4.12  try to tell r: as long as there is a note for r
      A4.13  look at the oldest
      A4.14  if somebody in it, or r itself, has still to acknowledge
      A4.15  stop
      A4.17  send r a YCT
      A4.18  drop the note
    Algorithm 5, a YCT arrives
      A5.1   one YCT less is awaited
      A5.2   try to send

Symbols:

    paper        here
    OB           _ob
    UNACK        _unack, a bit mask: bit j is set while process j has a message of ours to acknowledge
    MODE         _mode
    EAGER_SENT   _eager_sent: for each process a queue of bit masks
    NormalSend   Normal
    EagerSend    Eager

Departures:
    - A4.8 stands inside the loop in the text that we have. There, with no receiver of eager messages, an
      acknowledgement never releases the output buffer; and a message sent in mid-loop has its fresh notes changed by
      later rounds, so that its YCT leaves too early. Here it comes once, after the loop.
    - Receivers of eager messages are visited in ascending order; the paper leaves the order open.
    - EAGER_SENT has a (possibly empty) queue for every process.
    - An acknowledgement does not carry the message: one message per receiver is unacknowledged at a time.
    - An acknowledgement or a YCT that is not awaited is a ProtocolError; the paper's channels have neither.

Messages to oneself are allowed: they take the way over the network like any other. An eager one puts its own sender
into secret mode, in which acknowledgements and YCTs still leave, so that it ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value


@value
class Normal:
    """An application message whose sender has no other message unacknowledged."""

    kind: ClassVar[str] = "NORMAL"
    message: Hashable


@value
class Eager:
    """An application message to be kept secret until the sender's YCT."""

    kind: ClassVar[str] = "EAGER"
    message: Hashable


@value
class Ack:
    """The last message has been delivered."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None


@value
class Yct:
    """You can tell: one eager message need not be kept secret any more."""

    kind: ClassVar[str] = "YCT"
    message: ClassVar[None] = None


class Cykas:
    """One Cykas process. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ob: deque[tuple[int, Hashable]] = deque()
        """The output buffer: (receiver, message), oldest first."""
        self._unack = 0
        self._mode = 0
        """The number of YCTs awaited; secret mode if it is not 0."""
        self._eager_sent: list[deque[int]] = [deque() for _ in range(processes)]
        """For each receiver, and each eager message to it without YCT: who has to acknowledge before the YCT."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` to `destination`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        self._ob.append((destination, message))  # A1.1
        return self._try_send_message()  # A1.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for an ACK or a YCT that is not awaited."""
        self._group.require_sender(sender)
        match packet:
            case Normal() | Eager():
                return self._receive_message(sender, packet)
            case Ack():
                return self._receive_ack(sender)
            case Yct():
                return self._receive_yct(sender)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _receive_message(self, sender: int, packet: Normal | Eager) -> list[Command]:
        require_message(packet.message)
        if isinstance(packet, Eager):
            self._mode += 1  # A3.1
        return [
            Deliver(sender, packet.message),  # A3.3
            Send(sender, Ack()),  # A3.4
        ]

    def _receive_ack(self, sender: int) -> list[Command]:
        bit = 1 << sender  # A4.1
        if not self._unack & bit:
            raise ProtocolError(f"process {sender} acknowledges, and has nothing to acknowledge")
        self._unack &= ~bit  # A4.2
        commands: list[Command] = []
        for receiver, notes in enumerate(self._eager_sent):  # A4.3
            for position in range(len(notes)):  # A4.4
                notes[position] &= ~bit  # A4.5
            commands += self._try_send_yct(receiver)  # A4.7
        return commands + self._try_send_message()  # A4.8

    def _receive_yct(self, sender: int) -> list[Command]:
        if self._mode == 0:
            raise ProtocolError(f"process {sender} sends a YCT, and none is awaited")
        self._mode -= 1  # A5.1
        return self._try_send_message()  # A5.2

    def _sendable(self, receiver: int) -> bool:
        """Whether a message to `receiver` may leave now, be it as a normal or as an eager one."""
        return self._mode == 0 and not self._unack >> receiver & 1  # A2.2, A2.7

    def _tellable(self, receiver: int) -> bool:
        """Whether the oldest eager message to `receiver` need not be kept secret any more."""
        return self._eager_sent[receiver][0] == 0 and not self._unack >> receiver & 1  # A4.13, A4.14

    def _drop_first(self) -> None:
        self._ob.popleft()  # A2.15

    def _try_send_message(self) -> list[Command]:
        commands: list[Command] = []
        while self._ob:  # A2.4
            receiver, message = self._ob[0]  # A2.5, A2.6
            if not self._sendable(receiver):
                break  # A2.2, A2.7
            if self._unack == 0:  # A2.9
                commands.append(Send(receiver, Normal(message)))  # A2.10
            else:
                commands.append(Send(receiver, Eager(message)))  # A2.12
                self._eager_sent[receiver].append(self._unack)  # A2.13
            self._drop_first()
            self._unack |= 1 << receiver  # A2.16
        return commands

    def _try_send_yct(self, receiver: int) -> list[Command]:
        commands: list[Command] = []
        while self._eager_sent[receiver]:  # A4.12
            if not self._tellable(receiver):
                break  # A4.15
            commands.append(Send(receiver, Yct()))  # A4.17
            self._eager_sent[receiver].popleft()  # A4.18
        return commands
