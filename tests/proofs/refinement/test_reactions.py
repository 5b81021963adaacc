"""A proof of a link is about applications that send between steps, and says so where that makes a difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.links.breaking import run_that_breaks
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement import reactions
from thence.proofs.refinement.carrying.progress import conditions
from thence.proofs.refinement.prover import prove_link
from thence.proofs.refinement.reactions import SENDS_BETWEEN_STEPS, sends_between_rounds, sends_inside_matter
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """
machine letters:
  transition noted(): pass
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol late:
  network reliable, reordering
  message MSG(m: message) carries m
  message ACK()
  state:
    busy: bool
    came: set of message
  on causal_send(m):
    send MSG(m) to m.dst
    if busy: send MSG(m) to m.dst
  on receive MSG(m) from j:
    busy := true
    deliver m
    busy := false
  procedure hand_over(m: message): deliver m
  procedure calm(): busy := false
  procedure log(): came.clear()
  property at_most_once, no_creation

conforms late to letters:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  invariant flying: forall MSG(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant once: forall m: message. (count MSG(x) in flight. x = m) <= 1
  between steps idle: forall p: process. not busy@p
  expect proved
"""

HANDLER = "    busy := true\n    deliver m\n    busy := false\n"

WORKLOADS = (ir.Workload(2, (1, 1), ((1,), (0,))), ir.Workload(2, (2, 1), ((1,), (0,))))


def wrong(protocol: ir.Protocol, *, reactive: bool) -> bool:
    """Whether a message is delivered twice in a small scope."""
    sending = ir.Finite(reactive=reactive)
    return any(
        explore(
            protocol, ir.Workload(each.processes, each.sends, each.destinations, sending=sending), ["at_most_once"]
        ).violations
        for each in WORKLOADS
    )


def test_what_only_sends_inside_a_delivery_refute_is_proved_of_others(specify: Specify, pool: SolverPool) -> None:
    (link,) = specify(TEXT).links
    session = ProofSession(pool, Options(timeout_ms=5_000))
    shown = prove_link(session, link, proved_set(session, link.machine))
    assert shown.verdict is Verdict.PROVED and shown.facts["where"] == [SENDS_BETWEEN_STEPS]
    assert wrong(link.protocol, reactive=True) and not wrong(link.protocol, reactive=False)


CASES = [
    ("    busy := true\n    deliver m\n    busy := false\n", True),
    ("    busy := false\n    deliver m\n", False),
    ("    busy := false\n    if j = self: deliver m\n    else: deliver m\n", False),
    ("    if j = self: deliver m\n    busy := false\n", True),
    ("    busy := false\n    if j = self:\n      busy := true\n      deliver m\n      busy := false\n", True),
    ("    busy := false\n    for p in process:\n      if p = j: deliver m\n", True),
    ("    for p in process:\n      if p = j:\n        deliver m\n        return\n", False),
    ("    busy := false\n    hand_over(m)\n", False),
    ("    busy := true\n    hand_over(m)\n    busy := false\n", True),
    ("    calm()\n    deliver m\n", False),
    ("    deliver m\n    calm()\n", True),
    ("    deliver m\n    came.add(m)\n", False),
    ("    deliver m\n    send ACK() to j\n", False),
    ("    deliver m\n    if busy: came.add(m)\n", False),
    ("    deliver m\n    log()\n    return\n", False),
    ("    deliver m\n    deliver m\n", True),
]
"""What handles the arrival, and whether it matters what comes after the delivery."""


def of(specify: Specify, handler: str, *more: tuple[str, str]) -> ir.Link:
    text = TEXT
    for old, new in ((HANDLER, handler), *more):
        assert old in text
        text = text.replace(old, new)
    (link,) = specify(text).links
    return link


@pytest.mark.parametrize(("handler", "matters"), CASES)
def test_it_matters_where_a_step_goes_on_with_what_a_send_sees(specify: Specify, handler: str, matters: bool) -> None:
    """Where it does not, sends inside a delivery refute nothing that others do not."""
    link = of(specify, handler)
    assert sends_inside_matter(link) is matters
    if not matters:
        assert wrong(link.protocol, reactive=True) == wrong(link.protocol, reactive=False)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("network reliable, reordering", "network reliable, fifo"),
        ("  deliver m is deliver(m)\n", "  deliver m is deliver(m)\n  send ACK() to j is noted()\n"),
        ("  deliver m is deliver(m)\n", "  deliver m is deliver(m)\n  send MSG(m) to j is noted(), when not busy\n"),
    ],
)
def test_orders_and_events_matter(specify: Specify, was: str, becomes: str) -> None:
    """The order of packets on channels, events of the machine, and clauses about the state before the step."""
    handler = "    deliver m\n    send ACK() to j\n"
    assert not sends_inside_matter(of(specify, handler))
    assert sends_inside_matter(of(specify, handler, (was, becomes)))


def test_clauses_about_the_state_before_the_step_matter(specify: Specify) -> None:
    """Also where nothing comes after the delivery: which transition an event is, the beginning of the step decides."""
    clause = "  deliver m is deliver(m)\n"
    told = (clause, f"{clause}  send MSG(m) to j is noted(), when not busy\n")
    handler = "    busy := not busy\n    deliver m\n"
    assert not sends_inside_matter(of(specify, handler)) and sends_inside_matter(of(specify, handler, told))
    assert not sends_between_rounds(of(specify, handler, told))


ROUNDS = "    box.push(m)\n    while box is not empty:\n      deliver box.first\n      box.pop()\n"

BOXED = (
    ("    busy: bool\n", "    busy: bool\n    box: queue of message\n"),
    ("    if busy: send MSG(m) to m.dst\n", "    own := false\n"),
    ("  state:\n", "  state:\n    own: bool\n"),
    ("  between steps idle: forall p: process. not busy@p\n",
     "  between steps emptied: forall p: process. box@p is empty\n"
     "  invariant held: forall p: process. forall m in box@p. sent(m) and dst(m) = p and not delivered(m)\n"
     "  invariant apart: forall MSG(m) from p to q in flight. forall r: process. m not in box@r\n"
     "  invariant distinct: forall p: process. forall m in box@p. forall n ahead. n != m\n"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "at_heads"),
    [
        (ROUNDS, True),
        (ROUNDS.replace("box.pop()", "box.pop()\n      send ACK() to j"), True),
        (ROUNDS.replace("box.pop()", "box.pop()\n      own := true"), False),
        (ROUNDS.replace("box.pop()", "box.pop()\n      if own: return"), False),
        (ROUNDS.replace("box.pop()", "box.pop()\n      return") + "    own := true\n", False),
        (ROUNDS + "    own := true\n", True),
        (ROUNDS.replace("box.pop()", "box.pop()\n      deliver m"), False),
    ],
)
def test_a_send_may_be_one_at_the_head_of_a_loop(specify: Specify, rounds: str, at_heads: bool) -> None:
    link = of(specify, rounds, *BOXED)
    assert sends_inside_matter(link) and sends_between_rounds(link) is at_heads


def boxed(specify: Specify, *more: tuple[str, str]) -> ir.Link:
    return of(specify, ROUNDS, *BOXED, ("  expect proved", "  reactive sends\n  expect proved"), *more)


def proved(pool: SolverPool, link: ir.Link) -> Assessment:
    session = ProofSession(pool, Options(timeout_ms=5_000))
    return prove_link(session, link, proved_set(session, link.machine))


TAKEN_OUT = (
    ("      deliver box.first\n      box.pop()\n", "      let n = box.first\n      box.pop()\n      deliver n\n"),
)


def test_a_link_may_be_about_sends_inside_a_delivery(specify: Specify, pool: SolverPool) -> None:
    shown = proved(pool, boxed(specify, *TAKEN_OUT))
    assert shown.verdict is Verdict.PROVED and "where" not in shown.facts
    plain = proved(pool, replace(boxed(specify, *TAKEN_OUT), reactive=False))
    assert plain.verdict is Verdict.PROVED and plain.facts["where"] == [SENDS_BETWEEN_STEPS]


@pytest.mark.long
def test_what_a_send_breaks_at_the_head_of_a_loop_is_not_proved(specify: Specify, pool: SolverPool) -> None:
    """Between steps and without such a send, `own` is true at the end of the loop."""
    later = ("      deliver n\n", "      deliver n\n    if not own: send MSG(m) to self\n")
    link = boxed(specify, *TAKEN_OUT, ("    box.push(m)\n", "    own := true\n    box.push(m)\n"), later)
    shown = proved(pool, link)
    assert shown.verdict is Verdict.UNKNOWN and "fails" in shown.facts
    assert proved(pool, replace(link, reactive=False)).verdict is Verdict.PROVED
    assert wrong(link.protocol, reactive=True) and not wrong(link.protocol, reactive=False)
    found = run_that_breaks(link, 20)
    assert found.run is not None and "reactive sends" in str(found.run.facts)


def test_where_no_proof_speaks_of_sends_inside_a_delivery(specify: Specify, pool: SolverPool) -> None:
    link = of(specify, HANDLER, ("  expect proved", "  reactive sends"))
    shown = proved(pool, link)
    assert shown.verdict is Verdict.UNKNOWN
    assert "`reactive sends` where a step goes on with what a send changes or reads" in shown.text


def test_loops_with_what_sends_change_need_not_end(specify: Specify) -> None:
    ending = ("    own := false\n", "    own := false\n    box.push(m)\n")
    assert conditions(boxed(specify)) == ()
    assert conditions(boxed(specify, ending)) == ("each loop comes to its end",)


READS_STATE = """
machine first:
  relation got(p: process)
  transition causal_send(m): pass
  transition receive(p): got(p) := true
  transition leave(p):
    require not got(p)
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol late:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    busy: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    busy := true
    deliver m

conforms late to first:
  causal_send(m) is causal_send(m)
  send MSG(m) to j is leave(self), when not busy
  receive MSG(m) from j is receive(self)
  deliver m is deliver(m)
  invariant same: forall p: process. busy@p iff got(p)
  invariant flying: forall MSG(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant once: forall m: message. (count MSG(x) in flight. x = m) <= 1
"""


def test_the_state_before_the_step_decides_inside_a_delivery(specify: Specify, pool: SolverPool) -> None:
    """Nothing comes after the delivery, and yet a send inside of it is another event than one right after the step."""
    (link,) = specify(READS_STATE).links
    shown = proved(pool, link)
    assert shown.verdict is Verdict.PROVED and shown.facts["where"] == [SENDS_BETWEEN_STEPS]
    for workload in WORKLOADS:
        assert not check_link(link, link.protocol, workload).refuted
    reactive = [replace(each, sending=ir.Finite(reactive=True)) for each in WORKLOADS]
    assert any(check_link(link, link.protocol, each).refuted for each in reactive)


PARTS = (
    "busy := true", "busy := not busy", "own := not own", "came.add(m)", "came.clear()", "send ACK() to j", "calm()",
    "if busy: own := true", "if own: send ACK() to j", "if m in came: return", "if own: return",
    "for p in process:\n  if p = j: own := busy", "while busy:\n  busy := false\n  came.add(m)",
)  # fmt: skip
"""What a step does besides the delivery."""

SENT = ("pass", "busy := true", "if busy: send MSG(m) to m.dst", "came.add(m)", "if own: send ACK() to m.dst",
        "own := m in came", "if came is not empty: busy := false")  # fmt: skip
"""What a send does besides."""

OWN = ("    came: set of message\n", "    came: set of message\n    own: bool\n")


def drawn(specify: Specify, seed: int) -> ir.Link:
    chance = Random(f"what comes after a delivery {seed}")
    parts = [*chance.sample(PARTS, chance.randint(1, 3))]
    parts.insert(chance.randint(0, len(parts)), "deliver m")
    lines = "\n".join(parts).split("\n")
    sends = ("    if busy: send MSG(m) to m.dst\n", f"    {chance.choice(SENT)}\n")
    order = chance.choice(("reordering", "reordering", "fifo"))
    network = ("network reliable, reordering", f"network reliable, {order}")
    return of(specify, "".join(f"    {line}\n" for line in lines), sends, OWN, network)


def states(link: ir.Link, *, reactive: bool) -> list[int]:
    """How many states are reached in small scopes, before and after steps."""
    scopes = [replace(each, sending=ir.Finite(reactive=reactive)) for each in WORKLOADS]
    return [explore(link.protocol, each, ["no_creation"], method=Method("interpreted")).states for each in scopes]


def differ(specify: Specify, seeds: range) -> Counter[tuple[bool, bool]]:
    """Of drawn links: whether what comes after a delivery is said to matter, and whether sends inside deliveries reach
    states that others do not."""
    links = [drawn(specify, seed) for seed in seeds]
    return Counter(
        (sends_inside_matter(each), states(each, reactive=True) != states(each, reactive=False)) for each in links
    )


def test_what_does_not_matter_reaches_no_other_states(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    found = differ(specify, range(120))
    assert not found[False, True]
    assert found[False, False] >= 50 and found[True, True] >= 8
    monkeypatch.setattr(reactions, "_concern_each_other", lambda *_: False)
    assert differ(specify, range(20))[False, True]
