"""Why a formula is false in a state, or true: the values of its variables, the part that decides, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.observability import sees_actions
from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.traversal import nodes
from thence.dsl.run.actions import State
from thence.dsl.run.evaluate import Frame, Names, compile_expression, domain_of, field_position
from thence.dsl.run.execute import telling_parts
from thence.dsl.run.narrate import NarratedStep
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Value, show
from thence.dsl.text.syntax import Span
from thence.dsl.write.packet_names import field_names, with_field_names
from thence.dsl.write.show import show_expression

MOST = 10_000
"""Bindings of one quantifier that are tried; beyond, the reason is the quantified formula itself."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a formula's value.

    Attributes:
        witness: the variables of quantifiers, each with its value.
        part: the smallest part of the formula that decides, as text.
        holds: the value of that part.
        values: the terms of the part, each with its value.
        span: the place of the part in the text.
    """

    witness: tuple[tuple[str, str], ...]
    part: str
    holds: bool
    values: tuple[tuple[str, str], ...]
    span: Span


def reason(system: System, state: State, formula: ir.NamedFormula, step: NarratedStep | None = None) -> Reason | None:
    """Why an invariant has the value that it has in a state; None where it has none.

    A formula about an action has a value right after a `step` that has such an action: then the state is that after it.
    """
    search = _Search(system, state)
    if sees_actions(formula):
        search.frame.acted = (
            {} if step is None else system.acts(step.outcome.state, step.action, step.outcome.emissions)
        )
        acted = (node for node in nodes(formula) if isinstance(node, ir.Acted))
        if not any((node.verb, node.kind) in search.frame.acted for node in acted):
            return None
    try:
        return search.reason(formula.body, ())
    except Fault:
        return None


_compiled = remembered(compile_expression)
_domain = remembered(domain_of)


@remembered
def _names_of(state: tuple[ir.StateVariable, ...]) -> Names:
    return Names({variable.name: at for at, variable in enumerate(state)})


class _Search:
    """Descends from a formula to the part that decides, along parts whose values decide the whole."""

    def __init__(self, system: System, state: State) -> None:
        self.names_of_fields: dict[tuple[str, str], str] = {}
        self.names = _names_of(system.protocol.state)
        self.frame = Frame(processes=system.workload.processes, all_states=system.locals_of(state))
        self.frame.flying = system.flying(state)
        self.frame.fifo = not system.protocol.network.reordering

    def value(self, part: ir.Expr) -> Value:
        return _compiled(part, self.names)(self.frame)

    def reason(self, part: ir.Expr, witness: tuple[tuple[str, str], ...]) -> Reason:
        match part:
            case ir.Not(operand=operand):
                return self.reason(operand, witness)
            case ir.Connective() if (decisive := self._decisive(part)) is not None:
                return self.reason(decisive, witness)
            case ir.Quantified(kind="forall" | "exists") if self._is_decided_by_one(part):
                bound = self._binding(part)
                if bound is not None:
                    more = [
                        pair
                        for each, value in zip(part.variables, bound, strict=True)
                        for pair in self._told(part, each, value)
                    ]
                    self.frame.locals |= {each.name: value for each, value in zip(part.variables, bound, strict=True)}
                    return self.reason(part.body, (*witness, *more))
            case _:
                pass
        text = show_expression(with_field_names(part, self.names_of_fields))
        return Reason(witness, text, bool(self.value(part)), tuple(self._values(part)), part.span)

    def _told(self, part: ir.Quantified, variable: ir.Bound, value: Value) -> Iterator[tuple[str, str]]:
        """The variable and its value; in place of one for packets or actions the names of its fields, and theirs."""
        own = field_names(variable, part, self.names_of_fields.values())
        self.names_of_fields |= own
        if not own:
            yield variable.name, show(value, variable.type)
        for (_, label), name in own.items():
            at = field_position(variable.type, label)
            yield name, show(value[at], variable.type.fields[at][1])  # type: ignore[union-attr]

    def _decisive(self, part: ir.Connective) -> ir.Expr | None:
        """The side that makes the whole what it is, if one side alone does."""
        left = bool(self.value(part.left))
        match part.operator:
            case "and":
                return part.left if not left else (part.right if not self.value(part.right) else None)
            case "or":
                return part.left if left else (part.right if self.value(part.right) else None)
            case "implies":
                return part.left if not left else None
            case _:
                return None

    def _is_decided_by_one(self, part: ir.Quantified) -> bool:
        return bool(self.value(part)) == (part.kind == "exists")

    def _binding(self, part: ir.Quantified) -> tuple[Value, ...] | None:
        """The first values of the variables that decide."""
        wanted = part.kind == "exists"
        body = _compiled(part.body, self.names)
        outside = dict(self.frame.locals)
        for number, values in enumerate(self._values_of(part.variables)):
            if number >= MOST:
                break
            named = {each.name: value for each, value in zip(part.variables, values, strict=True)}
            self.frame.locals = {**outside, **named}
            if bool(body(self.frame)) == wanted:
                self.frame.locals = outside
                return values
        self.frame.locals = outside
        return None

    def _values_of(self, variables: tuple[ir.Bound, ...]) -> Iterator[tuple[Value, ...]]:
        """All values of the variables; the domain of one may speak of those before it."""
        if not variables:
            yield ()
            return
        first, *others = variables
        outside = self.frame.locals
        for value in _domain(first, self.names)(self.frame):
            self.frame.locals = {**outside, first.name: value}
            for more in list(self._values_of(tuple(others))):
                yield (value, *more)
        self.frame.locals = outside

    def _values(self, part: ir.Expr) -> Iterator[tuple[str, str]]:
        for _, term in telling_parts(part):
            try:
                yield show_expression(with_field_names(term, self.names_of_fields)), show(self.value(term), term.type)
            except Fault:
                continue
