"""A campaign: the plan of one, its parameters, and its state as the output of a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thence.cli.output import UNKNOWN, Output
from thence.cli.session import Session
from thence.conformance.campaign import CampaignParameters, Status, result
from thence.conformance.campaign.one_system import PORTFOLIO
from thence.conformance.campaign.shipping import absolute, as_on_a_worker
from thence.conformance.campaign.store import read_manifest
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.guided import Corpus, grown
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.subject import load_subject
from thence.conformance.systems.trust import OPTION, Word, all_trusted
from thence.dsl.find import known, named_protocol, parted, specification
from thence.spec.events import printable
from thence.spec.words import counted

RUNNER = "thence.conformance.campaign.one_system:campaign_runner"
_EMBEDDED = re.compile(r"local(\[(\*|\d+)(, ?\d+)?\])?")
SEVERAL = "thence.conformance.campaign.several_systems:several_runner"


@dataclass(frozen=True, slots=True)
class Tested:
    """A system under test.

    Attributes:
        system: as `load_subject` takes it.
        protocol: a library name or file; None: the oracle alone judges.
    """

    system: str
    protocol: str | None

    def to_json(self) -> dict[str, Any]:
        """The form that runners take; a protocol's file by its absolute path, to be found from anywhere."""
        named = self.protocol
        file, wanted = ("", "") if named is None else parted(named)
        if Path(file).is_file():
            named = f"{Path(file).resolve()}:{wanted}" if wanted else str(Path(file).resolve())
        return {"system": self.system, "protocol": named}


@dataclass(frozen=True, slots=True)
class CasePlan:
    """The content of each case, but for its seed.

    Attributes:
        network: fields of `Settings`, and `strict`; for the value None the protocol's own holds, or the default.
        limits: of a foreign system: seconds for a reply and for the first reply of a process, bytes of memory; for the
            value None the default holds.
        grow: whether the guided scheduler's corpus is grown from the protocol; else it has the built-in scripts only.
    """

    processes: int = 3
    operations: int = 12
    scheduler: str = PORTFOLIO
    network: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float | None] = field(default_factory=dict)
    grow: bool = True

    def to_json(self) -> dict[str, Any]:
        """The parameters that all systems of a campaign share, as the runners take them."""
        given = {**self.network, **self.limits}
        return {
            "scheduler": self.scheduler,
            "processes": self.processes,
            "operations": self.operations,
            **{name: value for name, value in given.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Work:
    """The way the cases are cut up, and the place where they run; `py_files` and `archives` go to the workers."""

    partitions: int
    batch: int
    master: str
    case_limit_s: float = 60.0
    py_files: Sequence[str] = ()
    archives: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """A campaign of one system, or of several in turn: a case for each of `cases` seeds from the first."""

    systems: tuple[Tested, ...]
    cases: int
    first_seed: int
    case: CasePlan
    work: Work


def parameters(plan: CampaignPlan, status: Callable[[str], None] = lambda _text: None) -> CampaignParameters:
    """The campaign's parameters. Raises BadInput, SubjectError, CampaignError."""
    known(plan.case.scheduler, (*SCHEDULERS, GUIDED, PORTFOLIO), "scheduler")
    corpora: dict[str, Any] = {}
    py_files, archives = absolute(plan.work.py_files), absolute(plan.work.archives)
    with as_on_a_worker(py_files, archives):
        for each in plan.systems:
            load_subject(each.system, plan.case.processes).close()
        systems = [each.to_json() for each in plan.systems]
        guided = plan.case.grow and plan.case.scheduler in (GUIDED, PORTFOLIO)
        protocols = dict.fromkeys(each["protocol"] for each in systems if each["protocol"] is not None)
        for number, protocol in enumerate(protocols if guided else (), 1):
            status(f"campaign: schedules to start from, {number} of {len(protocols)}: {protocol}")
            corpora[protocol] = _corpus(protocol, plan.case.processes).to_json()
    shared = plan.case.to_json()
    if len(systems) > 1:
        params = {"systems": systems, "corpora": corpora, **shared}
    else:
        corpus = next(iter(corpora.values()), None)
        params = {**systems[0], **({} if corpus is None else {"corpus": corpus}), **shared}
    return CampaignParameters(
        runner=RUNNER if len(systems) == 1 else SEVERAL,
        params=params,
        first_seed=plan.first_seed,
        cases=plan.cases,
        batch=plan.work.batch,
        partitions=plan.work.partitions,
        master=plan.work.master,
        case_limit_s=plan.work.case_limit_s,
        py_files=py_files,
        archives=archives,
    )


def _corpus(name: str, processes: int) -> Corpus:
    """The corpus of the guided scheduler: the protocol's mutants, and runs of the protocol. Always the same."""
    found, protocol = specification(parted(name)[0]), named_protocol(name)
    # Three processes reach what there is to reach, and schedules for few processes run among many as well.
    corpus = grown(protocol, settings_for(protocol, min(processes, 3))).corpus
    return distinguishing(found, protocol) + corpus


def require_word(directory: str, trusted: bool, master: str | None) -> None:
    """Nothing, where a campaign runs nothing that came with its folder, or the folder is trusted.

    `master` is the Spark that the reader names.

    Raises: CampaignError; Untrusted, with what would be run.
    """
    word, kept = Word(directory, trusted), read_manifest(Path(directory)).parameters
    if trusted:
        return
    if kept.runner not in (RUNNER, SEVERAL):
        raise word.refusal(f"names a function to import and call: {printable(kept.runner)}")
    for system in _systems(kept):
        word.require(system)
    for file in (*kept.py_files, *kept.archives):
        raise word.refusal(f"names a file whose code is sent to the workers and run: {printable(file)}")
    if master is None and not _EMBEDDED.fullmatch(kept.master):
        raise word.refusal(
            f"names a Spark to connect to, which can run code here: {printable(kept.master)}", "--master"
        )


def _systems(parameters: CampaignParameters) -> list[str]:
    """The systems that a campaign of the harness names."""
    several = parameters.params.get("systems")
    each = several if isinstance(several, list) else [parameters.params]
    return [str(one.get("system", f"{PREFIX}none")) if isinstance(one, dict) else str(one) for one in each]


def show_progress(session: Session, status: Status) -> None:
    """A line of progress."""
    rate = "" if status.rate is None else f", {status.rate:,.0f} cases/s"
    failures = counted(status.tally.failures, "failure")
    share = None
    if status.seconds_left is not None and (whole := status.seconds + status.seconds_left):
        share = status.seconds / whole
    session.status(f"{failures}{rate}", status.tally.cases, status.parameters.cases, "cases", share)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


def campaign_output(directory: str, status: Status, seconds: float) -> Output:
    """The state of a campaign; `seconds` of this run."""
    said = result(status, seconds)
    tally = status.tally
    lines = [
        f"{tally.cases:,} of {counted(status.parameters.cases, 'case')}, {counted(tally.failures, 'failure')}, "
        f"{tally.errors:,} without an outcome, digest {status.to_json()['digest']}"
    ]
    if status.rate is not None:
        lines.append(f"{status.seconds:.1f} s in batches, {status.rate:,.0f} cases/s")
    if status.running:
        left = status.seconds_left
        lines.append("running" if left is None else f"running: about {_duration(left)} left")
    elif not status.complete:
        word = "" if all_trusted(_systems(status.parameters)) else f" {OPTION}"
        lines.append(f"incomplete: thence campaign resume {directory}{word} goes on")
    return Output(
        results=(said,), text="\n".join(lines) + "\n", fields={"campaign": status.to_json()},
        exit=UNKNOWN if status.interrupted and not tally.failures else None, table=status.complete,
    )  # fmt: skip
