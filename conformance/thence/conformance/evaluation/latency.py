"""Propagation delays of the simulated network, in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Constant:
    """Every packet takes the same time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each packet takes a time between two bounds, all equally likely. Packets overtake each other."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Each packet takes a time from a log-normal distribution: most are near the median, a few take far longer.

    Attributes:
        median: in seconds.
        sigma: standard deviation of the logarithm; 0.5 makes one packet of a hundred take 3.2 times the median.
    """

    median: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Regions:
    """Processes lie in regions, in turn: process p is in region p modulo their number.

    Attributes:
        between: `between[a][b]` is the median one-way time from region a to region b.
        sigma: as in `LogNormal`.
    """

    between: tuple[tuple[float, ...], ...]
    sigma: float = 0.05


Latency: TypeAlias = Constant | Uniform | LogNormal | Regions


def sample(latency: Latency, source: int, destination: int, random: Random) -> float:
    """The time of one packet, in seconds."""
    match latency:
        case Constant(seconds):
            return seconds
        case Uniform(least, most):
            return random.uniform(least, most)
        case LogNormal(median, sigma):
            return random.lognormvariate(math.log(median), sigma)
        case Regions(between, sigma):
            median = between[source % len(between)][destination % len(between)]
            return random.lognormvariate(math.log(median), sigma)
        case _:
            assert_never(latency)


def typical(latency: Latency, processes: int) -> float:
    """The median time of a packet between two different processes, in seconds."""
    match latency:
        case Constant(seconds):
            return seconds
        case Uniform(least, most):
            return (least + most) / 2
        case LogNormal(median, _):
            return median
        case Regions(between, _):
            pairs = [(a, b) for a in range(processes) for b in range(processes) if a != b]
            times = sorted(between[a % len(between)][b % len(between)] for a, b in pairs)
            return times[len(times) // 2]
        case _:
            assert_never(latency)
