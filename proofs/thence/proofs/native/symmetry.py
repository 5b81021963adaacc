"""Process symmetry: states that differ only in the names of processes are explored once.

The group consists of the permutations of processes that keep the workload, the processes that roles name, and the
initial state. The symmetry of a protocol is checked: every local step that the search uses is taken under every
permutation, and must be the renamed step. So a loop over processes whose order matters is found at the first step that
shows it.

Preserved: which built-in properties and invariants are violated, and in how few steps. States and transitions are
counted up to renaming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection, Map, Record, Type
from thence.dsl.run.actions import Action, State, cause_of
from thence.dsl.run.causality import History, Pending
from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Delivered, Emission
from thence.dsl.run.local_steps import GivenCause
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Packet, Value, ascending
from thence.proofs.native.layout import Shape

MOST_PERMUTED = 5
"""Most processes that are renamed: the group has at most 120 elements."""

COMPARES = "the protocol compares processes by `<`: their order is part of what it does"
"""Why the processes of a protocol cannot be renamed, whatever engine explores."""

Permutation: TypeAlias = tuple[int, ...]
"""The new name of each process."""

Renamer: TypeAlias = Callable[[Value], Value]

_Outcome: TypeAlias = tuple[int, int]
"""The number of a local state, and that of an effect."""

_Effect: TypeAlias = tuple[int | Message, ...]
"""The packets that leave in a step, by number, and the messages that are delivered or sent inside a delivery."""


class Asymmetric(Exception):
    """The protocol treats processes differently; the message says where."""


def _differing(does: str, where: str, one: int, other: int) -> str:
    """What a process does, and another, or the same one after others were exchanged, is not the same up to names."""
    if one == other:
        alone = {"do": "does"}.get(does, does)
        return f"what p{one} {alone} {where} depends on which of the other processes is which"
    return f"what p{one} and p{other} {does} {where} differs by more than their names"


def group_of(shape: Shape) -> tuple[Permutation, ...]:
    """The permutations that keep the workload, the identity first."""
    rest = tuple(range(min(shape.processes, MOST_PERMUTED), shape.processes))
    found = [(*chosen, *rest) for chosen in permutations(range(min(shape.processes, MOST_PERMUTED)))]
    return tuple(permutation for permutation in found if _keeps(shape, permutation))


def _keeps(shape: Shape, permutation: Permutation) -> bool:
    if any(limits[process] != limits[name] for limits, _ in shape.inputs for process, name in enumerate(permutation)):
        return False
    return all(
        shape.sends[process] == shape.sends[name]
        and {tuple(sorted(permutation[other] for other in choice)) for choice in shape.choices[process]}
        == set(shape.choices[name])
        for process, name in enumerate(permutation)
    )


def compares_processes(protocol: ir.Protocol) -> bool:
    """Whether a handler, a procedure or a formula compares processes by their order, or a first value depends on it."""
    return any(
        isinstance(node, ir.Comparison) and node.operator != "=" and node.left.type == PROCESS
        for node in nodes((protocol.handlers, protocol.procedures, protocol.formulas, protocol.state))
    )


def named_processes(protocol: ir.Protocol) -> frozenset[int]:
    """The processes that the protocol names: those of its roles."""
    parts = (protocol.handlers, protocol.procedures, protocol.formulas, protocol.state)
    return frozenset(node.value for node in nodes(parts) if isinstance(node, ir.Literal_) and node.type == PROCESS)


def inverse(permutation: Permutation) -> Permutation:
    """The process that has each name."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


@lru_cache(maxsize=1 << 14)
def renamed_message(message: Message, permutation: Permutation) -> Message:
    """The message of the renamed sender to the renamed destinations."""
    dsts = tuple(sorted(permutation[other] for other in message.dsts))
    return Message(permutation[message.src], message.number, dsts)


@lru_cache(maxsize=1 << 12)
def renamer(type_: Type, permutation: Permutation) -> Renamer | None:
    """Renames all processes in a value of this type. None: it has none."""
    if type_ == PROCESS:
        return permutation.__getitem__
    if type_ == MESSAGE:
        return lambda value: renamed_message(value, permutation)
    match type_:
        case Record(fields=fields):
            return _each([renamer(kind, permutation) for _, kind in fields])
        case Collection(kind, item):
            one = renamer(item, permutation)
            return None if one is None else _elements(kind, one)
        case Map(key, item):
            return _entries(renamer(key, permutation), renamer(item, permutation))
        case _:
            return None


def _each(renamers: Sequence[Renamer | None]) -> Renamer | None:
    """Renames the parts of a tuple, each by its own."""
    moved = [(at, rename) for at, rename in enumerate(renamers) if rename is not None]
    if not moved:
        return None

    def rename_parts(parts: Value) -> Value:
        assert len(parts) == len(renamers), "a value has the parts of its type"
        found = [*parts]
        for at, rename in moved:
            found[at] = rename(parts[at])
        return tuple(found)

    return rename_parts


def _elements(kind: str, one: Renamer) -> Renamer | None:
    """Renames the elements of a collection of this kind."""
    match kind:
        case "option":
            return lambda value: None if value is None else (one(value[0]),)
        case "set":
            return lambda value: frozenset(map(one, value))
        case "queue":
            return lambda value: tuple(map(one, value))
        case "sliding array":
            return lambda value: (value[0], tuple(map(one, value[1])))
        case "sliding map":
            return lambda value: (value[0], tuple([(at, one(part)) for at, part in value[1]]))
        case _:
            return None


def _entries(key: Renamer | None, item: Renamer | None) -> Renamer | None:
    """Renames the keys and the entries of a map."""
    if key is None and item is None:
        return None

    @lru_cache(maxsize=1 << 12)  # local states have many equal parts
    def rename_entries(value: Value) -> Value:
        if item is not None:
            value = [(known, item(part)) for known, part in value]
        if key is None:
            return tuple(value)
        pairs = {key(known): part for known, part in value}
        return tuple([(known, pairs[known]) for known in ascending(pairs)])

    return rename_entries


def _all_renamed(values: tuple[Value, ...], rename: Renamer | None) -> tuple[Value, ...]:
    return values if rename is None else rename(values)


@dataclass(slots=True)
class Effects:
    """What leaves in a step and is delivered in it, by number: one for all orders that no receiver can tell apart.

    Steps have few different effects, so each is renamed once. `packets`: a packet under every permutation of `group`.
    """

    system: System
    group: tuple[Permutation, ...]
    packets: Callable[[int], tuple[int, ...]]
    _effects: list[_Effect] = field(init=False, default_factory=list)
    _numbers: dict[_Effect, int] = field(init=False, default_factory=dict)
    _of_emissions: dict[tuple[int, tuple[Emission, ...]], int] = field(init=False, default_factory=dict)
    _renamed: dict[int, tuple[int, ...]] = field(init=False, default_factory=dict)

    def number(self, process: int, emissions: tuple[Emission, ...]) -> int:
        """The effect of what a process emits in a step."""
        known = self._of_emissions.get((process, emissions))
        if known is None:
            known = self._of_emissions[process, emissions] = self._enter(self._parts(process, emissions))
        return known

    def renamed(self, number: int) -> tuple[int, ...]:
        """An effect under every permutation."""
        known = self._renamed.get(number)
        if known is None:
            effect = self._effects[number]
            known = self._renamed[number] = tuple(
                self._enter(
                    renamed_message(part, permutation) if isinstance(part, Message) else self.packets(part)[at]
                    for part in effect
                )
                for at, permutation in enumerate(self.group)
            )
        return known

    def _parts(self, process: int, emissions: tuple[Emission, ...]) -> Iterator[int | Message]:
        for emission in emissions:
            if isinstance(emission, Delivered):
                yield emission.message
                if emission.then is not None:
                    yield emission.then
            else:
                yield self.system.packet_number(process, emission)

    def _enter(self, parts: Iterable[int | Message]) -> int:
        effect = self._arranged(parts)
        number = self._numbers.setdefault(effect, len(self._effects))
        if number == len(self._effects):
            self._effects.append(effect)
        return number

    def _arranged(self, parts: Iterable[int | Message]) -> _Effect:
        """The parts in a normal order: packets to different receivers may leave in any order between two deliveries."""
        found: list[int | Message] = []
        leaving: list[int] = []
        for part in parts:
            if isinstance(part, Message):
                found += [*sorted(leaving, key=self._receiver), part]
                leaving = []
            else:
                leaving.append(part)
        return (*found, *sorted(leaving, key=self._receiver))

    def _receiver(self, packet: int) -> int:
        return self.system.packet(packet).dst


@dataclass(slots=True)
class Symmetry:
    """The renamings of a system's local states and packets, by number."""

    system: System
    shape: Shape
    group: tuple[Permutation, ...] = field(init=False)
    _locals: dict[int, tuple[int, ...]] = field(init=False, default_factory=dict)
    _packets: dict[int, tuple[int, ...]] = field(init=False, default_factory=dict)
    _least_orbits: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = field(init=False, default_factory=dict)
    _checked: set[tuple[int, GivenCause, int]] = field(init=False, default_factory=set)
    _answered: set[tuple[int, GivenCause, int, int]] = field(init=False, default_factory=set)
    _renamed_actions: dict[tuple[Action, Message | None], tuple[tuple[Action, Message | None], ...]] = field(
        init=False, default_factory=dict
    )
    _variables: tuple[Renamer | None, ...] = field(init=False)
    _arguments: dict[str, tuple[Renamer | None, ...]] = field(init=False)
    _parameters: dict[str, tuple[Type, ...]] = field(init=False)
    _inputs: dict[str, tuple[Type, ...]] = field(init=False)
    _then: tuple[tuple[int, ...], ...] = field(init=False)
    _effects: Effects = field(init=False)

    def __post_init__(self) -> None:
        if compares_processes(self.system.protocol):
            raise Asymmetric(COMPARES)
        named = named_processes(self.system.protocol)
        self.group = tuple(permutation for permutation in group_of(self.shape) if self._fixes(permutation, named))
        if len(self.group) == 1 < len(group_of(self.shape)):
            raise Asymmetric("every renaming moves a process with a role, or one that starts differently")
        numbers = {permutation: at for at, permutation in enumerate(self.group)}
        self._then = tuple(
            tuple(numbers[tuple(second[process] for process in first)] for second in self.group) for first in self.group
        )
        self._parameters = {
            kind.name: tuple(parameter.type for parameter in kind.parameters) for kind in self.system.protocol.packets
        }
        self._inputs = {
            each.kind or "": tuple(parameter.type for parameter in each.parameters)
            for each in self.system.protocol.inputs
        }
        self._variables = self._renamers([variable.type for variable in self.system.protocol.state])
        self._arguments = {kind: self._renamers(types) for kind, types in self._parameters.items()}
        self._effects = Effects(self.system, self.group, self.packets)

    def _renamers(self, types: Sequence[Type]) -> tuple[Renamer | None, ...]:
        """What renames values of these types under every permutation."""
        return tuple(_each([renamer(type_, permutation) for type_ in types]) for permutation in self.group)

    def _fixes(self, permutation: Permutation, named: frozenset[int]) -> bool:
        """Whether processes with roles keep their names, and the states in which processes start stay as they are."""
        if any(permutation[process] != process for process in named):
            return False
        first = [self.system.interpreter.initial(process) for process in range(len(permutation))]
        rename = _each([renamer(variable.type, permutation) for variable in self.system.protocol.state])
        return all(first[permutation[process]] == _all_renamed(state, rename) for process, state in enumerate(first))

    def locals(self, number: int) -> tuple[int, ...]:
        """A local state under every permutation."""
        known = self._locals.get(number)
        if known is None:
            state = self.system.local(number)
            known = tuple(self.system.local_number(_all_renamed(state, rename)) for rename in self._variables)
            self._note(known, self._locals)
        return known

    def packets(self, number: int) -> tuple[int, ...]:
        """A packet under every permutation."""
        known = self._packets.get(number)
        if known is None:
            packet = self.system.packet(number)
            known = tuple(self.system.number_of(self._renamed_packet(packet, at)) for at in range(len(self.group)))
            self._note(known, self._packets)
        return known

    def least_orbit(self, locals_: tuple[int, ...], sends: tuple[int, ...]) -> int:
        """How many renamings a state with these local states, and numbers of messages sent, has at least.

        A renaming that leaves the state as it is leaves, of each process, that number and the renamings of its local
        state.
        """
        known = self._least_orbits.get((locals_, sends))
        if known is None:
            marks = [(min(self.locals(local)), sent) for local, sent in zip(locals_, sends, strict=True)]
            renamed = ([marks[name] for name in permutation] for permutation in self.group)
            known = self._least_orbits[locals_, sends] = len(self.group) // sum(each == marks for each in renamed)
        return known

    def _note(self, orbit: tuple[int, ...], known: dict[int, tuple[int, ...]]) -> None:
        """Notes the orbits of all elements of an orbit: two permutations one after the other are a third."""
        for other, then in zip(orbit, self._then, strict=True):
            known[other] = tuple(orbit[at] for at in then)

    def _renamed_packet(self, packet: Packet, at: int) -> Packet:
        permutation, rename = self.group[at], self._arguments[packet.kind][at]
        return Packet(
            packet.kind, permutation[packet.src], permutation[packet.dst], _all_renamed(packet.arguments, rename)
        )

    def _renamed_input(self, action: Action, permutation: Permutation) -> tuple[int, ...]:
        """The arguments of an input under the permutation."""
        types = self._inputs[action.name] if action.arguments else ()
        return _all_renamed(action.arguments, _each([renamer(type_, permutation) for type_ in types]))

    def acts(self, acts: Acts, permutation: Permutation) -> Acts:
        """What a process does in a step, with all processes renamed."""
        found: dict[tuple[str, str | None], tuple[Value, ...]] = {}
        for (verb, kind), told in acts.items():
            match verb:
                case "delivers":
                    types: tuple[Type, ...] = (PROCESS, MESSAGE)
                case "receives":
                    types = (PROCESS, *self._parameters[kind or ""], PROCESS)
                case _:
                    types = (PROCESS, *self._inputs[kind or ""])
            rename = _each([renamer(type_, permutation) for type_ in types])
            found[verb, kind] = tuple(_all_renamed(each, rename) for each in told)
        return found

    def state(self, state: State, permutation: Permutation) -> State:
        """A global state with all processes renamed."""
        at = self.group.index(permutation)
        count, back = len(permutation), inverse(permutation)
        network = tuple(self.packets(number)[at] for number in state.network)
        return State(
            tuple(self.locals(state.locals[back[process]])[at] for process in range(count)),
            self.system.arranged(network),
            self._renamed_history(state.history, permutation, back),
            tuple(state.sends[back[process]] for process in range(count)),
            tuple(state.ticks[first + back[at]] for first in range(0, len(state.ticks), count) for at in range(count)),
            state.duplicates,
            state.losses,
        )

    def _renamed_history(self, history: History, permutation: Permutation, back: Permutation) -> History:
        bases, sends = self.shape.bases, self.shape.sends

        def mask(old: int) -> int:
            return sum(
                1 << bases[permutation[process]] + number
                for process in range(len(permutation))
                for number in range(sends[process])
                if old >> bases[process] + number & 1
            )

        pending = [
            Pending(
                renamed_message(entry.message, permutation),
                tuple(sorted(permutation[process] for process in entry.due)),
                mask(entry.past),
            )
            for entry in history.pending
        ]
        order = [
            (renamed_message(early, permutation), renamed_message(late, permutation)) for early, late in history.order
        ]
        pasts = tuple(mask(history.pasts[back[process]]) for process in range(len(permutation)))
        late = [(renamed_message(message, permutation), permutation[process]) for message, process in history.overtaken]
        return History(pasts, tuple(sorted(pending)), tuple(sorted(order)), tuple(sorted(late)))

    # --- the check ---------------------------------------------------------------------------

    def check(
        self, action: Action, message: Message | None, local: int, step: tuple[int, tuple[Emission, ...]] | Fault | None
    ) -> None:
        """Checks that the step under every permutation is the renamed step; then this holds of these steps, too.

        `step` None: the protocol does not take what the application would do.

        Raises:
            Asymmetric: otherwise.
        """
        if (action.process, cause_of(action, message), local) in self._checked:
            return
        outcome = None if step is None else self._outcome(action.process, step)
        places, may_wait = self.locals(local), action.kind in ("send", "input")
        for at, (other, renamed_to) in enumerate(self._under_all_names(action, message)):
            place = places[at]
            self._checked.add((other.process, cause_of(other, renamed_to), place))
            waits = may_wait and self.system.refuses(other, place, renamed_to)
            if waits != (outcome is None):
                raise Asymmetric(f"whether the application has to wait with `{action.kind}` differs by more than names")
            if outcome is None or at == 0:
                continue
            found = self.system.local_step(other.process, place, other, renamed_to)
            if not self._same(outcome, self._outcome(other.process, found), at):
                raise Asymmetric(_differing("do", f"in `{action.kind}`", action.process, other.process))

    def _under_all_names(self, action: Action, message: Message | None) -> tuple[tuple[Action, Message | None], ...]:
        """The action, with the message that it sends, under every permutation."""
        known = self._renamed_actions.get((action, message))
        if known is None:
            known = self._renamed_actions[action, message] = tuple(
                (self._renamed_action(action, at), None if message is None else renamed_message(message, permutation))
                for at, permutation in enumerate(self.group)
            )
        return known

    def check_answers(self, action: Action, message: Message | None, local: int, made: int) -> None:
        """Checks the same of what the application may send inside deliveries of the step. `made`: how many messages the
        process has sent before.

        Raises:
            Asymmetric: otherwise.
        """
        if (action.process, cause_of(action, message), local, made) in self._answered:
            return
        found = list(self.system.reacting(local, action, message, made))
        for at, permutation in enumerate(self.group):
            other, place = self._renamed_action(action, at), self.locals(local)[at]
            renamed_to = None if message is None else renamed_message(message, permutation)
            self._answered.add((other.process, cause_of(other, renamed_to), place, made))
            expected = {self._renamed_action(each, at): self._answer(each, message, local, made) for each in found}
            there = {
                each: self._answer(each, renamed_to, place, made)
                for each in self.system.reacting(place, other, renamed_to, made)
            }
            alike = expected.keys() == there.keys()
            if not alike or not all(self._same(expected[each], there[each], at) for each in there):
                raise Asymmetric(_differing("may send", "inside deliveries", action.process, other.process))

    def _answer(self, action: Action, message: Message | None, local: int, made: int) -> _Outcome | None:
        step = self.system.local_step(action.process, local, action, message, self.system.answers(action, made))
        return self._outcome(action.process, step)

    def _renamed_action(self, action: Action, at: int) -> Action:
        """The action under the permutation of this number."""
        permutation = self.group[at]

        def to(others: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted(permutation[other] for other in others))

        return action._replace(
            process=permutation[action.process],
            destinations=to(action.destinations),
            packet=self.packets(action.packet)[at] if action.packet >= 0 else -1,
            arguments=self._renamed_input(action, permutation),
            reactions=tuple((number, to(others)) for number, others in action.reactions),
        )

    def check_taken(self) -> None:
        """Checks every local step that the system has taken, also those of runs that go on after the search's.

        Raises:
            Asymmetric: where one differs by more than names.
        """
        for process, local, cause, _ in list(self.system.steps.taken()):
            if (process, cause, local) in self._checked:
                continue
            match cause:
                case Occurrence(name, arguments):
                    timer = name in self.system.interpreter.timers
                    action = Action("tick" if timer else "input", process, name=name, arguments=arguments)
                    message = None
                case int():
                    action, message = Action("receive", process, (), cause), None
                case Message():
                    action, message = Action("send", process, cause.dsts), cause
            self.check(action, message, local, self.system.local_step(process, local, action, message))

    def _outcome(self, process: int, step: tuple[int, tuple[Emission, ...]] | Fault) -> _Outcome | None:
        """The local state that a step leads to, and its effect. None: a fault."""
        return None if isinstance(step, Fault) else (step[0], self._effects.number(process, step[1]))

    def _same(self, one: _Outcome | None, other: _Outcome | None, at: int) -> bool:
        """Whether the second is the first under a permutation; two faults are the same."""
        if one is None or other is None:
            return one is other
        return self.locals(one[0])[at] == other[0] and self._effects.renamed(one[1])[at] == other[1]
