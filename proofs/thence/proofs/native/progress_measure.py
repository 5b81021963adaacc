"""A measure of progress: a number that every step makes larger, so states below the current level cannot recur.

The measure is a weighted sum of the sends, ticks, duplicates and losses so far, the packets in flight by kind, and the
sizes of the variables of all processes (numbers, sizes of collections). A solver finds the weights from the local
steps that are known. Every further step is checked when the search first uses it; where it is no progress, the solver
looks for other weights. Nothing in the sum depends on names of processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import add, mul, sub
from typing import TypeAlias

from thence.dsl.ir.types import BOOL, NAT, Collection, Map, Record, Type
from thence.dsl.run.execute import Emission, Sent
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.local_steps import GivenCause
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Value

_LARGEST_WEIGHTS = (3, 10, 100, 1_000)
_MOST_MS = 5_000

SENDS, TICKS, DUPLICATES, LOSSES = range(4)
"""The first weights; those of packets, by kind, and those of the variables follow."""


class NoMeasure(ValueError):
    """No weights make every step progress; the message names the step that left none."""


class Regress(Exception):
    """A step was no progress by the weights that the search started with; the weights have changed."""


Vector: TypeAlias = tuple[int, ...]
Collected: TypeAlias = tuple[Emission, ...]


@dataclass(slots=True)
class Measure:
    """The weights for the steps known so far. `changed`: whether they differ from those at the start of a search.

    With `arrivals_only`, the measure grows with arrivals, and perhaps with nothing else.
    """

    system: System
    arrivals_only: bool = False
    changed: bool = field(init=False, default=False)
    weights: Vector = field(init=False)
    _width: int = field(init=False)
    _kinds: dict[str, int] = field(init=False)
    _sizes: dict[int, Vector] = field(init=False, default_factory=dict)
    _changes: dict[Vector, None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        protocol, workload = self.system.protocol, self.system.workload
        self._kinds = {kind.name: LOSSES + 1 + at for at, kind in enumerate(protocol.packets)}
        self._width = LOSSES + 1 + len(self._kinds) + sum(width(variable.type) for variable in protocol.state)
        for kind in self._kinds.values():
            if workload.duplicates and not self.arrivals_only:
                self._changes[self._change({DUPLICATES: 1, kind: 1})] = None
            if workload.losses and not self.arrivals_only:
                self._changes[self._change({LOSSES: 1, kind: -1})] = None
        for _, before, cause, came in self.system.steps.taken():
            if self.arrivals_only and not isinstance(cause, int):
                continue
            if not isinstance(came, Fault) and not self._idle(before, cause, *came):
                self._changes[self._change_of(before, cause, *came)] = None
        self._solve("the steps of the first states")

    def _change(self, parts: dict[int, int]) -> Vector:
        change = [0] * self._width
        for at, part in parts.items():
            change[at] = part
        return tuple(change)

    def _change_of(self, before: int, cause: GivenCause, after: int, emissions: Collected) -> Vector:
        """The change of each summand by a local step."""
        parts: dict[int, int] = {}
        match cause:
            case Message():
                parts[SENDS] = 1
            case Occurrence(timer):
                parts[TICKS] = int(timer in self.system.counted)
            case packet:
                parts[self._kinds[self.system.packet(packet).kind]] = -1
        for emission in emissions:
            if isinstance(emission, Sent):
                kind = self._kinds[emission.kind]
                parts[kind] = parts.get(kind, 0) + 1
            elif emission.then is not None:
                parts[SENDS] = parts.get(SENDS, 0) + 1
        if after != before:
            parts |= enumerate(map(sub, self._size(after), self._size(before)), LOSSES + 1 + len(self._kinds))
        return self._change(parts)

    def _size(self, local: int) -> Vector:
        known = self._sizes.get(local)
        if known is None:
            variables = self.system.protocol.state
            known = self._sizes[local] = sizes_of(self.system.local(local), [variable.type for variable in variables])
        return known

    def see(self, before: int, cause: GivenCause, after: int, emissions: Collected) -> None:
        """Notes a step that the search uses; where it is no progress, the weights change.

        Raises:
            NoMeasure: no weights make it progress.
        """
        change = self._change_of(before, cause, after, emissions)
        if change in self._changes or self._idle(before, cause, after, emissions):
            return
        self._changes[change] = None
        if sum(map(mul, self.weights, change)) < 1:
            self._solve(self._told(cause))
            self.changed = True

    def _idle(self, before: int, cause: GivenCause, after: int, emissions: Collected) -> bool:
        """Whether it is a timer that changes nothing: no transition."""
        timer = isinstance(cause, Occurrence) and cause.name not in self.system.counted
        return timer and before == after and not emissions

    def _told(self, cause: GivenCause) -> str:
        """The cause of a step, in words."""
        match cause:
            case Message():
                return "a send"
            case Occurrence():
                return "the timer"
            case packet:
                return f"`receive {self.system.packet(packet).kind}`"

    def _solve(self, newest: str) -> None:
        import z3

        for largest in _LARGEST_WEIGHTS:
            solver = z3.Solver()
            solver.set("timeout", _MOST_MS)
            weights = [z3.Int(f"w{at}") for at in range(self._width)]
            solver.add(*[z3.And(weight >= -largest, weight <= largest) for weight in weights])
            for change in self._changes:
                solver.add(z3.Sum([part * weight for part, weight in zip(change, weights, strict=True) if part]) >= 1)
            if solver.check() == z3.sat:
                model = solver.model()
                self.weights = tuple(model.eval(weight, model_completion=True).as_long() for weight in weights)
                return
        raise NoMeasure(f"no sum of what is sent, in flight and kept grows with every step: {newest} speaks against it")

    # --- the sum -----------------------------------------------------------------------------

    def of_local(self, number: int) -> int:
        """The share of a local state in the sum."""
        return sum(map(mul, self.weights[LOSSES + 1 + len(self._kinds) :], self._size(number)))

    def of_packet(self, number: int) -> int:
        """The share of a packet in flight in the sum."""
        return self.weights[self._kinds[self.system.packet(number).kind]]

    @property
    def start(self) -> int:
        """The constant that makes the sum 0 at the start."""
        return -sum(map(self.of_local, self.system.initial().locals))


def arrivals_are_progress(system: System) -> bool:
    """Whether some measure grows with every arrival that the system has taken: where its states are finitely many, no
    run of arrivals is then endless.
    """
    try:
        Measure(system, arrivals_only=True)
    except NoMeasure:
        return False
    return True


def width(type_: Type) -> int:
    """How many sizes a value of the type has."""
    match type_:
        case Record(fields=fields):
            return sum(width(kind) for _, kind in fields)
        case Collection("sliding array" | "sliding map", item):
            return 2 + width(item)
        case Collection(item=item):
            return 1 + width(item)
        case Map(value=item):
            return 1 + width(item)
        case _:
            return int(type_ in (BOOL, NAT))


def sizes_of(values: LocalState | Sequence[Value], types: Sequence[Type]) -> Vector:
    """The sizes of some values, one after the other."""
    return tuple(part for value, kind in zip(values, types, strict=True) for part in sizes(value, kind))


def sizes(value: Value, type_: Type) -> Vector:
    """The sizes of a value, which renaming does not change: numbers, counts of items, sums of the items' sizes."""
    match type_:
        case Record(fields=fields):
            return sizes_of(value, [kind for _, kind in fields])
        case Collection("option", item):
            return _all([] if value is None else [value[0]], item)
        case Collection("set" | "queue", item):
            return _all(list(value), item)
        case Collection("sliding array", item):
            return (value[0], *_all(list(value[1]), item))
        case Collection("sliding map", item):
            return (value[0], *_all([part for _, part in value[1]], item))
        case Map(value=item):
            return _all([part for _, part in value], item)
        case _:
            return (int(value),) if type_ in (BOOL, NAT) else ()


def _all(items: list[Value], kind: Type) -> Vector:
    total: Vector = (0,) * width(kind)
    for item in items:
        total = tuple(map(add, total, sizes(item, kind)))
    return (len(items), *total)
