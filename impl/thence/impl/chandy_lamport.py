"""Distributed snapshots: a global state of a computation is recorded while the computation goes on.

Source: K. Mani Chandy, Leslie Lamport, "Distributed Snapshots: Determining Global States of Distributed Systems"
(1985), section 3. Channels: reliable and FIFO. The computation is that of Example 2.1, with a token in
each process: who has a token may send it.

Listing, in our own words (the paper names its rules and has no line numbers; labels are ours):

    Process p sends a message of the computation
      C.1  it needs a token, and gives it away with the message
    Process p begins
      B.1  at any time before it has recorded its state, it may record it
    Process p records its state (marker-sending rule)
      S.1  the state of p is the number of its tokens
      S.2  before any further message, a marker goes out on each channel that leads away from p
    Process q receives a message of the computation on channel c
      R.1  the token is q's
      R.2  if q has recorded its state, and no marker has come on c, the message is in the state of c
    Process q receives a marker on channel c (marker-receiving rule)
      M.1  if q has not recorded its state, it records it now; the state of c is empty
      M.2  otherwise the state of c is what has come on c since q recorded its state
      M.3  after the marker nothing is added to the state of c
    The recorded global state
      G.1  q has its part of it once its own state and those of all channels that lead to q are recorded

Symbols:

    paper                                   here
    state of a process                      _tokens
    its recorded state                      recorded: the tokens, or None
    recorded state of a channel c           channel(c): the messages, in the order of their arrival
    channels not yet recorded               _open

Departures:
    - Channels lead from each process to each other one; the paper has any strongly connected graph.
    - One snapshot is taken. Of several, markers would have to carry the name.
    - The paper leaves open how the parts are collected. Here each process tells its own part: `recorded`, `channel`,
      `audit`.
    - A second marker on a channel is a ProtocolError.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Final, Literal

from thence.impl.commands import Command, Deliver, MustWait, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value

PURSE: Final = 1
"""The number of tokens that each process has at first."""


@value
class Token:
    """A message of the computation, which moves a token."""

    kind: ClassVar[str] = "TOKEN"
    message: Hashable


@value
class Marker:
    """The sender has recorded its state: what follows on this channel was sent after that."""

    kind: ClassVar[str] = "MARKER"
    message: ClassVar[None] = None


class ChandyLamport:
    """One process. See the module for the algorithm, `CausalProcess` for the interface, but for `blocked`."""

    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._tokens = PURSE
        self._recorded: int | None = None
        self._open = frozenset(range(processes)) - {identity}
        """From whom no marker has come."""
        self._channel: dict[int, tuple[Hashable, ...]] = {}
        """For each channel, by its sender, what has come on it since the own state was recorded, up to the marker."""

    @property
    def tokens(self) -> int:
        """The tokens that this process has now."""
        return self._tokens

    @property
    def blocked(self) -> bool:
        """Whether there is no token to send. The process receives meanwhile."""
        return self._tokens == 0

    @property
    def recorded(self) -> int | None:
        """The recorded state: a number of tokens; None before it is recorded."""
        return self._recorded

    @property
    def complete(self) -> bool:
        """Whether this process has recorded its state and those of all channels that lead to it."""
        return self._recorded is not None and not self._open  # G.1

    def channel(self, sender: int) -> tuple[Hashable, ...] | None:
        """The recorded state of the channel from `sender`: messages in order of arrival; None before it is recorded.

        Raises ValueError if there is no such channel.
        """
        if not self._group.has(sender) or sender == self._group.identity:
            raise ValueError(f"no channel comes from process {sender!r}")
        return None if sender in self._open else self._channel.get(sender, ())

    def begin(self) -> list[Command]:
        """Take the snapshot. Raises MustWait once the own state is recorded."""
        if self._recorded is not None:
            raise MustWait
        return self._record_state()  # B.1

    def audit(self, place: int, tokens: int) -> list[Command]:
        """Confirm that so many tokens are recorded: of this process if `place` is it, else on the channel from there.

        Raises MustWait if it is another number, or if the part of this process is not complete. Raises ValueError if
        there is no such process.
        """
        if not self._group.has(place):
            raise ValueError(f"process {place!r} is not one of 0 .. {self._group.processes - 1}")
        if not self.complete or tokens != self._tokens_at(place):
            raise MustWait
        return []

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` with a token. Raises ValueError while `blocked`, for an unknown destination, oneself, None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("no channel leads to oneself")
        if self.blocked:
            raise ValueError("there is no token to send")
        self._tokens -= 1  # C.1
        return [Send(destination, Token(message))]  # C.1

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if sender == self._group.identity:
            raise ProtocolError("a packet from oneself arrived, and none was sent")
        match packet:
            case Token(message):
                require_message(message)
                return self._receive_token(sender, message)
            case Marker():
                if sender not in self._open:
                    raise ProtocolError(f"a marker of process {sender} comes after its marker")
                return self._receive_marker(sender)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the algorithm has no timers."""
        return []

    def _record_state(self) -> list[Command]:
        self._recorded = self._tokens  # S.1
        me = self._group.identity
        return [Send(other, Marker()) for other in range(self._group.processes) if other != me]  # S.2

    def _receive_token(self, sender: int, message: Hashable) -> list[Command]:
        self._tokens += 1  # R.1
        if self._recorded is not None and sender in self._open:
            self._channel[sender] = (*self._channel.get(sender, ()), message)  # R.2, M.2
        return [Deliver(sender, message)]

    def _receive_marker(self, sender: int) -> list[Command]:
        self._open -= {sender}  # M.3
        return self._record_state() if self._recorded is None else []  # M.1

    def _tokens_at(self, place: int) -> int | None:
        return self._recorded if place == self._group.identity else len(self._channel.get(place, ()))
