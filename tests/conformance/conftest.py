"""Protocols of the library, and small systems under test."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.find import named_protocol
from thence.impl.commands import Command, Deliver, Send


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
    return cache(named_protocol)


@pytest.fixture(scope="session")
def at_once() -> type[AtOnce]:
    """A system under test that delivers whatever arrives."""
    return AtOnce
