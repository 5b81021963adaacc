"""A link that is proved says something: of protocols that do nothing it is unknown, of the library's it is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.proofs.refinement.post import POST

from thence.dsl import ir
from thence.proofs.links.witness import says_nothing
from thence.proofs.prove import is_claimed, proofs_by, prove_specification
from thence.proofs.refinement.carrying.properties import carried
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

LIBRARY = (
    "cbcast", "chandy_lamport", "client_server", "cykas", "fifo", "hybrid_basic", "lamport_mutex", "mf",
    "mf_pipelined", "newtop", "ricart_agrawala", "rst", "rst_hunch", "rst_mf", "ses", "synchronous", "tree",
    "two_phase_commit",
)  # fmt: skip
INSIDE = """
machine one_inside:
  delivery off
  relation inside(p: process)
  transition enter(p: process): inside(p) := true
  invariant some: forall p. inside(p) or not inside(p)

protocol door:
  network reliable
  message OPEN()
  state: open: bool
  on enter() when GUARD: open := true
  on receive OPEN() from j: open := false

conforms door to one_inside:
  enter() is enter(self)
  expect proved
"""
NO_DELIVERY = "holds for nothing: no run was found that delivers a message"


@pytest.mark.parametrize("name", LIBRARY)
def test_a_run_shows_that_a_link_of_the_library_says_something(library: Specify, name: str) -> None:
    claimed = [link for link in library(name).links if is_claimed(link)]
    assert claimed
    assert [says_nothing(link) for link in claimed] == [None] * len(claimed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("on causal_send(m): send LETTER(m) to m.dst", "on causal_send(m): read.add(m)"),
        ("on causal_send(m): send LETTER(m) to m.dst", "on causal_send(m) when false: send LETTER(m) to m.dst"),
        ("if m not in read:", "if m not in read and m in read:"),
    ],
)
def test_a_protocol_that_delivers_nothing_is_not_proved(specify: Specify, pool: SolverPool, old: str, new: str) -> None:
    assert old in POST and says_nothing(specify(POST).links[0]) is None
    content = specify(POST.replace(old, new))
    proofs = [*proofs_by(pool, content, ["at_most_once", "post to posts"], Options())]
    (shown,) = (each.result for each in proofs if each.result.kind == "link")
    assert (shown.verdict, shown.facts["unknown"], shown.expected) == (Verdict.UNKNOWN, NO_DELIVERY, False)
    assert [each.result.verdict for each in carried(content.links, ["at_most_once"], proofs)] == [Verdict.UNKNOWN]


@pytest.mark.parametrize(("guard", "verdict"), [("true", Verdict.PROVED), ("open", Verdict.UNKNOWN)])
def test_a_link_of_events_that_never_happen_is_not_proved(specify: Specify, guard: str, verdict: Verdict) -> None:
    results = prove_specification(specify(INSIDE.replace("GUARD", guard)))
    assert [each.verdict for each in results if each.kind == "link"] == [verdict]
