"""Measures of recorded executions."""

from __future__ import annotations

import json
import resource
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path
from random import Random
from typing import Any

from late_violation import write_late_violation

EVENTS = 1_000_000
CASES = 400


def write_recording(path: Path, events: int = EVENTS, processes: int = 3, *, newest_first: bool = False) -> None:
    """A causal recording: each process delivers what is sent to it in the order of sending, or `newest_first`."""
    random, waiting, messages = Random(1), [deque[str]() for _ in range(processes)], 0
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"format": "thence-trace/1", "processes": processes}) + "\n")
        for _ in range(events):
            there = random.randrange(processes)
            if random.random() < 0.5 or not waiting[there]:
                message, messages = f"m{messages}", messages + 1
                waiting[there].append(message)
                sender = (there + random.randrange(1, processes)) % processes
                event = {"event": "send", "process": sender, "message": message, "destinations": [there]}
            else:
                take = waiting[there].pop if newest_first else waiting[there].popleft
                event = {"event": "deliver", "process": there, "message": take()}
            file.write(json.dumps(event) + "\n")


def million_events() -> str:
    """Reading and judging, after the file is written."""
    from thence.spec.judgement import judge
    from thence.spec.trace import read_trace

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


def late_violation() -> str:
    """`thence trace check` of a million events among 32 processes whose last but one is wrong: found and explained."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ndjson"
        write_late_violation(path)
        return checked(path, "delivers late before first (first -> ")


def late_violation_of_broadcasts() -> str:
    """The same where every message goes to everybody: 14.5 million deliveries never come."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ndjson"
        write_late_violation(path, broadcast=True)
        return checked(path, "delivers late before first (first -> ")


def wrong_all_the_time() -> str:
    """Nearly every delivery overtakes, among 32 processes: 22 million pairs, all counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.ndjson"
        write_recording(path, processes=32, newest_first=True)
        return checked(path, "not causal, not fifo, stuck")


def checked(path: Path, said: str) -> str:
    """The cost of `thence trace check`, which finds something wrong and says so."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(["thence", "trace", "check", str(path)], capture_output=True, text=True, check=False)
    seconds, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.returncode == 1 and said in run.stdout, run
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.2f} s, {processor:.2f} s of processor time, at most {used.ru_maxrss >> 10} MiB"


def cases(make: Any, allowed: Any, replay: Any, count: int, operations: int) -> tuple[float, list[Any]]:
    """Processor seconds, and the executions."""
    from thence.conformance.cases.schedulers import SCHEDULERS
    from thence.conformance.harness.harness import run_scheduled

    begun, scheduler = time.process_time(), SCHEDULERS["uniform"]
    found = [run_scheduled(make, scheduler, seed, operations, allowed, replay).execution for seed in range(count)]
    return time.process_time() - begun, found


def replayed(partial: Any, executions: list[Any]) -> str:
    """Events a second of processor time."""
    begun = time.process_time()
    for execution in executions:
        answer = partial.judge(execution, partial.conditions(execution, ordered=True))
        assert answer.verdict == "conforming", answer
    return f"{sum(len(execution.events) for execution in executions) / (time.process_time() - begun):,.0f}"


def against_a_protocol() -> str:
    """Events a second of processor time, of the cases of shipped implementations: replayed in lock step beside the
    implementation, and by what can be seen, with and without arrivals; and of one long recording."""
    from thence.conformance.conform.conform import settings_for
    from thence.conformance.implementations import SHIPPED
    from thence.conformance.replay.partial_observation import PartialObservationReplay
    from thence.conformance.replay.replay import Replay
    from thence.conformance.systems.subject import load_subject
    from thence.dsl.find import named_protocol
    from thence.spec.events import Execution, Receive

    said = []
    for name in ("rst", "cykas", "hybrid_basic"):
        protocol, make = named_protocol(name), load_subject(SHIPPED[name]).make_process
        allowed, partial = settings_for(protocol), PartialObservationReplay(protocol, 3)
        alone, executions = cases(make, allowed, None, CASES, 12)
        lockstep, _ = cases(make, allowed, Replay(protocol, 3), CASES, 12)
        bare = [
            Execution(3, tuple(event for event in execution.events if not isinstance(event, Receive)))
            for execution in executions
        ]
        _, long = cases(make, allowed, None, 1, 4_000)
        events = sum(len(execution.events) for execution in executions)
        said.append(
            f"{name}: lock step {events / max(lockstep - alone, 1e-3):,.0f} events/s, what can be seen "
            f"{replayed(partial, executions)}, without arrivals {replayed(partial, bare)}, "
            f"one of {len(long[0].events):,} events {replayed(partial, long)}"
        )
    return "; ".join(said)


MEASURES = {
    "trace-million": million_events,
    "trace-late-violation": late_violation,
    "trace-late-violation-broadcast": late_violation_of_broadcasts,
    "trace-wrong-all-the-time": wrong_all_the_time,
    "trace-against": against_a_protocol,
}
