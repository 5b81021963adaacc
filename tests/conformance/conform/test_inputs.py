"""Systems whose applications have inputs besides sends."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.proofs.fairness.random_protocols import random_text, with_input

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.cases.schedule import Have, ScheduleError, Send, describe, from_json, to_json
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.claims import Judged, plan
from thence.conformance.conform.conform import conform, settings_for
from thence.conformance.conform.rerun import rerun
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.harness import case
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.mutation.implementation_equality import LocalComparison
from thence.conformance.mutation.protocol_judge import baseline, judge_protocol, usual_workloads
from thence.conformance.replay import state_estimate
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.replay.recordings import ReferenceProtocol, judged
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.protocol_subject import ProtocolSystem
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.spec.events import Execution, Input
from thence.spec.trace import Trace, TraceError, read_trace, write_trace
from thence.spec.user_error import UserError
from thence.spec.verdict import Verdict

LOCK = """
protocol lock:
  network reliable, reordering
  role server: process = 0
  message ASK()
  message GRANT()
  message FREE()
  state:
    holds: bool
    asked: bool
    taken: bool
    waiting: queue of process
  on acquire() when not asked and not holds:
    asked := true
    send ASK() to server
  on release(quickly: bool) when holds:
    holds := false
    send FREE() to server
  on receive ASK() from j:
    if taken: waiting.push(j)
    else:
      taken := true
      send GRANT() to j
  on receive GRANT() from j:
    asked := false
    holds := true
  on receive FREE() from j:
    if waiting is empty: taken := false
    else:
      send GRANT() to waiting.first
      waiting.pop()
  invariant exclusive: forall p, q: process. holds@p and holds@q implies p = q

scope three of lock:
  processes 3
  acquire 1 per process
  release 1 per process

mutant generous of lock:
  on receive ASK() from j: send GRANT() to j
  expect refuted exclusive in three
"""

LOCKS = """
from dataclasses import dataclass

from thence.impl.commands import MustWait, Send


@dataclass(frozen=True)
class Packet:
    kind: str
    message: None = None


@dataclass(frozen=True)
class Letter:
    text: str


class Lock:
    def __init__(self, identity, processes):
        self.queue, self.holder, self.state = [], None, "idle"

    def acquire(self):
        if self.state != "idle":
            raise MustWait
        self.state = "asked"
        return [Send(0, Packet("ASK"))]

    def release(self, quickly):
        if self.state != "holds":
            raise MustWait
        self.state = "idle"
        return [Send(0, Packet("FREE"))]

    def receive(self, sender, packet):
        match packet.kind:
            case "ASK":
                self.queue.append(sender)
            case "FREE":
                self.holder = None
            case "GRANT":
                self.state = "holds"
                return []
        if self.holder is None and self.queue:
            self.holder = self.queue.pop(0)
            return [Send(self.holder, Packet("GRANT"))]
        return []


class Generous(Lock):
    def receive(self, sender, packet):
        return [Send(sender, Packet("GRANT"))] if packet.kind == "ASK" else super().receive(sender, packet)


class Careless(Lock):
    def release(self, quickly):
        self.state = "holds"
        return super().release(quickly)


class Never(Lock):
    def release(self, quickly):
        raise MustWait


class Unfinished(Lock):
    release = None


class Waiting(Lock):
    def receive(self, sender, packet):
        raise MustWait


class Unknown(Lock):
    def acquire(self):
        return [Send(one.destination, Letter(one.packet.kind)) for one in super().acquire()]

    def release(self, quickly):
        return [Send(one.destination, Letter(one.packet.kind)) for one in super().release(quickly)]

    def receive(self, sender, letter):
        return [Send(one.destination, Letter(one.packet.kind)) for one in super().receive(sender, Packet(letter.text))]


class UnknownCareless(Unknown):
    def release(self, quickly):
        self.state = "holds"
        return super().release(quickly)
"""

PROGRAM = """
import json
import sys

from locks import {name} as Lock
from thence.impl.commands import MustWait

from locks import Packet

for line in sys.stdin:
    asked = json.loads(line)
    reply = {{"events": []}}
    if asked["request"] == "init":
        assert asked["inputs"] == ["acquire", "release"]
        locks = {{host: Lock(host, asked["processes"]) for host in asked["hosts"]}}
        reply = {{"version": "thence-exec/1", "timers": False, "react": False, "kinds": True}}
    else:
        lock = locks[asked["process"]]
        try:
            if asked["request"] == "input":
                commands = getattr(lock, asked["input"])(*asked["arguments"])
            else:
                commands = lock.receive(asked["from"], Packet(asked["packet"]))
            reply["events"] = [
                {{"packet": one.packet.kind, "kind": one.packet.kind, "to": one.destination}} for one in commands
            ]
        except MustWait:
            reply = {{"waits": True}}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lock.thence").write_text(dedent(LOCK))
    (tmp_path / "locks.py").write_text(LOCKS)
    sys.modules.pop("locks", None)
    return tmp_path


def run(name: str, cases: int = 60) -> Judged:
    return plan(name, "lock.thence", cases=cases).run()


def test_a_right_lock_conforms(here: Path) -> None:
    found = run("locks:Lock")
    assert found.plan.claims == ("started", "conforming")
    assert (found.report.failures, found.report.undecided) == (0, 0)
    assert found.report.matched > found.report.events > 0
    assert not found.report.whole.coverage.missing


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Generous", "the subject sends GRANT to p"),
        ("Careless", "the application has to wait, the guard of release is false"),
        ("Never", "the protocol takes the input, the subject lets the application wait"),
        ("UnknownCareless", "the application has to wait, the guard of release is false"),
    ],
)
def test_a_faulty_lock_does_not(here: Path, name: str, said: str) -> None:
    found = run(f"locks:{name}")
    refutation = found.refutation("conforming")
    assert refutation is not None
    assert said in " ".join(refutation.text.split())
    assert read_case(refutation.recorded.text()) == refutation.recorded
    assert [str(one) for one in rerun(refutation.recorded).findings] == refutation.text.splitlines()[:1]


def test_packets_of_no_kind_leave_the_inputs(here: Path) -> None:
    found = run("locks:Unknown")
    assert (found.report.failures, found.report.undecided) == (0, 0)
    assert found.report.matched == found.report.events


def test_what_a_class_lacks_is_said(here: Path) -> None:
    with pytest.raises(SubjectError, match="lacks the method release"):
        run("locks:Unfinished")
    refutation = run("locks:Waiting").refutation("started")
    assert refutation is not None
    assert "receive" in refutation.text and "raises MustWait" in refutation.text


@pytest.mark.parametrize("per_process", [False, True])
def test_a_program(here: Path, per_process: bool) -> None:
    prefix = "exec-per-process" if per_process else "exec"
    for name, claim in [("Lock", None), ("Careless", "conforming")]:
        (here / "program.py").write_text(PROGRAM.format(name=name))
        found = run(f"{prefix}:{sys.executable} program.py", cases=20)
        assert (found.report.failures == 0) is (claim is None), found.report.counterexamples
        assert found.refutation("started") is None
        assert (found.refutation("conforming") is not None) is (claim is not None)


def test_a_class_in_a_process_of_its_own(here: Path) -> None:
    assert run("isolated:locks:Lock", cases=20).report.failures == 0
    assert run("isolated:locks:Never").refutation("conforming") is not None


def test_a_protocol_and_its_mutant(here: Path) -> None:
    assert run("protocol:lock.thence").report.failures == 0
    refutation = run("protocol:lock.thence#generous").refutation("conforming")
    assert refutation is not None and "GRANT" in refutation.text


POKED = """
protocol poked:
  network reliable
  message POKE()
  state: had: bool
  on poke():
    for p in process:
      if p != self: send POKE() to p
  on receive POKE() from j: had := true
"""


class Numb:
    """Has each input, and does nothing."""

    def __init__(self, identity: int, processes: int) -> None:
        pass

    def poke(self) -> list[Any]:
        return []

    acquire = poke

    def release(self, quickly: bool) -> list[Any]:
        return []

    def receive(self, sender: int, packet: object) -> list[Any]:
        return []


def test_inputs_that_are_never_refused_test_nothing_where_nothing_else_is_seen() -> None:
    poked, lock = protocol_of(POKED), protocol_of(LOCK)
    numb = conform(Numb, Opposite(poked, "as observed"), settings_for(poked), Sampling(cases=20))
    assert (numb.failures, numb.vacuous) == (0, "")
    assert numb.untried["conforming"].startswith("nothing is seen of the protocol but inputs")
    compared = conform(Numb, Opposite(poked), settings_for(poked), Sampling(cases=20))
    assert compared.failures and "conforming" not in compared.untried
    guarded = conform(Numb, Opposite(lock, "as observed"), settings_for(lock), Sampling(cases=20))
    assert guarded.failures and "conforming" not in guarded.untried


def test_nobody_had_an_input(here: Path) -> None:
    settings = settings_for(protocol_of(LOCK))
    outcome = run_case(ProtocolSystem(protocol_of(LOCK)), (), settings, Replay(protocol_of(LOCK), 3))
    assert outcome.vacuous and outcome.nothing == "no application had an input"
    assert load_subject("protocol:lock.thence").require(settings) is None  # type: ignore[func-returns-value]


def test_schedules_and_settings_are_stored(here: Path) -> None:
    settings = settings_for(protocol_of(LOCK))
    assert [each.name for each in settings.inputs] == ["acquire", "release"]
    assert settings.inputs[1].choices == ((False,), (True,)) and not settings.sends
    assert Settings.from_json(settings.to_json()) == settings
    schedule = (Have(0, "acquire", ()), Have(0, "release", (True,)))
    assert from_json(to_json(schedule)) == schedule
    assert [describe(one) for one in schedule] == ["p0 does acquire()", "p0 does release(true)"]
    for wrong in (["input", 0], ["input", 0, "acquire", [-1]], ["input", -1, "acquire", []], ["input", 0, "a b", []]):
        with pytest.raises(ScheduleError):
            from_json([wrong])
    for wrong in (
        [1], {"receive": {"arguments": [[]]}}, {"a": {}}, {"a": {"arguments": []}}, {"a": {"arguments": [["x"]]}},
        {"a": {"arguments": [[0]], "processes": [1]}}, {"a": {"arguments": [[0]], "others": []}}, {"a": [[0]]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="input"):
            Settings.from_json({"inputs": wrong})
    # A class that sends messages is no lock: nothing of it is called.
    assert settings.destinations(0, 1) == ()
    stored = RecordedCase("protocol:lock.thence", "lock.thence", settings, (*schedule, Send(0, 1)))
    assert rerun(stored).operations == (schedule[0], schedule[1])


def test_names_of_the_interface_are_no_inputs() -> None:
    protocol = protocol_of(LOCK.replace("acquire", "react"))
    with pytest.raises(UserError, match="its input react has the name of something else"):
        settings_for(protocol)


# --- mutants -----------------------------------------------------------------------------------


def test_mutants_of_a_protocol_and_of_a_class(here: Path) -> None:
    loaded = load_bytes(Path("lock.thence"), LOCK.encode())
    assert loaded.specification is not None
    protocol, mutant = loaded.specification.protocols[0], loaded.specification.mutants[0]
    assert isinstance(mutant.mutated, ir.Protocol)
    known = baseline(loaded.specification, protocol)
    assert len(known.scopes) == len(usual_workloads(protocol)) and not known.skipped
    assert judge_protocol(known, mutant.mutated).outcome == "killed"
    assert judge_protocol(known, protocol).outcome == "equal"
    locks = importlib.import_module("locks")
    record = known.scopes[0].record
    assert record.size > 0
    for name, likeness in [("Lock", "same commands"), ("Generous", "different"), ("Never", "different")]:
        assert LocalComparison(record).likeness(locks.Lock, getattr(locks, name)) == likeness
    # What the protocol refuses is compared, too.
    assert LocalComparison(record).likeness(locks.Lock, locks.Careless) == "different"


# --- recordings --------------------------------------------------------------------------------


def test_a_recording_of_inputs(here: Path) -> None:
    def judge(*events: Input) -> Verdict:
        write_trace("run.ndjson", Trace(Execution(3, events), {}))
        assert read_trace("run.ndjson").execution.events == events
        return judged("run.ndjson", None, ReferenceProtocol("lock.thence")).verdict

    def acquire(process: int) -> Input:
        return Input(process, "acquire", ())

    def release(process: int) -> Input:
        return Input(process, "release", (False,))

    assert judge(acquire(1), acquire(2), release(2), release(1)) is Verdict.TESTED
    assert judge(acquire(1), acquire(1)) is Verdict.REFUTED
    assert judge(release(1), acquire(1)) is Verdict.REFUTED
    assert judge(acquire(1), release(1), release(1)) is Verdict.REFUTED
    assert judge() is Verdict.UNKNOWN
    Path("poked.thence").write_text(POKED)
    write_trace("poked.ndjson", Trace(Execution(3, (Input(0, "poke", ()), Input(1, "poke", ()))), {}))
    poked = judged("poked.ndjson", None, ReferenceProtocol("poked.thence"))
    assert (poked.verdict, poked.expected) == (Verdict.UNKNOWN, False)
    assert poked.facts["unknown"] == "nothing was delivered, and the protocol takes the inputs at any time"
    for wrong, said in [
        (Input(0, "steal", ()), "has no such input"),
        (Input(0, "acquire", (1,)), "whose arguments are none"),
        (Input(0, "release", (1,)), "whose arguments are none"),
    ]:
        with pytest.raises(TraceError, match=said):
            judge(wrong)


def test_an_input_that_cannot_be_read(here: Path) -> None:
    for event, said in [
        ('{"event": "input", "process": 0, "input": 3}', '"input" is 3'),
        ('{"event": "input", "process": 7, "input": "acquire"}', "process"),
        ('{"event": "input", "process": 0, "input": "acquire", "arguments": ["x"]}', '"arguments" is'),
        ('{"event": "inputs", "process": 0, "message": "m"}', '"deliver" or "input"'),
    ]:
        Path("bad.ndjson").write_text('{"format": "thence-trace/1", "processes": 3}\n' + event + "\n")
        with pytest.raises(TraceError, match=said):
            read_trace("bad.ndjson")


# --- random protocols --------------------------------------------------------------------------


def protocol_of(text: str) -> ir.Protocol:
    loaded = load_bytes(Path("random.thence"), text.encode())
    assert loaded.specification is not None, (text, [each.message for each in loaded.diagnostics])
    return loaded.specification.protocols[0]


def check_a_random_protocol(seed: int) -> int:
    """The protocol follows itself, step by step and by its log. An input that it does not take spoils the log. Returns
    the number of logs that were spoilt."""
    draw = random.Random(seed)
    protocol = protocol_of(with_input(random_text(draw), draw))
    settings = settings_for(protocol)
    replay, observed = Replay(protocol, 3), PartialObservationReplay(protocol, 3, most_states=2_000)
    spoilt = 0
    for number, scheduler in enumerate(SCHEDULERS.values()):
        outcome = run_scheduled(ProtocolSystem(protocol), scheduler, seed + number, 10, settings, replay)
        found = {one.kind for one in (*outcome.findings, *outcome.noted)}
        assert "nonconformance" not in found and "crash" not in found, (seed, outcome.findings)
        answer = None if "endless" in found else observed.answer(outcome)
        if answer is None:
            continue
        assert answer.verdict != "nonconforming", (seed, str(answer))
        # Before anything has happened, nothing is kept and no flag is set.
        guard = protocol.inputs[0].guard
        if guard is not None and not takes_at_first(protocol):
            events = (Input(0, "poke", ()), *outcome.execution.events)
            wrong = observed.judge(Execution(3, events), observed.conditions(Execution(3, events), ordered=True))
            assert wrong.verdict != "conforming", seed
            spoilt += wrong.verdict == "nonconforming"
    return spoilt


def takes_at_first(protocol: ir.Protocol) -> bool:
    """Whether the input is possible before anything has arrived, now or after a timer."""
    lockstep = Replay(protocol, 3).begin()
    return bool(protocol.timers) or lockstep.input(0, "poke", ()).fault is None


@pytest.fixture
def soon_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many random protocols send without end, with ever more in their states: their cases end early."""
    monkeypatch.setattr(case, "STEP_LIMIT", 150)
    monkeypatch.setattr(case, "PACKET_LIMIT", 60)
    monkeypatch.setattr(case, "PER_OPERATION", 1)
    monkeypatch.setattr(state_estimate, "MOST_SILENT", 30)


@pytest.mark.usefixtures("soon_endless")
def test_random_protocols() -> None:
    assert sum(check_a_random_protocol(seed) for seed in range(25)) > 0


@pytest.mark.long
@pytest.mark.usefixtures("soon_endless")
def test_more_random_protocols() -> None:
    assert sum(check_a_random_protocol(seed) for seed in range(100, 300)) > 50


ASKS = """
protocol asks:
  network reliable, fifo
  message X(k: nat)
  state:
    asked: set of process
  on ask(q: process, k: nat) when q != self and q not in asked and forall x: process. x <= q:
    asked.add(q)
    send X(k) to q
  on receive X(k) from j: pass
"""


def test_a_case_gives_only_processes_that_are_there(here: Path) -> None:
    """A schedule of three processes runs among two: what names the third one is left out, a number is not."""
    protocol = protocol_of(ASKS)
    settings = settings_for(protocol, 2)
    assert settings.inputs[0].processes == (0,)
    assert Settings.from_json(settings.to_json()) == settings
    schedule = (Have(0, "ask", (2, 0)), Have(0, "ask", (1, 7)))
    stored = RecordedCase("protocol:asks.thence", "asks.thence", settings, schedule)
    (here / "asks.thence").write_text(ASKS, encoding="utf-8")
    assert rerun(stored).operations == schedule[1:]
