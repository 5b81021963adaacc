"""Invariants found again: every machine of the library without its invariants, and the machines of the literature.

    python bench/infer.py [--timeout S] [--json FILE] [NAME...]

A row for each machine: what came out, seconds by the clock and of processors, how many invariants were found and how
many were hidden. A machine whose invariants are all that it states keeps those that say what it is for, `PURPOSES`; one
of which nothing is left to prove is marked `nothing to find`.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import library
from thence.proofs.infer.inference import Inference, Limits, hidden, infer
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
    given = arguments.parse_args()
    rows: list[Row] = []
    for path in (*library(), *sorted((library()[0].parent / "benchmarks").glob("*.thence"))):
        if not given.names or path.stem in given.names:
            for machine in specification(str(path)).machines:
                rows.append(_row(path, machine, given.timeout))
                print(_line(rows[-1]), flush=True)
    proved = sum(row.outcome == "proved" for row in rows)
    print(f"{proved} of {len(rows)} machines proved with invariants that were found")
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def _row(path: Path, machine: ir.Machine, timeout: float) -> Row:
    """Benchmarks keep what is to be proved: the invariants that `prove` names, or all where it names none."""
    own = [each.name for each in machine.invariants]
    kept = [name for name in machine.prove if name in own] or own if path.parent.name == "benchmarks" else []
    kept = [*kept, *PURPOSES.get(machine.name, ())]
    asked = hidden(machine, [name for name in own if name not in kept])
    options = Options()
    before = sum(os.times()[:4])
    with solver_pool(options) as pool:
        found = infer(ProofSession(pool, options), asked, Limits(timeout), lambda _: None)
    written = len(own) - len(kept)
    processor = round(sum(os.times()[:4]) - before, 1)  # with that of the solvers, which have ended
    counts = len(found.conjuncts), written
    return Row(path.stem, machine.name, _outcome(found), round(found.seconds, 1), processor, *counts, found.reason)


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
