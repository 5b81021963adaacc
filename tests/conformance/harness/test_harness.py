"""One case: what the harness does with a schedule, and what it finds."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Hashable
from typing import Any

import pytest
from hypothesis import given, settings

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import (
    Duplicate,
    Lose,
    Operation,
    React,
    Receive,
    Schedule,
    Send,
    Tick,
    schedules,
)
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness import case
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.implementations import SYSTEMS
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir
from thence.impl.commands import Command
from thence.impl.commands import Deliver as HandOver
from thence.impl.commands import Send as Transmit
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.mf import MF, Msg
from thence.impl.rst import RST
from thence.spec.events import Deliver
from thence.spec.events import Receive as Arrive
from thence.spec.events import Send as CausalSend
from thence.spec.judgement import judge

OVERTAKE = (Send(0, 1), Send(0, 1), Receive(1, (0, 1)))
TRIANGLE = (Send(0, 1), Send(0, 2), Receive(0, (0, 2)), Send(2, 1), Receive(0, (2, 1)))
EVERYTHING = Settings(loss=True, duplication=True)


class Misbehaving(MF):
    """Does what `misbehave` says on the first packet."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        return self.misbehave(sender, packet)

    def misbehave(self, sender: int, packet: Any) -> Any:
        raise RuntimeError("a bug\nof two lines")


def misbehaving(answer: Any) -> type[MF]:
    class Answers(Misbehaving):
        def misbehave(self, sender: int, packet: Any) -> Any:
            return answer(sender, packet)

    return Answers


def only(outcome: CaseOutcome) -> Any:
    assert len(outcome.findings) == 1, outcome.findings
    return outcome.findings[0]


# --- what the oracle sees ------------------------------------------------------------------------


def test_overtaking_on_one_channel_is_causal_and_fifo(at_once: Any) -> None:
    outcome = run_case(at_once, OVERTAKE, Settings())
    assert [finding.kind for finding in outcome.findings] == ["causal", "fifo"]
    assert str(outcome.findings[1]) == "fifo: p1 delivers m0.2 before m0.1 (m0.1 -> m0.2)"
    assert outcome.execution.events == (
        CausalSend(0, "m0.1", (1,)),
        CausalSend(0, "m0.2", (1,)),
        Arrive(1, "m0.2", 0),
        Deliver(1, "m0.2"),
        Arrive(1, "m0.1", 0),
        Deliver(1, "m0.1"),
    )
    assert outcome.execution.events[outcome.findings[0].event_index] == Deliver(1, "m0.2")


def test_fifo_channels_do_not_overtake(at_once: Any) -> None:
    outcome = run_case(at_once, OVERTAKE, Settings(channels="fifo"))
    assert outcome.findings == ()
    assert outcome.operations == OVERTAKE[:2]
    assert run_case(at_once, TRIANGLE, Settings(channels="fifo")).kinds == {"causal"}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_shipped_implementation_keeps_the_triangle_in_order(name: str, library: Callable[[str], ir.Protocol]) -> None:
    settings = settings_for(library(name))
    outcome = run_case(load_subject(SYSTEMS[name]).make_process, TRIANGLE, settings)
    assert outcome.findings == ()
    sends = [operation for operation in outcome.operations if isinstance(operation, Send)]
    destinations = [settings.destinations(send.process, send.destination) for send in sends]
    delivered = sum(isinstance(event, Deliver) for event in outcome.execution.events)
    assert delivered == sum(map(len, destinations)) >= (3 if settings.delivered else 1)


def test_a_lost_message_is_stuck() -> None:
    outcome = run_case(MF, (Send(0, 1), Lose(0), Send(1, 0)), Settings(loss=True))
    assert str(only(outcome)) == "stuck: p1 never delivers m0.1, after 15 rounds of timers without a delivery"
    assert outcome.execution.events[only(outcome).event_index] == CausalSend(0, "m0.1", (1,))
    assert outcome.operations == (Send(0, 1), Lose(0, (0, 1)), Send(1, 0))


def test_a_second_copy_is_a_duplicate(at_once: type) -> None:
    assert run_case(at_once, (Send(0, 1), Duplicate(0)), Settings(duplication=True)).kinds == {"duplicate"}
    assert run_case(HybridBasic, (Send(0, 1), Duplicate(0)), Settings(duplication=True)).findings == ()


def test_faults_that_the_settings_forbid_are_skipped() -> None:
    outcome = run_case(RST, (Send(0, 1), Duplicate(0), Lose(0)), Settings())
    assert outcome.findings == ()
    assert outcome.operations == (Send(0, 1),)


def test_a_message_that_nobody_sent_is_a_phantom() -> None:
    made_up = misbehaving(lambda sender, packet: [HandOver(sender, "m9.9"), HandOver(sender, packet.message)])
    assert str(only(run_case(made_up, (Send(0, 1),), Settings()))) == (
        "phantom: p1 delivers m9.9, which nobody sent to it"
    )
    unhashable = misbehaving(lambda sender, packet: [HandOver(sender, ["m"]), HandOver(sender, packet.message)])
    assert "delivers ['m'], which nobody sent" in only(run_case(unhashable, (Send(0, 1),), Settings())).text


def test_a_message_in_the_name_of_another_is_a_phantom() -> None:
    forged = misbehaving(lambda sender, packet: [HandOver(2, packet.message)])
    assert only(run_case(forged, (Send(0, 1),), Settings())).text == (
        "p1 delivers m0.1 as a message from p2, and p0 sent it"
    )


def test_a_message_kept_back_for_no_reason_is_an_over_delay() -> None:
    class Keeps(RST):
        def receive(self, sender: int, packet: Any) -> list[Command]:
            self.kept = super().receive(sender, packet)
            return []

        def tick(self) -> list[Command]:
            kept, self.kept = getattr(self, "kept", []), []
            return kept

    outcome = run_case(Keeps, (Send(0, 1), Send(2, 0)), Settings(prompt=True))
    assert only(outcome).kind == "over_delay"
    unclaimed = run_case(Keeps, (Send(0, 1), Send(2, 0)), Settings())
    assert (unclaimed.findings, unclaimed.noted) == ((), outcome.findings)
    assert (outcome.withheld, outcome.arrivals) == (2, 2)


def test_a_message_kept_back_for_a_reason_is_none() -> None:
    outcome = run_case(RST, OVERTAKE, Settings())
    assert (outcome.findings, outcome.withheld, outcome.arrivals) == ((), 0, 2)


# --- operations ----------------------------------------------------------------------------------


def test_an_answer_follows_the_delivery_at_once() -> None:
    outcome = run_case(MF, (React(1, 2), Send(0, 1)), Settings())
    assert outcome.operations == (React(1, 2), Send(0, 1))
    assert outcome.execution.events[:4] == (
        CausalSend(0, "m0.1", (1,)),
        Arrive(1, "m0.1", 0),
        Deliver(1, "m0.1"),
        CausalSend(1, "m1.1", (2,)),
    )


def test_an_answer_without_a_delivery_never_happens() -> None:
    assert run_case(MF, (React(1, 2), Send(0, 2)), Settings()).operations == (Send(0, 2),)


def test_impossible_operations_are_skipped() -> None:
    impossible: tuple[Operation, ...] = (
        Send(0, 0),
        Send(0, 3),
        Send(7, 0),
        React(0, 0),
        Receive(0),
        Receive(3, (0, 1)),
        Tick(3),
        Lose(0),
    )
    outcome = run_case(MF, impossible, EVERYTHING)
    assert (outcome.operations, outcome.log, outcome.findings) == ((), (), ())


@settings(derandomize=True, deadline=None, max_examples=150)
@given(schedules(EVERYTHING, 25))
def test_the_effective_operations_give_the_same_case(schedule: Schedule) -> None:
    first = run_case(HybridBasic, schedule, EVERYTHING)
    again = run_case(HybridBasic, first.operations, EVERYTHING)
    assert again == first
    assert again.digest() == first.digest()
    assert first.findings == ()


@settings(derandomize=True, deadline=None, max_examples=150)
@given(schedules(Settings(), 20))
def test_the_judgement_of_the_finished_trace_agrees(schedule: Schedule) -> None:
    from faults.cykas import SeveralPerReceiver

    outcome = run_case(SeveralPerReceiver, schedule, Settings())
    judged = judge(outcome.execution)
    assert not judged.gaps or judged.stuck
    shown = ("causal" in outcome.kinds, "fifo" in outcome.kinds, "stuck" in outcome.kinds, "duplicate" in outcome.kinds)
    if not judged.gaps:
        assert shown == (not judged.causal, not judged.fifo, judged.stuck, judged.duplicate)


# --- subjects that misbehave ---------------------------------------------------------------------


def test_an_exception_is_a_crash_with_its_traceback() -> None:
    outcome = run_case(Misbehaving, (Send(0, 1), Send(2, 0)), Settings())
    finding = only(outcome)
    assert str(finding) == ("crash: p1: receive(0, Msg(message='m0.1')) raises RuntimeError: a bug of two lines")
    assert "in misbehave" in finding.traceback
    assert "_call" not in finding.traceback


def raises_exit(sender: int, packet: Any) -> None:
    sys.exit(3)


def endless_answer(sender: int, packet: Any) -> Any:
    while True:
        yield Transmit(sender, Msg("m"))


def hangs(sender: int, packet: Any) -> None:
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            continue


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises_exit, "raises SystemExit: 3"),
        (lambda sender, packet: None, "it returns None, where a list of commands is due"),
        (lambda sender, packet: ["hello"], "returns 'hello', which is neither Send nor Deliver"),
        (lambda sender, packet: [Transmit(3, Msg("m"))], "sends a packet to 3, which is no process"),
        (lambda sender, packet: [Transmit(True, Msg("m"))], "sends a packet to True, which is no process"),
        (hangs, r"gives no answer in 0\.1 s"),
    ],
)
def test_what_is_no_answer_is_a_crash(answer: Any, said: str) -> None:
    finding = only(run_case(misbehaving(answer), (Send(0, 1),), Settings(), limit_s=0.1))
    assert finding.kind == ("hang" if answer is hangs else "crash")
    assert pytest.importorskip("re").search(said, finding.text), finding.text


def test_a_constructor_that_raises_is_a_crash() -> None:
    class Unmade(MF):
        def __init__(self, identity: int, processes: int) -> None:
            if identity == 2:
                raise RuntimeError("no third process")
            super().__init__(identity, processes)

    finding = only(run_case(Unmade, (Send(0, 1),), Settings()))
    assert str(finding) == "crash: p2: is made raises RuntimeError: no third process"


def test_packets_without_end_are_found() -> None:
    two_for_one = misbehaving(lambda sender, packet: [Transmit(sender, packet), Transmit(sender, packet)])
    outcome = run_case(two_for_one, (Send(0, 1),), Settings(prompt=True))
    assert outcome.kinds == {"over_delay", "endless"}
    assert (outcome.arrivals, outcome.withheld) == (1, 1)
    forth_and_back = misbehaving(lambda sender, packet: [Transmit(sender, packet)])
    assert "endless" in run_case(forth_and_back, (Send(0, 1),), Settings()).kinds


@pytest.mark.parametrize("limit", ["STEP_LIMIT", "PACKET_LIMIT"])
def test_a_long_schedule_has_an_end(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """What the schedule asks for is no fault of the system; that one does not stop is found all the same."""
    monkeypatch.setattr(case, limit, 40)
    outcome = run_case(RST, (Send(0, 1),) * 100, Settings())
    assert (outcome.kinds, outcome.arrivals) == (set(), 100)
    forth_and_back = misbehaving(lambda sender, packet: [Transmit(sender, packet)])
    assert "endless" in run_case(forth_and_back, (Send(0, 1),) * 100, Settings()).kinds


def test_timers_without_end_are_no_reason_to_wait() -> None:
    class Chatty(MF):
        def tick(self) -> list[Command]:
            return [Transmit(0, Msg("noise"))]

        def receive(self, sender: int, packet: Any) -> list[Command]:
            return []

    outcome = run_case(Chatty, (Send(0, 1),), Settings(prompt=True))
    assert outcome.kinds == {"stuck", "over_delay"}
    assert outcome.steps < 120


def test_a_subject_may_be_without_timers() -> None:
    class Timeless:
        def __init__(self, identity: int, processes: int) -> None:
            self.inner = MF(identity, processes)

        def causal_send(self, destination: int, message: Hashable) -> Any:
            return self.inner.causal_send(destination, message)

        def receive(self, sender: int, packet: Any) -> Any:
            return iter(self.inner.receive(sender, packet))

    outcome = run_case(Timeless, (Tick(0), *TRIANGLE), Settings())  # type: ignore[arg-type]
    assert outcome.findings == ()


# --- the same everywhere -------------------------------------------------------------------------

PRINT_DIGESTS = """
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.impl.hybrid_basic import HybridBasic
settings = Settings(loss=True, duplication=True)
print([run_scheduled(HybridBasic, s, seed, 20, settings).digest() for s in SCHEDULERS.values() for seed in range(20)])
"""


def test_digests_do_not_depend_on_hash_seeds() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGESTS],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(printed) == 1
    assert len(set(printed.pop().split(","))) > 60


def test_a_thousand_cases_take_less_than_a_second() -> None:
    begun = time.process_time()
    for seed in range(1_000):
        run_scheduled(MF, SCHEDULERS["starve_one_channel"], seed, 12, Settings())
    assert time.process_time() - begun < 1, "4,000 cases a second are the aim; this leaves room for a busy machine"


def test_what_is_not_promised_is_not_judged(at_once: type) -> None:
    overtaken = (Send(0, 2), Send(0, 1), Receive(0, (0, 1)), Send(1, 2), Receive(0, (1, 2)))
    assert run_case(at_once, overtaken, Settings()).kinds == {"causal"}
    assert run_case(at_once, overtaken, Settings(causal=False)).kinds == frozenset()
    swapped = (Send(0, 1), Send(0, 1), Receive(1, (0, 1)))
    assert run_case(at_once, swapped, Settings()).kinds == {"causal", "fifo"}
    assert run_case(at_once, swapped, Settings(causal=False)).kinds == {"fifo"}
    assert run_case(at_once, swapped, Settings(causal=False, fifo=False)).kinds == frozenset()
    lost = (Send(0, 1), Lose(0, (0, 1)))
    assert run_case(at_once, lost, Settings(loss=True)).kinds == {"stuck"}
    assert run_case(at_once, lost, Settings(loss=True, delivered=False)).kinds == frozenset()
