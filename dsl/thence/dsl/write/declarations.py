"""Declarations as canonical lines, in the order of the source; a tree without places in the order of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias, assert_never

from thence.dsl.text import syntax
from thence.dsl.text.syntax import Cast, Formula, Name, Node, Parameter, Setting, Span
from thence.dsl.write.expressions import INDENT, WIDTH, Line, lines_of, text_of, type_text
from thence.dsl.write.scenario import step_text
from thence.dsl.write.settings import given_text, setting_text
from thence.dsl.write.statements import BareLines, change_text, edit_lines, starting_at, with_body
from thence.spec.value import record

_END_OF_FILE = 10**9


@record(frozen=True, slots=True)
class _Listed(Node):
    """A line of names: `assume a, b`, `eventually delivered under fair receive`."""

    keyword: str
    names: tuple[Name, ...]
    tail: str = ""


@record(frozen=True, slots=True)
class _Stated(Node):
    """A formula with the keyword that states it."""

    keyword: str
    formula: Formula


@record(frozen=True, slots=True)
class _State(Node):
    """State variables that follow each other."""

    variables: tuple[syntax.StateVar, ...]


_Item: TypeAlias = (
    _Listed | _Stated | _State | syntax.SortDecl | syntax.FunctionDecl | syntax.RelationDecl | syntax.Inductive
    | syntax.Induction | syntax.Expect | syntax.Transition | syntax.MessageKind | syntax.RecordDecl | syntax.StateVar
    | syntax.Handler | syntax.Procedure | Setting | syntax.Clause | Cast | syntax.LinkLine | syntax.ScenarioStep
    | syntax.Assertion | syntax.Definition | syntax.NamedValue | syntax.Given | syntax.Promise
    | syntax.Change | syntax.LeadsTo | syntax.Initial
)  # fmt: skip


_WithBlock: TypeAlias = (
    syntax.Theory | syntax.Theorem | syntax.Machine | syntax.Protocol | syntax.Scope | syntax.Conforms | syntax.Mutant
    | syntax.Scenario
)  # fmt: skip
"""A declaration with a block of items."""


def lines_of_file(file: syntax.File) -> list[Line]:
    """All the lines of a file, comments left out."""
    return _Printer(BareLines(file.bare_lines)).file(file)


def _listed(keyword: str, names: tuple[Name, ...]) -> list[_Listed]:
    """Names as lines, those of one line of the source together."""
    groups = [tuple(group) for _, group in groupby(names, key=lambda name: name.span.line)]
    return [_Listed(keyword, group, span=group[0].span) for group in groups]


def _stated(keyword: str, formulas: tuple[Formula, ...]) -> list[_Item]:
    return [_Stated(keyword, formula, span=formula.span) for formula in formulas]


def _initials(declaration: syntax.Machine | syntax.Mutant) -> tuple[syntax.Initial, ...]:
    return () if declaration.initial is None else (declaration.initial,)


def _states(declaration: syntax.Machine | syntax.Mutant) -> list[_Item]:
    """The formulas that a machine or a mutant states."""
    stable, reachable = _stated("stable", declaration.stable), _stated("reachable", declaration.reachable)
    rest = (
        (*_stated("at rest", declaration.rest), *declaration.promises) if isinstance(declaration, syntax.Mutant) else ()
    )
    return [*_stated("invariant", declaration.invariants), *stable, *reachable, *rest]


def _names(names: Iterable[Name]) -> str:
    return ", ".join(name.text for name in names)


def _on(part: syntax.InductionOn) -> str:
    return f"on {part.relation.text}({_names(part.variables)})"


def _fairness(names: tuple[Name, ...], weakly: bool) -> str:
    return f" under {'weakly ' if weakly else ''}fair {_names(names)}" if names else ""


def _target_arguments(target: syntax.Target) -> str:
    said = ["any" if isinstance(each, syntax.AnyThatEnables) else text_of(each) for each in target.arguments]
    return ", ".join(said)


def _initial(initial: syntax.Expr) -> str:
    """An initial value; a comparison in parentheses, for `=` stands before it."""
    text = text_of(initial)
    return f"({text})" if isinstance(initial, syntax.Binary) and initial.operator in ("=", "!=") else text


def _parameters(parameters: Iterable[Parameter]) -> str:
    return ", ".join(_parameter(parameter) for parameter in parameters)


def _parameter(parameter: Parameter) -> str:
    name = parameter.name.text
    return name if parameter.type is None else f"{name}: {type_text(parameter.type)}"


class _Printer:
    """Lines for every declaration and item."""

    def __init__(self, bare: BareLines) -> None:
        self.bare = bare

    def file(self, file: syntax.File) -> list[Line]:
        until = file.declarations[0].span.line - 1 if file.declarations else _END_OF_FILE
        lines = self.doc(file.doc, 0, 0, until)
        for declaration in file.declarations:
            first, *rest = self.declaration(declaration)
            lines += [replace(first, top=True), *rest]
        return lines

    def doc(self, text: str, depth: int, after: int, until: int) -> list[Line]:
        """A documentation string; it begins on the first bare line between `after` and `until`."""
        if not text:
            return []
        rows = text.split("\n")
        margins = [len(row) - len(row.lstrip(" ")) for row in rows[1:] if row]
        if len(rows) > 1 and (rows[0].startswith(" ") or min(margins, default=0) > 0):
            rows = ["", *rows]  # the first line is no measure of the others' indentation
        rows[0] = f'"""{rows[0]}'
        if len(rows) > 1 or text.endswith('"'):
            rows.append('"""')
        else:
            rows[-1] = f'{rows[-1]}"""'
        start = self.bare.first_in(after, until)
        return [Line(depth, rows[0], start, start), *(Line(depth, row) for row in rows[1:])]

    # --- declarations --------------------------------------------------------------------------

    def declaration(self, declaration: syntax.TopLevel) -> list[Line]:
        if isinstance(declaration, syntax.Definition):
            return self.definition(declaration, 0)
        header, items = self.header(declaration), self.items(declaration)
        order = {id(item): index for index, item in enumerate(items)}
        items.sort(key=lambda item: (item.span.line, item.span.column, order[id(item)]))
        start = declaration.span.line
        until = items[0].span.line - 1 if items else declaration.span.end_line
        lines = [Line(0, header, start, start, declaration.span.column)]
        lines += self.doc(declaration.doc, 1, start, until if until > start else start + 1)
        position = 0
        while position < len(items):
            item = items[position]
            position += 1
            if isinstance(item, syntax.StateVar):
                variables = [item]
                while position < len(items) and isinstance(following := items[position], syntax.StateVar):
                    variables.append(following)
                    position += 1
                item = _State(tuple(variables), span=item.span)
            lines += self.item(item, lines[-1])
        if isinstance(declaration, syntax.Conforms):
            lines = self.in_columns(declaration, lines)
        if not items and not declaration.doc:
            lines.append(Line(1, "pass"))
        return lines

    def header(self, declaration: _WithBlock) -> str:
        name = declaration.name.text
        match declaration:
            case syntax.Theory():
                return f"theory {name}:"
            case syntax.Theorem(_, theory):
                return f"theorem {name} in {theory.text}:"
            case syntax.Machine():
                return f"machine {name}:"
            case syntax.Protocol():
                return f"protocol {name}:"
            case syntax.Scope(_, protocol):
                return f"scope {name} of {protocol.text}:"
            case syntax.Conforms(_, protocol, machine, _, scopes):
                place = f" in {_names(scopes)}" if scopes else ""
                return f"conforms {protocol.text} to {machine.text}{place}:"
            case syntax.Mutant(_, subject):
                return f"mutant {name} of {subject.text}:"
            case syntax.Scenario(_, protocol, mutant):
                return f"scenario {name} of {protocol.text}{f' with {mutant.text}' if mutant is not None else ''}:"
            case _:
                assert_never(declaration)

    def items(self, declaration: _WithBlock) -> list[_Item]:
        """The items in the block of a declaration, in the order of the fields."""
        match declaration:
            case syntax.Theory() as t:
                items: list[_Item] = [*t.sorts, *t.functions, *t.relations, *_stated("axiom", t.axioms)]
                return [*items, *t.inductives, *_stated("property", t.properties), *t.definitions]
            case syntax.Theorem() as t:
                items = [*_listed("assume", t.assume), *_listed("use", t.lemmas), *_listed("prove", t.prove)]
                return [*items, *t.inductions, *_listed("needs", t.needs), *t.expects]
            case syntax.Machine() as m:
                items = [
                    *_listed("delivery", m.delivery),
                    *m.sorts,
                    *m.relations,
                    *m.functions,
                    *_stated("axiom", m.axioms),
                    *_initials(m),
                    *m.transitions,
                ]
                return [*items, *m.definitions, *_states(m), *m.eventually, *_listed("prove", m.prove), *m.expects]
            case syntax.Protocol() as p:
                items = [*_listed("delivery", p.delivery), *_listed("network", p.network), *p.values]
                items += [*p.messages, *p.records]
                items += [*p.state, *p.definitions, *p.handlers]
                items += [*p.procedures, *_stated("invariant", p.invariants), *_stated("reachable", p.reachable)]
                items += _listed("property", p.properties)
                eventually = _listed("eventually", p.eventually)
                if eventually and p.fairness:
                    eventually = [*eventually[:-1], replace(eventually[-1], tail=_fairness(p.fairness, p.weakly))]
                items += [*eventually, *_stated("at rest", p.rest), *p.promises]
                return items
            case syntax.Scope() as s:
                return [*s.settings, *s.expects]
            case syntax.Conforms() as c:
                items = [*c.clauses, *_listed("internal", c.internal), *c.settings, *_stated("invariant", c.invariants)]
                items += [*_stated("between steps", c.between), *_listed("eventually delivered by", c.delivered_by)]
                return [*items, *c.expects]
            case syntax.Mutant() as m:
                items = [
                    *_listed("network", m.network),
                    *m.values,
                    *m.state,
                    *m.definitions,
                    *m.handlers,
                    *m.procedures,
                ]
                items += [*_initials(m), *m.transitions, *m.changes]
                return [*items, *_states(m), *m.expects]
            case syntax.Scenario() as s:
                cast = (Cast(s.processes, span=s.processes[0].span),) if s.processes else ()
                return [*cast, *s.links, *s.given, *s.steps, *s.expects]
            case _:
                assert_never(declaration)

    # --- items ---------------------------------------------------------------------------------

    def item(self, item: _Item, previous: Line) -> list[Line]:
        match item:
            case _State(variables):
                return self.state(variables, previous)
            case _Stated(keyword, formula):
                name = f" {formula.name.text}" if formula.name.text else ""
                if formula.parameters:
                    name += f"({_parameters(formula.parameters)})"
                return self.formula(item, f"{keyword}{name}:", formula, 1)
            case syntax.Promise(formula, fairness, weakly):
                return self.formula(item, f"eventually {formula.name.text}{_fairness(fairness, weakly)}:", formula, 1)
            case syntax.LeadsTo():
                return self.leads_to(item)
            case syntax.Induction((part,)):
                return self.induction_on(item, f"by induction {_on(part)}", part.claims, 1)
            case syntax.Induction(parts):
                lines = [line for part in parts for line in self.induction_on(part, _on(part), part.claims, 2)]
                return starting_at(item, [Line(1, "by induction:"), *(lines or [Line(2, "pass")])])
            case syntax.Inductive(name, parameters, rules):
                opening = Line(1, f"inductive {name.text}({_parameters(parameters)}):")
                width = max((len(rule.name.text) for rule in rules), default=0) + 1
                lines = [line for rule in rules for line in self.formula(rule, f"{rule.name.text}:", rule, 2, width)]
                return starting_at(item, [opening, *(lines or [Line(2, "pass")])])
            case syntax.Transition(name, parameters, body):
                return self.with_block(item, f"transition {name.text}({_parameters(parameters)})", body)
            case syntax.Initial(body):
                return self.with_block(item, "initial", body)
            case syntax.Handler(_, _, body):
                return self.with_block(item, self.event(item), body)
            case syntax.Procedure(name, parameters, body):
                return self.with_block(item, f"procedure {name.text}({_parameters(parameters)})", body)
            case syntax.Change(edits=edits):
                head = starting_at(item, [Line(1, f"change {change_text(item)}:")])
                return [*head, *(line for edit in edits for line in edit_lines(edit, 2, self.bare))]
            case syntax.RecordDecl(name, fields):
                return self.record(item, f"record {name.text}:", fields)
            case syntax.Definition():
                return self.definition(item, 1)
            case syntax.Assertion(formula):
                return starting_at(item, lines_of("assert ", formula, 1))
            case syntax.Clause():
                return self.clause(item)
            case _:
                return starting_at(item, [Line(1, self.item_text(item))])

    def item_text(
        self,
        item: _Listed | syntax.SortDecl | syntax.FunctionDecl | syntax.RelationDecl | syntax.Expect
        | syntax.MessageKind | syntax.StateVar | Setting | Cast | syntax.LinkLine | syntax.ScenarioStep
        | syntax.NamedValue | syntax.Given,
    ) -> str:  # fmt: skip
        """An item that takes one line."""
        match item:
            case _Listed(keyword, names, tail):
                return f"{keyword} {_names(names)}{tail}"
            case syntax.SortDecl(names, ordered):
                return f"sort {_names(names)}{' ordered' if ordered else ''}"
            case syntax.FunctionDecl(names, parameters, result):
                word = "constant function" if item.constant else "function"
                if parameters and not parameters[0].name.text:
                    return f"{word} {_names(names)}: {self.types(parameters)} to {type_text(result)}"
                return f"{word} {_names(names)}({_parameters(parameters)}): {type_text(result)}"
            case syntax.RelationDecl(names, parameters):
                word = "constant relation" if item.constant else "relation"
                if parameters and not parameters[0].name.text:
                    return f"{word} {_names(names)}: {self.types(parameters)}"
                return f"{word} {_names(names)}({_parameters(parameters)})"
            case syntax.Expect(verdict, names, scope, settings):
                where = f" in {scope.text}" if scope is not None else ""
                if settings:
                    where = " with " + ", ".join(setting_text(setting) for setting in settings)
                return f"expect {verdict}{' ' + _names(names) if names else ''}{where}"
            case syntax.MessageKind(name, parameters, carries):
                moved = f" carries {carries.text}" if carries is not None else ""
                return f"message {name.text}({_parameters(parameters)}){moved}"
            case syntax.StateVar(name, type_, initial):
                value = f" = {_initial(initial)}" if initial is not None else ""
                return f"{name.text}: {type_text(type_)}{value}"
            case Setting():
                return setting_text(item)
            case syntax.NamedValue(keyword, name, type_, value):
                return f"{keyword} {name.text}: {type_text(type_)} = {given_text(value)}"
            case Cast() | syntax.LinkLine() | syntax.Given() | syntax.ScenarioStep():
                return step_text(item)
            case _:
                assert_never(item)

    def types(self, parameters: tuple[Parameter, ...]) -> str:
        return ", ".join(type_text(parameter.type) for parameter in parameters if parameter.type is not None)

    def clause(self, clause: syntax.Clause) -> list[Line]:
        """A line for each transition, the later ones below the first, and below them `when`."""
        pattern, margin = self.pattern(clause), " " * len(self.pattern(clause))
        texts = [f"{target.transition.text}({_target_arguments(target)})" for target in clause.targets]
        texts[-1] += ", once" if clause.once else ""
        when = "" if clause.when is None else f"when {text_of(clause.when)}"
        if when:
            texts[-1] += "," if len(texts) > 1 else f", {when}"
        first, *others = texts
        lines = starting_at(clause, [Line(1, f"{pattern} is {first}")])
        for target, text in zip(clause.targets[1:], others, strict=True):
            lines += starting_at(target, [Line(1, f"{margin} or {text}")])
        if others and clause.when is not None:
            lines += starting_at(clause.when, [Line(1, f"{margin} {when}")])
        return lines

    def pattern(self, clause: syntax.Clause) -> str:
        """The left side of a clause."""
        names = [parameter.text for parameter in clause.parameters]
        match clause.event:
            case "causal_send":
                return f"causal_send({names[0]})"
            case "deliver":
                return f"deliver {names[0]}"
            case "send" | "receive":
                assert clause.kind is not None and clause.peer is not None
                arguments = ", ".join([*names, *(("...",) if clause.rest else ())])
                side = "to" if clause.event == "send" else "from"
                return f"{clause.event} {clause.kind.text}({arguments}) {side} {clause.peer.text}"
            case "input":
                assert clause.kind is not None
                return f"{clause.kind.text}({', '.join(names)})"
            case "periodically":
                return "periodically" if clause.kind is None else f"periodically {clause.kind.text}"
            case _:
                assert_never(clause.event)

    def in_columns(self, link: syntax.Conforms, lines: list[Line]) -> list[Line]:
        """The clauses of a link with their `is` below each other."""
        patterns = {line.text: self.pattern(clause) for clause in link.clauses for line in self.clause(clause)}
        width = max(map(len, patterns.values()), default=0)
        aligned: list[Line] = []
        for line in lines:
            if (pattern := patterns.get(line.text)) is not None:
                said = line.text[len(pattern) :]
                line = replace(line, text=f"{line.text[: len(pattern)]:<{width}}{said}")
            aligned.append(line)
        return aligned

    def event(self, handler: syntax.Handler) -> str:
        """The header of a handler, without its `:`."""
        match handler.event:
            case "causal_send":
                guard = "" if handler.guard is None else f" when {text_of(handler.guard)}"
                return f"on causal_send({_parameters(handler.parameters)}){guard}"
            case "receive":
                assert handler.kind is not None and handler.sender is not None
                packet = f"{handler.kind.text}({_parameters(handler.parameters)})"
                return f"on receive {packet} from {handler.sender.text}"
            case "input":
                assert handler.kind is not None
                guard = "" if handler.guard is None else f" when {text_of(handler.guard)}"
                return f"on {handler.kind.text}({_parameters(handler.parameters)}){guard}"
            case "periodically":
                return "periodically" if handler.kind is None else f"periodically {handler.kind.text}"
            case _:
                assert_never(handler.event)

    def induction_on(self, item: Node, header: str, claims: Sequence[Formula], depth: int) -> list[Line]:
        """One claim behind the header, several in a block."""
        words = [f"claim {claim.name.text}:" if claim.name.text else "claim:" for claim in claims]
        if len(claims) == 1:
            return self.formula(item, f"{header} {words[0]}", claims[0], depth)
        width = max(map(len, words), default=0)
        told = zip(claims, words, strict=True)
        lines = [line for claim, word in told for line in self.formula(claim, word, claim, depth + 1, width)]
        return starting_at(item, [Line(depth, f"{header}:"), *(lines or [Line(depth + 1, "pass")])])

    def with_block(self, item: Node, header: str, body: tuple[syntax.Stmt, ...]) -> list[Line]:
        line = item.span.line
        if not body:
            return starting_at(item, [Line(1, f"{header}: pass")])
        return starting_at(item, with_body([Line(1, header, line, line)], line, body, self.bare))

    def definition(self, definition: syntax.Definition, depth: int) -> list[Line]:
        header = f"def {definition.name.text}({_parameters(definition.parameters)}):"
        formula = Formula(definition.name, definition.body, definition.doc)
        return self.formula(definition, header, formula, depth)

    def formula(self, item: Node, header: str, formula: Formula, depth: int, width: int = 0) -> list[Line]:
        """`header P`, or P on deeper lines: with a documentation string, and where the source has it so.

        `width` is that of the widest header of those whose formulas stand in a column.
        """
        start, body = item.span.line, formula.body.span.line
        if not formula.doc and body <= start:
            return starting_at(item, lines_of(f"{header:<{width}} ", formula.body, depth))
        doc = self.doc(formula.doc, depth + 1, start, body - 1)
        return starting_at(item, [Line(depth, header), *doc, *lines_of("", formula.body, depth + 1)])

    def leads_to(self, item: syntax.LeadsTo) -> list[Line]:
        """The statement, then a line for each of its steps."""
        formula = item.formula
        taken = f"({_parameters(formula.parameters)})" if formula.parameters else ""
        lines = starting_at(item, lines_of(f"eventually {formula.name.text}{taken}: ", formula.body, 1, " by:"))
        for step in item.steps:
            text = f"{step.transition.text}({', '.join(text_of(each) for each in step.arguments)})"
            text += f" for {_parameters(step.variables)}" if step.variables else ""
            own = [Line(2, text)] if step.left is None else lines_of(f"{text} while ", step.left, 2)
            lines += starting_at(step, own)
        return lines

    def state(self, variables: tuple[syntax.StateVar, ...], previous: Line) -> list[Line]:
        first = variables[0].span
        start = self.bare.last_in(previous.start - 1, first.line)
        header = Line(1, "state:", start, start, first.column - 1)
        return self.fields(header, [(variable.span, self.item_text(variable)) for variable in variables])

    def record(self, item: Node, header: str, fields: tuple[Parameter, ...]) -> list[Line]:
        line = Line(1, header, item.span.line, item.span.line, item.span.column)
        if not fields:
            return [replace(line, text=f"{header} pass")]
        return self.fields(line, [(field.span, _parameter(field)) for field in fields])

    def fields(self, header: Line, fields: list[tuple[Span, str]]) -> list[Line]:
        """Fields behind the header if the source has them there, else one a line."""
        text = f"{header.text} " + "; ".join(field for _, field in fields)
        together = all(span.line == header.start for span, _ in fields) and header.start > 0
        if together and len(text) + INDENT <= WIDTH:
            return [replace(header, text=text)]
        return [header, *(Line(2, field, span.line, span.end_line, span.column) for span, field in fields)]
