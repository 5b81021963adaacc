"""A machine, checked and typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from thence.dsl import ir
from thence.dsl.check.built_in import built_in_axioms
from thence.dsl.check.definitions import with_definitions
from thence.dsl.check.expectations import check_expectations
from thence.dsl.check.result_names import check_names_of_machine
from thence.dsl.check.stated.leads_to import check_leads_to
from thence.dsl.check.step_claims import check_stables, provable_names, statement_names
from thence.dsl.check.symbols import SymbolTable, check_formulas
from thence.dsl.check.terms.delivery import check_machine_delivery
from thence.dsl.check.terms.environment import Vocabulary, declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.transition import check_initial, check_transition
from thence.dsl.ir.machine_builtins import (
    OF_NETWORK_SENDS,
    built_in_symbols,
    history_parameters,
    history_transitions,
    rigid_symbols,
)
from thence.dsl.ir.step_claims import starving_transition
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span

_SORTS: dict[str, Type | None] = {"process": PROCESS, "message": MESSAGE}


def check_machine(
    machine: syntax.Machine, reporter: Reporter, shared: Sequence[syntax.Definition] = (), *, mutated: bool = False
) -> ir.Machine | None:
    """The typed machine; None if anything in it is erroneous.

    Args:
        shared: the definitions of the file.
        mutated: the machine of a mutant: an update may be lost, so that a relation or function is never changed.
    """
    before = reporter.errors
    delivery = check_machine_delivery(machine.delivery, reporter)
    built_in = {symbol.name: symbol for symbol in built_in_symbols(delivery)}
    sorts, ordered = _sorts(machine, reporter)
    types: dict[str, Type | None] = {**_SORTS, **sorts, "nat": NAT}
    table = SymbolTable(
        types, types, reporter, "in a machine", frozenset({*built_in, *(() if delivery == "off" else ("dst",))})
    )
    for relation in machine.relations:
        table.add(relation)
    for function in machine.functions:
        table.add(function)
    vocabulary = Vocabulary(
        "machine",
        {**_SORTS, **sorts, "nat": NAT, "bool": BOOL},
        {**built_in, **table.known},
        ordered=frozenset(ordered),
        delivery=delivery,
    )
    vocabulary = with_definitions(vocabulary, machine.definitions, shared, machine, reporter)
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    axioms = check_formulas(machine.axioms, "axiom", checker, {})
    transitions = _transitions(machine, checker)
    constants = _constants(machine)
    kept = frozenset(built_in) - rigid_symbols(delivery)
    moved = {update.symbol for transition in transitions for update in transition.updates}
    initial = () if machine.initial is None else check_initial(machine.initial, checker, kept | moved)
    changes = [*((transition.name, transition.updates) for transition in transitions), ("initial", initial)]
    _check_constants(constants, changes, reporter)
    changed = moved | {update.symbol for update in initial}
    if not mutated and reporter.errors == before:
        _check_what_changes(machine, constants, axioms, changed, reporter)
    _check_axioms_are_rigid(axioms, kept | changed, reporter)
    invariants = check_formulas(machine.invariants, "invariant", checker, {})
    stable = check_stables(machine.stable, checker, {})
    reachable = check_formulas(machine.reachable, "reachable formula", checker, {})
    eventually = check_leads_to(machine.eventually, checker, transitions, {})
    check_names_of_machine(machine, reporter)
    prove = _prove(machine, table, checker)
    of = f"machine `{machine.name.text}`"
    expects = check_expectations(machine.expects, reporter, "machine", statement_names(machine), of)
    if reporter.errors > before:
        return None
    for function in machine.functions:
        symbol = table.known[function.names[0].text]
        if symbol is not None and symbol.result == MESSAGE:
            reporter.warning(
                "W0905",
                function.span,
                f"`{function.names[0].text}` is a function into message",
                "solvers find counterexamples badly with it; a relation says the same",
            )
    return ir.Machine(
        machine.name.text,
        table.symbols,
        (*built_in_axioms(delivery), *axioms),
        transitions,
        invariants,
        prove,
        expects,
        delivery=delivery,
        stable=stable,
        reachable=reachable,
        eventually=eventually,
        initial=initial,
        constants=tuple(constants),
        sorts=tuple(sorts.values()),
        ordered=ordered,
        definitions=tuple(one for one in vocabulary.definitions.values() if one is not None),
        doc=machine.doc,
        span=machine.span,
    )


def _sorts(machine: syntax.Machine, reporter: Reporter) -> tuple[dict[str, Sort], tuple[str, ...]]:
    """The machine's own sorts, and the names of those with an order: `process` may be among them."""
    spans: dict[str, Span] = {}
    found: dict[str, Sort] = {}
    ordered: list[str] = []
    for declaration in machine.sorts:
        for name in declaration.names:
            if name.text == PROCESS.name and declaration.ordered and name.text not in spans:
                spans[name.text] = name.span  # built in, and ordered by this
            elif name.text in _SORTS:
                unordered = declaration.ordered and name.text == MESSAGE.name
                what = "has no order in a machine" if unordered else "is built in"
                note = "declare a sort of the machine for what is ordered" if unordered else "leave it out"
                reporter.error("E0521", name.span, f"sort `{name.text}` {what}", note)
                continue
            elif declare(name, "sort", spans, reporter):
                found[name.text] = Sort(name.text)
            else:
                continue
            ordered += [name.text] if declaration.ordered else []
    return found, tuple(ordered)


def _transitions(machine: syntax.Machine, checker: ExpressionChecker) -> tuple[ir.Transition, ...]:
    names: dict[str, Span] = {}
    found: list[ir.Transition] = []
    for transition in machine.transitions:
        declare(transition.name, "transition", names, checker.reporter)
        typed = check_transition(transition, checker)
        if typed is not None:
            found.append(typed)
    for required in history_transitions(checker.vocabulary.delivery):
        if required not in names:
            parameters = history_parameters(required, checker.vocabulary.delivery)
            header = f"transition {required}({', '.join(parameter.name for parameter in parameters)}):"
            checker.reporter.error(
                "E0506",
                machine.name.span,
                f"machine `{machine.name.text}` has no `{header}`",
                "the history of sends and deliveries, and so happens-before, grows there; "
                "a machine that is not about messages says `delivery off`",
                *did_you_mean(required, names),
            )
    return tuple(found)


def _constants(machine: syntax.Machine) -> dict[str, Span]:
    """The names that are declared as constants."""
    relations = {name.text: name.span for each in machine.relations if each.constant for name in each.names}
    functions = {name.text: name.span for each in machine.functions if each.constant for name in each.names}
    return {**relations, **functions}


def _check_constants(
    constants: Mapping[str, Span], changes: Iterable[tuple[str, tuple[ir.Update, ...]]], reporter: Reporter
) -> None:
    """No transition changes a constant, and it has any value at first."""
    for name, updates in changes:
        for update in updates:
            if update.symbol in constants:
                what = f"`{update.symbol}` is a constant, and `{name}` changes it"
                reporter.error("E0643", update.span, what, "leave out `constant`, or the update")


def _check_what_changes(
    machine: syntax.Machine,
    constants: Mapping[str, Span],
    axioms: Sequence[ir.NamedFormula],
    changed: Collection[str],
    reporter: Reporter,
) -> None:
    """What nothing changes is declared as a constant: else it would be empty or zero in silence.

    A symbol that an axiom speaks about is a parameter of the system without the word; so is a function into a sort.
    """
    spoken = {node.symbol for axiom in axioms for node in nodes(axiom.body) if isinstance(node, ir.Apply)}
    sorts = {*_SORTS, *(name.text for each in machine.sorts for name in each.names)}
    into_sorts = {
        name.text
        for each in machine.functions
        if isinstance(each.result, syntax.NamedType) and each.result.name in sorts
        for name in each.names
    }
    declared = [("relation", "empty", name) for each in machine.relations for name in each.names]
    declared += [("function", "zero", name) for each in machine.functions for name in each.names]
    for what, nothing, name in declared:
        if name.text in changed or name.text in constants:
            continue
        note = f"write `constant {what} {name.text}` if it is given with the system, and never changes"
        if name.text in spoken or name.text in into_sorts:
            said = f"{what} `{name.text}` is a parameter of the system, and is not declared so"
            reporter.warning("W0920", name.span, said, note)
        else:
            said = f"no transition changes {what} `{name.text}`: it would be {nothing} for ever"
            reporter.error("E0642", name.span, said, note)


def _check_axioms_are_rigid(axioms: Sequence[ir.NamedFormula], changed: Collection[str], reporter: Reporter) -> None:
    """An axiom holds in every state: it may speak only about what never changes, and has any value at first."""
    for axiom in axioms:
        spoken = {node.symbol for node in nodes(axiom.body) if isinstance(node, ir.Apply)}
        for symbol in sorted(spoken.intersection(changed)):
            reporter.error(
                "E0520",
                axiom.span,
                f"an axiom cannot speak about `{symbol}`, which changes",
                "what has to be true in every state is an `invariant`, and is proved",
            )


def _prove(machine: syntax.Machine, table: SymbolTable, checker: ExpressionChecker) -> tuple[str, ...]:
    report = checker.reporter.error
    provable = provable_names(machine)
    names: dict[str, Span] = {}
    for name in machine.prove:
        transition = starving_transition(name.text)
        if name.text not in provable and transition is not None:
            known = [one.name.text for one in machine.transitions if one.name.text != "causal_send"]
            nothing = f"no message waits for `{transition}`" if transition == "causal_send" else ""
            message = nothing or f"there is no transition `{transition}`"
            report("E0508", name.span, message, *did_you_mean(transition, known))
            continue
        if name.text not in provable:
            report(
                "E0508",
                name.span,
                f"there is no invariant or property `{name.text}` to prove",
                *(did_you_mean(name.text, provable) or _what_can_be_proved(provable, checker.vocabulary)),
            )
            continue
        declare(name, "conjunct to prove", names, checker.reporter)
        if name.text in OF_NETWORK_SENDS and not _has_network_sent(table):
            report(
                "E0509",
                name.span,
                f"`{name.text}` is about network sends",
                "declare `relation network_sent(m: message)` and set it where a message is network-sent",
            )
    stated = (*machine.prove, *machine.invariants, *machine.stable, *machine.reachable, *machine.eventually)
    if not stated:
        report(
            "E0515",
            machine.name.span,
            f"machine `{machine.name.text}` has nothing to prove",
            "write `prove causal`, or a formula: `invariant NAME: P`",
        )
    return tuple(names)


def _what_can_be_proved(provable: Collection[str], words: Vocabulary) -> tuple[str, ...]:
    known = ", ".join(f"`{name}`" for name in sorted(provable))
    silent = ("with `delivery off` there is no property of messages",) if words.delivery == "off" else ()
    return (*silent, f"it can prove {known}" if known else "write a formula first: `invariant NAME: P`")


def _has_network_sent(table: SymbolTable) -> bool:
    symbol = table.known.get("network_sent")
    if symbol is None:
        return "network_sent" in table.known  # erroneous, and reported
    return symbol.result == BOOL and [parameter.type for parameter in symbol.parameters] == [MESSAGE]
