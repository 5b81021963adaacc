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

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import Operation, React, Send
from thence.conformance.cases.schedulers import SCHEDULERS, Scheduler
from thence.conformance.conform.conform import LIMIT_S
from thence.conformance.conform.outcomes import Reach, by_gravity
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.guide import DIRECTED
from thence.conformance.harness.guided import BUILT_IN, Corpus
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import CaseOutcome, FindingKind
from thence.conformance.systems.subject import MakeProcess
from thence.dsl import ir
from thence.impl.commands import Delivery

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
        whole: what came of all cases: how many failed, the kinds of finding, what was reached.
        reaches: the same for each scheduler.
        arrivals, withheld: of the messages that arrived, those not delivered at once though nothing was missing.
        slowest: the case with the longest delay of such a message, or None.
        worst: a shortened failure of the gravest kind.
        not_applicable: why no case ran, or why not all did, or "".
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
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        """How many ran."""
        return 0 if self.whole is None else self.whole.cases

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return 0 if self.whole is None else self.whole.failures

    @property
    def kinds(self) -> tuple[tuple[FindingKind, int], ...]:
        """The kinds of finding, the gravest first, each with the number of cases that showed it."""
        return () if self.whole is None else tuple(by_gravity(self.whole.kinds).items())

    @property
    def bound(self) -> float | None:
        """The upper bound on the failure rate at 95 %; None of no cases."""
        return self.whole.bound if self.whole is not None and self.whole.cases else None


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
    reacts: bool = False,
    cases: int,
    operations: int,
    seed: int = 0,
    known: Corpus = BUILT_IN,
    limit_s: float = LIMIT_S,
    progress: Progress | None = None,
) -> Iterator[Cell]:
    """The cells, row by row. Ctrl-C goes on to the caller, after the cell as far as it had come.

    Args:
        deliveries: the kinds that the system can be driven with; for the others, cells say so.
        protocol: what the system is to be, for what it claims.
        default: processes, and what a broadcast and a total order mean to the system.
        replayed: whether the cases that the protocol claims are replayed in it.
        reacts: whether the applications can answer from inside a delivery, where no replay can follow.
        known: counterexamples that every cell follows first.
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
            followed = protocol if replayed and claimed and not (reacts and assumption.reactive) else None
            trials = Trials(make_process, followed, settings, operations, known, limit_s)
            yield _cell(trials, assumption, claimed, followed is not None, cases, seed, progress)
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
    cases: int,
    seed: int,
    progress: Progress | None,
) -> Cell:
    """Runs the cases of a cell: what is known to matter first, then the schedulers in turn."""
    started = time.monotonic()
    name = f"{assumption.name}, {trials.settings.delivery}"
    names = (*SCHEDULERS, GUIDED)
    directed = trials.guide.directed[:cases]
    try:
        for number in range(cases):
            if trials.hopeless():
                break
            if number < len(directed):
                chosen, scheduler = DIRECTED, directed[number]
            else:
                chosen = names[number % len(names)]
                scheduler = trials.guide.scheduler if chosen == GUIDED else SCHEDULERS[chosen]
            trials.run(chosen, scheduler if assumption.reactive else without_reactions(scheduler), seed + number)
            if progress is not None and number % _PROGRESS_EVERY == 0:
                progress(name, number, cases)
    except KeyboardInterrupt:
        trials.complete = False
    shown = trials.worst(SHRINKS)
    return Cell(
        assumption, trials.settings.delivery, trials.settings, claimed, replayed, trials.outcomes.whole,
        tuple(trials.outcomes.reaches.values()), trials.outcomes.arrivals, trials.outcomes.withheld,
        trials.outcomes.slowest, shown, trials.hopeless(), time.monotonic() - started,
    )  # fmt: skip
