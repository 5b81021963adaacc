"""Definitions: `def ready(m): ...` is a name for an expression, which takes the name's place wherever it is used.

A definition of a file is checked anew in each theory, machine or protocol that uses it; it reads no state there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from thence.dsl import ir
from thence.dsl.check.terms.binders import introduce
from thence.dsl.check.terms.environment import (
    BUILT_IN_FUNCTIONS,
    RESERVED,
    LocalName,
    Place,
    Vocabulary,
    report_taken,
    taken_by,
)
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.types import resolve_sort, resolve_type
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter


def with_definitions(
    vocabulary: Vocabulary,
    own: Sequence[syntax.Definition],
    shared: Sequence[syntax.Definition],
    declaration: syntax.Declaration,
    reporter: Reporter,
    further: Sequence[syntax.Declaration] = (),
) -> Vocabulary:
    """The names of a declaration with its own definitions, and those of the file (`shared`) that it uses, or that
    further declarations use, which are written in its words."""
    used = _used((declaration, *further), shared)
    declared: dict[str, syntax.Definition] = {}
    for one in shared:
        if one.name.text in used and not _is_hidden(one, vocabulary, declaration, reporter):
            declared[one.name.text] = one
    of_file = frozenset(declared)
    for definition in own:
        if _is_new(definition, own, shared, vocabulary, reporter):
            declared[definition.name.text] = definition
    known: dict[str, ir.Definition | None] = {}
    for name in _in_order(declared, reporter):
        definition = declared[name]
        words = replace(vocabulary, definitions=known)
        if name in of_file:
            words = replace(words, state={}, constants={})
        inner = reporter.within(reporter.notes)
        known[name] = _checked(definition, words, vocabulary.place, inner)
        reporter.found += [fault for fault in inner.found if fault not in reporter.found]
    return replace(vocabulary, definitions={**dict.fromkeys(declared), **known})


def warn_of_unused_definitions(declarations: Sequence[syntax.Declaration], reporter: Reporter) -> None:
    """Warns of definitions that nothing in the file uses."""
    named: set[str] = set()
    definitions: list[syntax.Definition] = []
    for node in nodes(tuple(declarations)):
        match node:
            case syntax.Variable():
                named.add(node.name)
            case syntax.Apply():
                named.add(node.function.text)
            case syntax.Definition():
                definitions.append(node)
    for definition in definitions:
        if definition.name.text not in named:
            note = ("it is not checked: only its use tells what it may speak of",) if definition in declarations else ()
            reporter.warning("W0931", definition.name.span, f"definition `{definition.name.text}` is never used", *note)


def _used(declarations: Sequence[syntax.Declaration], shared: Sequence[syntax.Definition]) -> frozenset[str]:
    """The names of the file's definitions that declarations use, themselves or by another of them."""
    bodies = {definition.name.text: definition.body for definition in shared}
    found: set[str] = set()
    frontier: list[object] = [*declarations] if bodies else []
    while frontier:
        for name in _called(frontier.pop()):
            if name in bodies and name not in found:
                found.add(name)
                frontier.append(bodies[name])
    return frozenset(found)


def _is_hidden(
    definition: syntax.Definition, vocabulary: Vocabulary, declaration: syntax.Declaration, reporter: Reporter
) -> bool:
    """Whether the declaration has something of its own under the name of a definition of the file; warns of it."""
    name = definition.name
    what = taken_by(name.text, vocabulary)
    if what is not None:
        reporter.warning(
            "W0934",
            name.span,
            f"`{declaration.name.text}` declares {what} `{name.text}`, which hides this definition there",
            "choose another name for one of them",
        )
    return what is not None


def _called(tree: object) -> list[str]:
    return [node.function.text for node in nodes(tree) if isinstance(node, syntax.Apply)]


def _is_new(
    definition: syntax.Definition,
    own: Sequence[syntax.Definition],
    shared: Sequence[syntax.Definition],
    vocabulary: Vocabulary,
    reporter: Reporter,
) -> bool:
    name = definition.name
    if name.text in (*RESERVED, *BUILT_IN_FUNCTIONS, "sent_by"):
        reporter.error("E0212", name.span, f"`{name.text}` is a name of the language and cannot be declared")
        return False
    earlier = next((one for one in (*shared, *own) if one.name.text == name.text and one is not definition), None)
    if earlier is not None and (earlier in shared or own.index(earlier) < own.index(definition)):
        note = f"first declared on line {earlier.name.span.line}"
        reporter.error("E0208", name.span, f"definition `{name.text}` is declared twice", note)
        return False
    return report_taken(name, vocabulary, reporter)


def _in_order(declared: Mapping[str, syntax.Definition], reporter: Reporter) -> list[str]:
    """The names such that each stands behind those that it uses; definitions in a circle are reported, and left out."""
    calls = {name: [each for each in _called(one.body) if each in declared] for name, one in declared.items()}
    ordered: list[str] = []
    left = dict(calls)
    while ready := [name for name, uses in left.items() if not any(use in left for use in uses)]:
        ordered += ready
        for name in ready:
            del left[name]
    circle = [name for name in left if _reaches(name, name, calls)]
    for name in circle[:1]:
        reporter.error(
            "E0420",
            declared[name].name.span,
            f"definition `{name}` is defined by itself",
            "a definition stands for its expression; what repeats is a procedure with a loop",
        )
    return ordered


def _reaches(start: str, end: str, calls: Mapping[str, list[str]]) -> bool:
    seen: set[str] = set()
    frontier = [start]
    while frontier:
        for name in calls[frontier.pop()]:
            if name == end:
                return True
            if name not in seen:
                seen.add(name)
                frontier.append(name)
    return False


def _checked(
    definition: syntax.Definition, vocabulary: Vocabulary, place: Place, reporter: Reporter
) -> ir.Definition | None:
    """The typed definition: of a process's own state if it can be, else of the whole system."""
    if place != "handler":
        return _typed(definition, vocabulary, "nothing", reporter)
    silent = Reporter(reporter.file)
    found = _typed(definition, vocabulary, "self", silent)
    if found is None:
        silent = Reporter(reporter.file)
        whole = vocabulary.at("property")
        if _typed(definition, whole, "all", silent) is not None or _speaks_of_others(definition):
            return _typed(definition, whole, "all", reporter)
        return _typed(definition, vocabulary, "self", reporter)
    typed = _typed(definition, vocabulary, "self", reporter)  # once more, for the types that an editor shows
    assert typed is not None
    reads = any(isinstance(node, ir.SelfProcess | ir.StateOf) for node in nodes(typed.body))
    return typed if reads else replace(typed, reads="nothing")


def _speaks_of_others(definition: syntax.Definition) -> bool:
    return any(isinstance(node, syntax.At) for node in nodes(definition.body))


def _typed(
    definition: syntax.Definition, vocabulary: Vocabulary, reads: Literal["nothing", "self", "all"], reporter: Reporter
) -> ir.Definition | None:
    before = reporter.errors
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    formal = vocabulary.place in ("theory", "machine")
    written: dict[str, Type | None] = {}
    for parameter in definition.parameters:
        if parameter.type is not None and formal:
            written[parameter.name.text] = resolve_sort(
                parameter.type, vocabulary.types, reporter, f"as a parameter in a {vocabulary.place}"
            )
        elif parameter.type is not None:
            written[parameter.name.text] = resolve_type(parameter.type, vocabulary.types, reporter)
    open_names = [one.name.text for one in definition.parameters if one.type is None]
    outer = {name: LocalName(type_, definition.span, "parameter") for name, type_ in written.items()}
    inferred = infer_types(open_names, (definition.body,), vocabulary, outer) if open_names else {}
    parameters: list[ir.Variable] = []
    for parameter in definition.parameters:
        name = parameter.name.text
        type_ = written[name] if parameter.type is not None else inferred[name]
        if type_ is None and parameter.type is None:
            reporter.error(
                "E0303",
                parameter.name.span,
                f"the type of `{name}` cannot be found out from its use in `{definition.name.text}`",
                f"write `{name}: TYPE`",
            )
        checker = checker.within({name: introduce(checker, parameter.name, type_, "parameter")})
        if type_ is not None:
            parameters.append(ir.Variable(name, type_))
    body = checker.infer(definition.body)
    if body is None or reporter.errors > before:
        return None
    return ir.Definition(definition.name.text, tuple(parameters), body, reads, doc=definition.doc, span=definition.span)
