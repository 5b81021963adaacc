"""Measures of foreign systems: the cases a second of each shipped adapter, its start included and told apart."""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import Report, conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.harness.at_once import run_at_once
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.systems.system import ExternalSystem
from thence.spec.collector import collector_seldom

EXAMPLES = Path(__file__).resolve().parents[1] / "conformance" / "examples"
CASES = 1_000
OPERATIONS = 12
PAIRS, MANY = 5, 2_000


def driven(command: str, *, per_process: bool = False, settings: Settings | None = None) -> str:
    """3 processes, 12 operations a case, starve-one-channel, against the oracle; every failure is of the harness."""
    chosen = settings or Settings()
    system = ExternalSystem(command, per_process=per_process)
    try:
        begun = time.perf_counter()
        system.begin_case(chosen)
        start = time.perf_counter() - begun
        begun = time.perf_counter()
        for seed in range(CASES):
            outcome = run_scheduled(system, SCHEDULERS["starve_one_channel"], seed, OPERATIONS, chosen)
            assert not outcome.findings, outcome.findings
        took = time.perf_counter() - begun
    finally:
        system.close()
    return f"{CASES / took:,.0f} cases/s, start {start:.2f} s"


def at_once(command: str) -> str:
    """Pairs in turn, one case at a time and several at once: processor time of Thence and the program together, and
    the clock, which is what counts where they work side by side."""
    one, several = [], []
    for turn in range(PAIRS):
        seeds = range(turn * MANY, (turn + 1) * MANY)
        one.append(_times(command, seeds, batches=False))
        several.append(_times(command, seeds, batches=True))
    said = []
    for place, name in enumerate(("processor time", "clock")):
        before, after = ([times[place] for times in measured] for measured in (one, several))
        ratio = statistics.median(old / new for old, new in zip(before, after, strict=True))
        rates = [f"{MANY / statistics.median(seconds):,.0f}" for seconds in (before, after)]
        said.append(f"{rates[0]} cases/s one at a time, {rates[1]} at once, {ratio:.2f} times ({name})")
    return "; ".join(said)


def _times(command: str, seeds: range, *, batches: bool) -> tuple[float, float]:
    """Seconds for the cases, the start and the end of the program included: processor time of both, and the clock."""
    settings, scheduler, before, begun = Settings(), SCHEDULERS["starve_one_channel"], _used_s(), time.perf_counter()
    system = ExternalSystem(command)
    try:
        system.introduce(settings)
        outcomes: Iterable[CaseOutcome]
        if batches:
            outcomes = run_at_once(system, scheduler, seeds, OPERATIONS, settings)
        else:
            outcomes = (run_scheduled(system, scheduler, seed, OPERATIONS, settings) for seed in seeds)
        with collector_seldom():
            for outcome in outcomes:
                assert not outcome.findings, outcome.findings
    finally:
        system.close()
    return _used_s() - before, time.perf_counter() - begun


def _used_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def found(command: str) -> str:
    """How long it takes to find, and to shorten, the fault of the faulty version."""
    system = ExternalSystem(command)
    try:
        begun = time.perf_counter()
        report: Report = conform(system, None, Settings(), Sampling(cases=300, operations=OPERATIONS))
        took = time.perf_counter() - begun
    finally:
        system.close()
    assert report.counterexamples
    return f"{took:.2f} s, {len(report.counterexamples[0].operations)} operations"


def python() -> str:
    return f"{sys.executable} {EXAMPLES / 'python' / 'adapter.py'}"


def node() -> str:
    return f"node {EXAMPLES / 'javascript' / 'adapter.mjs'}"


def built(tool: str, words: list[str], command: str, settings: Settings | None = None) -> str:
    """Of an example that is compiled first, into a folder that is gone afterwards."""
    if shutil.which(tool) is None:
        return f"{tool} is not installed"
    with TemporaryDirectory() as folder:
        subprocess.run([word.format(folder=folder) for word in words], check=True, capture_output=True)
        return driven(command.format(folder=folder), settings=settings)


def java() -> str:
    sources = [str(path) for path in sorted((EXAMPLES / "java").glob("*.java"))]
    broadcast = Settings(delivery="broadcast")
    return built("javac", ["javac", "-d", "{folder}", *sources], "java -cp {folder} Adapter", broadcast)


def go() -> str:
    sources = [str(path) for path in sorted((EXAMPLES / "go").glob("*.go"))]
    return built("go", ["go", "build", "-o", "{folder}/adapter", *sources], "{folder}/adapter")


def with_node(measure: Callable[[], str]) -> Callable[[], str]:
    return lambda: measure() if shutil.which("node") else "node is not installed"


MEASURES: dict[str, Callable[[], str]] = {
    "exec-python": lambda: driven(python()),
    "exec-python-at-once": lambda: at_once(python()),
    "exec-python-per-process": lambda: driven(python(), per_process=True),
    "exec-javascript": with_node(lambda: driven(node())),
    "exec-java-broadcast": java,
    "exec-go": go,
    "exec-python-fault": lambda: found(f"{python()} --faulty"),
    "exec-javascript-fault": with_node(lambda: found(f"{node()} --faulty")),
}
