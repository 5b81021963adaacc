"""What the text of a protocol allows: queues letter by letter, counters, one send queue; and what it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.abstraction.discipline import NotApplicable, discipline_of

Specify: TypeAlias = Callable[[str], ir.Specification]

TEXT = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message ACK()
  message NUMBERED(n: nat)
  state:
    OB: queue of message
    N: nat
    Q: queue of set of process
  on causal_send(m):
    OB.push(m)
    release()
  procedure release():
    if N > 1: return
    while OB is not empty:
      send MSG(OB.first) to OB.first.dst
      OB.pop()
  on receive MSG(m) from j:
    N := N + 1
    Q.push({j})
    deliver m
    send ACK() to j
    send NUMBERED(N) to j
  on receive NUMBERED(n) from j: pass
  on receive ACK() from j:
    N := N - 1
    while Q is not empty:
      if j in Q.first: return
      Q.pop()
    release()
"""


def changed(specify: Specify, *changes: tuple[str, str]) -> ir.Protocol:
    text = TEXT
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return specify(text).protocols[0]


UNSENT = ("    send NUMBERED(N) to j\n", "    send NUMBERED(1) to j\n")


def test_what_is_used_as_it_should_be(specify: Specify) -> None:
    found = discipline_of(changed(specify, UNSENT))
    assert found.packets == {"ACK"}
    assert found.queues == {"Q"}
    assert found.counters == {"N": 3}
    assert found.waiting == "OB"


@pytest.mark.parametrize(
    "change",
    [
        ("    N := N + 1\n", "    N := N + N\n"),
        ("    N := N + 1\n", "    for k in process: N := N + 1\n"),
        ("    if N > 1: return\n", "    if N > Q.size: return\n"),
        ("    N := N + 1\n", "    N := N + 1\n    let old = N\n"),
    ],
)
def test_what_is_no_mere_counter(specify: Specify, change: tuple[str, str]) -> None:
    assert not discipline_of(changed(specify, UNSENT, change)).counters
    assert not discipline_of(changed(specify)).counters, "its value is sent"


@pytest.mark.parametrize(
    "change",
    [
        ("      Q.pop()\n", "      Q.pop()\n      N := N - 1\n"),
        ("      Q.pop()\n", "      Q.pop()\n      Q.pop()\n"),
        ("    Q.push({j})\n", "    if Q.size < 2: Q.push({j})\n"),
        ("    Q.push({j})\n", "    if not {j} in Q: Q.push({j})\n"),
        ("    Q.push({j})\n", "    Q.push({j})\n    Q.pop()\n"),
    ],
)
def test_what_is_not_used_letter_by_letter(specify: Specify, change: tuple[str, str]) -> None:
    assert not discipline_of(changed(specify, UNSENT, change)).queues


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("    if N > 1: return\n", "    if OB.size > 1: return\n"), "not used as a queue only"),
        (("    deliver m\n", "    deliver m\n    OB.push(m)\n"), "from elsewhere"),
        (("  on causal_send(m):\n", "  on causal_send(m) when N = 0:\n"), "keeps the application"),
    ],
)
def test_what_is_refused(specify: Specify, change: tuple[str, str], why: str) -> None:
    with pytest.raises(NotApplicable, match=why):
        discipline_of(changed(specify, change))
