"""The parameters of a campaign: a runner and a range of seeds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from typing import Any

from thence.spec.user_error import UserError

LAST_SEED = 2**63 - 1
"""Seeds are stored as signed 64-bit numbers."""

LARGEST_BATCH = 100_000
"""A batch passes through the driver's memory, with the operations of its failing cases."""

MOST_BATCHES = 100_000
"""A batch is a file."""

LARGEST_CASE_LIMIT_S = 86_400.0

RUNNER_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class CampaignError(UserError):
    """A campaign that cannot be started, resumed or read; the message has advice."""


@dataclass(frozen=True, slots=True)
class CampaignParameters:
    """The parameters of a campaign.

    The first four fix every case, and with it the digest; the others only divide the work.

    Attributes:
        runner: import path `module:factory`; `factory(params)` returns the case function.
        params: the argument of the factory, JSON values.
        first_seed: the seeds are `first_seed` up to, without, `first_seed + cases`.
        cases: their number.
        batch: seeds of a batch. One file holds a batch, and an interruption loses one batch at most.
        partitions: Spark tasks a batch; 0 leaves it to the number of cores.
        master: the Spark master; `local[*]` is embedded.
        case_limit_s: seconds after which a case is given up and counted as an error.
        py_files: files (.py, .zip, .egg) that are sent to the workers, and put on their import path.
        archives: archives that are sent to the workers and unpacked there, as `spark.archives` names them.

    Raises:
        CampaignError: a value is out of range or of the wrong type.
    """

    runner: str
    params: Mapping[str, Any] = field(default_factory=dict)
    first_seed: int = 0
    cases: int = 1_000
    batch: int = 2_000
    partitions: int = 0
    master: str = "local[*]"
    case_limit_s: float = 60.0
    py_files: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.runner, str) or not RUNNER_NAME.fullmatch(self.runner):
            raise CampaignError(f"the runner is named module:factory, not {self.runner!r}")
        if not isinstance(self.master, str) or not self.master.strip():
            raise CampaignError("the Spark master is empty; the embedded one is local[*]")
        _check_range("first_seed", self.first_seed, 0, LAST_SEED)
        _check_range("cases", self.cases, 1, LAST_SEED - self.first_seed + 1)
        _check_range("batch", self.batch, 1, LARGEST_BATCH)
        if self.cases > MOST_BATCHES * self.batch:
            raise CampaignError(
                f"{self.cases:,} cases in batches of {self.batch:,} are more than {MOST_BATCHES:,} batches: "
                f"take larger ones, of up to {LARGEST_BATCH:,}, or several campaigns"
            )
        _check_range("partitions", self.partitions, 0, 100_000)
        if not isinstance(self.case_limit_s, int | float) or not 0 < self.case_limit_s <= LARGEST_CASE_LIMIT_S:
            raise CampaignError(f"case_limit_s is {self.case_limit_s!r}: it goes from 0 to {LARGEST_CASE_LIMIT_S:g}")
        try:
            plain = json.loads(canonical_json(self.params))
        except (TypeError, ValueError) as error:
            raise CampaignError(f"the runner's parameters are not JSON: {error}") from error
        if plain != self.params:
            raise CampaignError("the runner's parameters are not JSON: they change when written and read back")

    @property
    def end_seed(self) -> int:
        """The first seed after the campaign."""
        return self.first_seed + self.cases

    def batches(self) -> list[range]:
        """The seeds of each batch, in order. Every seed is in exactly one."""
        starts = range(self.first_seed, self.end_seed, self.batch)
        return [range(first, min(first + self.batch, self.end_seed)) for first in starts]

    def identity(self) -> str:
        """A hash of the parameters that fix the cases: campaigns of one identity have one digest."""
        deciding = [self.runner, dict(self.params), self.first_seed, self.cases]
        return blake2b(canonical_json(deciding).encode(), digest_size=16).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """All parameters as JSON values."""
        files = {"py_files": list(self.py_files), "archives": list(self.archives)}
        return {**asdict(self), "params": dict(self.params), **files}

    @staticmethod
    def from_json(value: object) -> CampaignParameters:
        """Parameters as `to_json` wrote them.

        Raises:
            CampaignError: `value` is anything else.
        """
        names = {item.name for item in fields(CampaignParameters)}
        if not isinstance(value, dict) or set(value) != names:
            raise CampaignError(f"the parameters of a campaign are {', '.join(sorted(names))}")
        files = {name: _texts(name, value[name]) for name in ("py_files", "archives")}
        return CampaignParameters(**{**value, **files})


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise CampaignError(f"{name} is a list of texts, not {value!r}")
    return tuple(value)


def canonical_json(value: object) -> str:
    """The one JSON text for `value`: sorted keys, no blanks, plain ASCII.

    Raises:
        TypeError, ValueError: `value` is not made of JSON values.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _check_range(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise CampaignError(f"{name} is {value!r}: it goes from {low:,} to {high:,}")
