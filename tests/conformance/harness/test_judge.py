"""The judgement of a case agrees with the definitions, whatever was delivered."""

from __future__ import annotations

from random import Random

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.harness.judge import CaseJudge
from thence.conformance.replay.findings import event_of
from thence.spec.delivery_order import first_crossing
from thence.spec.events import Execution

PROCESSES = 3


def drawn(random: Random) -> CaseJudge:
    """A case of multicasts, each delivered anywhere, at any time, perhaps twice."""
    judge = CaseJudge(Settings(PROCESSES, delivery="multicast", self_sends=True, total_order=True))
    messages = [(f"m{number}", random.randrange(PROCESSES)) for number in range(random.randint(1, 4))]
    for message, process in messages:
        judge.sent(process, message, tuple(range(PROCESSES)))
    for _ in range(random.randrange(10)):
        judge.delivered(random.randrange(PROCESSES), *random.choice(messages))
    return judge


def test_a_total_order_is_judged_as_it_is_defined() -> None:
    crossings = 0
    for seed in range(500):
        judge = drawn(Random(seed))
        wanted = first_crossing(Execution(PROCESSES, tuple(map(event_of, judge.log))))
        assert [finding.text for finding in judge.crossing()] == ([] if wanted is None else [str(wanted)]), seed
        crossings += wanted is not None
    assert 20 < crossings < 480


@pytest.mark.parametrize("orders", [("ab", "ab", "b"), ("ab", "b", "a"), ("", "ab", "b")])
def test_processes_that_deliver_different_messages_may_agree(orders: tuple[str, ...]) -> None:
    judge = CaseJudge(Settings(PROCESSES, delivery="multicast", self_sends=True, total_order=True))
    for message in "ab":
        judge.sent(0, message, tuple(range(PROCESSES)))
    for process, order in enumerate(orders):
        for message in order:
            judge.delivered(process, message, 0)
    assert judge.crossing() == ()
