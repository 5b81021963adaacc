"""Guided scheduling: known executions and schedules, followed, bent and continued.

There are two sources. *Scripts* are executions that a prover or explorer found: countermodels of theorems without an
assumption, and shortest counterexamples to a protocol's mutants. A script has sends and the order of deliveries; the
scheduler brings it about on any system under test, and lets control packets through where a message waits for them.
*Schedules* were found by running: each was the first to reach a handler, branch or abstract state of the protocol
(`grown`). A case depends on its seed and the corpus only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import (
    Operation,
    React,
    Receive,
    Schedule,
    ScheduleError,
    Send,
    from_json,
    to_json,
)
from thence.conformance.cases.schedulers import SCHEDULERS, Scheduler, follow_up
from thence.conformance.harness.coverage import CoveredReplay, ProtocolCoverage
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.systems.protocol_subject import ProtocolSystem
from thence.conformance.systems.strangers import word
from thence.dsl import ir
from thence.spec.events import Deliver, Execution
from thence.spec.events import Send as SendEvent

SENT, DELIVERED = "send", "deliver"

Script: TypeAlias = tuple[tuple[str, int, Any], ...]
"""("send", process, destinations) and ("deliver", process, which): the message that the which-th send was, from 0."""

NAME: Final = "guided"

GROWN_CASES: Final = 600
"""Default number of cases that grow a corpus."""

MOST_SCHEDULES: Final = 200
"""Most schedules of a corpus; the first ones found are kept."""

PATIENCE: Final = 6
"""Control packets that may arrive while a script waits for a message."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The scripts and schedules that a guided run starts from."""

    scripts: tuple[Script, ...] = ()
    schedules: tuple[Schedule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scripts or self.schedules)

    def __add__(self, other: Corpus) -> Corpus:
        scripts = tuple(dict.fromkeys((*self.scripts, *other.scripts)))
        return Corpus(scripts, tuple(dict.fromkeys((*self.schedules, *other.schedules)))[:MOST_SCHEDULES])

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "scripts": [[[kind, process, _plain(other)] for kind, process, other in script] for script in self.scripts],
            "schedules": [to_json(schedule) for schedule in self.schedules],
        }

    @staticmethod
    def from_json(value: object) -> Corpus:
        """A corpus as `to_json` wrote it.

        Raises:
            ScheduleError: `value` is anything else.
        """
        match value:
            case {"scripts": list(scripts), "schedules": list(schedules), **rest} if not rest:
                return Corpus(tuple(map(_script, scripts)), tuple(map(from_json, schedules)))
            case _:
                raise ScheduleError("a corpus is an object with scripts and schedules")


def script_of(execution: Execution) -> Script:
    """The execution as a script; deliveries of messages that were never sent are left out."""
    numbers: dict[str, int] = {}
    steps: list[tuple[str, int, Any]] = []
    for event in execution.events:
        match event:
            case SendEvent(process, message, destinations):
                numbers[message] = len(numbers)
                steps.append((SENT, process, tuple(destinations)))
            case Deliver(process, message) if message in numbers:
                steps.append((DELIVERED, process, numbers[message]))
            case _:
                continue
    return tuple(steps)


TRIANGLE: Final[Script] = (
    (SENT, 1, (0,)), (SENT, 1, (2,)), (DELIVERED, 2, 1), (SENT, 2, (0,)), (DELIVERED, 0, 2),
)  # fmt: skip
OVERTAKING: Final[Script] = ((SENT, 0, (1,)), (SENT, 0, (1,)), (DELIVERED, 1, 1))
ROUND_TRIP: Final[Script] = (
    (SENT, 0, (1,)), (SENT, 0, (2,)), (DELIVERED, 2, 1), (SENT, 2, (0,)), (DELIVERED, 0, 2), (SENT, 0, (1,)),
    (DELIVERED, 1, 3),
)  # fmt: skip

COUNTERMODELS: Final = {
    "fifo_alone": TRIANGLE,
    "sps_alone": OVERTAKING,
}
"""Countermodels of Z3 to theorems of the file `execution` without one of their assumptions, by theorem. A test compares
them with the prover's."""

OWN_FORGOTTEN: Final[Script] = (
    (SENT, 0, (2,)), (SENT, 1, (0,)), (DELIVERED, 0, 1), (SENT, 0, (1,)), (DELIVERED, 1, 2), (SENT, 1, (2,)),
    (DELIVERED, 2, 3),
)  # fmt: skip
LEARNED_FORGOTTEN: Final[Script] = (
    (SENT, 1, (2,)), (SENT, 1, (0,)), (SENT, 2, (0,)), (DELIVERED, 0, 1), (DELIVERED, 0, 2), (SENT, 0, (2,)),
    (DELIVERED, 2, 3),
)  # fmt: skip
HEARD_FORGOTTEN: Final[Script] = (
    (SENT, 2, (0, 1)), (SENT, 1, (0, 2)), (DELIVERED, 0, 0), (DELIVERED, 0, 1), (SENT, 0, (1, 2)), (DELIVERED, 1, 2),
)  # fmt: skip

MERGES: Final = (OWN_FORGOTTEN, LEARNED_FORGOTTEN, HEARD_FORGOTTEN)
"""What a process knows, a message arrives that does not have it, and the process sends where it is needed: of a merge
that keeps only what the incoming side has, it is forgotten. What the process has sent itself; what it learned from
another one; what it delivered of a broadcast."""

BUILT_IN: Final = Corpus((*COUNTERMODELS.values(), ROUND_TRIP, *MERGES))
"""The start of every guided run, with or without a protocol. The round trip is a triangle with the sender itself."""


def guided(corpus: Corpus) -> Scheduler:
    """The scheduler that starts from the corpus, which is not empty."""

    def run(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
        whole = len(corpus.scripts) + len(corpus.schedules)
        chosen = int(random.random() * whole)
        if chosen < len(corpus.scripts):
            script = _bent(random, settings, corpus.scripts[chosen])
            yield from followed(random, settings, network, script)
        else:
            yield from _varied(random, settings, corpus, corpus.schedules[chosen - len(corpus.scripts)])
        yield from follow_up(random, settings, network, operations)

    return run


def portfolio(corpus: Corpus = BUILT_IN) -> Mapping[str, Scheduler]:
    """All schedulers by name, the guided one with the corpus among them."""
    return {**SCHEDULERS, NAME: guided(corpus + BUILT_IN)}


# --- scripts -----------------------------------------------------------------------------------


def _bent(random: Random, settings: Settings, script: Script) -> Script:
    """The script with other processes, and sometimes one step less or twice, or another message before it."""
    count = settings.processes
    names = list(range(count))
    random.shuffle(names)

    def name(process: int) -> int:
        return names[process % count]

    renamed: list[tuple[str, int, Any]] = [
        (kind, name(process), tuple(map(name, other)) if kind == SENT else other) for kind, process, other in script
    ]
    if random.random() < 0.3:
        place = int(random.random() * len(renamed))
        sends = [step for step in renamed if step[0] == SENT]
        if renamed[place][0] == DELIVERED:
            del renamed[place]
        elif sends:
            # One more send at the beginning raises the numbers of all others.
            renamed = [(kind, at, other + 1 if kind == DELIVERED else other) for kind, at, other in renamed]
            renamed.insert(0, sends[int(random.random() * len(sends))])
    return tuple(renamed)


def followed(random: Random, settings: Settings, network: Network, script: Script) -> Iterator[Operation]:
    """Brings the script about, as far as the system and the settings allow."""
    sent = [0] * settings.processes
    names: list[str] = []
    for kind, process, other in script:
        process %= settings.processes
        if kind == SENT:
            destination = _destination(settings, other)
            possible = bool(settings.destinations(process, destination))
            sent[process] += possible
            names.append(f"m{process}.{sent[process]}" if possible else "")
            yield Send(process, destination)
            continue
        for _ in range(PATIENCE):
            index = _flying(network, names[other], process)
            if index >= 0:
                yield Receive(*network.place(index))
                break
            flights = network.flights
            control = [at for at in network.receivable() if word(flights[at][2], "message") is None]
            if not control:
                break
            yield Receive(*network.place(control[int(random.random() * len(control))]))


def _destination(settings: Settings, destinations: tuple[int, ...]) -> Any:
    inside = [one % settings.processes for one in destinations]
    match settings.delivery:
        case "unicast":
            return inside[0] if inside else ()
        case "multicast":
            return tuple(sorted(set(inside)))
        case "broadcast":
            return None


def _flying(network: Network, message: str, process: int) -> int:
    """The index of the packet with the message to the process, if it may arrive; -1 otherwise."""
    for index in network.receivable():
        _, destination, packet, _ = network.flights[index]
        if destination == process and word(packet, "message") == message:
            return index
    return -1


# --- schedules ---------------------------------------------------------------------------------


def _varied(random: Random, settings: Settings, corpus: Corpus, schedule: Schedule) -> Iterator[Operation]:
    """A part of the schedule, spliced, shuffled a little, or as it is. Operations that are impossible are skipped."""
    operations = list(schedule)
    chance = random.random()
    if chance < 0.35:
        del operations[int(random.random() * (len(operations) + 1)) :]
    elif chance < 0.6 and corpus.schedules:
        other = corpus.schedules[int(random.random() * len(corpus.schedules))]
        cut = int(random.random() * (len(operations) + 1))
        operations = [*operations[:cut], *other[int(random.random() * (len(other) + 1)) :]]
    elif chance < 0.85 and len(operations) > 1:
        place = int(random.random() * (len(operations) - 1))
        operations[place], operations[place + 1] = operations[place + 1], operations[place]
    for operation in operations:
        if isinstance(operation, Send) and random.random() < 0.1:
            yield React(operation.process, operation.destination)
        elif random.random() >= 0.05:
            yield operation


@dataclass(frozen=True, slots=True)
class Grown:
    """A corpus and its coverage of the protocol."""

    corpus: Corpus
    coverage: ProtocolCoverage


def grown(
    protocol: ir.Protocol, settings: Settings, *, cases: int = GROWN_CASES, operations: int = 16, seed: int = 0,
    start: Corpus = BUILT_IN,
) -> Grown:  # fmt: skip
    """Runs the protocol itself, and keeps every schedule that reaches something new. The seed fixes the result."""
    replay = CoveredReplay(protocol, settings.processes)
    system = ProtocolSystem(protocol)
    coverage = ProtocolCoverage(replay.features)
    kept: list[Schedule] = []
    random = Random(seed)
    others = list(SCHEDULERS.values())
    for number in range(cases):
        if kept and random.random() < 0.7:
            scheduler = guided(Corpus(start.scripts, tuple(kept)))
        else:
            scheduler = others[number % len(others)]
        outcome = run_scheduled(system, scheduler, random.getrandbits(32), operations, settings, replay)
        if coverage.add(replay.reached(outcome)) and len(kept) < MOST_SCHEDULES:
            kept.append(outcome.operations)
    return Grown(Corpus(start.scripts, tuple(kept)), coverage)


# --- JSON --------------------------------------------------------------------------------------


def _plain(other: Any) -> Any:
    return list(other) if isinstance(other, tuple) else other


def _script(value: object) -> Script:
    if not isinstance(value, list) or not value:
        raise ScheduleError("a script is a list of steps")
    steps: list[tuple[str, int, Any]] = []
    sends = 0
    for step in value:
        match step:
            case ["send", int(process), list(destinations)] if process >= 0 and all(
                type(one) is int and one >= 0 for one in destinations
            ):
                steps.append((SENT, process, tuple(destinations)))
                sends += 1
            case ["deliver", int(process), int(which)] if process >= 0 and 0 <= which < sends:
                steps.append((DELIVERED, process, which))
            case _:
                raise ScheduleError(f"{step!r:.80} is no step of a script")
    return tuple(steps)
