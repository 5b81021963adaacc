"""Numbers of local states and packets; a step is taken once, and a fault is remembered like any other outcome."""

from __future__ import annotations

from thence.dsl.run.choices import Choices
from thence.dsl.run.execute import Sent
from thence.dsl.run.interpreter import Cause, LocalState, Reactions, Step
from thence.dsl.run.local_steps import LocalSteps
from thence.dsl.run.values import Fault, Message, Packet

PACKET = Packet("MSG", 0, 1, (7,))
MESSAGE = Message(0, 0, (1,))


class Counter:
    """A process that counts its steps and is at fault when its timer fires."""

    def __init__(self) -> None:
        self.calls: list[Cause] = []

    def handle(
        self,
        process: int,
        local: LocalState,
        cause: Cause,
        reactions: Reactions,
        choices: Choices | None,
        observe: bool,
    ) -> Step:
        self.calls.append(cause)
        if cause is None:
            raise Fault("no time")
        return Step((local[0] + 1,), (Sent("MSG", (observe,), process),))


def test_numbers_count_from_zero_in_the_order_of_first_use() -> None:
    steps = LocalSteps(Counter().handle)
    assert [steps.state_number(state) for state in ((5,), (6,), (5,))] == [0, 1, 0]
    assert steps.packet_number(PACKET) == steps.packet_number(PACKET) == 0
    assert (steps.state(1), steps.packet(0), steps.packets(), steps.sizes) == ((6,), PACKET, (PACKET,), (2, 1))


def test_a_step_is_taken_once() -> None:
    counter = Counter()
    steps = LocalSteps(counter.handle)
    before, packet = steps.state_number((0,)), steps.packet_number(PACKET)
    for cause in (packet, MESSAGE, packet, MESSAGE):
        step = steps.step(1, before, cause)
        assert not isinstance(step, Fault) and steps.state(step.state) == (1,)
    assert counter.calls == [PACKET, MESSAGE] and len(steps) == 2
    assert steps.take(1, before, packet, observe=True).emissions == (Sent("MSG", (True,), 1),)
    assert counter.calls == [PACKET, MESSAGE, PACKET] and len(steps) == 2


def test_a_fault_is_remembered() -> None:
    counter = Counter()
    steps = LocalSteps(counter.handle)
    before = steps.state_number((0,))
    assert isinstance(steps.step(0, before, None), Fault) and isinstance(steps.step(0, before, None), Fault)
    assert counter.calls == [None]


def test_steps_with_reactions_are_others_and_not_listed() -> None:
    steps = LocalSteps(Counter().handle)
    before = steps.state_number((0,))
    steps.step(0, before, MESSAGE)
    steps.step(0, before, MESSAGE, ((0, Message(0, 1, (1,))),))
    assert len(steps) == 2 and [taken[:3] for taken in steps.taken()] == [(0, before, MESSAGE)]


def test_everything_is_forgotten() -> None:
    steps = LocalSteps(Counter().handle)
    steps.step(0, steps.state_number((0,)), steps.packet_number(PACKET))
    steps.forget()
    assert (len(steps), steps.sizes) == (0, (0, 0))
