"""Which guard, or which instance of an invariant, is false in the state from which an obligation fails.

The model of the failed obligation decides: each part of the claim is evaluated in it. A part that speaks of something
that the model leaves open is not judged, and no line says that it is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import Record, Type
from thence.dsl.text.syntax import NOWHERE
from thence.dsl.write.packet_names import Names, field_names, with_field_names
from thence.dsl.write.show import show_as_written
from thence.proofs.logic.countermodel import instance_text
from thence.proofs.logic.formula import Unsupported, operands, outer_foralls
from thence.proofs.refinement.drawing import Reader
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.following import Claim, Enabled, Kept, Taking
from thence.proofs.refinement.shapes.kinds import Leaf, Parts, Shape, Term
from thence.proofs.refinement.states import State

Instance: TypeAlias = Mapping[str, str]
"""The names of elements, by the variables of the text."""

Found: TypeAlias = tuple[ir.Expr, Instance, str]
"""A part of a formula with the names of the text, the elements that make it false, and what is wrong with it there."""

_FALSE, _WITHOUT_VALUE = "is false", "has no value"


def false_parts(link: ir.Link, claim: Claim, reader: Reader) -> list[str]:
    """A line for each part of the claim that is false in the reader's model, with its text, line and elements."""
    if isinstance(claim, Kept):
        found = _false_in(claim, link.protocol, reader)
        return [] if found is None else [f"invariant `{claim.invariant.name}` would be false: {_said(*found)}"]
    return [line for target in claim.targets for line in _refused(claim, target, reader)]


def _said(part: ir.Expr, instance: Instance, wrong: str) -> str:
    line = "" if part.span == NOWHERE else f" on line {part.span.line}"
    return f"`{show_as_written(part)}`{line} {wrong}{instance_text(instance)}"


# --- invariants -----------------------------------------------------------------------------------


def _false_in(claim: Kept, protocol: ir.Protocol, reader: Reader) -> Found | None:
    """The first part of the invariant that is false, or has no value, in the state of the claim."""
    evaluation = Evaluation(protocol, claim.state, prefix="f")
    try:
        return next(_false(claim.invariant.body, evaluation, reader, _Bound()), None)
    except (KeyError, Unsupported):
        return None


@dataclass(frozen=True, slots=True)
class _Bound:
    """What the variables around a part stand for: their values, the names of their fields, and both as text."""

    shapes: Mapping[str, Shape] = field(default_factory=dict)
    fields: Names = field(default_factory=dict)
    instance: Instance = field(default_factory=dict)

    def found(self, part: ir.Expr, wrong: str) -> Found:
        return with_field_names(part, self.fields), self.instance, wrong


def _false(formula: ir.Expr, evaluation: Evaluation, reader: Reader, bound: _Bound) -> Iterator[Found]:
    """The parts of the formula that make it false, as deep as universal quantifiers and conjunctions go.

    Raises: KeyError for a symbol that does not matter.
    """
    match formula:
        case ir.Quantified(kind="forall"):
            for more in _instances(formula, formula.variables, evaluation, reader, bound):
                yield from _false(formula.body, evaluation, reader, more)
        case ir.Connective(operator="and", left=left, right=right):
            yield from _false(left, evaluation, reader, bound)
            yield from _false(right, evaluation, reader, bound)
        case ir.Connective(operator="implies", left=left, right=right):
            premise = evaluation.value(left, bound.shapes)
            if not reader.is_true(premise.defined):
                yield bound.found(left, _WITHOUT_VALUE)
            elif reader.is_true(premise.term):
                yield from _false(right, evaluation, reader, bound)
        case _:
            value = evaluation.value(formula, bound.shapes)
            if not reader.is_true(value.defined):
                yield bound.found(formula, _WITHOUT_VALUE)
            elif not reader.is_true(value.term):
                yield bound.found(formula, _FALSE)


def _instances(
    formula: ir.Quantified, variables: Sequence[ir.Bound], evaluation: Evaluation, reader: Reader, bound: _Bound
) -> Iterator[_Bound]:
    """The values for the variables that the model has."""
    if not variables:
        yield bound
        return
    first, *rest = variables
    groups, _ = evaluation.groups(first, bound.shapes)
    names = field_names(first, formula, bound.instance)
    for group in groups:
        for terms in reader.tuples(group.types):
            there, item = group.item(terms)
            if reader.is_true(there):
                said = {name: reader.said(shape, type_) for name, shape, type_ in _named(first, item, names)}
                more = _Bound({**bound.shapes, first.name: item}, {**bound.fields, **names}, {**bound.instance, **said})
                yield from _instances(formula, rest, evaluation, reader, more)


def _named(variable: ir.Bound, value: Shape, names: Names) -> Iterator[tuple[str, Shape, Type]]:
    """A value by the name of its variable; of a packet and of an element of a queue, its fields by theirs."""
    if variable.domain is None or not names:
        yield variable.name, value, variable.type
        return
    assert isinstance(value, Parts) and isinstance(variable.type, Record)
    for shape, (label, type_) in zip(value.fields, variable.type.fields, strict=False):
        if (variable.name, label) in names:
            yield names[variable.name, label], shape, type_


# --- guards ---------------------------------------------------------------------------------------


def _refused(claim: Enabled, target: Taking, reader: Reader) -> list[str]:
    """The guards of the transition that are false; of one that finds arguments, those that are false of all."""
    action = target.action
    parts = [part for guard in action.guards for part in operands(guard.body, "and")]
    false: list[dict[int, Instance]] = []
    try:
        for terms in reader.tuples([one.type for one in target.found]):
            values = {one.name: term for one, term in zip(target.found, terms, strict=True)}
            arguments = [
                values.get(each.name, each) if isinstance(each, ir.Local) else each for each in target.arguments
            ]
            given = {one.name: term for one, term in zip(action.parameters, arguments, strict=True)}
            judged = ((at, _false_guard(part, claim.state, given, reader)) for at, part in enumerate(parts))
            false.append({at: instance for at, instance in judged if instance is not None})
        named = [
            "any" if isinstance(term, ir.Local) and term.name in {one.name for one in target.found}
            else reader.said(Leaf(term), one.type)
            for one, term in zip(action.parameters, target.arguments, strict=True)
        ]  # fmt: skip
    except (KeyError, Unsupported):
        return []
    always = [at for at in range(len(parts)) if false and all(at in each for each in false)]
    call = f"{action.name}({', '.join(named)})"
    instances: dict[int, Instance] = false[0] if len(false) == 1 else {at: {} for at in always}
    return [f"{call}: {_said(parts[at], instances[at], _FALSE)}" for at in always]


def _false_guard(guard: ir.Expr, state: State, given: Mapping[str, Term], reader: Reader) -> Instance | None:
    """The elements for which a guard is false in the state; None where it is true."""
    if reader.is_true(state.about_machine(guard, given)):
        return None
    variables, body = outer_foralls(guard)
    types = [variable.type for variable in variables]
    for terms in reader.tuples(types):
        values = {one.name: term for one, term in zip(variables, terms, strict=True)}
        if not reader.is_true(state.about_machine(body, {**given, **values})):
            return {one.name: reader.said(Leaf(values[one.name]), one.type) for one in variables}
    return {}
