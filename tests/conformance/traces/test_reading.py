"""Recorded executions in the formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.traces.reading import FORMATS, read, read_merged, written
from thence.conformance.traces.shiviz import read_shiviz
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send
from thence.spec.judgement import judge
from thence.spec.logs import LogError, by_process, merged
from thence.spec.trace import Trace, TraceError, write_trace

SAMPLES = Path(__file__).parent / "samples"


@st.composite
def executions(draw: st.DrawFn) -> Execution:
    """Executions of three processes, some with arrivals, some faulty, each message delivered at most once a process."""
    arrivals = draw(st.booleans())
    events: list[Event] = []
    open_: list[tuple[int, str, int]] = []
    for number, (kind, source, to) in enumerate(
        draw(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 7)), max_size=14))
    ):
        if kind or not open_:
            destinations = tuple(process for process in range(3) if process != source and to >> process & 1)
            events.append(Send(source, f"m{number}", destinations))
            open_ += [(process, f"m{number}", source) for process in destinations]
        else:
            process, message, sender = open_.pop(to % len(open_))
            events += [Receive(process, message, sender)] * arrivals
            events.append(Deliver(process, message))
    return Execution(3, tuple(events))


def of_each_process(execution: Execution) -> list[list[Event]]:
    return [[event for event in execution.events if event.process == process] for process in range(execution.processes)]


@pytest.mark.parametrize(("name", "missing"), [("jepsen.edn", "question"), ("otlp.json", "order")])
def test_each_sample_is_recognised_and_has_its_violation(name: str, missing: str) -> None:
    path = SAMPLES / name
    execution = read(path).execution
    judgement = judge(execution)
    assert judgement.first_violation is not None
    assert judgement.first_violation.missing == (missing,)
    assert execution.processes == 3
    assert [format_ for format_ in FORMATS if _reads(path, format_)] == [path.stem]


def _reads(path: Path, format_: str) -> bool:
    try:
        read(path, format_)
    except TraceError:
        return False
    return True


def test_clocks_are_not_compared_between_processes() -> None:
    """In the OTLP sample, the clock of `payments` is behind that of `orders`."""
    execution = read(SAMPLES / "otlp.json").execution
    assert execution.names == ("orders", "payments", "shipping")
    assert execution.events[:2] == (Send(0, "order", (1, 2)), Deliver(1, "order"))


def test_a_failed_send_did_not_happen() -> None:
    assert "never" not in {event.message for event in read(SAMPLES / "jepsen.edn").execution.events}


def test_a_history_may_be_json(tmp_path: Path) -> None:
    operations = [
        {"process": 0, "type": "invoke", "f": "send", "value": {"message": "a", "destinations": [1]}},
        {"process": 1, "type": "ok", "f": "deliver", "value": "a"},
    ]
    for text in (json.dumps(operations), "\n".join(map(json.dumps, operations))):
        (tmp_path / "history.json").write_text(text)
        assert read(tmp_path / "history.json").execution.events == (Send(0, "a", (1,)), Deliver(1, "a"))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(executions())
def test_what_is_written_reads_as_the_same_execution(execution: Execution) -> None:
    if not execution.events:
        return
    log = written(Trace(execution), "shiviz")
    assert log is not None
    again = read_shiviz(log).execution
    known = {name: number for number, name in enumerate(again.names)}
    logs = of_each_process(again)
    for process, own in enumerate(of_each_process(execution)):
        found = logs[known[f"p{process}"]] if f"p{process}" in known else []
        assert [(type(event), event.message) for event in found] == [(type(event), event.message) for event in own]
    assert judge(again).violating_pairs == judge(execution).violating_pairs
    assert judge(again).fifo == judge(execution).fifo


def test_itf_is_written_and_read(tmp_path: Path) -> None:
    execution = Execution(3, (Send(0, "a", (1,)), Receive(1, "a", 0), Deliver(1, "a")))
    text = written(Trace(execution), "itf")
    assert text is not None
    (tmp_path / "run.itf.json").write_text(text)
    assert read(tmp_path / "run.itf.json").execution == execution


def test_clocks_alone_show_sends_and_deliveries() -> None:
    execution = read(SAMPLES / "shiviz.log").execution
    assert execution.names == ("alice", "bob", "carol")
    sends = [event for event in execution.events if isinstance(event, Send)]
    assert sends == [Send(0, "alice.1", (1,)), Send(0, "alice.2", (2,)), Send(1, "bob.2", (2,))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('p0 {"p0": 2}\nsend a to []', "line 1: event 2 of p0, where its event 1 should be"),
        ('p0 {"p0": 1}\n', "line 1: the event is missing"),
        ('p0 {"p1": 1}\nx', "line 1: the clock of p0 has no entry for itself"),
        ('p0 {"p0": 1, "p1": 1}\nx', "event 1 of p1 is not in the log"),
        ("p0 and so on", "line 1: a host and its clock are expected"),
        ("", "there is no event in it"),
    ],
)
def test_a_broken_log_is_refused(text: str, said: str) -> None:
    with pytest.raises(LogError, match=said.replace("(", r"\(")):
        read_shiviz(text)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1, 2",
        "{:a}",
        "{:a 1",
        "hello",
        "[]",
        "{}",
        '{"resourceSpans": [{}]}',
        '{"resourceSpans": 3}',
        "]",
        '"',
        "(" * 500,
        '{"vars": [], "states": [{}]}',
        '{"vars": ["event"], "states": [{"event": {"event": "deliver", "process": 0, "message": "a"}}]}',
        '[{"process": 0, "type": "ok", "f": "deliver", "value": "a"}]',
        '[{"process": 0, "type": "invoke", "f": "send", "value": []}]',
    ],
)
@pytest.mark.parametrize("format_", [None, *FORMATS])
def test_garbage_is_refused_with_the_file(text: str, format_: str | None, tmp_path: Path) -> None:
    path = tmp_path / "garbage"
    path.write_text(text)
    with pytest.raises(TraceError) as caught:
        read(path, format_)
    assert str(path) in str(caught.value)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(executions())
def test_logs_of_single_processes_are_put_together(execution: Execution) -> None:
    again = merged(by_process(execution.events, 3), 3)
    assert of_each_process(again) == of_each_process(execution)
    assert judge(again).violating_pairs == judge(execution).violating_pairs


def _log(path: Path, *events: Event) -> Path:
    write_trace(path, Trace(Execution(2, events)))
    return path


def test_partial_logs_from_files(tmp_path: Path) -> None:
    one = _log(tmp_path / "one.ndjson", Deliver(0, "b"), Send(0, "a", (1,)))
    two = _log(tmp_path / "two.ndjson", Send(1, "b", (0,)), Deliver(1, "a"))
    events = read_merged([one, two]).execution.events
    assert events == (Send(1, "b", (0,)), Deliver(0, "b"), Send(0, "a", (1,)), Deliver(1, "a"))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ((Deliver(0, "b"), Send(0, "a", (1,))), (Deliver(1, "a"), Send(1, "b", (0,))), "contradict each other"),
        ((Send(0, "a", (1,)),), (Send(1, "a", (0,)),), "'a' is sent a second time"),
        ((Send(0, "a", (1,)),), (Deliver(1, "c"),), "no log has its send"),
    ],
)
def test_logs_that_fit_no_execution(
    first: tuple[Event, ...], second: tuple[Event, ...], said: str, tmp_path: Path
) -> None:
    paths = [_log(tmp_path / "one.ndjson", *first), _log(tmp_path / "two.ndjson", *second)]
    with pytest.raises(TraceError, match=said):
        read_merged(paths)


def itf(*events: Any, **more: Any) -> str:
    """An ITF trace with these events."""
    return json.dumps({**more, "vars": ["event"], "states": [{"event": event} for event in events]})


ITF_SEND = {"event": "send", "process": 0, "message": "m", "destinations": {"#set": [1]}}


@pytest.mark.parametrize(
    "event",
    [{"event": "Deliver", "process": 1, "message": "m"}, {"tag": "Deliver"}, "deliver", 3, {"event": ["deliver"]}],
)
def test_an_unknown_kind_of_an_itf_event_is_refused(tmp_path: Path, event: Any) -> None:
    (tmp_path / "run.json").write_text(itf(None, {"event": "none"}, ITF_SEND, event))
    with pytest.raises(TraceError, match="state 3 has the event"):
        read(tmp_path / "run.json")


@pytest.mark.parametrize(
    "text",
    [
        itf({**ITF_SEND, "destinations": 1}),
        itf({**ITF_SEND, "destinations": None}),
        itf(ITF_SEND, {"event": "deliver"}),
    ],
)
def test_a_wrong_itf_event_is_a_fault_of_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(TraceError):
        read(tmp_path / "run.json")


def test_an_itf_trace_needs_no_meta(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(itf(ITF_SEND, **{"#meta": [1]}))
    assert read(tmp_path / "run.json").execution.processes == 2


def test_inputs_survive_itf(tmp_path: Path) -> None:
    execution = Execution(2, (Send(0, "m", (1,)), Input(1, "request", (1, True)), Input(1, "ask", ())))
    text = written(Trace(execution), "itf")
    assert text is not None
    (tmp_path / "run.json").write_text(text)
    assert read(tmp_path / "run.json").execution == execution


@pytest.mark.parametrize("text", ['{"vars": [], "states": [], "vars": []}', '{"a": 1}\n{"a": 1, "a": 2}\n'])
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(TraceError, match=r"the key (vars|a) stands twice"):
        read(tmp_path / "run.json")
