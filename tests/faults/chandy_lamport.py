"""Faulty implementations of distributed snapshots. What they record shows where the application reads it: `audit`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.chandy_lamport import ChandyLamport
from thence.impl.commands import Command, Deliver, MustWait


class MarkerLeftOut(ChandyLamport):
    """No marker goes out on the last channel (S.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "control packet not sent"

    def _record_state(self) -> list[Command]:
        return super()._record_state()[:-1]


class NothingPassedOn(ChandyLamport):
    """Who receives a marker records its state, and sends none (M.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "control packet not sent"

    def _receive_marker(self, sender: int) -> list[Command]:
        super()._receive_marker(sender)
        return []


class AlwaysPassedOn(ChandyLamport):
    """Each marker is answered with markers (M.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "control packet sent twice"

    def _receive_marker(self, sender: int) -> list[Command]:
        first, tokens = self._recorded is None, self._recorded
        commands = super()._receive_marker(sender)
        if not first:
            commands = self._record_state()
            self._recorded = tokens
        return commands


class ChannelsEmpty(ChandyLamport):
    """All channels are recorded as empty (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "packets in flight forgotten"

    def _receive_token(self, sender: int, message: Hashable) -> list[Command]:
        self._tokens += 1
        return [Deliver(sender, message)]


class NeverClosed(ChandyLamport):
    """What comes after the marker is recorded as well (M.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _receive_token(self, sender: int, message: Hashable) -> list[Command]:
        self._tokens += 1
        if self._recorded is not None:
            self._channel[sender] = (*self._channel.get(sender, ()), message)
        return [Deliver(sender, message)]


class RecordsAgain(ChandyLamport):
    """The state is that at the last marker, and not at the first (M.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "state saved at the wrong moment"

    def _receive_marker(self, sender: int) -> list[Command]:
        commands = super()._receive_marker(sender)
        self._recorded = self._tokens
        return commands


class CountsTwice(ChandyLamport):
    """What is recorded of a channel is added to the recorded state, too (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "clock advanced twice"

    def _receive_token(self, sender: int, message: Hashable) -> list[Command]:
        if self._recorded is not None and sender in self._open:
            self._recorded += 1
        return super()._receive_token(sender, message)


class TooSoon(ChandyLamport):
    """A part is taken for complete when the first marker has come (G.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "off by one"

    @property
    def complete(self) -> bool:
        return self._recorded is not None and len(self._open) < self._group.processes - 1


class TokenKept(ChandyLamport):
    """A token that is sent stays with its sender as well (C.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "resource not given up"

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        commands = super().causal_send(destination, message)
        self._tokens += 1
        return commands


class BeginsPoor(ChandyLamport):
    """Whoever has received a token cannot begin (B.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "application kept waiting"

    def begin(self) -> list[Command]:
        if self._tokens > 1:
            raise MustWait
        return super().begin()


FAULTS: list[type] = [
    MarkerLeftOut,
    NothingPassedOn,
    AlwaysPassedOn,
    ChannelsEmpty,
    NeverClosed,
    RecordsAgain,
    CountsTwice,
    TooSoon,
    TokenKept,
    BeginsPoor,
]
