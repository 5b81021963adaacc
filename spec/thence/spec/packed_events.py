"""Events by the million: in columns, which take about fifteen bytes for an event and its share of a message.

A name is looked up while its message is under way. After its last delivery it is let go of; whatever may concern such a
name (it is delivered once more, or sent again) makes all names be looked up again, from then on.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, overload

from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send

DELIVER: Final = 0
SEND: Final = 1
RECEIVE: Final = 2
OTHER: Final = 3
"""What an event is, in `PackedEvents.kinds`."""

_CHUNK: Final = 64
_PARTS: Final = 64


class SentTwice(Exception):
    """A message is sent a second time. `first` and `second` are the numbers of the two."""

    def __init__(self, name: str, first: int, second: int) -> None:
        super().__init__(name)
        self.name = name
        self.first = first
        self.second = second


class Names:
    """The names of messages, numbered from 0 in the order of sending.

    Attributes:
        known: the number of each name; only of those under way as long as it `forgets`.
        left: of each message, how many deliveries are expected; it is let go of at 0.
        forgets: whether names are let go of.
    """

    __slots__ = ("_chunks", "_hashes", "_last", "forgets", "known", "left")

    def __init__(self, *, forgets: bool) -> None:
        self.known: dict[str, int] = {}
        self.left = array("I")
        self.forgets = forgets
        self._chunks: list[bytes] = []
        self._last: list[str] = []
        self._hashes = [array("q") for _ in range(_PARTS)] if forgets else []

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[str]:
        for chunk in self._chunks:
            yield from marshal.loads(chunk)
        yield from self._last

    def __getitem__(self, number: int) -> str:
        chunk, place = divmod(number, _CHUNK)
        found: list[str] = marshal.loads(self._chunks[chunk]) if chunk < len(self._chunks) else self._last
        return found[place]

    def add(self, name: str, deliveries: int) -> int:
        """The number of a name that is not in `known`, for a message with so many destinations."""
        number = len(self.left)
        if deliveries or not self.forgets:
            self.known[name] = number
        self.left.append(deliveries)
        if self._hashes:
            hashed = hash(name)
            self._hashes[hashed % _PARTS].append(hashed)
        self._last.append(name)
        if len(self._last) == _CHUNK:
            self._chunks.append(marshal.dumps(self._last))
            self._last = []
        return number

    def delivered(self, number: int, name: str) -> None:
        """The message is delivered somewhere; its name is known."""
        if self.forgets:
            self.left[number] -= 1
            if not self.left[number]:
                del self.known[name]

    def number(self, name: str) -> int | None:
        """The number of a name, let go of or not; None if no message has it. Raises SentTwice."""
        found = self.known.get(name)
        if found is None and self.forgets:
            self.recall()
            found = self.known.get(name)
        return found

    def recall(self) -> None:
        """Look up all names from now on. Raises SentTwice: two messages have one name."""
        if not self.forgets:
            return
        found: dict[str, int] = {}
        for number, name in enumerate(self):
            if found.setdefault(name, number) != number:
                raise SentTwice(name, found[name], number)
        self.known.update(found)
        self.forgets = False

    def require_apart(self) -> None:
        """Raises SentTwice: two messages have one name."""
        if self.forgets and any(len(set(part)) < len(part) for part in self._hashes):
            self.recall()


class PackedEvents(Sequence[Event]):
    """The events of one execution, in columns.

    Attributes:
        processes: how many processes there are.
        kinds: of each event DELIVER, SEND, RECEIVE or OTHER.
        places: of each event its process.
        numbers: of each event the number of its message in `names`; of OTHER its place in `others`.
        sources: of each RECEIVE where it came from.
        names: of the messages.
        senders, starts, routes: of each message its sender, the position of its send, and its place in `destinations`.
        destinations: the different lists of destinations.
        others: events that are no part of a column: inputs, and what no execution has.
    """

    __slots__ = (
        "_route_of",
        "destinations",
        "kinds",
        "names",
        "numbers",
        "others",
        "places",
        "processes",
        "routes",
        "senders",
        "sources",
        "starts",
    )

    def __init__(self, processes: int, *, forgets: bool = True) -> None:
        process = "H" if processes < 1 << 16 else "L"
        self.processes = processes
        self.kinds = bytearray()
        self.places = array(process)
        self.numbers = array("I")
        self.sources = array(process)
        self.names = Names(forgets=forgets)
        self.senders = array(process)
        self.starts = array("I")
        self.routes = array("I")
        self.destinations: list[tuple[int, ...]] = []
        self.others: list[Event] = []
        self._route_of: dict[tuple[int, ...], int] = {}

    @classmethod
    def of(cls, execution: Execution) -> PackedEvents:
        """The events of the execution. Names are kept."""
        if isinstance(execution.events, PackedEvents):
            return execution.events
        packed = cls(execution.processes, forgets=False)
        packed._keep(execution.events)
        return packed

    def extend(self, events: Iterable[Event]) -> None:
        """Put events at the end. Raises SentTwice, where a name was let go of that comes up again."""
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        """Put an event at the end. Raises SentTwice, where a name was let go of that comes up again."""
        process = event.process
        if 0 <= process < self.processes:
            if isinstance(event, Deliver):
                number = self.names.number(event.message)
                if number is not None:
                    self._put(DELIVER, process, number)
                    self.names.delivered(number, event.message)
                    return
            elif isinstance(event, Send):
                if event.message not in self.names.known:
                    self.send(process, event.message, self.route(event.destinations), len({*event.destinations}))
                    return
            elif isinstance(event, Receive) and 0 <= event.sender < self.processes:
                number = self.names.number(event.message)
                if number is not None:
                    self.sources.append(event.sender)
                    self._put(RECEIVE, process, number)
                    return
        self.others.append(event)
        self._put(OTHER, 0, len(self.others) - 1)

    def _keep(self, events: Iterable[Event]) -> None:
        """As `extend`, where names are kept: a name is known once it is sent, and most events are deliveries. Small
        executions are packed by the million."""
        assert not self.names.forgets
        names, count, routes = self.names, self.processes, self._route_of
        known, kinds, places, numbers = names.known, self.kinds, self.places.append, self.numbers.append
        for event in events:
            process = event.process
            if not 0 <= process < count:
                self.append(event)
            elif isinstance(event, Deliver) and (number := known.get(event.message)) is not None:
                kinds.append(DELIVER)
                places(process)
                numbers(number)
            elif isinstance(event, Send) and event.message not in known:
                to = event.destinations
                route = routes[to] if to in routes else self.route(to)
                self.senders.append(process)
                self.starts.append(len(kinds))
                self.routes.append(route)
                kinds.append(SEND)
                places(process)
                numbers(names.add(event.message, len(to) if len(to) < 2 else len({*to})))
            else:
                self.append(event)

    def route(self, destinations: tuple[int, ...]) -> int:
        """The place of a list in `destinations`."""
        found = self._route_of.get(destinations)
        if found is None:
            found = self._route_of[destinations] = len(self.destinations)
            self.destinations.append(destinations)
        return found

    def send(self, process: int, name: str, route: int, deliveries: int) -> None:
        """Put the send of a message at the end whose name is not known, to so many different destinations."""
        self.senders.append(process)
        self.starts.append(len(self.kinds))
        self.routes.append(route)
        self.kinds.append(SEND)  # `_put`, written out: it runs for every second event
        self.places.append(process)
        self.numbers.append(self.names.add(name, deliveries))

    def _put(self, kind: int, process: int, number: int) -> None:
        self.kinds.append(kind)
        self.places.append(process)
        self.numbers.append(number)

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[Event]:
        names, sources = list(self.names), iter(self.sources)
        for kind, process, number in zip(self.kinds, self.places, self.numbers, strict=True):
            if kind == DELIVER:
                yield Deliver(process, names[number])
            elif kind == SEND:
                yield Send(process, names[number], self.destinations[self.routes[number]])
            elif kind == RECEIVE:
                yield Receive(process, names[number], next(sources))
            else:
                yield self.others[number]

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Event, ...]: ...

    def __getitem__(self, index: int | slice) -> Event | tuple[Event, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        kind, process, number = self.kinds[index], self.places[index], self.numbers[index]
        if kind == DELIVER:
            return Deliver(process, self.names[number])
        if kind == SEND:
            return Send(process, self.names[number], self.destinations[self.routes[number]])
        if kind == RECEIVE:
            source = self.sources[self.kinds.count(RECEIVE, 0, index % len(self))]
            return Receive(process, self.names[number], source)
        return self.others[number]

    def concerning(self, names: Collection[str]) -> Iterator[tuple[int, Event]]:
        """The events of the messages with these names, each with its position, in order. No other event is made."""
        wanted = {number: name for number, name in enumerate(self.names) if name in names}
        places = [at for at, number in enumerate(self.numbers) if number in wanted and self.kinds[at] != OTHER]
        if self.others:
            of_others = [at for at, kind in enumerate(self.kinds) if kind == OTHER]
            places = sorted([*places, *(at for at in of_others if _is_of(self.others[self.numbers[at]], names))])
        arrivals = counted = 0
        for at in places:
            kind, process, number = self.kinds[at], self.places[at], self.numbers[at]
            if kind == DELIVER:
                yield at, Deliver(process, wanted[number])
            elif kind == SEND:
                yield at, Send(process, wanted[number], self.destinations[self.routes[number]])
            elif kind == RECEIVE:
                arrivals += self.kinds.count(RECEIVE, counted, at)
                counted = at
                yield at, Receive(process, wanted[number], self.sources[arrivals])
            else:
                yield at, self.others[number]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedEvents | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


def concerning(events: Sequence[Event], names: Collection[str]) -> Iterator[tuple[int, Event]]:
    """As `PackedEvents.concerning`, of any events."""
    if isinstance(events, PackedEvents):
        return events.concerning(names)
    return ((at, event) for at, event in enumerate(events) if _is_of(event, names))


def _is_of(event: Event, names: Collection[str]) -> bool:
    return not isinstance(event, Input) and event.message in names
