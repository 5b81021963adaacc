"""A causal key-value store in several data centres: COPS.

Source: Wyatt Lloyd, Michael J. Freedman, Michael Kaminsky, David G. Andersen, "Don't Settle for Eventual: Scalable
Causal Consistency for Wide-Area Storage with COPS" (2011), sections 3 and 4. Channels: reliable and reordering.

Listing, in our own words (the paper describes operations and has no line numbers; labels are ours):

    A user puts a value for a key
      P.1  the data centre gives it a version: a Lamport time, higher than all that it has seen, and its own number
      P.2  its nearest dependencies are the context
      P.3  it is committed locally, at once
      P.4  it is sent to all other data centres, together with its nearest dependencies
      P.5  the put depends on everything before it, so it alone is the context from now on
    A user gets a key
      G.1  the value is the newest that is committed here
      G.2  its version is added to the context
    A put comes from another data centre
      R.1  the Lamport clock is raised to the time of the put, where that is higher
      R.2  check each nearest dependency; a check blocks until the version has been written here
      R.3  when all checks are answered, commit the put
    A put is committed
      C.1  its version has been written here: answer the checks that wait for it
      C.2  it is the value of its key, unless the version there is newer: the last writer wins
      C.3  the newer of two versions has the higher time, or, where times are equal, the higher number
    A user moves to another data centre
      M.1  the context goes with the user
      M.2  the other one checks each version in the context, as those of a put
      M.3  when all checks are answered, it serves the user: the context is added to its own

Symbols:

    paper                        here
    put_after(key, val, ...)     PutAfter
    version number               Version: time and origin
    nearest                      PutAfter.nearest
    context                      _context
    dep_check(key, version)      _check, _blocked
    the store of a cluster       _store

Departures:
    - A cluster of nodes, linearizable together, is one process with one clock. Its users share one context.
    - The paper keeps the newest version of a key and does not say what a check for an older one answers. Here a data
      centre remembers which versions have been written (C.1).
    - The paper's users stay where they are: M.1, M.2 and M.3 are ours.
    - `get` is the event that a user gets a certain value, so that it can be compared; `value_of` reads.
    - Without get transactions, garbage collection and conflict handlers (sections 4.6, 5.1 and 5.3).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, MustWait, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.spec.value import value


@value
class Version:
    """Which put of a key: its Lamport time, and the data centre that it was made in."""

    key: Hashable
    time: int
    origin: int


Versions = frozenset[Version]


@value
class PutAfter:
    """A put, on its way to another data centre. `nearest`: what has to be written there before."""

    kind: ClassVar[str] = "PUT_AFTER"
    message: ClassVar[None] = None
    key: Hashable
    value: Hashable
    nearest: Versions
    time: int


@value
class Client:
    """A user on the way to another data centre. `nearest`: the context."""

    kind: ClassVar[str] = "CLIENT"
    message: ClassVar[None] = None
    nearest: Versions


@value
class _Put:
    """A put that can be committed: its version and value."""

    version: Version
    value: Hashable


@dataclass(eq=False, slots=True)
class _Waiting:
    """A put or a user that has arrived and waits, and the versions whose checks are not answered."""

    what: _Put | Client
    missing: set[Version]


class COPS:
    """One data centre. Its inputs are `put`, `get` and `move`."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._clock = 0
        self._store: dict[Hashable, _Put] = {}
        """For each key: the newest put that is committed here."""
        self._written: set[Version] = set()
        """The versions of all puts that are committed here."""
        self._context: Versions = frozenset()
        """The nearest dependencies of what the users here have put and got."""
        self._blocked: dict[Version, list[_Waiting]] = {}
        """For each version that is not written: what waits for it."""
        self._arrived: set[Version] = set()
        """The versions of all puts that have come from other data centres."""

    @property
    def context(self) -> Versions:
        """The nearest dependencies of the next put."""
        return self._context

    def value_of(self, key: Hashable) -> Hashable | None:
        """What a user who gets `key` here gets; None where nothing is."""
        return self._store[key].value if key in self._store else None

    def put(self, key: Hashable, value: Hashable) -> list[Command]:
        """A user puts `value`."""
        self._clock += 1
        version = Version(key, self._clock, self._group.identity)  # P.1
        nearest, self._context = self._context, frozenset({version})  # P.2, P.5
        self._go_on(_Put(version, value))  # P.3
        others = [each for each in range(self._group.processes) if each != self._group.identity]
        return [Send(each, PutAfter(key, value, nearest, version.time)) for each in others]  # P.4

    def get(self, key: Hashable, value: Hashable) -> list[Command]:
        """A user gets `value`. Raises MustWait where `key` has no value, or another one."""
        if key not in self._store or self._store[key].value != value:  # G.1
            raise MustWait
        self._context |= {self._store[key].version}  # G.2
        return []

    def move(self, destination: int) -> list[Command]:
        """A user goes to another data centre. Raises MustWait if that is this one."""
        if not self._group.has(destination):
            raise ValueError(f"data centre {destination!r} is not one of 0 .. {self._group.processes - 1}")
        if destination == self._group.identity:
            raise MustWait
        return [Send(destination, Client(self._context))]  # M.1

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if sender == self._group.identity:
            raise ProtocolError("a data centre sends nothing to itself")
        match packet:
            case PutAfter():
                self._receive_put(sender, packet)
            case Client():
                self._receive_client(packet)
            case _:
                raise unknown_packet(packet)
        return []

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _receive_put(self, sender: int, packet: PutAfter) -> None:
        _require_time(packet.time)
        _require_hashable(packet.key, packet.value)
        version = Version(packet.key, packet.time, sender)
        if version in self._arrived:
            raise ProtocolError(f"the put {version!r:.200} comes again")
        self._require_versions(packet.nearest)
        if any(dependency.time >= packet.time for dependency in packet.nearest):
            raise ProtocolError(f"a put at {packet.time} depends on a later one: {packet.nearest!r:.200}")
        self._arrived.add(version)
        self._clock = max(self._clock, packet.time)  # R.1
        self._check(_Put(version, packet.value), packet.nearest)  # R.2

    def _receive_client(self, packet: Client) -> None:
        self._require_versions(packet.nearest)
        self._check(packet, packet.nearest)  # M.2

    def _check(self, what: _Put | Client, dependencies: Versions) -> None:
        """Check that the dependencies are written. What checks them goes on now, or is blocked until they are."""
        missing = {each for each in dependencies if not self._is_written(each)}
        if not missing:
            self._go_on(what)
        waiting = _Waiting(what, missing)
        for each in missing:
            self._blocked.setdefault(each, []).append(waiting)

    def _is_written(self, version: Version) -> bool:
        return version in self._written

    def _go_on(self, what: _Put | Client) -> None:
        """Commit a put, or serve a user, and then all that has waited for nothing else."""
        ready = [what]
        while ready:
            match ready.pop():
                case _Put() as put:
                    ready += self._commit(put)  # R.3
                case Client() as user:
                    self._context |= user.nearest  # M.3

    def _commit(self, put: _Put) -> list[_Put | Client]:
        """Commit a put. Returns all that has waited for nothing else."""
        version = put.version
        self._written.add(version)  # C.1
        if version.key not in self._store or self._newer(version, self._store[version.key].version):
            self._store[version.key] = put  # C.2
        return self._answer(version)  # C.1

    def _answer(self, version: Version) -> list[_Put | Client]:
        """Answer the checks for a version. Returns those whose last check this was."""
        checking = self._blocked.pop(version, [])
        for waiting in checking:
            waiting.missing.remove(version)
        return [waiting.what for waiting in checking if not waiting.missing]

    def _newer(self, one: Version, other: Version) -> bool:
        return (one.time, one.origin) > (other.time, other.origin)  # C.3

    def _require_versions(self, versions: Versions) -> None:
        """Raise ProtocolError for what is no set of versions, and for puts of our own that were not made."""
        if not isinstance(versions, frozenset) or not all(isinstance(each, Version) for each in versions):
            raise ProtocolError(f"not a set of versions: {versions!r:.200}")
        for each in versions:
            _require_time(each.time)
            if isinstance(each.origin, bool) or not self._group.has(each.origin):
                raise ProtocolError(f"{each.origin!r:.100} is not the number of a data centre")
            if each.origin == self._group.identity and each not in self._written:
                raise ProtocolError(f"a put of ours that was not made: {each!r:.200}")


def _require_time(time: int) -> None:
    if isinstance(time, bool) or not isinstance(time, int) or time < 1:
        raise ProtocolError(f"{time!r:.100} is not the time of a put")


def _require_hashable(*values: object) -> None:
    for each in values:
        try:
            hash(each)
        except TypeError:
            raise ProtocolError(f"neither a key nor a value: {each!r:.100}") from None
