"""What the reductions that are taken unasked cost and gain, over the scopes of the library.

python bench/reduction_measures.py [--results FILE] [--least STATES] [--most STATES] [--seconds S] [NAME...]

Each scope is explored with none, with symmetry by name, and with the automatic choice, in turn, by one thread; code is
generated anew. The last column is the automatic choice against the better of the other two, turn by turn. The aim is
1.1 at most. A scope that takes longer than S seconds of processor time by any choice is left out, and named.

Rows are kept in the file of results, so the same command goes on after an interrupt.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from thence.dsl import ir
from thence.dsl.load import library, load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.explore.reductions import AUTO, REDUCTIONS
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.scopes.scopes import judged_in

CHOICES: dict[str, tuple[str, ...]] = {"none": (), **{name: (name,) for name in REDUCTIONS}, "auto": (AUTO,)}
AIM = 1.1


@dataclass(frozen=True)
class Subject:
    """A scope of the library, and what is judged in it."""

    name: str
    protocol: ir.Protocol
    workload: ir.Workload
    judged: tuple[str, ...]

    def explored(
        self, reductions: tuple[str, ...], seconds: float, most: int | None = None
    ) -> tuple[Exploration, float] | None:
        """The result and the processor seconds, with code generation. None: it takes longer than `seconds`."""
        compile_kernel.cache_clear()
        method = Method("auto", Resources(threads=1), reductions)
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            found = explore(self.protocol, self.workload, self.judged, method=method, limit=most)
        except OutOfTime:
            return None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - begun
        return None if took > seconds or found.why_incomplete == "interrupted" else (found, took)


@dataclass(frozen=True)
class Row:
    """What was measured of a scope: states and seconds of each turn, by choice; `left_out` says why there are none."""

    name: str
    left_out: str | None
    states: dict[str, int]
    seconds: dict[str, list[float]]

    @property
    def ratios(self) -> list[float]:
        """The automatic choice against the best other one, turn by turn, ascending."""
        others = [self.seconds[name] for name in CHOICES if name != "auto"]
        best = [min(turn) for turn in zip(*others, strict=True)]
        return sorted(auto / one for auto, one in zip(self.seconds["auto"], best, strict=True))

    def __str__(self) -> str:
        if self.left_out is not None:
            return f"| {self.name} | {self.left_out} |"
        times = " | ".join(f"{statistics.median(self.seconds[name]):.2f}" for name in CHOICES)
        ratios = self.ratios
        said = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        return f"| {self.name} | {self.states['none']:,} | {self.states['auto']:,} | {times} | {said} |"


class OutOfTime(KeyboardInterrupt):
    """The processor time of an exploration is used up."""


def out_of_time(signal_number: int, frame: FrameType | None) -> None:
    """Ends the exploration, as an interrupt would."""
    raise OutOfTime


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


def measured(subject: Subject, wanted: argparse.Namespace) -> Row:
    """A row of the table. The first exploration, without reductions, warms up, and says whether the scope counts."""
    first = subject.explored((), wanted.seconds, wanted.most)
    if first is None:
        return Row(subject.name, f"more than {wanted.seconds:g} s", {}, {})
    if not first[0].complete or first[0].states < wanted.least:
        states = f"{'' if first[0].complete else 'more than '}{first[0].states:,}"
        return Row(subject.name, f"{states} states", {}, {})
    taken: dict[str, list[float]] = {name: [] for name in CHOICES}
    states_by: dict[str, int] = {}
    for _ in range(wanted.repeats):
        for name, reductions in CHOICES.items():
            found = subject.explored(reductions, wanted.seconds)
            if found is None:
                return Row(subject.name, f"more than {wanted.seconds:g} s by `{name}`", {}, {})
            states_by[name] = found[0].states
            taken[name].append(found[1])
    return Row(subject.name, None, states_by, taken)


def kept(file: Path | None) -> dict[str, Row]:
    """The rows measured before, by name."""
    if file is None or not file.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in file.read_text().splitlines()]
    return {row.name: row for row in rows}


def rows(wanted: argparse.Namespace) -> Iterator[Row]:
    """All rows; those that are not kept are measured, and kept from then on."""
    before = kept(wanted.results)
    for subject in subjects(wanted.files or [path.stem for path in library()], wanted.sends):
        row = before.get(subject.name)
        if row is None:
            row = measured(subject, wanted)
            if wanted.results is not None:
                with wanted.results.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
        yield row


def summary(table: list[Row]) -> Iterator[str]:
    """How many scopes meet the aim, and what was left out."""
    compared = [row for row in table if row.left_out is None]
    missed = [row for row in compared if statistics.median(row.ratios) > AIM]
    yield f"{len(compared)} scopes are compared, {len(missed)} miss the aim of {AIM}"
    for name in CHOICES:
        total = sum(statistics.median(row.seconds[name]) for row in compared)
        yield f"All of them by `{name}`: {total:.1f} s"
    slow = [row for row in table if row.left_out is not None and "more than" in row.left_out]
    small = sum(row.left_out is not None for row in table) - len(slow)
    named = ", ".join(f"{row.name} ({row.left_out})" for row in slow)
    yield f"Left out: {small} of fewer states, and {named or 'none'}"


def main() -> None:
    parser = argparse.ArgumentParser(description="The automatic reductions against none and each alone.")
    parser.add_argument("files", nargs="*", metavar="NAME", help="files of the library; by default all")
    parser.add_argument("--results", type=Path, help="the file that keeps rows")
    parser.add_argument("--least", type=int, default=500, help="states of the smallest scope (default: 500)")
    parser.add_argument("--most", type=int, default=5_000_000, help="states of the largest scope (default: 5,000,000)")
    parser.add_argument("--seconds", type=float, default=15, help="processor time of an exploration (default: 15)")
    parser.add_argument("--repeats", type=int, default=3, help="turns (default: 3)")
    parser.add_argument("--sends", type=int, default=0, help="not the scopes, but 3 processes with N sends each")
    wanted = parser.parse_args()
    os.environ["THENCE_CACHE"] = "off"
    signal.signal(signal.SIGPROF, out_of_time)
    print(f"Load {os.getloadavg()[0]:.1f}; processor seconds, medians of {wanted.repeats}\n")
    print(f"| scope | states | with auto | {' | '.join(CHOICES)} | auto against the best other |")
    print("|---" * (len(CHOICES) + 4) + "|")
    table = []
    for row in rows(wanted):
        table.append(row)
        if row.left_out is None:
            print(row, flush=True)
    print("", *summary(table), sep="\n")


if __name__ == "__main__":
    main()
