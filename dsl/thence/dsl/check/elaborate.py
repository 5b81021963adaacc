"""Abstract syntax to typed IR: the front end's last pass.

Every declaration is checked for itself; an erroneous one has no typed form, and declarations that build on it are
checked without it. All errors of the file are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from thence.dsl import ir
from thence.dsl.check.definitions import warn_of_unused_definitions
from thence.dsl.check.expectations import Exploration
from thence.dsl.check.link import check_link
from thence.dsl.check.machine import check_machine
from thence.dsl.check.mutants.mutant import check_mutant
from thence.dsl.check.protocol import check_protocol
from thence.dsl.check.result_names import check_names_of_file
from thence.dsl.check.scenario import check_scenario
from thence.dsl.check.scope import check_scope, declared_kind
from thence.dsl.check.terms.absent_keys import warn_of_absent_keys
from thence.dsl.check.terms.kept_names import without_echoes
from thence.dsl.check.theory import check_theorems, check_theory, words_of_claims
from thence.dsl.check.unused import warn_of_unexplored, warn_of_unused
from thence.dsl.check.workloads.by_name import Settings
from thence.dsl.ir.traversal import depth
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic, did_you_mean, in_reading_order
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.value import record

DEEPEST = 200
"""The greatest depth of the abstract syntax: the later passes are recursive."""

Declared = TypeVar("Declared", bound=syntax.Declaration)


def elaborate(file: syntax.File, name: str) -> tuple[ir.Specification | None, tuple[Diagnostic, ...]]:
    """The typed file, and everything that is wrong with it; no typed file if any of that is an error.

    `name` is the file's name, for diagnostics.
    """
    work = _Elaboration(Reporter(name))
    specification = work.file(file, name)
    return (specification if work.reporter.errors == 0 else None), in_reading_order(
        without_echoes(file, work.reporter.found)
    )


@record(frozen=True, slots=True)
class Examined:
    """What is known of a file, whether or not it has errors.

    `specification` has the declarations that have a typed form. `types` are those of expressions and local names, by
    their places.
    """

    specification: ir.Specification
    diagnostics: tuple[Diagnostic, ...]
    types: Mapping[Span, Type]


def examine(file: syntax.File, name: str) -> Examined:
    """As `elaborate`, for an editor: with the types that were found on the way, and what there is beside errors."""
    reporter = Reporter(name)
    typed: list[tuple[Span, Any]] = []
    reporter.typed = typed
    specification = _Elaboration(reporter).file(file, name)
    first_hand = dict(reversed(typed))  # a mutant is typed once more with what it takes over
    return Examined(specification, in_reading_order(without_echoes(file, reporter.found)), first_hand)


class _Elaboration:
    """The declarations of a file, by name, as they get their types; None for one with errors."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.theories: dict[str, ir.Theory | None] = {}
        self.machines: dict[str, ir.Machine | None] = {}
        self.protocols: dict[str, ir.Protocol | None] = {}
        self.scopes: dict[str, dict[str, ir.Scope | None]] = {}
        self.settings: dict[str, dict[str, Settings | None]] = {}
        self.shared: list[syntax.Definition] = []

    def file(self, file: syntax.File, name: str) -> ir.Specification:
        check_names_of_file(file, self.reporter)
        declarations = [declaration for declaration in file.declarations if self._is_shallow(declaration)]
        theories = self._named(declarations, syntax.Theory, "theory")
        machines = self._named(declarations, syntax.Machine, "machine")
        protocols = self._named(declarations, syntax.Protocol, "protocol")
        theorems = self._named(declarations, syntax.Theorem, "theorem")
        self.shared = self._named(declarations, syntax.Definition, "definition")
        self.theories = {one.name.text: check_theory(one, self.reporter, self.shared) for one in theories}
        self.machines = {one.name.text: check_machine(one, self.reporter, self.shared) for one in machines}
        self.protocols = {one.name.text: self._protocol(one) for one in protocols}
        warn_of_unused_definitions(declarations, self.reporter)
        self._forget_too_deep(file)
        sources = {one.name.text: one for one in protocols}
        subjects: dict[str, syntax.Protocol | syntax.Machine] = {one.name.text: one for one in machines}
        for one in protocols:
            self._enter(one.name, "protocol or machine", subjects.get(one.name.text))
            subjects[one.name.text] = one
        scopes = self._scopes(_of(declarations, syntax.Scope), sources)
        for one in protocols:
            self._warn_of_unexplored(one, [scope for scope in scopes if scope.protocol == one.name.text])
        theory_of = {one.name.text: one for one in theories}
        proved = check_theorems(
            theorems,
            self.theories,
            lambda theorem, theory: words_of_claims(
                theorem, theory, theory_of[theory.name], self.shared, self.reporter
            ),
            self.reporter,
        )
        links = self._links(_of(declarations, syntax.Conforms))
        mutants = self._mutants(_of(declarations, syntax.Mutant), subjects, _of(declarations, syntax.Conforms))
        scenarios = self._scenarios(self._named(declarations, syntax.Scenario, "scenario"), declarations, mutants)
        return ir.Specification(
            name,
            file.doc,
            tuple(one for one in self.theories.values() if one is not None),
            tuple(one for one in proved if one is not None),
            tuple(one for one in self.machines.values() if one is not None),
            tuple(one for one in self.protocols.values() if one is not None),
            scopes,
            links,
            mutants,
            scenarios,
        )

    def _protocol(self, one: syntax.Protocol) -> ir.Protocol | None:
        typed = check_protocol(one, self.reporter, self.shared)
        if typed is not None:
            warn_of_unused(one, typed, self.reporter)
            warn_of_absent_keys(typed, self.reporter)
        return typed

    def _is_shallow(self, declaration: syntax.TopLevel) -> bool:
        if depth(declaration) <= DEEPEST:
            return True
        self.reporter.error(
            "E0152",
            declaration.name.span,
            f"something in `{declaration.name.text}` is nested too deeply",
            f"at most {DEEPEST} operators, brackets and blocks can stand in one another; name a part of it",
        )
        return False

    def _forget_too_deep(self, file: syntax.File) -> None:
        """A declaration that is too deep is known by its name, so that what refers to it is not at fault."""
        for declaration in file.declarations:
            match declaration:
                case syntax.Theory():
                    self.theories.setdefault(declaration.name.text, None)
                case syntax.Machine():
                    self.machines.setdefault(declaration.name.text, None)
                case syntax.Protocol():
                    self.protocols.setdefault(declaration.name.text, None)
                case _:
                    pass

    def _named(self, declarations: Sequence[syntax.TopLevel], kind: type[Declared], what: str) -> list[Declared]:
        """The declarations of one kind, each name once; a second one is reported."""
        first: dict[str, Declared] = {}
        for declaration in declarations:
            if isinstance(declaration, kind):
                name = declaration.name
                self._enter(name, what, first.get(name.text))
                first.setdefault(name.text, declaration)
        return list(first.values())

    def _enter(self, name: syntax.Name, what: str, earlier: syntax.Declaration | None) -> None:
        if earlier is not None:
            self.reporter.error(
                "E0208",
                name.span,
                f"{what} `{name.text}` is declared twice",
                f"first declared on line {earlier.name.span.line}",
            )

    def _scopes(self, scopes: Sequence[syntax.Scope], protocols: dict[str, syntax.Protocol]) -> tuple[ir.Scope, ...]:
        first: dict[tuple[str, str], syntax.Scope] = {}
        found: list[ir.Scope] = []
        for scope in scopes:
            name, of = scope.name.text, scope.protocol.text
            if of not in self.protocols:
                self._unknown(scope.protocol, "protocol", list(self.protocols))
            if (of, name) in first:
                self._enter(scope.name, "scope", first[of, name])
                continue
            first[of, name] = scope
            checked = check_scope(scope, protocols[of], self.reporter) if of in protocols else None
            self.scopes.setdefault(of, {})[name] = None if checked is None else checked[0]
            self.settings.setdefault(of, {})[name] = None if checked is None else checked[1]
            if checked is not None:
                found.append(checked[0])
        return tuple(found)

    def _warn_of_unexplored(self, protocol: syntax.Protocol, scopes: Sequence[ir.Scope]) -> None:
        """Where the file has scopes of the protocol, and none of them has errors."""
        typed = self.protocols[protocol.name.text]
        if typed is None or not scopes or None in self.scopes[typed.name].values():
            return
        settings = (expect.settings for scope in scopes for expect in scope.expects)
        workloads = [scope.workload for scope in scopes] + [each for each in settings if each is not None]
        said = {name for known in self.settings[typed.name].values() if known is not None for name in known}
        warn_of_unexplored(protocol, typed, workloads, said, self.reporter)

    def _links(self, links: Sequence[syntax.Conforms]) -> tuple[ir.Link, ...]:
        first: dict[str, syntax.Conforms] = {}
        found: list[ir.Link] = []
        for link in links:
            of, to = link.protocol.text, link.machine.text
            self._enter(link.name, "link", first.get(link.name.text))
            first.setdefault(link.name.text, link)
            if of not in self.protocols:
                self._unknown(link.protocol, "protocol", list(self.protocols))
            if to not in self.machines:
                self._unknown(link.machine, "machine", list(self.machines))
            typed = check_link(
                link,
                self.protocols.get(of),
                self.machines.get(to),
                self.scopes.get(of, {}),
                self.settings.get(of, {}),
                of in self.protocols,
                self.reporter,
            )
            if typed is not None:
                found.append(typed)
        return tuple(found)

    def _mutants(
        self,
        mutants: Sequence[syntax.Mutant],
        subjects: dict[str, syntax.Protocol | syntax.Machine],
        links: Sequence[syntax.Conforms],
    ) -> tuple[ir.Mutant, ...]:
        first: dict[tuple[str, str], syntax.Mutant] = {}
        found: list[ir.Mutant] = []
        linked = {link.protocol.text for link in links}
        for mutant in mutants:
            name, of = mutant.name.text, mutant.subject.text
            self._enter(mutant.name, "mutant", first.get((of, name)))
            first.setdefault((of, name), mutant)
            if of not in self.protocols and of not in self.machines:
                self._unknown(mutant.subject, "protocol or machine", [*self.protocols, *self.machines])
            sound = self.protocols.get(of) is not None or self.machines.get(of) is not None
            if of not in subjects or not sound:
                continue
            exploration = Exploration(of, self.settings.get(of, {}), {}, always=True, kind=declared_kind(subjects[of]))
            typed = check_mutant(mutant, subjects[of], exploration, of in linked, self.reporter, self.shared)
            if typed is not None:
                found.append(typed)
        return tuple(found)

    def _scenarios(
        self,
        scenarios: Sequence[syntax.Scenario],
        declarations: Sequence[syntax.TopLevel],
        mutants: Sequence[ir.Mutant],
    ) -> tuple[ir.Scenario, ...]:
        found: list[ir.Scenario] = []
        declared = {(mutant.subject.text, mutant.name.text) for mutant in _of(declarations, syntax.Mutant)}
        changed = {
            (mutant.subject, mutant.name): mutant.mutated
            for mutant in mutants
            if isinstance(mutant.mutated, ir.Protocol)
        }
        for scenario in scenarios:
            of = scenario.protocol.text
            if of not in self.protocols:
                self._unknown(scenario.protocol, "protocol", list(self.protocols))
            protocol, subject = self.protocols.get(of), of
            if scenario.mutant is not None:
                name = scenario.mutant.text
                if of in self.protocols and (of, name) not in declared:
                    known = [mutant for subject, mutant in declared if subject == of]
                    self._unknown(scenario.mutant, f"mutant of {of}", known)
                protocol, subject = changed.get((of, name)), f"{of}/{name}"
            typed = None if protocol is None else check_scenario(scenario, protocol, subject, self.reporter)
            if typed is not None:
                found.append(typed)
        return tuple(found)

    def _unknown(self, name: syntax.Name, what: str, known: Sequence[str]) -> None:
        other = "machine" if name.text in self.machines else "protocol" if name.text in self.protocols else ""
        notes = (f"`{name.text}` is a {other}",) if other else did_you_mean(name.text, known)
        self.reporter.error("E0210", name.span, f"there is no {what} `{name.text}` in this file", *notes)


def _of(declarations: Sequence[syntax.TopLevel], kind: type[Declared]) -> list[Declared]:
    return [declaration for declaration in declarations if isinstance(declaration, kind)]
