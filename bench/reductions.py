"""Whether reductions keep verdicts: every protocol and mutant of the library, explored with and without each.

`python bench/reductions.py CONFIGURATION... [--file NAME] [--limit STATES] [--seconds S]`. A configuration is `3x2`
(processes, sends each, to whoever may be sent to) or `scopes` (those that the files name). Each reduction alone, all
automatic ones, and all together are held against none: every property that is judged, and the lengths of
counterexamples. Everything is judged twice, with CSPS and SPS and without: `dead` forgets more without.

Each comparison is one process with a time limit. Its row goes to `bench/reductions.json` at once, so the command can be
stopped and started again; a row is made anew where the library's text has changed, and with `--again`. Where the search without
reductions does not end within the limits, the row is `cut`: what it found must still be found with them. `--page`
writes docs/reductions.md from the rows, and does nothing else. Exit code 1 where any verdict differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from reductions_page import page

from whence.conformance.cli.targets import Choice, Target, targets
from whence.dsl import execute, ir
from whence.dsl.load import library, load
from whence.dsl.recycling import system_of
from whence.dsl.system import System
from whence.proofs.compiled.engine import explore_natively, why_not
from whence.proofs.explore import Exploration, Request, Resources
from whence.proofs.reductions import AUTOMATIC, REDUCTIONS
from whence.proofs.scopes import describe, properties_of

ROWS = Path(__file__).with_name("reductions.json")
PAGE = Path(__file__).parents[1] / "docs" / "reductions.md"

DEPARTURES = ("csps", "sps")
"""What is judged when messages leave; without it `dead` forgets more."""

JUDGED = ("causal", "fifo", *DEPARTURES, "at_most_once", "no_creation", "delivered", "fault")
"""What is judged of every protocol, besides all that its file names."""

SETS = {**{name: (name,) for name in REDUCTIONS}, "auto": AUTOMATIC, "all": tuple(REDUCTIONS)}
FORGETFUL = tuple(name for name, made in SETS.items() if "dead" in made)
"""The sets that make a difference where nothing is judged when messages leave."""

MEMORY = 3 << 30
STEP_BUDGET = 2_000
"""Steps of a handler before it counts as endless: some mutants loop, and the library needs a few dozen."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A protocol or mutant of a file in a workload. `digest` is of the file's text."""

    file: str
    digest: str
    configuration: str
    target: Target

    @property
    def key(self) -> str:
        """What the row is filed under."""
        where = self.target.scope or describe(self.target.workload)
        return f"{self.configuration} | {self.target.subject} | {where}"


def subjects(file: str, configuration: str) -> Iterator[Subject]:
    """The protocols and mutants of a file, in the workloads of the configuration."""
    found = load(file).specification
    assert found is not None
    if not found.protocols:
        return
    digest = hashlib.sha256(load(file).source.text.encode()).hexdigest()[:16]
    sized = re.fullmatch(r"(\d+)x(\d+)", configuration)
    size = (int(sized[1]), sized[2]) if sized else (None, None)
    mutants = [mutant.name for mutant in found.mutants if isinstance(mutant.mutated, ir.Protocol)]
    for mutant in (None, *mutants):
        for target in targets(Choice(file, None, *size, mutant)):
            yield Subject(file, digest, configuration, target)


def facts(found: Exploration) -> dict[str, Any]:
    """An exploration as JSON. Counterexamples by their lengths, negative where a shorter one may exist."""
    lengths = {
        name: len(violation.steps) * (1 if violation.shortest else -1)
        for name, violation in sorted(found.violations.items())
    }
    return {
        "states": found.states, "transitions": found.transitions, "depth": found.depth, "complete": found.complete,
        "made": list(found.reductions), "refused": found.refused, "violations": lengths,
    }  # fmt: skip


def explored(system: System, reductions: tuple[str, ...], judged: tuple[str, ...], limit: int) -> dict[str, Any]:
    """One exploration by native code. The system remembers its local steps from one to the next."""
    request = Request(
        system, frozenset(judged), limit=limit, resources=Resources(memory=MEMORY, threads=1),
        reductions=frozenset(reductions),
    )  # fmt: skip
    return facts(explore_natively(request))


def judged_of(target: Target, departures: bool) -> tuple[str, ...]:
    """What is judged of it; CSPS and SPS only with `departures`."""
    every = tuple(dict.fromkeys((*properties_of(target.protocol), *JUDGED)))
    return every if departures else tuple(name for name in every if name not in DEPARTURES)


def compare(subject: Subject, limit: int, sending: Connection) -> None:
    """Sends what each exploration found, as it ends; in a process of its own."""
    execute.STEP_BUDGET = STEP_BUDGET
    target = subject.target
    system = system_of(target.protocol, target.workload)
    sending.send(("none", explored(system, (), judged_of(target, True), limit)))
    for name, reductions in SETS.items():
        sending.send((name, explored(system, reductions, judged_of(target, True), limit)))
    for name in FORGETFUL:
        sending.send((f"{name} without csps, sps", explored(system, SETS[name], judged_of(target, False), limit)))
    sending.close()


def differences(whole: dict[str, Any], name: str, reduced: dict[str, Any]) -> list[str]:
    """In what an exploration with reductions differs from the one without, of what they must keep."""
    if not reduced["complete"]:
        return []
    dropped = DEPARTURES if "without" in name else ()
    expected = {known: steps for known, steps in whole["violations"].items() if known not in dropped}
    found = reduced["violations"]
    wrong = [f"{known} is not violated" for known in expected.keys() - found.keys()]
    if whole["complete"]:
        wrong += [f"{known} is violated" for known in found.keys() - expected.keys()]
        wrong += [
            f"{known} in {found[known]} steps, not {steps}"
            for known, steps in expected.items()
            if known in found and found[known] != steps and not -found[known] >= steps
        ]
        if reduced["states"] > whole["states"]:
            wrong.append(f"{reduced['states']} states")
    return wrong


@dataclass(slots=True)
class Table:
    """The rows known, by key, kept in the file."""

    path: Path
    rows: dict[str, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def put(self, key: str, row: dict[str, Any]) -> None:
        """Adds a row; the file is replaced as a whole."""
        self.rows[key] = row
        text = ",\n".join(f" {json.dumps(known)}: {json.dumps(self.rows[known])}" for known in sorted(self.rows))
        fresh = self.path.with_suffix(".json.new")
        fresh.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
        fresh.replace(self.path)


def row_of(subject: Subject, limit: int, seconds: float) -> dict[str, Any]:
    """Compares in a process that is ended after so many seconds."""
    row: dict[str, Any] = {"file": subject.file, "digest": subject.digest, "limit": limit}
    reason = why_not(system_of(subject.target.protocol, subject.target.workload))
    if reason is not None:
        return {**row, "outcome": "skipped", "why": reason}
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    worker = context.Process(target=compare, args=(subject, limit, sending))
    worker.start()
    sending.close()
    found: dict[str, dict[str, Any]] = {}
    deadline, late = time.monotonic() + seconds, False
    try:
        while not (late := not receiving.poll(max(0.0, deadline - time.monotonic()))):
            name, explored_ = receiving.recv()
            found[name] = explored_
    except EOFError:
        worker.join()
    finally:
        worker.kill()
        worker.join()
    row["found"] = found
    whole = found.get("none")
    if not late and worker.exitcode:
        return {**row, "outcome": "WRONG", "why": "the comparison itself broke"}
    if whole is None:
        return {**row, "outcome": "cut", "why": f"not even one search ended in {seconds:g} s"}
    reduced = [name for name in found if name != "none"]
    wrong = [f"{name}: {one}" for name in reduced for one in differences(whole, name, found[name])]
    if wrong:
        return {**row, "outcome": "WRONG", "why": "; ".join(wrong)}
    if not whole["complete"]:
        return {**row, "outcome": "cut", "why": f"more than {limit:,} states without reductions"}
    missing = [name for name in (*SETS, *(f"{each} without csps, sps" for each in FORGETFUL)) if name not in found]
    unended = [name for name, each in found.items() if not each["complete"]]
    if missing or unended:
        why = [f"not ended: {', '.join(unended)}"] * bool(unended) + [f"no time: {', '.join(missing)}"] * bool(missing)
        return {**row, "outcome": "cut", "why": "; ".join(why)}
    return {**row, "outcome": "same", "why": ""}


def main() -> int:
    """Compares, and says so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configurations", nargs="*", metavar="CONFIGURATION")
    parser.add_argument("--file", action="append")
    parser.add_argument("--limit", type=int, default=3_000_000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    table = Table(ROWS)
    if options.page:
        PAGE.write_text(page(table.rows), encoding="utf-8")
        return 0
    good = True
    for configuration in options.configurations:
        for file in options.file or [path.stem for path in library()]:
            for subject in subjects(file, configuration):
                known = table.rows.get(subject.key)
                if known is None or options.again or known["digest"] != subject.digest:
                    table.put(subject.key, row_of(subject, options.limit, options.seconds))
                row = table.rows[subject.key]
                good = good and row["outcome"] != "WRONG"
                states = row.get("found", {}).get("none", {}).get("states", 0)
                print(f"{row['outcome']}  {subject.key}: {states:,} states {row['why']}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
