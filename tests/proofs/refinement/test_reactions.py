"""A proof of a link is about applications that send between steps, and says so where that makes a difference."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.prover import prove_link
from thence.proofs.refinement.reactions import SENDS_BETWEEN_STEPS, something_follows_a_delivery
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

TEXT = """
machine letters:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol late:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    busy: bool
  on causal_send(m):
    send MSG(m) to m.dst
    if busy: send MSG(m) to m.dst
  on receive MSG(m) from j:
    busy := true
    deliver m
    busy := false
  procedure hand_over(m: message): deliver m
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


@pytest.mark.parametrize(
    ("handler", "matters"),
    [
        ("    busy := true\n    deliver m\n    busy := false\n", True),
        ("    busy := false\n    deliver m\n", False),
        ("    busy := false\n    if j = self: deliver m\n    else: deliver m\n", False),
        ("    if j = self: deliver m\n    busy := false\n", True),
        ("    busy := false\n    if j = self:\n      busy := true\n      deliver m\n      busy := false\n", True),
        ("    busy := false\n    for p in process:\n      if p = j: deliver m\n", True),
        ("    busy := false\n    hand_over(m)\n", False),
        ("    busy := true\n    hand_over(m)\n    busy := false\n", True),
    ],
)
def test_it_matters_where_a_step_goes_on_after_a_delivery(specify: Specify, handler: str, matters: bool) -> None:
    """Where it does not, sends inside a delivery refute nothing that others do not."""
    assert HANDLER in TEXT
    (protocol,) = specify(TEXT.replace(HANDLER, handler)).protocols
    assert something_follows_a_delivery(protocol) is matters
    if not matters:
        assert wrong(protocol, reactive=True) == wrong(protocol, reactive=False)
