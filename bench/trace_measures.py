"""Measures of recorded executions."""

from __future__ import annotations

import json
import tempfile
import time
from collections import deque
from pathlib import Path
from random import Random

EVENTS = 1_000_000


def write_recording(path: Path, events: int = EVENTS, processes: int = 3) -> None:
    """A causal recording: each process delivers what is sent to it in the order of sending."""
    random, waiting, messages = Random(1), [deque[str]() for _ in range(processes)], 0
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": "whence-trace/1", "processes": processes}) + "\n")
        for _ in range(events):
            there = random.randrange(processes)
            if random.random() < 0.5 or not waiting[there]:
                message, messages = f"m{messages}", messages + 1
                waiting[there].append(message)
                sender = (there + random.randrange(1, processes)) % processes
                event = {"event": "send", "process": sender, "message": message, "destinations": [there]}
            else:
                event = {"event": "deliver", "process": there, "message": waiting[there].popleft()}
            file.write(json.dumps(event) + "\n")


def million_events() -> str:
    """Reading and judging, after the file is written."""
    from whence.spec.judgement import judge
    from whence.spec.trace import read_trace

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ndjson"
        write_recording(path)
        begun = time.perf_counter()
        trace = read_trace(path)
        read = time.perf_counter()
        judgement = judge(trace.execution)
        judged = time.perf_counter()
    assert judgement.causal
    return f"{judgement.events:,} events: read {read - begun:.2f} s, judged {judged - read:.2f} s"


MEASURES = {"trace-million": million_events}
