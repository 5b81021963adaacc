"""Whole explorations of protocols with terms and statements of every type: all engines find the same.

The environment is drawn too: delivery to one, some or all, both orders of channels, loss, duplication, timers, inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest
from tests.proofs.bounded import test_random_protocols as bounded
from tests.proofs.test_random_protocols import MANNERS, Tally, compare, keep_small
from tests.proofs.typed_protocols import drawn_protocol

from thence.dsl import ir
from thence.dsl.ir.types import NAT
from thence.dsl.run import execute

Specify: TypeAlias = Callable[[str], ir.Specification]

MOST_STATES = 600


def drawn(specify: Specify, seed: int, without: frozenset[str] = frozenset()) -> tuple[ir.Protocol, ir.Workload]:
    """A protocol and a small workload. A third can be symmetric: processes are not ordered, and all do the same."""
    one = Random(~seed)
    alike = one.random() < 0.34
    faults = one.choice(("reliable", "reliable", "lossy, duplicating"))
    delivery = one.choice(("unicast", "unicast", "multicast", "broadcast"))
    without |= {name for name, lacking in (("orders", alike), ("dst", delivery != "unicast")) if lacking}
    environment = (
        f"delivery {delivery}",
        f"network {faults}, {one.choice(('reordering', 'reordering', 'fifo'))}",
    )
    text = drawn_protocol(seed, one.choice((2, 3, 5)), 3, without, environment)
    (protocol,) = specify(text).protocols
    return protocol, drawn_workload(one, protocol, alike=alike)


def drawn_workload(one: Random, protocol: ir.Protocol, *, alike: bool) -> ir.Workload:
    """Two or three processes; one or two messages; a timer, an input, a loss or a copy now and then."""
    sends = (1, 1) if alike else one.choice(((1, 1), (1, 0), (2, 0), (1, 0, 0)))
    count = len(sends)
    others = tuple(tuple(q for q in range(count) if q != p) for p in range(count))
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    if protocol.delivery == "broadcast":
        groups = tuple((each,) for each in others)
    elif protocol.delivery == "multicast":
        groups = tuple((*((to,) for to in each), each) if len(each) > 1 else (each,) for each in others)
    workload = ir.Workload(count, sends, others, groups=groups, ticks=one.choice((0, 0, 1)))
    if protocol.network.lossy:
        workload = replace(workload, duplicates=one.choice((0, 1)), losses=one.choice((0, 1)))
    if alike:
        return workload
    uses = tuple(
        ir.InputUse(handler.kind or "", one.choice(((1, *(0,) * (count - 1)), (*(0,) * (count - 1), 1))), tuple(
            (each.name, one.choice(((0,), (0, 2))) if each.type == NAT else tuple(range(count)))
            for each in handler.parameters
        ))
        for handler in protocol.inputs
    )  # fmt: skip
    return replace(workload, inputs=uses)


def explored(specify: Specify, seed: int, tally: Tally) -> None:
    """By the interpreter, and by two manners of native code: one keeps all states, one is drawn."""
    plain, *others = MANNERS
    manners = (replace(plain, reductions=("symmetry",)), Random(seed).choice((plain, *others)))
    compare(*drawn(specify, seed), tally, MOST_STATES, manners=manners)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 48, 4))
def test_native_code_finds_what_the_interpreter_does(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    for seed in range(start, start + 4):
        explored(specify, seed, tally)
    assert tally.compared


def bounded_compared(specify: Specify, seed: int, tally: Counter[str]) -> None:
    protocol, workload = drawn(specify, seed, frozenset({"keys"}))
    judged = [*bounded.JUDGED[:-2], *(formula.name for formula in protocol.formulas)]
    bounded.compare(protocol, workload, seed, tally, judged)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 96, 8))
def test_bounded_search_finds_what_the_interpreter_does(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    tally = Counter[str]()
    for seed in range(start, start + 8):
        bounded_compared(specify, seed, tally)
    assert tally["compared"] and tally["refuted"], tally
