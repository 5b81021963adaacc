"""Almeida's algorithms in the library: what is claimed of them, pinned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.narrate import execution
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.machine.obligations import conjuncts, preservations
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.scopes.reports import confirm
from thence.proofs.scopes.scopes import properties_of
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

SCOPES = {
    "one": (343, 882, 9),
    "two": (35_178, 121_446, 19),
    "many": (5_615, 14_004, 18),
    "lost": (935, 2_746, 16),
    "links": (1_916, 5_636, 14),
    "pair": (1_127, 3_702, 14),
    "two_on_fifo_channels": (26_070, 79_874, 17),
}

SHORTEST: dict[tuple[str, str | tuple[int, ...]], dict[str, int]] = {
    ("ids_from_zero", "one"): {"delivered": 3},
    ("duplicates_unacknowledged", (0, 2, 1)): {"delivered": 12},  # with timers, some fair run, not a shortest one
    ("without_timer", "two"): {"delivered": 8},
    ("u2_stays_behind", "two"): {"u2_first": 1},
    ("m2_stays_behind", "two"): {"m2_first": 1, "fault": 12},
    ("one_field", "two"): {"m2_first": 5},
    ("delivers_the_flagged", "one"): {"delivered": 5},
    ("notes_permits", "two"): {"optimal_by_what_came": 7},
    ("asks_in_vain", "two"): {"asks_when_needed": 2},
    ("u2_after_the_loop", "two"): {"fault": 4},
    ("only_the_oldest", "two"): {"u2_first": 4},
    ("never_flags", "two"): {"causal": 5, "sps": 4},
    ("ignores_permits", "two"): {"causal": 5, "sps": 4},
    ("p2_stays_behind", "two"): {"p2_first": 3, "optimal": 4},
    ("u2_runs_ahead", (3, 0, 0)): {"u2_first": 5},
    ("u2_runs_ahead", (4, 1, 0)): {"causal": 10},
    ("m1_stays_behind", "two"): {"m1_first": 1},
    ("delivers_on_arrival", "two"): {"fifo": 3, "causal": 3},
    ("notes_visits", (2, 2, 1)): {"visited_at_most_once": 13},
}

MACHINES = {
    # conjuncts, obligations that are not true because nothing they speak of changes
    "hybrid_basic": (25, 96),
    "hybrid_basic_numbers": (42, 253),
    "hybrid_optimal": (26, 99),
    "hybrid_optimal_indices": (51, 492),
}


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def protocol_of(name: str, mutant: str = "") -> ir.Protocol:
    found = specification(name)
    subject: ir.Protocol | ir.Machine = found.protocols[0]
    if mutant:
        subject = next(known.mutated for known in found.mutants if known.name == mutant)
    assert isinstance(subject, ir.Protocol)
    return subject


def workload(scope: str) -> ir.Workload:
    return next(known.workload for known in specification("hybrid_optimal").scopes if known.name == scope)


@pytest.mark.long(but=("pair",))
@pytest.mark.parametrize("scope", SCOPES)
def test_pinned_counts(scope: str) -> None:
    protocol = protocol_of("hybrid_optimal")
    found = explore(protocol, workload(scope), properties_of(protocol))
    assert (found.complete, found.violations) == (True, {})
    assert (found.states, found.transitions, found.depth) == SCOPES[scope]


def test_every_scope_without_an_expectation_is_pinned() -> None:
    scopes = specification("hybrid_optimal").scopes
    assert {scope.name for scope in scopes if not scope.expects} == SCOPES.keys()


@pytest.mark.long
def test_shortest_counterexamples_of_the_printed_text_and_other_mutants() -> None:
    lengths: dict[tuple[str, str | tuple[int, ...]], dict[str, int]] = {}
    for mutant in specification("hybrid_optimal").mutants:
        for expect in mutant.expects:
            if not isinstance(mutant.mutated, ir.Protocol) or expect.verdict != "refuted":
                continue
            assert expect.settings is not None
            for name in (name for name in expect.names if name != "link"):
                found = explore(mutant.mutated, expect.settings, [name], stop_when_refuted=True)
                violation = found.violations[name]
                confirm(violation, execution(violation.system, violation.steps))
                key = (mutant.name, expect.scope or expect.settings.sends)
                lengths.setdefault(key, {})[name] = len(violation.steps)
    assert lengths == SHORTEST


def steps(system: System) -> Iterator[tuple[Action, Outcome]]:
    """Every step of every reachable state, once."""
    initial = system.initial()
    seen: set[State] = {initial}
    frontier = [initial]
    while frontier:
        state = frontier.pop()
        for action in system.enabled(state):
            outcome = system.apply(state, action)
            yield action, outcome
            if outcome.state not in seen:
                seen.add(outcome.state)
                frontier.append(outcome.state)


def permits_at_once(mutant: str) -> int:
    """The most often that one handler sends the same permit, among three processes and three messages of one."""
    system = System(protocol_of("hybrid_optimal", mutant), ir.Workload(3, (3, 0, 0), ((1, 2), (0, 2), (0, 1))))
    most = 0
    for _, outcome in steps(system):
        sent = Counter(str(emission) for emission in outcome.emissions if getattr(emission, "kind", "") == "PERMIT")
        most = max([most, *sent.values()])
    return most


def test_the_printed_line_69_sends_a_permit_twice() -> None:
    assert permits_at_once("one_permit_twice") == 2
    assert permits_at_once("") == 1


def on_fifo_channels(protocol: ir.Protocol) -> ir.Protocol:
    """The protocol without its timer on a network that neither loses nor reorders."""
    handlers = tuple(handler for handler in protocol.handlers if handler.event != "periodically")
    return replace(protocol, handlers=handlers, network=ir.Network(reordering=False))


FOUR = ir.Workload(3, (4, 1, 0), ((1, 2), (0, 2), (0, 1)))


def test_without_losses_and_reordering_no_timer_is_needed() -> None:
    """A permit cannot overtake its message there. As printed, permits that were asked for in vain never come."""
    found = explore(on_fifo_channels(protocol_of("hybrid_optimal")), FOUR, ["delivered", "causal", "optimal"])
    assert (found.complete, found.violations) == (True, {})
    printed = explore(on_fifo_channels(protocol_of("hybrid_optimal", "u2_stays_behind")), FOUR, ["delivered", "causal"])
    assert printed.violations.keys() == {"delivered"}


@pytest.mark.parametrize(("algorithm", "flagged"), [("hybrid_basic", True), ("hybrid_optimal", False)])
def test_algorithm_2_asks_for_permits_where_others_are_unacknowledged_only(algorithm: str, flagged: bool) -> None:
    """Section 5.6, the first way in which Algorithm 1 is conservative: two messages to one receiver."""
    system = System(protocol_of(algorithm), ir.Workload(2, (2, 0), ((1,), (0,))))
    flags = {
        emission.arguments[3]
        for _, outcome in steps(system)
        for emission in outcome.emissions
        if getattr(emission, "kind", "") == "MSG"
    }
    assert (True in flags) == flagged


@pytest.mark.parametrize("name", ["hybrid_basic", "hybrid_optimal"])
def test_the_machine_of_a_link_is_followed(name: str) -> None:
    link = specification(name).links[0]
    check = check_link(link, link.protocol, ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1))))
    assert check.complete
    assert check.broken is None
    assert check.states > 300


@pytest.mark.long(but=("hybrid_basic",))
@pytest.mark.parametrize("name", MACHINES)
def test_both_solvers_prove_every_obligation_with_two_seconds_for_each_question(name: str) -> None:
    """Of `permits_by_number` Z3 proves four from the core of cvc5's proof only."""
    machine = specification(name).machines[0]
    everything = conjuncts(machine)
    obligations = [each.obligation for each in preservations(machine, everything, everything)]
    asked = [each for each in obligations if not each.by_frame]
    assert (len(everything), len(asked)) == MACHINES[name]
    with SolverPool(2) as pool:
        done = discharge_all(pool, asked, Options(timeout_ms=2_000))
    assert [each.obligation.name for each in done if not each.proved or each.provers < 2] == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["hybrid_optimal", "hybrid_basic_numbers"])
def test_both_solvers_prove_the_machine(name: str) -> None:
    machine = specification(name).machines[0]
    results = prove_specification(specification(name), [machine.name])
    assert {result.name for result in results} >= {"causal", "fifo", "vacuity"}
    for result in results:
        assert (result.verdict, result.expected) == (Verdict.PROVED, True), result.name
        assert result.level is (Level.L2 if result.name == "vacuity" else Level.L3), result.name
