"""Invariants found again: every machine of the library without its invariants, and the machines of the literature.

    python bench/infer.py [--timeout S] [--json FILE [--resume]] [--mutants] [NAME...]

The time limit counts processor time. A row for each machine: what came out, seconds by the clock and of processors, how
many invariants were found and how many were hidden. A machine whose invariants are all that it states keeps those that
say what it is for, `PURPOSES`; one of which nothing is left to prove is marked `nothing to find`.

With `--mutants` the mutants of these machines instead, of which the file says that a statement about states is refuted:
all other invariants are hidden, and the search has to end in a run.

`--json` writes its file anew after each row. With `--resume` the rows that it has are not searched again.

Which invariants are enough, given back, says `hints.py`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import benchmarks, library
from thence.proofs.infer.search.goals import goals_of, hidden
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Inference, Limits
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

PURPOSES = {
    "numbered_requests": ("exclusive",),
    "stamped_requests": ("exclusive",),
    "commitment": ("agreement", "validity"),
    "one_receiver": ("not_less", "not_more"),
    "several_receivers": ("not_less", "not_more"),
    "engagement": ("never_too_early",),
    "cut": ("no_effect_without_cause", "in_order", "closed", "channels"),
    "counts": ("at_server",),
    "nearest_dependencies": ("sessions", "converges"),
}
"""The theorems of machines of the library that state them as invariants: they are kept, as what is to be proved."""


@dataclass(frozen=True, slots=True)
class Row:
    """One machine: `outcome` is proved, refuted, unknown, or nothing to find."""

    file: str
    machine: str
    outcome: str
    seconds: float
    processor_seconds: float
    found: int
    written: int
    reason: str


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--timeout", type=float, default=120.0)
    arguments.add_argument("--json")
    arguments.add_argument("--mutants", action="store_true")
    arguments.add_argument("--resume", action="store_true")
    given = arguments.parse_args()
    if given.resume and not given.json:
        arguments.error("--resume goes on with the rows of --json FILE")
    unknown = set(given.names) - {path.stem for path in paths()}
    if unknown:
        arguments.error(f"no file has this name: {', '.join(sorted(unknown))}")
    file = Path(given.json) if given.json else None
    rows = {(row.file, row.machine): row for row in _written(file)} if given.resume and file else {}
    for path in paths():
        if not given.names or path.stem in given.names:
            read = specification(str(path))
            for machine, kept in _mutants(read) if given.mutants else machines_of(path, read):
                if (path.stem, machine.name) not in rows:
                    row = rows[path.stem, machine.name] = _row(path, machine, kept, given.timeout)
                    print(_line(row), flush=True)
                    if file:
                        _write(file, rows.values())
    outcomes = Counter(row.outcome for row in rows.values())
    print(f"{len(rows)} machines: " + ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items()))


def _written(file: Path) -> list[Row]:
    return [Row(**each) for each in json.loads(file.read_text())] if file.exists() else []


def _write(file: Path, rows: Iterable[Row]) -> None:
    """The rows are there whole or not at all: an interrupt spoils nothing."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    draft.replace(file)


def paths() -> tuple[Path, ...]:
    """The files of the library, and of the literature."""
    return (*library(), *benchmarks())


def machines_of(path: Path, read: ir.Specification) -> Iterator[tuple[ir.Machine, tuple[str, ...]]]:
    """Machines, each with the invariants that it keeps: what is to be proved.

    Benchmarks keep the invariants that `prove` names, or all where it names none.
    """
    for machine in read.machines:
        own = tuple(each.name for each in machine.invariants)
        kept = tuple(name for name in machine.prove if name in own) or own
        yield machine, (*(kept if path.parent.name == "benchmarks" else ()), *PURPOSES.get(machine.name, ()))


def _mutants(read: ir.Specification) -> Iterator[tuple[ir.Machine, tuple[str, ...]]]:
    """Mutants of machines with the statements about states that are refuted; only these are kept."""
    for mutant in read.mutants:
        if isinstance(mutant.mutated, ir.Machine):
            machine = replace(mutant.mutated, name=f"{mutant.subject}/{mutant.name}", expects=())
            refuted = {name for each in mutant.expects if each.verdict == "refuted" for name in each.names}
            if wrong := tuple(name for name in goals_of(machine) if name in refuted):
                yield replace(machine, prove=tuple(name for name in machine.prove if name in wrong)), wrong


def _row(path: Path, machine: ir.Machine, kept: Collection[str], timeout: float) -> Row:
    hide = [each.name for each in machine.invariants if each.name not in kept]
    before = sum(os.times()[:4])
    found = found_of(machine, hide, timeout)
    processor = round(sum(os.times()[:4]) - before, 1)  # with that of the solvers, which have ended
    counts = len(found.conjuncts), len(hide)
    return Row(path.stem, machine.name, _outcome(found), round(found.seconds, 1), processor, *counts, found.reason)


def found_of(machine: ir.Machine, hide: Sequence[str], seconds: float) -> Inference:
    """The search for what is hidden. Its solvers have ended by then."""
    options = Options()
    with solver_pool(options) as pool:
        return infer(ProofSession(pool, options), hidden(machine, hide), Limits(seconds), lambda _: None)


def _outcome(found: Inference) -> str:
    if found.refuted is not None:
        return "refuted"
    if not found.proved:
        return "unknown"
    return "proved" if found.conjuncts else "nothing to find"


def _line(row: Row) -> str:
    counts = f"{row.seconds:6.1f} s {row.processor_seconds:6.1f} s {row.found:4} {row.written:4}"
    return f"{row.file:24} {row.machine:24} {row.outcome:16} {counts}  {row.reason}"


if __name__ == "__main__":
    main()
