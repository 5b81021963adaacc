"""Statements of a machine about its steps: `stable`, `reachable`, and the names under `prove` and `expect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.check.symbols import check_formulas
from thence.dsl.check.terms.binders import introduce
from thence.dsl.check.terms.delivery import machine_delivery_of
from thence.dsl.check.terms.environment import declare
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.types import resolve_sort
from thence.dsl.ir.machine_builtins import MACHINE_PROPERTIES
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, without_starvation
from thence.dsl.ir.types import Type
from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span


def check_stables(
    formulas: Sequence[syntax.Formula], checker: ExpressionChecker, names: dict[str, Span]
) -> tuple[ir.Stable, ...]:
    """The typed `stable` formulas; the types of their parameters are written, or found from their use."""
    found: list[ir.Stable] = []
    for formula in formulas:
        typed = _parameters(formula, checker)
        inner = checker
        for parameter, type_ in zip(formula.parameters, typed, strict=True):
            inner = inner.within({parameter.name.text: introduce(inner, parameter.name, type_, "parameter")})
        bodies = check_formulas((replace(formula, parameters=()),), "stable formula", inner, names)
        if bodies and None not in typed:
            variables = tuple(
                ir.Variable(parameter.name.text, type_)
                for parameter, type_ in zip(formula.parameters, typed, strict=True)
                if type_ is not None
            )
            found.append(ir.Stable(bodies[0], variables))
    return tuple(found)


def _parameters(formula: syntax.Formula, checker: ExpressionChecker) -> list[Type | None]:
    seen: dict[str, Span] = {}
    for parameter in formula.parameters:
        declare(parameter.name, "parameter", seen, checker.reporter)
    open_names = [parameter.name.text for parameter in formula.parameters if parameter.type is None]
    inferred = infer_types(open_names, (formula.body,), checker.vocabulary, checker.locals) if open_names else {}
    types: list[Type | None] = []
    for parameter in formula.parameters:
        name = parameter.name.text
        if parameter.type is not None:
            types.append(
                resolve_sort(parameter.type, checker.vocabulary.types, checker.reporter, "as a parameter in a machine")
            )
            continue
        if inferred[name] is None and not checker.vocabulary.has_faulty_symbols():
            checker.reporter.error(
                "E0303",
                parameter.name.span,
                f"the type of `{name}` cannot be found out from its use",
                f"write `{name}: TYPE`",
            )
        types.append(inferred[name])
    return types


def statement_names(machine: syntax.Machine) -> set[str]:
    """Everything that `expect` can be about in a machine, by name."""
    formulas = (*machine.invariants, *machine.stable, *machine.reachable, *machine.eventual)
    own = {formula.name.text for formula in formulas} - {""}
    if machine_delivery_of(machine.delivery) == "off":
        return own
    waited_for = (transition.name.text for transition in machine.transitions if transition.name.text != "causal_send")
    steps = (without_starvation(name) for name in waited_for)
    return {*MACHINE_PROPERTIES, WITHOUT_DEADLOCK, *steps, *own}


def provable_names(machine: syntax.Machine) -> set[str]:
    """The names under `prove`; `stable`, `reachable` and `eventually` formulas are stated already."""
    stated = {formula.name.text for formula in (*machine.stable, *machine.reachable, *machine.eventual)}
    return statement_names(machine) - stated
