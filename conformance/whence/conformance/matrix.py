"""The assumption matrix: a system under each assumption about its channels and its application, and each kind of
delivery.

Implementations fail in different places, and their documentation rarely says which assumptions they make. A cell
drives the system under one assumption, and says what came of it. Beside each assumption stands what it is good for:
the hypothesis of a theorem, or the premise of a statement of the library, that it discharges.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, TypeAlias, get_args

from whence.conformance.campaign.tally import failure_bound
from whence.conformance.drive import Counterexample
from whence.conformance.findings import CaseOutcome, FindingKind
from whence.conformance.harness import run_case, run_scheduled
from whence.conformance.network import Network, Settings
from whence.conformance.replay import Replay
from whence.conformance.schedule import Operation, React, Schedule, Send
from whence.conformance.schedulers import SCHEDULERS, Scheduler
from whence.conformance.shrink import minimise
from whence.conformance.subject import MakeProcess
from whence.dsl import ir
from whence.impl.commands import Delivery

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called now and then with the name of the cell, the cases done and the cases planned."""

SHRINKS: Final = 400
"""Attempts at shortening the failure of a cell."""

_PROGRESS_EVERY: Final = 25


@dataclass(frozen=True, slots=True)
class Assumption:
    """One row of the matrix.

    Attributes:
        name: for the reader.
        allows: what the network and the application may do under it, as fields of `Settings`.
        reactive: whether applications send from inside the delivery of a message.
        discharges: the hypothesis that holds under it (`Discharge.text`), or what is given up.
        statement: where it is stated: `FILE: STATEMENT` of the library; "" where nothing there is about it.
    """

    name: str
    allows: tuple[tuple[str, Any], ...]
    reactive: bool
    discharges: str
    statement: str = ""


ASSUMPTIONS: Final = (
    Assumption(
        "FIFO channels",
        (("channels", "fifo"),),
        False,
        "fifo, for protocols that deliver a message when it arrives: what p receives from q comes in q's order",
        "execution: fifo_sps_causal",
    ),
    Assumption(
        "reordering",
        (("channels", "reordering"),),
        False,
        "nothing: fifo has to come from the protocol, without it causal does not follow from sps",
        "execution: sps_alone",
    ),
    Assumption(
        "reordering, reactive",
        (("channels", "reordering"),),
        True,
        "nothing more: a send from inside a delivery comes after it in happens-before (the rule `delivery` of hb)",
        "execution: fifo_csps_causal",
    ),
    Assumption(
        "FIFO channels, reactive",
        (("channels", "fifo"),),
        True,
        "fifo, with sends from inside a delivery, which come after it in happens-before",
        "execution: fifo_sps_causal",
    ),
    Assumption(
        "duplication",
        (("channels", "reordering"), ("duplication", True)),
        True,
        "gives up that a packet arrives once: at_most_once has to come from the protocol",
    ),
    Assumption(
        "loss",
        (("channels", "reordering"), ("loss", True)),
        True,
        "gives up that a packet arrives: delivered (liveness) has to come from retransmission",
    ),
    Assumption(
        "loss and duplication",
        (("channels", "reordering"), ("loss", True), ("duplication", True)),
        True,
        "gives up both",
    ),
    Assumption(
        "self-sends",
        (("channels", "reordering"), ("self_sends", True)),
        True,
        "gives up no_self_sends, which fifo and sps need for causal; fifo and csps do not",
        "execution: proposition_4_2_as_stated",
    ),
)
"""The rows, in the order in which they are printed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of one assumption and one kind of delivery.

    Attributes:
        assumption, delivery: which.
        settings: what network and application were allowed.
        claimed: whether the protocol says that it works under these assumptions; None without a protocol.
        replayed: whether the cases were also replayed in the protocol.
        cases, failures: how many ran, how many failed.
        schedulers: cases and failures of each.
        kinds: the kinds of finding, each with the number of cases that showed it.
        worst: a shortened failure of the gravest kind.
        not_applicable: why no case ran, or "".
        seconds: wall time.
    """

    assumption: Assumption
    delivery: Delivery
    settings: Settings | None
    claimed: bool | None = None
    replayed: bool = False
    cases: int = 0
    failures: int = 0
    schedulers: tuple[tuple[str, int, int], ...] = ()
    kinds: tuple[tuple[FindingKind, int], ...] = ()
    worst: Counterexample | None = None
    not_applicable: str = ""
    seconds: float = 0.0

    @property
    def bound(self) -> float | None:
        """The upper bound on the failure rate at 95 %; None of no cases."""
        return failure_bound(self.cases, self.failures) if self.cases else None


def claims(protocol: ir.Protocol, settings: Settings, default: Settings) -> bool:
    """Whether the protocol says that it works under these settings: they allow nothing that `default` does not."""
    network = protocol.network
    return (
        (settings.channels == "fifo" or network.reordering)
        and (not settings.duplication or network.duplicating)
        and (not settings.loss or network.lossy)
        and (not settings.self_sends or default.self_sends)
    )


def cells(
    make_process: MakeProcess,
    deliveries: Sequence[Delivery],
    protocol: ir.Protocol | None,
    default: Settings,
    *,
    replayed: bool,
    cases: int,
    operations: int,
    seed: int = 0,
    limit_s: float | None = None,
    progress: Progress | None = None,
    hopeless: Callable[[], str | None] = lambda: None,
) -> Iterator[Cell]:
    """The cells, row by row.

    Args:
        deliveries: the kinds that the system can be driven with; for the others, cells say so.
        protocol: what the system is to be, for what it claims.
        default: processes, and what a broadcast and a total order mean to the system.
        replayed: whether the cases that the protocol claims are replayed in it.
        hopeless: why the system cannot be driven any further, or None.
    """
    for assumption in ASSUMPTIONS:
        for delivery in get_args(Delivery):
            if delivery not in deliveries:
                reason = f"a {' or '.join(deliveries)} system"
                yield Cell(assumption, delivery, None, not_applicable=reason)
                continue
            # A broadcast goes to its sender or does not, whatever is assumed.
            own = {"self_sends": default.self_sends} if delivery == "broadcast" else {"self_sends": False}
            settings = replace(default, delivery=delivery, channels="reordering", duplication=False, loss=False, **own)
            settings = replace(settings, **dict(assumption.allows))
            if delivery == "broadcast" and assumption.name == "self-sends" and not default.self_sends:
                yield Cell(assumption, delivery, None, not_applicable="broadcasts go to all others")
                continue
            claimed = None if protocol is None else claims(protocol, settings, default)
            followed = protocol if replayed and claimed else None
            run = _Run(make_process, settings, followed, operations, limit_s)
            yield run.cell(assumption, claimed, cases, seed, progress, hopeless)


def without_reactions(scheduler: Scheduler) -> Scheduler:
    """The scheduler with plain sends in place of answers to deliveries."""

    def plain(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
        for operation in scheduler(random, settings, network, operations):
            yield Send(operation.process, operation.destination) if isinstance(operation, React) else operation

    return plain


class _Run:
    """The cases of one cell."""

    def __init__(
        self,
        make_process: MakeProcess,
        settings: Settings,
        protocol: ir.Protocol | None,
        operations: int,
        limit_s: float | None,
    ) -> None:
        self._make = make_process
        self._settings = settings
        self._replay = None if protocol is None else Replay(protocol, settings.processes)
        self._operations = operations
        self._limit_s = limit_s
        self._counts: dict[str, tuple[int, int]] = {}
        self._kinds: dict[FindingKind, int] = {}
        self._shortest: dict[FindingKind, CaseOutcome] = {}

    def cell(
        self,
        assumption: Assumption,
        claimed: bool | None,
        cases: int,
        seed: int,
        progress: Progress | None,
        hopeless: Callable[[], str | None],
    ) -> Cell:
        """Runs the cases, the schedulers in turn."""
        started = time.monotonic()
        name = f"{assumption.name}, {self._settings.delivery}"
        schedulers = {
            known: scheduler if assumption.reactive else without_reactions(scheduler)
            for known, scheduler in SCHEDULERS.items()
        }
        names = list(schedulers)
        for number in range(cases):
            if hopeless() is not None:
                break
            chosen = names[number % len(names)]
            self._count(chosen, run_scheduled(
                self._make, schedulers[chosen], seed + number, self._operations, self._settings, self._replay,
                limit_s=self._limit_s,
            ))  # fmt: skip
            if progress is not None and number % _PROGRESS_EVERY == 0:
                progress(name, number, cases)
        done = sum(count for count, _ in self._counts.values())
        return Cell(
            assumption, self._settings.delivery, self._settings, claimed, self._replay is not None, done,
            sum(failed for _, failed in self._counts.values()),
            tuple((known, count, failed) for known, (count, failed) in self._counts.items()),
            tuple(sorted(self._kinds.items(), key=lambda known: get_args(FindingKind).index(known[0]))),
            self._worst(), hopeless() or "", time.monotonic() - started,
        )  # fmt: skip

    def _count(self, scheduler: str, outcome: CaseOutcome) -> None:
        cases, failures = self._counts.get(scheduler, (0, 0))
        self._counts[scheduler] = (cases + 1, failures + bool(outcome.findings))
        for kind in outcome.kinds:
            self._kinds[kind] = self._kinds.get(kind, 0) + 1
            known = self._shortest.get(kind)
            if known is None or len(outcome.operations) < len(known.operations):
                self._shortest[kind] = outcome

    def _worst(self) -> Counterexample | None:
        """A failure of the gravest kind, shortened."""
        kind = next((kind for kind in get_args(FindingKind) if kind in self._shortest), None)
        if kind is None:
            return None
        found = self._shortest[kind]

        def attempt(schedule: Schedule) -> Schedule | None:
            outcome = self._again(schedule)
            return outcome.operations if kind in outcome.kinds else None

        operations = minimise(found.operations, attempt, attempts=SHRINKS)
        outcome = self._again(operations)
        if kind not in outcome.kinds:
            return Counterexample((kind,), found.operations, found, False)
        return Counterexample((kind,), operations, outcome, True)

    def _again(self, schedule: Schedule) -> CaseOutcome:
        return run_case(self._make, schedule, self._settings, self._replay, limit_s=self._limit_s)
