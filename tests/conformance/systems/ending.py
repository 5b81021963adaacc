"""Classes of Python that take their process with them. Not a test: systems under test."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver
from thence.impl.commands import Send as Transmit
from thence.impl.cykas import Cykas
from thence.impl.group import Group
from thence.impl.rst import RST


class Quits(RST):
    """Ends its process with the second message that p1 has sent."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        print("not for the contract")
        if packet.message == "m1.2":
            os._exit(3)
        return super().receive(sender, packet)


class Faults(RST):
    """Reads where nothing is."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        ctypes.string_at(0)
        return super().receive(sender, packet)


class Sleeps(RST):
    """Hangs outside Python, where no signal handler runs: the lock of the interpreter is held."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        ctypes.PyDLL(None).sleep(60)
        return super().receive(sender, packet)


class Wraps(RST):
    """Catches everything, and says something else instead."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        try:
            time.sleep(60)
        except BaseException as error:
            raise RuntimeError("the queue is broken") from error
        return super().receive(sender, packet)


class Swallows(RST):
    """Catches everything, and goes on as if nothing had been."""

    def receive(self, sender: int, packet: Any) -> list[Command]:
        try:
            time.sleep(60)
        except BaseException:
            return []
        return super().receive(sender, packet)


class Strange(RST):
    """Raises, exits, or returns what is no command, by the number of the message."""

    def receive(self, sender: int, packet: Any) -> list[Any]:
        match packet.message[-1]:
            case "1":
                raise KeyError("nothing there")
            case "2":
                raise SystemExit(4)
            case "3":
                return ["dear"]
            case "4":
                return [Transmit(7, packet)]
            case _:
                return [Deliver("p1", packet.message)]  # type: ignore[arg-type]


class Waits(Cykas):
    """Says that it can be blocked."""

    blocked: ClassVar[bool] = False


class Everybody:
    """A broadcast without order."""

    delivery: ClassVar[Literal["broadcast"]] = "broadcast"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)

    def causal_send(self, message: str) -> list[Any]:
        others = [one for one in range(self._group.processes) if one != self._group.identity]
        return [Transmit(one, message) for one in others]  # type: ignore[arg-type]

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return [Deliver(sender, packet)]
