"""The whole guard and all updates of a machine's transitions, the built-in ones included.

Two readings of one list of updates, kept independent so that each checks the other: `after` is the
weakest precondition, by substitution, for solvers; `step` computes the next finite structure by evaluation.

NOTE(rigid): a symbol that is declared as a constant is a parameter of the system: arbitrary but fixed. So is one that
no transition updates and that is a function into a sort, or that an axiom speaks about. A function into a sort that is
updated starts with arbitrary values. What `initial` gives a value starts with that, a term of rigid symbols. Every
other symbol starts as false or 0. An axiom may speak about rigid symbols only; otherwise it would silently restrict the
reachable states.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.formula import (
    TRUE,
    Unsupported,
    conditional,
    conj,
    disj,
    equal,
    holds,
    local,
    map_children,
    negation,
    substitute,
    symbols_of,
    with_applications,
)
from thence.proofs.logic.number_window import instances_of_numbers
from thence.proofs.logic.structure import (
    Structure,
    Table,
    Value,
    beyond_window,
    constant_table,
    evaluate,
    tuples,
    zero_of,
)


@dataclass(frozen=True, slots=True)
class Action:
    """A transition made complete: `guards` and `updates` include the built-in ones of `causal_send` and `deliver`."""

    name: str
    parameters: tuple[ir.Variable, ...]
    guards: tuple[ir.NamedFormula, ...]
    updates: tuple[ir.Update, ...]

    @property
    def guard(self) -> ir.Expr:
        return conj(guard.body for guard in self.guards)

    @property
    def changed(self) -> frozenset[str]:
        """The symbols that the transition updates."""
        return frozenset(update.symbol for update in self.updates)


def symbols(machine: ir.Machine) -> tuple[ir.Symbol, ...]:
    """The built-in symbols, then the declared ones."""
    return (*machine_builtins.built_in_symbols(machine.delivery), *machine.symbols)


def actions(machine: ir.Machine) -> tuple[Action, ...]:
    """The machine's transitions in the order of the text, made complete."""
    return tuple(complete(transition, machine.delivery) for transition in machine.transitions)


def deliver_action(machine: ir.Machine) -> Action:
    """The transition `deliver` of a machine with a history, made complete."""
    return next(action for action in actions(machine) if action.name == "deliver")


def complete(transition: ir.Transition, delivery: ir.MachineDelivery) -> Action:
    """The transition with the built-in guard and updates of `causal_send(m)` and `deliver(m)` or `deliver(m, p)`."""
    guards, updates = transition.requires, transition.updates
    if transition.name in machine_builtins.history_transitions(delivery):
        message = local(transition.parameters[0])
        if transition.name == "causal_send":
            guards = (ir.NamedFormula("not_sent", negation(holds("sent", message))), *guards)
            updates = (*_sending(message), *updates)
        elif delivery == "unicast":
            updates = (*_delivering(message), *updates)
        else:
            updates = (*_delivering_at(message, local(transition.parameters[1])), *updates)
    return Action(transition.name, transition.parameters, guards, updates)


def _sending(m: ir.Local) -> tuple[ir.Update, ...]:
    """The additions of a causal send of m to the history: m follows everything in its sender's past."""
    x, p = _binders(m)
    source = ir.Apply(PROCESS, "src", (m,))
    same_sender = equal(ir.Apply(PROCESS, "src", (local(x),)), source)
    return (
        ir.Update("hb", (local(x), m), holds("past", source, local(x)), (x,)),
        ir.Update("before", (local(x), m), conj((holds("sent", local(x)), same_sender)), (x,)),
        ir.Update("past", (local(p), m), disj((holds("past", local(p), m), equal(local(p), source))), (p,)),
        ir.Update("sent", (m,), TRUE, ()),
    )


def _delivering(m: ir.Local) -> tuple[ir.Update, ...]:
    """The additions of a delivery of m: m and everything before it enter the receiver's past."""
    x, p = _binders(m)
    receiver = ir.Apply(PROCESS, "dst", (m,))
    same_receiver = equal(ir.Apply(PROCESS, "dst", (local(x),)), receiver)
    learnt = conj((equal(local(p), receiver), disj((equal(local(x), m), holds("hb", local(x), m)))))
    earlier = conj((holds("delivered", local(x)), same_receiver, negation(equal(local(x), m))))
    return (
        ir.Update("delivered_before", (local(x), m), earlier, (x,)),
        ir.Update("past", (local(p), local(x)), disj((holds("past", local(p), local(x)), learnt)), (p, x)),
        ir.Update("delivered", (m,), TRUE, ()),
    )


def _delivering_at(m: ir.Local, receiver: ir.Local) -> tuple[ir.Update, ...]:
    """The additions of a delivery of m at one of its destinations."""
    name = next(name for name in ("x", "y", "z") if name not in (m.name, receiver.name))
    x = ir.Variable(name, MESSAGE)
    known, at = local(x), receiver
    earlier = conj((holds("delivered", known, at), negation(equal(known, m))))
    learnt = disj((equal(known, m), holds("hb", known, m)))
    return (
        ir.Update("delivered_before", (known, m, at), earlier, (x,)),
        ir.Update("past", (at, known), disj((holds("past", at, known), learnt)), (x,)),
        ir.Update("delivered", (m, at), TRUE, ()),
    )


def _binders(m: ir.Local) -> tuple[ir.Variable, ir.Variable]:
    """Binders for a message and a process that differ from the parameter's name."""
    return ir.Variable("x" if m.name != "x" else "y", MESSAGE), ir.Variable("p" if m.name != "p" else "q", PROCESS)


# --- the initial states ------------------------------------------------------------------------


def rigid(machine: ir.Machine) -> frozenset[str]:
    """The symbols that are parameters of the system: see NOTE(rigid)."""
    updated = frozenset(first_values(machine)).union(*(action.changed for action in actions(machine)))
    constrained = machine_builtins.rigid_symbols(machine.delivery).union(
        machine.constants, *(symbols_of(axiom.body) for axiom in machine.axioms)
    )
    return frozenset(
        symbol.name
        for symbol in symbols(machine)
        if symbol.name not in updated and (symbol.result not in (BOOL, NAT) or symbol.name in constrained)
    )


def first_values(machine: ir.Machine) -> dict[str, ir.Update]:
    """What `initial` says of each symbol that it gives a value."""
    return {update.symbol: update for update in machine.initial}


def free_at_first(machine: ir.Machine) -> frozenset[str]:
    """The symbols that an initial state gives any values: the parameters, and other functions into a sort."""
    into_sorts = {symbol.name for symbol in symbols(machine) if symbol.result not in (BOOL, NAT)}
    return rigid(machine) | (into_sorts - first_values(machine).keys())


def axiom_faults(machine: ir.Machine) -> tuple[str, ...]:
    """Axioms that speak about what is updated, each as a sentence; a machine that has one is not proved."""
    updated = frozenset(first_values(machine)).union(*(action.changed for action in actions(machine)))
    return tuple(
        f"axiom `{axiom.name}` speaks about `{symbol}`, which a transition or `initial` updates"
        for axiom in machine.axioms
        for symbol in sorted(symbols_of(axiom.body) & updated)
    )


def initially(expr: ir.Expr, machine: ir.Machine) -> ir.Expr:
    """The formula in an initial state. What is not free at first is what `initial` says, or else false or 0."""
    free, given = free_at_first(machine), first_values(machine)

    def start(application: ir.Apply) -> ir.Expr:
        return application if application.symbol in free else first_value(given, application)

    return with_applications(expr, start)


def first_value(given: Mapping[str, ir.Update], application: ir.Apply) -> ir.Expr:
    """The value at first of a symbol at its arguments. `given`: what `initial` says, by symbol."""
    update = given.get(application.symbol)
    if update is None:
        return ir.Literal_(application.type, zero_of(application.type))
    names = [_name_of(argument) for argument in update.arguments]
    return substitute(update.value, dict(zip(names, application.arguments, strict=True)))


def _name_of(argument: ir.Expr) -> str:
    assert isinstance(argument, ir.Local), argument
    return argument.name


# --- the state after a transition, as a formula ------------------------------------------------


def after(expr: ir.Expr, action: Action) -> ir.Expr:
    """The weakest precondition: a formula about the state before that is true iff `expr` is true after."""
    updates = {update.symbol: update for update in action.updates}

    def change(application: ir.Apply) -> ir.Expr:
        update = updates.get(application.symbol)
        return application if update is None else _updated(application, update)

    return with_applications(_avoid(expr, {parameter.name for parameter in action.parameters}), change)


def _avoid(expr: ir.Expr, taken: Collection[str]) -> ir.Expr:
    """The formula with its bound variables renamed where they have a name that is taken."""
    if isinstance(expr, ir.Quantified):
        renamed = {bound.name: f"{bound.name}'" for bound in expr.variables if bound.name in taken}
        if renamed:
            bounds = tuple(
                ir.Bound(bound.type, renamed.get(bound.name, bound.name), bound.domain) for bound in expr.variables
            )
            values: dict[str, ir.Expr] = {
                bound.name: ir.Local(bound.type, renamed[bound.name])
                for bound in expr.variables
                if bound.name in renamed
            }
            expr = replace(expr, variables=bounds, body=substitute(expr.body, values))
    return map_children(expr, lambda part: _avoid(part, taken))


def _updated(application: ir.Apply, update: ir.Update) -> ir.Expr:
    """The value of one application after the update: the new value where the arguments match, else the old one."""
    binders = {binder.name for binder in update.binders}
    bound: dict[str, ir.Expr] = {}
    matches: list[ir.Expr] = []
    for pattern, argument in zip(update.arguments, application.arguments, strict=True):
        if isinstance(pattern, ir.Local) and pattern.name in binders and pattern.name not in bound:
            bound[pattern.name] = argument
        elif isinstance(pattern, ir.Local) and pattern.name in bound:
            matches.append(equal(argument, bound[pattern.name]))
        elif isinstance(pattern, ir.Local):
            matches.append(equal(argument, pattern))
        else:
            raise Unsupported(f"update of `{update.symbol}` at something that is not a name")
    return conditional(conj(matches), substitute(update.value, bound), application)


# --- the state after a transition, computed ----------------------------------------------------


def enabled(action: Action, arguments: Sequence[int], structure: Structure) -> bool:
    """Whether every guard is true."""
    environment = environment_of(action, arguments)
    return all(bool(evaluate(guard.body, structure, environment)) for guard in action.guards)


def environment_of(action: Action, arguments: Sequence[int]) -> Mapping[str, Value]:
    return {parameter.name: value for parameter, value in zip(action.parameters, arguments, strict=True)}


def step(action: Action, arguments: Sequence[int], structure: Structure) -> Structure:
    """The structure after the transition, whose guard is not evaluated. All updates read the state before."""
    environment = environment_of(action, arguments)
    tables: dict[str, Table] = {}
    for update in action.updates:
        table = dict(structure.tables[update.symbol])
        universe = _touched(update, structure, environment)
        for values in tuples([binder.type for binder in update.binders], universe):
            names = [binder.name for binder in update.binders]
            inner = {**environment, **dict(zip(names, values, strict=True))}
            key = tuple(int(evaluate(argument, structure, inner)) for argument in update.arguments)
            table[key] = evaluate(update.value, structure, inner)
        tables[update.symbol] = _settled(update, table, universe)
    return _grown(structure, action.updates, tables)


def _touched(update: ir.Update, structure: Structure, environment: Mapping[str, Value]) -> Mapping[str, int]:
    """The universe over which an update is computed: all the numbers that stand for all. See NOTE(numbers)."""
    numbers = [binder for binder in update.binders if binder.type == NAT]
    if not numbers:
        return structure.universe
    bounds = tuple(ir.Bound(binder.type, binder.name) for binder in numbers)
    value = update.value if update.value.type == BOOL else equal(update.value, ir.Literal_(NAT, 0))
    every = ir.Quantified(BOOL, "forall", bounds, value)
    return {**structure.universe, "nat": len(instances_of_numbers(every, structure.highest_number(environment)))}


def _settled(update: ir.Update, table: Mapping[tuple[int, ...], Value], universe: Mapping[str, int]) -> Table:
    """The table without zeros beyond the window. Raises: Unsupported for infinitely many changes."""
    over_numbers = _number_positions(update)
    binders = {binder.name for binder in update.binders if binder.type == NAT}
    bound = [at for at in over_numbers if _is_one_of(update.arguments[at], binders)]
    nothing = beyond_window(update.value.type)
    for key, value in table.items():
        if value != nothing and any(key[at] == universe["nat"] - 1 for at in bound):
            raise Unsupported(f"`{update.symbol}` is changed at infinitely many numbers")
    return {key: value for key, value in table.items() if value != nothing or not over_numbers}


def _number_positions(update: ir.Update) -> list[int]:
    return [at for at, argument in enumerate(update.arguments) if argument.type == NAT]


def _is_one_of(argument: ir.Expr, names: Collection[str]) -> bool:
    return isinstance(argument, ir.Local) and argument.name in names


def _grown(structure: Structure, updates: Sequence[ir.Update], tables: Mapping[str, Table]) -> Structure:
    """The structure with new tables, and a window that has every number at which they are not zero."""
    positions = {update.symbol: _number_positions(update) for update in updates}
    numbers = [key[at] + 1 for symbol, table in tables.items() for key in table for at in positions[symbol]]
    changed = structure.with_tables(tables)
    if max(numbers, default=0) <= structure.universe.get("nat", 0):
        return changed
    return Structure({**structure.universe, "nat": max(numbers)}, changed.tables)


def initial(machine: ir.Machine, universe: Mapping[str, int], given: Mapping[str, Table]) -> Structure:
    """An initial structure: `given` has the tables of what is free at first; others in it are passed over."""
    free, first = free_at_first(machine), first_values(machine)
    tables: dict[str, Table] = {}
    for symbol in symbols(machine):
        if symbol.name in free and symbol.name in given:
            tables[symbol.name] = given[symbol.name]
        else:
            nothing_yet = beyond_window(symbol.result) if symbol.name in first else zero_of(symbol.result)
            tables[symbol.name] = constant_table(symbol, universe, nothing_yet)
    nothing = Structure(universe, tables)
    return step(Action("initial", (), (), machine.initial), (), nothing) if machine.initial else nothing
