"""The assumption matrix: a system under each assumption about its channels and its application, and each kind of
delivery.

Implementations fail in different places, and their documentation rarely says which assumptions they make. A cell runs
the system under one assumption and has the outcome. Beside each assumption stands its use: the hypothesis of a theorem,
or the premise of a statement of the library, that it discharges.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, TypeAlias, get_args

from thence.conformance.cases.network import Claim, Network, Settings
from thence.conformance.cases.schedule import Operation, React, Send
from thence.conformance.cases.schedulers import SCHEDULERS, Scheduler
from thence.conformance.conform.outcomes import Reach, by_gravity
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.stopping import PROGRESS_EVERY, PROGRESS_EVERY_S, Stopping
from thence.conformance.conform.trials import Opposite, Trials
from thence.conformance.harness.guide import DIRECTED
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import CaseOutcome, FindingKind
from thence.conformance.systems.foreign import SystemRaised
from thence.conformance.systems.subject import MakeProcess, Subject
from thence.conformance.systems.system import ExternalSystem
from thence.dsl import ir
from thence.impl.commands import Delivery

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called now and then with the name of the cell, the cases done and the cases planned."""

SHRINKS: Final = 400
"""Attempts at shortening the failure of a cell."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One row of the matrix.

    Attributes:
        name: for the reader.
        allows: the abilities of network and application under it, as fields of `Settings`.
        reactive: whether applications send from inside the delivery of a message.
        discharges: the hypothesis that holds under it, or that it gives up.
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
    """The outcome of one assumption and one kind of delivery.

    Attributes:
        settings: the abilities of network and application.
        claimed: whether the protocol says that it works under these assumptions; None without a protocol.
        replayed: whether the cases were also replayed in the protocol.
        whole: failures, kinds of finding and coverage of all cases.
        reaches: the same for each scheduler.
        arrivals, withheld: messages that arrived, and those of them that were not delivered at once although nothing
            was missing.
        slowest: the case with the longest delay of such a message, or None.
        worst: a shortened failure of the gravest kind.
        not_applicable: why no case ran, or why not all did, or "".
        vacuous: why the cases say nothing about a system that passes them, or "".
        undecided: replays with too many possible states.
        refuting: for each claim, the number of cases that refute it, whether it is made or not.
        seconds: wall time.
    """

    assumption: Assumption
    delivery: Delivery
    settings: Settings | None
    claimed: bool | None = None
    replayed: bool = False
    whole: Reach | None = None
    reaches: tuple[Reach, ...] = ()
    arrivals: int = 0
    withheld: int = 0
    slowest: CaseOutcome | None = None
    worst: Counterexample | None = None
    not_applicable: str = ""
    vacuous: str = ""
    seconds: float = 0.0
    undecided: int = 0
    refuting: Mapping[Claim, int] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """Number of cases."""
        return 0 if self.whole is None else self.whole.cases

    @property
    def failures(self) -> int:
        """Number of cases that failed."""
        return 0 if self.whole is None else self.whole.failures

    @property
    def kinds(self) -> tuple[tuple[FindingKind, int], ...]:
        """The kinds of finding, the gravest first, each with the number of cases that showed it."""
        return () if self.whole is None else tuple(by_gravity(self.whole.kinds).items())

    @property
    def bound(self) -> float | None:
        """The upper bound on the failure rate at 95 %; None of no cases."""
        return self.whole.bound if self.whole is not None and self.whole.cases else None


@dataclass(frozen=True, slots=True)
class MatrixSubject:
    """A system as the matrix runs it.

    Attributes:
        make_process: makes its processes.
        deliveries: the kinds of delivery that it has; cells of other kinds say so.
        default: the number of processes, and the meaning of a broadcast and a total order to the system.
        protocol: the protocol that makes its claims, if it has one.
        replayed: the cases that the protocol claims are replayed in it.
    """

    make_process: MakeProcess
    deliveries: Sequence[Delivery]
    default: Settings
    protocol: ir.Protocol | None = None
    replayed: bool = False

    def not_applicable(self, assumption: Assumption, delivery: Delivery) -> str:
        """Why the system has no such cell; empty where it has one."""
        if delivery not in self.deliveries:
            return f"a {' or '.join(self.deliveries)} system"
        if delivery == "broadcast" and assumption.name == "self-sends" and not self.default.self_sends:
            return "broadcasts go to all others"
        return ""

    def settings(self, assumption: Assumption, delivery: Delivery) -> Settings:
        """The settings of a cell. A broadcast goes to its sender or does not, under any assumption."""
        own = self.default.self_sends and delivery == "broadcast"
        network = replace(self.default, channels="reordering", duplication=False, loss=False)
        plain = replace(network, delivery=delivery, self_sends=own)
        return replace(plain, **dict(assumption.allows))

    def claims(self, settings: Settings) -> bool | None:
        """Whether the protocol says that it works under these settings: they allow nothing beyond its network and
        `default`. Without a protocol: False where channels reorder and the class says that it takes FIFO channels,
        else None."""
        if self.protocol is None:
            return False if self.default.channels == "fifo" and settings.channels != "fifo" else None
        network = self.protocol.network
        return (
            (settings.channels == "fifo" or network.reordering)
            and (not settings.duplication or network.duplicating)
            and (not settings.loss or network.lossy)
            and (not settings.self_sends or self.default.self_sends)
        )

    def refusal(self, settings: Settings) -> str:
        """Why a foreign system refuses to begin under these settings; empty where it does not."""
        if isinstance(self.make_process, ExternalSystem):
            try:
                self.make_process.introduce(settings)
            except SystemRaised as refused:
                return str(refused)
        return ""

    def opposite(self, settings: Settings) -> Opposite | None:
        """The protocol that the cases of a cell are replayed in, if they are."""
        protocol = self.protocol if self.replayed else None
        return opposite(Subject("the system", self.make_process, None), settings, protocol)


def cells(
    system: MatrixSubject, sampling: Sampling, progress: Progress | None = None, budget_s: float | None = None
) -> Iterator[Cell]:
    """The cells, row by row; each has its share of the time budget.

    Ctrl-C and SIGTERM go on to the caller as KeyboardInterrupt, after the cell as far as it had come.
    """
    whole, left = Stopping(budget_s), len(ASSUMPTIONS) * len(get_args(Delivery))
    for assumption in ASSUMPTIONS:
        for delivery in get_args(Delivery):
            share_s = None if whole.left_s is None else max(0.0, whole.left_s) / left
            left -= 1
            reason = system.not_applicable(assumption, delivery)
            if reason:
                yield Cell(assumption, delivery, None, not_applicable=reason)
                continue
            settings = system.settings(assumption, delivery)
            claimed = system.claims(settings)
            if refused := system.refusal(settings):
                yield Cell(assumption, delivery, settings, claimed, not_applicable=f"refused: {refused}")
                continue
            followed = system.opposite(settings) if claimed else None
            trials = Trials(system.make_process, followed, settings, sampling, Stopping(share_s))
            yield _cell(trials, assumption, claimed, followed is not None, progress)
            if not trials.complete:
                raise KeyboardInterrupt


def without_reactions(scheduler: Scheduler) -> Scheduler:
    """The scheduler with plain sends in place of answers to deliveries."""

    def plain(random: Random, settings: Settings, network: Network, operations: int) -> Iterator[Operation]:
        for operation in scheduler(random, settings, network, operations):
            yield Send(operation.process, operation.destination) if isinstance(operation, React) else operation

    return plain


def _cell(
    trials: Trials,
    assumption: Assumption,
    claimed: bool | None,
    replayed: bool,
    progress: Progress | None,
) -> Cell:
    """Runs the cases of a cell, and shortens its gravest failure."""
    started = time.monotonic()
    with trials.stopping.listening():
        try:
            _run(trials, assumption, progress)
            trials.last_words()
        except KeyboardInterrupt:
            trials.complete = False
        shown = trials.worst(SHRINKS)
    stopped = trials.hopeless() or (trials.no_time if trials.outcomes.cases < trials.sampling.cases else "")
    return Cell(
        assumption, trials.settings.delivery, trials.settings, claimed, replayed, trials.outcomes.whole,
        tuple(trials.outcomes.reaches.values()), trials.outcomes.arrivals, trials.outcomes.withheld,
        trials.outcomes.slowest, shown, stopped, trials.outcomes.whole.vacuous, time.monotonic() - started,
        trials.undecided, trials.outcomes.refuting,
    )  # fmt: skip


def _run(trials: Trials, assumption: Assumption, progress: Progress | None) -> None:
    """The cases of a cell: the known counterexamples first, then the schedulers in turn."""
    cases, seed = trials.sampling.cases, trials.sampling.seed
    name = f"{assumption.name}, {trials.settings.delivery}"
    names = (*SCHEDULERS, GUIDED)
    directed = trials.guide.directed[:cases]
    told_s = time.monotonic()
    for number in range(cases):
        if trials.hopeless() or trials.no_time:
            break
        if number < len(directed):
            chosen, scheduler = DIRECTED, directed[number]
        else:
            chosen = names[number % len(names)]
            scheduler = trials.guide.scheduler if chosen == GUIDED else SCHEDULERS[chosen]
        trials.run(chosen, scheduler if assumption.reactive else without_reactions(scheduler), seed + number)
        now_s = time.monotonic()
        if progress is not None and (number % PROGRESS_EVERY == 0 or now_s - told_s > PROGRESS_EVERY_S):
            progress(name, number, cases)
            told_s = now_s
