"""Foreign systems: whatever they do is a finding about them, and the run goes on."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import React, Receive, Schedule, Send
from thence.conformance.conform.conform import conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.harness import run_case
from thence.conformance.systems.foreign import ForeignSystem, SystemFailed, SystemRaised
from thence.conformance.systems.os_process import CommandError
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.conformance.systems.system import ExternalSystem, Limits

PROGRAM = Path(__file__).with_name("misbehaving.py")
SHORT = Limits(reply_s=0.5, start_s=10, case_s=5)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at on Linux only")
ONE: Schedule = (Send(0, 1),)
ROUND_TRIP: Schedule = (Send(0, 1), Receive(0, (0, 1)), Send(1, 0), Receive(0, (1, 0)))

Make = Callable[..., ExternalSystem]


@pytest.fixture
def make() -> Iterator[Make]:
    """Foreign systems that end with the test."""
    made: list[ExternalSystem] = []

    def system(what: str, at: int | None = None, limits: Limits = SHORT, **options: Any) -> ExternalSystem:
        words = [sys.executable, str(PROGRAM), what, *([] if at is None else [str(at)])]
        made.append(ExternalSystem(shlex.join(words), limits=limits, **options))
        return made[-1]

    yield system
    for one in made:
        one.close()


@pytest.mark.long(
    but=(
        "error-crash-raises no such thing",
        "unasked-crash-p0 sends m0.9 without having been told to, by a delivery",
        "nowhere-crash-sends a packet to 9; there are processes 0 to 2",
        "strange-crash-which is none of packet, deliver and sent",
    )
)
@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        ("hang", "hang", "gives no answer in 0.5 s"),
        ("busy", "hang", "gives no answer in 0.5 s"),
        ("flood", "hang", "gives no answer in 0.5 s"),
        ("partial", "hang", """only '{"eve', without the end of the line"""),
        ("exit", "crash", "has ended with exit code 7"),
        ("kill", "crash", "was ended by SIGKILL"),
        ("closed", "crash", "has closed its standard output"),
        ("garbage", "crash", "prints 'Hello', which is not JSON"),
        ("binary", "crash", "which is not JSON"),
        ("deep", "crash", "which is not JSON"),
        ("digits", "crash", "which is not JSON"),
        ("nan", "crash", "which is not JSON"),
        ("list", "crash", "prints '[]', which is not a JSON object"),
        ("nothing", "crash", "replies '{}', without events"),
        ("echo", "crash", "it repeats what it was asked"),
        ("huge", "crash", "answers with a line of more than 4,194,304 bytes"),
        ("nowhere", "crash", "sends a packet to 9; there are processes 0 to 2"),
        ("strange", "crash", "which is none of packet, deliver and sent"),
        ("unasked", "crash", "p0 sends m0.9 without having been told to, by a delivery"),
        ("error", "crash", "raises no such thing"),
    ],
)
def test_what_it_does_wrong_is_a_finding(make: Make, what: str, kind: str, said: str) -> None:
    system = make(what, 1)
    outcome = run_case(system, ROUND_TRIP, Settings())
    [finding] = outcome.findings
    assert (finding.kind, finding.process) == (kind, 0)
    assert said in finding.text
    assert len(str(finding)) < 400 and str(finding).isprintable()
    again = run_case(system, ROUND_TRIP, Settings())
    assert [str(finding) for finding in again.findings] == [str(finding)], "the next case begins anew"


MEAGRE = Limits(reply_s=20, start_s=20, case_s=40, memory_bytes=200 * 2**20)


@LINUX
@pytest.mark.parametrize("what", ["greedy", "greedy child"])
def test_too_much_memory_is_a_finding_of_its_own(make: Make, what: str) -> None:
    """Also where a process that was started, in a session of its own, takes it."""
    [finding] = run_case(make(what, 1, MEAGRE), ONE, Settings()).findings
    assert finding.kind == "memory"
    assert "MiB in memory, with all that it started; 200 MiB is the limit" in finding.text


@LINUX
def test_memory_that_grows_is_noticed_sooner_or_later_and_enough_is_enough(make: Make) -> None:
    report = conform(make("growing", 1, MEAGRE), None, Settings(), Sampling(cases=400, operations=12))
    assert "memory" in {kind for shown in report.counterexamples for kind in shown.kinds}
    assert report.stopped == "3 times it used more memory than 200 MiB" and report.cases < 400


@LINUX
def test_without_a_limit_there_is_none(make: Make) -> None:
    system = make("growing", 1, Limits(memory_bytes=0))
    sends = tuple(Send(0, 1) for _ in range(6))
    assert run_case(system, sends, Settings()).kinds == {"stuck"} and not system.unlimited


def test_elsewhere_the_memory_limit_is_said_not_to_hold(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.conformance.systems.system.LINUX", False)
    assert make("hang").unlimited == "the memory limit holds on Linux only: here there is none"
    assert make("hang", limits=Limits(memory_bytes=0)).unlimited == ""


def test_where_programs_cannot_be_ended_they_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.conformance.systems.os_process._POSIX", False)
    with pytest.raises(SubjectError, match="on Linux and macOS only"):
        load_subject("exec:cat")


def test_standard_error_fills_no_disk(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read and dropped, but for its end: nothing is written anywhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    [finding] = run_case(make("flood", 1), ONE, Settings()).findings
    assert finding.kind == "hang" and len(finding.traceback) == 4_000
    assert list(tmp_path.iterdir()) == []


def test_a_second_answer_is_noticed_at_once(make: Make) -> None:
    [finding] = run_case(make("twice", 1), ONE, Settings()).findings
    assert finding.kind == "crash"
    assert """answers '{"events": []}', and goes on with '{"events": []}' before it is asked""" in finding.text


def test_what_comes_after_the_last_reply_is_noticed_too(make: Make) -> None:
    """The run ends, and the system with it; what it did after its last reply is a case of its own."""
    system = make("parting", 1)
    trials = Trials(system, None, Settings(delivered=False), Sampling(cases=1, operations=1))
    assert trials.run_schedule("one", ONE).findings == ()
    time.sleep(0.3)
    trials.last_words()
    assert [reach.name for reach in trials.outcomes.reaches.values() if reach.failures] == ["last words"]


def test_its_last_words_are_kept(make: Make) -> None:
    [finding] = run_case(make("exit", 1), ONE, Settings()).findings
    assert finding.traceback == "so long\n"
    [finding] = run_case(make("flood", 1), ONE, Settings()).findings
    assert len(finding.traceback) == 4_000 and "complaint" in finding.traceback


def test_the_run_goes_on_with_a_fresh_process(make: Make) -> None:
    system = make("exit", 3)
    report = conform(system, None, Settings(), Sampling(cases=40, operations=3))
    assert report.cases == 40
    assert 0 < report.failures < 40
    assert {kind for shown in report.counterexamples for kind in shown.kinds} == {"crash"}
    assert all(shown.reproduced and len(shown.operations) == 2 for shown in report.counterexamples)
    assert system.starts > report.failures


def test_a_process_serves_many_cases(make: Make) -> None:
    system = make("stubborn")
    report = conform(system, None, Settings(), Sampling(cases=60, operations=4))
    assert system.starts == 1
    assert report.failures > 0, "it delivers whatever arrives"
    assert isinstance(system, ForeignSystem)


def test_one_process_for_each_participant(make: Make) -> None:
    system = make("stubborn", per_process=True)
    outcome = run_case(system, ROUND_TRIP, Settings())
    assert (outcome.findings, system.starts) == ((), 3)
    again = run_case(system, ROUND_TRIP, Settings())
    assert (again.digest(), system.starts) == (outcome.digest(), 3)
    assert run_case(system, ROUND_TRIP, Settings(processes=4)).findings == ()
    failing = make("exit", 2, per_process=True)
    [finding] = run_case(failing, ROUND_TRIP, Settings()).findings
    assert finding.process == 1
    run_case(failing, ROUND_TRIP, Settings())
    assert failing.starts == 4, "the two others are still of use"


@pytest.mark.parametrize("what", ["garbage", "exit", "version", "echo", "nothing"])
def test_one_that_never_says_a_proper_word_is_given_up(make: Make, what: str) -> None:
    system = make(what)
    report = conform(system, None, Settings(), Sampling(cases=100))
    assert system.starts == 3
    assert 0 < report.cases < 100 and report.failures == report.cases
    assert report.stopped == "its processes do not answer their first request"
    [shown] = report.counterexamples
    assert (shown.kinds, shown.operations) == (("crash",), ())


def test_one_that_hangs_at_the_start_is_given_up_at_once(make: Make) -> None:
    system = make("hang", limits=Limits(start_s=0.5))
    begun = time.monotonic()
    report = conform(system, None, Settings(), Sampling(cases=100))
    assert (report.cases, report.failures, system.starts) == (1, 1, 1)
    assert "gives no answer in 0.5 s" in str(report.counterexamples[0].findings[0])
    assert time.monotonic() - begun < 10


def test_one_that_hangs_again_and_again_is_given_up(make: Make) -> None:
    report = conform(make("hang", 2, Limits(reply_s=0.05)), None, Settings(), Sampling(cases=100, operations=4))
    assert report.stopped.endswith("requests had no answer in time")
    assert report.cases < 100
    [shown] = report.counterexamples
    assert shown.kinds == ("hang",) and shown.reproduced and len(shown.operations) == 1


def test_a_slow_case_is_cut_off(make: Make) -> None:
    system = make("stubborn", limits=Limits(reply_s=5, start_s=10, case_s=0))
    [finding] = run_case(system, ONE, Settings()).findings
    assert finding.kind == "hang"


def test_the_bytes_of_a_case_are_bounded(make: Make) -> None:
    [finding] = run_case(make("fat", 1), ONE * 30, Settings()).findings
    assert "answers with more than 67,108,864 bytes in one case" in finding.text


def test_names_that_terminals_obey_are_made_harmless(make: Make) -> None:
    [finding, *_] = run_case(make("surrogate", 1), ONE, Settings()).findings
    assert finding.kind == "phantom"
    assert "\\ud800\\x1b[31mmmm" in finding.text and len(finding.text) < 300


def test_it_may_refuse_to_begin(make: Make) -> None:
    system = make("error")
    with pytest.raises(SystemRaised, match="no such thing"):
        system.introduce(Settings())
    [finding] = run_case(system, ONE, Settings()).findings
    assert str(finding) == "crash: p0: is made raises no such thing"
    assert system.starts == 1, "an error is an answer"


@pytest.mark.parametrize(
    ("what", "said", "starts"), [("exit", "exit code 7; tried 3 times", 3), ("hang", "no answer in 0.5 s", 1)]
)
def test_one_that_cannot_be_introduced_could_not_start(make: Make, what: str, said: str, starts: int) -> None:
    system = make(what, limits=Limits(start_s=0.5 if what == "hang" else 10))
    with pytest.raises(SystemFailed, match="^could not start: it .*" + said) as raised:
        system.introduce(Settings())
    assert '{"request":"init"' in str(raised.value) and "misbehaving.py" in str(raised.value), "what was tried"
    assert system.starts == starts
    assert raised.value.printed == ("so long\n" if what == "exit" else "")


def test_a_failed_start_that_was_got_over_is_the_first_cases(tmp_path: Path) -> None:
    """No misbehaviour is forgotten, also where it comes before all cases."""
    program = tmp_path / "once.sh"
    program.write_text(f"""
        [ -e {tmp_path}/started ] || {{ touch {tmp_path}/started; echo "not yet" >&2; exit 4; }}
        exec {sys.executable} {PROGRAM} stubborn
    """)
    system = ExternalSystem(f"sh {program}", limits=SHORT)
    try:
        system.introduce(Settings())
        [finding] = run_case(system, ROUND_TRIP, Settings()).findings
        assert finding.kind == "crash" and "exit code 4" in finding.text and finding.traceback == "not yet\n"
        assert run_case(system, ROUND_TRIP, Settings()).findings == ()
    finally:
        system.close()


def test_an_interrupted_exchange_is_not_taken_up_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    system = make("stubborn")
    assert run_case(system, ROUND_TRIP, Settings()).findings == ()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("thence.conformance.systems.os_process.OsProcess._read_line", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_case(system, ROUND_TRIP, Settings())
    assert run_case(system, ROUND_TRIP, Settings()).findings == ()
    assert system.starts == 2


def test_an_answer_from_inside_has_to_come(make: Make) -> None:
    """The program says that it cannot react: then the harness sends after the step, and `React` still happens."""
    outcome = run_case(make("stubborn"), (React(1, 2), Send(0, 1), Receive(0, (0, 1))), Settings())
    assert outcome.findings == ()
    assert [entry[2] for entry in outcome.log if entry[0] == 0] == ["m0.1", "m1.1"]


@pytest.mark.parametrize(
    ("command", "said"),
    [("", "empty"), ("  ", "empty"), ("'", "cannot be read"), ("no-such-program", "no program"), ("a\0b", "no comm")],
)
def test_commands_that_are_none(command: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        ExternalSystem(command)
    with pytest.raises(SubjectError, match=said):
        load_subject(f"exec:{command}")


def test_a_command_that_cannot_be_executed(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    [finding] = run_case(ExternalSystem(str(script)), ONE, Settings()).findings
    assert "cannot be run: No such file or directory" in finding.text


ELSEWHERE = """
import json, sys
waiting = []
for line in sys.stdin:
    request = json.loads(line)
    events = []
    if request["request"] == "send":
        events = [{"packet": request["message"], "to": request["destinations"], "message": request["message"]}]
        events += [{"deliver": name, "from": source, "process": at} for at, source, name in waiting]
        waiting.clear()
    elif request["request"] == "receive":
        waiting.append((request["process"], request["from"], request["packet"]))
        if len(sys.argv) > 1:
            events = [{"deliver": "m0.1", "process": int(sys.argv[1])}]
    reply = {"events": events}
    if request["request"] == "init":
        reply = {"version": "thence-exec/1", "timers": False, "react": False}
    print(json.dumps(reply), flush=True)
"""


def test_an_event_may_be_of_another_process_than_was_asked(tmp_path: Path) -> None:
    program = tmp_path / "elsewhere.py"
    program.write_text(ELSEWHERE)
    schedule = (Send(0, 1), React(1, 2), Receive(0, (0, 1)), Send(2, 0))
    for words, kinds in (("", {"stuck"}), ("7", {"crash"}), ("2", {"phantom", "stuck"})):
        system = ExternalSystem(f"{sys.executable} {program} {words}", limits=SHORT)
        outcome = run_case(system, schedule, Settings())
        system.close()
        assert outcome.kinds - {"over_delay"} >= kinds, outcome.findings
        if not words:
            assert (2, 1, "m0.1", -1) in outcome.log, "p1 delivers when p2 is asked"
            assert (0, 1, "m1.1", 2) in outcome.log, "and its application answers"
