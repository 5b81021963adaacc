"""Detecting that a computation has ended, which spreads over the links of a given graph.

Source: Edsger W. Dijkstra, C. S. Scholten, "Termination detection for diffusing computations", Information Processing
Letters 11(1), 1980. Channels: reliable and reordering, over the links of an overlay; where a link leads to a process,
one leads back. Process 0 is the root.

Listing, in our own words (the paper was not at hand; labels are ours):

    The computation begins
      B.1  the root becomes active
    An active process gives a job to a neighbor
      J.1  note that the neighbor owes an answer
      J.2  send the job
    A job comes from p
      R.1  become active
      R.2  if this process is the root, or is engaged, send a signal to p
      R.3  otherwise it is engaged by p: p is its parent
    A signal comes from q
      S.1  q owes one answer less
      S.2  leave if it can be
    The process is done for now
      E.1  become passive
      E.2  leave if it can be
    To leave: the process is passive, and nobody owes it an answer
      L.1  the root says that the computation has ended
      L.2  another process sends a signal to its parent, and is engaged no more

Symbols:

    paper                      here
    the environment            ROOT
    the deficit of an edge     _due, of each neighbor
    the engagement edge        _parent

Departures:
    - The paper leaves open when a job that engages nobody is answered; here it is at once.
    - The root may have links that lead to it.
    - Jobs and answers that no correct peer sends are ProtocolErrors: from a process that is no neighbor, or an answer
      to a job that was not sent.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, ClassVar, Final, Literal

from thence.impl.commands import Command, MustWait, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.spec.value import value

ROOT: Final = 0
"""The process in which the computation begins, and which notices that it has ended."""


@value
class Job:
    """A process gives another one something to do."""

    kind: ClassVar[str] = "JOB"
    message: ClassVar[None] = None


@value
class Signal:
    """A job is answered."""

    kind: ClassVar[str] = "SIGNAL"
    message: ClassVar[None] = None


class DijkstraScholten:
    """One process. Its inputs are `begin`, `work` and `rest`; at the root `ended` says that the computation has ended.

    Args:
        neighbors: the processes to which it has a link; all others if they are not given.
    """

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int, neighbors: Set[int] | None = None) -> None:
        self._group = Group(identity, processes)
        near = set(range(processes)) - {identity} if neighbors is None else neighbors
        self._due = dict.fromkeys(near, 0)
        self._parent: int | None = None
        self._active = False
        self._begun = False
        self._ended = False

    @property
    def active(self) -> bool:
        """Whether the process has something to do."""
        return self._active

    @property
    def ended(self) -> bool:
        """Whether the process is the root, and knows that nobody is active any more, and no job is under way."""
        return self._ended

    def begin(self) -> list[Command]:
        """The computation begins. Raises MustWait where this is not the root, and the second time."""
        if self._group.identity != ROOT or self._begun:
            raise MustWait
        self._begun = self._active = True  # B.1
        return []

    def work(self, neighbor: int) -> list[Command]:
        """The process gives a job to a neighbor. Raises MustWait while it is not active, and where there is no link."""
        if not self._active or neighbor not in self._due:
            raise MustWait
        self._due[neighbor] += 1  # J.1
        return [Send(neighbor, Job())]  # J.2

    def rest(self) -> list[Command]:
        """The process is done, until another job comes. Raises MustWait while it is not active."""
        if not self._active:
            raise MustWait
        self._active = False  # E.1
        return self._leave()  # E.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if sender not in self._due:
            raise ProtocolError(f"process {sender} is not a neighbor")
        match packet:
            case Job():
                return self._receive_job(sender)
            case Signal():
                return self._receive_signal(sender)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the algorithm has no timers."""
        return []

    def _receive_job(self, sender: int) -> list[Command]:
        self._active = True  # R.1
        if self._group.identity == ROOT or self._parent is not None:  # R.2
            return [Send(sender, Signal())]  # R.2
        self._parent = sender  # R.3
        return []

    def _receive_signal(self, sender: int) -> list[Command]:
        if self._due[sender] == 0:
            raise ProtocolError(f"process {sender} answers, and was given no job")
        self._due[sender] -= 1  # S.1
        return self._leave()  # S.2

    def _is_neutral(self) -> bool:
        return not self._active and not any(self._due.values())

    def _leave(self) -> list[Command]:
        if not self._is_neutral():
            return []
        if self._group.identity == ROOT:
            self._ended = True  # L.1
            return []
        parent, self._parent = self._parent, None  # L.2
        return [] if parent is None else [Send(parent, Signal())]  # L.2
