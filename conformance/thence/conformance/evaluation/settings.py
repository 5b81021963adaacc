"""Settings of an evaluation as texts: durations, rates, latencies, targets, jobs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from thence.conformance.evaluation.latency import Constant, Latency, LogNormal, Regions, Uniform
from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.workload import (
    Chain,
    Everybody,
    Gossip,
    HotSpot,
    Jobs,
    Near,
    Target,
    ToAnybody,
    Topics,
    Workload,
)
from thence.spec.user_error import UserError

_UNITS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_RATES: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}

WIDE_AREA: Final = (
    (0.0005, 0.040, 0.075, 0.110),
    (0.040, 0.0005, 0.045, 0.075),
    (0.075, 0.045, 0.0005, 0.120),
    (0.110, 0.075, 0.120, 0.0005),
)
"""One-way times in seconds between four regions, of the order that cloud providers publish: America's two coasts,
Europe, Asia. They are an example, not a measurement."""


class SettingError(UserError):
    """A setting of an evaluation is not of the form that it takes."""


def duration(text: str) -> float:
    """Seconds: `250us`, `5ms`, `1.5s`. Raises: SettingError."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(us|ms|s)", text, re.ASCII)
    if found is None:
        raise SettingError(f"{text!r} is not a time: write 250us, 5ms or 1.5s")
    return float(found[1]) * _UNITS[found[2]]


def rate(text: str) -> float:
    """Bytes per second: `50k`, `10M`. Raises: SettingError."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([kMG]?)", text, re.ASCII)
    if found is None or not float(found[1]):
        raise SettingError(f"{text!r} is not a rate: write 50k or 10M, bytes per second")
    return float(found[1]) * _RATES[found[2]]


def latency(text: str) -> Latency:
    """`constant 5ms`, `uniform 1ms 10ms`, `lognormal 5ms 0.5` (median and sigma), or `wide-area`.

    Raises: SettingError.
    """
    match text.split():
        case ["constant", one]:
            return Constant(duration(one))
        case ["uniform", least, most] if duration(least) <= duration(most):
            return Uniform(duration(least), duration(most))
        case ["lognormal", median, sigma] if duration(median):
            return LogNormal(duration(median), _number(sigma, 10.0))
        case ["wide-area"]:
            return Regions(WIDE_AREA)
    raise SettingError(
        f"{text!r} is not a latency: write 'constant 5ms', 'uniform 1ms 10ms', 'lognormal 5ms 0.5' or 'wide-area'"
    )


def target(text: str) -> Target:
    """To whom messages go.

    `anybody`; `hot 0.1` (share of the processes), `hot 0.1 0.8` (and of the messages); `chain`; `near 3`; `everybody`;
    `topics 5 4` (topics, and subscribers of each); `gossip 2 3` (fan-out and rounds).

    Raises: SettingError.
    """
    match text.split():
        case ["anybody"]:
            return ToAnybody()
        case ["hot", share]:
            return HotSpot(_number(share, 1.0))
        case ["hot", share, probability]:
            return HotSpot(_number(share, 1.0), _number(probability, 1.0))
        case ["chain"]:
            return Chain()
        case ["near", others]:
            return Near(_count(others, 500))
        case ["everybody"]:
            return Everybody()
        case ["topics", topics, subscribers]:
            return Topics(_count(topics, 10_000), _count(subscribers, 500))
        case ["gossip", others, rounds]:
            return Gossip(_count(others, 10), _count(rounds, 4))
    raise SettingError(
        f"{text!r} is not a target: write 'anybody', 'hot 0.1 0.8', 'chain', 'near 3', 'everybody', 'topics 5 4' or "
        "'gossip 2 3'"
    )


def jobs(text: str, *, blocks: bool) -> Jobs:
    """`0.1 25ms` (share of the messages, mean duration), or `0.1 25ms 5ms` (and its spread). Raises: SettingError."""
    match text.split():
        case [share, mean]:
            return Jobs(_number(share, 1.0), duration(mean), blocks=blocks)
        case [share, mean, spread]:
            return Jobs(_number(share, 1.0), duration(mean), duration(spread), blocks)
    raise SettingError(f"{text!r} are not jobs: write '0.1 25ms', or '0.1 25ms 5ms'")


@dataclass(frozen=True, slots=True)
class Settings:
    """A workload, a network, and whether calls take the time that they take on this machine."""

    workload: Workload
    network: Network
    processing: bool = False

    @staticmethod
    def of(values: Mapping[str, object]) -> Settings:
        """From values by name, as the options of `thence evaluate` have them; what is missing has its default.

        Raises:
            SettingError: a name or a value is wrong.
        """
        for name in values:
            if name not in DEFAULTS:
                raise SettingError(f"{name!r} is no setting; there are {', '.join(DEFAULTS)}")
        given = _Values({**DEFAULTS, **values})
        between = duration(given.text("interval"))
        if not between:
            raise SettingError("interval is more than no time")
        jobs_given, bandwidth, timeout = given.text("jobs"), given.text("bandwidth"), given.text("timeout")
        workload = Workload(
            given.whole("processes", 2, 500),
            given.whole("messages", 1, 100_000),
            between,
            "regular" if given.flag("regular") else "random",
            target(given.text("target")),
            given.share("answers", 1.0),
            jobs(jobs_given, blocks=not given.flag("jobs_beside")) if jobs_given else None,
            given.whole("payload", 0, 1 << 20),
        )
        network = Network(
            latency(given.text("latency")),
            rate(bandwidth) if bandwidth else None,
            loss=given.share("loss", 0.9),
            timeout=duration(timeout) if timeout else None,
        )
        return Settings(workload, network, given.flag("processing"))


DEFAULTS: Final[Mapping[str, object]] = {
    "processes": 10, "messages": 50, "interval": "10ms", "regular": False, "target": "anybody", "answers": 0,
    "jobs": "", "jobs_beside": False, "payload": 100, "latency": "lognormal 5ms 0.5", "bandwidth": "", "loss": 0,
    "timeout": "", "processing": False,
}  # fmt: skip
"""The settings and their defaults. An empty text: no jobs, no limit of the bandwidth, two typical round trips."""


@dataclass(frozen=True, slots=True)
class _Values:
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        value = self.values[name]
        if not isinstance(value, str):
            raise SettingError(f"{name} is a text, not {value!r}")
        return value

    def whole(self, name: str, least: int, most: int) -> int:
        value = self.values[name]
        if type(value) is not int or not least <= value <= most:
            raise SettingError(f"{name} is a whole number from {least:,} to {most:,}, not {value!r}")
        return value

    def share(self, name: str, most: float) -> float:
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise SettingError(f"{name} is a number from 0 to {most:g}, not {value!r}")
        return float(value)

    def flag(self, name: str) -> bool:
        value = self.values[name]
        if not isinstance(value, bool):
            raise SettingError(f"{name} is true or false, not {value!r}")
        return value


def _count(text: str, most: int) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII) or int(text) > most:
        raise SettingError(f"{text!r} is not a whole number from 1 to {most:,}")
    return int(text)


def _number(text: str, most: float) -> float:
    if not re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text, re.ASCII) or float(text) > most:
        raise SettingError(f"{text!r} is not a number from 0 to {most:g}")
    return float(text)
