"""Which name means what in a whole file: every place where something declared in it is named.

The checker has the same rules; it reports what is wrong, and this finds what is meant, also in files with errors. That
both agree is tested: a renamed file means the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from thence.dsl.check.mutants.mutant import part_text
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span
from thence.dsl.write.statements import change_text
from thence.lsp.naming.bodies import Bodies
from thence.lsp.naming.explanations import BUILT_IN
from thence.lsp.naming.members import (
    Members,
    Names,
    built_in,
    members_of_file,
    members_of_link,
    members_of_machine,
    members_of_mutant,
    members_of_protocol,
    members_of_theory,
)
from thence.lsp.naming.symbols import Occurrence, Symbol, SymbolKind


def resolve(file: syntax.File, types: Mapping[Span, Type]) -> tuple[Occurrence, ...]:
    """Every place where something is named, in the order of the text."""
    work = _Names(file, types)
    for declaration in file.declarations:
        work.declaration(declaration)
    kept: dict[tuple[int, int], Occurrence] = {}
    for occurrence in work.bodies.found:
        kept.setdefault((occurrence.span.line, occurrence.span.column), occurrence)
    return tuple(kept[place] for place in sorted(kept))


class _Names:
    """The declarations of a file, by name, and the walk through them."""

    def __init__(self, file: syntax.File, types: Mapping[Span, Type]) -> None:
        self.shared = members_of_file(file)
        self.bodies = Bodies(types, shared=self.shared.values)
        self.theories: dict[str, tuple[Symbol, Members]] = {}
        self.machines: dict[str, tuple[Symbol, Members]] = {}
        self.protocols: dict[str, tuple[Symbol, Members]] = {}
        self.theorems: Names = {}
        self.scopes: dict[str, Names] = {}
        self.subjects: dict[str, syntax.Protocol | syntax.Machine] = {}
        self.mutants: dict[str, dict[str, tuple[Symbol, Members]]] = {}
        for declaration in file.declarations:
            if isinstance(declaration, syntax.Protocol | syntax.Machine):
                self.subjects.setdefault(declaration.name.text, declaration)
            match declaration:
                case syntax.Theory():
                    self._enter(self.theories, "theory", declaration, members_of_theory(declaration))
                case syntax.Machine():
                    self._enter(self.machines, "machine", declaration, members_of_machine(declaration))
                case syntax.Protocol():
                    self._enter(self.protocols, "protocol", declaration, members_of_protocol(declaration))
                case syntax.Theorem(name=name):
                    self.theorems.setdefault(name.text, _top("theorem", declaration))
                case syntax.Scope(protocol=of, name=name):
                    scopes = self.scopes.setdefault(of.text, {})
                    scopes.setdefault(name.text, _top("scope", declaration, of.text))
                case _:
                    pass
        for declaration in file.declarations:
            if isinstance(declaration, syntax.Mutant):
                subject = declaration.subject.text
                members = members_of_mutant(declaration, self.subject(subject))
                mutant = _top("mutant", declaration, subject), members
                self.mutants.setdefault(subject, {}).setdefault(declaration.name.text, mutant)

    def _enter(
        self,
        known: dict[str, tuple[Symbol, Members]],
        kind: SymbolKind,
        declaration: syntax.Declaration,
        members: Members,
    ) -> None:
        known.setdefault(declaration.name.text, (_top(kind, declaration), members))

    def subject(self, name: str) -> Members:
        """The names of a protocol or machine, as scopes and mutants look them up."""
        found = self.protocols.get(name) or self.machines.get(name)
        return found[1] if found is not None else Members()

    def declaration(self, declaration: syntax.TopLevel) -> None:
        """One declaration with all that it names."""
        name = declaration.name
        match declaration:
            case syntax.Definition():
                self._definitions((declaration,), self.shared)
            case syntax.Theory():
                self.bodies.name(self.theories[name.text][0], name.span, True)
                self._theory(declaration, self.theories[name.text][1])
            case syntax.Theorem():
                self.bodies.name(self.theorems[name.text], name.span, True)
                self._theorem(declaration)
            case syntax.Machine():
                self.bodies.name(self.machines[name.text][0], name.span, True)
                self._machine(declaration, self.machines[name.text][1])
            case syntax.Protocol():
                self.bodies.name(self.protocols[name.text][0], name.span, True)
                self._protocol(declaration, self.protocols[name.text][1])
            case syntax.Scope(protocol=of):
                self.bodies.name(self.scopes[of.text][name.text], name.span, True)
                self._reference(of, self.protocols)
                self._settings(declaration.settings, self.subject(of.text))
                self._expects(declaration.expects, self.subject(of.text), of.text)
            case syntax.Conforms():
                self._conforms(declaration)
            case syntax.Mutant(subject=of):
                symbol, members = self.mutants[of.text][name.text]
                self.bodies.name(symbol, name.span, True)
                self._reference(of, self.protocols if of.text in self.protocols else self.machines)
                self._mutant(declaration, members)
            case syntax.Scenario():
                self.bodies.name(_top("scenario", declaration), name.span, True)
                self._scenario(declaration)
            case _:
                assert_never(declaration)

    def _reference(self, name: syntax.Name, known: Mapping[str, tuple[Symbol, Members]]) -> None:
        if name.text in known:
            self.bodies.name(known[name.text][0], name.span)

    def _listed(self, names: Iterable[syntax.Name], known: Names) -> None:
        """Names of something declared, or of something that the language brings."""
        for name in names:
            first, _, last = name.text.rpartition(" ")
            if first == "without starvation" and name.span.end_line == name.span.line and last in known:
                column = name.span.end_column - len(last)
                place = Span(name.span.line, column, name.span.line, name.span.end_column)
                self.bodies.name(known[last], place)
            else:
                brought = built_in(name.text, name.text) if name.text in BUILT_IN else None
                self.bodies.name(known.get(name.text, brought), name.span)

    # --- theories and machines -----------------------------------------------------------------

    def _theory(self, theory: syntax.Theory, members: Members) -> None:
        for sorts in theory.sorts:
            self._declared(sorts.names, members.types)
        self._symbols(theory.functions, theory.relations, members)
        for inductive in theory.inductives:
            self._declared((inductive.name,), members.values)
            names = self.bodies.parameters(inductive.parameters, inductive.span, members)
            for rule in inductive.rules:
                self.bodies.name(Symbol("rule", rule.name.text, rule.name.span, theory.name.text), rule.name.span, True)
                self.bodies.expression(rule.body, members, names)
        self._definitions(theory.definitions, members)
        self._formulas((*theory.axioms, *theory.properties), members)

    def _symbols(
        self,
        functions: tuple[syntax.FunctionDecl, ...],
        relations: tuple[syntax.RelationDecl, ...],
        members: Members,
    ) -> None:
        for function in functions:
            self._declared(function.names, members.values)
            self.bodies.parameters(function.parameters, function.span, members)
            self.bodies.type(function.result, members)
        for relation in relations:
            self._declared(relation.names, members.values)
            self.bodies.parameters(relation.parameters, relation.span, members)

    def _declared(self, names: Iterable[syntax.Name], known: Names) -> None:
        for name in names:
            self.bodies.name(known.get(name.text), name.span, True)

    def _formulas(self, formulas: Iterable[syntax.Formula], members: Members) -> None:
        for formula in formulas:
            if formula.name.text:
                self._declared((formula.name,), members.statements)
            names = self.bodies.parameters(formula.parameters, formula.span, members)
            self.bodies.expression(formula.body, members, names)

    def _definitions(self, definitions: Iterable[syntax.Definition], members: Members) -> None:
        for definition in definitions:
            self._declared((definition.name,), members.values)
            names = self.bodies.parameters(definition.parameters, definition.span, members)
            self.bodies.expression(definition.body, members, names)

    def _theorem(self, theorem: syntax.Theorem) -> None:
        self._reference(theorem.theory, self.theories)
        found = self.theories.get(theorem.theory.text)
        members = found[1] if found is not None else Members()
        self._listed((*theorem.assume, *theorem.prove, *theorem.needs), members.statements)
        for lemma in theorem.lemmas:
            self.bodies.name(self.theorems.get(lemma.text), lemma.span)
        for part in (part for induction in theorem.inductions for part in induction.parts):
            self._listed((part.relation,), members.values)
            names = {name.text: self.bodies.local("parameter", name, part.span) for name in part.variables}
            for claim in part.claims:
                self.bodies.expression(claim.body, members, names)
        self._expects(theorem.expects, Members(), "")

    def _machine(self, machine: syntax.Machine, members: Members) -> None:
        self._listed(machine.delivery, {})
        for sorts in machine.sorts:
            self._declared(sorts.names, members.types)
        self._symbols(machine.functions, machine.relations, members)
        self._definitions(machine.definitions, members)
        self._formulas((*machine.axioms, *machine.invariants, *machine.stable, *machine.reachable), members)
        self._initial(machine.initial, members)
        self._transitions(machine.transitions, members)
        for each in machine.eventually:
            self._leads_to(each, members)
        self._listed(machine.prove, {**members.statements, **members.transitions})
        self._expects(machine.expects, members, "")

    def _leads_to(self, statement: syntax.LeadsTo, members: Members) -> None:
        self._declared((statement.formula.name,), members.statements)
        names = self.bodies.parameters(statement.formula.parameters, statement.span, members)
        self.bodies.expression(statement.formula.body, members, names)
        for step in statement.steps:
            self._listed((step.transition,), members.transitions)
            own = {**names, **self.bodies.parameters(step.variables, step.span, members)}
            self.bodies.all(step.arguments, members, own)
            if step.left is not None:
                self.bodies.expression(step.left, members, own)

    def _initial(self, initial: syntax.Initial | None, members: Members) -> None:
        if initial is not None:
            self.bodies.block(initial.body, initial.span, members, {})

    def _transitions(self, transitions: Iterable[syntax.Transition], members: Members) -> None:
        for transition in transitions:
            self._declared((transition.name,), members.transitions)
            names = self.bodies.parameters(transition.parameters, transition.span, members)
            self.bodies.block(transition.body, transition.span, members, names)

    # --- protocols -----------------------------------------------------------------------------

    def _protocol(self, protocol: syntax.Protocol, members: Members) -> None:
        self._listed((*protocol.delivery, *protocol.network), {})
        for record in protocol.records:
            self._declared((record.name,), members.types)
            for part in record.fields:
                self.bodies.name(members.fields.get((record.name.text, part.name.text)), part.name.span, True)
                if part.type is not None:
                    self.bodies.type(part.type, members)
        for kind in protocol.messages:
            self._declared((kind.name,), members.kinds)
            packet = members.packets.get(kind.name.text, {})
            for part in kind.parameters:
                self.bodies.name(packet.get(part.name.text), part.name.span, True)
                if part.type is not None:
                    self.bodies.type(part.type, members)
            if kind.carries is not None:
                self.bodies.name(packet.get(kind.carries.text), kind.carries.span)
        self._behaviour(protocol, members)
        self._listed((*protocol.properties, *protocol.eventually), members.statements)
        self._listed(protocol.fairness, {**members.kinds, **members.events})

    def _behaviour(self, protocol: syntax.Protocol | syntax.Mutant, members: Members) -> None:
        """What protocols and mutants of protocols both have."""
        for value in protocol.values:
            self._declared((value.name,), members.values)
            self.bodies.type(value.type, members)
        for variable in protocol.state:
            self._declared((variable.name,), members.values)
            self.bodies.type(variable.type, members)
            if variable.initial is not None:
                self.bodies.expression(variable.initial, members, {})
        self._definitions(protocol.definitions, members)
        for handler in protocol.handlers:
            if handler.event in ("input", "periodically"):
                self._declared((handler.kind,) if handler.kind is not None else (), members.events)
            elif handler.kind is not None:
                self.bodies.name(members.kinds.get(handler.kind.text), handler.kind.span)
            names = self.bodies.parameters(handler.parameters, handler.span, members)
            if handler.sender is not None:
                names[handler.sender.text] = self.bodies.local("parameter", handler.sender, handler.span)
            if handler.guard is not None:
                self.bodies.expression(handler.guard, members, names)
            self.bodies.block(handler.body, handler.span, members, names)
        for procedure in protocol.procedures:
            self._declared((procedure.name,), members.procedures)
            names = self.bodies.parameters(procedure.parameters, procedure.span, members)
            self.bodies.block(procedure.body, procedure.span, members, names)
        promises = (promise.formula for promise in protocol.promises)
        self._formulas((*protocol.invariants, *protocol.reachable, *protocol.rest, *promises), members)
        for promise in protocol.promises:
            self._listed(promise.fairness, {**members.kinds, **members.events})

    def _mutant(self, mutant: syntax.Mutant, members: Members) -> None:
        self._listed(mutant.network, {})
        self._behaviour(mutant, members)
        self._initial(mutant.initial, members)
        self._transitions(mutant.transitions, members)
        for change in mutant.changes:
            self._change(change, members, self._locals_of(mutant.subject.text, change, members))
        self._formulas(mutant.stable, members)
        self._expects(mutant.expects, members, mutant.subject.text)

    def _locals_of(self, subject: str, change: syntax.Change, members: Members) -> Names:
        """The local names of the part of the subject that is changed, as they are found where it stands."""
        found = self.subjects.get(subject)
        if found is None:
            return {}
        parts: tuple[syntax.Handler | syntax.Procedure | syntax.Transition, ...]
        parts = found.transitions if isinstance(found, syntax.Machine) else (*found.handlers, *found.procedures)
        part = next((each for each in parts if part_text(each) == change_text(change)), None)
        if part is None:
            return {}
        before = len(self.bodies.found)
        names = self.bodies.parameters(part.parameters, part.span, members)
        if isinstance(part, syntax.Handler) and part.sender is not None:
            names[part.sender.text] = self.bodies.local("parameter", part.sender, part.span)
        self.bodies.block(part.body, part.span, members, names)
        seen = self.bodies.found[before:]
        del self.bodies.found[before:]
        return {one.symbol.name: one.symbol for one in seen if one.declares}

    def _change(self, change: syntax.Change, members: Members, names: Names) -> None:
        """What edits name of their subject, and of the part that they edit: its local names."""
        known = {
            "procedure": members.procedures,
            "transition": members.transitions,
            "receive": members.kinds,
        }.get(change.event, members.events)
        self._listed(() if change.name is None else (change.name,), known)
        edits = list(change.edits)
        while edits:
            edit = edits.pop(0)
            edits += edit.edits
            for block in ((edit.place,), edit.body):
                self.bodies.block(block, change.span, members, dict(names))

    def _expects(self, expects: Iterable[syntax.Expect], members: Members, protocol: str) -> None:
        for expect in expects:
            self._listed(expect.names, {**members.statements, **members.transitions})
            self._settings(expect.settings, members)
            if expect.scope is not None:
                self.bodies.name(self.scopes.get(protocol, {}).get(expect.scope.text), expect.scope.span)

    def _settings(self, settings: Iterable[syntax.Setting], members: Members) -> None:
        """What settings name: inputs and their parameters, timers, constants and roles."""
        for setting in settings:
            for first, *rest in (setting.names,) if setting.names else ():
                self._listed((first,), members.values if setting.name == "given" else members.events)
                self._listed(rest, members.packets.get(first.text, {}))

    # --- links and scenarios ---------------------------------------------------------------------

    def _conforms(self, link: syntax.Conforms) -> None:
        self._reference(link.protocol, self.protocols)
        self._reference(link.machine, self.machines)
        members = self.subject(link.protocol.text)
        found = self.machines.get(link.machine.text)
        transitions = found[1].transitions if found is not None else {}
        for scope in link.scopes:
            self.bodies.name(self.scopes.get(link.protocol.text, {}).get(scope.text), scope.span)
        self._listed(link.internal, transitions)
        for clause in link.clauses:
            if clause.kind is not None:
                known = members.events if clause.event in ("input", "periodically") else members.kinds
                self.bodies.name(known.get(clause.kind.text), clause.kind.span)
            bound = (*clause.parameters, *((clause.peer,) if clause.peer is not None else ()))
            names = {name.text: self.bodies.local("parameter", name, clause.span) for name in bound}
            for target in clause.targets:
                self.bodies.name(transitions.get(target.transition.text), target.transition.span)
                for argument in target.arguments:
                    if not isinstance(argument, syntax.AnyThatEnables):
                        self.bodies.expression(argument, members, names)
            if clause.when is not None:
                self.bodies.expression(clause.when, members, names)
        own = found[1] if found is not None else Members()
        self._formulas((*link.invariants, *link.between), members_of_link(link, members, own))
        self._listed(link.delivered_by, own.statements)
        self._expects(link.expects, members, link.protocol.text)

    def _scenario(self, scenario: syntax.Scenario) -> None:
        of = scenario.protocol.text
        self._reference(scenario.protocol, self.protocols)
        members = self.subject(of)
        if scenario.mutant is not None:
            mutants = self.mutants.get(of, {})
            self._reference(scenario.mutant, mutants)
            members = mutants[scenario.mutant.text][1] if scenario.mutant.text in mutants else members
        region = scenario.span
        names = {name.text: self.bodies.local("process", name, region, name.text) for name in scenario.processes}
        for link in scenario.links:
            self._listed((link.process, *link.peers), names)
        for given in scenario.given:
            self._listed((given.name,), members.values)
            if isinstance(given.value, syntax.Name):
                self._listed((given.value,), names)
        for step in scenario.steps:
            if isinstance(step, syntax.Assertion):
                self.bodies.expression(step.formula, members, names)
                continue
            if step.process.text in names:
                self.bodies.name(names[step.process.text], step.process.span)
            self._listed(step.peers, names)
            if step.subject is not None and step.event == "sends":
                message = self.bodies.local("message", step.subject, region, f"{step.subject.text}: message")
                names[step.subject.text] = message
            elif step.subject is not None:
                known = members.events if step.event in ("does", "ticks") else members.kinds
                self.bodies.name(known.get(step.subject.text), step.subject.span)
            self.bodies.all(step.arguments, members, names)
        self._expects(scenario.expects, members, "")


def _top(kind: SymbolKind, declaration: syntax.Declaration, of: str = "") -> Symbol:
    detail = f"{kind} {declaration.name.text}" + (f" of {of}" if of else "")
    return Symbol(kind, declaration.name.text, declaration.name.span, of, detail, declaration.doc)
