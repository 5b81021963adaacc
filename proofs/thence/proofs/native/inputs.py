"""The inputs of local steps, by number: timers, inputs of the application, messages to be sent, then packets."""

from __future__ import annotations

from dataclasses import dataclass, field

from thence.dsl.run.actions import Action
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.native.layout import Shape


@dataclass(frozen=True, slots=True)
class Input:
    """The input of a local step. `message`: the message sent, for an application send."""

    action: Action
    message: Message | None = None


@dataclass(slots=True)
class Inputs:
    """The inputs of a system; packets get a number when the system gives them one."""

    system: System
    shape: Shape
    _numbered: list[Input] = field(init=False)
    _arrivals: dict[int, Input] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.shape
        self._numbered = [
            Input(Action("tick", process, name=timer))
            for timer in self.system.interpreter.timers
            for process in range(shape.processes)
        ]
        self._numbered += [
            Input(Action("input", process, name=use.name, arguments=arguments))
            for use in self.system.workload.inputs
            for process in range(shape.processes)
            for arguments in use.choices
        ]
        self._numbered += [
            Input(Action("send", process, choice), Message(process, number, choice))
            for process in range(shape.processes)
            for number in range(shape.numbers[process])
            for choice in shape.choices[process]
        ]

    @property
    def numbered(self) -> int:
        """How many inputs there are besides arrivals."""
        return len(self._numbered)

    def __getitem__(self, number: int) -> Input:
        if number < len(self._numbered):
            return self._numbered[number]
        known = self._arrivals.get(number)
        if known is None:
            packet = number - len(self._numbered)
            action = Action("receive", self.system.packet(packet).dst, (), packet)
            known = self._arrivals[number] = Input(action)
        return known
