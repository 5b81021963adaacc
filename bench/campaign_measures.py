"""Campaigns, schedulers, mutation: what the project promises about them."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

MERGE_CASES = 4_000
EXPENSIVE_CASES = 240
PROTOCOL_CASES = 10


def merge_ratio() -> str:
    """How much more often starving a channel finds the discarded merge than uniform scheduling does."""
    from faults import FAULTS

    from thence.conformance.cases.schedulers import SCHEDULERS
    from thence.conformance.conform.conform import settings_for
    from thence.conformance.harness.harness import run_scheduled
    from thence.dsl.find import named_protocol

    fault = next(each for each in FAULTS["rst"] if each.__name__ == "MergeDiscarded")
    settings = settings_for(named_protocol("rst"))

    def hits(name: str) -> int:
        runs = (run_scheduled(fault, SCHEDULERS[name], seed, 12, settings) for seed in range(MERGE_CASES))
        return sum("causal" in outcome.kinds for outcome in runs)

    starving, uniform = hits("starve_one_channel"), hits("uniform")
    return f"{starving / uniform:.1f} times: {starving:,} against {uniform:,} of {MERGE_CASES:,} cases"


EXPENSIVE: dict[str, Any] = {
    "system": "protocol:rst", "protocol": None, "scheduler": "uniform", "processes": 10, "operations": 300,
}  # fmt: skip
"""Ten processes of a protocol with 300 operations: cases that cost a tenth of a second of computing."""


def campaign_seconds(master: str) -> tuple[float, float, int]:
    """Wall time of a campaign of expensive cases, what of it passed in batches, and the digest."""
    from thence.conformance.campaign import CampaignParameters, start

    parameters = CampaignParameters(
        "thence.conformance.campaign.one_system:campaign_runner", EXPENSIVE,
        cases=EXPENSIVE_CASES, batch=EXPENSIVE_CASES, partitions=8, master=master,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        status = start(Path(folder) / "campaign", parameters)
        assert status.complete
        return time.perf_counter() - started, status.seconds, status.tally.digest


def spark_speedup() -> str:
    """local[1] against local[2]; what starting Spark takes, apart. On an idle machine of at least two processors."""
    one, one_batch, digest = campaign_seconds("local[1]")
    two, two_batch, other = campaign_seconds("local[2]")
    assert digest == other
    fixed = (one - one_batch + two - two_batch) / 2
    return f"{one_batch / two_batch:.2f} times: {one_batch:.1f} s against {two_batch:.1f} s; fixed cost {fixed:.1f} s"


def protocol_cases(name: str) -> str:
    """A campaign's cases over a protocol itself, ten processes and 300 operations each: its compiled handlers run."""
    from thence.conformance.campaign.one_system import campaign_runner

    run = campaign_runner({**EXPENSIVE, "system": f"protocol:{name}"})
    run(0)
    started = time.process_time()
    events = sum(run(seed).events for seed in range(1, PROTOCOL_CASES + 1))
    took = time.process_time() - started
    return f"{PROTOCOL_CASES / took:.1f} cases/s, {events / took:,.0f} events/s of processor time"


def mutation(name: str) -> str:
    """The mutation score of everything in a file."""
    from thence.conformance.mutation.mutants import subjects
    from thence.conformance.mutation.run import Limits, mutate
    from thence.conformance.mutation.subjects import Subject
    from thence.dsl import ir
    from thence.dsl.load import load

    specification = load(name).specification
    assert specification is not None
    scores = []
    for each in subjects(specification):
        kind: Literal["protocol", "machine"] = "protocol" if isinstance(each, ir.Protocol) else "machine"
        scores.append(mutate(Subject(name, kind, each.name), Limits(mutants=60), lambda *_: None))
    counts = {what: sum(score.count(what) for score in scores) for what in ("killed", "survived", "undecided", "equal")}
    judged = counts["killed"] + counts["survived"] + counts["undecided"]
    return f"{100 * counts['killed'] / judged:.1f} %: {', '.join(f'{count} {what}' for what, count in counts.items())}"


MEASURES: dict[str, Callable[[], str]] = {
    "merge-ratio": merge_ratio,
    "spark-speedup": spark_speedup,
    "campaign-protocol-rst": lambda: protocol_cases("rst"),
    "campaign-protocol-cykas": lambda: protocol_cases("cykas"),
    "campaign-protocol-hybrid_optimal": lambda: protocol_cases("hybrid_optimal"),
    "mutation-mf": lambda: mutation("mf"),
    "mutation-rst": lambda: mutation("rst"),
    "mutation-cykas": lambda: mutation("cykas"),
}
