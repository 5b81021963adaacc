"""The statements of the claims among the results of a run, and the commands of the claims, run."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from thence.pages.paper_claims.claim import PaperClaims, Run, Shown

KEPT: Final = ("verdict", "level", "seconds", "states", "obligations")
"""The facts of a result that the page shows."""

Record = Mapping[str, Any]


def statements_of(papers: Iterable[PaperClaims]) -> tuple[Shown, ...]:
    """All statements with their expected verdicts, each once."""
    return tuple(dict.fromkeys(one for paper in papers for claim in paper.claims for one in claim.shown))


def runs_of(papers: Iterable[PaperClaims]) -> tuple[Run, ...]:
    """All commands, each once, with all that the claims want it to print."""
    merged: dict[str, Run] = {}
    for run in (run for paper in papers for claim in paper.claims for run in claim.runs):
        known = merged.get(run.command, run)
        assert known.exit == run.exit, f"{run.command}: two exit codes are expected"
        merged[run.command] = replace(known, prints=tuple(dict.fromkeys((*known.prints, *run.prints))))
    return tuple(merged.values())


def found_among(wanted: Iterable[Shown], results: Iterable[Record]) -> dict[str, Record]:
    """The records of the statements, by key. A statement without a result has none."""
    known = {(one["kind"], one["subject"], one["name"]): one for one in results}
    records: dict[str, Record] = {}
    for shown in wanted:
        about = shown.statement
        result = known.get((about.kind, about.subject, about.name))
        if result is not None:
            records[about.key] = {name: result[name] for name in KEPT if name in result}
    return records


def executed(run: Run) -> Record:
    """Runs a command of Thence with this interpreter's installation."""
    program, *arguments = shlex.split(run.command)
    assert program == "thence", run.command
    began = monotonic()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("thence")), *arguments], capture_output=True, text=True, check=False
    )
    printed = " ".join(done.stdout.split())
    missing = [text for text in run.prints if " ".join(text.split()) not in printed]
    return {"exit": done.returncode, "missing": missing, "seconds": round(monotonic() - began, 1)}


def differences(wanted: Iterable[Shown], records: Mapping[str, Record]) -> tuple[str, ...]:
    """Where a verdict or level is not the one that the claims expect."""
    wrong = []
    for shown in wanted:
        key, expected = shown.statement.key, f"{shown.verdict} {shown.level}"
        record = records.get(key)
        if record is None:
            wrong.append(f"{key}: expected {expected}, and the library does not state it")
        elif f"{record['verdict']} {record['level']}" != expected:
            wrong.append(f"{key}: expected {expected}, found {record['verdict']} {record['level']}")
    return tuple(wrong)


def run_differences(runs: Iterable[Run], records: Mapping[str, Record]) -> tuple[str, ...]:
    """Where a command ended otherwise than its entry expects."""
    wrong = []
    for run in runs:
        record = records.get(run.command)
        if record is None:
            wrong.append(f"{run.command}: it was not run")
            continue
        if record["exit"] != run.exit:
            wrong.append(f"{run.command}: expected exit code {run.exit}, found {record['exit']}")
        wrong += [f"{run.command}: it does not print {text!r}" for text in record["missing"]]
    return tuple(wrong)
