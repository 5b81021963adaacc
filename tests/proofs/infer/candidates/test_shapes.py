"""Clauses that the text suggests: what was heard was said, and what is marked excludes what else could be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random

from tests.proofs.machine.against_execution.drawn_structures import arbitrary

from thence.dsl import ir
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import Clause
from thence.proofs.infer.candidates.rows import rows_of
from thence.proofs.infer.candidates.shapes import determined, determined_of, done_together, excluded, told
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.logic.structure import evaluate
from thence.proofs.machine.transitions import symbols
from thence.proofs.prove import prove_specification
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

HEARING = """
machine hearing:
  delivery off
  sort node, value
  relation voted(n: node, v: value)
  relation heard(n: node, m: node, v: value)
  transition vote(n: node, v: value):
    voted(n, v) := true
  transition hear(n: node, m: node, v: value):
    require voted(m, v)
    heard(n, m, v) := true
  transition hear_all(n: node, m: node):
    forall v: heard(n, m, v) := heard(n, m, v) or voted(m, v)
  invariant said: forall n, m, v. heard(n, m, v) implies voted(m, v)
"""

WITHDRAWN = """  transition withdraw(n: node, v: value):
    voted(n, v) := false
  invariant said:"""

FAST = """
machine fast:
  delivery off
  sort node, value
  sort ballot ordered
  constant relation fast(b: ballot)
  constant relation honest(n: node)
  relation left(n: node, b: ballot)
  relation proposed(b: ballot, v: value)
  relation voted(n: node, b: ballot, v: value)
  relation decided(b: ballot, v: value)
  transition leave(n: node, b: ballot):
    left(n, b) := true
  transition propose(b: ballot, v: value):
    proposed(b, v) := true
  transition vote(n: node, b: ballot, v: value):
    require not left(n, b)
    voted(n, b, v) := true
  transition decide(b: ballot, v: value):
    require fast(b) and forall n. voted(n, b, v)
    decided(b, v) := true
  invariant agreement: forall b, v, w. decided(b, v) and decided(b, w) implies v = w
"""


def shown(clauses: Iterable[Clause]) -> set[str]:
    return {show_expression(each.formula) for each in clauses}


def test_what_was_heard_was_said(specify: Specify) -> None:
    """It is inductive by itself. Where a vote can be withdrawn, or is not needed, nothing is said."""
    read = specify(HEARING)
    (clause,) = told(read.machines[0])
    assert show_expression(clause.formula) == "forall n, n2, v. heard(n, n2, v) implies voted(n2, v)"
    assert [each.verdict for each in prove_specification(read) if each.name == "said"] == [Verdict.PROVED]
    for other in (
        HEARING.replace("  invariant said:", WITHDRAWN),
        HEARING.replace("    require voted(m, v)\n", ""),
        HEARING.replace("heard(n, m, v) or voted(m, v)", "heard(n, m, v) or v = v"),
        HEARING.replace("heard(n, m, v) or voted(m, v)", "voted(m, v)"),
    ):
        assert not list(told(specify(other).machines[0]))


def test_what_is_proposed_excludes_what_else_could_be_decided(specify: Specify) -> None:
    """It is said of smaller ballots and of other values, and only of ballots in which anything can be decided."""
    (machine,) = specify(FAST).machines
    found = shown(excluded(machine))
    gone = "(exists n. not voted(n, b2, v2) and left(n, b2))"
    assert f"forall b, v, b2, v2. proposed(b, v) and b2 < b and fast(b2) implies v = v2 or {gone}" in found
    assert all("fast(" in each and each.count("fast(b)") < 2 for each in found)
    assert any("honest(n)" in each for each in found) and not any("b < b2" in each for each in found)


def test_nothing_is_excluded_where_everything_stays_possible(specify: Specify) -> None:
    assert not list(excluded(specify(FAST.replace("    require not left(n, b)\n", "")).machines[0]))


def test_what_is_known_of_an_element_makes_clauses_of_three_literals(specify: Specify) -> None:
    """They are true in all states, and none of them has a part that is."""
    (machine,) = specify(FAST).machines
    (template,) = (
        each
        for each in templates(vocabulary_of(machine, []), sorts_of(machine), 3)
        if {str(variable.type) for variable in each.variables} == {"node", "ballot", "value"}
    )
    chance = Random(2)
    states = [arbitrary(machine, {"node": 2, "value": 2, "ballot": 2}, chance) for _ in range(4)]
    rows = rows_of(template)
    for state in states:
        rows.learn(rows.shown_in(state, {}))
    found = list(rows.clauses_of_known(["honest", "fast"], ["left", "proposed", "voted", "decided"]))
    assert found
    for clause in found:
        assert len(clause.literals) == 3 and all(evaluate(clause.formula, state, {}) for state in states)
        for few in combinations(clause.literals, 2):
            weaker = Clause(clause.variables, few).formula
            assert not all(evaluate(weaker, state, {}) for state in states)


def test_what_an_honest_node_says_is_determined(specify: Specify) -> None:
    (machine,) = specify(FAST).machines
    plain = list(determined(symbols(machine), ()))
    found = shown(determined_of(machine, plain))
    assert "forall n, b, v, v2. honest(n) and voted(n, b, v) and voted(n, b, v2) implies v = v2" in found
    assert all("honest(n)" in each or "fast(b)" in each for each in found)
    assert not any("honest(n)" in each and "voted(n2" in each and "voted(n," not in each for each in found)


def test_a_mark_without_a_value_excludes_all_values_below(specify: Specify) -> None:
    """Only below: that all other elements are lost, whichever they are, nothing suggests."""
    free = FAST.replace("  relation decided", "  relation free(b: ballot)\n  relation decided").replace(
        "  transition vote", "  transition open(b: ballot):\n    free(b) := true\n  transition vote"
    )
    found = shown(excluded(specify(free).machines[0]))
    gone = "(exists n. not voted(n, b2, v) and left(n, b2))"
    assert f"forall b, b2, v. free(b) and b2 < b and fast(b2) implies {gone}" in found
    found = shown(excluded(specify(free.replace("ballot ordered", "ballot")).machines[0]))
    assert found and not any("free(b)" in each for each in found)


def test_who_has_helped_and_marks_something_else_knows_that_it_is_lost(specify: Specify) -> None:
    found = shown(excluded(specify(FAST).machines[0]))
    gone = "(exists n_1. not voted(n_1, b2, v2) and left(n_1, b2))"
    helped = "voted(n, b, v) and voted(n, b2, v2) and b2 < b and fast(b2)"
    assert f"forall n, b, v, b2, v2. {helped} implies v = v2 or {gone}" in found


TOGETHER = """
machine together:
  delivery off
  sort node, value
  sort ballot ordered
  relation left(n: node, b: ballot)
  relation busy(n: node)
  relation voted(n: node, b: ballot, v: value)
  transition vote(n: node, b: ballot, v: value):
    require not left(n, b)
    voted(n, b, v) := true
    busy(n) := true
    forall c: left(n, c) := left(n, c) or c < b
  transition rest(n: node):
    busy(n) := false
  invariant closed: forall n, b, c, v. voted(n, b, v) and c < b implies left(n, c)
"""


def test_what_is_marked_is_not_marked_alone(specify: Specify) -> None:
    """It is inductive by itself. What is taken back is not spoken of, nor what takes two variables only."""
    read = specify(TOGETHER)
    assert shown(done_together(read.machines[0])) == {"forall n, b, v, c. voted(n, b, v) and c < b implies left(n, c)"}
    assert [each.verdict for each in prove_specification(read) if each.name == "closed"] == [Verdict.PROVED]
    for other in (
        TOGETHER.replace("busy(n) := false", "busy(n) := false\n    forall b: left(n, b) := false"),
        TOGETHER.replace("busy(n) := false", "busy(n) := false\n    forall b, v: voted(n, b, v) := false"),
        TOGETHER.replace("left(n, c) or c < b", "c < b"),
    ):
        assert not list(done_together(specify(other).machines[0]))
