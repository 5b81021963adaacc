"""Recorded executions and cases in the player: all of a short one, and what leads to the finding of a long one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.browser import started

from thence.conformance.cases.recorded_case import read_case
from thence.play import page as page_module
from thence.play.recording import (
    MOST_EVENTS,
    MOST_WHOLE,
    Shown,
    case_page,
    document,
    fault_of,
    in_sight,
    played_case,
    played_file,
    recording_page,
)
from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.oracle import first_finding

TRACES = Path(__file__).parents[1] / "traces"

TRIANGLE = (
    Send(0, "a", (2,)), Send(0, "b", (1,)), Receive(1, "b", 0), Deliver(1, "b"), Send(1, "c", (2,)),
    Receive(2, "c", 1), Deliver(2, "c"),
)  # fmt: skip

CASE = {
    "format": "thence-case/1", "system": "thence.impl.fifo:Fifo", "protocol": "rst",
    "settings": {"processes": 3, "channels": "reordering"},
    "operations": [["send", 0, 1], ["send", 0, 2], ["receive", 0, 2, 0], ["send", 2, 1], ["receive", 2, 1, 0]],
}  # fmt: skip


def kept(text: str) -> dict[str, Any]:
    """The values of the page."""
    found = re.search(r'<script type="application/json" id="config">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    config: dict[str, Any] = json.loads(found[1])
    return config


def long_run(pairs: int) -> Execution:
    """Many messages between p3 and p4, and the triangle among the others at the end."""
    events: list[Event] = []
    for number in range(pairs):
        events += [Send(3, f"n{number}", (4,)), Deliver(4, f"n{number}")]
    return Execution(5, (*events, *TRIANGLE))


@pytest.mark.parametrize("file", sorted(TRACES.glob("*.ndjson")), ids=lambda file: file.stem)
def test_a_real_recording_is_shown_event_by_event(file: Path) -> None:
    config = kept(played_file(file))
    run = config["kept"]["run"]
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()][1:]
    assert [(step["events"][0][0], step["process"], step["events"][0][2]) for step in run["steps"]] == [
        (line["event"], line["process"], line["message"]) for line in lines
    ]
    wrong = [number for number, step in enumerate(run["steps"], 1) if step.get("violations")]
    assert wrong == ([config["at"]] if "finds nothing" not in config["kept"]["said"] else [])


def test_the_finding_of_the_oracle_is_where_it_says() -> None:
    config = kept(recording_page(Execution(3, TRIANGLE), "run.ndjson"))
    assert config["at"] == len(TRIANGLE)
    assert config["kept"]["said"] == "causal: p2 delivers c before a (a -> b -> c)."
    assert config["kept"]["run"]["steps"][-1]["violations"][0]["property"] == "causal"
    ways = [(packet[1], packet[2], packet[3], packet[4], packet[5]) for packet in config["kept"]["run"]["packets"]]
    assert ways == [("a", 0, 2, 1, None), ("b", 0, 1, 2, 3), ("c", 1, 2, 5, 6)]


def test_a_long_recording_is_cut_to_what_leads_to_its_finding() -> None:
    execution = long_run(20_000)
    found = first_finding(execution)
    assert found is not None
    shown = in_sight(execution, found)
    assert [execution.events[at] for at in shown.positions] == list(TRIANGLE), "nothing of p3 and p4 leads to it"
    run = document(shown, (fault_of(found),), "run")
    assert run["words"] == "5 processes, 40,007 events, of which 7 are shown"
    assert run["steps"][-1]["title"] == "event 40,007: p2 delivers c"
    busy = Execution(4, (*(Send(0, f"n{number}", (3,)) for number in range(MOST_WHOLE)), *TRIANGLE))
    late = first_finding(busy)
    assert late is not None
    cut = in_sight(busy, late)
    assert len(cut.positions) == MOST_EVENTS and {busy.events[at] for at in cut.positions} >= {*TRIANGLE}
    fine = Execution(1, tuple(Send(0, f"n{number}", ()) for number in range(MOST_WHOLE + 5)))
    assert in_sight(fine, None).positions == tuple(range(MOST_WHOLE))


@pytest.mark.long
def test_a_million_events_open_at_the_violation_within_seconds() -> None:
    execution = long_run(500_000)
    begun = time.process_time()
    config = kept(recording_page(execution, "run"))
    assert time.process_time() - begun < 30
    assert len(config["kept"]["run"]["steps"]) == len(TRIANGLE)


def test_the_causal_past_of_a_message_is_that_of_the_vector_clocks() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    random = Random(3)
    events: list[Event] = []
    under_way: list[tuple[int, str]] = []
    clocks: list[set[str]] = [set() for _ in range(4)]
    carried: dict[str, set[str]] = {}
    for number in range(150):
        if not under_way or random.random() < 0.5:
            process = random.randrange(4)
            message = f"n{number}"
            destinations = tuple(other for other in range(4) if other != process and random.random() < 0.6)
            carried[message] = set(clocks[process])
            clocks[process].add(message)
            events.append(Send(process, message, destinations))
            under_way += [(to, message) for to in destinations]
        else:
            to, message = under_way.pop(random.randrange(len(under_way)))
            clocks[to] |= {message} | carried[message]
            events.append(Deliver(to, message))
    run = document(Shown(Execution(4, tuple(events)), tuple(range(len(events)))), (), "run")
    source = (Path(page_module.__file__).parent / "front" / "run.js").read_text(encoding="utf-8")
    asked = f"""{source}
    const run = new Run({json.dumps(run)});
    const past = (name) => [...pastOf(run, name).keys()].filter((each) => each !== name);
    const pasts = [...run.messages.keys()].map((name) => [name, past(name)]);
    console.log(JSON.stringify(pasts));"""
    said = subprocess.run([node, "--input-type=module"], input=asked, capture_output=True, text=True, check=True)
    pasts = {name: set(past) for name, past in json.loads(said.stdout)}
    assert pasts == carried and max(map(len, pasts.values())) > 20


def test_a_case_stands_above_what_the_protocol_does_in_it() -> None:
    config = kept(played_case(read_case(json.dumps(CASE)), "case.json"))
    found = config["kept"]
    assert "causal: p1 delivers m2.1 before m0.1" in found["said"] and "nonconformance" in found["said"]
    beside = found["beside"]
    first = beside["divergence"]
    mine = [step["events"] for step in found["run"]["steps"]]
    other = [step["events"] for step in beside["run"]["steps"]]
    assert mine[: first - 1] == other[: first - 1] and mine[first - 1 : first] != other[first - 1 : first]
    delivered = [event[2] for events in other for event in events if event[:2] == ["deliver", 1]]
    assert delivered == ["m0.1", "m2.1"], "the protocol keeps the order"


def test_a_case_without_a_protocol_stands_alone_and_a_good_one_says_so() -> None:
    alone = kept(played_case(read_case(json.dumps({**CASE, "protocol": None})), "case.json"))["kept"]
    assert alone["beside"] is None
    good = kept(played_case(read_case(json.dumps({**CASE, "system": "thence.impl.rst:RST"})), "case.json"))["kept"]
    assert good["said"] == "Nothing is wrong with this case." and good["beside"]["divergence"] is None
    empty = kept(case_page(Execution(2, ()), (), None, "case.json"))["kept"]
    assert empty["run"]["steps"] == []


def test_the_command_that_judges_a_case_names_its_system_where_the_file_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = kept(played_case(read_case(json.dumps(CASE)), "case.json"))
    assert shipped["command"] == "thence conform --replay case.json"
    (tmp_path / "mine.py").write_text("from thence.impl.fifo import Fifo as Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = kept(played_case(read_case(json.dumps({**CASE, "system": "mine:Mine"})), "case.json"))
    assert own["command"] == "thence conform --impl mine:Mine --replay case.json"


def test_a_recording_and_a_case_are_played_in_the_browser(tmp_path: Path) -> None:
    pages = {
        "recording": recording_page(Execution(3, TRIANGLE), "</script><script>window.hit=1</script>"),
        "case": played_case(read_case(json.dumps(CASE)), "case.json"),
    }
    with started() as browser:
        for name, text in pages.items():
            file = tmp_path / f"{name}.html"
            file.write_text(text, encoding="utf-8")
            browser.open(file)
            assert browser.run("return document.documentElement.dataset.ready") == "true"
            assert browser.run("return document.querySelectorAll('#diagram circle.wrong').length") >= 1
            assert browser.run("return getComputedStyle(document.querySelector('.source')).display") == "none"
            assert browser.run("return window.hit ?? null") is None
            browser.driver.find_element("css selector", "#tab-laws").click()
            assert "violated" in browser.run("return document.getElementById('laws').textContent")
        assert browser.run("return document.querySelectorAll('#diagram-beside .deliver').length") >= 3
        assert browser.run("return document.querySelectorAll('#diagram-beside .divergence').length") == 1
        assert browser.complaints() == []
