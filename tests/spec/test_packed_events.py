"""Packed events, held against the same events as values; names that are let go of, against all names kept."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pytest

from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send
from thence.spec.judgement import judge
from thence.spec.packed_events import Names, PackedEvents, SentTwice, concerning
from thence.spec.trace import Trace, TraceError, read_trace, write_trace


def random_events(random: Random, processes: int, count: int) -> list[Event]:
    """Sends, arrivals, deliveries and inputs; some deliveries come again, some where they do not belong."""
    events: list[Event] = []
    sent: list[str] = []
    strange = random.choice((0.0, 0.02, 0.3))
    waiting: list[tuple[int, str]] = []
    for _ in range(count):
        process, choice = random.randrange(processes), random.random()
        if sent and choice < strange:
            events.append(random.choice((Deliver(process, random.choice(sent)), Input(process, "ask", (1, 2)))))
        elif waiting and choice < 0.7:
            process, message = waiting.pop(random.randrange(min(3, len(waiting))))
            if choice < 0.3:
                events.append(Receive(process, message, random.randrange(processes)))
            events.append(Deliver(process, message))
        else:
            message = random.choice(("m", 'a "quoted" ', "\ud800", "ä")) + str(len(sent))
            to = tuple(random.randrange(processes) for _ in range(random.choice((0, 1, 1, 1, 3))))
            sent.append(message)
            events.append(Send(process, message, to))
            waiting += [(destination, message) for destination in dict.fromkeys(to)]
    return events


@pytest.mark.parametrize("seed", range(12))
def test_read_and_packed_events_are_the_same_and_are_judged_the_same(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        processes = random.choice((1, 3, 40))
        execution = Execution(processes, tuple(random_events(random, processes, random.choice((0, 30, 600)))))
        write_trace(tmp_path / "run.ndjson", Trace(execution))
        read = read_trace(tmp_path / "run.ndjson").execution
        assert isinstance(read.events, PackedEvents)
        assert read == execution
        assert execution == read
        assert hash(read) == hash(execution)
        assert [read.events[index] for index in range(len(read.events))] == list(execution.events)
        assert read.events[1:-1] == execution.events[1:-1]
        assert judge(read) == judge(execution)
        names = [event.message for event in execution.events if isinstance(event, Send)]
        some = {*random.sample(names, min(3, len(names))), "none"}
        there = [*enumerate(execution.events)]
        wanted = [(at, event) for at, event in there if not isinstance(event, Input) and event.message in some]
        assert [*concerning(read.events, some)] == [*concerning(execution.events, some)] == wanted


def test_events_of_a_message_that_are_in_no_column_concern_it() -> None:
    events = (Send(0, "a", (1,)), Input(0, "a", ()), Receive(1, "a", 7), Deliver(1, "a"), Send(5, "a", ()))
    packed = PackedEvents.of(Execution(2, events))
    assert len(packed.others) == 3
    assert [*packed.concerning({"a"})] == [(at, event) for at, event in enumerate(events) if at != 1]


@pytest.mark.parametrize("seed", range(8))
def test_events_of_values_are_packed_as_they_are_one_by_one(seed: int) -> None:
    """`PackedEvents.of` takes a shorter way than `append`, which is the definition."""
    random = Random(seed)
    for _ in range(40):
        processes = random.choice((1, 3, 40))
        events = random_events(random, processes, random.choice((0, 30, 200)))
        for _ in range(random.choice((0, 0, 6))):  # sent twice, never sent, outside, arrived from outside
            stray = random.choice((-1, processes, 0))
            wrong = random.choice((Send(stray, "m0", (0,)), Deliver(stray, "none"), Receive(0, "m0", stray)))
            events.insert(random.randrange(len(events) + 1), wrong)
        packed = PackedEvents.of(Execution(processes, tuple(events)))
        one_by_one = PackedEvents(processes, forgets=False)
        for event in events:
            one_by_one.append(event)
        assert tuple(packed) == tuple(events)
        columns = ("kinds", "places", "numbers", "sources", "senders", "starts", "routes", "destinations", "others")
        for column in columns:
            assert getattr(packed, column) == getattr(one_by_one, column), column
        assert [*packed.names] == [*one_by_one.names]
        assert packed.names.known == one_by_one.names.known
        assert packed.names.left == one_by_one.names.left


def test_events_that_no_execution_has_are_refused_as_they_are_without_packing() -> None:
    sent = Send(0, "a", (1,))
    for wrong in ((Deliver(1, "a"), sent), (sent, sent), (Send(2, "a", ()),), (sent, Deliver(-1, "a"))):
        packed = PackedEvents.of(Execution(2, wrong))
        assert packed == wrong
        with pytest.raises(ValueError, match="event"):
            judge(Execution(2, packed))


def lines_of(random: Random, count: int) -> list[dict[str, Any]]:
    """Lines in which names are used again once in a while; in some of them deliveries come again, or come unsent."""
    lines: list[dict[str, Any]] = []
    names, orderly = 0, random.random() < 0.5
    waiting: list[str] = []
    for _ in range(count):
        old = f"m{random.randrange(names + 1)}"
        if random.random() < 0.5 or (orderly and not waiting):
            name, names = (old, names) if random.random() < 0.02 else (f"m{names}", names + 1)
            waiting.append(name)
            lines.append({"event": "send", "process": 0, "message": name, "destinations": [1]})
        else:
            near = waiting.pop(0) if orderly else f"m{max(0, names - random.choice((0, 1, 1, 1, 1, 2, 5)))}"
            lines.append({"event": "deliver", "process": 1, "message": near})
    return lines


def first_fault(lines: list[dict[str, Any]]) -> tuple[int, str] | None:
    """The line that is no event where it stands, and what is said of it, by all names."""
    sent: dict[str, int] = {}
    for number, line in enumerate(lines, 2):
        name = line["message"]
        if line["event"] == "send":
            if name in sent:
                return number, f"is sent again (first in line {sent[name]})"
            sent[name] = number
        elif name not in sent:
            return number, "is delivered, but no earlier line sends it"
    return None


@pytest.mark.parametrize("plain", [True, False])
def test_a_name_that_was_let_go_of_is_known_when_it_comes_up_again(tmp_path: Path, plain: bool) -> None:
    random, said = Random(7), set()
    path = tmp_path / "run.ndjson"
    for _ in range(300):
        lines = lines_of(random, random.choice((5, 40, 400)))
        header = {"format": "thence-trace/1", "processes": 2}
        shown = lines if plain else [{**line, "more": 1} for line in lines]
        path.write_text("".join(json.dumps(line) + "\n" for line in (header, *shown)))
        expected = first_fault(lines)
        if expected is None:
            assert len(read_trace(path).execution.events) == len(lines)
            said.add("nothing")
            continue
        with pytest.raises(TraceError) as caught:
            read_trace(path)
        assert caught.value.line == expected[0]
        assert expected[1] in caught.value.problem
        said.add(expected[1].split()[1])
    assert said == {"nothing", "sent", "delivered,"}


def test_names_are_let_go_of_and_come_back() -> None:
    names = Names(forgets=True)
    for number in range(200):
        assert names.add(f"m{number}", 2) == number
        names.delivered(number, f"m{number}")
        names.delivered(number, f"m{number}")
    assert not names.known
    assert [names[number] for number in (0, 63, 64, 199)] == ["m0", "m63", "m64", "m199"]
    assert names.number("m17") == 17
    assert len(names.known) == 200
    assert names.number("other") is None


def test_two_messages_of_one_name_are_noticed_at_the_end() -> None:
    names = Names(forgets=True)
    for number, name in enumerate(("a", "b", "a", "b")):
        names.add(name, 1)
        names.delivered(number, name)
    with pytest.raises(SentTwice) as caught:
        names.require_apart()
    assert (caught.value.name, caught.value.first, caught.value.second) == ("a", 0, 2)


def test_a_recording_takes_few_bytes_an_event(tmp_path: Path) -> None:
    """Reading and judging, with what is wrong in it: more events take some fifty bytes each, not two hundred."""

    def peak(rounds: int) -> int:
        events: list[Event] = [Send(0, "first", (2,))]
        for number in range(rounds):
            events += [Send(number % 2, f"m{number}", (1 - number % 2,)), Deliver(1 - number % 2, f"m{number}")]
        events += [Send(1, "late", (2,)), Deliver(2, "late"), Deliver(2, "first")]
        write_trace(tmp_path / "run.ndjson", Trace(Execution(3, tuple(events))))
        del events
        tracemalloc.start()
        judgement = judge(read_trace(tmp_path / "run.ndjson").execution)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert judgement.violations[0].missing == ("first",)
        return found

    assert (peak(60_000) - peak(20_000)) / 80_000 < 60
