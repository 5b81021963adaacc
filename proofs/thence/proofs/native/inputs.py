"""The inputs of local steps, by number: the timer of each process, then all messages to be sent, then packets."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from thence.dsl.run.system import Action, System
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
    _sends: dict[Message, int] = field(init=False, default_factory=dict)
    _choices: defaultdict[tuple[int, int], tuple[int, ...]] = field(init=False)
    _arrivals: dict[int, Input] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.shape
        self._choices = defaultdict(tuple)
        self._numbered = [Input(Action("tick", process)) for process in range(shape.processes)]
        for process in range(shape.processes):
            for number in range(shape.sends[process]):
                for choice in shape.choices[process]:
                    message = Message(process, number, choice)
                    self._sends[message] = len(self._numbered)
                    self._choices[process, number] += (len(self._numbered),)
                    self._numbered.append(Input(Action("send", process, choice), message))

    def __getitem__(self, number: int) -> Input:
        if number < len(self._numbered):
            return self._numbered[number]
        known = self._arrivals.get(number)
        if known is None:
            packet = self.packet(number)
            action = Action("receive", self.system.packet(packet).dst, (), packet)
            known = self._arrivals[number] = Input(action)
        return known

    def is_arrival(self, number: int) -> bool:
        """Whether it is the arrival of a packet."""
        return number >= len(self._numbered)

    def arrival(self, packet: int) -> int:
        """The arrival of the packet with this number."""
        return len(self._numbered) + packet

    def packet(self, number: int) -> int:
        """The packet that arrives."""
        return number - len(self._numbered)

    def sending(self, message: Message) -> int:
        """The sending of a message."""
        return self._sends[message]

    def sends(self, process: int, sent: int) -> tuple[int, ...]:
        """The sends that a process may do after so many messages."""
        return self._choices.get((process, sent), ())
