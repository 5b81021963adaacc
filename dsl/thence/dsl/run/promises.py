"""What is owed in a state: the promises of a protocol that have been given and not been kept so far.

A promise is for each value of its variables; each of them is a bit. `P leads to Q` is owed from a state in which P is
true and Q is not, to the next one in which Q is true. Without `leads to` it is owed from the beginning to the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from thence.dsl import ir
from thence.dsl.run.evaluate import Evaluator, Frame, Names, compile_expression
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.values import Fault, Value


class Instance(NamedTuple):
    """A promise for one process as the value of each of its variables."""

    name: str
    values: tuple[tuple[str, int], ...]

    @property
    def process(self) -> int:
        """A process that waits: the first of the values; 0 where there is none."""
        return self.values[0][1] if self.values else 0

    def __str__(self) -> str:
        values = ", ".join(f"{name} = p{value}" for name, value in self.values)
        return f"`{self.name}`{f' for {values}' if values else ''}"


@dataclass(slots=True)
class Promises:
    """The promises of a protocol among so many processes. `instances`, by bit; `given`: the names of those with
    `leads to` whose left side was true in some state that was looked at."""

    protocol: ir.Protocol
    processes: int
    instances: tuple[Instance, ...] = field(init=False)
    given: set[str] = field(init=False, default_factory=set)
    _compiled: list[tuple[Evaluator | None, Evaluator]] = field(init=False, default_factory=list)
    _known: dict[tuple[int | None, tuple[int, ...]], int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = Names({variable.name: at for at, variable in enumerate(self.protocol.state)})
        instances: list[Instance] = []
        for promise in self.protocol.promises:
            given = None if promise.given is None else compile_expression(promise.given, names)
            goal = compile_expression(promise.goal, names)
            for values in self._values(promise):
                instances.append(Instance(promise.name, values))
                self._compiled.append((given, goal))
        self.instances = tuple(instances)

    def _values(self, promise: ir.Promise) -> Iterator[tuple[tuple[str, int], ...]]:
        for chosen in product(range(self.processes), repeat=len(promise.variables)):
            yield tuple((variable.name, value) for variable, value in zip(promise.variables, chosen, strict=True))

    def of(self, name: str) -> int:
        """The bits of a promise."""
        return sum(1 << bit for bit, instance in enumerate(self.instances) if instance.name == name)

    def in_bits(self, bits: int) -> list[Instance]:
        """The instances with these bits."""
        return [instance for bit, instance in enumerate(self.instances) if bits >> bit & 1]

    def never_given(self) -> Iterator[str]:
        """The promises with `leads to` whose left side was true in no state that was looked at."""
        yield from (
            each.name for each in self.protocol.promises if each.given is not None and each.name not in self.given
        )

    def come_again(self, name: str) -> bool:
        """Whether the promise, once kept, may be given again."""
        return any(promise.given is not None for promise in self.protocol.promises if promise.name == name)

    def owed(self, before: int | None, numbers: tuple[int, ...], states: Sequence[LocalState]) -> int:
        """What is owed in a state, as bits, where `before` was owed in the state before it; None: it is the first.

        A formula without a value counts as false. `without_value` tells.
        """
        key = (before, numbers)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._now_owed(before, states)
        return known

    def _now_owed(self, before: int | None, states: Sequence[LocalState]) -> int:
        given, kept = self.said(states)
        if before is None:
            before = sum(1 << bit for bit, (left, _) in enumerate(self._compiled) if left is None)
        return (before | given) & ~kept

    def said(self, states: Sequence[LocalState], among: int = -1) -> tuple[int, int]:
        """The promises, as bits, of which the left side is true in a state, and those of which the right side is, of
        the bits `among`: all, if not said otherwise. A formula without a value counts as false."""
        given = kept = 0
        for bit, (instance, (left, goal)) in enumerate(zip(self.instances, self._compiled, strict=True)):
            if not among >> bit & 1:
                continue
            frame = self._frame(instance, states)
            if left is not None and _is_true(left, frame):
                self.given.add(instance.name)
                given |= 1 << bit
            if _is_true(goal, frame):
                kept |= 1 << bit
        return given, kept

    def without_value(self, states: Sequence[LocalState]) -> Iterator[tuple[str, Fault]]:
        """The promises whose formulas have no value in a state, each with a reason."""
        for instance, evaluators in zip(self.instances, self._compiled, strict=True):
            frame = self._frame(instance, states)
            for evaluator in filter(None, evaluators):
                try:
                    evaluator(frame)
                except Fault as fault:
                    yield instance.name, fault
                    break

    def _frame(self, instance: Instance, states: Sequence[LocalState]) -> Frame:
        values: dict[str, Value] = dict(instance.values)
        return Frame(processes=self.processes, all_states=states, locals=values)


def _is_true(formula: Evaluator, frame: Frame) -> bool:
    try:
        return bool(formula(frame))
    except Fault:
        return False
