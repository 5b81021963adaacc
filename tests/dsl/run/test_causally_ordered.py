"""Two readings of causal delivery: the strict one, and section 4.1's, about messages that were both delivered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.conform.conform import settings_for
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.causality import History, delivered, sent
from thence.dsl.run.values import Message
from thence.proofs.bounded.search import search
from thence.proofs.engines import explore
from thence.spec.events import Deliver, Event, Execution, Send
from thence.spec.judgement import judge
from thence.spec.user_error import UserError

PROCESSES = 3

TEXT = """
protocol skips:
  network reliable, fifo
  message MSG(m: message) carries m
  state:
    first: bool = true
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if first: first := false
    else: deliver m
  property causally_ordered

protocol overtakes:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property causally_ordered
"""


def protocol(name: str) -> ir.Protocol:
    specification = load_bytes(Path("readings.thence"), TEXT.encode()).specification
    assert specification is not None
    return next(one for one in specification.protocols if one.name == name)


@given(st.integers(0, 2**32), st.integers(2, 30))
@settings(max_examples=150, deadline=None)
def test_the_history_finds_what_the_finished_trace_shows(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    history, events = History((0,) * PROCESSES, ()), list[Event]()
    messages: list[Message] = []
    open_: list[tuple[int, Message]] = []
    found = {"causal": 0, "causally_ordered": 0}

    def bit(message: Message) -> int:
        return 1 << messages.index(message)

    for _ in range(steps):
        if open_ and chance.random() < 0.5:
            process, message = open_.pop(chance.randrange(len(open_)))
            history, findings = delivered(history, process, message, bit, {"causally_ordered"})
            events.append(Deliver(process, message.name))
            for name in found:
                found[name] += any(one.property == name for one in findings)
        else:
            source = chance.randrange(PROCESSES)
            others = [process for process in range(PROCESSES) if process != source]
            to = tuple(sorted(chance.sample(others, chance.randint(1, 2))))
            message = Message(source, sum(one.src == source for one in messages), to)
            messages.append(message)
            history = sent(history, source, message, bit(message))
            events.append(Send(source, message.name, to))
            open_ += [(process, message) for process in to]
    judged = judge(Execution(PROCESSES, tuple(events)))
    assert bool(found["causally_ordered"]) == (not judged.causal)
    assert bool(found["causal"]) == (not judged.causal or bool(judged.gaps))


@pytest.mark.parametrize(("name", "wrong"), [("skips", {"causal"}), ("overtakes", {"causal", "causally_ordered"})])
def test_the_engines_agree(name: str, wrong: set[str]) -> None:
    workload = ir.Workload(2, (2, 0), ((1,), (0,)))
    asked = ("causal", "causally_ordered")
    explored = explore(protocol(name), workload, asked)
    assert explored.complete
    assert {*explored.violations} == wrong
    bounded = search(protocol(name), workload, asked, 4)
    assert {*bounded.violations} == wrong


def test_cases_of_classes_refuse_the_weaker_reading() -> None:
    with pytest.raises(UserError, match="judge `causal`"):
        settings_for(protocol("skips"))
