"""`ahead`: what is before a packet on its channel, or before an element in its queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.evaluate import Frame, Names, compile_expression
from thence.dsl.run.values import Packet
from thence.dsl.write.show import show_expression

TEXT = """
machine anything:
  delivery off
  relation told(p: process)
  def known(p): told(p)
  def all_known(): forall p. known(p)
  def far(p): forall n: nat. n = 0 or told(p)
  transition tell(p: process): told(p) := true
  invariant same: forall p. known(p) implies known(p)

protocol line:
  network reliable, fifo
  message A(k: nat)
  message B(k: nat)
  state: Q: queue of nat
  def known(): Q is not empty
  on go(q: process): send A(1) to q
  on receive A(k) from j: Q.push(k)
  on receive B(k) from j: Q.push(k)
  invariant flying: {flying}

conforms line to anything:
  go(q) is tell(self)
  invariant queued: {queued}
"""


def loaded(flying: str = "true", queued: str = "true") -> tuple[ir.Specification | None, list[str]]:
    found = load_bytes(Path("line.thence"), TEXT.format(flying=flying, queued=queued).encode())
    return found.specification, [each.code for each in found.diagnostics if each.code[0] == "E"]


PACKETS = [Packet(*each) for each in [("A", 0, 1, (1,)), ("B", 0, 1, (2,)), ("A", 0, 2, (3,)), ("A", 0, 1, (4,))]]


@pytest.mark.parametrize(
    ("formula", "in_order", "without"),
    [
        ("forall A(k) from p to q in flight. k = 4 iff exists B(n) in flight ahead. true", True, False),
        ("exists A(k) in flight. exists A(n) in flight ahead. n = 3", False, False),
        ("exists A(k) in flight, A(n) in flight ahead. k = 4 and n = 1", True, False),
        ("forall A(k) in flight. forall A(n) from p to q in flight ahead. n < k and p < q", True, True),
        ("(count A(k) in flight, B(n) in flight. true) = 3", True, True),
        ("forall A(k) in flight. (count B(n) in flight ahead. n < k) <= 1 and k > 0", True, True),
        (
            "exists A(k) in flight. exists B(n) in flight ahead. exists A(l) in flight ahead. l < n and n < k",
            True,
            False,
        ),
    ],
)
def test_packets_ahead(formula: str, in_order: bool, without: bool) -> None:
    """On a channel, in the order of the packets; on channels that do not keep it, none."""
    specification, errors = loaded(formula)
    assert specification is not None, errors
    [invariant] = specification.protocols[0].invariants
    evaluate = compile_expression(invariant.body, Names({"Q": 0}))
    assert evaluate(Frame(processes=3, flying=PACKETS, fifo=True)) is in_order
    assert evaluate(Frame(processes=3, flying=PACKETS)) is without


@pytest.mark.parametrize(
    ("formula", "true"),
    [
        ("forall p: process. forall y in Q@p. forall x ahead. x < y", False),
        ("forall p: process. forall y in Q@p. y = 2 implies (count x ahead. x = 1) = 2", True),
        ("forall p: process. exists y in Q@p. exists x ahead, w ahead. w < x and x < y", False),
        ("forall p: process. exists y in Q@p. exists x ahead, w ahead. w = x and x < y", True),
        ("forall p: process. forall y in Q@p, x ahead. x <= y", True),
    ],
)
def test_elements_ahead(formula: str, true: bool) -> None:
    specification, errors = loaded(queued=formula)
    assert specification is not None, errors
    [invariant] = specification.links[0].invariants
    evaluate = compile_expression(invariant.body, Names({"Q": 0}))
    assert evaluate(Frame(processes=1, all_states=[((1, 1, 2),)])) is true
    again, _ = loaded(queued=show_expression(invariant.body))
    assert again is not None
    assert again.links[0].invariants[0].body == invariant.body


@pytest.mark.parametrize(
    ("flying", "queued", "codes"),
    [
        ("exists A(k) in flight ahead. true", "true", ["E0435"]),
        ("forall p: process. forall y in Q@p. exists x ahead. x < y", "true", ["E0435"]),
        ("true", "exists x: process, y ahead. true", ["E0435"]),
        ("true", "forall p: process. known(p) iff known@p()", []),
        ("true", "all_known() implies forall p: process. known(p)", []),
        ("true", "forall p: process. unknown(p)", ["E0205"]),
        ("true", "forall p: process. far(p)", ["E0421"]),
    ],
)
def test_where_it_stands(flying: str, queued: str, codes: list[str]) -> None:
    """Beside what is around; and definitions of the machine in an invariant of the link."""
    assert loaded(flying, queued)[1] == codes
