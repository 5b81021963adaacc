"""Messages with several destinations: machines proved and refuted, pinned explorations, links, total order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.run.narrate import execution
from thence.proofs.engines import explore
from thence.proofs.logic.structure import CrossCheckError
from thence.proofs.machine.counterexample import run_counterexample
from thence.proofs.machine.goals import Falsification, Firing, Goal
from thence.proofs.machine.obligations import conjuncts, preservations
from thence.proofs.machine.prover import prove_machine, statement_formula, statements
from thence.proofs.machine.reachability import scopes_of, search
from thence.proofs.machine.transitions import initially, rigid
from thence.proofs.scopes.link import check_link
from thence.proofs.scopes.reports import confirm, explain
from thence.proofs.scopes.scopes import properties_of
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.proofs.workload_facts import workload_facts
from thence.proofs.workload_words import describe
from thence.spec.delivery_order import first_crossing
from thence.spec.events import Deliver, Send
from thence.spec.verdict import Level, Verdict

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

MACHINES = {"cbcast": "vector_clocks", "hybrid_multicast": "multicast_permits", "newtop": "lamport_order"}

COUNTS = {
    ("cbcast", "one"): (431, 1_161, 9),
    ("cbcast", "two"): (3_349, 11_617, 12),
    ("cbcast", "four"): (3_459, 13_593, 12),
    ("cbcast", "links"): (233, 640, 9),
    ("newtop", "one"): (2_137, 5_034, 16),
    ("newtop", "two"): (218, 384, 10),
    ("newtop", "three"): (1_329, 3_138, 17),
    ("newtop", "links"): (214, 395, 14),
    ("hybrid_multicast", "one"): (1_593, 4_897, 17),
    ("hybrid_multicast", "two"): (6_071, 20_585, 21),
    ("hybrid_multicast", "lost"): (2_122, 5_308, 16),
    ("hybrid_multicast", "sent_again"): (3_974, 16_185, 19),
    ("hybrid_multicast", "with_oneself"): (1_179, 3_311, 17),
    ("hybrid_multicast", "links"): (5_278, 18_144, 21),
    ("hybrid_multicast", "duplicated"): (409, 1_078, 12),
}

SHORTEST = {
    ("cbcast", "gaps_from_the_sender"): {"causal": 3, "fifo": 3},
    ("cbcast", "gaps_from_others"): {"causal": 4, "fifo": 6},
    ("cbcast", "counts_nothing"): {"delivered": 6, "causal": 4, "at_most_once": 4},
    ("cbcast", "delivers_to_itself"): {"no_creation": 1},
    ("cbcast", "ordered_for_all"): {"total_order": 6},
    ("cbcast", "any_that_was_held"): {"causal": 4, "fifo": 4},
    ("cbcast", "may_put_off"): {"delivered": 3, "nothing_held": 3},
    ("newtop", "silent"): {"delivered": 3},
    ("newtop", "clock_not_advanced"): {"delivered": 3},
    ("newtop", "others_may_be_low"): {"causal": 4, "total_order": 4},
    ("newtop", "does_not_wait"): {"total_order": 4, "causal": 4},
    ("newtop", "not_in_clock_order"): {"total_order": 6},
    ("newtop", "hands_over_twice"): {"at_most_once": 3},
    ("newtop", "no_destination_itself"): {"no_creation": 3},
    ("newtop", "sends_backwards"): {"fifo": 9},
    ("hybrid_multicast", "one_predecessor"): {"delivered": 12},
    ("hybrid_multicast", "removed_after_the_loop"): {"fault": 3},
    ("hybrid_multicast", "buffered_for_each"): {"delivered": 24},
    ("hybrid_multicast", "sent_to_nobody"): {"delivered": 8},
    ("hybrid_multicast", "multicasts_unflagged"): {"csps": 3, "causal": 4},
    ("hybrid_multicast", "repeats_unflagged"): {"csps": 5, "causal": 6},
    ("hybrid_multicast", "one_ack_is_enough"): {"csps": 5, "causal": 6},
    ("hybrid_multicast", "delivers_on_arrival"): {"fifo": 3, "causal": 3},
    ("hybrid_multicast", "delivers_again"): {"at_most_once": 4},
    ("hybrid_multicast", "delivers_to_its_own"): {"no_creation": 1},
}


def machine_of(library: Library, file: str) -> ir.Machine:
    return next(machine for machine in library(file).machines if machine.name == MACHINES[file])


# --- machines ----------------------------------------------------------------------------------


@pytest.mark.long(but=("hybrid_multicast",))
@pytest.mark.parametrize("file", MACHINES)
def test_the_machines_are_proved_by_two_solvers(library: Library, pool: SolverPool, file: str) -> None:
    machine = machine_of(library, file)
    findings, inductive = prove_machine(ProofSession(pool), machine)
    assert inductive is not None and not inductive.fallen
    assert tuple(findings) == statements(machine)
    for statement, finding in findings.items():
        assert (finding.verdict, finding.level) == (Verdict.PROVED, Level.L3), (statement, finding.text)


@pytest.mark.parametrize("file", MACHINES)
def test_the_history_of_deliveries_is_proved_with_the_machine(library: Library, file: str) -> None:
    machine = machine_of(library, file)
    names = {conjunct.name for conjunct in conjuncts(machine) if conjunct.origin == "history"}
    assert {"ghost_delivered_past", "ghost_delivery_order", "ghost_delivery_total"} <= names
    stated = preservations(machine, conjuncts(machine), conjuncts(machine))
    assert len(stated) == len(conjuncts(machine)) * (1 + len(machine.transitions))


def test_destinations_are_arbitrary_and_fixed(library: Library) -> None:
    machine = machine_of(library, "hybrid_multicast")
    assert rigid(machine) == {"src", "to"}
    going = ir.Apply(statement_formula(machine, "life").body.type, "to", ())
    assert initially(going, machine) == going
    assert rigid(machine_of(library, "newtop")) == {"src", "to", "lower"}


def test_a_run_goes_to_all_the_destinations(library: Library, pool: SolverPool) -> None:
    """The counterexample of a mutant, in small: each process that delivers is a destination of what it delivers."""
    mutant = next(mutant for mutant in library("hybrid_multicast").mutants if mutant.name == "unflagged")
    machine = mutant.mutated
    assert isinstance(machine, ir.Machine)
    goal = statement_formula(machine, "causal")
    found = search(ProofSession(pool, Options(timeout_ms=20_000)), machine, {"causal": Falsification(goal)})
    shown = run_counterexample(machine, found.runs["causal"], goal)
    assert shown.execution is not None
    sends = {event.message: event for event in shown.execution.events if isinstance(event, Send)}
    assert any(len(event.destinations) > 1 for event in sends.values())
    deliveries = [event for event in shown.execution.events if isinstance(event, Deliver)]
    assert deliveries
    assert all(event.process in sends[event.message].destinations for event in deliveries)


def test_small_groups_are_searched_first(library: Library) -> None:
    sizes = [scope.universe["process"] for scope in scopes_of(machine_of(library, "newtop"))]
    assert sizes == sorted(sizes) and sizes[0] == 2
    assert [scope.universe["process"] for scope in scopes_of(library("mf").machines[0])] == [3, 3]


NUMBERED = """
machine numbered:
  delivery multicast
  function level(p: process): nat
  transition causal_send(m): pass
  transition raise(p, n: nat):
    require level(p) < n
    level(p) := n
  transition deliver(m, p): require sent(m) and to(m, p) and not delivered(m, p)
  invariant low: forall p. level(p) < 3
  prove no_creation
"""


def test_a_number_may_be_the_argument_of_a_transition(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(NUMBERED).machines
    goals: dict[str, Goal] = {"low": Falsification(statement_formula(machine, "low")), "raise": Firing("raise")}
    found = search(ProofSession(pool, Options(timeout_ms=20_000)), machine, goals)
    assert {name: len(run.steps) for name, run in found.runs.items()} == {"low": 1, "raise": 1}
    assert "(as arguments below 4)" in str(found.scope)


def test_a_delivery_to_where_a_message_does_not_go_is_not_replayed(library: Library, pool: SolverPool) -> None:
    machine = machine_of(library, "hybrid_multicast")
    run = search(ProofSession(pool, Options(timeout_ms=20_000)), machine, {"deliver": Firing("deliver")}).runs[
        "deliver"
    ]
    assert len(run.states()) == len(run.steps) + 1
    nowhere = dict.fromkeys(run.start.tables["to"], False)
    forged = replace(run, start=run.start.with_tables({"to": nowhere}))
    with pytest.raises(CrossCheckError, match="not enabled"):
        forged.states()


# --- protocols ---------------------------------------------------------------------------------


def scope_of(specification: ir.Specification, name: str) -> ir.Workload:
    protocol = specification.protocols[0].name
    return next(scope.workload for scope in specification.scopes if (scope.name, scope.protocol) == (name, protocol))


def link_of(specification: ir.Specification) -> ir.Link:
    """Of the first protocol of the file."""
    return next(link for link in specification.links if link.protocol.name == specification.protocols[0].name)


@pytest.mark.long(but=("cbcast-one", "newtop-links", "newtop-two", "hybrid_multicast-duplicated"))
@pytest.mark.parametrize(("file", "scope"), COUNTS)
def test_pinned_counts(library: Library, file: str, scope: str) -> None:
    specification = library(file)
    protocol = specification.protocols[0]
    found = explore(protocol, scope_of(specification, scope), properties_of(protocol))
    assert found.complete
    assert found.violations == {}
    assert (found.states, found.transitions, found.depth) == COUNTS[file, scope]


@pytest.mark.parametrize("file", MACHINES)
def test_shortest_counterexamples(library: Library, file: str) -> None:
    """And each scope and refuted expectation of the file is pinned."""
    specification = library(file)
    protocol = specification.protocols[0].name
    assert {(file, scope.name) for scope in specification.scopes if scope.protocol == protocol} <= COUNTS.keys()
    lengths: dict[tuple[str, str], dict[str, int]] = {}
    for mutant in specification.mutants:
        if not isinstance(mutant.mutated, ir.Protocol):
            continue
        for expect in mutant.expects:
            assert expect.settings is not None
            for name in expect.names if expect.verdict == "refuted" else ():
                if name == "link":
                    continue
                found = explore(mutant.mutated, expect.settings, [name], stop_when_refuted=True)
                violation = found.violations[name]
                confirm(violation, execution(violation.system, violation.steps))
                lengths.setdefault((file, mutant.name), {})[name] = len(violation.steps)
    assert lengths == {known: pinned for known, pinned in SHORTEST.items() if known[0] == file}


@pytest.mark.parametrize(
    ("file", "scope"), [("cbcast", "links"), ("newtop", "two"), ("hybrid_multicast", "duplicated")]
)
def test_the_protocols_follow_their_machines(library: Library, file: str, scope: str) -> None:
    specification = library(file)
    link = link_of(specification)
    check = check_link(link, link.protocol, scope_of(specification, scope))
    assert check.complete
    assert check.broken is None


def test_a_machine_whose_destinations_are_others_is_not_followed(library: Library) -> None:
    """The vector clocks of CBCAST are about messages that do not go to their sender."""
    specification = library("cbcast")
    link = link_of(specification)
    own = ir.Workload(2, (1, 0), ((0, 1), (0, 1)), groups=(((0, 1),), ((0, 1),)))
    check = check_link(link, link.protocol, own)
    assert not check.complete
    assert "not_to_itself" in check.why_incomplete
    some = ir.Workload(3, (1, 0, 0), ((1,), (), ()), groups=(((1,),), (), ()))
    assert "ghost_broadcast" in check_link(link, link.protocol, some).why_incomplete


def test_total_order_is_confirmed_from_the_execution(library: Library) -> None:
    specification = library("cbcast")
    protocol = specification.protocols[0]
    found = explore(protocol, scope_of(specification, "four"), ["total_order"], stop_when_refuted=True)
    violation = found.violations["total_order"]
    assert first_crossing(execution(violation.system, violation.steps)) is not None
    text, _ = explain(violation)
    assert "VIOLATES total_order" in text
    agreed = replace(violation, steps=violation.steps[:-1])
    with pytest.raises(AssertionError, match="agree"):
        confirm(agreed, execution(agreed.system, agreed.steps))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((((1, 2),), ((0, 2),), ((0, 1),)), "to all others"),
        ((((0, 1, 2),),) * 3, "to all"),
        ((((1,), (2,), (1, 2)), ((0,), (2,), (0, 2)), ((0,), (1,), (0, 1))), "to any others"),
        ((((), (1, 2)), ((0,),), ((0,),)), "0 to none or 1+2, 1 to 0, 2 to 0"),
    ],
)
def test_destinations_in_words(library: Library, groups: tuple[tuple[tuple[int, ...], ...], ...], words: str) -> None:
    everybody = tuple(tuple(sorted({one for choice in choices for one in choice})) for choices in groups)
    workload = ir.Workload(3, (1, 1, 1), everybody, groups=groups)
    assert describe(workload) == f"3 processes, 1 send each, {words}"
    facts = workload_facts("s", workload, library("cbcast").protocols[0])
    assert facts["groups"] == [[list(choice) for choice in choices] for choices in groups]
