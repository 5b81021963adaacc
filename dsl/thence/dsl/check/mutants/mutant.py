"""A mutant: its subject, elaborated again with the restated and the changed parts in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar, assert_never

from thence.dsl import ir
from thence.dsl.check.expectations import Exploration, check_expectations
from thence.dsl.check.machine import check_machine
from thence.dsl.check.mutants.edits import edited
from thence.dsl.check.protocol import check_protocol
from thence.dsl.check.scope import expectable
from thence.dsl.check.step_claims import statement_names
from thence.dsl.check.terms.environment import listed
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.write.statements import change_text

Part = TypeVar("Part", bound=syntax.Node)
WithBody: TypeAlias = syntax.Handler | syntax.Procedure | syntax.Transition
Changed = TypeVar("Changed", syntax.Handler, syntax.Procedure, syntax.Transition)


def check_mutant(
    mutant: syntax.Mutant,
    subject: syntax.Protocol | syntax.Machine,
    exploration: Exploration | None,
    has_link: bool,
    reporter: Reporter,
    shared: Sequence[syntax.Definition] = (),
) -> ir.Mutant | None:
    """The typed mutant; None if anything in it is erroneous. The subject itself has no errors.

    `shared` are the definitions of the file.
    """
    before = reporter.errors
    merge = _Merge(mutant, reporter)
    typed: ir.Protocol | ir.Machine | None
    inner = reporter.within((f"in mutant `{mutant.name.text}` of `{subject.name.text}`",))
    if isinstance(subject, syntax.Protocol):
        merge.refuse(mutant.transitions, "a protocol has no transitions")
        merge.refuse(() if mutant.initial is None else (mutant.initial,), "a protocol's variables have first values")
        merge.make_changes((*subject.handlers, *subject.procedures), (*mutant.handlers, *mutant.procedures))
        handlers = (*mutant.handlers, *merge.changed(syntax.Handler))
        procedures = (*mutant.procedures, *merge.changed(syntax.Procedure))
        changed = replace(
            subject,
            network=merge.network(subject.network),
            values=merge.constants(subject.values),
            state=merge.parts(subject.state, mutant.state, _variable, "state variable"),
            definitions=merge.parts(subject.definitions, mutant.definitions, _definition, "definition"),
            handlers=merge.parts(subject.handlers, handlers, _handler, "handler"),
            procedures=merge.parts(subject.procedures, procedures, _procedure, "procedure"),
            invariants=merge.parts(subject.invariants, mutant.invariants, _formula, "invariant"),
            reachable=merge.parts(subject.reachable, mutant.reachable, _formula, "reachable formula"),
            rest=merge.parts(subject.rest, mutant.rest, _formula, "formula at rest"),
            promises=merge.parts(subject.promises, mutant.promises, _promise, "promise"),
        )
        typed = check_protocol(changed, inner, shared)
        names = expectable(changed)
    else:
        merge.refuse(
            (*mutant.values, *mutant.state, *mutant.handlers, *mutant.procedures, *mutant.rest, *mutant.promises),
            "a machine has `initial` and transitions only",
        )
        merge.refuse(mutant.network[:1], "a machine has no network")
        merge.make_changes(subject.transitions, mutant.transitions)
        transitions = (*mutant.transitions, *merge.changed(syntax.Transition))
        altered = replace(
            subject,
            definitions=merge.parts(subject.definitions, mutant.definitions, _definition, "definition"),
            initial=merge.initial(subject.initial),
            transitions=merge.parts(subject.transitions, transitions, _transition, "transition"),
            invariants=merge.parts(subject.invariants, mutant.invariants, _formula, "invariant"),
            stable=merge.parts(subject.stable, mutant.stable, _formula, "stable formula"),
            reachable=merge.parts(subject.reachable, mutant.reachable, _formula, "reachable formula"),
            expects=(),
        )
        typed = check_machine(altered, inner, shared, mutated=True)
        names = statement_names(altered)
    if reporter.errors == before:
        reporter.found += [diagnostic for diagnostic in inner.found if diagnostic.severity == "error"]
    if not merge.restated and not any(expect.settings for expect in mutant.expects):
        reporter.error(
            "E0610", mutant.name.span, f"mutant `{mutant.name.text}` changes nothing", "restate what differs"
        )
    expects = _expectations(mutant, subject, names, exploration, has_link, reporter)
    if reporter.errors > before or typed is None:
        return None
    return ir.Mutant(mutant.name.text, subject.name.text, typed, expects, doc=mutant.doc, span=mutant.span)


def _expectations(
    mutant: syntax.Mutant,
    subject: syntax.Protocol | syntax.Machine,
    names: set[str],
    exploration: Exploration | None,
    has_link: bool,
    reporter: Reporter,
) -> tuple[ir.Expectation, ...]:
    of = f"mutant `{mutant.name.text}`"
    if isinstance(subject, syntax.Machine):
        return check_expectations(mutant.expects, reporter, "mutant of a machine", names, of)
    linked = [name for expect in mutant.expects for name in expect.names if name.text == "link"]
    if linked and not has_link:
        reporter.error(
            "E0616",
            linked[0].span,
            f"protocol `{subject.name.text}` has no link that could break",
            f"write `conforms {subject.name.text} to MACHINE:`",
        )
    return check_expectations(mutant.expects, reporter, "mutant of a protocol", {*names, "link"}, of, exploration)


def _variable(part: syntax.StateVar) -> str:
    return part.name.text


def _constant(part: syntax.NamedValue) -> str:
    return part.name.text


def _definition(part: syntax.Definition) -> str:
    return part.name.text


def _procedure(part: syntax.Procedure) -> str:
    return part.name.text


def _transition(part: syntax.Transition) -> str:
    return part.name.text


def _formula(part: syntax.Formula) -> str:
    return part.name.text


def _promise(part: syntax.Promise) -> str:
    return part.formula.name.text


def _handler(part: syntax.Handler) -> str:
    match part.event:
        case "receive":
            assert part.kind is not None
            return f"receive {part.kind.text}"
        case "periodically" if part.kind is not None:
            return f"periodically {part.kind.text}"
        case "input":
            assert part.kind is not None
            return part.kind.text
        case _:
            return part.event


def part_text(part: WithBody) -> str:
    """The part, as a change names it."""
    match part:
        case syntax.Procedure(name):
            return change_text(syntax.Change("procedure", name, ()))
        case syntax.Transition(name):
            return change_text(syntax.Change("transition", name, ()))
        case syntax.Handler():
            return change_text(syntax.Change(part.event, part.kind, ()))
        case _:
            assert_never(part)


class _Merge:
    """Puts what the mutant restates in the place of what its subject has."""

    def __init__(self, mutant: syntax.Mutant, reporter: Reporter) -> None:
        self.mutant = mutant
        self.reporter = reporter
        self.restated = bool(mutant.changes)
        self._changed: dict[str, WithBody] = {}

    def parts(
        self, original: Sequence[Part], restated: Sequence[Part], name: Callable[[Part], str], what: str
    ) -> tuple[Part, ...]:
        """The parts of the subject, those of the same name replaced, new ones at the end."""
        self.restated |= bool(restated)
        known = {name(part): part for part in original}
        expected = {one.text for expect in self.mutant.expects for one in expect.names}
        replacement: dict[str, Part] = {}
        for part in restated:
            label = name(part)
            if label in replacement:
                self.reporter.error(
                    "E0208",
                    part.span,
                    f"{what} `{label}` is restated twice",
                    f"first on line {replacement[label].span.line}",
                )
            elif label not in known and what not in ("state variable", "definition") and label not in expected:
                # New state, or a name for an expression, is what many changes need.
                # What the mutant expects something of is meant.
                self.reporter.warning(
                    "W0906", part.span, f"`{self.mutant.subject.text}` has no {what} `{label}`: the mutant adds one"
                )
            elif known.get(label) == part:
                self.reporter.warning("W0911", part.span, f"{what} `{label}` is restated without a change")
            replacement[label] = part
        kept = tuple(replacement.pop(name(part), part) for part in original)
        return (*kept, *replacement.values())

    def make_changes(self, original: Sequence[WithBody], restated: Sequence[WithBody]) -> None:
        """Makes the edits of the mutant, in the parts that its subject has of these."""
        known, anew = {part_text(part): part for part in original}, {part_text(part) for part in restated}
        for change in self.mutant.changes:
            text = change_text(change)
            part: WithBody | None = self._changed.get(text, known.get(text))
            if part is None:
                words, _, name = text.rpartition(" ")
                alike = [each.rpartition(" ")[2] for each in known if each.rpartition(" ")[0] == words]
                notes = did_you_mean(name, alike) or did_you_mean(text, known) or (f"there are: {listed(known)}",)
                self.reporter.error("E0629", change.span, f"`{self.mutant.subject.text}` has no `{text}`", *notes)
            elif text in anew:
                note = "make the edit in what is restated"
                self.reporter.error(
                    "E0629", change.span, f"`{text}` is restated in this mutant and changed as well", note
                )
            else:
                body = edited(part.body, change.edits, f"`{text}`", self.reporter)
                if body is not None:
                    is_empty = isinstance(part, syntax.Transition) and body == (syntax.Pass(),)
                    self._changed[text] = replace(part, body=() if is_empty else body)

    def changed(self, kind: type[Changed]) -> tuple[Changed, ...]:
        """The parts of a kind in which edits were made."""
        return tuple(part for part in self._changed.values() if isinstance(part, kind))

    def constants(self, original: tuple[syntax.NamedValue, ...]) -> tuple[syntax.NamedValue, ...]:
        """The constants and roles: those that the mutant restates have another value, and the same type."""
        known = {one.name.text: (one.keyword, one.type) for one in original}
        for one in self.mutant.values:
            if known.get(one.name.text, (one.keyword, one.type)) != (one.keyword, one.type):
                said = f"`{self.mutant.subject.text}` cannot have this: `{one.name.text}` keeps its type"
                self.reporter.error("E0611", one.span, said, "its scopes depend on it")
        return self.parts(original, self.mutant.values, _constant, "constant or role")

    def network(self, original: tuple[syntax.Name, ...]) -> tuple[syntax.Name, ...]:
        """The words of the mutant's network, if it says some; otherwise those of its subject."""
        words = self.mutant.network
        if not words:
            return original
        self.restated = True
        known, said = ({word.text for word in each} - {"reliable", "reordering"} for each in (original, words))
        if known == said:
            self.reporter.warning("W0911", words[0].span, "the network is restated without a change")
        for kind in sorted((known ^ said) & {"tree", "overlay"}):
            network = {"tree": "a `tree`", "overlay": "an `overlay`"}[kind]
            self.reporter.error(
                "E0611",
                words[0].span,
                f"`{self.mutant.subject.text}` cannot have this: whether its network is {network} stays as it is",
                f"its scopes, and the names that {network.replace('`', '')} gives, depend on it",
            )
        return words

    def initial(self, original: syntax.Initial | None) -> syntax.Initial | None:
        """The first values of the mutant, if it says some; otherwise those of its subject."""
        restated = self.mutant.initial
        if restated is None:
            return original
        self.restated = True
        if restated == original:
            self.reporter.warning("W0911", restated.span, "`initial` is restated without a change")
        return restated

    def refuse(self, parts: Iterable[syntax.Node], why: str) -> None:
        """Reports what the subject cannot have."""
        for part in parts:
            self.restated = True
            self.reporter.error(
                "E0611",
                part.span,
                f"`{self.mutant.subject.text}` cannot have this: {why}",
                "a mutant changes what there is",
            )
