"""Workloads: who sends when to whom, and which deliveries start a long job."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class ToAnybody:
    """Each message goes to another process, all equally likely."""


@dataclass(frozen=True, slots=True)
class HotSpot:
    """Most messages go to a few processes, the first ones.

    Attributes:
        share: of the processes, that are hot.
        probability: that a message goes to a hot process.
    """

    share: float
    probability: float = 0.8


@dataclass(frozen=True, slots=True)
class Chain:
    """Each process sends to the next one, the last to the first."""


@dataclass(frozen=True, slots=True)
class Near:
    """Each process talks to so many others, always the same, chosen at random."""

    others: int


Target: TypeAlias = ToAnybody | HotSpot | Chain | Near


@dataclass(frozen=True, slots=True)
class Jobs:
    """Long-running work that the delivery of some messages starts at the receiver.

    Attributes:
        share: of the messages that start a job.
        seconds: mean duration.
        spread: standard deviation of the normal distribution of the duration, in seconds; negative samples count as 0.
        blocks: whether the process handles nothing else meanwhile.
    """

    share: float
    seconds: float
    spread: float = 0.0
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Workload:
    """What the applications do.

    Attributes:
        processes: their number.
        messages: sends of each process; answers come on top.
        interval: mean time between two sends of a process, in seconds.
        pace: `regular`: sends come after just that time; `random`: exponentially distributed (a Poisson process).
        target: to whom.
        answers: the share of messages that the receiver answers at once, to the sender. Answers are not answered.
        jobs: long-running work.
        payload_bytes: of an application message.
    """

    processes: int
    messages: int
    interval: float
    pace: Literal["regular", "random"] = "random"
    target: Target = ToAnybody()
    answers: float = 0.0
    jobs: Jobs | None = None
    payload_bytes: int = 100


@dataclass(frozen=True, slots=True)
class Planned:
    """One application message, before the run.

    Attributes:
        number: unique in the run; it stands for the content.
        due: when the application wants to send it, in seconds. Of an answer: 0, it is sent when it is called for.
        job: seconds of work that its delivery starts.
        answer: the message that its delivery makes the receiver send.
    """

    number: int
    sender: int
    destination: int
    due: float
    job: float
    answer: Planned | None = None


def plan(workload: Workload, seed: int) -> tuple[Planned, ...]:
    """The sends of a run, in the order of their times. The same for every system.

    Raises:
        ValueError: there are fewer than two processes.
    """
    if workload.processes < 2:
        raise ValueError(f"a workload takes two processes or more, not {workload.processes}")
    random = Random(seed)
    friends = _friends(workload, random)
    sends: list[tuple[float, int, int]] = []
    for sender in range(workload.processes):
        time = random.uniform(0, workload.interval)
        for _ in range(workload.messages):
            sends.append((time, sender, _destination(workload, sender, friends, random)))
            time += workload.interval if workload.pace == "regular" else random.expovariate(1 / workload.interval)
    planned, number = [], 0
    for due, sender, destination in sorted(sends):
        answer = None
        if random.random() < workload.answers:
            number += 1
            answer = Planned(number, destination, sender, 0.0, _job(workload.jobs, random))
        number += 1
        planned.append(Planned(number, sender, destination, due, _job(workload.jobs, random), answer))
    return tuple(planned)


def _friends(workload: Workload, random: Random) -> tuple[tuple[int, ...], ...]:
    match workload.target:
        case Near(others):
            everybody = range(workload.processes)
            count = min(others, workload.processes - 1)
            return tuple(tuple(random.sample([p for p in everybody if p != me], count)) for me in everybody)
        case ToAnybody() | HotSpot() | Chain():
            return ()
        case _:
            assert_never(workload.target)


def _destination(workload: Workload, sender: int, friends: tuple[tuple[int, ...], ...], random: Random) -> int:
    match workload.target:
        case ToAnybody():
            return _other(range(workload.processes), sender, random)
        case HotSpot(share, probability):
            hot = range(max(1, round(share * workload.processes)))
            chosen = hot if random.random() < probability else range(len(hot), workload.processes)
            if not any(process != sender for process in chosen):
                chosen = range(workload.processes)
            return _other(chosen, sender, random)
        case Chain():
            return (sender + 1) % workload.processes
        case Near():
            return random.choice(friends[sender])
        case _:
            assert_never(workload.target)


def _other(chosen: range, sender: int, random: Random) -> int:
    return random.choice([process for process in chosen if process != sender])


def _job(jobs: Jobs | None, random: Random) -> float:
    if jobs is None or random.random() >= jobs.share:
        return 0.0
    return max(0.0, random.gauss(jobs.seconds, jobs.spread))
