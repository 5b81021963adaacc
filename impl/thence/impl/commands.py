"""What every implementation takes and returns: the sans-I/O interface.

An implementation is one process. Inputs are method calls, outputs are returned commands, in order. It
has no clock, randomness, I/O, threads or globals.

Three interfaces differ in where a message goes, which a class says by its attribute `delivery`:

- `CausalProcess`, `delivery = "unicast"` (and classes that do not say): to one process;
- `MulticastProcess`, `delivery = "multicast"`: to a set of processes, which the caller names with each message;
- `BroadcastProcess`, `delivery = "broadcast"`: to all processes of the group.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from thence.spec.value import value

Delivery: TypeAlias = Literal["unicast", "multicast", "broadcast"]
"""Where a message goes: to one process, to a set of processes, or to all."""


class Packet(Protocol):
    """What travels between processes: an immutable value.

    `kind` is the packet kind of the paper (`MSG`, `ACK`, ...); `message` the application message that it
    moves, or None for a control packet. Hence an application message is never None.
    """

    @property
    def kind(self) -> str: ...

    @property
    def message(self) -> Any | None: ...


@value
class Send:
    """Put `packet` on the network to process `destination`."""

    destination: int
    packet: Packet


@value
class Deliver:
    """Hand `message`, which process `sender` sent, to the application."""

    sender: int
    message: Any


Command: TypeAlias = Send | Deliver


class MustWait(Exception):
    """The application cannot have this input now, and waits; nothing has changed.

    A protocol may have inputs besides sends (`on acquire(c: process) when not holds:`). A class has a method for each,
    with the input's name and arguments, which returns commands. It raises this where the `when` is false.
    """


class ProtocolError(Exception):
    """A peer did what the protocol does not allow; the state is unchanged."""


class CausalProcess(Protocol):
    """One process of a causal delivery protocol: here, one whose messages go to one process each.

    Implementations are built as `Class(identity, processes)`, with identities 0 .. processes - 1.
    A method that raises has changed nothing: `ValueError` where the caller is wrong (an unknown
    destination, a message None), `ProtocolError` where a peer is. The commands of one call are to be
    carried out in order and before the next call; a send from inside the delivery of a message is the next call.

    What a class may say besides, for the transport and the harness: `channels`, what it works over (`"lossy"`,
    `"reordering"` or `"fifo"`; without it, reliable FIFO channels); `delivers_own`, that a broadcast is delivered to
    its sender, too; and `blocked`, a property: whether the application has to wait, and neither sends nor takes
    anything.
    """

    def __init__(self, identity: int, processes: int) -> None: ...

    def causal_send(self, destination: int, message: Hashable) -> Sequence[Command]:
        """Send `message` to `destination`; never blocks."""
        ...

    def receive(self, sender: int, packet: Any) -> Sequence[Command]:
        """Take a packet that arrived from `sender`."""
        ...

    def tick(self) -> Sequence[Command]:
        """A timer fired (the paper's `periodically`); without timers, nothing happens."""
        ...


class MulticastProcess(Protocol):
    """One process of a protocol whose messages go to sets of processes. All else is as in `CausalProcess`."""

    delivery: ClassVar[Literal["multicast"]] = "multicast"

    def __init__(self, identity: int, processes: int) -> None: ...

    def causal_send(self, destinations: Set[int], message: Hashable) -> Sequence[Command]:
        """Send `message` to each of `destinations`, of which there is at least one (else: ValueError); never blocks."""
        ...

    def receive(self, sender: int, packet: Any) -> Sequence[Command]:
        """Take a packet that arrived from `sender`."""
        ...

    def tick(self) -> Sequence[Command]:
        """A timer fired; without timers, nothing happens."""
        ...


class BroadcastProcess(Protocol):
    """One process of a protocol whose messages go to the whole group. All else is as in `CausalProcess`.

    Whether that includes the sender is up to the protocol: its class says which.
    """

    delivery: ClassVar[Literal["broadcast"]] = "broadcast"

    def __init__(self, identity: int, processes: int) -> None: ...

    def causal_send(self, message: Hashable) -> Sequence[Command]:
        """Send `message` to all; never blocks."""
        ...

    def receive(self, sender: int, packet: Any) -> Sequence[Command]:
        """Take a packet that arrived from `sender`."""
        ...

    def tick(self) -> Sequence[Command]:
        """A timer fired; without timers, nothing happens."""
        ...


AnyProcess: TypeAlias = CausalProcess | MulticastProcess | BroadcastProcess
"""One process of a causal delivery protocol, of whichever kind."""
