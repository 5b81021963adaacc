"""The protocol of Raynal, Schiper and Toueg; its application can send from inside a delivery, which the system counts
too late. Sends at any other time are right. A class, and as a program a system that speaks thence-exec/1.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

from thence.conformance.systems.foreign import Answered
from thence.impl.commands import Deliver, Send


class Packet(NamedTuple):
    message: str
    sent: list[list[int]]
    kind: str = "MSG"


class Hasty:
    early = False
    """Whether a delivery is counted before the application hears of it."""

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity
        self.sent = [[0] * processes for _ in range(processes)]
        self.seen = [0] * processes
        self.waiting: list[tuple[int, Packet]] = []
        self.answers: list[tuple[int, str]] = []

    def causal_send(self, destination: int, message: str) -> list[Any]:
        packet = Packet(message, [list(row) for row in self.sent])
        self.sent[self.identity][destination] += 1
        return [Send(destination, packet)]

    def react(self, destination: int, message: str) -> list[Any]:
        self.answers.append((destination, message))
        return []

    def receive(self, sender: int, packet: Packet) -> list[Any]:
        self.waiting.append((sender, packet))
        commands: list[Any] = []
        while ready := [one for one in self.waiting if self.is_next(one[1])]:
            self.waiting.remove(ready[0])
            commands += self.deliver(*ready[0])
        return commands

    def is_next(self, packet: Packet) -> bool:
        return all(seen >= row[self.identity] for seen, row in zip(self.seen, packet.sent, strict=True))

    def deliver(self, sender: int, packet: Packet) -> list[Any]:
        if self.early:
            self.count(sender, packet)
        commands: list[Any] = [Deliver(sender, packet.message)]
        answers, self.answers = self.answers, []
        for destination, message in answers:
            commands += [Answered(message), *self.causal_send(destination, message)]
        if not self.early:
            self.count(sender, packet)
        return commands

    def count(self, sender: int, packet: Packet) -> None:
        self.seen[sender] += 1
        rows = zip(self.sent, packet.sent, strict=True)
        self.sent = [[max(pair) for pair in zip(*both, strict=True)] for both in rows]
        self.sent[sender][self.identity] += 1


class Patient(Hasty):
    early = True


def main(make: type[Hasty]) -> None:
    """The adapter."""
    processes: dict[int, Hasty] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["request"] == "init":
            processes = {identity: make(identity, request["processes"]) for identity in request["hosts"]}
            print(json.dumps({"version": "thence-exec/1", "timers": False, "kinds": True}), flush=True)
            continue
        process, commands = processes[request["process"]], []
        match request["request"]:
            case "send":
                commands = process.causal_send(request["destinations"][0], request["message"])
            case "react":
                commands = process.react(request["destinations"][0], request["message"])
            case "receive":
                commands = process.receive(request["from"], Packet(*request["packet"]))
        print(json.dumps({"events": [event(command) for command in commands]}), flush=True)


def event(command: Any) -> dict[str, Any]:
    match command:
        case Send(destination, packet):
            return {"packet": packet, "to": destination, "kind": packet.kind, "message": packet.message}
        case Deliver(sender, message):
            return {"deliver": message, "from": sender}
        case _:
            return {"sent": command.message}


if __name__ == "__main__":
    main(Patient if "--patient" in sys.argv else Hasty)
