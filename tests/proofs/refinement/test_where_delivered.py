"""A machine's delivery is one at the destination, and nothing else: a link does not take another thing for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.prover import prove_link
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

TEXT = """
machine letters:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove at_most_once, no_creation

protocol letter_box:
  network reliable, reordering
  message LETTER(m: message) carries m
  state: seen: nat
  on causal_send(m): send LETTER(m) to m.dst
  on receive LETTER(m) from j: deliver m
  property at_most_once, no_creation

conforms letter_box to letters:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  invariant on_its_way: forall LETTER(m) from p to q in flight. sent(m) and not delivered(m) and dst(m) = q
  invariant once: forall m: message. (count LETTER(x) in flight. x = m) <= 1
  expect proved

scope two of letter_box:
  processes 2
  sends 2, 1
"""

ELSEWHERE = {
    "at the sender": ("to m.dst", "to self", " and dst(m) = q", ""),
}
"""Changes of the text by which a message is delivered where it does not go."""


@pytest.mark.parametrize("where", ["at the destination", *ELSEWHERE])
def test_a_delivery_is_where_the_message_goes(specify: Callable[[str], ir.Specification], where: str) -> None:
    text, pairs = TEXT, ELSEWHERE.get(where, ())
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert text.count(old) == 1
        text = text.replace(old, new)
    specification = specify(text)
    (link,) = specification.links
    options = Options(timeout_ms=5_000, workers=1)
    with SolverPool(1) as pool:
        session = ProofSession(pool, options)
        found = prove_link(session, link, proved_set(session, link.machine))
    (scope,) = specification.scopes
    broken = check_link(link, link.protocol, scope.workload).refuted
    right = where == "at the destination"
    assert (found.verdict is Verdict.PROVED, broken is None) == (right, right)


@pytest.mark.parametrize(
    "clause",
    [
        "receive LETTER(m) from j is deliver(m)",
        "send LETTER(m) to j is deliver(m)",
        "receive LETTER(m) from j is deliver(any)",
        "send LETTER(m) to j is causal_send(m)",
    ],
)
def test_nothing_else_is_a_delivery_or_a_causal_send(clause: str) -> None:
    """Then the machine would deliver what the protocol does not."""
    text = TEXT.replace("  invariant on_its_way", f"  {clause}\n  invariant on_its_way")
    found = load_bytes(Path("test.thence"), text.encode()).diagnostics
    assert [each.code for each in found if each.severity == "error"] == ["E0609"]
