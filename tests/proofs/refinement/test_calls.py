"""Procedures that a loop calls: their names end with them, also where the loop only sends."""

from __future__ import annotations

import pytest
from tests.proofs.refinement.test_execution import compared, linked, written

HEAD = """
machine anything:
  relation told(p: process, q: process)
  relation heard(p: process)
  transition causal_send(m): pass
  transition deliver(m): pass
  transition tell(p: process, q: process):
    told(p, q) := true
  transition hear(p: process):
    heard(p) := true
  prove at_most_once

protocol drawn:
  network reliable, reordering
  role boss: process = 1
  message MSG(m: message) carries m
  message ACK(n: nat)
  message CTL(q: process)
  state:
    n: nat
    S: set of process
    Q: queue of message
    N: queue of nat
    V: map process to nat
  procedure hail(p: process): send CTL(p) to p
  procedure call(z: process): send CTL(z) to z
  procedure both(p: process):
    for z in process: if z = p: send CTL(z) to p
    hail(boss)
  procedure some(those: set of process):
    for p in those: hail(p)
  procedure number(p: process, x: nat):
    if x > 0:
      let p2 = p
      send ACK(x) to p2
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: Q.push(m)
  on receive ACK(x) from j: N.push(x)
  on receive CTL(q) from j: S.add(q)
"""

LINK = """
conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  act(a, x) is tell(self, a)
  hurry() is hear(self)
  send ACK(x) to j is hear(j), when x > 0
  invariant one: forall CTL(q) from a to b in flight. q = b
  invariant two: forall ACK(x) from a to b in flight. x > 0 implies heard(b)
  invariant three: forall p: process. (count CTL(q) from a to b in flight. b = p) <= 1
"""

LOOPS = (
    "for p in process: call(boss); send ACK(n) to p",
    "for p in S: if p != a: hail(a); send ACK(V[p]) to p",
    "for p in S: let z = a; call(p); send ACK(x) to z",
    "for p in process: both(a); send ACK(x) to p",
    "some(S); send ACK(x) to a",
    "for p in process: some({a}); if p in S: send ACK(x) to p",
    "for p in process: number(boss, V[p]); send CTL(p) to p",
    "for p in process: for q in S: hail(p); send ACK(V[q]) to p",
    "for y in N: number(a, y); hail(boss)",
)


OWN = (
    "for p in process: hail(boss); send ACK(n) to p",
    "for p in S: both(boss); send ACK(V[p]) to p",
    "for p in process: if p in S: hail(self); send ACK(n) to p",
)
"""With no name but one that the procedure has, too: it means the caller's again after the call."""


@pytest.mark.parametrize("loop", [*LOOPS, *OWN])
def test_a_loop_that_sends_calls_a_procedure(loop: str) -> None:
    act, hurry = ("pass", loop) if loop in OWN else (loop, "pass")
    heads = {"on act(a: process, x: nat):": act, "on hurry():": hurry}
    lines = [line for head, body in heads.items() for line in (f"  {head}", *written(body, "    "))]
    happened = compared(linked("\n".join([HEAD.rstrip(), *lines]) + "\n" + LINK), range(12))
    assert happened["alike"] > 20
    assert not happened["unsupported"]
