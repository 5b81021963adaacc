"""What the reductions that are taken unasked cost and gain, over the scopes of the library.

python bench/reduction_measures.py [--least STATES] [--most STATES] [--repeats N] [FILE...]

Each scope is explored with none, with symmetry by name, and with the automatic choice, in turn, by one thread; code is
generated anew. The last column is the automatic choice against the better of the other two, turn by turn. The aim is
1.1 at most.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.load import library, load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.explore.reductions import AUTO, REDUCTIONS
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.scopes.scopes import judged_in

CHOICES: dict[str, tuple[str, ...]] = {"none": (), **{name: (name,) for name in REDUCTIONS}, "auto": (AUTO,)}


@dataclass(frozen=True)
class Subject:
    """A scope of the library, and what is judged in it."""

    name: str
    protocol: ir.Protocol
    workload: ir.Workload
    judged: tuple[str, ...]

    def explored(self, reductions: tuple[str, ...], most: int | None = None) -> tuple[Exploration, float]:
        """The result and the processor seconds, with code generation."""
        compile_kernel.cache_clear()
        begun = time.process_time()
        method = Method("auto", Resources(threads=1), reductions)
        found = explore(self.protocol, self.workload, self.judged, method=method, limit=most)
        return found, time.process_time() - begun


def subjects(files: list[str], sends: int) -> Iterator[Subject]:
    """The scopes that end, of these files of the library; with `sends`, 3 processes with so many sends each instead."""
    for file in files:
        specification = load(file).specification
        assert specification is not None
        if sends:
            others = tuple(tuple({*range(3)} - {process}) for process in range(3))
            for protocol in specification.protocols:
                workload = ir.Workload(3, (sends,) * 3, others)
                yield Subject(f"{protocol.name} {sends}", protocol, workload, judged_in(protocol, workload, ()))
            continue
        for scope in specification.scopes:
            protocol = next(each for each in specification.protocols if each.name == scope.protocol)
            if scope.workload.ends:
                judged = judged_in(protocol, scope.workload, scope.expects)
                yield Subject(f"{protocol.name} {scope.name}", protocol, scope.workload, judged)


def row(subject: Subject, repeats: int) -> str:
    """A line of the table."""
    taken: dict[str, list[float]] = {name: [] for name in CHOICES}
    states: dict[str, int] = {}
    for _ in range(repeats):
        for name, reductions in CHOICES.items():
            found, seconds = subject.explored(reductions)
            taken[name].append(seconds)
            states[name] = found.states
    others = [name for name in CHOICES if name != "auto"]
    best = [min(taken[name][turn] for name in others) for turn in range(repeats)]
    ratios = sorted(auto / one for auto, one in zip(taken["auto"], best, strict=True))
    times = " | ".join(f"{statistics.median(taken[name]):.2f}" for name in CHOICES)
    said = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return f"| {subject.name} | {states['none']:,} | {states['auto']:,} | {times} | {said} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="The automatic reductions against none and each alone.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of the library; by default all")
    parser.add_argument("--least", type=int, default=20_000, help="states of the smallest scope (default: 20,000)")
    parser.add_argument("--most", type=int, default=5_000_000, help="states of the largest scope (default: 5,000,000)")
    parser.add_argument("--repeats", type=int, default=3, help="turns (default: 3)")
    parser.add_argument("--sends", type=int, default=0, help="not the scopes, but 3 processes with N sends each")
    wanted = parser.parse_args()
    print(f"Load {os.getloadavg()[0]:.1f}; processor seconds, medians of {wanted.repeats}\n")
    print(f"| scope | states | with auto | {' | '.join(CHOICES)} | auto against the best other |")
    print("|---" * (len(CHOICES) + 4) + "|")
    for subject in subjects(wanted.files or [path.stem for path in library()], wanted.sends):
        found, _ = subject.explored((), wanted.most)
        if found.complete and found.states >= wanted.least:
            print(row(subject, wanted.repeats), flush=True)


if __name__ == "__main__":
    main()
