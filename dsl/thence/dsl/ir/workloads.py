"""Workloads: what the application does, and how often the rest of the world may act."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias, assert_never

from thence.dsl.text.syntax import ProgramStep
from thence.spec.value import record


@record(frozen=True, slots=True)
class Finite:
    """Each process sends a fixed number of messages.

    `prompt`: a message is sent only when the protocol network-sends it at once. `reactive`: a message may be sent
    inside a delivery, too. `programs`, where it is not empty, has the application's sends and receives of each
    process, in order (None: it does as it likes); see `text.programs`.
    """

    prompt: bool = False
    reactive: bool = False
    programs: tuple[tuple[ProgramStep, ...] | None, ...] = ()


@record(frozen=True, slots=True)
class ForEver:
    """Process i sends for ever, with `identities[i]` identities; 0: it sends a fixed number of messages.

    `prompt` is as in `Finite`. `capacity`: the processes that send for ever send only while each collection of every
    process has fewer elements. See `run.identity_reuse`.
    """

    identities: tuple[int, ...]
    prompt: bool = False
    capacity: int | None = None


@record(frozen=True, slots=True)
class AnyNumber:
    """Any number of messages, sent at any time by the processes that send at all; see `thence.proofs.abstraction`."""


Sending: TypeAlias = Finite | ForEver | AnyNumber


@record(frozen=True, slots=True)
class InputUse:
    """How often each process has an input (`limits`), and the values of its parameters, by name."""

    name: str
    limits: tuple[int, ...]
    parameters: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def choices(self) -> tuple[tuple[int, ...], ...]:
        """The arguments with which it happens."""
        return tuple(product(*(values for _, values in self.parameters)))


@record(frozen=True, slots=True)
class Workload:
    """The environment of a protocol: how many processes, who sends how many messages to whom, and the faults.

    `sends[i]` is how many messages process i may send, as far as `sending` does not say otherwise; `destinations[i]` to
    whom. `groups[i]` are the sets of processes that a message of i may go to, where delivery is multicast or broadcast;
    in unicast there are none. `ticks` None: timers fire only when no packet is in flight (or at any moment, see
    `run.identity_reuse`); a number: each at most so often a process, at any moment; `timers` has other numbers for
    some timers, by name. `inputs`: what the application does besides sending; inputs that no process has are left out.
    `tree` has the edges of a tree network; empty where the processes form a line. `links` has those of an overlay, in
    ascending order; empty where each process has a link to each other one. `fifo`: channels keep their order, whatever
    the protocol's network may do.
    `constants` has the values of constants and roles that are not those of the protocol's text, by name.
    """

    processes: int
    sends: tuple[int, ...]
    destinations: tuple[tuple[int, ...], ...]
    duplicates: int = 0
    losses: int = 0
    ticks: int | None = None
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    sending: Sending = Finite()
    tree: tuple[tuple[int, int], ...] = ()
    fifo: bool = False
    timers: tuple[tuple[str, int], ...] = ()
    inputs: tuple[InputUse, ...] = ()
    constants: tuple[tuple[str, int | bool], ...] = ()
    links: tuple[tuple[int, int], ...] = ()

    def ticks_of(self, timer: str) -> int | None:
        """How often the timer of a process may fire at any moment; None: only when no packet is in flight."""
        return dict(self.timers).get(timer, self.ticks)

    @property
    def ends(self) -> bool:
        """Whether every process sends a fixed number of messages."""
        match self.sending:
            case Finite():
                return True
            case ForEver(identities):
                return not any(identities)
            case AnyNumber():
                return False
            case _:
                assert_never(self.sending)

    @property
    def prompt(self) -> bool:
        """Whether a message is sent only when the protocol network-sends it at once."""
        return isinstance(self.sending, AnyNumber) or self.sending.prompt

    @property
    def reactive(self) -> bool:
        """Whether a message may be sent inside a delivery, too."""
        return isinstance(self.sending, Finite) and self.sending.reactive

    @property
    def programs(self) -> tuple[tuple[ProgramStep, ...] | None, ...]:
        """The application's sends and receives of each process; empty where no process has a program."""
        return self.sending.programs if isinstance(self.sending, Finite) else ()

    @property
    def capacity(self) -> int | None:
        """The bound on collections beyond which processes that send for ever do not send."""
        return self.sending.capacity if isinstance(self.sending, ForEver) else None

    def identities(self, process: int) -> int:
        """With how many identities the process sends for ever, to begin with; 0: it sends a fixed number."""
        match self.sending:
            case Finite():
                return 0
            case ForEver(identities):
                return identities[process]
            case AnyNumber():
                return self.sends[process]
            case _:
                assert_never(self.sending)

    def choices(self, process: int) -> tuple[tuple[int, ...], ...]:
        """The sets of destinations, each ascending, that a message of the process may have."""
        if self.groups:
            return self.groups[process]
        return tuple((destination,) for destination in self.destinations[process])
