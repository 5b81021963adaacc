"""Which properties a scope cannot refute: the rules against brute force, and against protocols plainly wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.defaults import all_choices, default_sends, default_workloads
from thence.dsl.load import load, load_bytes
from thence.proofs.engines import explore
from thence.proofs.scopes.refutable import MOST_EXECUTIONS, cannot_refute, violable
from thence.proofs.scopes.scopes import explore_scope, explore_unscoped

CASES = Path(__file__).parent / "cases"
JUDGED = ("fifo", "causal", "total_order", "at_most_once", "no_creation", "csps", "sps")

WRONG = """
protocol wrong:
  delivery {delivery}
  network reliable, reordering
  message MSG(m: message) carries m
  message AGAIN(m: message) carries m
  on causal_send(m):
    for p in m.dsts: send MSG(m) to p
    {sending}
  on receive MSG(m) from j:
    deliver m
    {taking}
  on receive AGAIN(m) from j: pass
  property causal
"""
DELIVERS_AT_ONCE = ("pass", "pass")
DELIVERS_TWICE = ("pass", "deliver m")
DELIVERS_ELSEWHERE = ("for p in process: send AGAIN(m) to p", "pass")
"""With `AGAIN` handed over where it arrives."""
PASSES_ON = ("for p in process: send AGAIN(m) to p", "pass")
"""With `AGAIN` sent on by whoever has it."""


def wrong(delivery: ir.Delivery, body: tuple[str, str], again: str = "pass") -> ir.Protocol:
    text = WRONG.format(delivery=delivery, sending=body[0], taking=body[1]).replace("from j: pass", f"from j: {again}")
    loaded = load_bytes(Path("wrong.thence"), text.encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification.protocols[0]


def random_workload(draw: Random, most_sends: int = 2) -> ir.Workload:
    """A small scope of any kind of delivery, with some of the sets of destinations, and none among them at times."""
    while True:
        count = draw.randint(1, 4)
        delivery: ir.Delivery = draw.choice(("unicast", "multicast", "broadcast"))
        every = all_choices(count, delivery, draw.random() < 0.3)
        kept = tuple(tuple(one for one in each if delivery == "broadcast" or draw.random() < 0.5) for each in every)
        if delivery == "multicast" and draw.random() < 0.3:
            kept = tuple((*each, ()) if draw.random() < 0.3 else each for each in kept)
        sends = tuple(draw.randint(0, most_sends) if each else 0 for each in kept)
        if sum(sends) <= 4:
            destinations = tuple(tuple(sorted({one for choice in each for one in choice})) for each in kept)
            return ir.Workload(count, sends, destinations, groups=() if delivery == "unicast" else kept)


def kind(workload: ir.Workload) -> ir.Delivery:
    return "multicast" if workload.groups else "unicast"


def held_against_brute_force(seed: int) -> set[tuple[str, bool]]:
    met = set()
    workload = random_workload(Random(seed))
    for property_ in JUDGED:
        possible = violable(workload, property_, MOST_EXECUTIONS)
        if possible is not None:
            assert (cannot_refute(workload, property_) is None) == possible, (property_, workload)
            met.add((property_, possible))
    return met


def test_the_rules_are_those_of_brute_force() -> None:
    met = set().union(*(held_against_brute_force(seed) for seed in range(40)))
    assert met == {(property_, possible) for property_ in JUDGED for possible in (True, False)}


@pytest.mark.long
@pytest.mark.parametrize("first", [1000, 1400, 1800])
def test_the_rules_are_those_of_brute_force_in_many_scopes(first: int) -> None:
    assert all(held_against_brute_force(seed) for seed in range(first, min(first + 400, 2000)))


def refuted_by_something_wrong(workload: ir.Workload, property_: str) -> bool:
    delivery = kind(workload)
    protocols = [wrong(delivery, DELIVERS_AT_ONCE), wrong(delivery, DELIVERS_TWICE)]
    protocols += [wrong(delivery, DELIVERS_ELSEWHERE, "deliver m"), wrong(delivery, PASSES_ON, "send AGAIN(m) to j")]
    return any(
        property_ in explore(protocol, workload, (property_,), limit=30_000, stop_when_refuted=True).violations
        for protocol in protocols
    )


def test_what_is_plainly_wrong_is_refuted_wherever_nothing_is_said() -> None:
    """And nothing is refuted where it is said that nothing can be."""
    scopes = (random_workload(Random(seed), most_sends=seed % 2 + 1) for seed in range(200))
    for workload in [each for each in scopes if each.processes <= 3 and sum(each.sends) <= 3][:20]:
        for property_ in ("fifo", "causal", "total_order", "at_most_once", "no_creation"):
            said = cannot_refute(workload, property_)
            assert refuted_by_something_wrong(workload, property_) == (said is None), (property_, workload, said)


@pytest.mark.parametrize("delivery", ["unicast", "multicast", "broadcast"])
@pytest.mark.parametrize("processes", [3, 4])
def test_default_scopes_can_refute(delivery: ir.Delivery, processes: int) -> None:
    choices = all_choices(processes, delivery, False)
    destinations = tuple(tuple(q for q in range(processes) if q != p) for p in range(processes))
    groups = () if delivery == "unicast" else choices
    workload = ir.Workload(processes, default_sends(processes), destinations, groups=groups)
    assert [name for name in ("fifo", "causal", "csps", "sps") if cannot_refute(workload, name)] == []
    found = explore(wrong(delivery, DELIVERS_AT_ONCE), workload, ("fifo", "causal"), stop_when_refuted=True)
    assert found.violations.keys() == {"fifo", "causal"}


def test_three_processes_with_one_send_each_cannot_refute_unicast() -> None:
    each = ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1)))
    assert "causally before" in str(cannot_refute(each, "causal"))
    assert "two messages" in str(cannot_refute(each, "fifo"))
    results = explore_scope(wrong("unicast", DELIVERS_AT_ONCE), None, each, properties=("causal", "at_most_once"))
    assert [result.facts.get("cannot_refute") is None for result in results] == [False, True]


def test_programs_are_tried() -> None:
    def workload(*programs: tuple[tuple[str, tuple[int, ...]], ...]) -> ir.Workload:
        sending = ir.Finite(programs=programs)  # type: ignore[arg-type]
        sends = tuple(sum(verb == "send" for verb, _ in program) for program in programs)
        others = tuple(tuple(q for q in range(len(programs)) if q != p) for p in range(len(programs)))
        return replace(ir.Workload(len(programs), sends, others), sending=sending)

    receive = ("receive", ())
    pair = workload((("send", (1,)), ("send", (1,))), (receive, receive))
    assert cannot_refute(pair, "fifo") is None
    apart = workload((("send", (1,)), ("send", (2,))), (receive,), (receive,))
    assert "programs" in str(cannot_refute(apart, "causal"))
    relay = workload((("send", (2,)), ("send", (1,))), (receive, ("send", (2,))), (receive, receive))
    assert cannot_refute(relay, "causal") is None
    first = ("receive", (0,))
    in_order = workload((("send", (2,)), ("send", (1,))), (receive, ("send", (2,))), (first, receive))
    assert cannot_refute(in_order, "causal") is not None


# --- default scopes, and what they try ----------------------------------------------------------


def case(name: str) -> ir.Protocol:
    specification = load(str(CASES / f"{name}.thence")).specification
    assert specification is not None
    return specification.protocols[0]


def test_a_file_without_scopes_is_explored_where_it_can_be_refuted() -> None:
    found = {result.facts["property"]: result.verdict.value for result in explore_unscoped(case("emptyverify"))}
    assert found == {"causal": "refuted", "fifo": "refuted", "fault": "holds"}


def test_faults_that_the_network_has_are_tried_once() -> None:
    protocol = case("lossy")
    plain, faulty = default_workloads(protocol)
    assert (plain.losses, plain.duplicates, faulty.losses, faulty.duplicates) == (0, 0, 1, 1)
    results = explore_unscoped(protocol)
    untried = {result.name: result.facts.get("not_tried") for result in results}
    assert untried["scope: delivered"] == ["loss", "duplication"]
    assert untried["scope with faults: delivered"] is None
    found = {result.name: result.verdict.value for result in results}
    assert (found["scope with faults: delivered"], found["scope with faults: at_most_once"]) == ("refuted", "refuted")


def test_timers_that_do_not_fire_are_said() -> None:
    specification = load(str(CASES / "ticks.thence")).specification
    assert specification is not None
    (protocol,) = specification.protocols
    without, fired = (scope.workload for scope in specification.scopes)
    never = replace(without, ticks=0)
    said = [explore_scope(protocol, None, each)[0].facts.get("not_tried") for each in (without, fired, never)]
    assert said == [["early timers"], None, ["timers"]]


def test_where_nothing_is_delivered_nothing_holds() -> None:
    """Nobody sends, or nothing is handed over: that no message overtakes another says nothing."""
    protocol = wrong("unicast", DELIVERS_AT_ONCE)
    idle = ir.Workload(2, (0, 0), ((1,), (0,)))
    results = explore_scope(protocol, None, idle, properties=("causal", "csps", "delivered"))
    assert [result.verdict.value for result in results] == ["unknown"] * 3


@pytest.mark.parametrize("sending", [ir.Finite(prompt=True), ir.AnyNumber(), ir.ForEver((1, 1), prompt=True)])
def test_prompt_sends_need_packets_that_say_what_they_carry(sending: ir.Sending) -> None:
    """Otherwise no message is ever sent, and everything would hold of that."""
    text = WRONG.format(delivery="unicast", sending="pass", taking="pass").replace(" carries m", "")
    loaded = load_bytes(Path("silent.thence"), text.encode())
    assert loaded.specification is not None
    workload = ir.Workload(2, (1, 1), ((1,), (0,)), sending=sending)
    results = explore_scope(loaded.specification.protocols[0], None, workload, properties=("causal", "at_most_once"))
    assert [result.verdict.value for result in results] == ["unknown", "unknown"]
    assert isinstance(sending, ir.AnyNumber) or "nothing is sent" in results[0].facts["unknown"]
