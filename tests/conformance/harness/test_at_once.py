"""Several cases at once: the outcomes are those of one case at a time, whatever happens in a batch."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.harness.at_once import run_at_once
from thence.conformance.harness.coverage import CoveredReplay
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay import replay as replay_module
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.os_process import OsProcess
from thence.conformance.systems.slot import Slot
from thence.conformance.systems.system import ExternalSystem, Limits
from thence.dsl.find import named_protocol

EXAMPLE = Path(__file__).parents[3] / "conformance" / "examples" / "python" / "adapter.py"
SEVERAL = Path(__file__).with_name("several.py")
UNIFORM = SCHEDULERS["uniform"]
UNORDERED = Settings(causal=False, fifo=False)
"""Settings whose promises `several.py` keeps while nothing goes wrong."""

Make = Callable[..., ExternalSystem]


@pytest.fixture(scope="module")
def make() -> Iterator[Make]:
    """Foreign systems, introduced, that end with the tests."""
    made: list[ExternalSystem] = []

    def system(program: Path, *words: str, limits: Limits | None = None) -> ExternalSystem:
        made.append(ExternalSystem(shlex.join([sys.executable, str(program), *words]), limits=limits))
        made[-1].introduce(Settings())
        return made[-1]

    yield system
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def right(make: Make) -> ExternalSystem:
    return make(EXAMPLE)


@pytest.fixture(scope="module")
def faulty(make: Make) -> ExternalSystem:
    return make(EXAMPLE, "--faulty")


def in_turn(
    system: ExternalSystem, scheduler: str, seeds: range, operations: int, given: Settings, replay: Replay | None = None
) -> list[CaseOutcome]:
    """One case at a time: the definition."""
    return [run_scheduled(system, SCHEDULERS[scheduler], seed, operations, given, replay) for seed in seeds]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.booleans(),
    st.sampled_from(sorted(SCHEDULERS)),
    st.integers(0, 1_000),
    st.integers(1, 80),
    st.integers(1, 20),
    st.integers(2, 4),
    st.sampled_from(["", "in lock step", "as promised"]),
)
def test_outcomes_are_those_of_one_case_at_a_time(
    right: ExternalSystem,
    faulty: ExternalSystem,
    is_faulty: bool,
    scheduler: str,
    first: int,
    cases: int,
    operations: int,
    processes: int,
    against: str,
) -> None:
    system, protocol = faulty if is_faulty else right, named_protocol("rst")
    allowed = replace(settings_for(protocol, processes), timers=Settings().timers)
    seeds = range(first, first + cases)

    def replay() -> Replay | None:
        if not against:
            return None
        return Replay(protocol, processes) if against == "in lock step" else CoveredReplay(protocol, processes)

    several = run_at_once(system, SCHEDULERS[scheduler], seeds, operations, allowed, replay())
    assert list(several) == in_turn(system, scheduler, seeds, operations, allowed, replay())


def test_what_a_replay_remembers_lasts_as_long_as_cases_are_under_way(
    faulty: ExternalSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol, seeds = named_protocol("rst"), range(150)
    allowed = settings_for(protocol, 3)
    alone, replay = CoveredReplay(protocol, 3), CoveredReplay(protocol, 3)
    wanted = [
        (one, alone.reached(one))
        for seed in seeds
        for one in in_turn(faulty, "uniform", range(seed, seed + 1), 12, allowed, alone)
    ]
    monkeypatch.setattr(replay_module, "REMEMBERED", 20)
    assert [(one, replay.reached(one)) for one in run_at_once(faulty, UNIFORM, seeds, 12, allowed, replay)] == wanted


def asked_of(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Everything that systems are asked from now on."""
    asked: list[bytes] = []
    ask = OsProcess.ask

    def noting(self: OsProcess, lines: bytes, *rest: Any, **named: Any) -> list[bytes]:
        asked.append(lines)
        return ask(self, lines, *rest, **named)

    monkeypatch.setattr(OsProcess, "ask", noting)
    return asked


def test_batches_are_few(right: ExternalSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    right.begin_case(Settings())
    starts, asked = right.starts, asked_of(monkeypatch)
    assert len(list(run_at_once(right, UNIFORM, range(64), 12, Settings()))) == 64
    assert len(asked) < 64
    assert right.starts == starts


def test_a_system_that_says_nothing_of_cases_has_one_at_a_time(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    system, asked = make(SEVERAL, "alone", "0"), asked_of(monkeypatch)
    outcomes = list(run_at_once(system, UNIFORM, range(5), 12, UNORDERED))
    assert outcomes == in_turn(system, "uniform", range(5), 12, UNORDERED)
    assert not any(b"batch" in line or b'"case"' in line for line in asked)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("dies", "has ended with exit code 3"),
        ("hangs", "gives no answer in"),
        ("few", "replies to a batch of"),
        ("many", "replies to a batch of"),
        ("none", "to a batch, without a list of replies"),
        ("text", "to a batch, without a list of replies"),
        ("error", "raises too many"),
        ("strange", "which is none of packet, deliver and sent"),
        ("other", "replies to init with other abilities than before"),
    ],
)
def test_a_failure_that_does_not_show_alone_is_not_lost(make: Make, what: str, said: str) -> None:
    first = "1" if what == "other" else "4"
    limits = Limits(reply_s=2.0, case_s=2.0) if what == "hangs" else Limits()
    system = make(SEVERAL, what, first, limits=limits)
    outcomes = list(run_at_once(system, UNIFORM, range(20), 12, UNORDERED))
    right = in_turn(make(SEVERAL, "alone", "0"), "uniform", range(20), 12, UNORDERED)
    wrong = [number for number, outcome in enumerate(outcomes) if outcome.findings]
    assert 1 <= len(wrong) <= 8, "each case of a batch has its own failure, or they have one together"
    for number, (outcome, alone) in enumerate(zip(outcomes, right, strict=True)):
        if number in wrong:
            finding = outcome.findings[-1]
            assert replace(outcome, findings=outcome.findings[:-1]) == alone
            assert finding.kind == ("hang" if what == "hangs" else "crash")
            assert said in finding.text and finding.text.endswith("with 8 cases at once, and not with one")
        else:
            assert outcome == alone


def test_a_failure_that_shows_alone_is_that_of_the_case(make: Make) -> None:
    """The promises are broken by what the system does, at once as alone."""
    system, alone = make(SEVERAL, "right", "0"), make(SEVERAL, "alone", "0")
    outcomes = list(run_at_once(system, UNIFORM, range(40), 12, Settings()))
    assert outcomes == in_turn(alone, "uniform", range(40), 12, Settings())
    assert any(outcome.findings for outcome in outcomes)


@pytest.mark.parametrize("what", ["dies", "error", "strange", "hangs"])
def test_a_failure_is_that_of_the_case_that_meets_it(make: Make, what: str) -> None:
    """Whichever group of cases is asked, and whichever one is judged meanwhile."""
    limits = Limits(reply_s=1.0, case_s=3.0) if what == "hangs" else Limits()
    system = make(SEVERAL, what, "m0.4", limits=limits)
    wanted = in_turn(system, "uniform", range(12), 12, UNORDERED)
    assert 1 <= sum(bool(outcome.findings) for outcome in wanted) <= 3
    assert list(run_at_once(system, UNIFORM, range(12), 12, UNORDERED)) == wanted


def test_cases_that_a_system_mixes_up_are_findings(make: Make) -> None:
    outcomes = list(run_at_once(make(SEVERAL, "mixes", "0"), UNIFORM, range(8), 12, UNORDERED))
    assert any("phantom" in outcome.kinds or "stuck" in outcome.kinds for outcome in outcomes)


def test_a_system_that_holds_no_case_is_refused(make: Make) -> None:
    with pytest.raises(Exception, match="cases: 0, which is no number from 1 on"):
        make(SEVERAL, "no number", "0")


def test_after_ctrl_c_in_a_batch_no_old_answer_is_taken(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    system, read = make(EXAMPLE), OsProcess._read_line
    wanted = in_turn(system, "uniform", range(10), 12, Settings())
    left = iter(range(5))

    def interrupted(self: OsProcess, *given: float) -> bytes:
        if next(left, None) is None:
            monkeypatch.undo()
            raise KeyboardInterrupt
        return read(self, *given)

    monkeypatch.setattr(OsProcess, "_read_line", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_at_once(system, UNIFORM, range(10), 12, Settings()))
    assert list(run_at_once(system, UNIFORM, range(10), 12, Settings())) == wanted
    assert system.starts == 2


def test_while_the_system_works_other_cases_are_judged(right: ExternalSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the first answers of each group, and those of the last cases that are left, come to be judged so."""
    right.begin_case(Settings())
    ask_all, answered = ExternalSystem.ask_all, Slot.answered
    under_way, judged = [False], {False: 0, True: 0}

    def asking(
        self: ExternalSystem, requests: list[dict[str, Any]], meanwhile: Callable[[], None]
    ) -> list[dict[str, Any]]:
        def noted() -> None:
            under_way[0] = True
            meanwhile()
            under_way[0] = False

        return ask_all(self, requests, noted)

    def judging(self: Slot, replies: list[dict[str, Any]]) -> list[Any]:
        judged[under_way[0]] += 1
        return answered(self, replies)

    monkeypatch.setattr(ExternalSystem, "ask_all", asking)
    monkeypatch.setattr(Slot, "answered", judging)
    assert len([*run_at_once(right, UNIFORM, range(64), 12, Settings())]) == 64
    assert judged[True] > 9 * judged[False]


def test_after_ctrl_c_while_cases_are_judged_no_old_answer_is_taken(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, answered = make(EXAMPLE), Slot.answered
    wanted = in_turn(system, "uniform", range(10), 12, Settings())
    left = iter(range(25))

    def interrupted(self: Slot, replies: list[dict[str, Any]]) -> list[Any]:
        if next(left, None) is None:
            monkeypatch.undo()
            raise KeyboardInterrupt
        return answered(self, replies)

    monkeypatch.setattr(Slot, "answered", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_at_once(system, UNIFORM, range(10), 12, Settings()))
    assert list(run_at_once(system, UNIFORM, range(10), 12, Settings())) == wanted
    assert system.starts == 2


def test_enough_ends_between_batches(right: ExternalSystem) -> None:
    questions = iter([False] * 12 + [True] * 9)
    outcomes = list(run_at_once(right, UNIFORM, range(200), 12, Settings(), None, lambda: next(questions)))
    assert len(outcomes) < 64
    assert outcomes == in_turn(right, "uniform", range(len(outcomes)), 12, Settings())


@pytest.mark.parametrize("program", ["right", "faulty"])
def test_a_report_does_not_depend_on_batches(
    program: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, protocol = request.getfixturevalue(program), named_protocol("rst")

    def report() -> Report:
        made = conform(system, Opposite(protocol), settings_for(protocol), Sampling(cases=120, operations=10))
        return replace(made, seconds=0.0)

    several = report()
    monkeypatch.setattr(ExternalSystem, "cases_at_once", 1)
    alone = report()
    assert several == alone
    assert bool(several.counterexamples) == (program == "faulty")
