"""The obligations of a theorem. The induction principle is derived from the `inductive` declaration as written.

For a relation R with rules B1 .. Bn (none of which speaks about R) and a last rule of transitivity,
`exists x. R(a, x) and R(x, b)`, the least relation is also the least one closed under

    Bi(a, b)                      for each i
    R(a, x) and Bi(x, b)          for each i

since every chain of base steps can be read from the left. The claim is then shown for a base step, and kept
by one more base step at the end: the linear form. Without that last rule, each rule gives one obligation in
which the claim may be used wherever the rule uses R. In either form R itself stays available: it is closed
under its rules, and the claim is true of all that it relates.
"""

from __future__ import annotations

from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS
from thence.proofs.logic.formula import (
    Unsupported,
    conj,
    equal,
    exists,
    forall,
    free_locals,
    fresh_name,
    holds,
    implies,
    local,
    negation,
    substitute,
    symbols_of,
    with_applications,
)
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.solving.finite_models import Problem


@dataclass(frozen=True, slots=True)
class Scheme:
    """The proof of a theorem: its obligations, and a sentence that names the principle."""

    obligations: tuple[Obligation, ...]
    principle: str


def signature_of(theory: ir.Theory) -> Signature:
    """Sorts and symbols of the theory, its inductive relations included."""
    inductives = tuple(ir.Symbol(inductive.name, inductive.parameters, BOOL) for inductive in theory.inductives)
    return Signature(theory.sorts, theory.ordered, (*theory.symbols, *inductives))


def closed_under_rules(inductive: ir.Inductive) -> tuple[ir.NamedFormula, ...]:
    """For each rule: the relation has every tuple that the rule derives."""
    conclusion = holds(inductive.name, *(local(parameter) for parameter in inductive.parameters))
    return tuple(
        ir.NamedFormula(f"{inductive.name} {rule.name}", forall(inductive.parameters, implies(rule.body, conclusion)))
        for rule in inductive.rules
    )


def is_transitivity(inductive: ir.Inductive, rule: ir.NamedFormula) -> bool:
    """Whether the rule is `exists x. R(a, x) and R(x, b)`, for R's parameters a, b."""
    if len(inductive.parameters) != 2 or inductive.parameters[0].type != inductive.parameters[1].type:
        return False
    body = rule.body
    if not isinstance(body, ir.Quantified) or body.kind != "exists" or len(body.variables) != 1:
        return False
    first, last = (local(parameter) for parameter in inductive.parameters)
    middle = ir.Local(body.variables[0].type, body.variables[0].name)
    chain = (holds(inductive.name, first, middle), holds(inductive.name, middle, last))
    return body.body in (conj(chain), conj(reversed(chain)))


def background(theory: ir.Theory) -> tuple[ir.NamedFormula, ...]:
    """The axioms, and that every inductive relation is closed under its rules."""
    closure = (formula for inductive in theory.inductives for formula in closed_under_rules(inductive))
    return (*theory.axioms, *closure)


def theorem_scheme(theorem: ir.Theorem) -> Scheme:
    """All obligations of the theorem. Raises: Unsupported for a rule that uses its own relation negatively."""
    hypotheses = (*background(theorem.theory), *theorem.assume)
    signature = signature_of(theorem.theory)
    if theorem.induction is None:
        final = tuple(Obligation(f"{goal.name} follows", signature, hypotheses, goal) for goal in theorem.prove)
        return Scheme(final, "directly from the axioms and assumptions")
    steps, principle = _induction(theorem.theory, theorem.induction, signature, hypotheses)
    claimed = ir.NamedFormula("claim", _claim_for_all(theorem.theory, theorem.induction))
    final = tuple(
        Obligation(f"claim gives {goal.name}", signature, (*hypotheses, claimed), goal) for goal in theorem.prove
    )
    return Scheme((*steps, *final), principle)


def _claim_for_all(theory: ir.Theory, induction: ir.Induction) -> ir.Expr:
    conclusion = holds(induction.relation, *(local(variable) for variable in induction.variables))
    return forall(induction.variables, implies(conclusion, induction.claim))


def _induction(
    theory: ir.Theory, induction: ir.Induction, signature: Signature, hypotheses: tuple[ir.NamedFormula, ...]
) -> tuple[tuple[Obligation, ...], str]:
    inductive = next(inductive for inductive in theory.inductives if inductive.name == induction.relation)
    renaming = {
        parameter.name: local(variable)
        for parameter, variable in zip(inductive.parameters, induction.variables, strict=True)
    }
    rules = [ir.NamedFormula(rule.name, substitute(rule.body, renaming)) for rule in inductive.rules]
    renamed = ir.Inductive(inductive.name, induction.variables, tuple(rules))
    *base, last = rules
    if base and is_transitivity(renamed, last) and not any(inductive.name in symbols_of(rule.body) for rule in base):
        return _linear(renamed, base, induction, signature, hypotheses), (
            f"induction on {inductive.name}: `{last.name}` is transitivity, so the linear form is used: "
            f"{_listing(base)}, then one more of these at the end of a chain"
        )
    obligations = tuple(
        Obligation(
            f"rule {rule.name}",
            signature,
            (*hypotheses, ir.NamedFormula(rule.name, _with_claim(rule.body, inductive.name, induction))),
            ir.NamedFormula("claim", induction.claim),
            induction.variables,
        )
        for rule in rules
    )
    return obligations, f"induction on {inductive.name}: one case for each rule, {_listing(rules)}"


def _linear(
    inductive: ir.Inductive,
    base: list[ir.NamedFormula],
    induction: ir.Induction,
    signature: Signature,
    hypotheses: tuple[ir.NamedFormula, ...],
) -> tuple[Obligation, ...]:
    first, last = inductive.parameters
    taken = {first.name, last.name}.union(*(free_locals(rule.body) for rule in base), free_locals(induction.claim))
    middle = ir.Variable(fresh_name("m", taken), first.type)
    claim = ir.NamedFormula("claim", induction.claim)
    before = (
        ir.NamedFormula("chain", holds(inductive.name, local(first), local(middle))),
        ir.NamedFormula("claim_so_far", substitute(induction.claim, {last.name: local(middle)})),
    )
    obligations = [
        Obligation(f"base {rule.name}", signature, (*hypotheses, rule), claim, inductive.parameters) for rule in base
    ]
    for rule in base:
        extension = ir.NamedFormula(rule.name, substitute(rule.body, {first.name: local(middle)}))
        obligations.append(
            Obligation(f"step {rule.name}", signature, (*hypotheses, *before, extension), claim, (first, middle, last))
        )
    return tuple(obligations)


def _with_claim(body: ir.Expr, relation: str, induction: ir.Induction) -> ir.Expr:
    """The rule's body with `R(s, t)` read as `R(s, t) and claim(s, t)`."""
    if not _is_positive(body, relation, True):
        raise Unsupported(f"a rule of `{relation}` uses `{relation}` negatively: there is no least relation")

    def both(application: ir.Apply) -> ir.Expr:
        if application.symbol != relation:
            return application
        names = [variable.name for variable in induction.variables]
        values = dict(zip(names, application.arguments, strict=True))
        return conj((application, substitute(induction.claim, values)))

    return with_applications(body, both)


def _is_positive(expr: ir.Expr, relation: str, positive: bool) -> bool:
    match expr:
        case ir.Apply():
            return positive or expr.symbol != relation
        case ir.Not():
            return _is_positive(expr.operand, relation, not positive)
        case ir.Connective() if expr.operator in ("and", "or"):
            return _is_positive(expr.left, relation, positive) and _is_positive(expr.right, relation, positive)
        case ir.Connective() if expr.operator == "implies":
            return _is_positive(expr.left, relation, not positive) and _is_positive(expr.right, relation, positive)
        case ir.Quantified() if expr.kind != "count":
            return _is_positive(expr.body, relation, positive)
        case _:
            return relation not in symbols_of(expr)


def _listing(rules: list[ir.NamedFormula]) -> str:
    return ", ".join(f"`{rule.name}`" for rule in rules)


# --- refuting ----------------------------------------------------------------------------------


def consistency_problem(theory: ir.Theory, assumed: tuple[ir.NamedFormula, ...]) -> Problem:
    """An execution of the theory in which the assumptions are true."""
    return Problem(signature_of(theory), (*theory.axioms, *assumed), theory.inductives)


def possible(theory: ir.Theory) -> ir.NamedFormula | None:
    """Two messages of different processes are delivered; None for a theory that does not speak of executions.

    A theory speaks of executions if it has `src`, and the relations `sent` and `delivered` of messages (the latter
    perhaps with the process that delivers).
    """
    known = {(symbol.name, *(parameter.type for parameter in symbol.parameters)) for symbol in theory.symbols}
    if not {("src", MESSAGE), ("sent", MESSAGE)} <= known:
        return None
    a, b, p = ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE), ir.Variable("p'", PROCESS)
    if ("delivered", MESSAGE) in known:
        delivered = [holds("delivered", local(message)) for message in (a, b)]
    elif ("delivered", MESSAGE, PROCESS) in known:
        delivered = [exists((p,), holds("delivered", local(message), local(p))) for message in (a, b)]
    else:
        return None
    first, second = (ir.Apply(PROCESS, "src", (local(message),)) for message in (a, b))
    parts = (holds("sent", local(a)), holds("sent", local(b)), *delivered, negation(equal(first, second)))
    return ir.NamedFormula("two messages of different processes are delivered", exists((a, b), conj(parts)))


def possibility_problem(theorem: ir.Theorem) -> Problem:
    """An execution of the theory, with deliveries where it speaks of them, in which the assumptions are true."""
    moved = possible(theorem.theory)
    return consistency_problem(theorem.theory, (*theorem.assume, *(() if moved is None else (moved,))))


def refutation_problem(theorem: ir.Theorem, assumed: tuple[ir.NamedFormula, ...]) -> Problem:
    """An execution in which `assumed` is true and the theorem's conclusion is not."""
    problem = consistency_problem(theorem.theory, assumed)
    goal = ir.NamedFormula("not the conclusion", negation(conj(goal.body for goal in theorem.prove)))
    return Problem(problem.signature, (*problem.formulas, goal), problem.inductives)
