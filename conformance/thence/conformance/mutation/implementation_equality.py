"""Whether an implementation and a mutant of it do the same in a scope of their protocol: by their local steps.

An implementation that follows its protocol takes, in a scope, the protocol's local steps, in one or several
representations. Each of them is taken with both, from copies of their states: if all commands are the same, packets
with their metadata included, then the two do the same in every run of the scope. Weaker: the metadata differ, and
still, whichever of their packets arrive, both send the same kinds of packets with the same messages, and deliver the
same. As for protocols, nothing is said of more than the scope.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal, TypeAlias

from thence.conformance.cases.inputs import method_of
from thence.conformance.mutation.equality import LocalStep, StepRecord
from thence.conformance.systems.subject import MakeProcess
from thence.dsl.ir import PERIODICALLY
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.values import Message, Occurrence
from thence.impl import commands as impl

MOST_FORMS: Final = 20
"""Steps that are compared, for each local step of the protocol: beyond, the two count as different. Of the shipped
implementations, none whose states come to an end has more than four."""

Frozen: TypeAlias = Hashable

Likeness: TypeAlias = Literal["same commands", "same events", "different"]


def frozen(value: Any) -> Frozen:
    """A value that is equal for equal contents, even of classes from different modules."""
    match value:
        case None | bool() | int() | float() | str() | bytes():
            return type(value).__name__, value
        case Mapping():
            return "mapping", frozenset((frozen(key), frozen(item)) for key, item in value.items())
        case Set():
            return "set", frozenset(frozen(item) for item in value)
        case list() | tuple() | deque():
            return type(value).__name__, tuple(frozen(item) for item in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value).__name__, tuple(frozen(getattr(value, field.name)) for field in fields(value))
        case _ if callable(value):
            return "callable", getattr(value, "__qualname__", repr(value))
        case _:
            attributes = sorted(_attributes(value).items())
            return type(value).__name__, tuple((name, frozen(item)) for name, item in attributes)


def _attributes(value: object) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                found[name] = getattr(value, name)
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    """A state of the protocol's process, and the implementation's and the mutant's in it."""

    process: int
    number: int
    original: Any
    mutant: Any


class LocalComparison:
    """Compares an implementation with a mutant in the scope of a record."""

    def __init__(self, record: StepRecord) -> None:
        self._record = record
        self._system = record.system
        self._inputs = {use.name for use in record.system.workload.inputs}
        self._packets: dict[int, dict[Frozen, tuple[Any, Any]]] = {}
        self._pairs: dict[Frozen, _Pair] = {}
        self._done: set[tuple[Frozen, int, Message | None, Occurrence | None, Frozen]] = set()
        self._same_metadata = True

    def likeness(self, make_original: MakeProcess, make_mutant: MakeProcess) -> Likeness:
        """The likeness of the two in the scope: "different" also where the original does not follow the protocol."""
        if not self._same(make_original, make_mutant):
            return "different"
        return "same commands" if self._same_metadata else "same events"

    def _same(self, make_original: MakeProcess, make_mutant: MakeProcess) -> bool:
        for process in range(self._system.workload.processes):
            try:
                pair = self._initial(process, make_original, make_mutant)
            except Exception:
                return False
            self._pairs[self._key(pair)] = pair
        most = MOST_FORMS * self._record.size
        while True:
            before = len(self._done)
            for key, pair in list(self._pairs.items()):
                for step in (*self._record.of(pair.process, pair.number), *self._refused(pair)):
                    if not self._compare(key, pair, step) or len(self._done) > most:
                        return False
            if len(self._done) == before:
                return True

    def _refused(self, pair: _Pair) -> Iterator[LocalStep]:
        """The inputs that the application cannot have now: both have to say so."""
        local = self._system.local(pair.number)
        for use in self._system.workload.inputs:
            for arguments in use.choices:
                given = Occurrence(use.name, arguments)
                if not self._system.interpreter.takes(pair.process, local, given):
                    yield LocalStep(pair.process, pair.number, -1, None, given, -1, ())

    def _initial(self, process: int, make_original: MakeProcess, make_mutant: MakeProcess) -> _Pair:
        count = self._system.workload.processes
        number = self._system.local_number(self._system.interpreter.initial(process))
        return _Pair(process, number, make_original(process, count), make_mutant(process, count))

    def _key(self, pair: _Pair) -> Frozen:
        return pair.process, pair.number, frozen(pair.original), frozen(pair.mutant)

    def _compare(self, key: Frozen, pair: _Pair, step: LocalStep) -> bool:
        """Whether the step comes out the same, for every representation of its packet."""
        if step.packet < 0:
            return self._taken(key, pair, step, None, (None, None))
        known = list(self._packets.get(step.packet, {}).items())
        return all(self._taken(key, pair, step, form, packets) for form, packets in known)

    def _taken(self, key: Frozen, pair: _Pair, step: LocalStep, form: Frozen, packets: tuple[Any, Any]) -> bool:
        if (key, step.packet, step.message, step.occurrence, form) in self._done:
            return True
        self._done.add((key, step.packet, step.message, step.occurrence, form))
        original, mutant = copy.deepcopy(pair.original), copy.deepcopy(pair.mutant)
        sender = -1 if step.packet < 0 else self._system.packet(step.packet).src
        mine = _outcome(self._call(original, step, sender, packets[0]))
        theirs = _outcome(self._call(mutant, step, sender, packets[1]))
        if isinstance(mine, str) or isinstance(theirs, str):
            # An implementation may know more than its protocol, and refuse a step that no run has: both have to.
            return mine == theirs
        if list(map(_event, mine)) != list(map(_event, theirs)) or not self._learn(pair.process, step, mine, theirs):
            return False
        self._same_metadata = self._same_metadata and frozen(mine) == frozen(theirs)
        if step.after >= 0:
            after = _Pair(pair.process, step.after, original, mutant)
            self._pairs.setdefault(self._key(after), after)
        return True

    def _learn(self, process: int, step: LocalStep, mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
        """Pairs packets of the implementation with the protocol's; False where it does not follow the protocol."""
        if len(mine) != len(step.emissions):
            return False
        for emission, own, other in zip(step.emissions, mine, theirs, strict=True):
            match emission:
                case Sent(to=to):
                    if not isinstance(own, impl.Send) or own.destination != to:
                        return False
                    number = self._system.packet_number(process, emission)
                    self._packets.setdefault(number, {}).setdefault(
                        (frozen(own.packet), frozen(other.packet)), (own.packet, other.packet)
                    )
                case Delivered():
                    if not isinstance(own, impl.Deliver):
                        return False
        return True

    def _call(self, process: Any, step: LocalStep, sender: int, packet: Any) -> Callable[[], Any]:
        message = step.message
        if message is None:
            if step.occurrence is None:
                return lambda: process.receive(sender, packet)
            timer, arguments = step.occurrence
            if timer in self._inputs:
                return lambda: getattr(process, method_of(timer))(*arguments)
            return process.tick if timer == PERIODICALLY else lambda: process.tick(timer)
        name = f"m{message.src}.{message.number + 1}"
        match self._system.protocol.delivery:
            case "unicast":
                return lambda: process.causal_send(message.dsts[0], name)
            case "multicast":
                return lambda: process.causal_send(frozenset(message.dsts), name)
            case "broadcast":
                return lambda: process.causal_send(name)


def _event(command: Any) -> tuple[Any, ...]:
    """A command without its metadata."""
    if isinstance(command, impl.Send):
        packet = command.packet
        return command.destination, getattr(packet, "kind", None), getattr(packet, "message", None)
    return (frozen(command),)


def _outcome(call: Callable[[], Any]) -> tuple[Any, ...] | str:
    """The commands, or which exception came instead."""
    try:
        return tuple(call())
    except Exception as error:
        return type(error).__name__
