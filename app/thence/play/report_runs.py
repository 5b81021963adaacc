"""The refuted statements of a report as runs that one plays: the player once, and what differs from run to run."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from thence.dsl.load import Loaded, library, load_once
from thence.play.backend.backend import Backend
from thence.play.page import page
from thence.play.proving import run_of
from thence.play.recording import config_of_run
from thence.play.single_file import NotKept, config_of, cycle_of
from thence.spec.verdict import Result, Verdict

CONFIG: Final = "THENCE-CONFIG"
"""What stands in the page in the place of the configuration of a run."""


@dataclass(frozen=True, slots=True)
class FileRuns:
    """The runs of the results of one file. They share its text and its summary.

    Attributes:
        shared: text, summary and colours, by the name of what has them.
        runs: the configurations of the page, without what is shared.
        numbers: for each result the number of its run; None where it shows none.
    """

    shared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runs: Sequence[Mapping[str, Any]] = ()
    numbers: Sequence[int | None] = ()


@dataclass(slots=True)
class _Collected:
    """Collects the runs of one file."""

    loaded: Loaded
    backend: Backend
    shared: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def add(self, result: Result) -> int | None:
        """The number of the run that a result shows; None where it shows none."""
        loaded = self.loaded
        begun = start_of_result(result)
        steps = result.facts.get("counterexample")
        if begun is None and result.verdict is Verdict.REFUTED and isinstance(steps, Mapping):
            return self._add_countermodel(result, steps)
        if begun is None or result.verdict is not Verdict.REFUTED or not (steps or "scenario" in begun):
            return None
        identity = json.dumps([loaded.path.name, begun, steps, result.facts.get("property")])
        if identity in self._known:
            return self._known[identity]
        given = None if "scenario" in begun else steps
        try:
            refuted = "" if given is None else str(result.facts.get("property", ""))
            config = config_of(self.backend, loaded, begun, given, cycle_of(result), refuted)
        except NotKept:  # a run of an abstraction is none of the protocol in a scope
            return None
        return self._keep(identity, config)

    def _add_countermodel(self, result: Result, found: Mapping[str, Any]) -> int | None:
        """The number of the countermodel of a theorem or a machine, as a run; None where it is no execution."""
        loaded = self.loaded
        identity = json.dumps([loaded.path.name, result.subject, found])
        if identity in self._known:
            return self._known[identity]
        run = run_of(result.name, found)
        if run is None:
            return None
        name = loaded.path.name.removesuffix(".thence")
        file = name if loaded.path in library() else loaded.path.name
        said = f"{result.name} is refuted by this {'step' if found.get('kind') == 'induction' else 'run'}."
        config = config_of_run(run, len(run["steps"]), said, f"thence prove {file} {_proved(result)}")
        config["kept"]["name"] = f"countermodels of {name}"
        return self._keep(identity, config)

    def _keep(self, identity: str, config: dict[str, Any]) -> int:
        kept = config["kept"]
        self.shared.setdefault(kept["name"], {name: kept[name] for name in ("rules", "text", "summary")})
        for name in ("rules", "text", "summary"):
            del kept[name]
        number = self._known[identity] = len(self.runs)
        self.runs.append(config)
        return number


def _proved(result: Result) -> str:
    """What `thence prove` proves again: the theorem, the machine, or the mutant of one."""
    return result.subject if result.kind == "machine" else result.name.partition(": ")[0]


def start_of_result(result: Result) -> dict[str, Any] | None:
    """Where the run of a result begins; None for results that have no runs."""
    subject, _, mutant = result.subject.partition("/")
    if result.kind == "scenario":
        return {"scenario": result.name.partition(": ")[0]}
    scope = result.facts.get("scope")
    if result.kind == "link" and isinstance(scope, Mapping):
        return {"scope": scope["name"]}
    if result.kind not in ("scope", "mutant") or not isinstance(scope, Mapping):
        return None
    named = {"mutant": mutant} if mutant else {"protocol": subject}
    if scope.get("name"):
        return {**named, "scope": scope["name"]}
    return {**named, "processes": scope["processes"], "settings": list(scope["settings"])}


@dataclass(frozen=True, slots=True)
class Refuted:
    """The results of a file that are shown, for another process: `content` is all of the file."""

    file: Path
    content: bytes = field(repr=False)
    results: Sequence[Result] = field(repr=False)


def runs_there(refuted: Refuted) -> FileRuns:
    """The runs of the refuted results, in a process that may have read the file already."""
    return runs_of(load_once(refuted.file, refuted.content, len(refuted.content)), refuted.results)


def runs_of(loaded: Loaded, results: Sequence[Result]) -> FileRuns:
    """The runs of the refuted results of a file."""
    backend = Backend()
    backend.keep(loaded)
    collected = _Collected(loaded, backend)
    numbers = [collected.add(result) for result in results]
    return FileRuns(collected.shared, collected.runs, numbers)


def packed(files: Sequence[FileRuns]) -> tuple[str, list[list[int | None]]]:
    """The page and the runs of all files as JSON, by gzip, in base 64; empty without runs. And for each file the
    numbers that its runs have there, as its own."""
    shared: dict[str, Mapping[str, Any]] = {}
    runs: list[Mapping[str, Any]] = []
    numbers: list[list[int | None]] = []
    for each in files:
        numbers.append([None if number is None else len(runs) + number for number in each.numbers])
        for name, texts in each.shared.items():
            shared.setdefault(name, texts)
        runs += each.runs
    if not runs:
        return "", numbers
    blank = page({"here": CONFIG}).replace(json.dumps({"here": CONFIG}, separators=(",", ":")), CONFIG)
    data = {"page": blank, "shared": shared, "runs": runs}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode(), numbers
