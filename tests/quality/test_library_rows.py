"""Six rows of the library: what is proved for any number of processes, what the scopes cover, what each row is for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.actions import Action, Outcome, State
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.spec.oracle import Oracle
from thence.spec.verdict import Level, Result, Verdict


@cache
def specification(file: str) -> ir.Specification:
    found = load(file).specification
    assert found is not None
    return found


def protocol_of(file: str, name: str = "") -> ir.Protocol:
    return next(known for known in specification(file).protocols if known.name == (name or file))


def mutant_of(file: str, name: str) -> ir.Protocol:
    mutated = next(known.mutated for known in specification(file).mutants if known.name == name)
    assert isinstance(mutated, ir.Protocol)
    return mutated


def workload_of(file: str, scope: str) -> ir.Workload:
    return next(known.workload for known in specification(file).scopes if known.name == scope)


# --- any number of processes and messages -------------------------------------------------------


@cache
def proved(file: str) -> dict[str, Result]:
    alone = replace(specification(file), theorems=(), mutants=())
    return {result.name: result for result in prove_specification(alone, options=Options(workers=2))}


MACHINES = {
    "fifo": ("fifo", 6),
    "synchronous": ("synchronous", 11),
    "client_server": ("at_server", 12),
    "ses": ("causal", 14),
    "ks": ("causal", 11),
}
STARVES, WAITS = "without starvation deliver", "without deadlock"


@pytest.mark.long
@pytest.mark.parametrize("file", MACHINES)
def test_proved_by_two_solvers(file: str) -> None:
    (machine,) = specification(file).machines
    goal, invariants = MACHINES[file]
    results = proved(file)
    assert len(machine.invariants) == invariants
    invariants_of = [invariant.name for invariant in machine.invariants]
    for stated in ("history", *invariants_of, goal, "at_most_once", "no_creation"):
        assert (results[stated].verdict, results[stated].level) == (Verdict.PROVED, Level.L3), stated
    if file == "synchronous":
        assert results[WAITS].verdict is Verdict.REFUTED
    else:
        assert (results[STARVES].verdict, results[WAITS].verdict) == (Verdict.PROVED, Verdict.PROVED)
    assert [result.name for result in results.values() if not result.expected] == []


@pytest.mark.long
@pytest.mark.parametrize(("file", "depth"), [("fifo", 5), ("client_server", 3)])
def test_what_is_not_causal_is_refuted_by_a_run(file: str, depth: int) -> None:
    """Sequence numbers by a triangle of messages, clients by two messages that overtake each other."""
    causal = proved(file)["causal"]
    assert (causal.verdict, causal.expected, causal.facts["depth"]) == (Verdict.REFUTED, True, depth)


# --- scopes and links ---------------------------------------------------------------------------

COUNTS = {
    ("fifo", "triangle"): (198, 453),
    ("fifo", "one"): (49, 84),
    ("fifo", "pair"): (256, 700),
    ("fifo", "lost"): (1_403, 4_446),
    ("ses", "one"): (281, 474),
    ("ses", "two"): (7_554, 17_216),
    ("ses", "pair"): (1_634, 4_082),
    ("ses", "links"): (1_095, 2_136),
    ("synchronous", "one_way"): (85, 158),
    ("synchronous", "in_turn"): (9, 10),
    ("synchronous", "figure_1"): (7, 8),
    ("synchronous", "all"): (1_486, 3_414),
    ("synchronous", "links"): (784, 1_782),
    ("client_server", "relay"): (126, 278),
    ("client_server", "one"): (100, 260),
    ("client_server", "three"): (2_840, 9_467),
    ("client_server", "at_a_client"): (59, 113),
    ("client_server", "requests"): (50, 114),
    ("client_server", "all"): (588, 1_492),
    ("ks", "one"): (2_661, 5_775),
    ("ks", "two"): (10_410, 31_789),
    ("ks", "chain"): (295, 685),
    ("ks", "links"): (617, 1_561),
    ("ks", "to_nobody"): (57, 95),
    ("tree", "line"): (7_067, 27_388),
    ("tree", "four"): (2_580, 9_148),
    ("tree", "star"): (866, 2_943),
    ("tree", "branches"): (1_649, 5_248),
    ("tree", "customer_shop_bank"): (378, 1_143),
    ("tree", "links"): (236, 649),
    ("tree", "pair"): (7, 8),
    ("tree", "triangle"): (41, 89),
    ("skeen", "crossed"): (428, 1_040),
    ("skeen", "pair"): (4_749, 14_571),
    ("skeen", "answer"): (10_455, 31_310),
    ("skeen", "whole_group"): (5_160, 14_084),
    ("pc_broadcast", "three"): (1_066, 2_538),
    ("pc_broadcast", "both"): (2_972, 7_459),
    ("pc_broadcast", "reopened"): (683, 1_700),
    ("pc_broadcast", "four"): (748, 1_648),
    ("cops", "photo"): (4_797, 14_586),
    ("cops", "moving"): (4_267, 10_078),
    ("cops", "overwriting"): (1_193, 2_384),
    ("cops", "party"): (1_229, 3_381),
}


@pytest.mark.long(but=("synchronous-in_turn", "tree-pair", "synchronous-figure_1", "tree-triangle"))
@pytest.mark.parametrize(("file", "scope"), COUNTS)
def test_states_of_the_scopes(file: str, scope: str) -> None:
    stated = next(known for known in specification(file).scopes if known.name == scope)
    protocol = protocol_of(file, stated.protocol)
    explored = explore(protocol, stated.workload, protocol.properties)
    assert explored.complete
    assert (explored.states, explored.transitions) == COUNTS[file, scope]


LINKS = {
    ("fifo", "triangle"): (347, 718),
    ("fifo", "pair"): (1_001, 2_533),
    ("fifo", "lost"): (4_149, 12_622),
    ("ses", "links"): (1_279, 2_299),
    ("ses", "one"): (314, 492),
    ("synchronous", "links"): (3_002, 5_532),
    ("synchronous", "one_way"): (303, 466),
    ("synchronous", "figure_1"): (7, 8),
    ("client_server", "relay"): (223, 396),
    ("client_server", "one"): (314, 492),
    ("client_server", "at_a_client"): (83, 133),
    ("client_server", "requests"): (67, 130),
    ("client_server", "all"): (1_531, 2_808),
    ("ks", "links"): (757, 1_735),
    ("ks", "chain"): (332, 723),
    ("tree", "links"): (908, 1_710),
    ("tree", "customer_shop_bank"): (1_337, 2_806),
    ("skeen", "crossed"): (436, 1_042),
    ("skeen", "whole_group"): (5_921, 15_559),
    ("pc_broadcast", "three"): (1_751, 3_779),
    ("pc_broadcast", "both"): (4_729, 11_131),
    ("pc_broadcast", "reopened"): (854, 1_985),
}


@pytest.mark.long(but=("synchronous-figure_1", "client_server-requests", "client_server-at_a_client", "fifo-triangle"))
@pytest.mark.parametrize(("file", "scope"), LINKS)
def test_protocols_conform_to_their_machines(file: str, scope: str) -> None:
    link = next(known for known in specification(file).links if scope in {one.name for one in known.scopes})
    found = check_link(link, link.protocol, workload_of(file, scope))
    assert (found.complete, found.broken) == (True, None)
    assert (found.states, found.transitions) == LINKS[file, scope]


def test_every_scope_of_a_link_is_pinned() -> None:
    files = [*MACHINES, "tree", "pc_broadcast", "skeen", "cops"]
    stated = {(file, scope.name) for file in files for link in specification(file).links for scope in link.scopes}
    assert stated == set(LINKS)
    assert {(file, scope.name) for file in files for scope in specification(file).scopes} == set(COUNTS)


def test_algorithm_1_over_numbers_is_algorithm_1() -> None:
    """The protocol that is linked to the machine of numbers is the one of `hybrid_basic`, letter by letter."""
    (link,) = specification("hybrid_basic_numbers").links
    assert link.protocol == protocol_of("hybrid_basic")


NUMBERS = {"links": (1_266, 2_364), "pair": (2_252, 5_163), "lost": (1_067, 2_200)}


@pytest.mark.parametrize("scope", NUMBERS)
def test_algorithm_1_keeps_the_numbers_of_its_machine(scope: str) -> None:
    (link,) = specification("hybrid_basic_numbers").links
    found = check_link(link, link.protocol, workload_of("hybrid_basic_numbers", scope))
    assert (found.complete, found.broken) == (True, None)
    assert (found.states, found.transitions) == NUMBERS[scope]


# --- FIFO ---------------------------------------------------------------------------------------


def test_fifo_is_not_causal_by_three_messages() -> None:
    """0 sends to 2 and to 1; 1, having delivered, sends to 2, where it comes first."""
    explored = explore(protocol_of("fifo"), workload_of("fifo", "triangle"), ("causal",))
    violation = explored.violations["causal"]
    outcomes = [step.outcome for step in violation.steps]
    sent = [outcome.subject for outcome in outcomes if outcome.subject is not None]
    delivered = [each.message for outcome in outcomes for each in outcome.emissions if isinstance(each, Delivered)]
    assert sorted((message.src, message.dsts) for message in sent) == [(0, (1,)), (0, (2,)), (1, (2,))]
    assert [(message.src, message.dsts) for message in delivered] == [(0, (1,)), (1, (2,))]


# --- random runs --------------------------------------------------------------------------------


def among(processes: int, *sends: int) -> ir.Workload:
    """Anybody sends to any other process."""
    others = tuple(tuple(p for p in range(processes) if p != own) for own in range(processes))
    return ir.Workload(processes, sends, others)


def random_run(system: System, seed: int) -> Iterator[tuple[Action, Outcome]]:
    chance = random.Random(seed)
    state: State = system.initial()
    while actions := sorted(system.enabled(state)):
        action = chance.choice(actions)
        outcome = system.apply(state, action)
        yield action, outcome
        state = outcome.state


def test_the_server_alone_is_causal() -> None:
    """The oracle, in random runs of four clients and their server: violations, and none of them at the server."""
    workload = among(5, 2, 3, 3, 3, 3)
    places: list[int] = []
    for name in ("client_server", "client_server_reordering"):
        system = System(protocol_of("client_server", name), workload)
        for seed in range(60):
            oracle = Oracle(workload.processes)
            for action, outcome in random_run(system, seed):
                if outcome.subject is not None:
                    oracle.send(outcome.subject.src, outcome.subject.name, outcome.subject.dsts)
                for each in outcome.emissions:
                    if isinstance(each, Delivered):
                        places += [found.process for found in oracle.deliver(action.process, each.message.name)]
            assert oracle.at_quiescence() == ()
    assert len(places) > 100
    assert 0 not in places


# --- KS: the log is what the definition of the optimum says ------------------------------------


@dataclass(slots=True)
class Knowledge:
    """Of a process, or of a message when it was sent: the messages and deliveries in its causal past."""

    sent: set[Message] = field(default_factory=set)
    delivered: set[tuple[Message, int]] = field(default_factory=set)

    def copy(self) -> Knowledge:
        return Knowledge(set(self.sent), set(self.delivered))


@dataclass(slots=True)
class History:
    """Every process's knowledge, by the definition of happens-before and not by any metadata."""

    processes: list[Knowledge]
    messages: dict[Message, Knowledge] = field(default_factory=dict)

    def observe(self, action: Action, outcome: Outcome) -> None:
        if outcome.subject is not None:
            self.messages[outcome.subject] = self.processes[action.process].copy()
            self.processes[action.process].sent.add(outcome.subject)
        for each in outcome.emissions:
            if isinstance(each, Delivered):
                mine, past = self.processes[action.process], self.messages[each.message]
                mine.sent |= past.sent | {each.message}
                mine.delivered |= past.delivered | {(each.message, action.process)}

    def needed(self, process: int) -> set[tuple[int, int, int]]:
        """What the process has to keep: (sender, number from 1, destination).

        A destination of a message in its past, unless it knows that the message has been delivered there or of a later
        message to the same destination.
        """
        mine = self.processes[process]
        return {
            (x.src, x.number + 1, d)
            for x in mine.sent
            for d in x.dsts
            if (x, d) not in mine.delivered and not any(d in y.dsts and x in self.messages[y].sent for y in mine.sent)
        }


def kept(system: System, protocol: ir.Protocol, state: State, process: int) -> set[tuple[int, int, int]]:
    """The remaining destinations in a process's LOG."""
    position = [variable.name for variable in protocol.state].index("LOG")
    log = system.local(state.locals[process])[position]
    return {(sender, clock, d) for sender, entries in log for clock, (dests,) in entries for d in dests}


def logs(protocol: ir.Protocol, seeds: range) -> Iterator[tuple[set[tuple[int, int, int]], set[tuple[int, int, int]]]]:
    """In random runs, after every step, for every process: what it keeps, and what is needed."""
    everybody = among(4, 3, 3, 2, 2)
    sets = tuple(
        tuple(chosen for size in (1, 2, 3) for chosen in combinations(others, size))
        for others in everybody.destinations
    )
    workload = replace(everybody, groups=sets)
    system = System(protocol, workload)
    for seed in seeds:
        history = History([Knowledge() for _ in range(workload.processes)])
        for action, outcome in random_run(system, seed):
            history.observe(action, outcome)
            for process in range(workload.processes):
                yield kept(system, protocol, outcome.state, process), history.needed(process)


def test_a_log_is_exactly_what_is_needed() -> None:
    """Kshemkalyani and Singhal's optimum, by its definition, beside the log of the protocol as it stands."""
    sizes = set()
    for log, needed in logs(protocol_of("ks"), range(60)):
        assert log == needed
        sizes.add(len(log))
    assert {0, 1, 2, 3, 4, 5} <= sizes


@pytest.mark.parametrize("mutant", ["keeps_what_was_dropped", "forgets_the_last"])
def test_logs_that_are_larger_than_needed_are_noticed(mutant: str) -> None:
    """Mutants that are causal all the same."""
    larger = 0
    for log, needed in logs(mutant_of("ks", mutant), range(20)):
        assert needed <= log
        larger += log != needed
    assert larger > 0
