"""The steps of single processes: local states and packets have numbers, and the effects of handlers are remembered.

A handler's step depends on the process, its local state, the cause of the step, the application's reactions to its
deliveries and the script of its choices, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.dsl.run.choices import Choices, Script, every_script
from thence.dsl.run.execute import Delivered, Emission
from thence.dsl.run.interpreter import Cause, LocalState, Reactions, Step
from thence.dsl.run.values import Fault, Message, Occurrence, Packet

Handle: TypeAlias = Callable[[int, LocalState, Cause, Reactions, Choices | None, bool], Step]
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
    _scripts: dict[tuple[int, int, GivenCause, Reactions], tuple[Script, ...]] = field(init=False, default_factory=dict)
    _taken: dict[tuple[int, int, GivenCause, Reactions, Script], LocalStep | Fault] = field(
        init=False, default_factory=dict
    )

    def __len__(self) -> int:
        """The number of remembered steps."""
        return len(self._taken)

    def forget(self) -> None:
        """Forgets all steps and all numbers."""
        for table in (
            self._states,
            self._state_numbers,
            self._packets,
            self._packet_numbers,
            self._taken,
            self._scripts,
        ):
            table.clear()

    def adopt(self, other: LocalSteps, sizes: tuple[int, int]) -> None:
        """Takes over the first numbers of other steps: so many of local states, and of packets. Here are none yet."""
        states, packets = sizes
        for state in other._states[:states]:
            self.state_number(state)
        for packet in other._packets[:packets]:
            self.packet_number(packet)

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

    def step(
        self, process: int, before: int, cause: GivenCause, reactions: Reactions = (), script: Script = ()
    ) -> LocalStep | Fault:
        """The step of a process from the local state `before`, by this script of choices."""
        key = (process, before, cause, reactions, script)
        known = self._taken.get(key)
        if known is None:
            try:
                step = self.take(process, before, cause, reactions, script)
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
        script: Script = (),
        *,
        observe: bool = False,
    ) -> Step:
        """The same step, taken anew and not remembered. Raises: Fault."""
        reason = self._packets[cause] if isinstance(cause, int) else cause
        choices = Choices(script) if script or observe else None
        return self.handle(process, self._states[before], reason, reactions, choices, observe)

    def scripts(self, process: int, before: int, cause: GivenCause, reactions: Reactions = ()) -> tuple[Script, ...]:
        """The scripts of the steps from the local state `before`: of those that come to the same, the first."""
        key = (process, before, cause, reactions)
        known = self._scripts.get(key)
        if known is None:
            reason = self._packets[cause] if isinstance(cause, int) else cause

            def run(choices: Choices) -> None:
                with suppress(Fault):
                    self.handle(process, self._states[before], reason, reactions, choices, False)

            different: dict[LocalStep | str, Script] = {}
            for script in every_script(run):
                came = self.step(process, before, cause, reactions, script)
                different.setdefault(str(came) if isinstance(came, Fault) else came, script)
            known = self._scripts[key] = tuple(different.values())
        return known

    def taken(self) -> Iterator[tuple[int, int, GivenCause, LocalStep | Fault]]:
        """The steps without reactions so far: process, local state before, cause, and the outcome."""
        for (process, before, cause, reactions, _), came in self._taken.items():
            if not reactions:
                yield process, before, cause, came

    def delivers(self) -> bool:
        """Whether one of these steps delivers a message."""
        taken = (came.emissions for *_, came in self.taken() if isinstance(came, LocalStep))
        return any(isinstance(emission, Delivered) for emissions in taken for emission in emissions)

    def by_script(self) -> Iterator[tuple[int, int, GivenCause, Script, LocalStep | Fault]]:
        """The same, each with its script of choices."""
        for (process, before, cause, reactions, script), came in self._taken.items():
            if not reactions:
                yield process, before, cause, script, came
