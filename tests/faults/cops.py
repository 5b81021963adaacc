"""Faulty implementations of COPS. What users get is all that tells them apart."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from thence.impl.commands import Command, MustWait, Send
from thence.impl.cops import COPS, Client, PutAfter, Version


class NothingChecked(COPS):
    """A put is committed when it arrives (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _receive_put(self, sender: int, packet: PutAfter) -> None:
        super()._receive_put(sender, PutAfter(packet.key, packet.value, frozenset(), packet.time))


class ServedAtOnce(COPS):
    """A user is served at once (M.2), and the next put may not be later than what it depends on. Finding: crash."""

    FAULT: ClassVar[str] = "delivery condition left out"

    def _receive_client(self, packet: Client) -> None:
        self._require_versions(packet.nearest)
        self._go_on(packet)


class ContextLost(COPS):
    """A user who moves leaves the context behind (M.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "metadata not sent"

    def move(self, destination: int) -> list[Command]:
        super().move(destination)
        return [Send(destination, Client(frozenset()))]


class GetsForgotten(COPS):
    """What a user gets is not in the context (G.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "delivery not recorded"

    def get(self, key: Hashable, value: Hashable) -> list[Command]:
        context = self._context
        commands = super().get(key, value)
        self._context = context
        return commands


class PutsForgotten(COPS):
    """A user's own put is not in the context (P.5). Finding: nonconformance."""

    FAULT: ClassVar[str] = "own send not recorded"

    def put(self, key: Hashable, value: Hashable) -> list[Command]:
        commands = super().put(key, value)
        self._context = frozenset()
        return commands


class LastArrivalWins(COPS):
    """What comes last stays (C.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "comparison left out"

    def _newer(self, one: Version, other: Version) -> bool:
        return True


class OwnWins(COPS):
    """Of two puts with the same time, each data centre keeps its own (C.3). Finding: nonconformance."""

    FAULT: ClassVar[str] = "ties broken differently by different nodes"

    def _newer(self, one: Version, other: Version) -> bool:
        me = self._group.identity
        return (one.time, one.origin == me, one.origin) > (other.time, other.origin == me, other.origin)


class Deaf(COPS):
    """The clock counts the puts of its own data centre alone (R.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "merge of received metadata discarded"

    def _receive_put(self, sender: int, packet: PutAfter) -> None:
        clock = self._clock
        super()._receive_put(sender, packet)
        self._clock = clock


class NoRescan(COPS):
    """What waits is not looked at again (C.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "waiting messages not looked at again"

    def _answer(self, version: Version) -> list[object]:  # type: ignore[override]
        return []


class NewestOrNewer(COPS):
    """A newer version of the key answers a check (R.2). Finding: nonconformance."""

    FAULT: ClassVar[str] = "`<=` for `=`"

    def _is_written(self, version: Version) -> bool:
        held = self._store.get(version.key)
        return held is not None and not self._newer(version, held.version)


class Refuses(COPS):
    """A key that was put in another data centre cannot be got (G.1). Finding: nonconformance."""

    FAULT: ClassVar[str] = "input refused"

    def get(self, key: Hashable, value: Hashable) -> list[Command]:
        if key in self._store and self._store[key].version.origin != self._group.identity:
            raise MustWait
        return super().get(key, value)


FAULTS: list[type] = [
    NothingChecked,
    ServedAtOnce,
    ContextLost,
    GetsForgotten,
    PutsForgotten,
    LastArrivalWins,
    OwnWins,
    Deaf,
    NoRescan,
    NewestOrNewer,
    Refuses,
]
