"""Figures of a run, and of runs with several seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from thence.conformance.evaluation.simulation import Run

_STUDENT: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145)
"""97.5 % quantiles of Student's t distribution with 1, 2, ... degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run. Times in seconds, of the messages that were delivered.

    Attributes:
        messages, undelivered: that the applications wanted to send, and of these the ones that never came.
        median, p99, mean: from the application's wish to the delivery.
        at_sender, in_flight, at_receiver: mean parts of it.
        job_start: mean time of the delivery of messages that start a job, since the run began; 0 without jobs.
        execution: until the last packet has arrived.
        throughput: deliveries per second until the last one.
        bytes_per_message: metadata and control packets, without headers and content.
        control_per_message: control packets.
        packets_per_message: all packets.
        state, buffered: largest sampled state of a process, in identifiers, and the messages in it.
    """

    messages: int
    undelivered: int
    median: float
    p99: float
    mean: float
    at_sender: float
    in_flight: float
    at_receiver: float
    job_start: float
    execution: float
    throughput: float
    bytes_per_message: float
    control_per_message: float
    packets_per_message: float
    state: int
    buffered: int

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def figures(run: Run) -> Figures | None:
    """The figures of a run; None, if nothing was delivered."""
    delays, sender, flight, receiver, jobs = [], [], [], [], []
    last = 0.0
    for life in run.lives:
        if life.delivered is None:
            continue
        assert life.posted is not None and life.arrived is not None
        delays.append(life.delivered - life.due)
        sender.append(life.posted - life.due)
        flight.append(life.arrived - life.posted)
        receiver.append(life.delivered - life.arrived)
        last = max(last, life.delivered)
        if life.copy.job:
            jobs.append(life.delivered)
    if not delays:
        return None
    ordered = sorted(delays)
    count = len(delays)
    return Figures(
        messages=len(run.lives),
        undelivered=run.undelivered,
        median=statistics.median(ordered),
        p99=percentile(ordered, 0.99),
        mean=statistics.fmean(delays),
        at_sender=statistics.fmean(sender),
        in_flight=statistics.fmean(flight),
        at_receiver=statistics.fmean(receiver),
        job_start=statistics.fmean(jobs) if jobs else 0.0,
        execution=run.end,
        throughput=count / last if last else 0.0,
        bytes_per_message=(run.data_bytes + run.control_bytes) / len(run.lives),
        control_per_message=run.control_packets / len(run.lives),
        packets_per_message=run.packets.total() / len(run.lives),
        state=run.largest_state,
        buffered=run.largest_buffer,
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value of a sorted sequence that is at least as large as this share of them."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over repetitions, and half of its 95 % confidence interval (Student's t; 0 for a single repetition)."""

    mean: float
    half: float

    def __str__(self) -> str:
        text = _rounded(self.half, 1)
        return _rounded(self.mean, 3) + (f" ±{text}" if text.strip("0.") else "")


def _rounded(value: float, digits: int) -> str:
    """At least so many significant digits, never an exponent."""
    before = math.floor(math.log10(abs(value))) + 1 if value else 1
    return f"{value:,.{min(9, max(0, digits - before))}f}"


def interval(values: Sequence[float]) -> Interval:
    """The mean of independent repetitions. Raises: statistics.StatisticsError, if there is none."""
    mean = statistics.fmean(values)
    if len(values) == 1:
        return Interval(mean, 0.0)
    quantile = _STUDENT[len(values) - 2] if len(values) - 2 < len(_STUDENT) else 2.0
    return Interval(mean, quantile * statistics.stdev(values) / math.sqrt(len(values)))
