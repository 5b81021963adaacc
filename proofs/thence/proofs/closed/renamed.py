"""States under other names of processes. Nothing here is assumed of a protocol: a renamed state is just a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection, Map, Record, Type
from thence.dsl.run.actions import State
from thence.dsl.run.causality import History, Pending
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet, Value, ascending

Names: TypeAlias = tuple[int, ...]
"""The new name of each process."""


def keeps(workload: ir.Workload, names: Sequence[int]) -> bool:
    """Whether the workload is the same under the new names: who sends how many messages to whom, and the inputs.

    Programs name processes; with them, only everybody's own name keeps the workload.
    """
    everyone = range(workload.processes)
    if sorted(names) != list(everyone):
        return False
    if workload.programs or not isinstance(workload.sending, ir.Finite):
        return list(names) == list(everyone)
    if any(use.limits[process] != use.limits[names[process]] for use in workload.inputs for process in everyone):
        return False
    for process in everyone:
        chosen = {tuple(sorted(names[other] for other in choice)) for choice in workload.choices(process)}
        same = chosen == {tuple(sorted(choice)) for choice in workload.choices(names[process])}
        if workload.sends[process] != workload.sends[names[process]] or (workload.sends[process] and not same):
            return False
    return True


@dataclass(slots=True)
class Renamer:
    """Gives all processes in states of a system new names."""

    system: System
    names: Names
    _bits: list[int] = field(init=False, default_factory=list)
    _old: list[int] = field(init=False, default_factory=list)
    _locals: dict[int, int] = field(init=False, default_factory=dict)
    _packets: dict[int, int] = field(init=False, default_factory=dict)
    _masks: dict[int, int] = field(init=False, default_factory=dict)
    _pending: dict[Pending, Pending] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        sends, names = self.system.workload.sends, self.names
        first = [sum(sends[:process]) for process in range(len(sends))]
        messages = [(process, number) for process, count in enumerate(sends) for number in range(count)]
        self._bits = [first[names[process]] + number for process, number in messages]
        self._old = [names.index(process) for process in range(len(sends))]

    def state(self, state: State) -> State:
        """The state with new names."""
        old, history, count = self._old, state.history, len(self.names)
        here = [self._local(state.locals[each]) for each in old]
        network = [self._packet(number) for number in state.network]
        pasts = [self._mask(history.pasts[each]) for each in old]
        order = [(self.message(early), self.message(late)) for early, late in history.order]
        overtaken = [(self.message(message), self.names[process]) for message, process in history.overtaken]
        ticks = [state.ticks[at - at % count + old[at % count]] for at in range(len(state.ticks))]
        return State(
            tuple(here),
            self.system.arranged(tuple(network)),
            History(
                tuple(pasts),
                tuple(sorted([self._entry(each) for each in history.pending])),
                tuple(sorted(order)),
                tuple(sorted(overtaken)),
            ),
            tuple([state.sends[each] for each in old]),
            tuple(ticks),
            state.duplicates,
            state.losses,
            tuple([state.places[each] for each in old]) if state.places else (),
        )

    def message(self, message: Message) -> Message:
        """The same message, of and to the processes with the new names."""
        names = self.names
        return Message(names[message.src], message.number, tuple(sorted([names[each] for each in message.dsts])))

    def value(self, value: Value, type_: Type) -> Value:
        """A value with new names in it."""
        if type_ == PROCESS:
            return self.names[value]
        if type_ == MESSAGE:
            return self.message(value)
        match type_:
            case Record(fields=fields):
                return tuple(self.value(part, kind) for part, (_, kind) in zip(value, fields, strict=True))
            case Map(key, item):
                changed = {self.value(known, key): self.value(part, item) for known, part in value}
                return tuple((known, changed[known]) for known in ascending(changed))
            case Collection("option", item):
                return value and (self.value(value[0], item),)
            case Collection("set", item):
                return frozenset(self.value(part, item) for part in value)
            case Collection("queue", item):
                return tuple(self.value(part, item) for part in value)
            case Collection("sliding array", item):
                return value[0], tuple(self.value(part, item) for part in value[1])
            case Collection("sliding map", item):
                return value[0], tuple((at, self.value(part, item)) for at, part in value[1])
            case _:
                return value

    def _local(self, number: int) -> int:
        known = self._locals.get(number)
        if known is None:
            variables = self.system.protocol.state
            values = zip(self.system.local(number), variables, strict=True)
            changed = tuple(self.value(value, variable.type) for value, variable in values)
            known = self._locals[number] = self.system.local_number(changed)
        return known

    def _packet(self, number: int) -> int:
        known = self._packets.get(number)
        if known is None:
            packet = self.system.packet(number)
            kind = next(each for each in self.system.protocol.packets if each.name == packet.kind)
            inside = zip(packet.arguments, kind.parameters, strict=True)
            changed = tuple(self.value(value, parameter.type) for value, parameter in inside)
            names = self.names
            known = self._packets[number] = self.system.number_of(
                Packet(packet.kind, names[packet.src], names[packet.dst], changed)
            )
        return known

    def _entry(self, entry: Pending) -> Pending:
        known = self._pending.get(entry)
        if known is None:
            due = tuple(sorted([self.names[each] for each in entry.due]))
            known = self._pending[entry] = Pending(self.message(entry.message), due, self._mask(entry.past))
        return known

    def _mask(self, mask: int) -> int:
        known = self._masks.get(mask)
        if known is None:
            known = 0
            for bit, new in enumerate(self._bits):
                known |= (mask >> bit & 1) << new
            self._masks[mask] = known
        return known
