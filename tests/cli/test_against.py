"""Recordings against a protocol, and systems of which only sends and deliveries can be compared with one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

RECORDED = Path(__file__).parents[1] / "traces"

CHAT = """
from dataclasses import dataclass

from thence.impl.commands import Deliver, Send


@dataclass(frozen=True)
class Packet:
    text: str
    sent: tuple


class Chat:
    merges = True

    def __init__(self, identity, processes):
        self.identity = identity
        self.sent = [[0] * processes for _ in range(processes)]
        self.seen = [0] * processes
        self.waiting = []

    def causal_send(self, destination, message):
        packet = Packet(message, tuple(map(tuple, self.sent)))
        self.sent[self.identity][destination] += 1
        return [Send(destination, packet)]

    def receive(self, sender, packet):
        self.waiting.append((sender, packet))
        commands = []
        while ready := [one for one in self.waiting if self.is_next(one[1])]:
            self.waiting.remove(ready[-1])  # the protocol takes the first one
            commands.append(self.deliver(*ready[-1]))
        return commands

    def is_next(self, packet):
        return all(seen >= row[self.identity] for seen, row in zip(self.seen, packet.sent))

    def deliver(self, sender, packet):
        self.seen[sender] += 1
        self.sent[sender][self.identity] += 1
        if self.merges:
            self.sent = [[max(pair) for pair in zip(*rows)] for rows in zip(self.sent, packet.sent)]
        return Deliver(sender, packet.text)


class Forgets(Chat):
    merges = False
"""


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    (tmp_path / "chat.py").write_text(CHAT)
    return tmp_path


def test_a_recording_that_fits(thence: Thence) -> None:
    done = thence("trace", "check", RECORDED / "jgroups-causal-01.ndjson", "--against", "cbcast")
    assert (done.code, done.err) == (0, "")
    assert "as cbcast; causal, FIFO, all delivered once (150 events)" in done.out


def test_a_recording_that_does_not(thence: Thence, tmp_path: Path) -> None:
    file = RECORDED / "nationalwind-ses-12.ndjson"
    done = thence("trace", "check", file, "--against", "ses", "--svg", "wrong.svg", "--json")
    assert done.code == 1
    [result] = done.object["results"]
    assert (result["verdict"], result["conforms"], result["protocol"]) == ("refuted", "nonconforming", "ses")
    assert (result["matched"], result["property"], result["causal"]) == (10, "conforms", False)
    assert result["divergence"]["got"] == "delivers m4"
    assert result["divergence"]["guard"]["outcome"] is False
    assert ["T", "[p1: 3]"] in result["divergence"]["guard"]["values"]
    assert (tmp_path / "wrong.svg").read_text().startswith("<svg")
    said = thence("trace", "check", file, "--against", "cbcast:cbcast_unicast")
    assert (said.code, "not as cbcast_unicast" in said.out, "<== here" in said.out) == (1, True, True)
    assert re.search(r"\[line \d+", said.out)
    assert re.search(r"the protocol's lines are those of .*/cbcast\.thence\n", said.out)
    assert not [line for line in said.out.splitlines() if line.endswith(" ")]


def test_too_many_states_are_no_success(thence: Thence, tmp_path: Path) -> None:
    """A total order by logical clocks, of which nothing is known but sends and deliveries."""
    lines: list[dict[str, Any]] = [{"format": "thence-trace/1", "processes": 3, "channels": "fifo"}]
    for number in range(4):
        for process in range(3):
            message = f"m{process}.{number}"
            lines.append({"event": "send", "process": process, "message": message, "destinations": [0, 1, 2]})
    for process in range(3):
        for number in range(4):
            for sender in (2, 0, 1):
                lines.append({"event": "deliver", "process": process, "message": f"m{sender}.{number}"})
    (tmp_path / "run.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = thence("trace", "check", "run.ndjson", "--against", "newtop", "--states", 30, "--json")
    assert done.code == 3
    [result] = done.object["results"]
    assert (result["verdict"], result["conforms"]) == ("unknown", "unknown")
    assert "too many possible states" in result["unknown"]


def test_several_recordings_of_which_one_is_of_another_kind(thence: Thence) -> None:
    files = [RECORDED / name for name in ("jgroups-causal-01.ndjson", "nationalwind-ses-08.ndjson")]
    done = thence("trace", "check", *files, "--against", "cbcast", "--json")
    assert done.code == 2
    first, second = done.object["results"]
    assert (first["conforms"], second["verdict"]) == ("conforming", "unknown")
    assert "is no run of cbcast: message 'm0' goes to" in second["unknown"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--against", "nothing"], ["nothing"]),
        (["--against", "cbcast:other"], ["no protocol other", "cbcast_unicast"]),
        (["--against", "rst"], ["is no run of rst", "goes to one process"]),
        (["--states", "5"], ["--against"]),
        (["--against", "cbcast", "--svg", "none/x.svg"], ["none"]),
    ],
)
def test_what_cannot_be_replayed_is_said(arguments: list[str], words: list[str], thence: Thence) -> None:
    assert thence("trace", "check", RECORDED / "jgroups-causal-01.ndjson", *arguments).rejects(*words)


def test_what_the_transport_records_is_as_its_protocol(thence: Thence) -> None:
    assert thence("demo", "cykas", "--messages", "6", "--out", "right", "--loss-rate", "0", "--delay", "1").code == 0
    logs = [f"right/p{process}.ndjson" for process in range(3)]
    for files in (["right/trace.ndjson"], ["--merge", *logs]):
        done = thence("trace", "check", *files, "--against", "cykas", "--json")
        assert (done.code, done.object["results"][0]["conforms"]) == (0, "conforming")


def test_packets_without_kinds_are_replayed_by_what_can_be_seen(thence: Thence, chat: Path) -> None:
    """The last message that can be delivered goes first: another order inside a step than the protocol's."""
    done = thence("conform", "rst", "--impl", "chat:Chat", "--cases", "150", "--json", cwd=chat)
    assert done.code == 0
    result = next(result for result in done.object["results"] if result["name"] == "conforming")
    assert (result["verdict"], result["replay"], result["matched"]) == ("tested", "as observed", result["events"])
    assert thence("conform", "rst", "--impl", "chat:Chat", "--strict", cwd=chat).rejects("strictly", "kind")


def test_what_is_found_so_is_found_again(thence: Thence, chat: Path) -> None:
    done = thence("conform", "rst", "--impl", "chat:Forgets", "--cases", "150", "--save", "case.json", cwd=chat)
    assert (done.code, "=> nonconformance: p" in done.out) == (1, True)
    recorded = json.loads((chat / "case.json").read_text())
    assert ("replay" in recorded, recorded["protocol"]) == (False, "rst")
    (chat / "former.json").write_text(json.dumps({**recorded, "replay": "tolerant"}))
    former = thence("conform", "--replay", "former.json", "--trust-file", cwd=chat)
    assert former.code == 1, "what it asked for is the default"
    again = thence("conform", "--replay", "case.json", "--trust-file", cwd=chat)
    assert (again.code, "nonconformance" in again.out) == (1, True)


def test_strictly_a_shipped_implementation_has_the_order_of_the_text(thence: Thence) -> None:
    done = thence("conform", "cykas", "--strict", "--cases", "60", "--json")
    assert done.code == 0
    result = next(result for result in done.object["results"] if result["name"] == "conforming")
    assert (result["replay"], result["verdict"]) == ("strictly", "tested")
