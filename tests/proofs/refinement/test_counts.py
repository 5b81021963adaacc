"""Invariants that count for every two processes, or for every message: what is told to solvers of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from thence.dsl.load import load_bytes
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

ROADS = """
machine roads:
  function going: process, process to nat
  function copies: message to nat
  transition causal_send(m):
    copies(m) := copies(m) + 1
  transition tell(p, q):
    going(p, q) := going(p, q) + 1
  transition land(p, q):
    require going(p, q) > 0
    going(p, q) := going(p, q) - 1
  transition come(m):
    require copies(m) > 0
    copies(m) := copies(m) - 1
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant unsent: forall m. copies(m) > 0 implies sent(m)
  prove at_most_once

protocol tellers:
  network reliable, reordering
  message TELL()
  message COPY(m: message) carries m
  on causal_send(m): send COPY(m) to m.dst
  on tell(p: process): send TELL() to p
  on receive TELL() from j: pass
  on receive COPY(m) from j: deliver m

conforms tellers to roads:
  causal_send(m) is causal_send(m)
  tell(p) is tell(self, p)
  receive TELL() from j is land(j, self)
  receive COPY(m) from j is come(m)
  deliver m is deliver(m)
  invariant on_the_way: forall p, q: process. (count TELL() from a to b in flight. a = p and b = q) = going(p, q)
  invariant copied: forall m: message. (count COPY(x) in flight. x = m) = copies(m)
  invariant was_sent: forall COPY(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant one: forall m: message. (count COPY(x) in flight. x = m) <= 1
  expect proved
"""


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    with SolverPool(2, None) as pool:
        yield ProofSession(pool, Options(timeout_ms=2_000))


def assessed(session: ProofSession, text: str) -> Assessment:
    loaded = load_bytes(Path("roads.thence"), text.encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    (link,) = loaded.specification.links
    return prove_link(session, link, proved_set(session, link.machine))


def test_what_is_counted_for_the_sender_and_the_message_of_a_packet_is_known_when_it_arrives(
    session: ProofSession,
) -> None:
    assert assessed(session, ROADS).verdict is Verdict.PROVED


@pytest.mark.long(but=1, share=6)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("require going(p, q) > 0", "require going(p, q) > 1"),
        ("require copies(m) > 0", "require copies(m) > 1"),
        ("is land(j, self)", "is land(self, j)"),
        ("going(p, q) - 1", "going(p, q) - 2"),
        ("  on receive TELL() from j: pass", "  on receive TELL() from j: send TELL() to j"),
        ("  on causal_send(m): send", "  on causal_send(m):\n    send COPY(m) to m.dst\n    send"),
        ("network reliable", "network duplicating"),
    ],
)
def test_no_fault_in_what_is_counted_is_proved(session: ProofSession, before: str, after: str) -> None:
    assert before in ROADS
    found = assessed(session, ROADS.replace(before, after))
    assert found.verdict is Verdict.UNKNOWN
    assert "this state cannot be" not in found.text


def test_a_state_that_an_invariant_excludes_is_not_passed_off_as_one_that_may_be(session: ProofSession) -> None:
    """The goal does not mention the process for which the invariant would have to be told."""
    text = ROADS.replace("transition land(p, q):\n    require going(p, q) > 0\n    going(p, q) := going(p, q) - 1",
        "transition land(q):\n    require exists p. going(p, q) > 0\n    going(q, q) := going(q, q)",
    ).replace("land(j, self)", "land(self)")  # fmt: skip
    found = assessed(session, text)
    assert found.verdict is Verdict.UNKNOWN
    assert "receive TELL is enabled` fails" in found.text
    assert "this state cannot be: `on_the_way` is false in it" in found.text
