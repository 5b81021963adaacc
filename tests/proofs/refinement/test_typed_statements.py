"""Handlers with terms and statements of every type: their formulas give the step that the interpreter gives.

The states and the comparison are those of `test_execution`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from tests.proofs.refinement import test_execution
from tests.proofs.refinement.test_execution import linked
from tests.proofs.refinement.test_obligations import specified, verdict
from tests.proofs.typed_protocols import Writer

from thence.dsl import ir
from thence.proofs.logic.formula import Unsupported
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

MACHINE = """machine anything:
  relation told(p: process, q: process)
  transition causal_send(m): pass
  transition deliver(m): pass
  transition hear(p: process, q: process):
    told(p, q) := true
  invariant all: true

protocol drawn:
  network reliable, reordering
"""
LINK = """conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  send B({}) to j is hear(self, j)
"""
WITHOUT = frozenset({"keys", "products", "sums", "sets", "sizes", "refs", "choices"})
MOST = 60
"""Ways and checks of a handler that is compared."""


def drawn_link(seed: int) -> ir.Link:
    writer = Writer(Random(seed), partial=0.25, without=WITHOUT)
    lines = [*writer.declarations(4), *writer.handlers()]
    writer.partial = 0  # an invariant without a value is not compared
    stated = writer.invariants(5)
    given = ", ".join(f"g{at}" for at in range(len(writer.kinds["B"])))
    return linked(MACHINE + "\n".join(lines) + "\n" + LINK.format(given) + "\n".join(stated) + "\n")


@pytest.mark.long(but=("range(0, 12)",))
@pytest.mark.parametrize("seeds", [range(start, start + 12) for start in (0, 36, 48, 60, 72, 84)], ids=str)
def test_any_statement_of_any_type(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_execution, "MOST", MOST)
    happened = Counter[str]()
    for seed in seeds:
        try:
            happened += test_execution.compared(drawn_link(seed), range(4), 3)
        except Unsupported:
            happened["not evaluated"] += 1  # an invariant that no finite structure decides
    assert happened["alike"] > 60 and happened["fault"], happened


# --- a quantifier over several variables ----------------------------------------------------------

SEVERAL = """
machine anything:
  delivery off
  relation told(p: process, q: process)
  transition hear(p: process, q: process):
    told(p, q) := true
  invariant all: true

protocol several:
  network reliable, reordering
  message B()
  state:
    S: set of nat
    Q: queue of nat
    f: bool
  on ping(): send B() to self
  on go():
    f := STATED
  on receive B() from j: pass

conforms several to anything:
  receive B() from j is hear(self, j)
  invariant one: forall p: process. S@p is empty
  expect proved
"""


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    with SolverPool(1, None) as pool:
        yield ProofSession(pool, Options(timeout_ms=2_000)).with_one_solver()


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("forall x in S, y in {Q.first}. x = y", Verdict.UNKNOWN),
        ("exists x in S, y in {Q.first}. x = y", Verdict.UNKNOWN),
        ("(count x in S, y in {Q.first}. x = y) = 0", Verdict.UNKNOWN),
        ("(count x in S, y in {Q.first}. x = y) = 2", Verdict.UNKNOWN),
        ("forall x in S. forall y in {Q.first}. x = y", Verdict.PROVED),
        ("forall x in S, y in {x - 1}. x = y", Verdict.PROVED),
    ],
)
def test_every_domain_is_evaluated(session: ProofSession, stated: str, expected: Verdict) -> None:
    """That a step is a fault is seen where another domain is empty. A domain that speaks of a variable waits for it."""
    (link,) = specified(SEVERAL.replace("STATED", stated)).links
    assert verdict(session, link) is expected
