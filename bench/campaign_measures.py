"""Campaigns, schedulers, mutation: what the project promises about them."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))
sys.path.insert(0, str(TESTS / "conformance" / "campaign"))

MERGE_CASES = 4_000
EXPENSIVE_S = 0.02
EXPENSIVE_CASES = 2_000


def merge_ratio() -> str:
    """How much more often starving a channel finds the discarded merge than uniform scheduling does."""
    from faults import FAULTS

    from whence.conformance.drive import settings_for
    from whence.conformance.harness import run_scheduled
    from whence.conformance.protocols import find_protocol
    from whence.conformance.schedulers import SCHEDULERS

    fault = next(each for each in FAULTS["rst"] if each.__name__ == "MergeDiscarded")
    settings = settings_for(find_protocol("rst"))

    def hits(name: str) -> int:
        runs = (run_scheduled(fault, SCHEDULERS[name], seed, 12, settings) for seed in range(MERGE_CASES))
        return sum("causal" in outcome.kinds for outcome in runs)

    starving, uniform = hits("starve_one_channel"), hits("uniform")
    return f"{starving / uniform:.1f} times: {starving:,} against {uniform:,} of {MERGE_CASES:,} cases"


def campaign_seconds(master: str, cases: int, pause_s: float) -> tuple[float, float]:
    """Wall time of a campaign of cases that each take so long, and what of it passed in batches."""
    from whence.conformance.campaign import CampaignParameters, start

    parameters = CampaignParameters(
        "campaign_demo:walk", {"steps": 10, "limit": 10, "pause_s": pause_s}, cases=cases, batch=cases, partitions=8,
        master=master,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        status = start(Path(folder) / "campaign", parameters)
        assert status.complete
        return time.perf_counter() - started, status.seconds


def spark_speedup() -> str:
    """Cases that cost 20 ms each: local[1] against local[2]; what starting Spark takes, apart."""
    one, one_batch = campaign_seconds("local[1]", EXPENSIVE_CASES, EXPENSIVE_S)
    two, two_batch = campaign_seconds("local[2]", EXPENSIVE_CASES, EXPENSIVE_S)
    fixed = (one - one_batch + two - two_batch) / 2
    return f"{one_batch / two_batch:.2f} times: {one_batch:.1f} s against {two_batch:.1f} s; fixed cost {fixed:.1f} s"


def mutation(name: str) -> str:
    """The mutation score of everything in a file."""
    from whence.conformance.mutation.mutants import subjects
    from whence.conformance.mutation.run import Limits, mutate_specification
    from whence.dsl.load import load

    loaded = load(name)
    assert loaded.specification is not None
    limits = Limits(mutants=60)
    scores = [mutate_specification(loaded, each, limits, lambda *_: None) for each in subjects(loaded.specification)]
    counts = {what: sum(score.count(what) for score in scores) for what in ("killed", "survived", "undecided", "equal")}
    judged = counts["killed"] + counts["survived"] + counts["undecided"]
    return f"{100 * counts['killed'] / judged:.1f} %: {', '.join(f'{count} {what}' for what, count in counts.items())}"


MEASURES: dict[str, Callable[[], str]] = {
    "merge-ratio": merge_ratio,
    "spark-speedup": spark_speedup,
    "mutation-mf": lambda: mutation("mf"),
    "mutation-rst": lambda: mutation("rst"),
    "mutation-cykas": lambda: mutation("cykas"),
}
