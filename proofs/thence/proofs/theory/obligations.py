"""The obligations of a theorem. The induction principle is derived from the `inductive` declaration as written.

For a relation R with rules B1 .. Bn (none of which speaks about R) and a last rule of transitivity,
`exists x. R(a, x) and R(x, b)`, the least relation is also the least one closed under

    Bi(a, b)                      for each i
    R(a, x) and Bi(x, b)          for each i

since every chain of base steps can be read from the left. The claim is then shown for a base step, and kept
by one more base step at the end: the linear form. Without that last rule, each rule gives one obligation in
which the claim may be used wherever the rule uses R. In either form R itself stays available: it is closed
under its rules, and the claim is true of all that it relates.

An induction on several relations has the cases of all their rules; in each the claims of all may be used wherever the
rule uses the relations. So every claim is true of the least relations that are built together: the relations, cut
down to what is claimed of them, are closed under the rules. A relation of such a group of which nothing is claimed
stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

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
    """All obligations of the theorem, and before them those of the lemmas that it uses, directly or not.

    Raises: Unsupported for a rule that uses its own relation negatively.
    """
    obligations: list[Obligation] = []
    lemmas = _lemmas(theorem)
    for lemma in lemmas:
        obligations += (
            replace(each, name=f"lemma {lemma.name}: {each.name}") for each in _own_scheme(lemma).obligations
        )
    own = _own_scheme(theorem)
    used = f", using {_quoted(lemma.name for lemma in theorem.lemmas)}" if lemmas else ""
    return Scheme((*obligations, *own.obligations), own.principle + used)


def _lemmas(theorem: ir.Theorem) -> tuple[ir.Theorem, ...]:
    """The lemmas of the theorem and their lemmas, each once, after those that it uses itself."""
    found: dict[str, ir.Theorem] = {}
    for lemma in theorem.lemmas:
        for each in (*_lemmas(lemma), lemma):
            found.setdefault(each.name, each)
    return tuple(found.values())


def _as_hypothesis(lemma: ir.Theorem, assumed: Collection[ir.NamedFormula]) -> ir.NamedFormula:
    """What a lemma says where these formulas are assumed: the rest of its own assumptions imply its conclusions."""
    open_ = conj(each.body for each in lemma.assume if each not in assumed)
    proved = conj(each.body for each in lemma.prove)
    return ir.NamedFormula(f"theorem {lemma.name}", implies(open_, proved))


def _own_scheme(theorem: ir.Theorem) -> Scheme:
    """The obligations of the theorem where its lemmas are true."""
    lemmas = (_as_hypothesis(lemma, theorem.assume) for lemma in theorem.lemmas)
    known = [*background(theorem.theory), *theorem.assume, *lemmas]
    signature = signature_of(theorem.theory)
    steps: list[Obligation] = []
    principles: list[str] = []
    for number, induction in enumerate(theorem.inductions, 1):
        place = f"induction {number}, " if len(theorem.inductions) > 1 else ""
        cases, principle = _induction(theorem.theory, induction, signature, tuple(known))
        steps += (replace(case, name=f"{place}{case.name}") for case in cases)
        principles.append(principle)
        known += (_for_all(part, claim) for part in induction.parts for claim in part.claims)
    claimed = "the claims give" if sum(len(each.claims) for each in theorem.inductions) > 1 else "claim gives"
    final = (
        Obligation(
            f"{claimed} {goal.name}" if theorem.inductions else f"{goal.name} follows", signature, tuple(known), goal
        )
        for goal in theorem.prove
    )
    return Scheme((*steps, *final), "; then ".join(principles) or "directly from the axioms and assumptions")


def _for_all(part: ir.InductionOn, claim: ir.NamedFormula) -> ir.NamedFormula:
    """The claim of all that the relation relates."""
    related = holds(part.relation, *(local(variable) for variable in part.variables))
    return ir.NamedFormula(claim.name, forall(part.variables, implies(related, claim.body)))


def _induction(
    theory: ir.Theory, induction: ir.Induction, signature: Signature, hypotheses: tuple[ir.NamedFormula, ...]
) -> tuple[tuple[Obligation, ...], str]:
    """The cases of the induction, for each of its claims, and a sentence that names the principle."""
    relations = {inductive.name: inductive for inductive in theory.inductives}
    renamed = [_renamed(relations[part.relation], part) for part in induction.parts]
    several = len(renamed) > 1
    if not several and _is_closure(renamed[0]):
        *base, last = renamed[0].rules
        return _linear(renamed[0], base, induction, signature, hypotheses), (
            f"induction on {renamed[0].name}: `{last.name}` is transitivity, so the linear form is used: "
            f"{_listing(base)}, then one more of these at the end of a chain"
        )
    obligations = (
        Obligation(
            f"{part.relation}, rule {rule.name}" if several else f"rule {rule.name}",
            signature,
            (*hypotheses, ir.NamedFormula(rule.name, _with_claims(rule.body, induction))),
            claim,
            part.variables,
        )
        for part, inductive in zip(induction.parts, renamed, strict=True)
        for rule in inductive.rules
        for claim in part.claims
    )
    cases = "; ".join(f"{each.name}: {_listing(each.rules)}" if several else _listing(each.rules) for each in renamed)
    together = " and ".join(each.name for each in renamed) + (" together" if several else "")
    principle = f"induction on {together}: one case for each rule, {cases}"
    return _told_apart(obligations, induction), principle


def _renamed(inductive: ir.Inductive, part: ir.InductionOn) -> ir.Inductive:
    """The relation with the variables of the induction as its parameters."""
    renaming = {
        parameter.name: local(variable)
        for parameter, variable in zip(inductive.parameters, part.variables, strict=True)
    }
    rules = (ir.NamedFormula(rule.name, substitute(rule.body, renaming)) for rule in inductive.rules)
    return ir.Inductive(inductive.name, part.variables, tuple(rules))


def _is_closure(inductive: ir.Inductive) -> bool:
    """Whether the relation is the transitive closure of what its rules but the last say.

    They may speak of relations that are built from this one: those are given when chains are read.
    """
    *base, last = inductive.rules
    own = any(inductive.name in symbols_of(rule.body) for rule in base)
    return bool(base) and is_transitivity(inductive, last) and not own


def _linear(
    inductive: ir.Inductive,
    base: Sequence[ir.NamedFormula],
    induction: ir.Induction,
    signature: Signature,
    hypotheses: tuple[ir.NamedFormula, ...],
) -> tuple[Obligation, ...]:
    first, last = inductive.parameters
    claims = induction.claims
    taken = {first.name, last.name}.union(
        *(free_locals(rule.body) for rule in base), *(free_locals(claim.body) for claim in claims)
    )
    middle = ir.Variable(fresh_name("m", taken), first.type)
    before = [ir.NamedFormula("chain", holds(inductive.name, local(first), local(middle)))]
    for claim in claims:
        so_far = f"{claim.name}_so_far"
        before.append(ir.NamedFormula(so_far, substitute(claim.body, {last.name: local(middle)})))
    obligations = [
        Obligation(f"base {rule.name}", signature, (*hypotheses, rule), claim, inductive.parameters)
        for rule in base
        for claim in claims
    ]
    for rule in base:
        extension = ir.NamedFormula(rule.name, substitute(rule.body, {first.name: local(middle)}))
        known = (*hypotheses, *before, extension)
        obligations += (
            Obligation(f"step {rule.name}", signature, known, claim, (first, middle, last)) for claim in claims
        )
    return _told_apart(obligations, induction)


def _told_apart(obligations: Iterable[Obligation], induction: ir.Induction) -> tuple[Obligation, ...]:
    """The obligations, named after their claims too where there are several."""
    if len(induction.claims) == 1:
        return tuple(obligations)
    return tuple(replace(each, name=f"{each.name}: {each.goal.name}") for each in obligations)


def _with_claims(body: ir.Expr, induction: ir.Induction) -> ir.Expr:
    """The rule's body with `R(s, t)`, for each R of the induction, read as `R(s, t)` and every claim of s and t."""
    parts = {part.relation: part for part in induction.parts}
    for relation in parts:
        if not _is_positive(body, relation, True):
            raise Unsupported(f"a rule uses `{relation}` negatively, and cannot use what is claimed of it")

    def all_of_it(application: ir.Apply) -> ir.Expr:
        part = parts.get(application.symbol)
        if part is None:
            return application
        names = [variable.name for variable in part.variables]
        values = dict(zip(names, application.arguments, strict=True))
        return conj((application, *(substitute(claim.body, values) for claim in part.claims)))

    return with_applications(body, all_of_it)


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


def _listing(rules: Iterable[ir.NamedFormula]) -> str:
    return _quoted(rule.name for rule in rules)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


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
