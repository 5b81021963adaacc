"""Bounded search: shortest runs, replayed; every initial state and destination choice is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from tests.proofs.machine.against_execution.drawn_machines import BY_HAND, drawn_machine
from tests.proofs.machine.against_execution.drawn_structures import arbitrary
from tests.proofs.machine.against_execution.executed import began, stepped, value

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, PROCESS
from thence.proofs.logic.formula import Unsupported, exists, forall, implies, local
from thence.proofs.logic.ground import Grounding
from thence.proofs.logic.structure import CrossCheckError, Structure, elements
from thence.proofs.machine.counterexample import run_counterexample
from thence.proofs.machine.goals import Falsification, Firing, TransitionRun, reaching
from thence.proofs.machine.prover import statement_formula
from thence.proofs.machine.reachability import SearchScope, search
from thence.proofs.machine.transitions import actions, symbols
from thence.proofs.machine.universe import universe_of
from thence.proofs.machine.unrolling import Unrolling, a_step_later
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.events import Deliver, Send

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

ANARCHY = """
machine anarchy:
  transition causal_send(m):
    pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove causal
"""

FIFO = "require forall a. before(a, m) and dst(a) = dst(m) implies delivered(a)"
TRIANGLE = ANARCHY.replace("not delivered(m)\n", f"not delivered(m)\n    {FIFO}\n")


def test_the_shortest_violation_without_order_is_two_sends_and_a_delivery(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(ANARCHY).machines
    goals = {"causal": Falsification(statement_formula(machine, "causal"))}
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals)
    assert [action.name for action, _ in found.runs["causal"].steps] == ["causal_send", "causal_send", "deliver"]


def test_the_triangle_takes_three_messages(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(TRIANGLE).machines
    goals = {name: Falsification(statement_formula(machine, name)) for name in ("causal", "fifo")}
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals)
    assert found.runs.keys() == {"causal"}
    run = found.runs["causal"]
    assert len(run.steps) == 5
    shown = run_counterexample(machine, run, statement_formula(machine, "causal"))
    assert shown.execution is not None
    kinds = [type(event) for event in shown.execution.events]
    assert kinds.count(Send) == 3 and kinds.count(Deliver) == 2
    assert shown.facts["violated"]["causal"].keys() == {"a", "b"}
    assert shown.text.count("\n") == 6


@pytest.mark.parametrize("seed", [*BY_HAND, *range(6)])
def test_steps_that_are_renamed_are_those_that_would_be_derived(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, seed: int | str
) -> None:
    """The whole text of a search: constants, assertions, choices, states, and the conditions of goals."""
    text = BY_HAND[seed] if isinstance(seed, str) else drawn_machine(seed)
    (machine,) = specify(text).machines
    size = {"process": 2, "message": 2, "key": 2, "round": 2, "place": 2, "nat": 3}
    universe = universe_of(machine, {sort: size[sort] for sort in ("process", "message", *map(str, machine.sorts))})

    def said(may_end: bool) -> tuple[object, int]:
        unrolling = Unrolling(machine, Grounding({**universe, "nat": 3}), symbols(machine), actions(machine))
        unrolling.may_end = may_end
        unrolling.start()
        conditions: list[dict[str, str]] = [{}]
        renamed = 0
        for _ in range(8):
            unrolling.advance()
            renamed += unrolling.repeats
            now: dict[str, str] = {}
            for invariant in machine.invariants:
                known = conditions[-1].get(invariant.name) if unrolling.repeats else None
                goal = Falsification(invariant)
                now[invariant.name] = unrolling.goal(goal) if known is None else a_step_later(known)
            conditions.append(now)
        grounding = unrolling.grounding
        whole = [*grounding.constants.items()], grounding.assertions, unrolling.choices, unrolling.states, conditions
        return whole, renamed

    for may_end in (False, True):
        try:
            found, renamed = said(may_end)
        except Unsupported:
            return
        with monkeypatch.context() as patched:
            patched.setattr(Unrolling, "_is_like_the_last", lambda self, begin: False)
            assert said(may_end) == (found, 0)
        assert renamed or isinstance(seed, int)


def test_a_run_that_takes_a_disabled_step_is_an_error_of_ours(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(ANARCHY).machines
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, {"go": Firing("causal_send")})
    deliver = next(action for action in actions(machine) if action.name == "deliver")
    with pytest.raises(CrossCheckError, match="deliver"):
        TransitionRun(found.runs["go"].start, ((deliver, (0,)),)).states()


@pytest.mark.parametrize(("machine", "steps"), [("mf", 4), ("hybrid_basic", 3)])
def test_a_delivery_happens(library: Library, pool: SolverPool, machine: str, steps: int) -> None:
    declared = library(machine).machines[0]
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), declared, {"deliver": Firing("deliver")})
    assert len(found.runs["deliver"].steps) == steps


def test_nothing_found_says_how_far_was_looked(library: Library, pool: SolverPool) -> None:
    (machine,) = library("mf").machines
    goals = {"causal": Falsification(statement_formula(machine, "causal"))}
    scope = SearchScope({"process": 2, "message": 2}, 6)
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals, scopes=[scope])
    assert not found.runs and not found.unknown
    assert str(found.scope) == "up to 6 steps among 2 processes, 2 messages"


def test_a_second_delivery_violates_at_most_once(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(ANARCHY.replace(" and not delivered(m)", "")).machines
    goals = {"at_most_once": Falsification(statement_formula(machine, "at_most_once"))}
    run = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals).runs["at_most_once"]
    assert [action.name for action, _ in run.steps] == ["causal_send", "deliver", "deliver"]


NUMBERED = """
machine numbered:
  function posted(p: process): nat
  function latest(p: process): message
  transition causal_send(m):
    forall p: posted(p) := if p = src(m) then posted(p) + 1 else posted(p)
    forall p: latest(p) := if p = src(m) then m else latest(p)
  transition deliver(m):
    require sent(m)
  invariant small: forall p: process. posted(p) <= 1
  invariant own: forall m. sent(m) implies latest(src(m)) = m
"""


def test_numbers_and_functions_into_messages_are_followed(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(NUMBERED).machines
    goals = {name: Falsification(statement_formula(machine, name)) for name in ("small", "own")}
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals)
    assert {name: len(run.steps) for name, run in found.runs.items()} == {"small": 2, "own": 2}


def test_a_limit_on_effort_ends_a_search_in_the_same_place_every_time(library: Library, pool: SolverPool) -> None:
    machine = library("hybrid_basic").machines[0]
    goals = {action.name: Firing(action.name) for action in actions(machine)}
    scope = SearchScope({"process": 3, "message": 3}, 12)
    found = [
        search(ProofSession(pool, Options(timeout_ms=600_000)), machine, goals, scopes=[scope], effort=effort)
        for effort in (1, 4_000, 4_000, 10_000_000)
    ]
    assert not found[0].runs and all(each.unknown for each in found[:3])
    assert 0 < len(found[1].runs) < len(goals) and found[1].runs == found[2].runs
    assert found[3].runs.keys() == goals.keys() and not found[3].unknown


def test_a_quantifier_over_numbers_sees_numbers_beyond_every_window(specify: Specify, pool: SolverPool) -> None:
    """No symbol has numbers as arguments here, so no window was kept, and the solver took the guard for true."""
    (machine,) = specify(
        """
machine numbers:
  delivery off
  function at(p: process): nat
  relation bad(p: process)
  transition move(p):
    at(p) := at(p) + 3
  transition jump(p):
    require forall k: nat. k <= at(p)
    bad(p) := true
  invariant never_bad: forall p. not bad(p)
"""
    ).machines
    goals = {"jump": Firing("jump"), "far": reaching(ir.NamedFormula("far", _far()))}
    session = ProofSession(pool, Options(timeout_ms=20_000))
    searched = search(session, machine, goals)
    assert list(searched.runs) == ["far"] and not searched.unknown
    assert [len(run.steps) for run in searched.runs.values()] == [2]


def _far() -> ir.Expr:
    """Some process is at a number beyond five: `exists p. forall k: nat. k <= 5 implies k < at(p)`."""
    p, k = ir.Variable("p", PROCESS), ir.Variable("k", NAT)
    below = ir.Comparison(BOOL, "<", local(k), ir.Apply(NAT, "at", (local(p),)))
    few = ir.Comparison(BOOL, "<=", local(k), ir.Literal_(NAT, 5))
    return exists((p,), forall((k,), implies(few, below)))


# --- ordered sorts --------------------------------------------------------------------------------


ELECTION = """
machine election:
  delivery off
  sort id ordered
  constant function own(p: process): id
  relation leads(p: process)
  transition elect(p: process):
    require forall q. own(q) <= own(p)
    leads(p) := true
  invariant highest: forall p, q. leads(p) implies own(q) <= own(p)
  invariant one: forall p, q. leads(p) and leads(q) implies p = q
  invariant low: forall p, q. leads(p) implies own(p) < own(q) or p = q
"""


def test_a_run_says_the_order_of_its_elements(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(ELECTION).machines
    goals = {each.name: Falsification(each) for each in machine.invariants}
    found = search(ProofSession(pool, Options(timeout_ms=10_000)), machine, goals)
    assert found.runs.keys() == {"one", "low"}
    assert found.scope.numbers_below is None and found.scope.universe == {"process": 3, "id": 4}
    shown = run_counterexample(machine, found.runs["low"], machine.invariants[2])
    assert "given: id0 < id1, " in shown.text
    run = found.runs["low"]
    own = run.start.tables["own"]
    ((_, (leader,)),) = run.steps
    assert own[(leader,)] == max(own.values())


def walks(machine: ir.Machine, universe: dict[str, int], depth: int, chance: Random) -> Iterator[Structure]:
    """States of random runs, by the second meaning of machines."""
    for _ in range(150):
        state = began(machine, arbitrary(machine, universe, chance))
        if not all(value(axiom.body, state, {}) for axiom in machine.axioms):
            continue
        yield state
        for _ in range(depth):
            transition = chance.choice(machine.transitions)
            bounded = {**universe, "nat": 3}
            arguments = [chance.choice(elements(each.type, bounded)) for each in transition.parameters]
            after = stepped(machine, transition, arguments, state)
            if after is not None:
                state = after
                yield state


SMALL = (10, 29, 34, 37, 48, 56, 58, 62)
"""Seeds of machines with an ordered sort, without messages and without symbols over numbers."""


@pytest.mark.parametrize("seed", ["orders", *SMALL])
def test_violations_with_orders_are_found(seed: str | int, specify: Specify, pool: SolverPool) -> None:
    """What a random run of a machine violates, the search of the same universe and depth finds, too."""
    text = BY_HAND[seed] if isinstance(seed, str) else drawn_machine(seed)
    (machine,) = specify(text).machines
    assert machine.ordered
    size = {"process": 2, "message": 2, "key": 2, "round": 2}
    universe = universe_of(machine, {sort: size[sort] for sort in ("process", "message", *map(str, machine.sorts))})
    violated = {
        invariant.name: Falsification(invariant)
        for state in walks(machine, universe, 2, Random(seed))
        for invariant in machine.invariants
        if not value(invariant.body, state, {})
    }
    searched = search(
        ProofSession(pool, Options(timeout_ms=20_000)), machine, violated, scopes=(SearchScope(universe, 2),)
    )
    assert searched.unknown or violated.keys() <= {*searched.runs, *searched.unsearchable}


def test_a_search_without_elements_names_none() -> None:
    assert str(SearchScope({}, 16, 16)) == "up to 16 steps, with numbers below 16"
    assert str(SearchScope({"process": 2}, 1)) == "up to 1 step among 2 processes"
