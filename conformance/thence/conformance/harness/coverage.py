"""Coverage of a protocol by cases: handlers, branches, states, and scenarios that should happen sometimes.

Coverage is of the protocol, through the replay of each case in its interpreter, so that it means the same for every
implementation, in any language. Steps are examined once and remembered; a case then costs little more.

An *abstract state* is a process's state with numbers and sizes distinguished up to `MANY` only. There are few of them,
so that they measure coverage where local states are without number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from thence.conformance.cases.schedule import React
from thence.conformance.replay.findings import DELIVERED, RECEIVED, SENT, CaseOutcome
from thence.conformance.replay.guards import conditionals_of
from thence.conformance.replay.permissive import PermissiveReplay
from thence.conformance.replay.replay import REMEMBERED, Expected, Input, Lockstep, Replay, Seen
from thence.dsl import ir
from thence.dsl.ir.types import Bool, Collection, Map, Nat, Record, Sort, Type
from thence.dsl.run.execute import Decided
from thence.dsl.run.interpreter import Interpreter, LocalState
from thence.dsl.run.scoped import of_processes
from thence.dsl.run.values import Value
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_as_written

MANY: Final = 2
"""Numbers and sizes from this one on are equal in an abstract state."""

Feature: TypeAlias = tuple[str, str]
"""(kind, name): `handler`, `branch` or `scenario`."""

SCENARIOS: Final = {
    "overtaken": "a packet arrives before an older one of its channel",
    "held back": "a message arrives, and is not delivered at once",
    "released": "one arrival has several messages delivered",
    "concurrent": "two messages that neither is before the other are delivered at one process",
    "relayed": "a message depends on one that its sender never had: by a chain over another process",
    "answered": "an application sends from inside a delivery",
    "crossing": "two processes have messages on the way to each other",
}
"""Scenarios that should happen sometimes in the cases of any system."""


@dataclass(frozen=True, slots=True)
class Features:
    """Everything that cases can reach in a protocol, in a fixed order.

    Attributes:
        names: of the features; the place of a feature is its bit.
        conditions: those of the protocol, as its text has them, by their statement's place.
    """

    names: tuple[Feature, ...]
    conditions: Mapping[Span, str] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(protocol: ir.Protocol | None) -> Features:
        """The features of a protocol, with its `reachable` formulas, and the scenarios, where applications send any
        message; without a protocol, the scenarios only."""
        found: list[Feature] = []
        conditions: dict[Span, str] = {}
        if protocol is not None:
            found += [("handler", _handler(handler)) for handler in protocol.handlers]
            # The interpreter sees the values of constants and roles in the places of their names.
            conditions = {each.span: show_as_written(each.condition) for each in conditionals_of(protocol)}
            for span, condition in conditions.items():
                found += [("branch", _branch(span, condition, outcome)) for outcome in (True, False)]
            found += [("scenario", name) for name in protocol.witnesses]
        if protocol is None or protocol.sends:
            found += [("scenario", name) for name in SCENARIOS]
        return Features(tuple(dict.fromkeys(found)), conditions)

    def bits(self, features: Iterable[Feature]) -> int:
        """The set as a number."""
        return sum(1 << self.names.index(feature) for feature in set(features))

    def named(self, bits: int) -> tuple[Feature, ...]:
        """The set that the number is."""
        return tuple(name for place, name in enumerate(self.names) if bits >> place & 1)

    def count(self, bits: int, kind: str) -> tuple[int, int]:
        """Number of features of a kind that are in the set, and that there are."""
        of_kind = [place for place, name in enumerate(self.names) if name[0] == kind]
        return sum(bits >> place & 1 for place in of_kind), len(of_kind)


def _handler(handler: ir.Handler) -> str:
    return handler.event if handler.kind is None else f"{handler.event} {handler.kind}"


def _branch(span: Span, condition: str, outcome: bool) -> str:
    return f"line {span.line}: {condition} is {'true' if outcome else 'false'}"


@dataclass(slots=True)
class CaseCoverage:
    """The coverage of one case: features as bits, abstract states by hash, local states by hash.

    `broken` are the invariants of the protocol that were false on the way: the protocol's fault, not its follower's.
    """

    bits: int = 0
    abstract: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()
    broken: frozenset[str] = frozenset()


@dataclass(slots=True)
class CoveredReplay(PermissiveReplay):
    """A replay that remembers the coverage of its last case, see `reached`."""

    features: Features = field(init=False)
    _last: CoveredLockstep | None = field(init=False, default=None)
    _decided: list[Decided] = field(init=False, default_factory=list)
    """The conditions that the interpreter evaluated since the last step began."""
    _bits: dict[tuple[int, int, Input, Seen], int] = field(init=False, default_factory=dict)
    """For each step without a fault, its bits."""
    _hashes: dict[int, tuple[int, int]] = field(init=False, default_factory=dict)
    """The two hashes of each state that has a number."""
    _branches: dict[tuple[int, bool], int] = field(init=False, default_factory=dict)
    """The bit of each branch, by the identity of its statement in the protocol."""
    _met: dict[tuple[int, ...], frozenset[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.protocol = of_processes(self.protocol)
        PermissiveReplay.__post_init__(self)
        self.features = Features.of(self.protocol)

    def _interpreting(self) -> Interpreter:
        return Interpreter(self.protocol, self.processes, decided=self._decided)

    def begin(self) -> Lockstep:
        """A new case."""
        known = len(self._expected)
        plain = Replay.begin(self)
        if len(self._expected) < known:
            self._bits.clear()
            self._hashes.clear()
            self._met.clear()
        self._last = CoveredLockstep(self, plain.states)
        return self._last

    def recall(self, lockstep: Lockstep) -> None:
        """Of several cases that were under way at once, this one is the last now."""
        assert isinstance(lockstep, CoveredLockstep), "the case is of another replay"
        self._last = lockstep

    def reached(self, outcome: CaseOutcome) -> CaseCoverage:
        """The coverage of the case that has just ended."""
        assert self._last is not None, "no case was replayed"
        bits, abstract, local = self.features.bits(("scenario", name) for name in scenarios(outcome)), set(), set()
        for step, after in self._last.taken.items():
            bits |= self._bits[step]
            shape, state = self._hashes_of(after)
            abstract.add(shape)
            local.add(state)
        broken: set[str] = set()
        for states in dict.fromkeys(self._last.met):
            broken |= self._broken(states)
        witnessed = broken.intersection(self.protocol.witnesses)
        bits |= self.features.bits(("scenario", name) for name in witnessed)
        return CaseCoverage(bits, frozenset(abstract), frozenset(local), frozenset(broken - witnessed))

    def _take(self, process: int, state: int, given: Input, seen: Seen) -> Expected:
        self._decided.clear()
        expected = Replay._take(self, process, state, given, seen)
        if expected.fault is None:
            bits = self._bit("handler", self._handled(given))
            for statement, outcome in self._decided:
                bits |= self._branch_bit(statement, outcome)
            self._bits[process, state, given, seen] = bits
        return expected

    def _hashes_of(self, number: int) -> tuple[int, int]:
        """The hashes of the abstract form of the state of that number, and of the state itself."""
        known = self._hashes.get(number)
        if known is None:
            state = self.steps.state(number)
            known = self._hashes[number] = _hash(abstraction(self.protocol, state)), _hash(state)
        return known

    def _branch_bit(self, statement: ir.If | ir.While, outcome: bool) -> int:
        known = self._branches.get((id(statement), outcome))
        if known is None:
            condition = self.features.conditions.get(statement.span, "")
            known = self._bit("branch", _branch(statement.span, condition, outcome))
            self._branches[id(statement), outcome] = known
        return known

    def _bit(self, kind: str, name: str) -> int:
        """The bit of a feature; 0 where the protocol has no such feature."""
        return self.features.bits([(kind, name)]) if (kind, name) in self.features.names else 0

    def _handled(self, given: Input) -> str:
        match given:
            case (str(name), _):
                return f"input {name}"
            case (_, _):
                return "causal_send"
            case (int(number),):
                return f"receive {self.steps.packet(number).kind}"
            case (str(timer),):
                return "periodically" if timer == ir.PERIODICALLY else f"periodically {timer}"
            case _:
                raise AssertionError(f"no input of a step: {given}")

    def _broken(self, states: tuple[int, ...]) -> frozenset[str]:
        """The invariants that are not true. A `reachable` formula stands for the invariant that denies it."""
        known = self._met.get(states)
        if known is None:
            if len(self._met) > REMEMBERED:
                self._met.clear()
            found = self._interpreter.broken_invariants([self.steps.state(number) for number in states])
            known = self._met[states] = frozenset(
                name for name, fault in found if fault is None or name not in self.protocol.witnesses
            )
        return known


class CoveredLockstep(Lockstep):
    """A lockstep that notes its steps and, where the protocol has invariants, the states."""

    __slots__ = ("met", "taken")

    def __init__(self, replay: CoveredReplay, states: list[int]) -> None:
        Lockstep.__init__(self, replay, states)
        self.taken: dict[tuple[int, int, Input, Seen], int] = {}
        """For each step, the number of the state after it."""
        self.met: list[tuple[int, ...]] = []

    def accept(self, process: int, expected: Expected) -> None:
        """The subject took the expected step."""
        self.taken[process, self.states[process], expected.input, expected.seen] = expected.state
        Lockstep.accept(self, process, expected)
        if self.replay.protocol.invariants:
            self.met.append(tuple(self.states))


def abstraction(protocol: ir.Protocol, state: LocalState) -> tuple[Any, ...]:
    """The abstract state of a process."""
    return tuple(_abstract(value, variable.type) for value, variable in zip(state, protocol.state, strict=True))


def _abstract(value: Value, type_: Type) -> Any:
    match type_:
        case Bool():
            return value
        case Nat():
            return min(value, MANY)
        case Sort():
            return "some"
        case Record(fields=fields):
            return tuple(_abstract(part, known[1]) for part, known in zip(value, fields, strict=True))
        case Collection("option", item):
            return None if value is None else (_abstract(value[0], item),)
        case Collection("sliding array" | "sliding map"):
            return min(value[0], MANY), min(len(value[1]), MANY)
        case Collection():
            return min(len(value), MANY)
        case Map(value=inner):
            shapes = sorted({repr(_abstract(item, inner)) for _, item in value})
            return min(len(value), MANY), tuple(shapes)


def _hash(value: Any) -> int:
    """64 bits of a value, signed, the same in every process. Sets are put in order first."""
    return int.from_bytes(blake2b(repr(_ordered(value)).encode(), digest_size=8).digest(), "big", signed=True)


def _ordered(value: Any) -> Any:
    if isinstance(value, frozenset):
        return "set", sorted(repr(_ordered(item)) for item in value)
    if isinstance(value, tuple):
        return tuple([_ordered(item) for item in value])
    return value


def scenarios(outcome: CaseOutcome) -> set[str]:
    """The scenarios of `SCENARIOS` that a case shows to an outside observer."""
    found: set[str] = set()
    if any(isinstance(operation, React) for operation in outcome.operations):
        found.add("answered")
    count = outcome.settings.processes
    number: dict[str, int] = {}
    past: list[int] = [0] * count
    before: list[int] = []
    sender: list[int] = []
    waiting: list[set[str]] = [set() for _ in range(count)]
    delivered: list[list[int]] = [[] for _ in range(count)]
    on_the_way: set[tuple[int, int]] = set()
    newest: dict[tuple[int, int], int] = {}
    burst = 0
    for kind, process, message, other in outcome.log:
        burst = burst + 1 if kind == DELIVERED else 0
        if kind == SENT:
            to = other if isinstance(other, tuple) else (other,)
            number[message] = len(before)
            before.append(past[process])
            sender.append(process)
            past[process] |= 1 << number[message]
            on_the_way |= {(process, one) for one in to if one != process}
            if any((one, process) in on_the_way for one in to if one != process):
                found.add("crossing")
        elif kind == RECEIVED and message in number:
            channel = (sender[number[message]], process)
            if number[message] < newest.get(channel, -1):
                found.add("overtaken")
            newest[channel] = max(newest.get(channel, -1), number[message])
            if waiting[process]:
                found.add("held back")
            waiting[process].add(message)
        elif kind == DELIVERED and message in number:
            own = number[message]
            waiting[process].discard(message)
            if burst >= 2:
                found.add("released")
            if any(not before[own] >> other & 1 and not before[other] >> own & 1 for other in delivered[process]):
                found.add("concurrent")
            if any(before[own] >> other & 1 and sender[other] not in (sender[own], process)
                   for other in range(len(before))):  # fmt: skip
                found.add("relayed")
            delivered[process].append(own)
            past[process] |= before[own] | 1 << own
            on_the_way.discard((sender[own], process))
    return found


@dataclass(slots=True)
class ProtocolCoverage:
    """The coverage of many cases. `curve` has (cases, abstract states, bits) after each case that reached more."""

    features: Features
    cases: int = 0
    bits: int = 0
    abstract: set[int] = field(default_factory=set)
    local: set[int] = field(default_factory=set)
    seen: dict[Feature, int] = field(default_factory=dict)
    """Number of cases with each feature."""
    curve: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, case: CaseCoverage) -> bool:
        """Counts a case; returns whether it reached anything new, local states apart."""
        self.cases += 1
        new = bool(case.bits & ~self.bits) or not case.abstract <= self.abstract
        self.bits |= case.bits
        self.abstract |= case.abstract
        self.local |= case.local
        for feature in self.features.named(case.bits):
            self.seen[feature] = self.seen.get(feature, 0) + 1
        if new:
            self.curve.append((self.cases, len(self.abstract), self.bits))
        return new

    @property
    def missing(self) -> tuple[Feature, ...]:
        """The features that no case reached."""
        return tuple(name for name in self.features.names if name not in self.seen)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        found: dict[str, Any] = {"cases": self.cases}
        for kind in ("handler", "branch", "scenario"):
            reached, there = self.features.count(self.bits, kind)
            found[_PLURALS[kind]] = {"reached": reached, "there": there}
        found["abstract_states"] = len(self.abstract)
        found["local_states"] = len(self.local)
        found["missing"] = [f"{kind} {name}" for kind, name in self.missing]
        found["scenarios_seen"] = {name: self.seen.get(("scenario", name), 0)
                                   for kind, name in self.features.names if kind == "scenario"}  # fmt: skip
        return found


_PLURALS: Final = {"handler": "handlers", "branch": "branches", "scenario": "scenarios"}
