"""Measures what the project promises about speed: medians of five. `bench/README.md` has the figures.

Run from the top folder: `.venv/bin/python bench/run.py [NAME...]`; without names, everything.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from bounded_measures import MEASURES as BOUNDED
from campaign_measures import MEASURES as CAMPAIGNS
from certificate_measures import MEASURES as CERTIFICATES
from conformance_measures import MEASURES as CONFORMANCE
from cost_measures import MEASURES as COSTS
from exploration_measures import MEASURES as EXPLORATION
from external_measures import MEASURES as EXTERNAL
from impl_measures import MEASURES as IMPLEMENTATIONS
from proof_measures import MEASURES as PROOFS
from trace_measures import MEASURES as TRACES

from thence.conformance.conform.conform import conform, settings_for
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.dsl.load import library, load
from thence.dsl.text.parse import parse
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.scopes.link import check_link
from thence.proofs.scopes.scopes import properties_of

REPEATS = 5
CASES = 200
LINES = 1_000


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def seconds(work: Callable[[], object]) -> float:
    """The median time of `REPEATS` runs, in seconds."""
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def parse_lines() -> str:
    """The library's declarations one after the other, as often as it takes, up to the number of lines."""
    lines: list[str] = []
    for path in library():
        body = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        first = next(at for at, line in enumerate(body) if line.startswith(("theory", "protocol", "machine")))
        lines += body[first:]
    lines *= 1 + LINES // len(lines)
    text = "\n".join(lines[: max(at for at in range(LINES + 1) if lines[at][0].isalpha())]) + "\n"
    tree, faults = parse(text, "bench.thence")
    assert tree is not None, faults
    took = seconds(lambda: parse(text, "bench.thence"))
    return f"{took:.3f} s for {text.count(chr(10)):,} lines that are not blank"


def check_from_shell() -> str:
    command = shutil.which("thence", path=str(Path(sys.executable).parent))
    assert command is not None, "the package is not installed in this environment"
    took = seconds(lambda: subprocess.run([command, "check", "mf"], check=True, capture_output=True))
    return f"{took:.3f} s"


def explored(name: str) -> str:
    found = specification(name)
    protocol = found.protocols[0]
    workload = next(scope.workload for scope in found.scopes if scope.name == "two")
    states = explore(protocol, workload, properties_of(protocol)).states
    took = seconds(lambda: explore(protocol, workload, properties_of(protocol)))
    return f"{took:.2f} s, {states:,} states, {states / took:,.0f} states/s"


def linked(name: str) -> str:
    link = specification(name).links[0]
    workload = link.scopes[0].workload
    states = check_link(link, link.protocol, workload).states
    took = seconds(lambda: check_link(link, link.protocol, workload))
    return f"{took:.2f} s, {states:,} states of protocol and machine"


def proved(name: str) -> str:
    found = specification(name)
    took = seconds(lambda: prove_specification(found))
    results = prove_specification(found)
    return f"{took:.2f} s, {len(results)} results, {sum(result.expected for result in results)} as expected"


def conformed(name: str, *, replayed: bool) -> str:
    protocol = specification(name).protocols[0]
    module, _, class_name = SHIPPED[name].partition(":")
    make = getattr(import_module(module), class_name)
    settings = settings_for(protocol)
    against = Opposite(protocol) if replayed else None
    took = seconds(lambda: conform(make, against, settings, Sampling(cases=CASES)))
    return f"{CASES / took:,.0f} cases/s"


MEASURES: dict[str, Callable[[], str]] = {
    "parse": parse_lines,
    "check": check_from_shell,
    "explore-cykas": lambda: explored("cykas"),
    "explore-mf": lambda: explored("mf"),
    "link-mf": lambda: linked("mf"),
    "link-hybrid_basic": lambda: linked("hybrid_basic"),
    "prove-execution": lambda: proved("execution"),
    "prove-mf": lambda: proved("mf"),
    "prove-hybrid_basic": lambda: proved("hybrid_basic"),
    **PROOFS,
    **CERTIFICATES,
    **BOUNDED,
    **EXPLORATION,
    **CAMPAIGNS,
    **IMPLEMENTATIONS,
    **COSTS,
    **EXTERNAL,
    **CONFORMANCE,
    **TRACES,
    "conform-cykas": lambda: conformed("cykas", replayed=True),
    "conform-cykas-without-replay": lambda: conformed("cykas", replayed=False),
    "conform-hybrid_basic": lambda: conformed("hybrid_basic", replayed=True),
    "conform-hybrid_basic-without-replay": lambda: conformed("hybrid_basic", replayed=False),
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"there is no measure {', '.join(unknown)}; there is {', '.join(MEASURES)}", file=sys.stderr)
        return 2
    for name in names or MEASURES:
        print(f"{name:<36} {MEASURES[name]()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
