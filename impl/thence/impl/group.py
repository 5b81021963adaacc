"""The fixed group of processes that one process belongs to, and what it accepts from callers and peers."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass

from thence.impl.commands import ProtocolError


@dataclass(frozen=True, slots=True)
class Group:
    """Process `identity` among the processes 0 .. `processes` - 1.

    Raises:
        ValueError: there is no process, or `identity` is not one of them.
    """

    identity: int
    processes: int

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise ValueError(f"a group has at least one process, not {self.processes}")
        if not isinstance(self.identity, int) or not 0 <= self.identity < self.processes:
            raise ValueError(f"process {self.identity} is not one of 0 .. {self.processes - 1}")

    def has(self, process: object) -> bool:
        """Whether `process` is the identity of a process in the group."""
        return isinstance(process, int) and 0 <= process < self.processes

    def require_sendable(self, destination: int, message: Hashable) -> None:
        """Raise ValueError unless `message` can be sent to `destination`. None is not a message: it marks control."""
        if not isinstance(destination, int) or not 0 <= destination < self.processes:  # as in `require_sender`
            raise ValueError(f"destination {destination!r} is not one of 0 .. {self.processes - 1}")
        require_value(message)

    def require_multicast(self, destinations: Set[int], message: Hashable) -> None:
        """Raise ValueError unless `message` can be sent to `destinations`, a set of at least one process."""
        if not isinstance(destinations, (frozenset, Set)):
            raise ValueError(f"destinations are a set of processes, not {destinations!r}")
        if not destinations:
            raise ValueError("a message has at least one destination")
        for destination in destinations:
            if not isinstance(destination, int) or not 0 <= destination < self.processes:
                raise ValueError(f"destination {destination!r} is not one of 0 .. {self.processes - 1}")
        require_value(message)

    def require_sender(self, sender: int) -> None:
        """Raise ProtocolError unless `sender` is a process of the group."""
        if not isinstance(sender, int) or not 0 <= sender < self.processes:  # `has`, written out: for every packet
            raise ProtocolError(f"sender {sender!r} is not one of 0 .. {self.processes - 1}")


def require_value(message: Hashable) -> None:
    """Raise ValueError if there is no message to send: None marks control packets."""
    if message is None:
        raise ValueError("None is not a message")


def require_message(message: object) -> None:
    """Raise ProtocolError if a packet that should move a message moves none."""
    if message is None:
        raise ProtocolError("the packet moves no message")


def unknown_packet(packet: object) -> ProtocolError:
    """The error for a packet of a kind that the protocol does not have."""
    return ProtocolError(f"not a packet of this protocol: {packet!r}")
