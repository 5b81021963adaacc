"""The decidable fragment: held against actual Skolem terms on random obligations, and against finite models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from typing import Literal, TypeAlias

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort, Type
from thence.proofs.logic.formula import free_locals, holds, negation
from thence.proofs.logic.fragment import Fragment, fragment_of
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt import smt_text
from thence.proofs.machine.obligations import conjuncts, preservations
from thence.proofs.solving.finite_models import find_model, negated_obligation
from thence.proofs.solving.solver import Check, SolverPool
from thence.proofs.theory.obligations import theorem_scheme

Specify = Callable[[str], ir.Specification]

THING = Sort("thing")
NAMES: Mapping[str, Type] = {"m": MESSAGE, "n": MESSAGE, "p": PROCESS, "q": PROCESS, "t": THING}
SORTS = (MESSAGE, PROCESS, THING)


def symbol(name: str, parameters: tuple[Type, ...], result: Type) -> ir.Symbol:
    return ir.Symbol(name, tuple(ir.Variable(f"x{n}", type_) for n, type_ in enumerate(parameters)), result)


FUNCTIONS = (
    symbol("src", (MESSAGE,), PROCESS),
    symbol("home", (PROCESS,), THING),
    symbol("kept", (MESSAGE, PROCESS), THING),
    symbol("last", (THING,), MESSAGE),
)
RELATIONS = (
    symbol("at", (MESSAGE, PROCESS), BOOL),
    symbol("hb", (MESSAGE, MESSAGE), BOOL),
    symbol("open", (THING,), BOOL),
)
SIGNATURE = Signature(SORTS, (), (*FUNCTIONS, *RELATIONS))


def terms(type_: Type, depth: int = 2) -> st.SearchStrategy[ir.Expr]:
    names = st.sampled_from([name for name, own in NAMES.items() if own == type_])
    found: list[st.SearchStrategy[ir.Expr]] = [names.map(lambda name: ir.Local(type_, name))] * 3
    if depth:
        for function in FUNCTIONS:
            if function.result == type_:
                parts = st.tuples(*(terms(parameter.type, depth - 1) for parameter in function.parameters))
                found.append(parts.map(lambda part, name=function.name: ir.Apply(type_, name, part)))
    return st.one_of(found)


atoms: st.SearchStrategy[ir.Expr] = st.one_of(
    *(
        st.tuples(*(terms(parameter.type) for parameter in relation.parameters)).map(
            lambda part, name=relation.name: holds(name, *part)
        )
        for relation in RELATIONS
    ),
    *(st.tuples(terms(sort), terms(sort)).map(lambda part: ir.Comparison(BOOL, "=", *part)) for sort in SORTS),
)
operators: st.SearchStrategy[Literal["and", "or", "implies", "iff"]] = st.sampled_from(["and", "or", "implies", "iff"])
kinds: st.SearchStrategy[Literal["forall", "exists"]] = st.sampled_from(["forall", "exists"])
bounds = st.lists(st.sampled_from(sorted(NAMES)), min_size=1, max_size=2, unique=True).map(
    lambda names: tuple(ir.Bound(NAMES[name], name) for name in names)
)
bodies: st.SearchStrategy[ir.Expr] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(negation),
        st.tuples(operators, inner, inner).map(lambda part: ir.Connective(BOOL, *part)),
        st.tuples(inner, inner, inner).map(lambda part: ir.Conditional(BOOL, *part)),
        st.tuples(kinds, bounds, inner).map(lambda part: ir.Quantified(BOOL, *part)),
        st.tuples(kinds, bounds, inner).map(lambda part: ir.Quantified(BOOL, *part)),
    ),
    max_leaves=4,
)


def quantified(body: ir.Expr, prefix: list[tuple[Literal["forall", "exists"], tuple[ir.Bound, ...]]]) -> ir.Expr:
    for kind, own in prefix:
        body = ir.Quantified(BOOL, kind, own, body)
    return body


prefixes = st.lists(st.tuples(kinds, bounds), max_size=4)
formulas: st.SearchStrategy[ir.Expr] = st.builds(quantified, bodies, prefixes)


def obligation_of(hypotheses: list[ir.Expr], goal: ir.Expr) -> Obligation:
    free: dict[str, Type] = {}
    for body in (*hypotheses, goal):
        free |= free_locals(body)
    named = tuple(ir.NamedFormula(f"h{number}", body) for number, body in enumerate(hypotheses))
    constants = tuple(ir.Variable(name, type_) for name, type_ in free.items())
    return Obligation("random", SIGNATURE, named, ir.NamedFormula("goal", goal), constants)


obligations = st.tuples(st.lists(formulas, min_size=1, max_size=2), formulas).map(lambda part: obligation_of(*part))

# --- Skolem terms, by the definition -----------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A variable if `variable`, else a function of terms."""

    name: str
    sort: str
    arguments: tuple[Term, ...] = ()
    variable: bool = False

    def variables(self) -> tuple[Term, ...]:
        return (self,) if self.variable else tuple(dict.fromkeys(v for a in self.arguments for v in a.variables()))

    def subterms(self) -> Iterator[Term]:
        for argument in self.arguments:
            yield from argument.subterms()
        yield self

    def at(self, values: Mapping[Term, Term]) -> Term:
        if self.variable:
            return values[self]
        return Term(self.name, self.sort, tuple(argument.at(values) for argument in self.arguments))

    @property
    def depth(self) -> int:
        return 1 + max((argument.depth for argument in self.arguments), default=0)


Scope: TypeAlias = Mapping[str, Term]


@dataclass
class Skolemized:
    """The terms of the negated obligation, after each existential variable has become a function."""

    terms: dict[Term, None] = field(default_factory=dict)
    fresh: Iterator[int] = field(default_factory=count)

    def formula(self, expr: ir.Expr, positive: bool, scope: Scope) -> None:
        match expr:
            case ir.Not():
                self.formula(expr.operand, not positive, scope)
            case ir.Connective(operator="iff", left=left, right=right):
                for part, sign in product((left, right), (True, False)):
                    self.formula(part, sign, scope)
            case ir.Connective():
                self.formula(expr.left, positive if expr.operator != "implies" else not positive, scope)
                self.formula(expr.right, positive, scope)
            case ir.Conditional():  # (c implies a) and (not c implies b)
                for part, sign in ((expr.condition, True), (expr.condition, False), (expr.then, positive)):
                    self.formula(part, sign, scope)
                self.formula(expr.otherwise, positive, scope)
            case ir.Quantified():
                inner = dict(scope)
                around = [scope[name].variables() for name in free_locals(expr) if name in scope]
                over = tuple(dict.fromkeys(variable for variables in around for variable in variables))
                for bound in expr.variables:
                    number = next(self.fresh)
                    if (expr.kind == "forall") == positive:
                        inner[bound.name] = Term(f"x{number}", str(bound.type), variable=True)
                    else:
                        inner[bound.name] = Term(f"sk{number}", str(bound.type), over)
                self.formula(expr.body, positive, inner)
            case ir.Apply():
                for argument in expr.arguments:
                    self.term(argument, scope)
            case ir.Comparison():
                self.term(expr.left, scope)
                self.term(expr.right, scope)

    def term(self, expr: ir.Expr, scope: Scope) -> None:
        for part in self.translated(expr, scope).subterms():
            if not part.variable:
                self.terms[part] = None

    def translated(self, expr: ir.Expr, scope: Scope) -> Term:
        if isinstance(expr, ir.Local):
            return scope.get(expr.name, Term(expr.name, str(expr.type)))
        assert isinstance(expr, ir.Apply)
        return Term(expr.symbol, str(expr.type), tuple(self.translated(each, scope) for each in expr.arguments))


def ground_terms(obligation: Obligation, widest: int) -> Mapping[str, set[Term]] | None:
    """The ground terms of each sort, closed under the terms of the obligation; None where they go on for ever.

    Of a sort only the deepest terms, so many as `widest`, are put into other terms.
    """
    found = Skolemized()
    for hypothesis in obligation.hypotheses:
        found.formula(hypothesis.body, True, {})
    found.formula(obligation.goal.body, False, {})
    ground: dict[str, set[Term]] = {str(sort): set() for sort in SORTS}
    for term in found.terms:
        if not term.variables():
            ground[term.sort].add(term)
    for sort, own in ground.items():
        if not own:
            own.add(Term(f"some {sort}", sort))
    deepest_of_all = max((term.depth for term in found.terms), default=1)
    while True:
        used = {sort: sorted(own, key=lambda term: (-term.depth, repr(term)))[:widest] for sort, own in ground.items()}
        new = set()
        for term in found.terms:
            variables = term.variables()
            for values in product(*(used[variable.sort] for variable in variables)):
                new.add(term.at(dict(zip(variables, values, strict=True))))
        if all(term in ground[term.sort] for term in new):
            return ground
        for term in new:
            ground[term.sort].add(term)
            if term.depth > (len(SORTS) + 2) * (deepest_of_all + 1):
                return None


@settings(max_examples=400, deadline=None)
@given(obligations)
def test_the_graph_has_a_cycle_iff_ground_terms_go_on_for_ever(obligation: Obligation) -> None:
    fragment = fragment_of(obligation)
    assert fragment.within is (ground_terms(obligation, 2) is not None)
    for cycle in fragment.cycles:
        ends = [edge.ends for edge in cycle.edges]
        assert [target for _, target in ends] == [source for source, _ in (*ends[1:], ends[0])]
    blamed = {obligation.hypotheses[number].name for number in fragment.blamed}
    named = {edge.place.formula for cycle in fragment.cycles for edge in cycle.edges}
    assert named <= blamed | {"goal"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(obligation=obligations)
def test_within_the_fragment_countermodels_are_no_larger_than_the_ground_terms(
    pool: SolverPool, obligation: Obligation
) -> None:
    """A solver answers; and where it says that there is a countermodel, there is one of that size, else none."""
    assume(fragment_of(obligation).within)
    ground = ground_terms(obligation, 1_000)
    assert ground is not None
    assume(all(len(own) <= 3 for own in ground.values()))
    answer = pool.ask(Check("z3", smt_text(obligation), 20_000, 0))
    problem = negated_obligation(obligation)
    sizes = [
        dict(zip(ground, size, strict=True)) for size in product(*(range(1, len(own) + 1) for own in ground.values()))
    ]
    found = find_model(pool, problem, timeout_ms=20_000, seed=0, sizes=sizes, least=False)
    assert not found.unknown
    assert answer.status == ("unsat" if found.model is None else "sat")


# --- examples ----------------------------------------------------------------------------------


def theorem_fragment(specify: Specify, *stated: str, goal: str = "exists a. marked(a)") -> Fragment:
    """Of a theorem with these axioms."""
    axioms = "\n".join(f"  axiom a{number}: {each}" for number, each in enumerate(stated))
    specification = specify(
        "theory some:\n  sort process, message\n  sort time ordered\n  function src: message to process\n"
        "  function clock: message to time\n  function upper: process to process\n"
        "  relation marked: message\n  relation at: message, process\n"
        f"{axioms}\n  property goal: {goal}\ntheorem it in some:\n  prove goal\n"
    )
    (obligation,) = theorem_scheme(specification.theorems[0]).obligations
    return fragment_of(obligation)


def test_a_function_and_an_alternation_close_a_cycle(specify: Specify) -> None:
    fragment = theorem_fragment(
        specify, "forall p. exists m. at(m, p)", "forall m. at(m, src(m))", "forall m. marked(m)"
    )
    (reason,) = fragment.reasons
    assert reason == (
        "`forall p: process. exists m: message` in a0 (line 9) and function `src` (message -> process) close a cycle"
    ) or reason == (
        "function `src` (message -> process) and `forall p: process. exists m: message` in a0 (line 9) close a cycle"
    )
    assert fragment.blamed == (0, 1)
    assert not fragment.has_numbers


def test_hypotheses_that_only_apply_a_function_are_blamed_last(specify: Specify) -> None:
    fragment = theorem_fragment(specify, "forall m. at(m, src(m))", "forall p. exists m. at(m, p)")
    assert fragment.blamed == (1, 0)


def test_one_direction_is_within(specify: Specify) -> None:
    assert theorem_fragment(specify, "forall m. exists p. at(m, p)", "forall m. at(m, src(m))").within
    assert theorem_fragment(specify, "forall a, b. clock(a) < clock(b) or clock(b) < clock(a) or a = b").within


def test_the_polarity_decides(specify: Specify) -> None:
    """In the goal, and to the left of `implies`, quantifiers turn round; `iff` has both."""
    assert theorem_fragment(specify, goal="forall m. exists n. at(n, src(m))").within
    turned = theorem_fragment(specify, goal="exists m: message. forall n: message. n = m")
    assert turned.reasons == (
        "`exists m: message. forall n: message` under negation in the goal goal (line 10) closes a cycle",
    )
    assert not theorem_fragment(specify, "forall m. (forall n: message. n = m) implies marked(m)").within
    assert theorem_fragment(specify, "forall m. (exists n: message. not (n = m)) implies marked(m)").within
    assert not theorem_fragment(specify, "forall m. marked(m) iff (exists n: message. not (n = m))").within


def test_a_function_of_one_sort_counts_only_where_a_variable_goes_into_it(specify: Specify) -> None:
    (reason,) = theorem_fragment(specify, "forall p. not (upper(p) = p)").reasons
    assert reason == "function `upper` (process -> process) closes a cycle"
    assert theorem_fragment(specify, "exists p. not (upper(upper(p)) = p)").within


def test_an_existential_variable_depends_on_what_it_speaks_of(specify: Specify) -> None:
    assert theorem_fragment(specify, "forall m. marked(m) or (exists n. marked(n))").within


MACHINE = """machine numbered:
  function seen(p: process): nat
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
    forall p: seen(p) := if p = dst(m) then seen(p) + 1 else seen(p)
  invariant own: {invariant}
"""


def machine_fragment(specify: Specify, invariant: str) -> Fragment:
    """Of the obligation that `deliver` keeps the invariant."""
    (machine,) = specify(MACHINE.format(invariant=invariant)).machines
    own = conjuncts(machine)
    goal = next(each for each in own if each.origin == "invariant")
    return fragment_of(preservations(machine, (goal,), own)[-1].obligation)


def test_numbers_are_within_unless_all_of_them_are_meant(specify: Specify) -> None:
    sums = machine_fragment(specify, "forall p: process, q: process. seen(p) + seen(q) <= 2")
    assert sums.within and sums.has_numbers
    (reason,) = machine_fragment(specify, "forall p: process, n: nat. seen(p) <= n").reasons[:1]
    assert reason == "`forall n: nat` in own (line 7) ranges over all numbers"
    some = machine_fragment(specify, "forall p: process. exists n: nat. seen(p) <= n")
    assert not some.within  # as the goal it is negated
    assert [each.what for each in some.departures] == ["exists n: nat"]


def test_counts_are_outside(specify: Specify) -> None:
    fragment = machine_fragment(specify, "forall p. (count m. delivered(m) and dst(m) = p) = seen(p)")
    assert {str(each) for each in fragment.departures} == {
        "`count m. delivered(m) and dst(m) = p` in own (line 7) is known to solvers by some facts only",
    }


def test_products_are_outside() -> None:
    n = ir.Local(NAT, "n")
    body = ir.Comparison(BOOL, "=", ir.Arithmetic(NAT, "*", n, n), ir.Literal_(NAT, 2))
    constants = (ir.Variable("n", NAT),)
    fragment = fragment_of(Obligation("root", SIGNATURE, (), ir.NamedFormula("goal", body), constants))
    assert fragment.reasons == ("`n * n` in the goal goal is a product",)
