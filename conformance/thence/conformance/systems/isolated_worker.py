"""The process of an isolated class: answers requests of `thence-exec/1` by calls of its objects."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from thence.conformance.cases.inputs import method_of
from thence.conformance.cases.network import Settings
from thence.conformance.systems.contract import VERSION
from thence.conformance.systems.foreign import Answered
from thence.conformance.systems.returned import commands_of
from thence.conformance.systems.strangers import say, shown, word
from thence.conformance.systems.subject import SubjectError, load_subject, made, shows_kinds
from thence.impl.commands import Deliver, MustWait, Send


def serve(name: str) -> None:
    """Answers requests about the class until there are no more. The class's output goes to the standard error."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    host = Host(name)
    for line in requests:
        replies.write(json.dumps(host.reply(json.loads(line)), separators=(",", ":")).encode() + b"\n")
        replies.flush()


class Host:
    """The objects of one case, and their packets."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._processes: dict[int, Any] = {}
        self._packets: list[Any] = []
        self._delivery = ""

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request. An error of the class is a reply, too."""
        try:
            match request["request"]:
                case "describe":
                    return self._described(request["processes"])
                case "init":
                    return self._begun(request)
                case _:
                    return {"events": self._events(self._asked(request))}
        except MustWait:
            if request["request"] == "input":
                return {"waits": True}
            return {"error": "MustWait, which only the method of an input raises"}
        except (Exception, SystemExit) as error:
            return {"error": say(error)}

    def _described(self, processes: int) -> dict[str, Any]:
        try:
            subject = load_subject(self._name, processes)
        except SubjectError as error:
            return {"error": str(error)}
        if getattr(subject.make_process(0, processes), "blocked", None) is not None:
            return {"error": f"{self._name} can be blocked, which only a class in the process of Thence can say"}
        file = getattr(sys.modules.get(self._name.partition(":")[0]), "__file__", None)
        said = {"delivery": subject.delivery, "reacts": subject.reacts, "file": file}
        return {**said, "over_fifo": subject.over_fifo, "delivers_own": subject.delivers_own}

    def _begun(self, request: dict[str, Any]) -> dict[str, Any]:
        make = load_subject(self._name, request["processes"]).make_process
        self._delivery = request["delivery"]
        settings = Settings(request["processes"], delivery=request["delivery"], self_sends=request["self_sends"])
        settings = replace(settings, links=tuple((a, b) for a, b in request.get("links", ())))
        self._packets.clear()
        self._processes = {identity: made(make, identity, settings) for identity in request["hosts"]}
        return {
            "version": VERSION,
            "timers": all(hasattr(process, "tick") for process in self._processes.values()),
            "react": all(hasattr(process, "react") for process in self._processes.values()),
            "kinds": shows_kinds(make, settings),
        }

    def _asked(self, request: dict[str, Any]) -> Iterable[Any]:
        """The commands with which an object answers."""
        process = self._processes[request["process"]]
        commands: Iterable[Any]
        match request["request"]:
            case "receive":
                commands = process.receive(request["from"], self._packets[request["packet"]])
            case "tick":
                commands = process.tick(*([request["timer"]] if "timer" in request else ()))
            case "input":
                commands = getattr(process, method_of(request["input"]))(*request["arguments"])
            case asked:
                method = process.react if asked == "react" else process.causal_send
                match self._delivery, request["destinations"]:
                    case "unicast", [destination]:
                        commands = method(destination, request["message"])
                    case "multicast", destinations:
                        commands = method(frozenset(destinations), request["message"])
                    case _:
                        commands = method(request["message"])
        return commands

    def _events(self, commands: Iterable[Any]) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        for command in commands_of(commands):
            match command:
                case Send(destination, packet):
                    said = {"packet": len(self._packets), "to": _number(destination)}
                    for name in ("kind", "message"):
                        if (value := word(packet, name)) is not None:
                            said[name] = value
                    self._packets.append(packet)
                    events.append(said)
                case Deliver(sender, message):
                    events.append({"deliver": _text(message), "from": _number(sender)})
                case Answered(message):
                    events.append({"sent": _text(message)})
                case _:
                    raise TypeError(f"the class returns {shown(command):.80}, which is neither Send nor Deliver")
        return events


def _number(value: object) -> object:
    """The number of a process; of anything else its text, which the contract then refuses."""
    return value if type(value) in (int, str) else shown(value)


def _text(message: object) -> str:
    return message if type(message) is str else shown(message)
