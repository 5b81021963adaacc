"""All that files state, as tasks: each is a declaration of a file, and is done anywhere by its text alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.dsl.load import Loaded, is_of_the_library, load_once
from thence.proofs.explore.exploration import ONE_THREAD
from thence.proofs.prove import parts, prove_specification
from thence.proofs.solving.discharge import Options as ProofOptions
from thence.spec.collector import collector_seldom
from thence.spec.verdict import Result

TaskKind: TypeAlias = Literal["theorem", "prove", "scope", "protocol", "mutant", "link", "scenario", "conform"]


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work: a declaration of a file, by kind and name. `content` is all of the file."""

    kind: TaskKind
    file: str
    name: str
    content: bytes = field(repr=False)
    cases: int = 0
    seed: int = 0
    seconds: float = field(default=0.0, compare=False)
    """About how long it takes, on a processor of its own."""
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What it can be chosen by: the names of all that it judges."""

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def about(self) -> tuple[str | bytes, ...]:
        """All that the results depend on, but for the program."""
        return self.kind, self.file, self.name, self.content, str(self.cases), str(self.seed)


_SECONDS: Final[dict[TaskKind, float]] = {
    "theorem": 2.0,
    "prove": 1.0,
    "link": 3.0,
    "scope": 0.6,
    "protocol": 0.6,
    "mutant": 0.5,
    "scenario": 0.1,
    "conform": 1.5,
}

_STEP_S: Final = 0.04
"""For each invariant and transition of a machine."""
_MUTANT_S: Final = 3.0
"""For each mutant of a machine."""


def tasks_of(file: Loaded, cases: int, seed: int) -> Iterator[Task]:
    """The work for one file, in the order in which results are shown. `cases` are those of an implementation."""
    found = file.specification
    assert found is not None
    content = file.source.text.encode()

    def task(kind: TaskKind, name: str, *names: str, more_s: float = 0.0, cases: int = 0, seed: int = 0) -> Task:
        return Task(kind, str(file.path), name, content, cases, seed, _SECONDS[kind] + more_s, (name, *names))

    for name, part in parts(found):
        if name:
            others = (each.name for each in (*part.mutants, *part.links))
            yield task("prove", name, *others, more_s=_machine_s(part), seed=seed)
        else:
            theorems = (known for theorem in part.theorems for known in (theorem.theory.name, theorem.name))
            yield task("theorem", file.path.stem, *theorems, seed=seed)
    for scope in found.scopes:
        yield task("scope", f"{scope.name} of {scope.protocol}", scope.name, scope.protocol)
    stated = {scope.protocol for scope in found.scopes}
    for protocol in found.protocols:
        if protocol.name not in stated and states_something(protocol):
            yield task("protocol", protocol.name)
    for link in found.links:
        yield task("link", link.name, link.protocol.name, link.machine.name)
    for mutant in found.mutants:
        if isinstance(mutant.mutated, ir.Protocol):
            yield task("mutant", f"{mutant.subject}/{mutant.name}", mutant.name, mutant.subject)
    for scenario in found.scenarios:
        yield task("scenario", scenario.name, scenario.subject, *scenario.subject.split("/"))
    for name in implemented(file):
        yield task("conform", name, cases=cases, seed=seed)


def implemented(file: Loaded) -> tuple[str, ...]:
    """The protocols of a library file that have a shipped implementation. It implements no other protocol, whatever
    that one's name is."""
    found = file.specification
    if found is None or not is_of_the_library(file.path):
        return ()
    return tuple(protocol.name for protocol in found.protocols if protocol.name in SHIPPED)


def states_something(protocol: ir.Protocol) -> bool:
    """Whether the protocol claims anything of its runs."""
    return bool(protocol.properties or protocol.liveness or protocol.invariants or protocol.rest)


def _machine_s(part: ir.Specification) -> float:
    (machine,) = part.machines
    steps = (len(machine.invariants) + len(machine.prove)) * len(machine.transitions)
    return _STEP_S * steps + _MUTANT_S * len(part.mutants)


def run_task(task: Task) -> tuple[Result, ...]:
    """Does one piece of work, in a process of this machine or of another one."""
    with collector_seldom():
        return _done(task)


def _done(task: Task) -> tuple[Result, ...]:
    found = load_once(Path(task.file), task.content, len(task.content)).specification
    assert found is not None
    match task.kind:
        case "theorem" | "prove":
            wanted = task.name if task.kind == "prove" else ""
            part = next(part for name, part in parts(found) if name == wanted)
            return prove_specification(part, (), ProofOptions(seed=task.seed, workers=1), None)
        case "scope":
            from thence.proofs.scopes.scopes import Options, explore_scope

            scope = next(known for known in found.scopes if f"{known.name} of {known.protocol}" == task.name)
            protocol = next(known for known in found.protocols if known.name == scope.protocol)
            return explore_scope(
                protocol, scope.name, scope.workload, scope.expects, options=Options(resources=ONE_THREAD)
            )
        case "protocol":
            from thence.proofs.scopes.scopes import Options, explore_unscoped

            protocol = next(known for known in found.protocols if known.name == task.name)
            return explore_unscoped(protocol, Options(resources=ONE_THREAD))
        case "link":
            from thence.proofs.scopes.scopes import check_links

            return check_links(next(known for known in found.links if known.name == task.name))
        case "mutant":
            from thence.proofs.scopes.scopes import Options, check_mutant

            mutant = next(known for known in found.mutants if f"{known.subject}/{known.name}" == task.name)
            return check_mutant(found, mutant, Options(resources=ONE_THREAD))
        case "scenario":
            from thence.proofs.scopes.scenarios import play_scenario

            return play_scenario(next(known for known in found.scenarios if known.name == task.name))
        case "conform":
            return (_conformed(task),)


def _conformed(task: Task) -> Result:
    from thence.api.driving import Drive, conform_result

    with _at_hand(task) as file:
        result = conform_result(Drive(file, SHIPPED[task.name], 3, task.cases, 12, task.seed))
    if file == task.file:
        return result
    here, named = (json.dumps(name, ensure_ascii=False)[1:-1] for name in (file, task.file))
    facts = json.loads(json.dumps(dict(result.facts), ensure_ascii=False).replace(here, named))
    return replace(result, facts=facts, explanation=result.explanation.replace(file, task.file))


@contextmanager
def _at_hand(task: Task) -> Iterator[str]:
    """A file with the task's text: the one of its name where it has that, or else a copy."""
    try:
        same = Path(task.file).read_bytes() == task.content
    except OSError:
        same = False
    if same:
        yield task.file
        return
    with TemporaryDirectory(prefix="thence-task-") as folder:
        copy = Path(folder) / Path(task.file).name
        copy.write_bytes(task.content)
        yield str(copy)
