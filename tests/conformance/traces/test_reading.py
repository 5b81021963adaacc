"""Recorded executions in the formats of other tools."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.replay.recordings import ReferenceProtocol, judged, judged_together
from thence.conformance.traces.edn import read_all
from thence.conformance.traces.reading import FORMATS, read, read_merged, written
from thence.conformance.traces.shiviz import read_shiviz
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send
from thence.spec.judgement import judge
from thence.spec.logs import Log, LogError, merged
from thence.spec.trace import Trace, TraceError, write_trace
from thence.spec.verdict import Verdict

SAMPLES = Path(__file__).parent / "samples"
SEND = '{:process 0 :type :invoke :f :send :value {:message "a" :destinations [1]}}'


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


NAMES = st.text(st.sampled_from('ab" \\[],{}\n\x1c\u2028\ud800é😀'), min_size=1, max_size=4)


@st.composite
def strange_executions(draw: st.DrawFn) -> Execution:
    """Executions with names of all kinds, inputs, and deliveries again and where nobody sent to."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    processes = st.integers(0, 2)
    events: list[Event] = [Send(draw(processes), names[0], tuple(draw(st.lists(processes, max_size=3))))]
    for name in names[1:]:
        events += draw(
            st.lists(st.builds(Deliver, processes, st.sampled_from([e.message for e in _sends(events)])), max_size=3)
        )
        events += draw(
            st.lists(st.builds(Input, processes, st.just("ask"), st.tuples(st.booleans(), processes)), max_size=2)
        )
        events.append(Send(draw(processes), name, tuple(draw(st.lists(processes, max_size=3)))))
    last = st.builds(Deliver, processes, st.sampled_from(names))
    return Execution(3, (*events, *draw(st.lists(last, max_size=4))))


def _sends(events: list[Event]) -> list[Send]:
    return [event for event in events if isinstance(event, Send)]


@pytest.mark.parametrize("format_", ["itf", "shiviz"])
@settings(derandomize=True, deadline=None, max_examples=150)
@given(execution=strange_executions(), mark=st.booleans(), ends=st.sampled_from(["\n", "\r\n"]))
def test_nothing_is_lost_on_the_way_through_another_format(
    execution: Execution, mark: bool, ends: str, format_: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = written(Trace(execution), format_)
    assert text is not None
    path = tmp_path_factory.mktemp("written") / "run"
    path.write_bytes(("\ufeff" * mark + text.replace("\n", ends)).encode())
    again = read(path)
    assert "inferred" not in again.header
    events = again.execution.events
    if format_ == "itf":
        assert events == execution.events
    else:
        assert of_each_process(execution) == of_each_process(again.execution)
    assert again.execution.processes == execution.processes


def test_processes_keep_their_numbers_on_the_way_through_shiviz() -> None:
    """Before, p10 came before p2, and who does nothing was left out: `--against` was about other processes."""
    events = (Send(10, "a", (2,)), Deliver(2, "a"))
    log = written(Trace(Execution(12, events)), "shiviz")
    assert log is not None
    again = read_shiviz(log).execution
    assert (again.processes, tuple(again.events)) == (12, events)
    huge = f"p{'9' * 5_000}"
    assert read_shiviz(log.replace("p10", huge)).execution.names[-1] == huge


def test_names_that_would_be_read_in_another_order_are_numbers() -> None:
    log = written(Trace(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a")), ("server", "client"))), "shiviz")
    assert log is not None
    assert read_shiviz(log).execution.names == ("p0", "p1")


def test_an_itf_without_events_has_its_processes(tmp_path: Path) -> None:
    (tmp_path / "none.itf").write_text(str(written(Trace(Execution(3, ())), "itf")))
    assert read(tmp_path / "none.itf").execution == Execution(3, ())


@pytest.mark.parametrize("name", ["a service", "a,b", "x{y", 'say "x"', "a\u2028b"])
def test_processes_whose_names_no_host_can_have_are_numbered(name: str) -> None:
    log = written(Trace(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a")), (name, "other"))), "shiviz")
    assert log is not None
    assert read_shiviz(log).execution.names == ("p0", "p1")


def test_an_itf_on_one_line_is_no_log_of_clocks(tmp_path: Path) -> None:
    text = written(Trace(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a")))), "itf")
    assert text is not None
    (tmp_path / "run").write_text(json.dumps(json.loads(text)))
    assert read(tmp_path / "run").execution.events == (Send(0, "a", (1,)), Deliver(1, "a"))


def test_clocks_alone_give_no_verdict_where_nothing_is_wrong(tmp_path: Path) -> None:
    assert judged(str(SAMPLES / "shiviz.log")).verdict is Verdict.UNKNOWN
    write_trace(tmp_path / "run.ndjson", read(SAMPLES / "shiviz.log"))
    assert judged(str(tmp_path / "run.ndjson")).verdict is Verdict.UNKNOWN


def test_itf_keeps_the_conditions_of_a_recording(tmp_path: Path) -> None:
    conditions = {"channels": "fifo", "loss": True, "duplication": False, "delivery": "unicast", "inferred": True}
    execution = Execution(2, (Send(0, "a", (1,)), Deliver(1, "a")))
    (tmp_path / "run").write_text(str(written(Trace(execution, conditions), "itf")))
    assert read(tmp_path / "run").header == {"source": "ITF", **conditions}
    assert judged(str(tmp_path / "run")).verdict is Verdict.UNKNOWN
    (tmp_path / "run").write_text(itf(ITF_SEND, **{"#meta": {"inferred": 1}}))
    with pytest.raises(TraceError, match='"inferred" in the header is 1'):
        read(tmp_path / "run")


def test_a_picture_shows_what_is_wrong_of_any_kind(tmp_path: Path) -> None:
    write_trace(tmp_path / "run.ndjson", Trace(Execution(2, (Send(0, "a", (1,)), Deliver(1, "a"), Deliver(1, "a")))))
    assert "again" in judged(str(tmp_path / "run.ndjson")).picture


def test_a_pipe_is_refused_where_its_format_is_to_be_recognised(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="cannot be read twice"):
        read(tmp_path / "pipe")


def test_edn_leaves_out_what_is_discarded() -> None:
    assert read_all(r'[1 #_ 2 #_#_{:a 1} [3] 4 #_#inst "now" 5] "\u0041" \a 1_0') == [[1, 4, 5], "A", "\\a", "1_0"]


def operation(type_: str, message: str = "a", process: int = 0) -> str:
    return f'{{:process {process} :type :{type_} :f :send :value {{:message "{message}" :destinations [1]}}}}'


DELIVERY = '{:process 1 :type :ok :f :deliver :value "a"}'


@pytest.mark.parametrize(
    ("operations", "sent"),
    [
        (["invoke", "fail", "invoke", "ok"], True),
        (["invoke", "ok", "invoke", "fail"], True),
        (["invoke", "fail", "invoke", "info"], False),
        (["invoke", "info"], False),
        (["invoke", "fail", "invoke", "fail"], False),
    ],
)
def test_the_end_of_a_send_is_that_of_its_own_invocation(operations: list[str], sent: bool, tmp_path: Path) -> None:
    """A message that one attempt sends is under way, whatever became of another attempt."""
    (tmp_path / "history.edn").write_text("\n".join(map(operation, operations)))
    assert judge(read(tmp_path / "history.edn").execution).stuck == sent


def test_another_process_may_send_what_one_failed_to_send(tmp_path: Path) -> None:
    of_two = [operation(type_, process=2) for type_ in ("invoke", "ok")]
    of_one = [operation(type_) for type_ in ("invoke", "fail")]
    for order in (of_one + of_two, of_two + of_one):
        (tmp_path / "history.edn").write_text("\n".join([*order, DELIVERY]))
        execution = read(tmp_path / "history.edn").execution
        assert [execution.name_of(event.process) for event in execution.events] == ["2", "1"]


def test_the_end_of_a_send_that_nobody_began_is_refused(tmp_path: Path) -> None:
    (tmp_path / "history.edn").write_text(operation("ok"))
    with pytest.raises(TraceError, match="process 0 began none"):
        read(tmp_path / "history.edn")


def otlp(*spans: tuple[str, str, int, dict[str, Any]]) -> str:
    """Spans of services: the service, the trace with the span, when it starts, and the rest."""
    exported = [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
            "scopeSpans": [{"spans": [{"traceId": names[0], "spanId": names[1:], "startTimeUnixNano": start, **more}]}],
        }
        for service, names, start, more in spans
    ]
    return json.dumps({"resourceSpans": exported})


def producer(message: str) -> dict[str, Any]:
    return {"kind": 4, "attributes": [{"key": "messaging.message.id", "value": {"stringValue": message}}]}


def consumer(names: str) -> dict[str, Any]:
    return {"kind": 5, "links": [{"traceId": names[0], "spanId": names[1:]}]}


def test_spans_of_two_traces_may_have_one_number(tmp_path: Path) -> None:
    first, second = ("one", "Aa", 1, producer("m")), ("one", "Ba", 2, producer("n"))
    (tmp_path / "run.json").write_text(
        otlp(first, second, ("two", "Ab", 3, consumer("Aa")), ("two", "Bb", 4, consumer("Ba")))
    )
    events = read(tmp_path / "run.json").execution.events
    assert [event.message for event in events if isinstance(event, Deliver)] == ["m", "n"]
    (tmp_path / "run.json").write_text(
        otlp(first, second, ("two", "Ab", 4, consumer("Aa")), ("two", "Bb", 3, consumer("Ba")))
    )
    assert judged(str(tmp_path / "run.json")).verdict is Verdict.REFUTED


def test_spans_of_a_process_that_start_together_are_refused(tmp_path: Path) -> None:
    """Their order would be that of the file, and with it the verdict."""
    spans = [("one", "Aa", 1, producer("m")), ("one", "Ab", 2, producer("n"))]
    (tmp_path / "run.json").write_text(otlp(*spans, ("two", "Ac", 9, consumer("Aa")), ("two", "Ad", 9, consumer("Ab"))))
    with pytest.raises(TraceError, match="the spans c and d of two start at the same time"):
        read(tmp_path / "run.json")


def test_an_arrival_is_from_the_sender_of_its_message(tmp_path: Path) -> None:
    (tmp_path / "history.edn").write_text(SEND + '{:process 1 :type :ok :f :receive :value "a"}')
    assert read(tmp_path / "history.edn").execution.events == (Send(0, "a", (1,)), Receive(1, "a", 0))


SENT = 'p0 {"p0": 1}\nsend a to [p1]\n'
HEARD = SENT + 'p1 {"p0": 1, "p1": 1}\ndeliver a\n'


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
        (f'{SENT}p1 {{"p0": 2, "p1": 1}}\ndeliver a', "line 3: event 2 of p0 is not in the log"),
        (f'{HEARD}p1 {{"p1": 2}}\nsend b to [p0]', "line 5: the clock of p1 leaves out what line 3 knew"),
        (f'{HEARD}p2 {{"p1": 1, "p2": 1}}\nsend b to [p0]', "line 5: the clock of p2 leaves out what line 3 knew"),
        (
            'p0 {"p0": 1, "p1": 1}\nsend a to [p1]\np1 {"p0": 1, "p1": 1}\ndeliver a',
            "line 1: p0 knows line 3, which knows this event already",
        ),
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
        '[{"process": 0, "type": "invoke", "f": "send"}]',
        '[{"process": 0, "type": "invoke", "f": "send", "value": true}]',
        '[{"process": 0, "type": "invoke", "f": "send", "value": {"message": "a", "destinations": [1.0]}}]',
        '[{"process": 0, "type": "invoke", "f": "send", "process": 1, "value": "a"}]',
        SEND + "{:process 1 :process 2 :type :ok :f :deliver :value a}",
        SEND + "#_",
        "[#_]",
        '{"vars": [], "states": [{"event": {"event": "send", "process": 0, "message": "a", "destinations": 5}}]}',
        '{"#meta": [], "vars": [], "states": [{"event": {"event": "send", "process": 0, "message": 1}}]}',
        '{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]}, '
        '"scopeSpans": [{"spans": [{"spanId": "a", "kind": 4, "startTimeUnixNano": 1e999}]}]}]}',
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
    logs = [tuple(event for event in execution.events if event.process == process) for process in range(3)]
    again = merged([Log(f"p{process}", log) for process, log in enumerate(logs)], 3)
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


def test_two_logs_with_events_of_one_process_are_refused(tmp_path: Path) -> None:
    """Their order would be that of the arguments, and with it the verdict."""
    paths = [_log(tmp_path / "one", Send(0, "a", (1,))), _log(tmp_path / "two", Send(0, "b", (1,)))]
    paths.append(_log(tmp_path / "three", Deliver(1, "a"), Deliver(1, "b")))
    for each in (paths, paths[::-1]):
        with pytest.raises(TraceError, match="has events of process 0, and so has"):
            read_merged(each)


@pytest.mark.parametrize("order", [1, -1])
def test_logs_of_one_run_have_the_conditions_that_any_of_them_states(order: int, tmp_path: Path) -> None:
    write_trace(tmp_path / "one", Trace(Execution(2, (Send(0, "a", (1,)),)), {"loss": False}))
    write_trace(tmp_path / "two", Trace(Execution(2, (Deliver(1, "a"),)), {"inferred": True}))
    paths = [str(tmp_path / "one"), str(tmp_path / "two")][::order]
    assert read_merged(paths).header == {"loss": False, "inferred": True}
    assert judged_together(paths).verdict is Verdict.UNKNOWN
    write_trace(tmp_path / "two", Trace(Execution(2, (Deliver(1, "a"),)), {"loss": True}))
    with pytest.raises(TraceError, match=r"has loss (true|false), and .* has (true|false)"):
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


def test_a_message_whose_name_looks_like_a_clock_survives_shiviz(tmp_path: Path) -> None:
    execution = Execution(2, (Send(0, "{}", (1,)), Deliver(1, "{}")))
    (tmp_path / "run.log").write_text(str(written(Trace(execution), "shiviz")))
    assert read(tmp_path / "run.log").execution.events == execution.events


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"format": "thence-case/1", "system": "x:Y"}',
            r"recorded case of `thence conform`.*`thence conform --replay",
        ),
        (
            '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n',
            r":1: this is an event.*\{\"format\"",
        ),
        ('{"results": []}', r"none of the formats ndjson, .*`--format`"),
        ("<svg>\n<g a={b}>", r"none of the formats .* \(as jepsen: line 2: a map has a key without a value\)"),
    ],
    ids=["case", "no header", "other", "svg"],
)
def test_what_a_file_is_instead_of_a_recording(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(TraceError, match=said):
        read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"process": "1"}, "operation 2: :process is '1', and no number"),
        ({"process": 1.0}, "operation 2: :process is '1.0', and no number"),
        ({"process": True}, "operation 2: :process is 'True', and no number"),
        ({"type": "OK"}, "operation 2: :type is 'OK', which is none of invoke, ok, fail, info"),
    ],
)
def test_no_delivery_of_a_history_is_passed_over(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    """Without it, the wrong order at the other process would not show."""
    operations: list[dict[str, Any]] = [
        {"process": 0, "type": "invoke", "f": "send", "value": "a"},
        {"process": 0, "type": "invoke", "f": "send", "value": "b"},
        {"process": 1, "type": "ok", "f": "deliver", "value": "b"},
        {"process": "nemesis", "type": "info", "f": "start", "value": None},
        {"process": 1, "type": "ok", "f": "deliver", "value": "a"},
    ]
    (tmp_path / "history.json").write_text(json.dumps(operations))
    assert not judge(read(tmp_path / "history.json").execution).causal
    operations[2] |= changed
    (tmp_path / "history.json").write_text(json.dumps(operations))
    with pytest.raises(TraceError, match=said):
        read(tmp_path / "history.json")
    del operations[2]["type"]
    (tmp_path / "history.json").write_text(json.dumps(operations))
    with pytest.raises(TraceError, match="operation 2: it is no map"):
        read(tmp_path / "history.json", "jepsen")


@pytest.mark.parametrize(
    ("header", "verdict"),
    [
        ({"channels": "lossy"}, Verdict.TESTED),
        ({"loss": True}, Verdict.TESTED),
        ({"channels": "lossy", "loss": False}, Verdict.TESTED),
        ({"channels": "reordering"}, Verdict.REFUTED),
        ({"loss": False}, Verdict.REFUTED),
    ],
)
def test_nobody_is_blamed_for_what_the_network_loses(tmp_path: Path, header: dict[str, Any], verdict: Verdict) -> None:
    events = (Send(0, "a", (1,)), Send(0, "b", (1,)), Deliver(1, "a"))
    write_trace(tmp_path / "run.ndjson", Trace(Execution(2, events), header))
    assert judged(str(tmp_path / "run.ndjson"), against=ReferenceProtocol("rst")).verdict is verdict
