"""What induction keeps is true: links nobody wrote, with invariants nobody thought of.

Of some invariants, those that an obligation denies are dropped until all obligations are proved. What is left is proved
for any number of processes, so it is true in each state of a scope; and a false one that is left is a wrong proof.
Some are for between steps only: the scope looks at no other states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.proofs.refinement.drawn_maps import text_about_maps
from tests.proofs.refinement.test_execution import written

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.refinement.obligations import obligations
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool

HEAD = """
machine anything:
  delivery off
  relation told(p: process, q: process)
  relation heard(p: process)
  transition tell(p: process, q: process):
    told(p, q) := true
  transition hear(p: process):
    heard(p) := true
  transition nothing(p: process): pass
  invariant all: true

protocol drawn:
  network NETWORK
  role boss: process = 0
  record Pair: n: nat; who: process
  message A(x: nat)
  message B()
  state:
    n: nat
    f: bool
    L: option of process
    S: set of process
    T: set of process
    N: queue of nat
    V: map process to nat
    W: map process to nat
    R: set of Pair
    A: sliding array of nat
    K: sliding map of process
    X: map process to set of nat
  procedure bump(by: nat):
    if n + by > 2: return
    n := n + by
  procedure hail(p: process): send B() to p
  procedure first(p: process):
    for q in process:
      if q in S:
        send B() to q
        return
    send A(n) to p
"""
"""The machine refuses nothing, so that all depends on the invariants."""

STEPS = (
    "f := true", "f := false", "n := n + 1", "if n > 0: n := n - 1", "S.add(self)", "S.add(boss)", "S := T", "T := S",
    "T.clear()", "L := some(boss)", "N.push(n)", "if N is not empty: N.pop()", "V[self] := V[self] + 1", "V[boss] := n",
    "W[boss] := V[boss]", "send A(n) to boss", "send B() to self", "bump(1)", "hail(boss)", "first(boss)",
    "if f: return",
    "for p in process: send A(V[p]) to p", "for p in S: send B() to p", "for p in S: hail(boss); send A(1) to p",
    "for p in process: hail(boss); send A(n) to p", "for p in process: if p != self: send A(n) to p",
    "for p in process: V[p] := max(V[p], W[p])", "for p in process: W[p] := if p in S then V[p] else n",
    "for y in N: if y > 0: n := y; return", "for p in process: if p in S: L := some(p); return",
    "for p in process: n := n + 1", "for p in S: T.add(p)", "for p in S: if p != boss: S.remove(p); T.add(p)",
    "for y in N: N.push(y + 1)", "for y in N: N.remove(y); V[self] := V[self] + y",
    "for p in S: if f: return else: f := true", "while N is not empty and N.first > 0: n := N.first; N.pop()",
    "while n > 0: n := n - 1; send A(n) to boss", "for ref y in N: y := y + 1", "for ref y in V: y := 0",
    "R.add(Pair(n: n, who: self))", "R.add(Pair(n: 0, who: boss))", "for r in R: if r.n > 0: R.remove(r)",
    "for r in R: n := r.n; send B() to r.who", "for r in R: if r.who != self: S.add(r.who); return", "R.clear()",
    "A.add(n)", "A.add(0)", "if A is not empty: n := A.peek; A.remove()", "for y in A: if y > 0: f := true",
    "A.clear()",
    "while A is not empty: send A(A.peek) to boss; A.remove()", "K.add(self)", "K.add(boss)", "K.remove(self)",
    "for q in K: send B() to q", "for q in K: if q in S: K.remove(q)", "X[self].add(n)", "X[boss].add(1)",
    "X[self] := empty", "for q in process: X[q].add(n)", "for q in X: for y in X[q]: if y > 1: X[q].remove(y)",
    "for p in S: for q in T: if p = q: n := n + 1", "while n > 0: n := n - 1; for p in S: T.add(p)",
    "f := forall z in N, y in S. z > 0 or y = boss", "f := exists q: process. q in S and V[q] > 0",
    "hail(self)", "bump(0)",
    "if L is not none: send B() to L.value", "n := count p in S. V[p] > 0",
)  # fmt: skip
CONDITIONS = ("f", "n > 0", "self in S", "self = boss", "N is empty", "V[self] > n", "S is empty", "S = T")
HANDLERS = {
    "on go():": ("send A(n) to boss", "send B() to boss", "hail(self)", "for p in process: send A(n) to p") * 6,
    "on receive A(x) from j:": ("n := x", "N.push(x)", "V[j] := x", "T.add(j)") * 4,
    "on receive B() from j:": ("S.add(j)", "V[j] := n", "S.remove(j)", "L := some(j)") * 4,
    "periodically:": (),
}
INVARIANTS = (
    "forall p: process. n@p = 0", "forall p: process. n@p <= 1", "forall p: process. n@p <= 2",
    "forall p: process. not f@p", "forall p: process. S@p is empty", "forall p: process. T@p is empty",
    "forall p: process. forall q in S@p. q = p", "forall p: process. forall q in S@p. q = boss",
    "forall p: process. forall q in T@p. q in S@p", "forall p: process. N@p is empty",
    "forall p: process. forall y in N@p. y <= 1", "forall p: process. forall y in N@p. y <= n@p",
    "forall p: process. forall q: process. V@p[q] <= 1", "forall p: process. forall q: process. W@p[q] <= V@p[q]",
    "forall p: process. L@p is none or L@p.value = boss", "forall p: process. f@p implies n@p > 0",
    "forall p: process. p = boss or n@p = 0", "forall p: process. p = boss or S@p is empty",
    "forall p: process. not heard(p)", "forall p: process. not told(p, p)", "forall p: process. N@p.size <= 1",
    "forall p: process. (count q in S@p. true) <= 1", "forall p: process. told(p, boss) implies f@p",
    "forall p: process. forall y in N@p, z ahead. z <= y",
    "forall p: process. R@p is empty", "forall p: process. forall r in R@p. r.n <= 1",
    "forall p: process. forall r in R@p. r.who = p", "forall p: process. A@p.first = A@p.next",
    "forall p: process. forall y in A@p. y = 0", "forall p: process. A@p.next <= 2",
    "forall p: process. forall y in K@p. y = boss", "forall p: process. K@p.first <= 1",
    "forall p: process. K@p is empty",
    "forall p: process. forall q: process. X@p[q] is empty", "forall p: process. forall q in X@p. q in S@p",
    "forall p, q: process. forall y in X@p[q]. y <= 1",
    "forall A(x) from p to q in flight. x = 0", "forall A(x) from p to q in flight. x <= 1",
    "forall A(x) from p to q in flight. q = boss", "forall A(x) from p to q in flight. p = boss",
    "forall B() from p to q in flight. q = boss", "forall B() from p to q in flight. told(p, q)",
    "not exists A(x) in flight. true", "not exists B() in flight. true", "(count B() in flight. true) <= 1",
    "forall p: process. (count B() from a to b in flight. b = p) <= 1",
)  # fmt: skip
NETWORKS = ("reliable, reordering", "reliable, fifo", "lossy, duplicating, reordering", "lossy, duplicating, fifo")
MOST = 250
"""Obligations of a link that is tried."""

MOST_STATES = 3_000
"""States of a scope that are looked at: packets that answer packets have no end."""


def drawn_text(seed: int) -> str:
    one = Random(seed)
    network = one.choice(NETWORKS)
    lines = [HEAD.replace("NETWORK", network).rstrip()]
    for head, more in HANDLERS.items():
        lines.append(f"  {head}")
        for _ in range(one.randrange(1, 3)):
            step = one.choice((*STEPS, *more))
            if one.random() < 0.3:
                lines += [f"    if {one.choice(CONDITIONS)}:", *written(step, "      ")]
            else:
                lines += written(step, "    ")
    lines += ["scope two of drawn:", "  processes 2", "  go 2, 1", "  ticks 1"]
    lines += ["  duplicates 1", "  losses 1"] if "lossy" in network else []
    lines += ["conforms drawn to anything:", "  go() is nothing(self)"]
    lines.append(f"  send B() to j is {one.choice(('tell(self, j)', 'tell(j, self), when f', 'hear(j)'))}")
    heads = Random(-seed)
    for at, body in enumerate(one.sample(INVARIANTS, 14)):
        lines.append(f"  {'between steps' if heads.random() < 0.4 else 'invariant'} i{at}: {body}")
    return "\n".join(lines) + "\n"


def specified(text: str) -> ir.Specification:
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    return loaded.specification


def kept(session: ProofSession, link: ir.Link) -> ir.Link | str:
    """The link with the invariants that induction keeps; or why there is no such link."""
    while True:
        found = obligations(link, ())
        if len(found) > MOST:
            return "big"
        left = [each.obligation.name for each in session.discharge(found, look_for_models=False) if not each.proved]
        if not left:
            return link
        denied = {match[1] for name in left if (match := re.search(r"(?:keeps|initially) (i\d+)(?: \(\d+\))?$", name))}
        if not denied:
            return "open"
        link = replace(link, invariants=tuple(one for one in link.invariants if one.name not in denied))


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    with SolverPool(1, None) as pool:
        yield ProofSession(pool, Options(timeout_ms=250)).with_one_solver()


def true_invariants(session: ProofSession, seeds: range, text: Callable[[int], str] = drawn_text) -> Counter[str]:
    """What became of the links; how many invariants were kept, and are true."""
    happened: Counter[str] = Counter()
    for seed in seeds:
        content = specified(text(seed))
        (link,), (protocol,), (scope,) = content.links, content.protocols, content.scopes
        if seed % 2:  # as of a link that claims delivery: what is left of a queue is known by its old places
            link = replace(link, delivered_by="any")
        try:
            found = kept(session, link)
        except Unsupported:
            happened["unsupported"] += 1
            continue
        if isinstance(found, str):
            happened[found] += 1
            continue
        checked = check_link(found, protocol, scope.workload, limit=MOST_STATES)
        assert checked.refuted is None, (seed, str(checked.refuted))
        happened["true"] += len(found.invariants)
    return happened


@pytest.mark.long(but=("range(0, 12)",))
@pytest.mark.parametrize("seeds", [range(start, start + 12) for start in range(0, 120, 12)], ids=str)
def test_what_induction_keeps_is_true(session: ProofSession, seeds: range) -> None:
    happened = true_invariants(session, seeds)
    assert happened["true"] > len(seeds), happened


SHORT = range(18, 19)


@pytest.mark.long(but=(str(SHORT),))
@pytest.mark.parametrize("seeds", [SHORT, *(range(start, start + 12) for start in range(24, 72, 12))], ids=str)
def test_what_induction_keeps_of_maps_and_timers_is_true(session: ProofSession, seeds: range) -> None:
    happened = true_invariants(session, seeds, text_about_maps)
    assert happened["true"] > len(seeds), happened


def not_asked_about(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plants a fault: nothing is asked about steps that begin so."""
    asked = obligations

    def some(link: ir.Link, known: tuple[ir.NamedFormula, ...]) -> list[Obligation]:
        return [one for one in asked(link, known) if not one.name.startswith(step)]

    monkeypatch.setitem(kept.__globals__, "obligations", some)


def test_a_planted_fault_is_found(session: ProofSession, monkeypatch: pytest.MonkeyPatch) -> None:
    not_asked_about("go", monkeypatch)
    with pytest.raises(AssertionError, match="i"):
        true_invariants(session, range(12))


def test_a_fault_about_one_of_two_timers_is_found(session: ProofSession, monkeypatch: pytest.MonkeyPatch) -> None:
    not_asked_about("one:", monkeypatch)
    with pytest.raises(AssertionError, match="is false of the protocol"):
        true_invariants(session, range(5, 6), text_about_maps)
