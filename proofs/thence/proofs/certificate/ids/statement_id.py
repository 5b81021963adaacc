"""The canonical typed form of a statement, and its id.

Two statements have the same id exactly when they say the same in the same words. The id depends on the names of
relations, functions, sorts and transitions, and on every axiom, hypothesis, guard and update. It does not depend on
comments, positions and documentation; on the names of the theorem, of formulas and of bound variables; on the order of
declarations; or on hints for a proof: claims, other invariants, `needs`, `expect`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.check.built_in import history_facts
from thence.dsl.ir.machine_builtins import HISTORY, VACUITY
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK, starving_transition
from thence.dsl.ir.types import Type
from thence.proofs.logic.formula import free_locals
from thence.proofs.machine.prover import statement_formula
from thence.proofs.machine.steps.statements import no_deadlock
from thence.proofs.machine.transitions import Action, actions, deliver_action, rigid, symbols

Form: TypeAlias = "str | int | bool | Sequence[Form] | Mapping[str, Form]"
"""A JSON value without null or fractions."""

_UNTOLD = frozenset({"type", "span", "label", "doc"})
"""Fields of expressions that are derived from the rest, or say where it stands."""


def digest(form: Form) -> str:
    """The SHA-256 of a form, in hexadecimal. The form is written in one way only."""
    text = json.dumps(form, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def theorem_id(theorem: ir.Theorem) -> str:
    """The id of a theorem: its theory, its assumptions and its conclusions."""
    return digest(
        {
            "theory": theory_form(theorem.theory),
            "assume": _formulas(theorem.assume),
            "prove": _formulas(theorem.prove),
        }
    )


def machine_statement_id(machine: ir.Machine, name: str) -> str:
    """The id of a statement about a machine: state, transitions, axioms, and the goal."""
    return digest({"machine": machine_form(machine), "goal": goal_form(machine, name)})


def theory_form(theory: ir.Theory) -> Form:
    """Sorts, symbols, axioms and inductive relations; properties count where a theorem names them."""
    return {
        "sorts": sorted(sort.name for sort in theory.sorts),
        "ordered": sorted(theory.ordered),
        "symbols": _sorted(_symbol(symbol) for symbol in theory.symbols),
        "axioms": _formulas(theory.axioms),
        "inductives": _sorted(_inductive(inductive) for inductive in theory.inductives),
    }


def machine_form(machine: ir.Machine) -> Form:
    """The machine as a transition system, with what the language adds to `causal_send` and `deliver` written out."""
    order: dict[str, Form] = {"ordered": sorted(machine.ordered)} if machine.ordered else {}
    first: dict[str, Form] = {"initial": _sorted(_update(each, {}) for each in machine.initial)}
    return {
        **order,
        **(first if machine.initial else {}),
        "symbols": _sorted(_symbol(symbol) for symbol in symbols(machine)),
        "rigid": sorted(rigid(machine)),
        "axioms": _formulas(machine.axioms),
        "transitions": _sorted(_action(action) for action in actions(machine)),
    }


def goal_form(machine: ir.Machine, name: str) -> Form:
    """The goal: a formula that is always true, or a statement of another kind, by its kind."""
    for stable in machine.stable:
        if stable.formula.name == name:
            return ["stable", _types(stable.parameters), term(stable.formula.body, _bound(stable.parameters))]
    for formula in machine.reachable:
        if formula.name == name:
            return ["reachable", term(formula.body, {})]
    for each in machine.eventually:
        if each.name == name:
            bound = _bound(each.parameters)
            fair = sorted({step.transition for step in each.steps})
            return ["leads to", _types(each.parameters), term(each.given, bound), term(each.goal, bound), fair]
    if name == HISTORY:
        return ["always", _formulas(history_facts(machine.delivery))]
    if name == WITHOUT_DEADLOCK:
        return ["always", term(no_deadlock(machine).body, {})]
    transition = starving_transition(name)
    if transition is not None:
        return ["without starvation, at rest nothing waits", transition]
    if name == VACUITY:
        return ["every transition happens"]
    formula = statement_formula(machine, name)
    if free_locals(formula.body):
        return ["when deliver happens", term(formula.body, _bound(deliver_action(machine).parameters))]
    return ["always", term(formula.body, {})]


def awaited_form(machine: ir.Machine, name: str) -> Form:
    """The steps that an `eventually` waits for, and while what. A proof of it chooses them; progress is about them."""
    (statement,) = (each for each in machine.eventually if each.name == name)
    return _sorted(_step(each, _bound(statement.parameters)) for each in statement.steps)


def _step(step: ir.HelpStep, outer: Mapping[str, int]) -> Form:
    bound = _bound(step.variables, outer)
    return [step.transition, _types(step.variables), term(step.arguments, bound), term(step.left, bound)]


def term(node: object, bound: Mapping[str, int]) -> Form:
    """A formula or term; a bound variable is the number of its binder, counted from the outside."""
    match node:
        case bool() | int() | str():
            return node
        case tuple():
            return [term(part, bound) for part in node]
        case ir.Local():
            return ["bound", bound[node.name]] if node.name in bound else ["free", node.name]
        case ir.Quantified():
            inner = _bound(node.variables, bound)
            types = [_bound_type(variable, bound) for variable in node.variables]
            return [node.kind, types, term(node.body, inner)]
        case ir.Literal_() | ir.Zero():
            value = node.value if isinstance(node, ir.Literal_) else "zero"
            return [type(node).__name__, str(node.type), value]
        case ir.Expression():
            told = [each.name for each in fields(node) if each.name not in _UNTOLD]
            return [type(node).__name__, *(term(getattr(node, name), bound) for name in told)]
        case None:
            return "none"
        case _:
            raise AssertionError(f"not part of a formula: {type(node).__name__}")


def _bound(variables: Sequence[ir.Variable | ir.Bound], outer: Mapping[str, int] | None = None) -> dict[str, int]:
    inner = dict(outer or {})
    first = max(inner.values(), default=-1) + 1
    return {**inner, **{variable.name: first + number for number, variable in enumerate(variables)}}


def _bound_type(variable: ir.Bound, bound: Mapping[str, int]) -> Form:
    if variable.domain is None:
        return str(variable.type)
    return [str(variable.type), term(variable.domain, bound)]


def _types(variables: Iterable[ir.Variable]) -> Sequence[Form]:
    return [_type(variable.type) for variable in variables]


def _type(type_: Type) -> str:
    return str(type_)


def _symbol(symbol: ir.Symbol) -> Form:
    return [symbol.name, _types(symbol.parameters), _type(symbol.result)]


def _inductive(inductive: ir.Inductive) -> Form:
    bound = _bound(inductive.parameters)
    rules = _sorted(term(rule.body, bound) for rule in inductive.rules)
    return [inductive.name, _types(inductive.parameters), rules]


def _action(action: Action) -> Form:
    bound = _bound(action.parameters)
    guards = _sorted(term(guard.body, bound) for guard in action.guards)
    return [action.name, _types(action.parameters), guards, _sorted(_update(each, bound) for each in action.updates)]


def _update(update: ir.Update, bound: Mapping[str, int]) -> Form:
    inner = _bound(update.binders, bound)
    return [update.symbol, _types(update.binders), term(update.arguments, inner), term(update.value, inner)]


def _formulas(formulas: Iterable[ir.NamedFormula]) -> Form:
    return _sorted(term(formula.body, {}) for formula in formulas)


def _sorted(forms: Iterable[Form]) -> Sequence[Form]:
    return sorted(forms, key=lambda form: json.dumps(form, sort_keys=True))
