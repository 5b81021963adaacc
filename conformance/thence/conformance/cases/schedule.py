"""A schedule is a value: a flat tuple of operations, leniently interpreted.

An operation that is not possible where it stands is skipped. Whatever the operations, a deterministic drain follows
(see `harness`). Hence every sub-sequence of a schedule is a schedule, which makes shrinking work; and a stored
schedule outlives every change of the generators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from thence.conformance.cases.inputs import InputChoices, are_arguments
from thence.conformance.cases.network import PER_MILLE, Channel, Destination, Settings
from thence.dsl.ir import PERIODICALLY
from thence.spec.events import Input
from thence.spec.user_error import UserError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

LARGEST_SCHEDULE = 100_000
"""Most operations of a stored schedule."""


@dataclass(frozen=True, slots=True)
class Send:
    """The application of `process` causal-sends its next message."""

    process: int
    destination: Destination = None


@dataclass(frozen=True, slots=True)
class React:
    """The application of `process` answers: it causal-sends right after the next step that delivers something."""

    process: int
    destination: Destination = None


@dataclass(frozen=True, slots=True)
class Tick:
    """The timer of `process` fires; `timer` is its name, where it has one."""

    process: int
    timer: str = PERIODICALLY


@dataclass(frozen=True, slots=True)
class Have:
    """The application of `process` has an input of its own, with these arguments."""

    process: int
    name: str
    arguments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Receive:
    """A packet arrives: the `position`-th on `channel`, or `position` thousandths of the way through all of them."""

    position: int
    channel: Channel | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A packet gets a second copy, which is sent last. It is named as in `Receive`."""

    position: int
    channel: Channel | None = None


@dataclass(frozen=True, slots=True)
class Lose:
    """A packet vanishes. It is named as in `Receive`."""

    position: int
    channel: Channel | None = None


Operation: TypeAlias = Send | React | Tick | Have | Receive | Duplicate | Lose
Schedule: TypeAlias = tuple[Operation, ...]

_ON_PACKETS: dict[str, type[Receive] | type[Duplicate] | type[Lose]] = {
    "receive": Receive,
    "duplicate": Duplicate,
    "lose": Lose,
}


_SENDS: dict[str, type[Send] | type[React]] = {"send": Send, "react": React}


class ScheduleError(UserError, ValueError):
    """Stored operations that cannot be read; the message names the operation and its fault."""


def to_json(schedule: Iterable[Operation]) -> list[list[Any]]:
    """The operations as JSON values."""
    return [_operation_to_json(operation) for operation in schedule]


def from_json(value: object) -> Schedule:
    """The operations as `to_json` wrote them.

    Raises:
        ScheduleError: `value` is anything else.
    """
    if not isinstance(value, list):
        raise ScheduleError("a schedule is a list of operations")
    if len(value) > LARGEST_SCHEDULE:
        raise ScheduleError(f"the schedule has {len(value):,} operations; {LARGEST_SCHEDULE:,} is the limit")
    return tuple(_operation_from_json(number, entry) for number, entry in enumerate(value, 1))


def describe(operation: Operation) -> str:
    """The operation as a sentence."""
    match operation:
        case Send(process, destination):
            return f"p{process} sends to {_shown(destination)}"
        case React(process, destination):
            return f"p{process} answers its next delivery with a send to {_shown(destination)}"
        case Tick(process):
            return f"a timer of p{process} fires"
        case Have(process, name, arguments):
            return f"p{process} does {Input(process, name, arguments).label}"
        case Receive(position, channel):
            if channel is None:
                return f"the packet {position}/{PER_MILLE} of the way through those in flight arrives"
            return f"p{channel[1]} receives the {_ordinal(position)} packet from p{channel[0]}"
        case Duplicate(position, channel) | Lose(position, channel):
            verb = "duplicates" if isinstance(operation, Duplicate) else "loses"
            if channel is None:
                return f"the network {verb} the packet {position}/{PER_MILLE} of the way through those in flight"
            return f"the network {verb} the {_ordinal(position)} packet from p{channel[0]} to p{channel[1]}"
        case _:
            assert_never(operation)


def schedules(settings: Settings, operations: int) -> SearchStrategy[Schedule]:
    """Hypothesis strategy: schedules of up to `operations` operations that fit `settings`.

    They shrink towards few operations, low processes and old packets. Public, for other harnesses and for tests of
    third parties.

    NOTE(constants): now and then Hypothesis takes a number from 100 on from the source text of the modules that are
    loaded, so that a seed would mean something else after any edit. So none is drawn here (but processes, where there
    are more than a hundred): a position is drawn as two numbers.
    """
    # Campaigns run millions of schedules without Hypothesis, whose import takes a while.
    from hypothesis import strategies as st

    process = st.integers(0, settings.processes - 1)
    pair = _addressed(settings)
    hundreds, rest = st.integers(0, PER_MILLE // 100 - 1), st.integers(0, 99)
    position = st.tuples(hundreds, rest).map(lambda drawn: 100 * drawn[0] + drawn[1])
    sends: SearchStrategy[Operation] = pair.map(lambda drawn: Send(*drawn))
    receives: SearchStrategy[Operation] = position.map(Receive)
    # Arrivals are named twice: half of the operations, so that the network does not just fill up.
    kinds = [receives, receives, process.map(Tick)]
    if settings.sends:
        kinds = [sends, receives, receives, pair.map(lambda drawn: React(*drawn)), process.map(Tick)]
    kinds += [_inputs(process, each) for each in settings.inputs]
    if settings.duplication:
        kinds.append(position.map(Duplicate))
    if settings.loss:
        kinds.append(position.map(Lose))
    return st.lists(st.one_of(kinds), max_size=operations).map(tuple)


def _inputs(process: SearchStrategy[int], given: InputChoices) -> SearchStrategy[Operation]:
    """One input, with each of its arguments."""
    from hypothesis import strategies as st

    drawn = st.tuples(process, st.sampled_from(given.choices))
    return drawn.map(lambda each: Have(each[0], given.name, each[1]))


def _addressed(settings: Settings) -> SearchStrategy[tuple[int, Destination]]:
    """A process, and a destination of its messages."""
    from hypothesis import strategies as st

    count = settings.processes
    process = st.integers(0, count - 1)
    # Destinations are drawn as distances round the circle of processes, where 0 is the sender itself.
    distance = st.integers(0 if settings.self_sends else 1, count - 1)
    match settings.delivery:
        case "unicast":
            return st.tuples(process, distance).map(lambda drawn: (drawn[0], sum(drawn) % count))
        case "multicast":
            return st.tuples(process, st.sets(distance, min_size=1)).map(
                lambda drawn: (drawn[0], tuple(sorted((drawn[0] + one) % count for one in drawn[1])))
            )
        case "broadcast":
            return process.map(lambda drawn: (drawn, None))
        case _:
            assert_never(settings.delivery)


def _operation_to_json(operation: Operation) -> list[Any]:
    match operation:
        case Send(process, destination) | React(process, destination):
            name = type(operation).__name__.lower()
            match destination:
                case None:
                    return [name, process]
                case int():
                    return [name, process, destination]
                case _:
                    return [name, process, list(destination)]
        case Tick(process, timer):
            return ["tick", process] if timer == PERIODICALLY else ["tick", process, timer]
        case Have(process, name, arguments):
            return ["input", process, name, list(arguments)]
        case Receive(position, channel) | Duplicate(position, channel) | Lose(position, channel):
            name = type(operation).__name__.lower()
            return [name, position] if channel is None else [name, *channel, position]
        case _:
            assert_never(operation)


def _operation_from_json(number: int, entry: object) -> Operation:
    match entry:
        case [("send" | "react") as name, int(process)] if _are_counts(process):
            return _SENDS[name](process)
        case [("send" | "react") as name, int(process), int(destination)] if _are_counts(process, destination):
            return _SENDS[name](process, destination)
        case [("send" | "react") as name, int(process), list(destinations)] if destinations:
            if _are_counts(process, *destinations):
                return _SENDS[name](process, tuple(sorted(set(destinations))))
        case ["tick", int(process)] if _are_counts(process):
            return Tick(process)
        case ["tick", int(process), str(timer)] if _are_counts(process):
            return Tick(process, timer)
        case ["input", int(process), str(name), list(arguments)] if _are_counts(process) and are_arguments(arguments):
            if name.isidentifier():
                return Have(process, name, tuple(arguments))
        case [("receive" | "duplicate" | "lose") as name, int(position)] if _are_counts(position):
            if position < PER_MILLE:
                return _ON_PACKETS[name](position)
        case [("receive" | "duplicate" | "lose") as name, int(source), int(destination), int(position)]:
            if _are_counts(source, destination, position):
                return _ON_PACKETS[name](position, (source, destination))
    raise ScheduleError(f"operation {number} is none: {_shortened(entry)}")


def _are_counts(*numbers: int) -> bool:
    """JSON has no true or false where a number belongs."""
    return all(type(number) is int and number >= 0 for number in numbers)


def _shown(destination: Destination) -> str:
    match destination:
        case None:
            return "all"
        case int():
            return f"p{destination}"
        case (*others, last) if others:
            return f"{', '.join(f'p{other}' for other in others)} and p{last}"
        case _:
            return f"p{destination[0]}"


def _shortened(entry: object) -> str:
    text = repr(entry)
    return text if len(text) <= 80 else text[:79] + "…"


def _ordinal(position: int) -> str:
    return "oldest" if position == 0 else {1: "2nd", 2: "3rd"}.get(position, f"{position + 1}th")
