"""Workloads: who sends when to whom, and which deliveries start a long job."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Everybody:
    """Each message goes to all other processes: a broadcast."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Publish and subscribe: each message has a topic, drawn at random, and goes to all others that subscribe to it.

    Attributes:
        topics: their number.
        subscribers: of each topic, chosen at random.
    """

    topics: int
    subscribers: int


@dataclass(frozen=True, slots=True)
class Gossip:
    """Each message goes to so many others at random, and each of them passes it on in the same way, for some rounds.

    Attributes:
        others: the fan-out.
        rounds: how often a message is passed on, at least 1: the sender's own round counts.
    """

    others: int
    rounds: int


Target: TypeAlias = ToAnybody | HotSpot | Chain | Near | Everybody | Topics | Gossip


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
class Copy:
    """One destination of a message.

    Attributes:
        job: seconds of work that its delivery starts.
        then: the message that its delivery makes the receiver send.
    """

    destination: int
    job: float
    then: Planned | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One application message, before the run.

    Attributes:
        number: of its first copy; the others have the next ones. A copy's number is unique in the run.
        due: when the application wants to send it, in seconds. Of an answer: 0, it is sent when it is called for.
        copies: one for each destination. A system for single destinations sends each as a message of its own.
    """

    number: int
    sender: int
    due: float
    copies: tuple[Copy, ...]


def plan(workload: Workload, seed: int) -> tuple[Planned, ...]:
    """The sends of a run, in the order of their times. The same for every system.

    Raises:
        ValueError: there are fewer than two processes.
    """
    if workload.processes < 2:
        raise ValueError(f"a workload takes two processes or more, not {workload.processes}")
    return _Planner(workload, Random(seed)).planned()


@dataclass(slots=True)
class _Planner:
    workload: Workload
    random: Random
    groups: tuple[tuple[int, ...], ...] = field(init=False)
    """The friends of each process, or the subscribers of each topic."""
    number: int = 0

    def __post_init__(self) -> None:
        self.groups = self._groups()

    def planned(self) -> tuple[Planned, ...]:
        workload, random = self.workload, self.random
        sends: list[tuple[float, int, tuple[int, ...]]] = []
        for sender in range(workload.processes):
            time = random.uniform(0, workload.interval)
            for _ in range(workload.messages):
                sends.append((time, sender, self._destinations(sender)))
                time += workload.interval if workload.pace == "regular" else random.expovariate(1 / workload.interval)
        rounds = workload.target.rounds - 1 if isinstance(workload.target, Gossip) else 0
        return tuple(self._message(sender, due, destinations, rounds) for due, sender, destinations in sorted(sends))

    def _message(self, sender: int, due: float, destinations: tuple[int, ...], rounds: int) -> Planned:
        """A message that is passed on for so many rounds, and all that it leads to."""
        number = self.number + 1
        self.number += len(destinations)
        return Planned(number, sender, due, tuple(self._copy(sender, one, rounds) for one in destinations))

    def _copy(self, sender: int, destination: int, rounds: int) -> Copy:
        job = self._job()
        if rounds:
            passed_on = self._message(destination, 0.0, self._destinations(destination), rounds - 1)
            return Copy(destination, job, passed_on)
        if self.random.random() >= self.workload.answers:
            return Copy(destination, job)
        self.number += 1
        return Copy(destination, job, Planned(self.number, destination, 0.0, (Copy(sender, self._job()),)))

    def _groups(self) -> tuple[tuple[int, ...], ...]:
        everybody = range(self.workload.processes)
        match self.workload.target:
            case Near(others):
                return tuple(self._others(me, others) for me in everybody)
            case Topics(topics, subscribers):
                count = max(2, min(subscribers, len(everybody)))
                return tuple(tuple(self.random.sample(everybody, count)) for _ in range(topics))
            case ToAnybody() | HotSpot() | Chain() | Everybody() | Gossip():
                return ()
            case _:
                assert_never(self.workload.target)

    def _others(self, me: int, count: int) -> tuple[int, ...]:
        others = [process for process in range(self.workload.processes) if process != me]
        return tuple(self.random.sample(others, min(count, len(others))))

    def _destinations(self, sender: int) -> tuple[int, ...]:
        workload, random = self.workload, self.random
        everybody = range(workload.processes)
        match workload.target:
            case ToAnybody():
                return (_other(everybody, sender, random),)
            case HotSpot(share, probability):
                hot = range(max(1, round(share * workload.processes)))
                chosen = hot if random.random() < probability else range(len(hot), workload.processes)
                if not any(process != sender for process in chosen):
                    chosen = everybody
                return (_other(chosen, sender, random),)
            case Chain():
                return ((sender + 1) % workload.processes,)
            case Near():
                return (random.choice(self.groups[sender]),)
            case Everybody():
                return tuple(process for process in everybody if process != sender)
            case Topics():
                return tuple(sorted(process for process in random.choice(self.groups) if process != sender))
            case Gossip(others, _):
                return self._others(sender, others)
            case _:
                assert_never(workload.target)

    def _job(self) -> float:
        jobs = self.workload.jobs
        if jobs is None or self.random.random() >= jobs.share:
            return 0.0
        return max(0.0, self.random.gauss(jobs.seconds, jobs.spread))


def _other(chosen: range, sender: int, random: Random) -> int:
    return random.choice([process for process in chosen if process != sender])
