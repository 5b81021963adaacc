"""Random formulas: what solvers are given says what the evaluator says, and substitution is evaluation elsewhere."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.proofs.logic.drawn_formulas import SYMBOLS, TIME, formulas, structures
from tests.proofs.machine.closed_smt import closed_text

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS
from thence.proofs.logic.formula import substitute
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import Structure, evaluate

CONSTANTS = (ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE), ir.Variable("p", PROCESS))
SIGNATURE = Signature((PROCESS, MESSAGE, TIME), ("time",), SYMBOLS)
elements = st.fixed_dictionaries({"m": st.integers(0, 1), "x": st.integers(0, 1), "p": st.integers(0, 1)})


@settings(derandomize=True, deadline=None, max_examples=120)
@given(formulas, formulas, structures(), elements)
def test_the_text_for_solvers_says_what_the_evaluator_says(
    hypothesis: ir.Expr, goal: ir.Expr, structure: Structure, environment: dict[str, int]
) -> None:
    import z3

    known = ir.NamedFormula("known", hypothesis)
    obligation = Obligation("drawn", SIGNATURE, (known,), ir.NamedFormula("goal", goal), CONSTANTS)
    solver = z3.Solver()
    solver.from_string(closed_text(obligation, structure, environment))
    lost = evaluate(hypothesis, structure, environment) and not evaluate(goal, structure, environment)
    assert str(solver.check()) == ("sat" if lost else "unsat")


messages: st.SearchStrategy[ir.Expr] = st.recursive(
    st.sampled_from([ir.Local(MESSAGE, "m"), ir.Local(MESSAGE, "x")]),
    lambda inner: inner.map(lambda of: ir.Apply(MESSAGE, "next", (of,))),
    max_leaves=2,
)
processes = st.one_of(
    st.just(ir.Local(PROCESS, "p")), messages.map(lambda message: ir.Apply(PROCESS, "src", (message,)))
)


@settings(derandomize=True, deadline=None, max_examples=500)
@given(formulas, messages, messages, processes, structures(), elements)
def test_substitution_is_evaluation_with_other_values(
    formula: ir.Expr, m: ir.Expr, x: ir.Expr, p: ir.Expr, structure: Structure, environment: dict[str, int]
) -> None:
    values = {"m": m, "x": x, "p": p}
    others = {name: evaluate(term, structure, environment) for name, term in values.items()}
    assert evaluate(substitute(formula, values), structure, environment) == evaluate(formula, structure, others)
