"""One operating-system process of the demonstration: `python -m thence.impl.transport.worker`, started by `demo`.

It talks to its parent in lines of JSON on standard input and output:

    in   {"impl", "identity", "processes", "carrier", "messages", "gap_ms", "seed", "record", "disturbance", "timer_ms"}
    out  {"address": [host, port]}
    in   {"addresses": [[host, port], ...]}
    out  {"sent": [to process 0, to process 1, ...], "delivered": n, "done": whether its own messages are all sent}
         whenever that has changed
    in   {"stop": true}, or the end of the input: the parent is gone
    out  {"counters": {...}}
    or   {"unwritten": [errno, reason, file]}, where the record cannot be written, at any time; then it ends

It sends `messages` messages of its own to processes at random, and answers half of what it gets with a message to
another one, as long as it has answers left: as many as messages.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

from thence.impl.transport.disturbance import Disturbance
from thence.impl.transport.endpoint import Delivery, Endpoint, Options
from thence.impl.transport.group import LOOPBACK, bind_tcp, bind_udp
from thence.impl.transport.recorder import RecordError

REPORT_EVERY_S: Final = 0.02


def load(name: str) -> Any:
    """The class that `module:Class` means: an installed one, else one of the current folder."""
    module, _, class_name = name.partition(":")
    if not module.startswith("thence."):
        sys.path.append(str(Path.cwd()))
    return getattr(importlib.import_module(module), class_name)


class Application:
    """What the process does: sends, answers, and counts."""

    def __init__(self, endpoint: Endpoint, process_class: Any, messages: int, gap_ms: float, seed: int) -> None:
        self._endpoint = endpoint
        self._delivery = getattr(process_class, "delivery", "unicast")
        self._own = bool(getattr(process_class, "delivers_own", False))
        self._choice = Random(seed)
        self._messages = messages
        self._answers = messages
        self._gap_s = gap_ms / 1000
        self.sent = [0] * endpoint.processes
        self.delivered = 0
        self.done = False
        endpoint.on_deliver = self.take

    def report(self) -> dict[str, Any]:
        """How far it is."""
        return {"sent": list(self.sent), "delivered": self.delivered, "done": self.done}

    async def run(self) -> None:
        """Sends the messages of its own; never ends by itself."""
        for number in range(self._messages):
            while self._endpoint.blocked:
                await asyncio.sleep(REPORT_EVERY_S)
            self.send(f"message {number}")
            await asyncio.sleep(self._choice.random() * self._gap_s)
        self.done = True
        await asyncio.Event().wait()  # until it is stopped

    def take(self, delivery: Delivery) -> None:
        """A message has been delivered."""
        self.delivered += 1
        if self._answers and not self._endpoint.blocked and self._choice.random() < 0.5:
            self._answers -= 1
            self.send(f"answer to {delivery.sender}")

    def send(self, message: str) -> None:
        """Sends a message to processes chosen at random, or to all, as the protocol has it."""
        endpoint = self._endpoint
        others = [process for process in range(endpoint.processes) if process != endpoint.identity]
        match self._delivery:
            case "unicast":
                chosen = [self._choice.choice(others)]
                endpoint.send(chosen[0], message)
            case "multicast":
                chosen = self._choice.sample(others, self._choice.randint(1, len(others)))
                endpoint.multicast(frozenset(chosen), message)
            case _:
                chosen = [*others, endpoint.identity] if self._own else others
                endpoint.broadcast(message)
        for destination in chosen:
            self.sent[destination] += 1


async def work(settings: dict[str, Any], lines: asyncio.StreamReader) -> None:
    """Runs the process until it is told to stop."""
    process_class = load(settings["impl"])
    disturbance = Disturbance(**settings["disturbance"])
    options = Options(timer_ms=settings["timer_ms"], disturbance=disturbance, record=settings["record"])
    bind = bind_udp if settings["carrier"] == "udp" else bind_tcp
    async with await bind(process_class, settings["identity"], settings["processes"], LOOPBACK, options) as endpoint:
        application = Application(endpoint, process_class, settings["messages"], settings["gap_ms"], settings["seed"])
        say({"address": endpoint.address})
        start = json.loads(await lines.readline() or "{}")
        if "addresses" not in start:
            return
        endpoint.connect([(host, port) for host, port in start["addresses"]])
        tasks = [asyncio.create_task(application.run()), asyncio.create_task(_report(application))]
        try:
            stop = asyncio.create_task(lines.readline())
            failure = asyncio.create_task(_failure(endpoint))
            await asyncio.wait([stop, failure, *tasks], return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
            failure.cancel()
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
    endpoint.raise_failure()
    say({"counters": endpoint.counters.to_json()})


async def _failure(endpoint: Endpoint) -> None:
    """Ends when the endpoint does."""
    async for _ in endpoint:
        continue


async def _report(application: Application) -> None:
    told: dict[str, Any] = {}
    while True:
        current = application.report()
        if current != told:
            told = current
            say(current)
        await asyncio.sleep(REPORT_EVERY_S)


def say(fields: dict[str, Any]) -> None:
    """A line to the parent."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


async def main() -> None:
    """Reads the settings and works."""
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    try:
        await work(json.loads(await lines.readline()), lines)
    except Exception as error:
        unwritten = error if isinstance(error, RecordError) else error.__cause__
        if not isinstance(unwritten, RecordError):
            raise
        say({"unwritten": [unwritten.errno, unwritten.strerror, unwritten.filename]})
    finally:
        pipe.close()


if __name__ == "__main__":
    asyncio.run(main())
