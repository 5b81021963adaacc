"""Delivery is carried from a machine to a protocol: what its proof rests on, and that no run refutes what is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from thence.conformance.mutation.mutants import meaning, specification_mutants
from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.load import load_bytes
from thence.proofs.engines import explore
from thence.proofs.machine.inductive_set import InductiveSet
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.carrying.ending import ends
from thence.proofs.refinement.carrying.progress import (
    conditions,
    is_sent_once,
    packets_arrive,
    progress_obligations,
    prove_progress,
)
from thence.proofs.refinement.prover import prove_link
from thence.proofs.refinement.reactions import SENDS_BETWEEN_STEPS
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

PROTOCOL = """
protocol box:
  network reliable, reordering
  message LETTER(m: message) carries m
  state:
    box: queue of message
  on causal_send(m): send LETTER(m) to m.dst
  on receive LETTER(m) from j:
    box.push(m)
    while box is not empty:
      deliver box.first
      box.pop()
  property at_most_once, no_creation
  eventually delivered under fair receive
"""

TEXT = f"""
machine letters:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  eventually delivery(m): sent(m) leads to delivered(m) by:
    deliver(m)
  prove at_most_once, no_creation
{PROTOCOL}
conforms box to letters:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  invariant on_its_way: forall LETTER(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant once: forall m: message. (count LETTER(x) in flight. x = m) <= 1
  invariant inside: forall p: process. forall m in box@p. sent(m) and not delivered(m) and dst(m) = p
  invariant inside_once: forall p: process. forall x in box@p. forall y ahead. y != x
  invariant not_both: forall LETTER(m) in flight. forall p: process. m not in box@p
  invariant somewhere: forall m: message. sent(m) and not delivered(m)
    implies (exists LETTER(x) in flight. x = m) or m in box@(dst(m))
  between steps taken_out: forall p: process. box@p is empty
  eventually delivered by delivery
  expect proved
"""

INSIDE_ONCE = "  invariant inside_once: forall p: process. forall x in box@p. forall y ahead. y != x\n"

WORKLOADS = (ir.Workload(2, (2, 1), ((1, 1), (0,))), ir.Workload(2, (1, 0), ((1,), ())))


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=5_000, workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@pytest.fixture(scope="module")
def inductive(session: ProofSession) -> InductiveSet | None:
    found = load_bytes(Path("test.thence"), TEXT.encode()).specification
    assert found is not None
    return proved_set(session, found.machines[0])


def changed(specify: Specify, *pairs: str) -> ir.Link:
    text = TEXT
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (link,) = specify(text).links
    return link


def assessed(session: ProofSession, link: ir.Link, inductive: InductiveSet | None) -> tuple[Assessment, Assessment]:
    """Of the link, and of its progress."""
    shown = prove_link(session, link, inductive)
    return shown, prove_progress(session, link, inductive, shown)


def test_it_is_proved(specify: Specify, session: ProofSession, inductive: InductiveSet) -> None:
    link = changed(specify)
    shown, progress = assessed(session, link, inductive)
    assert (shown.verdict, progress.verdict) == (Verdict.PROVED, Verdict.PROVED)
    assert progress.facts["where"] == [SENDS_BETWEEN_STEPS]  # the loop takes a letter out in each round
    for workload in WORKLOADS:
        found = explore(link.protocol, workload, ["delivered"])
        assert found.complete and not found.violations


ASKED = {
    "lossy": ("reliable, reordering", "lossy, reordering"),
    "duplicating": ("reliable, reordering", "reliable, duplicating, reordering"),
    "packets need not arrive": ("under fair receive", "under fair periodically"),
    "another kind arrives": ("under fair receive", "under fair OTHER", "  state:\n", "  message OTHER()\n  state:\n"),
    "not always sent": ("  on causal_send(m): send", "  on causal_send(m): if box is not empty: send"),
    "left in the box": ("    while box is not empty:\n", "    if box.size > 1:\n"),
    "thrown away": ("    box.push(m)\n", "    if m.src != self: box.push(m)\n"),
    "the machine says less": ("sent(m) leads to", "sent(m) and (exists p. p != src(m)) leads to"),
}
"""Changes of the text, by what is missing then."""


@pytest.mark.long(but=1, share=7)
@pytest.mark.parametrize("missing", list(ASKED))
def test_it_is_not_proved_where_something_is_missing(
    specify: Specify, session: ProofSession, inductive: InductiveSet, missing: str
) -> None:
    link = changed(specify, *ASKED[missing])
    assert assessed(session, link, inductive)[1].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("fair", "arrive"), [("receive", True), ("LETTER", False), ("OTHER", False), ("LETTER, OTHER", True)]
)
def test_each_packet_has_to_arrive(specify: Specify, fair: str, arrive: bool) -> None:
    """One that never arrives holds back those behind it, on a channel that keeps its order."""
    text = PROTOCOL.replace("fair receive", f"fair {fair}")
    (protocol,) = specify(text.replace("  state:\n", "  message OTHER()\n  state:\n")).protocols
    assert packets_arrive(protocol) is arrive


@pytest.mark.long
def test_a_link_that_is_not_proved_shows_no_progress(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    link = changed(
        specify, "  invariant inside_once: forall p: process. forall x in box@p. forall y ahead. y != x\n", ""
    )
    shown, progress = assessed(session, link, inductive)
    assert shown.verdict is not Verdict.PROVED
    assert (progress.verdict, progress.facts["unknown"]) == (Verdict.UNKNOWN, "the link itself is not proved")


@pytest.mark.long
def test_no_mutant_is_proved_that_a_run_refutes(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    """Each edit of the protocol, in place of it; what is proved is explored, with and without its loops' ends."""
    link = changed(specify)
    loaded = load_bytes(Path("box.thence"), PROTOCOL.encode())
    assert loaded.specification is not None
    proved, refuted = 0, 0
    for mutant in specification_mutants(loaded, loaded.specification.protocols[0]):
        meant = meaning(mutant)
        if meant is None or "delivered" not in meant.protocols[0].eventually:
            continue
        other = replace(link, protocol=meant.protocols[0])
        wrong = [bool(explore(other.protocol, each, ["delivered"]).violations) for each in WORKLOADS]
        if any(wrong):
            refuted += 1
            assert assessed(session, other, inductive)[1].verdict is not Verdict.PROVED, mutant.title
        else:
            proved += assessed(session, other, inductive)[1].verdict is Verdict.PROVED
    assert refuted >= 5


BLINKING = """
machine blinks:
  relation flag(m: message)
  transition causal_send(m): pass
  transition blink(m):
    require sent(m) and not flag(m)
    flag(m) := true
  transition unblink(m):
    require flag(m)
    flag(m) := false
  transition deliver(m):
    require sent(m) and not delivered(m)
  eventually delivery(m): sent(m) leads to flag(m) or delivered(m) by:
    blink(m)
  invariant fl: forall m. flag(m) implies sent(m)
  prove at_most_once, no_creation

protocol box:
  network reliable, reordering
  message PING(m: message) carries m
  message PONG(m: message)
  state:
    got: set of message
    ok: bool
  on causal_send(m): send PING(m) to m.dst
  on go(): ok := true
  on receive PING(m) from j:
    send PONG(m) to j
    if ok and m not in got and m.dst = self:
      got.add(m)
      deliver m
  on receive PONG(m) from j:
    send PONG(m) to j
    if ok and m not in got and m.dst = self:
      got.add(m)
      deliver m
  property at_most_once, no_creation
  eventually delivered under fair receive

conforms box to blinks:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  receive PING(m) from j is blink(m)
  receive PONG(m) from j is blink(m)
  send PONG(m) to j is unblink(m)
  invariant ping: forall PING(m) from p to q in flight. sent(m) and dst(m) = q
  invariant pong: forall PONG(m) from p to q in flight. sent(m)
  invariant one: forall m: message. (count PING(x) in flight. x = m) + (count PONG(x) in flight. x = m) <= 1
  invariant unflagged: forall m: message. flag(m) implies sent(m)
  invariant gots: forall m: message. delivered(m) implies m in got@(dst(m))
  between steps off: forall m: message. not flag(m)
  between steps flying: forall m: message. sent(m)
    implies (exists PING(x) in flight. x = m) or (exists PONG(x) in flight. x = m)
  eventually delivered by delivery
  expect proved
"""
"""What the machine waits for is true inside each step, and never between steps: one packet goes on for ever."""


def test_what_is_true_inside_a_step_only_is_no_delivery(specify: Specify, session: ProofSession) -> None:
    (link,) = specify(BLINKING).links
    shown, progress = assessed(session, link, proved_set(session, link.machine))
    assert shown.verdict is Verdict.PROVED
    assert explore(link.protocol, WORKLOADS[1], ["delivered"]).violations
    assert progress.facts["unknown"] == "not proved: delivery is true only when the message is delivered"
    assert "what it leads to is true, and the message is not delivered" in progress.text


def test_a_statement_may_say_more_than_that_a_message_is_delivered(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    link = changed(specify, "leads to delivered(m) by", "leads to delivered(m) and sent(m) by")
    assert assessed(session, link, inductive)[1].verdict is Verdict.PROVED


# --- packets that are sent once, and loops that end -------------------------------------------------


ANSWERED = "    box.push(m)\n    send LETTER(m) to j\n"
BY_CALL = "  procedure again():\n    if box is not empty: send LETTER(box.first) to self\n  on receive"


@pytest.mark.parametrize(
    ("old", "new", "once"),
    [
        ("", "", True),
        ("    box.push(m)\n", ANSWERED, False),
        ("  on receive", BY_CALL, False),
        ("send LETTER(m) to m.dst\n", "if box is not empty: send LETTER(box.first) to m.dst\n", False),
    ],
)
def test_who_sends_a_packet_only_with_its_message(specify: Specify, old: str, new: str, once: bool) -> None:
    assert not old or PROTOCOL.count(old) == 1
    (protocol,) = specify(PROTOCOL.replace(old, new) if old else PROTOCOL).protocols
    assert is_sent_once(protocol, protocol.packets[0]) is once


MORE = """  state:
    other: queue of message
    seen: set of message
    early: map process to map nat to message
    turn: nat
    line: sliding array of nat
"""


@pytest.mark.parametrize(
    ("loop", "end"),
    [
        ("while box is not empty:\n      deliver box.first\n      box.pop()", True),
        ("while box is not empty:\n      if box.size > 1: deliver box.first\n      box.pop()", True),
        ("while box is not empty:\n      if box.size > 1: box.pop()", False),
        ("while box is not empty:\n      box.push(m)\n      box.pop()", False),
        ("while box is not empty:\n      box.pop()\n      more(m)", False),
        ("while box.size > 0:\n      box.pop()", True),
        ("while box is not empty:\n      if box.size > 1: return\n      box.pop()", True),
        ("while box is not empty:\n      for x in box: box.pop()", False),
        ("while m in seen:\n      seen.remove(m)", True),
        ("while m in seen:\n      let x = m\n      send LETTER(x) to j\n      seen.remove(m)", True),
        ("while m in seen:\n      let x = m\n      seen.remove(x)", False),
        ("while m in seen:\n      seen.remove(m)\n      seen.add(m)", False),
        ("while turn in early[j]:\n      deliver m\n      early[j].remove(turn)", True),
        ("while turn in early[j]:\n      let x = early[j][turn]\n      early[j].remove(turn)\n      turn := 3", True),
        ("while turn in early[j]:\n      turn := turn + 1\n      early[j].remove(turn)", False),
        ("while turn in early[j]:\n      early[self].remove(turn)", False),
        ("while turn in early[j]:\n      early[j].remove(turn)\n      early[self][turn] := m", False),
        ("while turn in early[j]:\n      early[j].remove(turn)\n      early.remove(self)", False),
        ("while early[j].size > 0:\n      early[j].remove(turn)", False),
        ("while line.size > 0:\n      if line.peek = 3: return\n      line.remove()", True),
        ("while line.size > 0:\n      line.remove()\n      line.add(3)", False),
        ("while exists x in seen. x.src = j:\n      for y in seen:\n        if y.src = j: seen.remove(y)", True),
        ("while exists x in box. x.src = j:\n      for x in box:\n        if x.src = j:\n          box.pop()", False),
        ("while exists x in seen. x.src = j:\n      for x in seen:\n        if x.src != j: seen.remove(x)", False),
        ("while exists x in seen. x.src = j:\n      for x in seen:\n        if x.src = j: seen.remove(m)", False),
        ("while exists x in seen. turn < 5:\n      turn := 9\n      for x in seen:\n        seen.remove(x)", False),
        ("while exists x in seen. turn < 5:\n      for x in seen:\n        if 5 > turn: seen.remove(x)", True),
        ("while exists x in seen. turn < 5:\n      for x in seen:\n        if 5 < turn: seen.remove(x)", False),
        ("while box is empty:\n      box.push(m)", False),
        ("while box is not empty:\n      let x = box.first\n      box.pop()\n      box := other", False),
    ],
)
def test_loops_that_end(specify: Specify, loop: str, end: bool) -> None:
    old = "while box is not empty:\n      deliver box.first\n      box.pop()"
    text = PROTOCOL.replace(old, loop).replace("  state:\n", MORE)
    text = text.replace("  property", "  procedure more(m: message): box.push(m)\n  property")
    (protocol,) = specify(text).protocols
    (found,) = (node for node in nodes(protocol.handlers) if isinstance(node, ir.While))
    assert ends(found) is end


def test_the_library_says_where_loops_are_taken_to_end(library: Callable[[str], ir.Specification]) -> None:
    links = [link for name in ("mf", "rst") for link in library(name).links if link.delivered_by is not None]
    assert {link.name: conditions(link)[-1:] for link in links} == {
        "mf to buffers": (),
        "rst to matrices_between_others": (SENDS_BETWEEN_STEPS,),
    }  # nothing is said of loops behind that


def test_there_is_an_obligation_for_each_line(
    library: Callable[[str], ir.Specification], session: ProofSession
) -> None:
    (link,) = library("mf").links
    (statement,) = link.machine.eventually
    found, by = progress_obligations(session, link, link.machine.invariants)
    assert len(found) == 1 + len(statement.steps) and not by
