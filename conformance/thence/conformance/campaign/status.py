"""The progress of a campaign, and the verdict of its cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thence.conformance.campaign.parameters import CampaignParameters
from thence.conformance.campaign.store import Batch, Manifest, finished_batches, is_locked, read_manifest
from thence.conformance.cases.tally import Tally
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class Status:
    """A campaign at one moment.

    Attributes:
        directory: of the campaign.
        parameters: of the campaign.
        versions: of the programs that it began with.
        code: hash of the code that it began with.
        batches_done: finished batches; `tally` counts exactly their cases.
        batches_total: all batches.
        interrupted: whether the call that returned this was interrupted by the user.
        seconds: of the finished batches, without the start of Spark.
        facts: the runner's: hashes of its inputs, and the meaning of its bits.
        running: whether some process works on it.
    """

    directory: Path
    parameters: CampaignParameters
    versions: dict[str, str]
    code: str
    tally: Tally
    batches_done: int
    batches_total: int
    interrupted: bool = False
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)
    running: bool = False

    @property
    def subject(self) -> str:
        """The parameter `system`, the number of several systems, or the runner where there is neither."""
        params = self.parameters.params
        several = params.get("systems")
        if isinstance(several, list):
            return f"{len(several)} systems"
        return str(params.get("system", self.parameters.runner))

    @property
    def rate(self) -> float | None:
        """Cases a second, over the finished batches; None of none."""
        return self.tally.cases / self.seconds if self.seconds else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes at that rate; None where there is no rate yet."""
        return None if not self.rate else (self.parameters.cases - self.tally.cases) / self.rate

    @property
    def complete(self) -> bool:
        """Whether every seed has run."""
        return self.batches_done == self.batches_total

    @property
    def verdict(self) -> Verdict:
        """`refuted` by a finding, `tested` when complete without one; `unknown` where cases are missing or broke, or
        where all cases of a system say nothing."""
        if self.tally.failures:
            return Verdict.REFUTED
        return Verdict.UNKNOWN if self.unknown else Verdict.TESTED

    @property
    def unknown(self) -> str:
        """Why a campaign without a finding is no test; empty where it is one."""
        if not self.complete or self.tally.errors:
            missing = self.parameters.cases - self.tally.cases
            return f"{counted(missing, 'case')} not run, {self.tally.errors:,} ended without an outcome"
        silent = [name for name, count in self.tally.systems.items() if count.says_nothing]
        why = "nothing was delivered, no application had an input, or nothing that is claimed could be refuted"
        return f"no case says anything about {', '.join(silent)}: {why}" if silent else ""

    def to_json(self) -> dict[str, Any]:
        """JSON values: parameters, progress, counts."""
        return {
            "directory": str(self.directory),
            "parameters": self.parameters.to_json(),
            "identity": self.parameters.identity(),
            "versions": self.versions,
            "code": self.code,
            "complete": self.complete,
            "interrupted": self.interrupted,
            "running": self.running,
            "seconds": round(self.seconds, 3),
            "cases_per_second": None if self.rate is None else round(self.rate, 1),
            "seconds_left": None if self.seconds_left is None else round(self.seconds_left, 1),
            "inputs": dict(self.facts),
            "cases_total": self.parameters.cases,
            "batches_done": self.batches_done,
            "batches_total": self.batches_total,
            **self.tally.to_json(),
            "failure_rate_bound": self.tally.count.bound,
        }


def status(directory: Path) -> Status:
    """The status of the campaign in `directory`. Neither Spark nor the lock is needed: a running campaign can be asked.

    Raises:
        CampaignError: there is no campaign, or a file of it is damaged.
    """
    manifest = read_manifest(directory)
    found = status_of(directory, manifest, finished_batches(directory, manifest.parameters))
    return replace(found, running=is_locked(directory))


def status_of(directory: Path, manifest: Manifest, batches: Iterable[Batch]) -> Status:
    """The status that these finished batches make."""
    done = list(batches)
    return Status(
        directory=directory,
        parameters=manifest.parameters,
        versions=manifest.versions,
        code=manifest.code,
        tally=sum((batch.tally for batch in done), Tally()),
        batches_done=len(done),
        batches_total=len(manifest.parameters.batches()),
        seconds=sum(batch.seconds for batch in done),
        facts=manifest.facts,
    )


def with_batch(status: Status, batch: Batch) -> Status:
    """The status with one more finished batch."""
    return replace(
        status,
        tally=status.tally + batch.tally,
        batches_done=status.batches_done + 1,
        seconds=status.seconds + batch.seconds,
    )


def result(status: Status, seconds: float, expected: Verdict = Verdict.TESTED) -> Result:
    """The campaign as a statement with its verdict."""
    facts = status.to_json()
    tally = status.tally
    kept = ("cases", "events", "failures", "errors", "digest", "failure_rate_bound", "kinds", "groups", "systems")
    shown: dict[str, Any] = {name: facts[name] for name in kept}
    shown["seeds"] = [status.parameters.first_seed, status.parameters.end_seed]
    if status.verdict is Verdict.UNKNOWN:
        shown["unknown"] = status.unknown
    found = ", ".join(f"{kind} in {number:,}" for kind, number in tally.kinds.items())
    return Result(
        name=f"campaign of {counted(status.parameters.cases, 'case')}",
        kind="campaign",
        subject=status.subject,
        verdict=status.verdict,
        level=Level.L0,
        expected=status.verdict is expected,
        seconds=seconds,
        facts=shown,
        explanation=f"findings: {found}" if found else "",
    )
