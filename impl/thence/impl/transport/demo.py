"""A group of operating-system processes on this machine, over a disturbed network, and what they record.

Each process is a `worker`, with sockets of its own on the loopback interface. The parent gives them each other's
addresses, waits until everything that was sent has been delivered, and puts their logs together. Whatever happens, no
process outlives the call: workers end when their standard input does, and are killed if they do not.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from thence.impl.transport.disturbance import Disturbance
from thence.impl.transport.recorder import LogError, merged
from thence.spec.trace import Trace, TraceError, write_trace

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

STOPPING_S: Final = 5.0
"""What a worker has to come to an end."""

LONGEST_LINE_BYTES: Final = 1 << 20

MOST_PROCESSES: Final = 32


class DemoError(Exception):
    """A worker has died; the message has its last words."""


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What runs.

    Attributes:
        impl: the implementation, as module:Class.
        folder: where the records go: p0.ndjson and so on, and trace.ndjson for all.
        messages: what each process sends on its own; it answers up to as many.
        gap_ms: between two of its own messages, at most.
        disturbance: of each process's frames; from process 0 to the last one they are slow as well.
        time_limit_s: after which it is over, delivered or not.

    Raises:
        ValueError: a number is out of range.
    """

    impl: str
    folder: Path
    processes: int = 3
    messages: int = 30
    carrier: Literal["udp", "tcp"] = "udp"
    gap_ms: float = 10.0
    timer_ms: float = 25.0
    disturbance: Disturbance = field(default_factory=Disturbance)
    time_limit_s: float = 60.0

    def __post_init__(self) -> None:
        if not 2 <= self.processes <= MOST_PROCESSES:
            raise ValueError(f"the demonstration has 2 to {MOST_PROCESSES} processes, not {self.processes}")
        if not 1 <= self.messages <= 10_000:
            raise ValueError(f"each process sends 1 to 10,000 messages, not {self.messages}")
        if not 0 < self.time_limit_s <= 3_600:
            raise ValueError(f"the time limit is up to 3,600 s, not {self.time_limit_s}")

    def of_worker(self, identity: int) -> dict[str, Any]:
        """The first line for a worker."""
        seed = self.disturbance.seed * self.processes + identity
        slow = self.processes - 1 if identity == 0 else None
        return {
            "impl": self.impl,
            "identity": identity,
            "processes": self.processes,
            "carrier": self.carrier,
            "messages": self.messages,
            "gap_ms": self.gap_ms,
            "seed": seed,
            "record": str(self.log(identity)),
            "disturbance": asdict(replace(self.disturbance, seed=seed, slow=slow)),
            "timer_ms": self.timer_ms,
        }

    def log(self, identity: int) -> Path:
        """The record of one process."""
        return self.folder / f"p{identity}.ndjson"


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """What came of it.

    Attributes:
        trace: all that was recorded, in one order; also in the file `path`, if it could be written.
        sent, delivered: how many messages, counted once for each destination.
        complete: everything sent was delivered; otherwise the time was over, or `interrupted`.
        counters: of each process; empty if it had to be killed.
        pids: of the processes; all have ended.
        unwritten: why `path` could not be written, or "".
    """

    trace: Trace
    path: Path
    sent: int
    delivered: int
    complete: bool
    interrupted: bool
    counters: tuple[dict[str, int], ...]
    pids: tuple[int, ...]
    unwritten: str = ""


Progress = Callable[[int, int], None]
"""Called now and then with the messages delivered and sent so far."""


def run_demo(settings: DemoSettings, progress: Progress | None = None) -> DemoOutcome:
    """Runs the group. Ctrl-C ends it early and keeps what was recorded.

    Raises:
        DemoError: a worker has died.
        OSError: a process cannot write its record; no record is left.
        LogError: the records do not fit together.
    """
    settings.folder.mkdir(parents=True, exist_ok=True)
    return asyncio.run(_until_interrupted(settings, progress))


async def _until_interrupted(settings: DemoSettings, progress: Progress | None) -> DemoOutcome:
    """In the main thread, Ctrl-C and SIGTERM end the run in order, whatever handles them otherwise."""
    run = asyncio.ensure_future(_run(settings, progress))
    if threading.current_thread() is not threading.main_thread():
        return await run
    loop, before = asyncio.get_running_loop(), {number: signal.getsignal(number) for number in _SIGNALS}
    watched = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in watched:
        loop.add_signal_handler(number, run.cancel)
    try:
        return await run
    finally:
        for number in watched:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


@dataclass(slots=True)
class _Worker:
    """A worker and what it has said last. `records`: it has begun its record."""

    process: asyncio.subprocess.Process
    report: dict[str, Any]
    counters: dict[str, int]
    records: bool = False

    async def address(self) -> Any:
        """Where it listens, the first that it says. Raises: as `hear`."""
        said = await self.hear()
        self.records = True
        return said["address"]

    async def say(self, fields: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(ConnectionError):
            self.process.stdin.write((json.dumps(fields) + "\n").encode())
            await self.process.stdin.drain()

    async def hear(self) -> dict[str, Any]:
        """The next line. Raises DemoError if there is none, OSError where the worker cannot write its record."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            words = (await self.process.stderr.read()).decode(errors="replace").strip().splitlines()
            raise DemoError(f"process {self.process.pid} has died: {words[-1] if words else 'without a word'}")
        heard: dict[str, Any] = json.loads(line)
        if "unwritten" in heard:
            raise OSError(*heard["unwritten"])
        return heard


async def _run(settings: DemoSettings, progress: Progress | None) -> DemoOutcome:
    workers: list[_Worker] = []
    complete = interrupted = False
    try:
        async with asyncio.timeout(settings.time_limit_s):
            for identity in range(settings.processes):
                workers.append(await _start(settings.of_worker(identity)))
            addresses = await _addresses(workers)
            for worker in workers:
                await worker.say({"addresses": addresses})
            await _until_delivered(workers, progress)
            complete = True
    except TimeoutError:
        pass  # what is missing shows in the trace
    except asyncio.CancelledError:
        interrupted = True
    except OSError:
        await _stop(workers)
        for identity, worker in enumerate(workers):  # parts of a run that nobody judges
            if worker.records:
                with suppress(OSError):
                    settings.log(identity).unlink(missing_ok=True)
        raise
    finally:
        await _stop(workers)
    trace = merged([settings.log(identity) for identity in range(len(workers))]) if workers else None
    if trace is None:
        raise DemoError("no process was started in time")
    path = settings.folder / "trace.ndjson"
    header = {
        **trace.header,
        "source": "thence demo",
        "carrier": settings.carrier,
        "loss": settings.disturbance.loss > 0,
        "duplication": settings.disturbance.duplication > 0,
        "seed": settings.disturbance.seed,
        "complete": complete,
    }
    trace = replace(trace, header=header)
    unwritten = ""
    try:
        write_trace(path, trace)
    except TraceError as error:
        unwritten = str(error)
    reports = [worker.report for worker in workers]
    return DemoOutcome(
        trace,
        path,
        sum(sum(report.get("sent", ())) for report in reports),
        sum(report.get("delivered", 0) for report in reports),
        complete,
        interrupted,
        tuple(worker.counters for worker in workers),
        tuple(worker.process.pid for worker in workers),
        unwritten,
    )


async def _start(settings: dict[str, Any]) -> _Worker:
    pipe = asyncio.subprocess.PIPE
    # A session of its own: Ctrl-C is the parent's to handle.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "thence.impl.transport.worker", stdin=pipe, stdout=pipe, stderr=pipe,
        start_new_session=True, limit=LONGEST_LINE_BYTES,
    )  # fmt: skip
    worker = _Worker(process, {}, {})
    await worker.say(settings)
    return worker


async def _addresses(workers: list[_Worker]) -> list[Any]:
    """Where they listen. All are heard before the fault of one is raised: of each it is known whether it records."""
    heard = await asyncio.gather(*(worker.address() for worker in workers), return_exceptions=True)
    for each in heard:
        if isinstance(each, BaseException):
            raise each
    return heard


async def _until_delivered(workers: list[_Worker], progress: Progress | None) -> None:
    """Returns when all have sent what they wanted to, and every process has got all that was sent to it.

    NOTE(termination): the reports may be of different times. Still, if each process had got, when it reported, as much
    as the others said that they had sent to it, then nothing was sent after the reports: that would have been an answer
    to something that arrived after them, which in turn was not among what had been sent.
    """

    async def listen(worker: _Worker) -> None:
        while True:
            worker.report = await worker.hear()
            if progress is not None:
                reports = [each.report for each in workers if each.report]
                progress(sum(report["delivered"] for report in reports), sum(sum(report["sent"]) for report in reports))
            if _all_delivered(workers):
                everything.set()

    everything = asyncio.Event()
    tasks = [asyncio.create_task(listen(worker)) for worker in workers]
    over = asyncio.create_task(everything.wait())
    try:
        await asyncio.wait([over, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        over.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(over, *tasks, return_exceptions=True)


def _all_delivered(workers: list[_Worker]) -> bool:
    reports = [worker.report for worker in workers]
    if not all(report.get("done") for report in reports):
        return False
    wanted = [sum(report["sent"][process] for report in reports) for process in range(len(reports))]
    return wanted == [report["delivered"] for report in reports]


async def _stop(workers: list[_Worker]) -> None:
    """Tells the workers to stop, takes their last words, and kills those that do not stop."""

    async def last_words(worker: _Worker) -> None:
        await worker.say({"stop": True})
        assert worker.process.stdin is not None
        worker.process.stdin.close()
        while not worker.counters:
            heard = await worker.hear()
            if "counters" in heard:
                worker.counters = heard["counters"]
            elif "sent" in heard:
                worker.report = heard
        await worker.process.wait()

    try:
        stopping = [asyncio.wait_for(last_words(worker), STOPPING_S) for worker in workers]
        await asyncio.gather(*stopping, return_exceptions=True)
    finally:
        for worker in workers:
            if worker.process.returncode is None:
                with suppress(ProcessLookupError):  # not process.kill(): it may reap the process, unknown to asyncio
                    os.kill(worker.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
                await worker.process.wait()


__all__ = ["DemoError", "DemoOutcome", "DemoSettings", "LogError", "run_demo"]
