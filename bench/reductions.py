"""Whether reductions keep verdicts: every protocol and mutant of the library, explored with and without each.

`python bench/reductions.py CONFIGURATION... [--file NAME] [--limit STATES] [--seconds S]`. A configuration is `3x2`
(processes, sends each, to whoever may be sent to) or `scopes` (those that the files name). Each reduction alone, all
automatic ones, and all together are held against none: every property that is judged, and the lengths of
counterexamples. Everything is judged twice, with CSPS and SPS and without: `dead` forgets more without.

Each comparison has a time limit. Its row goes to `bench/reductions.json` at once, so the command can be stopped and
started again; a row is made anew where the library's text has changed, and with `--again`. Where a search does not
end within the limits, the row is `cut`: what the one without reductions found must still be found by those that ended.
`--page` writes docs/reductions.md from the rows, and does nothing else. Exit code 1 where any verdict differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from reductions_page import page

from thence.cli.targets import Choice, Target, targets
from thence.dsl import ir
from thence.dsl.load import library, load
from thence.dsl.run import execute
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import Exploration, Request, Resources
from thence.proofs.explore.reductions import AUTOMATIC, REDUCTIONS
from thence.proofs.native.engine import explore_natively, why_not
from thence.proofs.scopes.scopes import describe, properties_of

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
BROKEN = "the comparison itself broke"

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
        subject = self.target.subject
        name = subject if subject.split("/")[0] == self.file else f"{self.file}: {subject}"
        return f"{self.configuration} | {name} | {where}"


def subjects(file: str, configuration: str) -> Iterator[Subject]:
    """The protocols and mutants of a file, in the workloads of the configuration."""
    found = load(file).specification
    assert found is not None
    if not found.protocols:
        return
    digest = hashlib.sha256(load(file).source.text.encode()).hexdigest()[:16]
    sized = re.fullmatch(r"(\d+)x(\d+)", configuration)
    processes, sends = (int(sized[1]), sized[2]) if sized else (None, None)
    mutants = [mutant.name for mutant in found.mutants if isinstance(mutant.mutated, ir.Protocol)]
    for mutant in (None, *mutants):
        for target in targets(Choice(file, None, processes, sends, mutant)):
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


def compare(subjects_: Sequence[Subject], limit: int, sending: Connection) -> None:
    """Sends what each exploration of each subject found, as it ends, and None after each; in a process of its own."""
    execute.STEP_BUDGET = STEP_BUDGET
    for subject in subjects_:
        target = subject.target
        system = system_of(target.protocol, target.workload)
        sending.send(("none", explored(system, (), judged_of(target, True), limit)))
        for name, reductions in SETS.items():
            sending.send((name, explored(system, reductions, judged_of(target, True), limit)))
        for name in FORGETFUL:
            sending.send((f"{name} without csps, sps", explored(system, SETS[name], judged_of(target, False), limit)))
        sending.send(None)
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

    def stale(self, subject: Subject) -> bool:
        """Whether there is no row of it as it is now."""
        known = self.rows.get(subject.key)
        return known is None or known["digest"] != subject.digest

    def put(self, key: str, row: dict[str, Any]) -> None:
        """Adds a row; the file is replaced as a whole."""
        self.rows[key] = row
        text = ",\n".join(f" {json.dumps(known)}: {json.dumps(self.rows[known])}" for known in sorted(self.rows))
        fresh = self.path.with_suffix(".json.new")
        fresh.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
        fresh.replace(self.path)


def compact(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The same for the file: of explorations with reductions only the states, and where they differ in more."""
    whole = found.get("none", {})
    return {
        name: {
            "states": one["states"],
            **{field_: one[field_] for field_ in ("refused", "violations") if one[field_] != whole.get(field_)},
            **({} if one["complete"] else {"complete": False}),
        }
        if name != "none"
        else one
        for name, one in found.items()
    }


def rows_of(subjects_: Sequence[Subject], limit: int, seconds: float) -> Iterator[tuple[Subject, dict[str, Any]]]:
    """Compares in a process that remembers the code it has generated, and is ended where one takes so many seconds."""
    left = list(subjects_)
    while left:
        context = multiprocessing.get_context("fork")
        receiving, sending = context.Pipe(duplex=False)
        worker = context.Process(target=compare, args=(left, limit, sending))
        worker.start()
        sending.close()
        try:
            while left:
                found, broken = _received(receiving, seconds)
                row = {"file": left[0].file, "digest": left[0].digest, "limit": limit}
                yield left[0], {**row, **outcome(found, broken), "found": compact(found)}
                del left[0]
                if broken:
                    break
        finally:
            worker.kill()
            worker.join()


def _received(receiving: Connection, seconds: float) -> tuple[dict[str, dict[str, Any]], str]:
    """What was found of one subject, and why that is not all, if it is not."""
    found: dict[str, dict[str, Any]] = {}
    deadline = time.monotonic() + seconds
    while True:
        if not receiving.poll(max(0.0, deadline - time.monotonic())):
            return found, f"no more time after {seconds:g} s"
        try:
            message = receiving.recv()
        except EOFError:
            return found, BROKEN
        if message is None:
            return found, ""
        found[message[0]] = message[1]


def outcome(found: dict[str, dict[str, Any]], broken: str) -> dict[str, Any]:
    """What the explorations of one subject come to."""
    whole = found.get("none")
    if broken == BROKEN:
        return {"outcome": "WRONG", "why": broken}
    if whole is None:
        return {"outcome": "cut", "why": broken}
    reduced = [name for name in found if name != "none"]
    wrong = [f"{name}: {one}" for name in reduced for one in differences(whole, name, found[name])]
    if wrong:
        return {"outcome": "WRONG", "why": "; ".join(wrong)}
    unended = [name for name, each in found.items() if not each["complete"]]
    why = [f"not ended: {', '.join(unended)}"] * bool(unended) + [broken] * bool(broken)
    return {"outcome": "cut" if why else "same", "why": "; ".join(why)}


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
            chosen = list(subjects(file, configuration))
            wanted = [one for one in chosen if options.again or table.stale(one)]
            takes = {one.key: why_not(system_of(one.target.protocol, one.target.workload)) for one in wanted}
            for subject in wanted:
                if takes[subject.key] is not None:
                    known = {"file": file, "digest": subject.digest, "limit": options.limit, "found": {}}
                    table.put(subject.key, {**known, "outcome": "skipped", "why": takes[subject.key]})
            possible = [one for one in wanted if takes[one.key] is None]
            for subject, row in rows_of(possible, options.limit, options.seconds):
                table.put(subject.key, row)
                states = row["found"].get("none", {}).get("states", 0)
                print(f"{row['outcome']}  {subject.key}: {states:,} states {row['why']}", flush=True)
            good = good and all(table.rows[one.key]["outcome"] != "WRONG" for one in chosen)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
