"""The names that a theory, machine or protocol declares, by the kind of place in which they are looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl.check.terms.delivery import delivery_of
from thence.dsl.ir.machine_builtins import built_in_symbols
from thence.dsl.ir.topology import BUILT_IN
from thence.dsl.text import syntax
from thence.dsl.write.expressions import text_of, type_text
from thence.dsl.write.settings import given_text
from thence.lsp.naming.symbols import Symbol, SymbolKind

Names: TypeAlias = dict[str, Symbol]


@dataclass(slots=True)
class Members:
    """The names of one declaration.

    Attributes:
        values: sorts, functions, relations, state variables, records and other types: what expressions name.
        fields: of records, by record and field.
        statements: axioms, properties, invariants, stable, reachable and eventual formulas.
        events: inputs, and timers that have a name.
        packets: the names of the parameters of each packet kind and input.
        functions: relations and functions of another declaration, which stand with arguments only.
    """

    name: str = ""
    values: Names = field(default_factory=dict)
    types: Names = field(default_factory=dict)
    fields: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    kinds: Names = field(default_factory=dict)
    packets: dict[str, Names] = field(default_factory=dict)
    procedures: Names = field(default_factory=dict)
    transitions: Names = field(default_factory=dict)
    statements: Names = field(default_factory=dict)
    functions: Names = field(default_factory=dict)
    events: Names = field(default_factory=dict)

    def copy(self) -> Members:
        """The same names, to be added to."""
        return Members(
            self.name, dict(self.values), dict(self.types), dict(self.fields), dict(self.kinds), dict(self.packets),
            dict(self.procedures), dict(self.transitions), dict(self.statements), dict(self.functions),
            dict(self.events),
        )  # fmt: skip

    def declare(self, names: Names, kind: SymbolKind, name: syntax.Name, detail: str = "", doc: str = "") -> Symbol:
        """Enters a declared name; the first of a name stays."""
        symbol = Symbol(kind, name.text, name.span, self.name, detail, doc)
        names.setdefault(name.text, symbol)
        return symbol


def built_in(name: str, detail: str = "") -> Symbol:
    """Something that the language brings."""
    return Symbol("built-in", name, None, "", detail)


def parameters_text(parameters: tuple[syntax.Parameter, ...]) -> str:
    """`(m: message, n: nat)`; empty where there are none."""
    if not parameters:
        return ""
    listed = (parameter_text(parameter) for parameter in parameters)
    return f"({', '.join(listed)})"


def parameter_text(parameter: syntax.Parameter) -> str:
    """`m: message`, or what is there of it."""
    written = None if parameter.type is None else type_text(parameter.type)
    return ": ".join(part for part in (parameter.name.text, written) if part)


def formula_text(keyword: str, formula: syntax.Formula) -> str:
    """A named formula in one line."""
    return f"{keyword} {formula.name.text}{parameters_text(formula.parameters)}: {text_of(formula.body)}"


def _definitions(members: Members, definitions: tuple[syntax.Definition, ...]) -> None:
    for one in definitions:
        detail = f"def {one.name.text}{parameters_text(one.parameters) or '()'}: {text_of(one.body)}"
        members.declare(members.values, "definition", one.name, detail, one.doc)


def _sorts(members: Members) -> None:
    for name in ("process", "message"):
        members.types[name] = built_in(name, name)


def _own_sorts(members: Members, declared: tuple[syntax.SortDecl, ...]) -> None:
    """The sorts that are declared. One that the language brings keeps its name: a machine orders its processes."""
    for sorts in declared:
        for name in sorts.names:
            known = members.types.get(name.text)
            if known is not None and known.kind == "built-in":
                members.types[name.text] = built_in(name.text, f"sort {name.text} ordered")
                continue
            members.declare(members.types, "sort", name, f"sort {name.text}{' ordered' if sorts.ordered else ''}")


def members_of_file(file: syntax.File) -> Members:
    """The names that all declarations of a file can use: its definitions."""
    members = Members()
    _definitions(members, tuple(one for one in file.declarations if isinstance(one, syntax.Definition)))
    return members


def members_of_theory(theory: syntax.Theory) -> Members:
    """The names of a theory."""
    members = Members(theory.name.text)
    _own_sorts(members, theory.sorts)
    _symbols(members, theory.functions, theory.relations)
    for inductive in theory.inductives:
        detail = f"inductive {inductive.name.text}{parameters_text(inductive.parameters)}"
        members.declare(members.values, "relation", inductive.name, detail)
    _definitions(members, theory.definitions)
    _formulas(members, "axiom", theory.axioms)
    _formulas(members, "property", theory.properties)
    return members


def _symbols(
    members: Members, functions: tuple[syntax.FunctionDecl, ...], relations: tuple[syntax.RelationDecl, ...]
) -> None:
    for function in functions:
        for name in function.names:
            constant = "constant " if function.constant else ""
            takes, gives = parameters_text(function.parameters) or "()", type_text(function.result)
            members.declare(members.values, "function", name, f"{constant}function {name.text}{takes}: {gives}")
    for relation in relations:
        for name in relation.names:
            constant = "constant " if relation.constant else ""
            detail = f"{constant}relation {name.text}{parameters_text(relation.parameters)}"
            members.declare(members.values, "relation", name, detail)


def _formulas(members: Members, keyword: str, formulas: tuple[syntax.Formula, ...]) -> None:
    for formula in formulas:
        if formula.name.text:
            detail = formula_text(keyword, formula)
            members.declare(members.statements, "statement", formula.name, detail, formula.doc)


def members_of_machine(machine: syntax.Machine) -> Members:
    """The names of a machine, and those of the history that every machine has."""
    members = Members(machine.name.text)
    _sorts(members)
    _own_sorts(members, machine.sorts)
    for symbol in built_in_symbols(delivery_of(machine.delivery)):
        takes = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in symbol.parameters)
        members.values[symbol.name] = built_in(symbol.name, f"{symbol.name}({takes}): {symbol.result}")
    _symbols(members, machine.functions, machine.relations)
    _of_machine(members, machine)
    return members


def _of_machine(members: Members, machine: syntax.Machine | syntax.Mutant) -> None:
    _definitions(members, machine.definitions)
    for transition in machine.transitions:
        detail = f"transition {transition.name.text}{parameters_text(transition.parameters)}"
        members.declare(members.transitions, "transition", transition.name, detail)
    if isinstance(machine, syntax.Machine):
        _formulas(members, "axiom", machine.axioms)
        _formulas(members, "eventually", machine.eventual)
    _formulas(members, "invariant", machine.invariants)
    _formulas(members, "stable", machine.stable)
    _formulas(members, "reachable", machine.reachable)


def members_of_protocol(protocol: syntax.Protocol) -> Members:
    """The names of a protocol."""
    members = Members(protocol.name.text)
    _sorts(members)
    for word in protocol.network:
        for name, type_ in BUILT_IN.get(word.text, {}).items():
            members.values[name] = built_in(name, f"{name}: {type_}")
    for record in protocol.records:
        fields = "; ".join(parameter_text(part) for part in record.fields)
        members.declare(members.types, "record", record.name, f"record {record.name.text}: {fields}")
        for part in record.fields:
            symbol = Symbol("field", part.name.text, part.name.span, record.name.text, parameter_text(part))
            members.fields.setdefault((record.name.text, part.name.text), symbol)
    for kind in protocol.messages:
        carries = f" carries {kind.carries.text}" if kind.carries is not None else ""
        detail = f"message {kind.name.text}{parameters_text(kind.parameters)}{carries}"
        members.declare(members.kinds, "packet kind", kind.name, detail)
        members.packets.setdefault(
            kind.name.text,
            {
                part.name.text: Symbol("field", part.name.text, part.name.span, kind.name.text, parameter_text(part))
                for part in kind.parameters
            },
        )
    _of_protocol(members, protocol)
    return members


def _of_protocol(members: Members, protocol: syntax.Protocol | syntax.Mutant) -> None:
    for value in protocol.values:
        detail = f"{value.keyword} {value.name.text}: {type_text(value.type)} = {given_text(value.value)}"
        members.declare(members.values, "named value", value.name, detail)
    for variable in protocol.state:
        initial = f" = {text_of(variable.initial)}" if variable.initial is not None else ""
        detail = f"{variable.name.text}: {type_text(variable.type)}{initial}"
        members.declare(members.values, "state variable", variable.name, detail)
    _definitions(members, protocol.definitions)
    for handler in protocol.handlers:
        if handler.kind is not None and handler.event in ("input", "periodically"):
            timer = handler.event == "periodically"
            takes = "" if timer else parameters_text(handler.parameters) or "()"
            detail = f"{'periodically' if timer else 'on'} {handler.kind.text}{takes}"
            members.declare(members.events, "timer" if timer else "input", handler.kind, detail)
            members.packets.setdefault(
                handler.kind.text,
                {each.name.text: Symbol("parameter", each.name.text, each.name.span) for each in handler.parameters},
            )
    for procedure in protocol.procedures:
        detail = f"procedure {procedure.name.text}{parameters_text(procedure.parameters)}"
        members.declare(members.procedures, "procedure", procedure.name, detail)
    _formulas(members, "invariant", protocol.invariants)
    _formulas(members, "reachable", protocol.reachable)
    _formulas(members, "at rest", protocol.rest)
    _formulas(members, "eventually", tuple(promise.formula for promise in protocol.promises))


def members_of_link(link: syntax.Conforms, protocol: Members, machine: Members) -> Members:
    """The protocol's names, the machine's relations and functions, and what the link states itself."""
    members = protocol.copy()
    members.functions.update(machine.values)
    members.statements = {}
    _formulas(members, "invariant", link.invariants)
    _formulas(members, "between steps", link.between)
    return members


def members_of_mutant(mutant: syntax.Mutant, subject: Members) -> Members:
    """The subject's names, and those that the mutant adds."""
    members = subject.copy()
    members.name = mutant.name.text
    _of_protocol(
        members,
        syntax.Protocol(
            mutant.name,
            state=mutant.state,
            handlers=mutant.handlers,
            procedures=mutant.procedures,
            values=mutant.values,
            rest=mutant.rest,
            promises=mutant.promises,
        ),
    )
    _of_machine(members, mutant)
    return members
