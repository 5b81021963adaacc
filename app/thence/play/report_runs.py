"""The refuted statements of a report as runs that one plays: the player once, and what differs from run to run."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from thence.dsl.load import Loaded, library
from thence.play.backend.backend import Backend
from thence.play.page import page
from thence.play.proving import run_of
from thence.play.recording import config_of_run
from thence.play.single_file import NotKept, config_of, cycle_of
from thence.spec.verdict import Result, Verdict

CONFIG: Final = "THENCE-CONFIG"
"""What stands in the page in the place of the configuration of a run."""


@dataclass(slots=True)
class Runs:
    """Collects runs. Those of one file share its text and its summary."""

    _shared: dict[str, dict[str, Any]] = field(default_factory=dict)
    _runs: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def add(self, loaded: Loaded, backend: Backend, result: Result) -> int | None:
        """The number of the run that a result shows; None where it shows none."""
        begun = start_of_result(result)
        steps = result.facts.get("counterexample")
        if begun is None and result.verdict is Verdict.REFUTED and isinstance(steps, Mapping):
            return self._add_countermodel(loaded, result, steps)
        if begun is None or result.verdict is not Verdict.REFUTED or not (steps or "scenario" in begun):
            return None
        identity = json.dumps([loaded.path.name, begun, steps, result.facts.get("property")])
        if identity in self._known:
            return self._known[identity]
        given = None if "scenario" in begun else steps
        try:
            refuted = "" if given is None else str(result.facts.get("property", ""))
            config = config_of(backend, loaded, begun, given, cycle_of(result), refuted)
        except NotKept:  # a run of an abstraction is none of the protocol in a scope
            return None
        return self._keep(identity, config)

    def _add_countermodel(self, loaded: Loaded, result: Result, found: Mapping[str, Any]) -> int | None:
        """The number of the countermodel of a theorem or a machine, as a run; None where it is no execution."""
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
        self._shared.setdefault(kept["name"], {name: kept[name] for name in ("rules", "text", "summary")})
        for name in ("rules", "text", "summary"):
            del kept[name]
        number = self._known[identity] = len(self._runs)
        self._runs.append(config)
        return number

    def packed(self) -> str:
        """The page and the runs as JSON, by gzip, in base 64; empty without runs."""
        if not self._runs:
            return ""
        blank = page({"here": CONFIG}).replace(json.dumps({"here": CONFIG}, separators=(",", ":")), CONFIG)
        data = {"page": blank, "shared": self._shared, "runs": self._runs}
        packed = gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
        return base64.b64encode(packed).decode()


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


def runs_of(loaded: Sequence[Loaded], results: Sequence[Sequence[Result]]) -> tuple[str, dict[int, int]]:
    """The packed runs of the refuted results of files, and the number of the run of each, by `id` of the result."""
    runs, numbers = Runs(), dict[int, int]()
    for file, those in zip(loaded, results, strict=True):
        backend = Backend()
        for result in those:
            number = runs.add(file, backend, result)
            if number is not None:
                numbers[id(result)] = number
    return runs.packed(), numbers
