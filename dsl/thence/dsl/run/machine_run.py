"""Runs a machine step by step over concrete messages. A link replays the layer below in such a run.

The universe is every message that was causal-sent, and unsent stand-ins for each (sender, destination): as many
as a formula of the machine can tell apart. Unsent messages with equal ends are alike to every machine, since no
transition has named them; a transition that relates unsent messages to each other is refused. Where nobody may send
anything there is one stand-in all the same: proofs are about machines with at least one message.

NOTE(order): a constant, and a symbol that no transition changes and an axiom speaks about, is a parameter of the
system. Proofs hold for every choice of it that satisfies the axioms. A run chooses by the numbers of the processes: a
relation of two processes is their order, a function of a process to nat is its number. On a tree network it chooses by
the tree, with process 0 as its root: a function of two processes to a process is the next hop of the first towards the
second (towards itself: the parent), a relation of three processes says that the second is on the way from the first to
the third. The run checks that its choice satisfies the axioms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.topology import Edges, path
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.dsl.run.evaluate import Frame, Names, Source, Terms, compile_expression
from thence.dsl.run.execute import telling_parts
from thence.dsl.run.values import Fault, Message, Value, show
from thence.dsl.write.show import show_expression

MachineState: TypeAlias = tuple[frozenset[tuple[Value, ...]], ...]
"""Per symbol, built-in ones first: the tuples of a relation; of a function, (arguments, value) where not zero."""

Tables: TypeAlias = list[frozenset[tuple[Value, ...]]]

HISTORY_RELATIONS = ("sent", "delivered", "before", "past", "hb", "delivered_before")
SENT, DELIVERED, BEFORE, PAST, HB, DELIVERED_BEFORE = range(len(HISTORY_RELATIONS))


MOST_INTERNAL = 10_000
"""Internal transitions that the machine takes in a row, at most."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A transition that is not enabled: the guard that fails, by the text and place of the machine.

    `values` are those of the guard's terms, as (term, value) texts, where they were asked for.
    """

    transition: str
    guard: str
    requirement: ir.NamedFormula | None = None
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        values = ", ".join(f"{term} = {value}" for term, value in self.values)
        return f"{self.guard} ({values})" if values else self.guard


_Guard: TypeAlias = Callable[[Frame, Sequence[frozenset[tuple[Value, ...]]]], bool]
"""Of a frame with the parameters, and the tables of the state."""

_Change: TypeAlias = Callable[
    [Frame, Sequence[frozenset[tuple[Value, ...]]]], tuple[set[tuple[Value, ...]], set[tuple[Value, ...]]]
]
"""Of the same: the arguments at which a symbol changes, and the entries that come there."""


@dataclass(frozen=True, slots=True)
class _Update:
    position: int
    change: _Change
    relation: bool


@dataclass(frozen=True, slots=True)
class _Transition:
    """`named`: whether its formulas need the symbols of the frame, since a function of the machine is among them."""

    declaration: ir.Transition
    guards: tuple[tuple[int, ir.NamedFormula, _Guard], ...]
    updates: tuple[_Update, ...]
    named: bool


@dataclass(slots=True)
class MachineRun:
    """The step relation of `machine` among `processes` processes.

    `ends` are the senders and sets of destinations (in unicast of one process) that messages have; `tree` has the
    edges of a tree network, where the protocol is for one.
    """

    machine: ir.Machine
    processes: int
    ends: Sequence[tuple[int, tuple[int, ...]]]
    tree: Edges = ()
    _transitions: dict[str, _Transition] = field(init=False, default_factory=dict)
    _first: _Transition = field(init=False)
    _symbols: tuple[ir.Symbol, ...] = field(init=False, default=())
    _stand_ins: tuple[Message, ...] = field(init=False, default=())
    _seen: tuple[MachineState, dict[str, Callable[..., Value]]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._symbols = self.machine.symbols
        positions = {symbol.name: at for at, symbol in enumerate(self._symbols, len(HISTORY_RELATIONS))}
        relations = {name: at for at, name in enumerate(HISTORY_RELATIONS)}
        relations |= {symbol.name: positions[symbol.name] for symbol in self._symbols if symbol.result == BOOL}
        functions = positions.keys() - relations.keys()
        start = ir.Transition("initial", (), (), self.machine.initial)
        most = max(map(_messages_at_once, (start, *self.machine.transitions)))
        ends = self.ends if self.ends or self.machine.delivery == "off" else [(0, self._anywhere())]
        self._stand_ins = tuple(Message(src, -nth, dsts) for src, dsts in ends for nth in range(1, most + 1))
        for transition in (start, *self.machine.transitions):
            guards = tuple(
                (_last_parameter(transition, guard.body), guard, _compiled_guard(guard.body, transition, relations))
                for guard in transition.requires
            )
            updates = tuple(
                _Update(
                    positions[update.symbol],
                    _compiled_change(update, transition, relations),
                    update.symbol in relations,
                )
                for update in transition.updates
            )
            applied = {node.symbol for node in nodes(transition) if isinstance(node, ir.Apply)}
            named = not applied.isdisjoint(functions)
            compiled = _Transition(transition, guards, updates, named)
            if transition is start:
                self._first = compiled
            else:
                self._transitions[transition.name] = compiled

    def _anywhere(self) -> tuple[int, ...]:
        """Destinations of a message of process 0, not itself where that is possible."""
        others = tuple(range(1, self.processes))
        return others if self.machine.delivery != "unicast" else (others or (0,))[:1]

    def initial(self) -> MachineState:
        """Every relation empty, every function zero, but for what `initial` says; and see NOTE(order)."""
        given = given_symbols(self.machine)
        own = (self._by_number(symbol) if symbol.name in given else frozenset() for symbol in self._symbols)
        nothing = (*(frozenset[tuple[Value, ...]](),) * len(HISTORY_RELATIONS), *own)
        frame = self._frame(nothing, (), named=self._first.named)
        return tuple(self._changed(nothing, self._first, frame))

    def _changed(self, state: MachineState, transition: _Transition, frame: Frame) -> Tables:
        """The tables of the state after the updates that are written for the transition."""
        changed = list(state)
        for update in transition.updates:
            _apply(update, update.change(frame, state), state, changed)
        for position in {update.position for update in transition.updates}:
            _refuse_unsent_pairs(transition.declaration.name, changed[position] - state[position])
        return changed

    def _by_number(self, symbol: ir.Symbol) -> frozenset[tuple[Value, ...]]:
        processes = range(self.processes)
        match [parameter.type for parameter in symbol.parameters], symbol.result:
            case [first, second], result if first == second == PROCESS and result == BOOL:
                return frozenset((one, other) for one in processes for other in processes if one < other)
            case [only], result if only == PROCESS and result == NAT:
                return frozenset((process, process) for process in processes if process)
            case [first, second], result if self.tree and first == second == result == PROCESS:
                return frozenset((one, other, self._hop(one, other)) for one, other in product(processes, repeat=2))
            case [first, second, third], result if self.tree and first == second == third == PROCESS and result == BOOL:
                ways = product(processes, repeat=2)
                return frozenset((one, via, other) for one, other in ways for via in path(self.tree, one, other))
            case _:
                return frozenset()

    def _hop(self, process: int, towards: int) -> int:
        """The next hop: to itself it is the parent, of which process 0 is its own."""
        if process != towards:
            return path(self.tree, process, towards)[1]
        return path(self.tree, process, 0)[1] if process else 0

    def broken_axioms(self) -> tuple[str, ...]:
        """The machine's axioms that the messages of this run do not satisfy: its theorems say nothing here."""
        frame = self._frame(self.initial(), ())
        return tuple(
            axiom.name for axiom in self.machine.axioms if not compile_expression(axiom.body, Names({}))(frame)
        )

    def step(self, state: MachineState, name: str, arguments: Sequence[Value]) -> MachineState | Refusal:
        """The state after the transition, or why it is not enabled."""
        transition = self._transitions[name]
        history = "" if self.machine.delivery == "off" else name
        if history == "causal_send":
            state = _named(state, arguments[0])
        frame = self._frame(state, arguments, named=transition.named)
        parameters = transition.declaration.parameters
        frame.locals = dict(zip([parameter.name for parameter in parameters], arguments, strict=True))
        if history == "causal_send" and (arguments[0],) in state[SENT]:
            return Refusal(name, "not sent(m)")
        for _, requirement, guard in transition.guards:
            if not guard(frame, state):
                return Refusal(name, requirement.name, requirement)
        changed = self._changed(state, transition, frame)
        match history:
            case "causal_send":
                _causal_send(state, changed, arguments[0])
            case "deliver" if self.machine.delivery == "unicast":
                _deliver(state, changed, arguments[0])
            case "deliver":
                _deliver_at(state, changed, arguments[0], arguments[1])
        return tuple(changed)

    def enabling(
        self, state: MachineState, name: str, arguments: Sequence[Value | None]
    ) -> tuple[Value, ...] | Refusal:
        """The arguments for which the transition is enabled: in the place of None the first process or sent message
        that makes it so, those of earlier places first. Where nothing does, a guard on which the search ended."""
        transition = self._transitions[name]
        given = [argument for argument in arguments if argument is not None]
        frame = self._frame(state, given, named=transition.named)
        names = [parameter.name for parameter in transition.declaration.parameters]
        sent = sorted(message for (message,) in state[SENT])
        found: list[tuple[Value, ...]] = [()]
        for place, (argument, parameter) in enumerate(zip(arguments, transition.declaration.parameters, strict=True)):
            domain: Sequence[Value] = range(self.processes) if parameter.type == PROCESS else sent
            choices = domain if argument is None else (argument,)
            found = [(*chosen, value) for chosen in found for value in choices]
            if not found:
                return Refusal(name, "a message was sent")
            for last, requirement, guard in transition.guards:
                if last == place:
                    found = [chosen for chosen in found if _is_true(guard, frame, state, names, chosen)]
                    if not found:
                        return Refusal(name, requirement.name, requirement)
        return found[0]

    def explained(self, state: MachineState, refusal: Refusal, arguments: Sequence[Value | None]) -> Refusal:
        """The refusal, with the values of the terms of its guard, but for those with an argument that is None."""
        if refusal.requirement is None:
            return refusal
        declaration = self._transitions[refusal.transition].declaration
        if self.machine.delivery != "off" and refusal.transition == "causal_send" and arguments[0] is not None:
            state = _named(state, arguments[0])
        frame = self._frame(state, [argument for argument in arguments if argument is not None])
        given = list(zip(declaration.parameters, arguments, strict=True))
        open_ = {parameter.name for parameter, argument in given if argument is None}
        shown = {each.name: show(argument, each.type) for each, argument in given if argument is not None}
        values = []
        for text, term in telling_parts(refusal.requirement.body):
            if open_ & {node.name for node in nodes(term) if isinstance(node, ir.Local)}:
                continue
            frame.locals = {each.name: argument for each, argument in given}
            value = show(compile_expression(term, Names({}))(frame), term.type)
            values.append((text if isinstance(term, ir.Local) else show_expression(_with_values(term, shown)), value))
        return replace(refusal, values=tuple(values))

    def settled(self, state: MachineState, internal: Sequence[str]) -> MachineState:
        """The state after the `internal` transitions that change something, until none does or a state comes back.

        Their arguments are processes and sent messages. The steps are the machine's own, so that its theorems hold.
        Raises: Fault, where they do not come to an end within MOST_INTERNAL steps.
        """
        seen = {state}
        while True:
            after = next((after for after in self._internal_steps(state, internal) if after != state), state)
            if after in seen:
                return state
            if len(seen) > MOST_INTERNAL:
                raise Fault(
                    f"the internal transitions {', '.join(internal)} go on for more than {MOST_INTERNAL:,} steps"
                )
            seen.add(after)
            state = after

    def _internal_steps(self, state: MachineState, internal: Sequence[str]) -> Iterator[MachineState]:
        sent = sorted(message for (message,) in state[SENT])
        for name in internal:
            parameters = self._transitions[name].declaration.parameters
            domains = [range(self.processes) if parameter.type == PROCESS else sent for parameter in parameters]
            for arguments in product(*domains):
                after = self.step(state, name, arguments)
                if not isinstance(after, Refusal):
                    yield after

    def _frame(self, state: MachineState, arguments: Sequence[Value], *, named: bool = True) -> Frame:
        known = {message for (message,) in state[SENT]} | {value for value in arguments if isinstance(value, Message)}
        messages = [*sorted(known), *self._stand_ins]
        return Frame(processes=self.processes, symbols=self.symbols(state) if named else {}, messages=messages)

    def symbols(self, state: MachineState) -> dict[str, Callable[..., Value]]:
        """What the relations and functions of the machine, built in or its own, are in a state."""
        if self._seen is None or self._seen[0] is not state:  # several steps in a row are often from one state
            self._seen = state, self._symbols_in(state)
        return self._seen[1]

    def _symbols_in(self, state: MachineState) -> dict[str, Callable[..., Value]]:
        symbols: dict[str, Callable[..., Value]] = {"src": _source}
        if self.machine.delivery == "unicast":
            symbols["dst"] = _destination
        else:
            symbols["to"] = _goes_to
        for position, name in enumerate(HISTORY_RELATIONS):
            symbols[name] = _relation(state[position])
        for position, symbol in enumerate(self._symbols, len(HISTORY_RELATIONS)):
            symbols[symbol.name] = (_relation if symbol.result == BOOL else _function)(state[position])
        return symbols


def _at_hand(source: Source, tree: object, parameters: Sequence[str], relations: Mapping[str, int]) -> Terms:
    """The terms of a function (frame, tables) for an expression of a transition. They read parameters and tables from
    names of Python, which `_read` defines."""
    known = {name: source.fresh(name) for name in parameters}
    applied = {"src": "({}).src", "dst": "({}).dsts[0]", "to": f"{source.object(_goes_to)}({{}})"}
    for node in nodes(tree):
        if isinstance(node, ir.Apply) and node.symbol in relations:
            entry = "({},)" if node.arguments else "()"
            applied[node.symbol] = f"({entry} in tables[{relations[node.symbol]}])"
    return Terms(source, {}, known=known, applied=applied)


def _read(terms: Terms) -> list[str]:
    return [f"{text} = frame.locals.get({name!r})" for name, text in terms.known.items()]


def _compiled_guard(formula: ir.Expr, transition: ir.Transition, relations: Mapping[str, int]) -> _Guard:
    source = Source()
    terms = _at_hand(source, formula, [each.name for each in transition.parameters], relations)
    body = terms.bare(formula)
    lines = source.lines("def guard(frame, tables):", [f"return {body}"], _read(terms))
    (guard,) = source.functions(lines).values()
    return guard


def _compiled_change(update: ir.Update, transition: ir.Transition, relations: Mapping[str, int]) -> _Change:
    source = Source()
    read = (update.arguments, update.value)
    terms = _at_hand(source, read, [each.name for each in transition.parameters], relations)
    inner = terms
    loops: list[str] = []
    for binder in update.binders:
        assert binder.type in (PROCESS, MESSAGE), binder.type
        name = source.fresh(binder.name)
        domain = "range(frame.processes)" if binder.type == PROCESS else "frame.messages"
        loops.append(f"{' ' * len(loops)}for {name} in {domain}:")
        inner = inner.binding({binder.name: name})
    key = f"({''.join(f'{inner.bare(argument)}, ' for argument in update.arguments)})"
    value = inner.bare(update.value)
    space = " " * len(loops)
    entry = "key" if update.symbol in relations else "(*key, value)"
    body = [
        "gone, come = set(), set()", *loops, f"{space}key, value = {key}, {value}", f"{space}gone.add(key)",
        f"{space}if value: come.add({entry})", "return gone, come",
    ]  # fmt: skip
    lines = source.lines("def change(frame, tables):", body, _read(terms))
    (change,) = source.functions(lines).values()
    return change


def _apply(
    update: _Update,
    change: tuple[set[tuple[Value, ...]], set[tuple[Value, ...]]],
    state: MachineState,
    changed: Tables,
) -> None:
    gone, come = change
    if update.relation:
        changed[update.position] = (state[update.position] - gone) | come
    else:
        kept = frozenset(entry for entry in state[update.position] if entry[:-1] not in gone)
        changed[update.position] = kept | come


def _with_values(term: Any, shown: Mapping[str, str]) -> Any:
    """A part of an expression with values in the places of parameters, for a reader."""
    match term:
        case ir.Local(name=name) if name in shown:
            return replace(term, name=shown[name])
        case tuple():
            return tuple(_with_values(part, shown) for part in term)
        case ir.Expression():
            return replace(term, **{each.name: _with_values(getattr(term, each.name), shown) for each in fields(term)})
        case _:
            return term


def _last_parameter(transition: ir.Transition, formula: ir.Expr) -> int:
    """The place of the last parameter that the formula mentions, 0 where it mentions none."""
    mentioned = {node.name for node in nodes(formula) if isinstance(node, ir.Local)}
    places = (place for place, parameter in enumerate(transition.parameters) if parameter.name in mentioned)
    return max(places, default=0)


def _is_true(guard: _Guard, frame: Frame, state: MachineState, names: Sequence[str], values: Sequence[Value]) -> bool:
    frame.locals = dict(zip(names, values, strict=False))
    return bool(guard(frame, state))


def given_symbols(machine: ir.Machine) -> frozenset[str]:
    """The parameters of the system: the constants, and what no transition changes and an axiom speaks about."""
    updates = (machine.initial, *(transition.updates for transition in machine.transitions))
    changed = {update.symbol for each in updates for update in each}
    spoken = {node.symbol for axiom in machine.axioms for node in nodes(axiom.body) if isinstance(node, ir.Apply)}
    return frozenset({*spoken, *machine.constants} - changed) & {symbol.name for symbol in machine.symbols}


def _messages_at_once(transition: ir.Transition) -> int:
    """The number of messages that the formulas of a transition can tell apart besides its parameters."""
    guards = [_bound_messages(requirement.body) for requirement in transition.requires]
    updates = [
        sum(binder.type == MESSAGE for binder in update.binders) + _bound_messages(update.value)
        for update in transition.updates
    ]
    return max([1, *guards, *updates])


def _bound_messages(expression: ir.Expr) -> int:
    """The most messages that are bound at once inside."""
    own = 0
    if isinstance(expression, ir.Quantified):
        own = sum(variable.type == MESSAGE for variable in expression.variables)
    return own + max((_bound_messages(part) for part in _parts(expression)), default=0)


def _parts(expression: ir.Expr) -> Iterator[ir.Expr]:
    for item in fields(expression):
        value = getattr(expression, item.name)
        if isinstance(value, ir.Expression):
            yield value  # type: ignore[misc]
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, ir.Expression))  # type: ignore[misc]


def _refuse_unsent_pairs(transition: str, entries: frozenset[tuple[Value, ...]]) -> None:
    """A relation between unsent messages would need names for them. Raises Fault."""
    for entry in entries:
        if sum(isinstance(value, Message) and value.number < 0 for value in entry) > 1:
            raise Fault(f"{transition} relates unsent messages to each other, which a link cannot follow")


def _source(message: Message) -> int:
    return message.src


def _destination(message: Message) -> int:
    return message.dsts[0]


def _goes_to(message: Message, process: int) -> bool:
    return process in message.dsts


def _relation(tuples: frozenset[tuple[Value, ...]]) -> Callable[..., Value]:
    return lambda *arguments: arguments in tuples


def _function(entries: frozenset[tuple[Value, ...]]) -> Callable[..., Value]:
    table = {entry[:-1]: entry[-1] for entry in entries}
    return lambda *arguments: table.get(arguments, 0)


def _named(state: MachineState, message: Message) -> MachineState:
    """Whatever held of the stand-in for `message` holds of `message`, now that it has a name."""
    stand_in = Message(message.src, -1, message.dsts)
    return tuple(
        table | {entry for known in table if stand_in in known for entry in _instances(known, stand_in, message)}
        for table in state
    )


def _instances(entry: tuple[Value, ...], stand_in: Message, message: Message) -> Iterator[tuple[Value, ...]]:
    choices = [(stand_in, message) if value == stand_in else (value,) for value in entry]
    return product(*choices)


def _causal_send(state: MachineState, changed: Tables, message: Message) -> None:
    """The built-in updates of a causal send: what `message` happens after, and that its sender knows it."""
    known = {other for process, other in state[PAST] if process == message.src}
    changed[HB] = state[HB] | {(other, message) for other in known}
    earlier = {other for (other,) in state[SENT] if other.src == message.src}
    changed[BEFORE] = state[BEFORE] | {(other, message) for other in earlier}
    changed[PAST] = state[PAST] | {(message.src, message)}
    changed[SENT] = state[SENT] | {(message,)}


def _deliver(state: MachineState, changed: Tables, message: Message) -> None:
    """The built-in updates of a delivery: its destination knows the message and everything before it."""
    receiver = message.dsts[0]
    known = {other for other, later in state[HB] if later == message} | {message}
    earlier = {other for (other,) in state[DELIVERED] if other.dsts == message.dsts and other != message}
    changed[DELIVERED_BEFORE] = state[DELIVERED_BEFORE] | {(other, message) for other in earlier}
    changed[PAST] = state[PAST] | {(receiver, other) for other in known}
    changed[DELIVERED] = state[DELIVERED] | {(message,)}


def _deliver_at(state: MachineState, changed: Tables, message: Message, receiver: int) -> None:
    """The same where a message has several destinations."""
    known = {other for other, later in state[HB] if later == message} | {message}
    earlier = {other for other, at in state[DELIVERED] if at == receiver and other != message}
    changed[DELIVERED_BEFORE] = state[DELIVERED_BEFORE] | {(other, message, receiver) for other in earlier}
    changed[PAST] = state[PAST] | {(receiver, other) for other in known}
    changed[DELIVERED] = state[DELIVERED] | {(message, receiver)}
