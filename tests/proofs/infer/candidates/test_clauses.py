"""Clauses that say more say more; that arguments determine another one is what a table says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

from tests.proofs.machine.against_execution.drawn_structures import arbitrary

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS, Sort
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.clauses import Clause, clause_of, generalized, of_what_is_possible
from thence.proofs.infer.candidates.shapes import DETERMINED_OVER, determined, excluding, including, seen
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.infer.search.goals import about_states, hidden
from thence.proofs.logic.formula import local
from thence.proofs.logic.structure import Structure, evaluate
from thence.proofs.machine.transitions import symbols

Specify = Callable[[str], ir.Specification]

VOTES = """
machine votes:
  delivery off
  sort node, term
  relation vote(n: node, t: term, c: node)
  relation knows(n: node, m: node)
  transition give(n: node, t: term, c: node):
    vote(n, t, c) := true
    knows(c, n) := true
  invariant one: forall n, t, c, d. vote(n, t, c) and vote(n, t, d) implies c = d
"""

UNIVERSE = {"node": 2, "term": 2}


def states(machine: ir.Machine, number: int) -> Iterator[Structure]:
    chance = Random(5)
    for _ in range(number):
        state = arbitrary(machine, dict(UNIVERSE), chance)
        for name, table in state.tables.items():  # few facts, so that something is determined
            state.tables[name].update({key: bool(value) and chance.random() < 0.5 for key, value in table.items()})
        yield state


def test_that_arguments_determine_another_is_what_the_table_says(specify: Specify) -> None:
    (machine,) = specify(VOTES).machines
    clauses = list(determined(symbols(machine), {"n"}))
    assert machine.invariants[0].body not in {clause.formula for clause in clauses}  # the names are not taken
    assert all(len(clause.variables) <= DETERMINED_OVER for clause in clauses)
    # of `vote` two or all but one of the arguments are free, of `knows` one or two
    assert len({clause.formula for clause in clauses}) == len(clauses) == 3 + 6 + 2 + 2
    true = false = 0
    for state in states(machine, 60):
        for clause in clauses:
            (one, _), (other, _), (same, _) = clause.literals
            assert isinstance(one, ir.Apply) and isinstance(other, ir.Apply) and isinstance(same, ir.Comparison)
            fixed = [
                at for at, pair in enumerate(zip(one.arguments, other.arguments, strict=True)) if len({*pair}) == 1
            ]
            last = one.arguments.index(same.left)
            assert last not in fixed and other.arguments[last] == same.right
            values: dict[tuple[int, ...], set[int]] = {}
            for key, holds in state.tables[one.symbol].items():
                if holds:
                    values.setdefault(tuple(key[at] for at in fixed), set()).add(key[last])
            said = all(len(each) == 1 for each in values.values())
            assert bool(evaluate(clause.formula, state, {})) == said
            true, false = true + said, false + (not said)
    assert true > 20 and false > 20


def test_that_relations_exclude_each_other_is_what_the_tables_say(specify: Specify) -> None:
    (machine,) = specify(VOTES).machines
    clauses = list(excluding(symbols(machine), {"n"}))
    # one argument of `knows` is one of the two nodes of `vote`; with both there are too few variables
    assert len({clause.formula for clause in clauses}) == len(clauses) == 4
    true = false = 0
    for state in states(machine, 60):
        for clause in clauses:
            (one, _), (other, _) = clause.literals
            assert isinstance(one, ir.Apply) and isinstance(other, ir.Apply) and len(clause.variables) == 4
            (shared,) = [
                pair for pair in product(range(3), range(2)) if one.arguments[pair[0]] == other.arguments[pair[1]]
            ]
            rows = [[key for key, holds in state.tables[each.symbol].items() if holds] for each in (one, other)]
            said = all(key[shared[0]] != row[shared[1]] for key in rows[0] for row in rows[1])
            assert bool(evaluate(clause.formula, state, {})) == said
            true, false = true + said, false + (not said)
    assert true > 10 and false > 20


OPENED = """
machine opened:
  delivery off
  sort node
  sort term ordered
  relation known(n: term)
  relation asked(h: node, g: node, n: term)
  relation opened(h: node, g: node, n: term, m: term)
  transition ask(h: node, g: node, n: term):
    asked(h, g, n) := true
    known(n) := true
  transition open(h: node, g: node, n: term, m: term):
    opened(h, g, n, m) := true
  invariant told: forall h, g, n, m. opened(h, g, n, m) implies known(n)
"""


def test_that_a_relation_includes_others_is_what_the_tables_say(specify: Specify) -> None:
    (machine,) = specify(OPENED).machines
    clauses = list(including(symbols(machine), machine.ordered, {"h"}))
    # `opened` only of what is `asked` (two orders of hosts, two numbers), of what is `known`, or in order of numbers
    assert len({clause.formula for clause in clauses}) == len(clauses) == 2 * 2 + 2 + 2
    assert list(including(symbols(machine), (), {"h"})) == clauses[:-2]
    true = false = 0
    for state in states(machine, 60):
        rows = [key for key, holds in state.tables["opened"].items() if holds]
        for clause in clauses:
            (one, _), (other, _) = clause.literals
            assert isinstance(one, ir.Apply)
            if isinstance(other, ir.Apply):
                places = [one.arguments.index(each) for each in other.arguments]
                said = all(state.tables[other.symbol][tuple(row[at] for at in places)] for row in rows)
            else:
                assert isinstance(other, ir.Comparison)
                low, high = (one.arguments.index(each) for each in (other.left, other.right))
                said = all(row[low] < row[high] for row in rows)
            assert bool(evaluate(clause.formula, state, {})) == said
            true, false = true + said, false + (not said)
    assert false > 20, true


MAIL = """
machine mail:
  relation box(p: process, m: message)
  relation flag(p: process)
  transition causal_send(m):
    forall p: box(p, m) := p = dst(m)
  transition deliver(m):
    require sent(m) and not delivered(m)
    forall p: flag(p) := p = dst(m)
  prove fifo
"""


def test_messages_are_not_said_to_be_the_same(specify: Specify) -> None:
    """In samples of three messages, a relation may never have two."""
    (machine,) = specify(MAIL).machines
    own = [each for each in symbols(machine) if each.name in ("box", "flag")]
    said = {shown(clause) for clause in determined(own, set())}
    assert said == {"flag(p) flag(q) p = q", "box(p, a) box(q, a) p = q"}
    assert not list(excluding(own, set()))


def test_nothing_is_said_more_generally_of_messages() -> None:
    a, b = ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)
    p, q = ir.Variable("p", PROCESS), ir.Variable("q", PROCESS)
    for one, other in ((a, b), (p, q)):
        relation = ir.Apply(BOOL, "r", (local(one), local(one)))
        clause = Clause((one, other), ((relation, False), (ir.Apply(BOOL, "s", (local(other),)), True)))
        assert bool(list(generalized(clause, set()))) == (one is p)


def shown(clause: Clause) -> str:
    return " ".join(show_expression(atom) for atom, _ in clause.literals)


def test_different_elements_of_a_sort_belong_together_by_their_difference() -> None:
    n, m, t = (ir.Variable(*each) for each in (("n", Sort("node")), ("m", Sort("node")), ("t", Sort("term"))))

    def knows(one: ir.Variable, other: ir.Variable) -> tuple[ir.Expr, bool]:
        assert {one.type, other.type} == {Sort("node")}
        return ir.Apply(BOOL, "knows", (local(one), local(other))), False

    vote = ir.Apply(BOOL, "vote", (local(n), local(t), local(n))), False
    alone = ir.Apply(BOOL, "vote", (local(n), local(t), local(n))), True
    apart = Clause((n, m), (knows(n, n), knows(m, m)))
    assert not apart.connected and apart.connected_by_difference
    assert not replace(apart, apart=False).connected_by_difference
    joined = Clause((n, m), (knows(n, m), knows(m, m)))
    assert joined.connected and joined.connected_by_difference
    other_sort = ir.Comparison(BOOL, "=", local(t), local(t)), True
    assert not Clause((n, t), (knows(n, n), other_sort)).connected_by_difference
    assert Clause((n, t), (vote, alone)).connected_by_difference


def test_what_is_said_generally_says_more(specify: Specify) -> None:
    (machine,) = specify(VOTES).machines
    vocabulary = vocabulary_of(machine, [])
    choices = [each for number in (2, 3) for each in templates(vocabulary, sorts_of(machine), number)]
    chance = Random(6)
    drawn: list[tuple[Clause, Clause]] = []
    while len(drawn) < 200:
        template = chance.choice(choices)
        literals = [(atom, chance.random() < 0.4) for atom in chance.sample(template.atoms, 2)]
        clause = clause_of(template, literals)
        drawn += [(clause, more) for more in generalized(clause, vocabulary.names)]
    stronger = 0
    for state in states(machine, 40):
        for clause, more in drawn:
            less = bool(evaluate(clause.formula, state, {}))
            assert less or not evaluate(more.formula, state, {})
            stronger += less and not evaluate(more.formula, state, {})
    assert stronger > 100
    assert {len(more.variables) - len(clause.variables) for clause, more in drawn} == {0, 1}


def test_a_vote_for_oneself_becomes_a_vote_of_anybody() -> None:
    """Of `not (vote(n, t, n) and vote(m, t, m) and n != m)`."""
    node, term = Sort("node"), Sort("term")
    n, m, t = (ir.Variable(name, sort) for name, sort in (("n", node), ("n2", node), ("t", term)))
    own = [
        ir.Apply(ir.types.BOOL, "vote", (ir.Local(node, each.name), ir.Local(term, "t"), ir.Local(node, each.name)))
        for each in (n, m)
    ]
    clause = Clause((n, m, t), ((own[0], False), (own[1], False)))
    said = list(generalized(clause, ()))
    third = ir.Local(node, "n3")
    anybody = replace(own[0], arguments=(third, *own[0].arguments[1:]))
    same = ir.Comparison(ir.types.BOOL, "=", ir.Local(node, "n"), ir.Local(node, "n2"))
    assert any(each.literals == ((anybody, False), (own[1], False), (same, True)) for each in said)
    assert said[-1] == replace(clause, apart=False)


def test_what_is_true_of_all_that_is_decided_may_be_true_of_all_that_can_be() -> None:
    """For any names, and not of what is affirmed."""
    value, bool_ = Sort("value"), ir.types.BOOL
    v, w = (ir.Local(value, name) for name in ("v", "w"))
    decided, lost = (ir.Apply(bool_, name, (v,)) for name in ("decided", "lost"))
    of_w, asked = ir.Apply(bool_, "decided", (w,)), ir.Apply(bool_, "asked", (v,))
    variables = (ir.Variable("v", value), ir.Variable("w", value))
    clause = Clause(variables, ((of_w, False), (decided, True), (asked, False)))
    (more,) = of_what_is_possible(clause, [(decided, lost)])
    assert set(more.literals) == {(ir.Apply(bool_, "lost", (w,)), True), (decided, True), (asked, False)}
    assert more.variables == variables
    all_gone = of_what_is_possible(Clause(variables[:1], ((decided, False), (asked, False))), [(asked, decided)])
    assert [set(each.literals) for each in all_gone] == [{(decided, False), (decided, True)}]


REPORTED = "forall n, b, c, v, d, w. reported(n, b, c, v) and voted(n, d, w) and d < b implies d <= c"


def paxos() -> ir.Machine:
    machine = specification(str(library()[0].parent / "benchmarks" / "paxos.thence")).machines[0]
    return about_states(hidden(machine, [each.name for each in machine.invariants if each.name != "agreement"]))


def test_the_latest_vote_that_is_reported_stays_the_latest() -> None:
    assert REPORTED in [show_expression(each.formula) for each in seen(paxos())]


def test_who_promises_has_not_voted_or_says_what() -> None:
    """Two transitions promise: one has seen no vote, the other one reports the latest. Without a report nothing is
    said of what another one may have seen."""
    machine = paxos()
    said = "promised(n, b) and voted(n, c, v) and c < b implies (exists c_1, v_1. reported(n, b, c_1, v_1))"
    assert f"forall n, b, c, v. {said}" in [show_expression(each.formula) for each in seen(machine)]
    silent = [
        replace(each, updates=tuple(update for update in each.updates if update.symbol != "reported"))
        for each in machine.transitions
    ]
    found = [show_expression(each.formula) for each in seen(replace(machine, transitions=tuple(silent)))]
    assert found and not any("exists" in each for each in found)


def test_nothing_is_seen_where_nothing_is_closed() -> None:
    """Nodes that go on voting in earlier ballots close nothing."""
    machine = paxos()
    open_ = [
        replace(each, updates=tuple(update for update in each.updates if update.symbol != "left"))
        for each in machine.transitions
    ]
    assert not list(seen(replace(machine, transitions=tuple(open_))))
