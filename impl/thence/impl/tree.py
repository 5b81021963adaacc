"""Causal delivery by a tree of FIFO links: every message takes the one way through the tree.

Source: Sebastian Blessing, Sylvan Clebsch, Sophia Drossopoulou, "Tree Topologies for Causal Message Delivery" (2017),
section 3, Figures 3 and 4. Channels: reliable and FIFO, between neighbours in the tree. Messages carry where they come
from and where they go, and nothing about each other.

Listing, in our own words (the paper's rules and figures; labels are ours, node i):

    M-Send
      T.1  a new message goes to the out-queue towards its destination
    M-Forward
      T.2  the first message of an out-queue goes to the in-queue of the next node
    M-Route
      T.3  a message in an in-queue that is for another node goes to the out-queue towards it
    M-Receive
      T.4  a message in an in-queue that is for this node has been received
    The next hop from i to j (Figure 4)
      N.1  if the parent of j is i, it is j
      N.2  if j is the root, it is the parent of i
      N.3  otherwise it is the next hop from i to the parent of j

Symbols:

    paper                       here
    T                           _parents: node -> parent; the root is its own
    next(i, j, T)               _next_hop
    in-queue                    empty between steps, and not kept
    out-queue, M-Forward        the channel to the neighbour: a Send
    message (id, destination)   Msg

Departures:
    - The tree is given by the parents of all nodes, by default a line: 0 is the root, and the parent of each other node
      is the one before it.
    - M-Route as printed also routes what has reached its destination, beyond it; here a message for this node is
      received (T.4).
    - Messages to oneself raise ValueError: by Figure 4 they would go to the parent, which sends them back.
    - A message from a process that is no neighbour, or that cannot have come that way, is a ProtocolError. A second
      copy of a message cannot be told from the first.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """An application message, the process that sent it, and the one that it is for."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    origin: int
    destination: int


class Tree:
    """One node of the tree. See the module for the algorithm and `CausalProcess` for the interface.

    Args:
        parents: of each process, in the order of their identities; the root is its own. By default, a line from 0.

    Raises:
        ValueError: the parents are not those of a tree of all processes.
    """

    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int, parents: Sequence[int] | None = None) -> None:
        self._group = Group(identity, processes)
        self._parents: tuple[int, ...] = tuple([0, *range(processes - 1)] if parents is None else parents)
        self._require_tree()
        self._hops = self._figure_4()
        """For each process, the neighbour on the way to it; for this one, what means nothing."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("a tree has no way from a node to itself")
        packet = Msg(message, self._group.identity, destination)
        return [Send(self._next_hop(destination), packet)]  # T.1, T.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what cannot have come from there."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                self._require_on_its_way(sender, packet)
                if packet.destination == self._group.identity:
                    return [Deliver(packet.origin, packet.message)]  # T.4
                return self._route(sender, packet)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _route(self, sender: int, packet: Msg) -> list[Command]:
        return [Send(self._next_hop(packet.destination), packet)]  # T.3, T.2

    def _next_hop(self, process: int) -> int:
        """The neighbour on the way to another process."""
        return self._hops[process]

    def _figure_4(self) -> tuple[int, ...]:
        me, parents = self._group.identity, self._parents
        hops: dict[int, int] = {}
        for process in range(self._group.processes):
            walk: list[int] = []
            while process not in hops:
                walk.append(process)
                if parents[process] == me:
                    hops[process] = process  # N.1
                elif parents[process] == process:
                    hops[process] = parents[me]  # N.2
                else:
                    process = parents[process]  # N.3
            hops |= dict.fromkeys(walk, hops[process])
        return tuple(hops[process] for process in range(self._group.processes))

    def _require_on_its_way(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        me = self._group.identity
        for process in (packet.origin, packet.destination):
            if not self._group.has(process):
                raise ProtocolError(f"a message from or for {process!r}, which is no process")
        if packet.origin == me or packet.destination == packet.origin:
            raise ProtocolError(f"a message from process {packet.origin} for process {packet.destination} comes here")
        if sender == me or sender not in (self._parents[me], self._next_hop(sender)):
            raise ProtocolError(f"process {sender} is no neighbour")
        if self._next_hop(packet.origin) != sender:
            raise ProtocolError(f"a message of process {packet.origin} does not come by way of process {sender}")
        if packet.destination != me and self._next_hop(packet.destination) == sender:
            raise ProtocolError(f"a message for process {packet.destination} comes back from process {sender}")

    def _require_tree(self) -> None:
        """Every walk from parent to parent ends at the one root."""
        parents, processes = self._parents, self._group.processes
        if len(parents) != processes or not all(self._group.has(parent) for parent in parents):
            raise ValueError(f"there is one parent for each of 0 .. {processes - 1}, among them")
        roots = [process for process, parent in enumerate(parents) if parent == process]
        reached = set(roots)
        for process in range(processes):
            walk: list[int] = []
            while process not in reached and len(walk) <= processes:
                walk.append(process)
                process = parents[process]
            if process not in reached:
                raise ValueError(f"the parents go round in a circle from process {process}")
            reached.update(walk)
        if len(roots) != 1:
            raise ValueError(f"a tree has one root, and these are {roots}")
