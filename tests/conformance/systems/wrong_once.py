"""A right system that misbehaves once in its life. Not a test: a program.

python wrong_once.py KIND PROCESS AT MARKER: at the AT-th request to the process (to any process, for -1), unless the
file MARKER is there. It writes the file when it misbehaves. Of kind `none`, it counts these requests in a file. The
system is causal: matrices of what was sent (RST).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

KIND, PROCESS, AT, MARKER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])

Event = dict[str, Any]


class Process:
    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity
        self.sent = [[0] * processes for _ in range(processes)]
        self.seen = [0] * processes
        self.waiting: list[tuple[int, Any]] = []

    def send(self, destination: int, message: str) -> list[Event]:
        packet = [message, [list(row) for row in self.sent]]
        self.sent[self.identity][destination] += 1
        return [{"packet": packet, "to": destination, "message": message}]

    def receive(self, sender: int, packet: Any) -> list[Event]:
        self.waiting.append((sender, packet))
        events: list[Event] = []
        while ready := [one for one in self.waiting if self.is_next(one[1][1])]:
            self.waiting.remove(ready[0])
            source, (message, sent) = ready[0]
            self.seen[source] += 1
            self.sent[source][self.identity] += 1
            self.sent = [[max(pair) for pair in zip(*rows, strict=True)] for rows in zip(self.sent, sent, strict=True)]
            events.append({"deliver": message, "from": source})
        return events

    def is_next(self, sent: list[list[int]]) -> bool:
        return all(seen >= row[self.identity] for seen, row in zip(self.seen, sent, strict=True))


def out(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def answered(reply: object) -> None:
    out(json.dumps(reply).encode() + b"\n")


def sleep_for_ever() -> None:
    while True:
        time.sleep(1)


def misbehave(request: dict[str, Any], reply: Any) -> bool:
    """Answers in a wrong way; false where this request gives no occasion for that."""
    init = request["request"] == "init"
    events = reply.get("events", [])
    match KIND:
        case "silence":
            done()
            sleep_for_ever()
        case "late":
            done()
            time.sleep(2)
            answered(reply)
        case "exit":
            done()
            print("so long", file=sys.stderr, flush=True)
            os._exit(int(request.get("process", 0)))
        case "crash":
            done()
            os.kill(os.getpid(), signal.SIGSEGV)
        case "garbage":
            answered_with(b"Segmentation fault\n")
        case "log line":
            answered_with(b"sending\n" + json.dumps(reply).encode() + b"\n")
        case "half a line":
            done()
            out(json.dumps(reply).encode()[:7])
            sleep_for_ever()
        case "half a line, and the end":
            done()
            out(json.dumps(reply).encode()[:7])
            os._exit(0)
        case "two answers":
            answered_with(2 * (json.dumps(reply).encode() + b"\n"))
        case "empty line":
            answered_with(b"\n")
        case "large":
            answered_with(json.dumps({**reply, "padding": "x" * 5_000_000}).encode() + b"\n")
        case "not utf-8":
            answered_with(b'{"events": [], "said": "\xff\xfe"}\n')
        case "list":
            answered_with(b"[]\n")
        case "echo":
            done()
            answered(request)
        case "error":
            done()
            print("boom in line 17", file=sys.stderr, flush=True)
            answered({"error": "boom"})
        case "wrong version" if init:
            done()
            answered({**reply, "version": "thence-exec/3"})
        case "no version" if init:
            done()
            answered({})
        case "closed input":
            done()
            answered(reply)
            os.close(0)
            sleep_for_ever()
        case "closed output":
            done()
            os.close(1)
            sleep_for_ever()
        case "child keeps the pipe":
            done()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            os._exit(5)
        case "no list" if not init:
            done()
            answered({"events": {}})
        case "unknown message" if not init:
            done()
            answered({"events": [*events, {"deliver": "foo"}]})
        case "own message" if request["request"] == "send":
            done()
            answered({"events": [*events, {"deliver": request["message"]}]})
        case "wrong sender" if any("deliver" in one for one in events):
            done()
            answered({"events": [{**one, "from": one["from"] + 1} if "deliver" in one else one for one in events]})
        case "no process" if any("to" in one for one in events):
            done()
            answered({"events": [{**one, "to": 7} if "to" in one else one for one in events]})
        case "missing events" if events:
            done()
            answered({"events": events[:-1]})
        case "twice delivered" if any("deliver" in one for one in events):
            done()
            answered({"events": [*events, events[-1]]})
        case "twice sent" if any("to" in one for one in events):
            done()
            answered({"events": [*events, events[-1]]})
        case "unasked answer" if not init:
            done()
            answered({"events": [*events, {"sent": "m0.9"}]})
        case "typo" if events:
            done()
            answered({"events": [{"paket": 1, "to": 0}]})
        case _:
            return False
    return True


def done() -> None:
    MARKER.write_text(KIND)


def answered_with(data: bytes) -> None:
    done()
    out(data)


asked = 0
processes: dict[int, Process] = {}
for line in sys.stdin:
    request = json.loads(line)
    reply: Any
    match request["request"]:
        case "init":
            processes = {one: Process(one, request["processes"]) for one in request["hosts"]}
            reply = {"version": "thence-exec/1", "timers": False, "react": False}
        case "send":
            events = [
                event
                for destination in request["destinations"]
                for event in processes[request["process"]].send(destination, request["message"])
            ]
            reply = {"events": events}
        case _:
            reply = {"events": processes[request["process"]].receive(request["from"], request["packet"])}
    asked += request["request"] == "init" or PROCESS in (-1, request["process"])
    if KIND == "none":
        MARKER.with_name(f"{MARKER.name}.asked-{os.getpid()}").write_text(str(asked))
    if asked >= AT and not MARKER.exists() and misbehave(request, reply):
        continue
    answered(reply)
