"""The steps of single processes: local states and packets have numbers, and the effects of handlers are remembered.

A handler's step depends on the process, its local state, the cause of the step and the application's reactions to its
deliveries, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.dsl.run.execute import Emission
from thence.dsl.run.interpreter import Cause, LocalState, Reactions, Step
from thence.dsl.run.values import Fault, Message, Occurrence, Packet

Handle: TypeAlias = Callable[[int, LocalState, Cause, Reactions, bool], Step]
"""The step of a process from a local state, with the deciding guards if the flag is set. Raises: Fault."""


GivenCause: TypeAlias = Message | int | Occurrence
"""The cause of a step; a packet that arrives is given by its number."""


class LocalStep(NamedTuple):
    """The number of the local state after a step, and what the process emits."""

    state: int
    emissions: tuple[Emission, ...]


@dataclass(slots=True)
class LocalSteps:
    """The steps that `handle` takes. Numbers are given in the order of first use, from 0."""

    handle: Handle
    _states: list[LocalState] = field(init=False, default_factory=list)
    _state_numbers: dict[LocalState, int] = field(init=False, default_factory=dict)
    _packets: list[Packet] = field(init=False, default_factory=list)
    _packet_numbers: dict[Packet, int] = field(init=False, default_factory=dict)
    _taken: dict[tuple[int, int, GivenCause, Reactions], LocalStep | Fault] = field(init=False, default_factory=dict)

    def __len__(self) -> int:
        """The number of remembered steps."""
        return len(self._taken)

    def forget(self) -> None:
        """Forgets all steps and all numbers."""
        for table in (self._states, self._state_numbers, self._packets, self._packet_numbers, self._taken):
            table.clear()

    def state(self, number: int) -> LocalState:
        """The local state with this number."""
        return self._states[number]

    def packet(self, number: int) -> Packet:
        """The packet with this number."""
        return self._packets[number]

    def packets(self) -> tuple[Packet, ...]:
        """All packets, by number."""
        return tuple(self._packets)

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of local states and of packets."""
        return len(self._states), len(self._packets)

    def state_number(self, state: LocalState) -> int:
        """The number of a local state."""
        number = self._state_numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def packet_number(self, packet: Packet) -> int:
        """The number of a packet."""
        number = self._packet_numbers.setdefault(packet, len(self._packets))
        if number == len(self._packets):
            self._packets.append(packet)
        return number

    def step(self, process: int, before: int, cause: GivenCause, reactions: Reactions = ()) -> LocalStep | Fault:
        """The step of a process from the local state `before`."""
        key = (process, before, cause, reactions)
        known = self._taken.get(key)
        if known is None:
            try:
                step = self.take(process, before, cause, reactions)
                known = LocalStep(self.state_number(step.state), step.emissions)
            except Fault as fault:
                known = fault
            self._taken[key] = known
        return known

    def take(
        self,
        process: int,
        before: int,
        cause: GivenCause,
        reactions: Reactions = (),
        *,
        observe: bool = False,
    ) -> Step:
        """The same step, taken anew and not remembered. Raises: Fault."""
        reason = self._packets[cause] if isinstance(cause, int) else cause
        return self.handle(process, self._states[before], reason, reactions, observe)

    def taken(self) -> Iterator[tuple[int, int, GivenCause, LocalStep | Fault]]:
        """The steps without reactions so far: process, local state before, cause, and the outcome."""
        for (process, before, cause, reactions), came in self._taken.items():
            if not reactions:
                yield process, before, cause, came
