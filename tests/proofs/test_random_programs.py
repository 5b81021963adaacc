"""Drawn protocols whose applications follow drawn programs, with `when`, choices and timers, and sends inside
deliveries: the engines agree.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.proofs.random_choices import with_choices
from tests.proofs.test_random_protocols import CONDITIONS, JUDGED, Draw, Specify, Tally, compare, keep_small

from thence.dsl import ir


def drawn_program(draw: Random, process: int, count: int) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """What an application does; None: as it likes."""
    if draw.random() < 0.2:
        return None
    others = [other for other in range(count) if other != process]
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw.randint(0, 3)):
        if draw.random() < 0.5:
            steps.append(("send", (draw.choice(others),)))
        else:
            steps.append(("receive", draw.choice(((), (draw.choice(others),)))))
    return tuple(steps)


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, ir.Workload]:
    """A protocol for single destinations, and programs."""
    more = Random(~seed)
    draw = next(each for each in (Draw(seed + 10_000 * step) for step in range(1_000)) if suits(each))
    text = draw.text()
    if more.random() < 0.3:
        text = text.replace("on causal_send(m):", f"on causal_send(m) when {more.choice(CONDITIONS)}:", 1)
    if more.random() < 0.3:
        text = with_choices(text, seed)
    (protocol,) = specify(text).protocols
    workload = draw.workload(protocol)
    programs = tuple(drawn_program(more, process, workload.processes) for process in range(workload.processes))
    if not any(programs):
        programs = ((("send", (1,)), ("receive", ())), *programs[1:])
    sends = tuple(
        workload.sends[process] if program is None else sum(verb == "send" for verb, _ in program)
        for process, program in enumerate(programs)
    )
    everybody = range(workload.processes)
    others = tuple(tuple(other for other in everybody if other != process) for process in everybody)
    sending = ir.Finite(programs=programs, reactive=more.random() < 0.3)
    programmed = replace(workload, sends=sends, destinations=others, sending=sending)
    return protocol, programmed


def suits(draw: Draw) -> bool:
    text = Draw(draw.seed).text()
    return "delivery multicast" not in text and "delivery broadcast" not in text


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 120, 12))
def test_every_engine_follows_programs(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    for seed in range(start, start + 12):
        compare(*drawn(specify, seed), tally, most=800, judged=(*JUDGED, "completes"))
    assert tally.compared > 5 and tally.violating
