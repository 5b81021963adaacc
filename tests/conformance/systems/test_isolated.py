"""A class in a process of its own: what it does to its process is a finding about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from thence.conformance.campaign.one_system import campaign_runner
from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Schedule, Send
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.rerun import opposite
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.systems.isolated_worker import Host
from thence.conformance.systems.subject import Subject, SubjectError, load_subject
from thence.conformance.systems.system import Limits

TWO: Schedule = (Send(1, 0), Send(1, 2))


@pytest.fixture
def isolated(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Classes of `ending.py`, each in a process of its own, which ends with the test."""
    monkeypatch.syspath_prepend(str(request.path.parent))
    made: list[Subject] = []

    def subject(name: str, **limits: float) -> Subject:
        made.append(load_subject(f"isolated:{name}", 3, Limits(**limits)))  # type: ignore[arg-type]
        return made[-1]

    yield subject
    for one in made:
        one.close()


@pytest.mark.long(but=("Faults-crash-was ended by SIGSEGV", "Quits-crash-has ended with exit code 3"))
@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("Quits", "crash", "has ended with exit code 3"),
        ("Faults", "crash", "was ended by SIGSEGV"),
        ("Sleeps", "hang", "gives no answer in 0.5 s"),
        ("Wraps", "hang", "gives no answer in 0.5 s"),
    ],
)
def test_the_end_of_its_process_is_a_finding(isolated: Any, name: str, kind: str, said: str) -> None:
    subject = isolated(f"ending:{name}", reply_s=0.5)
    outcome = run_case(subject.make_process, TWO, Settings())
    [finding] = outcome.findings
    assert (finding.kind, said in finding.text) == (kind, True), finding.text
    assert ("not for the contract" in finding.traceback) == (name == "Quits")
    again = run_case(subject.make_process, TWO, Settings())
    assert [str(found) for found in again.findings] == [str(finding)], "the next case begins anew"


@pytest.mark.parametrize(
    ("sends", "said"),
    [
        (1, "raises KeyError: 'nothing there'"),
        (2, "raises SystemExit: 4"),
        (3, "returns 'dear', which is neither Send nor Deliver"),
        (4, "sends a packet to 7; there are processes 0 to 2"),
        (5, 'reports a delivery from "p1", which is not the number of a process'),
    ],
)
def test_what_is_wrong_with_its_answers_is_a_finding(isolated: Any, sends: int, said: str) -> None:
    last: Schedule = (*[Send(0, 1)] * sends, Receive(sends - 1, (0, 1)))
    [finding] = run_case(isolated("ending:Strange").make_process, last, Settings()).findings
    assert (finding.kind, said in finding.text) == ("crash", True), finding.text


@pytest.mark.parametrize("name", ["thence.impl.rst:RST", "thence.impl.ks:KS", "thence.impl.cbcast:CBCAST"])
def test_a_right_class_does_the_same_as_without_a_process_of_its_own(isolated: Any, name: str) -> None:
    own, here = isolated(name), load_subject(name)
    assert (own.delivery, own.reacts) == (here.delivery, here.reacts) and own.delivery is not None
    settings = Settings(delivery=own.delivery)
    for seed in range(8):
        one, other = (
            run_scheduled(subject.make_process, SCHEDULERS["uniform"], seed, 12, settings) for subject in (own, here)
        )
        assert one.log == other.log and not one.findings


def test_its_steps_are_held_against_a_protocol_where_its_packets_have_kinds(isolated: Any) -> None:
    from thence.dsl.find import named_protocol

    rst = named_protocol("rst")
    assert opposite(isolated("thence.impl.rst:RST"), Settings(), rst).protocol is rst
    broadcast = isolated("ending:Everybody")
    assert broadcast.delivery == "broadcast" and not broadcast.reacts
    with pytest.raises(SubjectError, match="is a broadcast system"):
        opposite(broadcast, Settings(), rst)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ending:Quit", "has no class Quit"),
        ("nowhere:Quits", "there is no module nowhere"),
        ("ending:Waits", "can be blocked"),
        ("exiting:Any", "has ended with exit code 5, before it was asked for anything but its class"),
    ],
)
def test_what_cannot_be_used_is_said(isolated: Any, name: str, said: str, tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "exiting.py").write_text("import posix\nposix._exit(5)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SubjectError, match=said):
        isolated(name)


def test_a_campaign_counts_the_end_of_a_process_as_a_failure(isolated: Any) -> None:
    runner = campaign_runner({"system": "isolated:ending:Quits", "scheduler": "uniform"})
    try:
        found = [finding for seed in range(20) for finding in runner(seed).findings]
    finally:
        runner.close()
    assert runner.facts["system"] is not None
    assert found and all("has ended with exit code 3" in finding for finding in found)


def test_a_host_keeps_the_packets_of_one_case() -> None:
    host = Host("thence.impl.rst:RST")
    begin = {"request": "init", "processes": 2, "hosts": [0, 1], "delivery": "unicast", "self_sends": False}
    assert host.reply(begin) == {"version": "thence-exec/1", "timers": True, "react": False, "kinds": True}
    send = {"request": "send", "process": 0, "destinations": [1], "message": "m0.1"}
    assert host.reply(send) == {"events": [{"packet": 0, "to": 1, "kind": "MSG", "message": "m0.1"}]}
    arrival = {"request": "receive", "process": 1, "from": 0, "packet": 0}
    assert host.reply(arrival) == {"events": [{"deliver": "m0.1", "from": 0}]}
    assert host.reply({"request": "tick", "process": 1}) == {"events": []}
    host.reply(begin)
    assert host.reply(arrival)["error"].startswith("IndexError")
