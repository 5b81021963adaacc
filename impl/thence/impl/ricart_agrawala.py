"""Mutual exclusion by permission from all others.

Source: Glenn Ricart, Ashok K. Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer Networks",
Communications of the ACM 24(1), 1981, section 2. Channels: reliable and reordering.

Listing, in our own words (the paper's text is Algol-like and has no line numbers; labels are ours):

    A node wants to enter
      A.1  note that the node is requesting
      A.2  take a number, one higher than the highest that was seen
      A.3  expect a reply from each other node
      A.4  send a request with the number to each other node
      A.5  wait until no reply is missing, then enter
    The node leaves
      A.6  it is no longer requesting
      A.7  send a reply to each node of which the reply was deferred
    A request with number k comes from node j
      B.1  note k if it is the highest that was seen
      B.2  if the node is requesting, and its own request comes first, by number, then by node: defer the reply
      B.3  otherwise send the reply
    A reply comes
      C.1  one reply less is missing

Symbols:

    paper                         here
    me, N                         _group
    Our_Sequence_Number           _number
    Highest_Sequence_Number       _highest
    Outstanding_Reply_Count       _missing, the nodes instead of their number
    Requesting_Critical_Section   _requesting
    Reply_Deferred                _deferred, the nodes

Departures:
    - The paper has three processes a node, and a semaphore for what they share. Here each method is one step.
    - A request does not carry its node: the sender of a packet is known.
    - Which replies are missing is kept by node, so that a second reply of a node is a ProtocolError.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, MustWait, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.spec.value import value


@value
class Request:
    """A node asks for permission to enter; `number` orders the requests."""

    kind: ClassVar[str] = "REQUEST"
    message: ClassVar[None] = None
    number: int


@value
class Reply:
    """A node gives its permission."""

    kind: ClassVar[str] = "REPLY"
    message: ClassVar[None] = None


class RicartAgrawala:
    """One node. Its inputs are `request` and `release`; `inside` says whether it is in the critical section."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._requesting = False
        self._inside = False
        self._number = 0
        self._highest = 0
        self._missing: set[int] = set()
        self._deferred: set[int] = set()

    @property
    def inside(self) -> bool:
        """Whether the node is in the critical section."""
        return self._inside

    def request(self) -> list[Command]:
        """The application wants to enter. Raises MustWait while it does already, or is inside."""
        if self._requesting:
            raise MustWait
        self._requesting = True  # A.1
        self._number = self._next_number()  # A.2
        others = [node for node in range(self._group.processes) if node != self._group.identity]
        self._missing = set(others)  # A.3
        self._inside = not self._missing  # A.5
        return [Send(node, Request(self._number)) for node in others]  # A.4

    def release(self) -> list[Command]:
        """The application leaves. Raises MustWait while it is not inside."""
        if not self._inside:
            raise MustWait
        self._inside = self._requesting = False  # A.6
        deferred, self._deferred = sorted(self._deferred), set()
        return [Send(node, Reply()) for node in deferred]  # A.7

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if sender == self._group.identity:
            raise ProtocolError("a node sends nothing to itself")
        match packet:
            case Request():
                return self._receive_request(sender, packet.number)
            case Reply():
                return self._receive_reply(sender)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the algorithm has no timers."""
        return []

    def _next_number(self) -> int:
        return self._highest + 1

    def _comes_first(self, number: int, node: int) -> bool:
        """Whether the own request comes before that of `node`."""
        return (self._number, self._group.identity) < (number, node)

    def _receive_request(self, sender: int, number: int) -> list[Command]:
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ProtocolError(f"{number!r:.100} is not the number of a request")
        if sender in self._deferred:
            raise ProtocolError(f"process {sender} asks again, and has had no reply")
        self._highest = max(self._highest, number)  # B.1
        if self._requesting and self._comes_first(number, sender):  # B.2
            self._deferred.add(sender)
            return []
        return [Send(sender, Reply())]  # B.3

    def _receive_reply(self, sender: int) -> list[Command]:
        if sender not in self._missing:
            raise ProtocolError(f"process {sender} replies, and was not asked")
        self._missing.remove(sender)  # C.1
        self._inside = not self._missing  # A.5
        return []
