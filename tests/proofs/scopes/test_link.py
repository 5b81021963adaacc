"""Links: they hold in the library; whatever is changed about protocol, clauses or machine shows as a broken event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes, locate
from thence.proofs.explore import exploration
from thence.proofs.explore.exploration import Engine, Method, Progress
from thence.proofs.scopes.link import LinkCheck, check_link
from thence.proofs.scopes.scopes import check_links, check_mutant
from thence.spec.verdict import Verdict

Library: TypeAlias = Callable[[str], ir.Specification]

SMALL = ir.Workload(3, (2, 1, 1), ((1, 2), (0, 2), (0,)))
"""Who may break what the machines ask for: small enough to be explored in a second."""
TWO = ir.Workload(2, (2, 1), ((1,), (0,)))
LOSSY = replace(TWO, losses=1)


def changed(name: str, old: str, new: str) -> ir.Link:
    """The link of a library file in which a piece of text is replaced where it stands first."""
    text = locate(name).read_text(encoding="utf-8")
    assert old in text, old
    loaded = load_bytes(Path("changed.thence"), text.replace(old, new, 1).encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    return loaded.specification.links[0]


def check(link: ir.Link, workload: ir.Workload = SMALL) -> LinkCheck:
    return check_link(link, link.protocol, workload)


@pytest.mark.long(but=("hybrid_basic-two", "mf-two"))
@pytest.mark.parametrize(
    ("name", "workload", "states", "transitions"),
    [
        ("mf", TWO, 94, 153),
        ("mf", SMALL, 5_104, 11_447),
        ("hybrid_basic", TWO, 257, 446),
        ("hybrid_basic", SMALL, 16_534, 38_677),
    ],
    ids=["mf-two", "mf", "hybrid_basic-two", "hybrid_basic"],
)
def test_links_of_the_library(
    library: Library, name: str, workload: ir.Workload, states: int, transitions: int
) -> None:
    found = check(library(name).links[0], workload)
    assert found.complete
    assert found.broken is None
    assert (found.states, found.transitions) == (states, transitions)


MUTANTS = {
    ("mf", "posts_at_once"): ("network_send", 2),
    ("hybrid_basic", "ids_from_zero"): ("deliver", 3),
    ("hybrid_basic", "never_flags"): ("network_send", 4),
    ("hybrid_basic", "forgets_permits"): ("network_send", 4),
    ("hybrid_basic", "delivers_on_arrival"): ("deliver", 3),
}


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_mutants_that_break_their_link(library: Library, name: str, mutant: str) -> None:
    specification = library(name)
    mutated = next(known.mutated for known in specification.mutants if known.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    found = check_link(replace(specification.links[0], invariants=()), mutated, SMALL)
    assert found.broken is not None
    assert (found.broken.refusal.transition, len(found.steps)) == MUTANTS[name, mutant]
    assert not found.complete
    assert found.broken.event.startswith(f"p{found.steps[-1].action.process}: ")
    assert "which the machine refuses: " in str(found.broken)


@pytest.mark.parametrize("mutant", ["does_not_wait", "acknowledged_unseen", "input_not_a_queue"])
def test_a_machine_that_asks_for_less_is_conformed_to_as_well(library: Library, mutant: str) -> None:
    """The same protocol, a weaker machine: nothing may break, and nothing more is reached."""
    specification = library("mf")
    machine = next(known.mutated for known in specification.mutants if known.name == mutant)
    assert isinstance(machine, ir.Machine)
    found = check(replace(specification.links[0], machine=machine), TWO)
    assert (found.complete, found.broken) == (True, None)


CLAUSES = {
    ("mf", "causal_send"): "network_send",
    ("mf", "network_send"): "get",
    ("mf", "get"): "deliver",
    ("mf", "acknowledge"): "network_send",
    ("hybrid_basic", "causal_send"): "network_send",
    ("hybrid_basic", "network_send"): "deliver",
    ("hybrid_basic", "deliver"): "receive_ack",
    ("hybrid_basic", "receive_ack"): "send_permit",
    ("hybrid_basic", "send_permit"): "receive_permit",
    ("hybrid_basic", "receive_permit"): "network_send",
}


@pytest.mark.parametrize(("name", "transition"), CLAUSES)
def test_no_clause_can_be_left_out(library: Library, name: str, transition: str) -> None:
    """The machine misses the event as soon as another one depends on it."""
    link = library(name).links[0]
    clauses = tuple(clause for clause in link.clauses if clause.targets[0].transition != transition)
    assert len(clauses) == len(link.clauses) - 1
    found = check(replace(link, clauses=clauses, invariants=()))
    assert found.broken is not None
    assert found.broken.refusal.transition == CLAUSES[name, transition]


@pytest.mark.parametrize(
    ("name", "transition", "guard"),
    [
        ("mf", "network_send", "forall a. network_sent(a) implies delivered(a)"),
        ("mf", "get", "forall x. got(x) implies dst(x) != dst(m)"),
        ("mf", "deliver", "forall a. dst(a) = src(m) implies sent(a)"),
        ("hybrid_basic", "causal_send", "forall a. sent(a) implies dst(a) != src(m)"),
        ("hybrid_basic", "network_send", "forall x. not missing(x)"),
        ("hybrid_basic", "send_permit", "acked(m) and permitted(m)"),
        ("hybrid_basic", "deliver", "forall a. past(dst(m), a) implies dst(a) = dst(m)"),
    ],
)
def test_a_machine_that_asks_for_more_refuses(name: str, transition: str, guard: str) -> None:
    """One more guard, which the protocol does not keep. The third speaks about what is never sent: the stand-ins."""
    head = f"  transition {transition}(m):"
    found = check(changed(name, head, f"{head}\n    require {guard}"))
    assert found.broken is not None
    assert found.broken.refusal.transition == transition
    assert found.broken.refusal.guard == guard
    assert found.steps


CHOICE = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message ACK()
  state: open: nat
  on causal_send(m):
    open := open + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    deliver m
    send ACK() to j
  on receive ACK() from j: open := open - 1

scope s of p:
  processes 3
  sends 2, 0, 0

machine q:
  relation acked(m: message)
  relation done(p: process)
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  transition ack(m, o):
    require delivered(m) and not acked(m)
    require sent(o) and src(o) = src(m) and o != m and not acked(o)
    acked(m) := true
  transition ack_last(m, p: process):
    require delivered(m) and not acked(m) and p = src(m)
    require forall o. sent(o) and src(o) = src(m) and o != m implies acked(o)
    acked(m) := true
    done(p) := true
  prove no_creation

conforms p to q:
  causal_send(m)       is causal_send(m)
  deliver m            is deliver(m)
  receive ACK() from j is {targets}
"""


def test_an_event_is_the_first_of_several_transitions_that_is_enabled(specify: Library) -> None:
    """Which message is acknowledged, which other one is not, and whose it was: the machine finds all of it."""
    (link,) = specify(CHOICE.format(targets="ack_last(any, any) or ack(any, any)")).links
    workload = link.scopes[0].workload
    found = check(link, workload)
    assert (found.complete, found.broken) == (True, None)
    for targets, refused in (("ack(any, any)", "ack"), ("ack_last(any, self)", "ack_last")):
        (one,) = specify(CHOICE.format(targets=targets)).links
        broken = check(one, workload).broken
        assert broken is not None and broken.refusal.transition == refused and not broken.others
    (neither,) = specify(CHOICE.format(targets="ack_last(any, j) or ack(any, any), when open > 0")).links
    broken = check(neither, workload).broken
    assert broken is not None and [other.transition for other in broken.others] == ["ack"]
    assert str(broken) == (
        "p0: receive ACK() from p1 is ack_last(any, p1), which the machine refuses: delivered(m) and not acked(m) and "
        "p = src(m) (p = p1); nor ack: sent(o) and src(o) = src(m) and o != m and not acked(o)"
    )


VALUES = """
machine counter:
  delivery off
  function floor(p: process): nat
  relation busy: process
  transition begin(p: process):
    require not busy(p)
    busy(p) := true
    floor(p) := floor(p) + 2
  transition finish(p: process, k: nat):
    require busy(p) and floor(p) <= k
    busy(p) := false
  transition stop(p: process, q: process): require not busy(q) and p != q
  invariant even: forall p. floor(p) != 1

protocol work:
  network reliable, reordering
  message DONE(k: nat, ps: set of process)
  on go(to: process): send DONE(1, {self, to}) to to
  on receive DONE(k, ps) from j: pass

scope s of work:
  processes 2
  go 0, 1

conforms work to counter:
  go(to)                     is begin(to)
  receive DONE(k, ps) from j is finish(self, k) or stop(self, j)
"""


def test_a_refusal_shows_values_by_their_types(specify: Library) -> None:
    (link,) = specify(VALUES).links
    assert str(check(link, link.scopes[0].workload).broken) == (
        "p1: receive DONE(1, {p1}) from p1 is finish(p1, 1), which the machine refuses: busy(p) and floor(p) <= k "
        "(busy(p1) = true, floor(p1) = 2, k = 1); nor stop: not busy(q) and p != q (busy(p1) = true, p = p1, q = p1)"
    )


INDICES = {"to_two": (610, 1_309), "to_one_first": (209, 453), "two_permits": (473, 1_148)}


@pytest.mark.long(but=("to_one_first",))
@pytest.mark.parametrize("scope", INDICES)
def test_algorithm_2_moves_the_indices_as_its_machine_does(library: Library, scope: str) -> None:
    found = library("hybrid_optimal_indices")
    (link,) = found.links
    assert {one.name for one in link.scopes} == INDICES.keys()
    checked = check(link, next(one.workload for one in link.scopes if one.name == scope))
    assert (checked.complete, checked.broken) == (True, None)
    assert (checked.states, checked.transitions) == INDICES[scope]
    (same,) = library("hybrid_optimal").protocols
    assert link.protocol == same, "letter by letter"


@pytest.mark.long(but=("acknowledgements",))
@pytest.mark.parametrize(("clause", "targets"), [(2, 8), (3, 5)], ids=["acknowledgements", "permits"])
def test_the_protocol_takes_each_way_through_a_handler(library: Library, clause: int, targets: int) -> None:
    """Whichever transition is left out, an event is enabled in none of the others."""
    (link,) = library("hybrid_optimal_indices").links
    declared = link.clauses[clause]
    assert len(declared.targets) == targets
    for number in range(targets):
        fewer = replace(declared, targets=(*declared.targets[:number], *declared.targets[number + 1 :]))
        clauses = tuple(fewer if each is declared else each for each in link.clauses)
        less = replace(link, clauses=clauses)
        assert any(check(less, scope.workload).broken for scope in link.scopes), declared.targets[number].transition


def test_sent_again_is_silent_only_with_once(library: Library) -> None:
    """A retransmission is no second network send; without `once` the machine would have to take it as one."""
    link = library("hybrid_basic").links[0]
    assert check(link, LOSSY).complete
    always = tuple(replace(clause, once=False) for clause in link.clauses)
    found = check(replace(link, clauses=always), LOSSY)
    assert found.broken is not None
    assert found.broken.refusal.guard == "sent(m) and not network_sent(m)"
    assert "tick" in {step.action.kind for step in found.steps}


def test_an_event_is_silent_where_its_condition_is_false(library: Library) -> None:
    """A message is routed by the nodes on its way; where it is sent, that is no event of its own."""
    found = library("tree")
    (link,) = found.links
    workload = next(scope.workload for scope in found.scopes if scope.name == "links")
    assert check(link, workload).broken is None
    always = tuple(replace(clause, when=None) for clause in link.clauses)
    broken = check(replace(link, clauses=always), workload).broken
    assert broken is not None
    assert (broken.refusal.transition, broken.event) == ("route", "p0: send MSG(m0.1) to p1")
    never = changed("tree", "when m.src != self", "when m.src = self and m.src != self")
    broken = check(replace(never, invariants=()), workload).broken
    assert broken is not None
    assert broken.refusal.transition in ("forward", "deliver")


def test_internal_steps_are_taken_as_far_as_they_go(library: Library) -> None:
    """The window of unacknowledged messages slides in the handler of an acknowledgement, where there is no event."""
    found = library("hybrid_basic_numbers")
    (link,) = found.links
    assert link.internal == ("slide",)
    workload = next(scope.workload for scope in found.scopes if scope.name == "pair")
    assert check(link, workload).broken is None
    broken = check(replace(link, internal=()), workload).broken
    assert broken is not None
    assert broken.refusal.guard == "network_sent(m) and mid(m) <= removed(src(m)) + 1"


TURNING = """
protocol direct:
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m

machine turning:
  relation on(p: process)
  relation off(m: message)
  transition causal_send(m): pass
  transition turn(p): on(p) := not on(p)
  transition switch(m): off(m) := true
  transition deliver(m):
    require {guard}
  prove no_creation

conforms direct to turning in single:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  internal switch, turn

scope single of direct:
  processes 2
  sends 1, 0
"""


def test_internal_steps_that_go_on_for_ever_end() -> None:
    """They may stop anywhere: what has come back is not gone through again."""
    for guard, holds in (("sent(m) and off(m)", True), ("sent(m) and not off(m)", False)):
        loaded = load_bytes(Path("turning.thence"), TURNING.format(guard=guard).encode())
        assert loaded.specification is not None
        (link,) = loaded.specification.links
        found = check(link, link.scopes[0].workload)
        assert (found.broken is None) == holds


@pytest.mark.parametrize(
    ("old", "new", "guard"),
    [
        ("receive_ack(sent_by(self, n))", "receive_ack(sent_by(self, n + 5))", "p0 has not sent a message of number 6"),
        ("receive_ack(sent_by(self, n))", "receive_ack(sent_by(self, n - 5))", "a nat goes below zero"),
    ],
)
def test_an_argument_without_a_value_is_no_event_of_the_machine(old: str, new: str, guard: str) -> None:
    found = check(changed("hybrid_basic", old, new), ir.Workload(2, (1, 0), ((1,), (0,))))
    assert found.broken is not None
    assert found.broken.refusal.guard == guard
    assert found.steps[-1].title == "p0: receive ACK(1) from p1"


def test_a_step_at_fault_is_no_event() -> None:
    """What does not happen is not held against the machine; but runs end there, so that nothing is claimed of them."""
    link = changed("mf", "    IB.push(m)\n", "    while 0 - 1 > 0: pass\n")
    found = check(link, TWO)
    assert (found.complete, found.broken) == (False, None)
    assert "a step is a fault" in found.why_incomplete
    # The sends alone, seven edges between six states; a receipt at fault is an edge to where it came from.
    assert (found.states, found.transitions) == (6, 14)


def test_progress_and_interrupt(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "PROGRESS_SECONDS", 0)
    link = library("hybrid_basic").links[0]

    def interrupt(progress: Progress) -> None:
        if progress.states > 200:
            raise KeyboardInterrupt

    found = check_link(link, link.protocol, SMALL, progress=interrupt)
    assert found.states > 200
    assert (found.complete, found.broken, found.why_incomplete) == (False, None, "interrupted")


UNDECIDABLE = {
    "an axiom that the scope does not satisfy": (
        "  axiom no_self: forall m. src(m) != dst(m)\n  transition causal_send(m): pass\n",
        "do not satisfy no_self of m",
    ),
    "unsent messages related to each other": (
        "  relation rel(a: message, b: message)\n  transition causal_send(m):\n"
        "    forall x, y: rel(x, y) := src(x) = src(m) and src(y) = src(m)\n",
        "relates unsent messages",
    ),
}


@pytest.mark.parametrize("what", UNDECIDABLE)
def test_a_link_that_cannot_be_followed_is_not_called_checked(
    what: str, specify: Callable[[str], ir.Specification]
) -> None:
    beginning, reason = UNDECIDABLE[what]
    found = specify(
        f"""machine m:
{beginning}  transition deliver(m):
    require sent(m) and not delivered(m)
  prove no_creation

protocol direct:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property at_most_once

conforms direct to m in single:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)

scope single of direct:
  processes 2
  sends 1, 0
  self sends
"""
    )
    check = check_link(found.links[0], found.protocols[0], found.scopes[0].workload)
    assert not check.complete
    assert check.broken is None
    assert reason in check.why_incomplete


INPUTS = """
machine turns:
  \"\"\"One is inside at a time.\"\"\"
  delivery off
  relation inside(p: process)
  function beats(p: process): nat
  transition enter(p: process):
    require forall q. not inside(q)
    inside(p) := true
  transition leave(p: process):
    require inside(p)
    inside(p) := false
  transition beat(p: process):
    require beats(p) < {limit}
    beats(p) := beats(p) + 1
  invariant one: forall p, q. inside(p) and inside(q) implies p = q

protocol token:
  network reliable
  role first: process = 0
  message TOKEN()
  state:
    here: bool = (self = first)
    busy: bool
  on use() when here and not busy: busy := true
  on hand(p: process) when here and p != self:
    busy := false
    here := {after}
    send TOKEN() to p
  on receive TOKEN() from j: here := true
  periodically beat: pass

scope two of token:
  processes 2
  use 1 per process
  hand 2 per process
  ticks beat 2

conforms token to turns:
  use()             is enter(self)
  hand(p)           is leave(self), when busy
  periodically beat is beat(self)
  invariant same: forall p: process. busy@p {relation} inside(p)
"""
RIGHT = {"limit": "2", "after": "false", "relation": "iff"}


@pytest.mark.parametrize(
    ("change", "event", "invariant"),
    [
        ({}, None, None),
        ({"after": "true"}, "p1: use()", None),
        ({"limit": "1"}, "p0: the timer beat fires", None),
        ({"relation": "and"}, None, "same"),
        ({"relation": "implies not"}, None, "same"),
    ],
)
def test_inputs_and_timers_are_events_and_invariants_tie_the_states(
    change: dict[str, str], event: str | None, invariant: str | None
) -> None:
    loaded = load_bytes(Path("inputs.thence"), INPUTS.format(**(RIGHT | change)).encode())
    assert loaded.specification is not None, [diagnostic.message for diagnostic in loaded.diagnostics]
    found = check(loaded.specification.links[0], loaded.specification.scopes[0].workload)
    assert (None if found.broken is None else found.broken.event) == event
    assert (None if found.unlike is None else found.unlike.invariant.name) == invariant
    assert found.complete == (found.refuted is None)
    assert bool(found.steps) == (found.transitions > 0 and not found.complete)


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("  use()             is enter(self)", "  uses() is enter(self)", "E0204", "no input `uses`"),
        ("  use()             is enter(self)", "  use(k) is enter(self)", "E0607", "0 parameters"),
        ("periodically beat is", "periodically is", "E0204", "no timer without a name"),
        ("  hand(p)           is", "  hand() is", "E0607", "1 parameter"),
        (
            "relation inside(p: process)",
            "relation inside(p: process)\n  constant relation of(m: message)",
            "E0619",
            "messages",
        ),
        ("relation inside(p: process)", "sort node\n  relation inside(p: process)", "E0619", "sorts of its own"),
        ("relation inside(p: process)", "sort age ordered\n  relation inside(p: process)", "E0619", "sorts of its own"),
        ("busy@p iff inside(p)", "busy@p iff outside(p)", "E0205", "outside"),
        ("busy@p iff inside(p)", "busy iff inside(p)", "E0402", "whose `busy`"),
        ("  hand(p)           is", "  use() is leave(self)\n  hand(p) is", "E0608", "a second clause for `use`"),
    ],
)
def test_what_is_wrong_with_events_and_invariants_is_said(old: str, new: str, code: str, message: str) -> None:
    text = INPUTS.format(**RIGHT)
    assert old in text
    loaded = load_bytes(Path("wrong.thence"), text.replace(old, new, 1).encode())
    assert loaded.specification is None
    assert any(each.code == code and message in each.message for each in loaded.diagnostics), loaded.diagnostics


SENT_TWICE = """\
machine single:
  relation posted: message
  transition causal_send(m): pass
  transition post(m):
    require sent(m) and not posted(m)
    posted(m) := true
  transition deliver(m):
    require posted(m) and not delivered(m)
  invariant sent: forall m. posted(m) implies sent(m)

machine loose:
  transition causal_send(m): pass
  transition deliver(m): require sent(m)
  invariant sent: forall m. delivered(m) implies sent(m)

protocol p:
  network reliable, reordering
  constant copies: nat = 1
  message MSG(m: message, n: nat) carries m
  state: seen: set of message
  on causal_send(m):
    send MSG(m, 1) to m.dst
    if copies > 1: send MSG(m, 2) to m.dst
  on receive MSG(m, n) from j:
    if m not in seen:
      seen.add(m)
      deliver m

conforms p to loose:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)

conforms p to single:
  causal_send(m)      is causal_send(m)
  send MSG(m, n) to j is post(m), when copies = 1 or n = 1
  deliver m           is deliver(m)

scope small of p:
  processes 2
  sends 1 per process

scope endless of p:
  processes 2
  sends 1 per process
  for ever

scope unbounded of p:
  processes 2
  any number of messages

mutant twice of p:
  constant copies: nat = 2
  expect holds link in small

mutant again of p:
  constant copies: nat = 2
  on receive MSG(m, n) from j: deliver m
  expect refuted link in small
"""


def test_a_link_is_not_checked_where_messages_are_sent_without_end(specify: Callable[[str], ir.Specification]) -> None:
    """A few messages of each process would say nothing of the others."""
    found = {result.name.partition(":")[0]: result for result in check_links(specify(SENT_TWICE).links[1])}
    assert {name: result.verdict.value for name, result in found.items()} == {
        "small": "holds", "endless": "unknown", "unbounded": "unknown"
    }  # fmt: skip
    assert "without end" in found["endless"].facts["unknown"]


def test_a_link_reads_the_constants_of_the_mutant(specify: Callable[[str], ir.Specification]) -> None:
    found = specify(SENT_TWICE)
    mutated = found.mutants[0].mutated
    assert isinstance(mutated, ir.Protocol)
    check = check_link(found.links[1], mutated, found.scopes[0].workload)
    assert (check.complete, check.broken) == (True, None)


def test_a_mutant_breaks_its_link_if_it_breaks_one_of_several(specify: Callable[[str], ir.Specification]) -> None:
    found = specify(SENT_TWICE)
    (result,) = check_mutant(found, found.mutants[1])
    assert (result.verdict, result.facts["machine"]) == (Verdict.REFUTED, "single")


AGAIN = """
protocol again:
  network reliable, reordering
  message MSG(m: message) carries m
  state: got: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    deliver m
    got.add(m)
  periodically:
    for m in got: deliver m

scope s of again:
  processes 2
  sends 1, 0

machine once:
  transition causal_send(m: message): pass
  transition deliver(m: message): require sent(m) and not delivered(m)
  prove no_creation

conforms again to once:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
"""


@pytest.mark.parametrize("engine", ["interpreted", "native"])
def test_a_timer_that_only_delivers_again_is_an_event(specify: Library, engine: Engine) -> None:
    """It leaves the protocol where it was, and yet the machine has a say."""
    (link,) = specify(AGAIN).links
    found = check_link(link, link.protocol, link.scopes[0].workload, method=Method(engine))
    assert found.broken is not None and found.broken.refusal.guard == "sent(m) and not delivered(m)"
    assert len(found.steps) == 3


POLITE = """
machine quick:
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  prove at_most_once

protocol polite:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    waiting: bool = true
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if not waiting: deliver m
  property at_most_once

scope both of polite:
  processes 2
  sends 1 per process

scope nobody of polite:
  processes 2
  sends 0, 0

conforms polite to quick in both, nobody:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
"""


def test_a_machine_that_takes_no_step_shows_nothing(specify: Callable[[str], ir.Specification]) -> None:
    both, nobody = check_links(specify(POLITE).links[0])
    assert both.verdict is Verdict.HOLDS and both.facts["not_tried"] == ["deliver"]
    assert nobody.verdict is Verdict.UNKNOWN and not nobody.expected and "no run" in nobody.facts["unknown"]
    willing = specify(POLITE.replace("= true", "= false")).links[0]
    assert "not_tried" not in check_links(willing)[0].facts
