"""Notions that a text shows: what a relation says of fewer, and what can happen no more."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.dsl.write.show import show_expression
from thence.proofs.infer.candidates.reasons import along_an_order, come_first, lost_instead, reasons_of
from thence.proofs.infer.search.goals import about_states, hidden
from thence.proofs.logic.compiled import compiled, value_in
from thence.proofs.logic.structure import Structure, tuples
from thence.proofs.machine.transitions import actions, initial, step, symbols
from thence.proofs.prove import prove_specification
from thence.spec.verdict import Verdict


def machine(name: str) -> ir.Machine:
    return specification(str(library()[0].parent / "benchmarks" / f"{name}.thence")).machines[0]


def said(name: str, transition: str) -> list[str]:
    action = next(each for each in actions(machine(name)) if each.name == transition)
    return [show_expression(each) for each in reasons_of(action, machine(name))]


LOST = {
    "toy_consensus": "forall q. exists n. member(n, q) and not vote(n, v) and voted(n)",
    "paxos": "forall q. exists n. member(n, q) and not voted(n, b, v) and left(n, b)",
}
"""By what a value can be decided no more."""


@pytest.mark.parametrize("name", LOST)
def test_what_can_be_decided_no_more(name: str) -> None:
    assert LOST[name] in said(name, "decide")
    assert come_first(machine(name))


@pytest.mark.parametrize("name", LOST)
def test_for_what_is_decided_stands_what_can_still_be_decided(name: str) -> None:
    instead = {show_expression(each): show_expression(lost) for each, lost in lost_instead(machine(name))}
    decided = [each for each in instead if each.startswith("decided(")]
    assert [instead[each] for each in decided] == [LOST[name]]
    assert LOST[name] in [lost for each, lost in instead.items() if each.startswith("exists q. forall n.")]


def test_few_reasons_are_of_what_the_effect_does_not_show() -> None:
    own = machine("paxos")
    every, few = (
        {show_expression(each) for action in actions(own) for each in reasons_of(action, own, few=few)}
        for few in (False, True)
    )
    assert few < every
    assert "exists q. forall n. member(n, q) implies voted(n, b, v)" in few
    assert "exists c. voted(n, c, v) and c < b" in every - few  # a report shows its ballot


def test_what_a_relation_says_of_fewer() -> None:
    assert "exists w. voted(n, d, w)" in said("paxos", "report")
    assert "exists c, w. reported(n, b, c, w)" in said("paxos", "propose")
    assert not come_first(machine("lock_server"))


def test_that_there_is_a_reason_of_which_a_guard_speaks_alone() -> None:
    """What is committed was committed by some quorum; that some quorum is honest never changes, and says nothing."""
    assert said("quorum_commit", "commit") == ["exists q. forall m. commits(m, q) implies ready(m)"]
    assert "exists m. no(m)" in said("quorum_commit", "abort_at_once")
    assert not any(each.startswith("exists n.") for each in said("quorum_commit", "get_ready"))
    assert "exists m. honest(m)" not in said("echo_broadcast", "join")


def test_somebody_along_the_way_of_a_token() -> None:
    there = said("dijkstra_ring", "pass_on")
    assert {"exists n. black(n) and n <= token()", "exists n. active(n) and token() < n"} <= {*there}
    assert not any("lowest()" in each or "at_work" in each for each in there)  # these never change
    assert not list(along_an_order(machine("raft_election")))  # each node has its own place in the order


@pytest.mark.parametrize(("name", "speaks"), [("mf", True), ("skeen", False)])
def test_blocks_come_first_where_causal_order_is_to_be_proved(name: str, speaks: bool) -> None:
    """Both have a guard that blocks deliveries. Of `skeen` it is expected that `causal` is refuted."""
    (subject,) = (hidden(each, ["all"]) for each in specification(name).machines)
    assert come_first(about_states(subject)) == speaks
    assert come_first(about_states(replace(subject, expects=())))


BLOCKED = "exists x. missing(x, m_) and (before(a_, x) or a_ = x)"
"""That a process misses a permit of the message a, or of a later one of its sender."""


def test_what_a_message_remembers_blocks_its_sender() -> None:
    """`waits(m, x) := missing(x, src(m))`: a copy of what stands in the way, without any condition besides."""
    (subject,) = specification("hybrid_multicast").machines
    send = next(each for each in actions(subject) if each.name == "causal_send")
    assert BLOCKED in [show_expression(each) for each in reasons_of(send, subject)]


NO_ECHO = "forall q. exists m. member(m, q) and not echo(m, v) and (echoed(m) and honest(m))"
"""That no quorum can echo v any more: of each an honest node has echoed something else. Liars may still echo it."""


def test_what_no_transition_does_any_more(specify: Callable[[str], ir.Specification]) -> None:
    """Two transitions make an echo, an honest one and a lie: what forbids both of them says that there will be none."""
    assert NO_ECHO in said("echo_broadcast", "get_ready")
    parts_of_it = [NO_ECHO.replace("(echoed(m) and honest(m))", part) for part in ("echoed(m)", "honest(m)")]
    assert not {*parts_of_it} & {*said("echo_broadcast", "get_ready")}
    text = (library()[0].parent / "benchmarks" / "echo_broadcast.thence").read_text().split("  invariant ")[0]
    results = prove_specification(specify(f"{text}  stable lost(v: value): {NO_ECHO}\n"))
    assert [each.verdict for each in results if each.name == "lost"] == [Verdict.PROVED]


HEARD = """
machine heard_votes:
  delivery off
  sort node, quorum, value
  constant relation honest(n: node)
  constant relation member(n: node, q: quorum)
  constant function input(n: node): value
  relation voted(n: node, v: value)
  relation heard(n: node, m: node, v: value)
  relation decided(n: node, v: value)
  axiom common: forall q, r. exists n. member(n, q) and member(n, r) and honest(n)
  transition vote(n: node):
    require honest(n)
    forall v: voted(n, v) := voted(n, v) or v = input(n)
  transition lie(n: node, v: value):
    require not honest(n)
    voted(n, v) := true
  transition hear(n: node, m: node, v: value):
    require voted(m, v)
    heard(n, m, v) := true
  transition decide(n: node, v: value, q: quorum):
    require forall m. member(m, q) implies heard(n, m, v)
    decided(n, v) := true
  invariant agreement: forall n, m, v, w. decided(n, v) and decided(m, w) implies v = w
"""
TOLD = "exists q. forall m. member(m, q) implies voted(m, v)"
"""The votes that the decision needs, without who heard them."""

OTHERWISE = "forall q. exists m. member(m, q) and not voted(m, v) and (honest(m) and v != input(m))"
"""That no quorum can vote for v any more: an honest node votes for its input only, as its update says."""

TAKEN_BACK = """
  transition withdraw(n: node, v: value):
    voted(n, v) := false
"""


def test_what_was_heard_others_have_said(specify: Callable[[str], ir.Specification]) -> None:
    def told(text: str) -> set[str]:
        (own,) = specify(text).machines
        return {show_expression(each) for action in actions(own) for each in reasons_of(action, own)} & {
            TOLD,
            OTHERWISE,
        }

    assert told(HEARD) == {TOLD, OTHERWISE}
    before, after = HEARD.split("  invariant ")
    assert told(f"{before.rstrip()}{TAKEN_BACK}  invariant {after}") == set()  # a vote that was heard may be gone
    unheard = HEARD.replace("    require voted(m, v)\n", "")
    assert told(unheard) == set()


UNTOLD = "forall q. exists n. member(n, q) and not answered(n, r) and stored(n, v_)"
"""That r cannot end before a node answers that has stored v."""


def test_what_an_answer_tells() -> None:
    """`end(r, q)` needs `answered(n, r)`, and an answer tells r of what its node has stored: not of more, or less."""
    assert [each for each in said("quorum_register", "end") if each.startswith("forall q. ")] == [UNTOLD]


UNIVERSE = {"process": 1, "message": 1, "node": 3, "quorum": 2, "value": 2, "ballot": 3, "read": 2}


def start(subject: ir.Machine, chance: random.Random) -> Structure:
    """Random quorums that have somebody in common."""
    member = next(each for each in symbols(subject) if each.name == "member")
    in_common = compiled(subject.axioms[0].body, ())
    while True:
        members = {key: chance.random() < 0.7 for key in tuples([p.type for p in member.parameters], UNIVERSE)}
        state = initial(subject, UNIVERSE, {"member": members})
        if value_in(in_common, state):
            return state


def states_after(subject: ir.Machine, chance: random.Random) -> Iterator[Structure]:
    """The states after each of the thirty steps of a random run, or of fewer where nothing can happen any more."""
    state = start(subject, chance)
    guards = {each.name: compiled(each.guard, [p.name for p in each.parameters]) for each in actions(subject)}
    for _ in range(30):
        enabled = [
            (each, arguments)
            for each in actions(subject)
            for arguments in tuples([p.type for p in each.parameters], UNIVERSE)
            if value_in(guards[each.name], state, *arguments)
        ]
        if not enabled:
            return
        state = step(*chance.choice(enabled), state)
        yield state


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_stays_lost(name: str) -> None:
    """In random runs: once the formula is true of a value, it stays true, and the value is not decided any more."""
    subject = machine(name)
    decide = next(each for each in actions(subject) if each.name == "decide")
    lost = next(each for each in reasons_of(decide, subject) if show_expression(each) == LOST[name])
    marked = next(each for each in decide.updates if each.symbol == "decided").arguments
    names = [argument.name for argument in marked if isinstance(argument, ir.Local)]
    is_lost = compiled(lost, names)
    values = list(tuples([argument.type for argument in marked], UNIVERSE))
    happened = decided = 0
    for seed in range(120):
        gone: set[tuple[int, ...]] = set()
        for state in states_after(subject, random.Random(seed)):
            for value in values:
                if value in gone:
                    assert value_in(is_lost, state, *value)
                elif value_in(is_lost, state, *value) and not state.tables["decided"][value]:
                    gone.add(value)
            assert not any(state.tables["decided"][value] for value in gone)
        happened += len(gone)
        decided += sum(state.tables["decided"].values())
    assert happened > 50 and decided > 20


def test_what_is_not_told_is_not_left_out() -> None:
    """In random runs: a read of which every quorum has a node that has stored v and not answered, does not end without
    v; once this is so, it is so until the read knows v."""
    subject = machine("quorum_register")
    end = next(each for each in actions(subject) if each.name == "end")
    untold = compiled(next(each for each in reasons_of(end, subject) if show_expression(each) == UNTOLD), ["r", "v_"])
    pairs = list(tuples([parameter.type for parameter in begun_before(subject).parameters], UNIVERSE))
    seen = told = 0
    for seed in range(60):
        owed: set[tuple[int, ...]] = set()
        for state in states_after(subject, random.Random(seed)):
            for v, r in pairs:
                knows = bool(state.tables["saw"][r, v])
                if (v, r) in owed and knows:
                    owed.remove((v, r))
                    told += 1
                elif value_in(untold, state, r, v) and not knows:
                    assert not state.tables["ended"][(r,)]
                    owed.add((v, r))
                assert (v, r) not in owed or value_in(untold, state, r, v)
        seen += len(owed)
    assert seen > 20 and told > 20


def begun_before(subject: ir.Machine) -> ir.Symbol:
    return next(each for each in symbols(subject) if each.name == "before")


ROUNDS = """
machine rounds:
  delivery off
  sort node, quorum, value
  sort round ordered
  constant relation member(n: node, q: quorum)
  function round_of(n: node): round
  relation voted(n: node, r: round, v: value)
  relation decided(v: value)
  transition advance(n: node, r: round):
    require round_of(n) < r
    round_of(n) := r
  transition vote(n: node, r: round, v: value):
    require round_of(n) = r
    voted(n, r, v) := true
  transition decide(v: value, r: round, q: quorum):
    require forall n. member(n, q) implies voted(n, r, v)
    decided(v) := true
  invariant agreement: forall v, w. decided(v) and decided(w) implies v = w
"""


def test_who_has_left_a_round_does_nothing_in_it_any_more(specify: Callable[[str], ir.Specification]) -> None:
    """Of a function that only rises. What is done in some round is looked at in each round, too."""
    left = "forall q. exists n. member(n, q) and not voted(n, r, v) and r < round_of(n)"
    somewhere = "exists r, q. forall n. member(n, q) implies voted(n, r, v)"

    def found(text: str) -> set[str]:
        (own,) = specify(text).machines
        return {show_expression(each) for action in actions(own) for each in reasons_of(action, own)}

    assert {left, somewhere, left.replace("forall q", "forall r, q")} <= found(ROUNDS)
    reset = "  transition reset(n: node, r: round):\n    round_of(n) := r\n"
    for falls in (
        ROUNDS.replace("require round_of(n) < r", "require r < round_of(n)"),
        ROUNDS.replace("  transition vote", f"{reset}  transition vote"),
    ):
        assert somewhere in found(falls) and not any("member" in each and "< round_of" in each for each in found(falls))
