"""A run made by hand: what can happen, back and forth, what properties say, the run as a scenario."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.find import NotThere
from thence.dsl.load import Loaded, load, load_bytes
from thence.dsl.run.narrate import ReplayError
from thence.dsl.run.scenario import play
from thence.proofs.scopes.scenarios import play_scenario
from thence.proofs.scopes.scopes import explore_scope
from thence.spec.verdict import Verdict
from thence.stepping.judging import judge, promised, properties, violated
from thence.stepping.scenario import scenario_text, with_scenario
from thence.stepping.session import NotPossible, Session

LIBRARY = ("cbcast", "cykas", "fifo", "hybrid_basic", "ks", "mf", "mf_pipelined", "newtop", "rst", "ses", "tree")
"""Files with unicast, multicast and broadcast protocols, timers, faults, and a tree."""

LOSSY = """\
protocol lossy:
  network lossy, duplicating, reordering
  message MSG(m: message) carries m
  message ACK(m: message, by: process)
  state:
    got: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    send ACK(m, self) to j
    if not (m in got):
      got.add(m)
      deliver m
  on receive ACK(m, by) from j: pass
  property causal, at_most_once
  invariant nothing_yet: forall p: process. got@p is empty
  reachable somebody_got_one: exists p: process. not (got@p is empty)

scope faults of lossy:
  processes 2
  sends 2 per process
  losses 1
  duplicates 1
"""


def begun(file: str, scope: str | None = None) -> tuple[Session, Loaded]:
    """A run of a library file's first protocol in a scope of it, by default in the first that ends."""
    loaded = load(file)
    assert loaded.specification is not None
    scopes = loaded.specification.scopes
    chosen = next(one for one in scopes if (one.workload.ends if scope is None else one.name == scope))
    protocol = next(one for one in loaded.specification.protocols if one.name == chosen.protocol)
    return Session(protocol.name, protocol, chosen.workload), loaded


@pytest.fixture
def lossy() -> tuple[Session, Loaded]:
    loaded = load_bytes(Path("lossy.thence"), LOSSY.encode())
    assert loaded.specification is not None, loaded.diagnostics
    return Session("lossy", loaded.specification.protocols[0], loaded.specification.scopes[0].workload), loaded


def test_choices_are_numbered_and_taken() -> None:
    session, _ = begun("mf", "two")
    assert [choice.number for choice in session.choices] == list(range(1, len(session.choices) + 1))
    title = session.choices[1].title
    assert session.take(2).title == title
    assert [step.title for step in session.steps] == [title]
    assert session.in_flight[0].packet == "MSG(m0.1)"
    assert ("waiting", "true") in session.variables(0)


def test_back_leads_to_where_the_run_was() -> None:
    session, _ = begun("rst", "two")
    draw = random.Random(4)
    for _ in range(9):
        session.take_random(draw)
    states = session.states
    session.back(4)
    assert session.states == states[:6]
    assert session.system.initial() == states[0]
    undone = session.back(5)
    assert (len(undone), session.steps) == (5, [])


@pytest.mark.parametrize("number", [0, 99])
def test_what_is_not_there_is_not_taken(number: int) -> None:
    session, _ = begun("mf", "two")
    with pytest.raises(NotPossible, match=f"not {number}"):
        session.take(number)
    with pytest.raises(NotPossible, match="0 steps can be taken back"):
        session.back()
    with pytest.raises(NotPossible, match="p0 to p2"):
        session.variables(3)
    assert session.steps == []


def test_a_recorded_run_is_followed_or_nothing_changes() -> None:
    session, _ = begun("mf", "two")
    session.take(1)
    recorded = session.recorded()
    session.take(1)
    kept = session.recorded()
    with pytest.raises(ReplayError):
        session.follow([*recorded, {"action": "receive", "process": 2, "packet": "ACK()", "from": 0, "to": 2}])
    assert session.recorded() == kept
    assert len(session.follow(recorded)) == 1


def test_invariants_say_where_they_became_false(lossy: tuple[Session, Loaded]) -> None:
    session, _ = lossy
    assert judge(session, "nothing_yet").here is True
    assert judge(session, "somebody_got_one").standing == "not reached"
    session.take(1)
    arrival = next(choice for choice in session.choices if "receive MSG" in choice.title)
    session.take(arrival.number)
    answer = judge(session, "nothing_yet")
    assert (answer.standing, answer.step, answer.here) == ("violated", 2, False)
    assert (judge(session, "somebody_got_one").standing, judge(session, "somebody_got_one").step) == ("reached", 2)
    assert [one.property for one in violated(session)] == ["nothing_yet"]
    assert "somebody_got_one" not in promised(session)
    with pytest.raises(NotThere, match="did you mean causal"):
        judge(session, "causl")


def test_the_end_of_a_run_is_judged_at_its_end() -> None:
    session, _ = begun("mf", "one")
    assert judge(session, "delivered").standing == "open"
    draw = random.Random(0)
    while session.take_random(draw) is not None:
        pass
    assert session.at_rest
    assert judge(session, "delivered").standing == "not violated"
    assert judge(session, "deadlock_free").standing == "not violated"


@pytest.mark.parametrize(
    ("file", "scope", "mutant", "property_"),
    [
        ("mf", "two", "posts_at_once", "causal"),
        ("mf", "two", "posts_at_once", "fifo"),
        ("cbcast", "four", None, "total_order"),
    ],
)
def test_a_counterexample_of_the_explorer_violates_the_same_here(
    file: str, scope: str, mutant: str | None, property_: str
) -> None:
    session, loaded = begun(file, scope)
    assert loaded.specification is not None
    if mutant is not None:
        mutated = next(one.mutated for one in loaded.specification.mutants if one.name == mutant)
        assert isinstance(mutated, ir.Protocol)
        session = Session(f"{file}/{mutant}", mutated, session.workload)
    [result] = explore_scope(session.protocol, scope, session.workload, (), (property_,))
    assert result.verdict is Verdict.REFUTED
    session.follow(result.facts["counterexample"])
    answer = judge(session, property_)
    assert (answer.standing, answer.step) == ("violated", len(session.steps))


@pytest.mark.parametrize("file", LIBRARY)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_is_a_scenario_that_plays(file: str, seed: int) -> None:
    """The scenario of a drawn run holds, or says why no scenario can say it; with the same judgements."""
    session, loaded = begun(file)
    draw = random.Random(seed)
    for _ in range(draw.randint(3, 16)):
        session.take_random(draw)
    text = with_scenario(session, loaded, "mine")
    again = load_bytes(loaded.path, text.encode())
    assert again.specification is not None
    scenario = again.specification.scenarios[-1]
    results = play_scenario(scenario)
    assert [result.verdict for result in results] == [Verdict.HOLDS], results[0].explanation
    assert len(play(scenario).steps) == len(session.steps)


def test_faults_of_the_network_are_in_the_scenario(lossy: tuple[Session, Loaded]) -> None:
    session, loaded = lossy
    for fault in ("duplicates", "loses"):
        session.take(1)
        session.take(next(choice.number for choice in session.choices if fault in choice.title))
    draw = random.Random(1)
    while session.take_random(draw) is not None:
        pass
    again = load_bytes(loaded.path, with_scenario(session, loaded, "mine").encode())
    assert again.specification is not None
    results = play_scenario(again.specification.scenarios[0])
    assert all(result.expected for result in results), [result.explanation for result in results]
    assert "expect refuted" in scenario_text(session, "mine")


def test_what_a_scenario_cannot_say_is_refused() -> None:
    session, loaded = begun("mf", "answers_inside_deliveries")
    draw = random.Random(0)
    while not any("inside the delivery" in line for step in session.steps for line in step.details):
        if session.take_random(draw) is None:
            session.back(len(session.steps))
    with pytest.raises(NotPossible, match="inside a delivery"):
        with_scenario(session, loaded, "mine")
    fresh, loaded = begun("mf", "one")
    with pytest.raises(NotPossible, match="has a scenario mf_figure_2 already"):
        with_scenario(fresh, loaded, "mf_figure_2")
    with pytest.raises(NotPossible, match="no name"):
        scenario_text(fresh, "my run")


def test_every_name_can_be_asked_for() -> None:
    for file in LIBRARY:
        session, _ = begun(file)
        session.take_random(random.Random(0))
        for name in properties(session):
            assert judge(session, name).property == name


def test_a_run_on_an_overlay_is_a_scenario_with_its_links() -> None:
    text = (
        LOSSY.replace("network lossy", "network overlay, lossy")
        .replace("send MSG(m) to m.dst", "if m.dst in neighbors: send MSG(m) to m.dst")
        .replace("processes 2\n", "processes 3\n  links 0 with 1; 1 to 2\n")
        .replace("send ACK(m, self) to j", "if j in neighbors: send ACK(m, self) to j")
    )
    loaded = load_bytes(Path("linked.thence"), text.encode())
    assert loaded.specification is not None, loaded.diagnostics
    session = Session("lossy", loaded.specification.protocols[0], loaded.specification.scopes[0].workload)
    for _ in range(3):
        session.take(1)
    written = scenario_text(session, "mine")
    assert "link p0 to p1\n  link p1 to p0\n  link p1 to p2\n" in written
    assert "scenario mine" in with_scenario(session, loaded, "mine")


CHOOSING = """
protocol choosing:
  network reliable, reordering
  constant most: nat = 3
  role boss: process = 0
  message ASK(n: nat)
  message ALL(some: set of nat, log: queue of process)
  message MSG(m: message) carries m
  state:
    got: set of nat
    who: option of process
    left: nat
    log: queue of process
    late: queue of message
  on go() when self = boss:
    for p in process:
      if p != self:
        either: send ASK(most) to p
        or: left := left + 1
  on receive ASK(n) from p:
    got.add(n)
    choose q in process such that q != self: who := some(q)
  on wink(p: process):
    either: send ASK(0) to p
    or: pass
  on again(p: process):
    either: log.push(p)
    or: send ALL({0, 1}, log) to p
    or: send ALL({0}, log) to p
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    either: deliver m
    or: late.push(m)
  periodically:
    while late is not empty:
      deliver late.first
      late.pop()

scope two of choosing:
  processes 3
  go 1 per process
  wink 1, 0, 0
  again 0, 1, 0
  sends 1, 0, 0
  most = 2
  boss = 2
"""


def test_a_run_that_chooses_is_a_scenario_that_says_what() -> None:
    loaded = load_bytes(Path("choosing.thence"), CHOOSING.encode())
    assert loaded.specification is not None, loaded.diagnostics
    protocol, workload = loaded.specification.protocols[0], loaded.specification.scopes[0].workload
    tally = Counter[str]()
    for seed in range(15):
        session, draw = Session("choosing", protocol, workload), random.Random(seed)
        while session.take_random(draw) is not None:
            pass
        try:
            text = with_scenario(session, loaded, "mine")
        except NotPossible as why:
            tally["no assertion" if "no assertion tells" in str(why) else "alike"] += 1
            assert "cannot tell apart" in str(why) or "no assertion tells" in str(why)
            continue
        again = load_bytes(loaded.path, text.encode())
        assert again.specification is not None and "  most = 2\n  boss = p2\n" in text
        steps = play(again.specification.scenarios[0]).steps
        assert [step.outcome.emissions for step in steps] == [step.outcome.emissions for step in session.steps]
        tally["written"] += 1
    assert tally["written"] > 12, tally
