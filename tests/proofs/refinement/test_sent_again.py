"""Delivery where packets may be lost: what timers send again brings it about, and no run refutes what is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from thence.conformance.mutation.mutants import meaning, specification_mutants
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.engines import explore
from thence.proofs.machine.inductive_set import InductiveSet
from thence.proofs.machine.obligations import conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.carrying.progress import progress_obligations, prove_progress
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

MACHINE = """
machine letters:
  relation arrived(m: message)
  transition causal_send(m): pass
  transition arrive(m):
    require sent(m)
    arrived(m) := true
  transition deliver(m): require arrived(m) and not delivered(m)
  invariant life: forall m. (arrived(m) implies sent(m)) and (delivered(m) implies arrived(m))
  eventually delivery(m): sent(m) leads to delivered(m) by:
    arrive(m) while not arrived(m)
    deliver(m)
  prove at_most_once, no_creation
"""

AT_ONCE = """
protocol again:
  network lossy, duplicating, reordering
  message LETTER(m: message) carries m
  message GOT(m: message)
  state:
    out: set of message
    got: set of message
  on causal_send(m):
    out.add(m)
    send LETTER(m) to m.dst
  on receive LETTER(m) from j:
    send GOT(m) to j
    if m not in got:
      got.add(m)
      deliver m
  on receive GOT(m) from j:
    out.remove(m)
  periodically resend:
    for m in out: send LETTER(m) to m.dst
  periodically beat: pass
  property at_most_once, no_creation
  eventually delivered under fair receive, resend
"""
"""A letter is sent again until it is acknowledged."""

ASKED_FIRST = """
protocol again:
  network lossy, duplicating, reordering
  message OFFER(m: message)
  message WANTED(m: message)
  message LETTER(m: message) carries m
  message GOT(m: message)
  state:
    out: set of message
    got: set of message
  on causal_send(m):
    out.add(m)
  on receive OFFER(m) from j:
    send WANTED(m) to j
  on receive WANTED(m) from j:
    send LETTER(m) to j
  on receive LETTER(m) from j:
    send GOT(m) to j
    if m not in got:
      got.add(m)
      deliver m
  on receive GOT(m) from j:
    out.remove(m)
  periodically resend:
    for m in out: send OFFER(m) to m.dst
  periodically beat: pass
  property at_most_once, no_creation
  eventually delivered under fair receive, resend
"""
"""A letter is offered again and again, and sent only when it is asked for: three kinds of packets in a row."""

LINK = """
conforms again to letters:
  causal_send(m)           is causal_send(m)
  receive LETTER(m) from j is arrive(m)
  deliver m                is deliver(m)
  invariant kept: forall m: message. sent(m) and not delivered(m) implies m in out@(src(m))
  invariant own: forall p: process. forall m in out@p. sent(m) and src(m) = p
  invariant letters: forall LETTER(m) from p to q in flight. sent(m) and src(m) = p and dst(m) = q
  invariant receipts: forall GOT(m) in flight. delivered(m)
  invariant known: forall p: process. forall m in got@p. delivered(m) and dst(m) = p
  invariant remembered: forall m: message. delivered(m) implies m in got@(dst(m))
  between steps at_once: forall m: message. arrived(m) implies delivered(m)
  eventually delivered by delivery
  expect proved
"""

OFFERS = """  invariant offers: forall OFFER(m) from p to q in flight. sent(m) and src(m) = p and dst(m) = q
  invariant wishes: forall WANTED(m) from p to q in flight. sent(m) and src(m) = q and dst(m) = p
  eventually"""

TEXTS = {
    "at once": (AT_ONCE, MACHINE + AT_ONCE + LINK),
    "asked first": (ASKED_FIRST, MACHINE + ASKED_FIRST + LINK.replace("  eventually", OFFERS)),
}

WORKLOADS = (
    ir.Workload(2, (1, 0), ((1,), ())),
    ir.Workload(2, (1, 0), ((1,), ()), losses=1),
)


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=5_000, workers=1)
    with SolverPool(options.workers) as pool:
        yield ProofSession(pool, options)


@pytest.fixture(scope="module")
def inductive(session: ProofSession) -> InductiveSet | None:
    found = load_bytes(Path("test.thence"), TEXTS["at once"][1].encode()).specification
    assert found is not None
    return proved_set(session, found.machines[0])


def linked(specify: Specify, name: str, *pairs: str) -> ir.Link:
    text = TEXTS[name][1]
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (link,) = specify(text).links
    return link


def assessed(session: ProofSession, link: ir.Link, inductive: InductiveSet | None) -> tuple[Assessment, Assessment]:
    """Of the link, and of its progress."""
    shown = prove_link(session, link, inductive)
    return shown, prove_progress(session, link, inductive, shown)


ASKED_WAY = (
    "step 1 (arrive): resend of src(m) sends OFFER again, which is answered with WANTED, which is answered with LETTER"
)


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("at once", "step 1 (arrive): resend of src(m) sends LETTER again"),
        ("asked first", ASKED_WAY),
    ],
)
def test_it_is_proved(specify: Specify, session: ProofSession, inductive: InductiveSet, name: str, by: str) -> None:
    link = linked(specify, name)
    shown, progress = assessed(session, link, inductive)
    assert (shown.verdict, progress.verdict) == (Verdict.PROVED, Verdict.PROVED), (shown.text, progress.text)
    assert progress.facts["by"] == [by]
    for workload in WORKLOADS:
        found = explore(link.protocol, workload, ["delivered"])
        assert found.complete and not found.violations


MISSING = {
    "the timer need not fire": ("at once", "fair receive, resend", "fair receive, beat"),
    "weak fairness": ("at once", "under fair receive", "under weakly fair receive"),
    "channels keep their order": ("at once", "network lossy, duplicating, reordering", "network lossy, fifo"),
    "packets need not arrive": ("at once", "under fair receive, resend", "under fair GOT, resend"),
    "sent once": ("at once", "for m in out: send LETTER(m) to m.dst", "pass"),
    "to another": ("at once", "for m in out: send LETTER(m) to m.dst", "for m in out: send LETTER(m) to self"),
    "at times": ("at once", "for m in out: send", "if got is empty:\n      for m in out: send"),
    "not answered": ("asked first", "send WANTED(m) to j", "if m in got: send WANTED(m) to j"),
    "answered late": ("asked first", "    send LETTER(m) to j", "    out.add(m)\n    if m in got: send LETTER(m) to j"),
    "answered to another": ("asked first", "send LETTER(m) to j", "send LETTER(m) to self"),
    "never another packet": (
        "at once",
        "message LETTER(m: message) carries m\n  message GOT(m: message)\n  state:\n",
        "message LETTER(m: message, n: nat) carries m\n  message GOT(m: message)\n  state:\n    turn: nat\n",
        "    send LETTER(m) to m.dst",
        "    send LETTER(m, 0) to m.dst",
        "for m in out: send LETTER(m) to m.dst",
        "\n    turn := turn + 1\n    for m in out: send LETTER(m, turn) to m.dst",
        "  on receive LETTER(m) from j:",
        "  on receive LETTER(m, n) from j:",
        "  receive LETTER(m) from j is",
        "  receive LETTER(m, ...) from j is",
        "forall LETTER(m) from p",
        "forall LETTER(m, n) from p",
    ),
}
"""Changes of the text, by what is missing then."""


@pytest.mark.long(but=1, share=10)
@pytest.mark.parametrize("missing", list(MISSING))
def test_it_is_not_proved_where_something_is_missing(
    specify: Specify, session: ProofSession, inductive: InductiveSet, missing: str
) -> None:
    name, *pairs = MISSING[missing]
    assert assessed(session, linked(specify, name, *pairs), inductive)[1].verdict is Verdict.UNKNOWN


def test_a_number_that_is_sent_again_may_be_one_that_never_changes(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    """No term of the machine has the value of the number, so it is not known that the packet is the same."""
    link = linked(
        specify,
        "at once",
        *(each.replace("\n    turn := turn + 1", "") for each in MISSING["never another packet"][1:]),
    )
    shown, progress = assessed(session, link, inductive)
    assert (shown.verdict, progress.verdict) == (Verdict.PROVED, Verdict.UNKNOWN)


CAPTURED = """
protocol again:
  network reliable, reordering
  message ASK(m: message, q: process)
  message LETTER(m: message, r: process) carries m
  message NEVER(m: message)
  state:
    out: set of message
    got: set of message
  on causal_send(m): out.add(m)
  periodically resend:
    for q in process:
      for m in out:
        if q = m.src: send ASK(m, q) to m.dst
  periodically beat:
    for m in out: send ASK(m, m.dst) to m.dst
  on receive ASK(m, q) from j: send LETTER(m, if {q} = {m.src} then m.src else m.dst) to self
  on receive LETTER(m, r) from j:
    if r = m.dst and m not in got:
      got.add(m)
      deliver m
  property at_most_once, no_creation
  eventually delivered under fair receive, resend
"""
"""The answer to what the fair timer sends has the wrong process; sets of processes are compared to find it out."""


def test_names_of_senders_and_of_answers_are_apart(specify: Specify, session: ProofSession) -> None:
    """Where one captured the other, the answer seemed to have any process. No packet `NEVER` is received by anybody."""
    machine = MACHINE.replace("arrive(m):", "arrive(m, r: process):").replace(
        "arrived(m) := true", "arrived(m) := arrived(m) or r = dst(m)"
    )
    link = LINK.replace("receive LETTER(m) from j is arrive(m)", "receive LETTER(m, r) from j is arrive(m, r)")
    link = link.replace(
        "forall LETTER(m) from p to q in flight. sent(m) and src(m) = p and",
        "forall LETTER(m, r) from p to q in flight. sent(m) and",
    )
    link = link.replace(
        "  invariant receipts: forall GOT(m) in flight. delivered(m)\n",
        "  invariant asks: forall ASK(m, r) from p to q in flight. sent(m) and dst(m) = q\n",
    )
    text = machine.replace("arrive(m) while", "arrive(m, dst(m)) while") + CAPTURED + link
    (found,) = specify(text).links
    shown, progress = assessed(session, found, proved_set(session, found.machine))
    assert shown.verdict is Verdict.PROVED, shown.text
    assert progress.verdict is Verdict.UNKNOWN
    assert explore(found.protocol, WORKLOADS[0], ["delivered"]).violations


@pytest.mark.long(share=3)
@pytest.mark.parametrize("name", list(TEXTS))
def test_no_mutant_is_proved_that_a_run_refutes(
    specify: Specify, session: ProofSession, inductive: InductiveSet, name: str
) -> None:
    """Each edit of the protocol, in place of it; what a run of a small scope refutes is not proved."""
    link = linked(specify, name)
    loaded = load_bytes(Path("again.thence"), TEXTS[name][0].encode())
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
    assert refuted >= 4 and proved >= 1


TIMERS = (
    "for m in out: send OFFER(m) to m.dst",
    "for m in out:\n      let q = m.dst\n      send OFFER(m) to q",
    "for m in out:\n      if m.dst != self: send OFFER(m) to m.dst",
    "for q in process:\n      for m in out:\n        if q = m.dst: send OFFER(m) to q",
    "for q in process:\n      for m in out:\n        if q = m.src: send OFFER(m) to q",
    "if out is not empty:\n      for m in out: send OFFER(m) to m.dst",
    "if got is empty:\n      for m in out: send OFFER(m) to m.dst",
    "for m in got: send OFFER(m) to m.dst",
)

FIRST_ANSWERS = (
    "send WANTED(m) to j",
    "send WANTED(m) to m.src",
    "let q = m.src\n    send WANTED(m) to q",
    "if m not in got: send WANTED(m) to j",
    "if m in got: send WANTED(m) to j",
    "if {j} = {m.src}: send WANTED(m) to j",
    "send WANTED(m) to if {j} = {m.dst} then self else j",
    "out.remove(m)\n    send WANTED(m) to j",
)

SECOND_ANSWERS = (
    "send LETTER(m) to m.dst",
    "if m in out: send LETTER(m) to m.dst",
    "if m not in out: send LETTER(m) to m.dst",
    "if j = m.dst: send LETTER(m) to j",
    "for q in process:\n      if q = m.dst: send LETTER(m) to q",
)

DRAWN_INVARIANTS = """  invariant offers: forall OFFER(m) in flight. sent(m)
  invariant wishes: forall WANTED(m) in flight. sent(m)
  eventually"""

DRAWN_LINK = LINK.replace("sent(m) and src(m) = p and dst(m) = q", "sent(m) and dst(m) = q").replace(
    "  eventually", DRAWN_INVARIANTS
)


def drawn(timer: str, first: str, second: str) -> tuple[str, str]:
    """The protocol with these parts, alone and with its machine and link."""
    text = (
        ASKED_FIRST.replace(TIMERS[0], timer)
        .replace("send WANTED(m) to j", first)
        .replace("send LETTER(m) to j", second)
    )
    return text, MACHINE + text + DRAWN_LINK


def agrees(specify: Specify, session: ProofSession, inductive: InductiveSet, seed: int, most: int) -> tuple[int, int]:
    """How many of some drawn protocols are proved, and how many are refuted; none is both."""
    every = list(product(TIMERS, FIRST_ANSWERS, SECOND_ANSWERS))
    proved, refuted = 0, 0
    for parts in Random(seed).sample(every, most):
        (link,) = specify(drawn(*parts)[1]).links
        wrong = any(explore(link.protocol, each, ["delivered"]).violations for each in WORKLOADS)
        is_proved = assessed(session, link, inductive)[1].verdict is Verdict.PROVED
        assert not (wrong and is_proved), parts
        proved, refuted = proved + is_proved, refuted + wrong
    return proved, refuted


def test_no_drawn_protocol_is_proved_that_a_run_refutes(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    proved, refuted = agrees(specify, session, inductive, 1, 20)
    assert proved >= 1 and refuted >= 5


@pytest.mark.long
def test_no_drawn_protocol_of_all_is_proved_that_a_run_refutes(
    specify: Specify, session: ProofSession, inductive: InductiveSet
) -> None:
    proved, refuted = agrees(specify, session, inductive, 2, len(TIMERS) * len(FIRST_ANSWERS) * len(SECOND_ANSWERS))
    assert proved >= 20 and refuted >= 50


SENT_AGAIN = {
    "without_timer": (),
    "asks_for_no_permits": ("step 2 (receive)", "step 4 (receive_ack)"),
    "repeats_no_messages": ("step 5 (receive_permit)",),
    "duplicates_unacknowledged": ("step 2 (receive)", "step 5 (receive_permit)"),
}
"""Mutants of Algorithm 1, and the steps that come about there by what is sent again: too few for delivery."""


@pytest.mark.long
@pytest.mark.parametrize("name", list(SENT_AGAIN))
def test_mutants_of_algorithm_1_send_too_little_again(
    library: Callable[[str], ir.Specification], session: ProofSession, name: str
) -> None:
    """The invariants of the link are true of these mutants, too, so only what is sent again makes a difference."""
    specification = library("hybrid_basic")
    link = next(each for each in specification.links if each.delivered_by is not None)
    mutated = next(each.mutated for each in specification.mutants if each.name == name)
    assert isinstance(mutated, ir.Protocol)
    known = tuple(each.formula for each in conjuncts(link.machine))
    _, by = progress_obligations(session, replace(link, protocol=mutated), known)
    assert tuple(each.partition(":")[0] for each in by) == SENT_AGAIN[name]
