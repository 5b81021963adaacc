"""Faulty implementations of Cykas without starvation."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command
from thence.impl.cykas import Cykas
from thence.impl.cykas_live import CykasLive

from . import cykas


class WaitsForAll(CykasLive):
    """A2.2 as published: a message waits for the secrets that came after it, too. Finding: nonconformance."""

    FAULT: ClassVar[str] = "waits for later secrets"
    FINDINGS: ClassVar[tuple[str, ...]] = ("nonconformance",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _sendable(self, receiver: int) -> bool:
        return Cykas._sendable(self, receiver)


class WaitsForNone(CykasLive):
    """A message remembers no secrets. Finding: causal."""

    FAULT: ClassVar[str] = "secrets not remembered"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _sendable(self, receiver: int) -> bool:
        return not self._unack >> receiver & 1


class OneSecretOfEach(CykasLive):
    """A message remembers of whom it waits for secrets, and not for how many. Finding: causal."""

    FAULT: ClassVar[str] = "counter kept as a flag"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        commands = super().causal_send(destination, message)
        for remembered in self._remembered:
            remembered.update(dict.fromkeys(remembered, 1))
        return commands


class AnyYctCounts(CykasLive):
    """A YCT counts for the secrets of every process. Finding: causal."""

    FAULT: ClassVar[str] = "a permit of anybody ends the wait"
    FINDINGS: ClassVar[tuple[str, ...]] = ("causal",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _count_down(self, sender: int) -> None:
        for process in {process for remembered in self._remembered for process in remembered}:
            super()._count_down(process)


class NeverForgets(CykasLive):
    """A YCT does not reach the messages in the output buffer (L.6 left out). Finding: stuck."""

    FAULT: ClassVar[str] = "waiting messages not told of the end of a secret"
    FINDINGS: ClassVar[tuple[str, ...]] = ("stuck",)
    NEEDS: ClassVar[tuple[str, ...]] = ()

    def _count_down(self, sender: int) -> None:
        pass


class TellsTooEarly(cykas.TellsTooEarly, CykasLive):
    """As for Cykas: a YCT leaves as soon as its receiver has acknowledged. Finding: causal."""


class NoSendOnYct(cykas.NoSendOnYct, CykasLive):
    """As for Cykas: the output buffer is not looked at again on a YCT. Finding: stuck."""


FAULTS: list[type] = [
    WaitsForAll,
    WaitsForNone,
    OneSecretOfEach,
    AnyYctCounts,
    NeverForgets,
    TellsTooEarly,
    NoSendOnYct,
]
