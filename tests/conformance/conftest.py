"""Protocols of the library, and small systems under test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.campaign.one_system import find_protocol
from thence.dsl import ir
from thence.impl.commands import Command, Deliver, Send

TESTS = str(Path(__file__).resolve().parents[1])
if TESTS not in sys.path:
    sys.path.append(TESTS)  # so that the planted faults are importable as faults.mf, as `thence conform` sees them


@dataclass(frozen=True)
class Plain:
    """A packet with a message and nothing else."""

    message: Any
    kind: str = "MSG"


class AtOnce:
    """Delivers whatever arrives, at once: correct for one message at a time, and for nothing more."""

    def __init__(self, identity: int, processes: int) -> None:
        self.identity = identity

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        return [Send(destination, Plain(message))]

    def receive(self, sender: int, packet: Any) -> list[Command]:
        return [Deliver(sender, packet.message)]

    def tick(self) -> list[Command]:
        return []


@pytest.fixture(scope="session")
def library() -> Callable[[str], ir.Protocol]:
    """A protocol of the shipped library, by name."""
    return cache(find_protocol)


@pytest.fixture(scope="session")
def at_once() -> type[AtOnce]:
    """A system under test that delivers whatever arrives."""
    return AtOnce


@pytest.fixture
def marked() -> Callable[[str], list[int]]:
    """The processes that have a mark as one of their arguments, zombies left out. On Linux."""

    def find(mark: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    return find
