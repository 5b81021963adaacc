"""Counterexamples as files: ITF objects, and pytest files that replay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.check.workloads.kind import ProtocolKind
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.export.itf import itf
from thence.dsl.export.regression import here, pytest_file, violated
from thence.dsl.load import load
from thence.dsl.run.narrate import ReplayError, record
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Violation
from thence.proofs.liveness.lasso import find_lasso

WORKLOAD = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))
SETTINGS = lines_of(WORKLOAD, ProtocolKind())


def violation(file: str, mutant: str, property_: str, workload: ir.Workload = WORKLOAD) -> Violation:
    specification = load(file).specification
    assert specification is not None
    subject = next(known.mutated for known in specification.mutants if known.name == mutant)
    assert isinstance(subject, ir.Protocol)
    return explore(subject, workload, [property_], stop_when_refuted=True).violations[property_]


@pytest.mark.long(but=("mf-acknowledges_nothing-delivered",))
@pytest.mark.parametrize(
    ("file", "mutant", "property_"),
    [
        ("mf", "posts_at_once", "causal"),
        ("cykas", "no_secret_mode", "csps"),
        ("mf", "acknowledges_nothing", "delivered"),
    ],
)
def test_the_pytest_file_passes(file: str, mutant: str, property_: str, tmp_path: Path) -> None:
    found = violation(file, mutant, property_)
    steps = record(found.system, found.steps)
    path = tmp_path / "test_it.py"
    path.write_text(pytest_file(file, file, mutant, SETTINGS, property_, steps), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path], cwd=tmp_path, capture_output=True,
        encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_repaired_protocol_is_not_violated() -> None:
    found = violation("mf", "posts_at_once", "causal")
    steps = record(found.system, found.steps)
    assert "causal" in violated("mf", "mf", "posts_at_once", SETTINGS, steps)
    with pytest.raises(ReplayError):
        violated("mf", "mf", None, SETTINGS, steps)


def test_a_lasso_is_replayed() -> None:
    specification = load("cykas").specification
    assert specification is not None
    workload = next(scope.workload for scope in specification.scopes if scope.name == "starvation")
    lasso = find_lasso(specification.protocols[0], workload).lasso
    assert lasso is not None
    steps = record(lasso.system, (*lasso.stem, *lasso.cycle))
    settings = lines_of(workload, ProtocolKind())
    assert violated("cykas", "cykas", None, settings, steps) == {"delivered"}
    assert violated("cykas", "cykas", None, settings, steps[:-1]) == set()


PROMISES = """\
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message GO()
  state:
    ready: bool
    finished: bool
  on causal_send(m):
    send MSG(m) to m.dst
    send GO() to m.dst
  on receive MSG(m) from j: deliver m
  on receive GO() from j: {go}
  {timers}
  eventually delivered under fair {fair}
  eventually finished: exists p: process. finished@p

scope s of p:
  processes 2
  sends 1, 0
"""
TIMERS = """periodically first: ready := not ready
  periodically second:
    if ready: finished := true"""


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"go": "pass", "timers": TIMERS, "fair": "receive"}, ["finished"]),  # again and again
        ({"go": "pass", "timers": "", "fair": "GO"}, ["delivered", "finished"]),  # nothing has to arrive
    ],
    ids=["cycle", "end"],
)
def test_a_fair_run_without_what_is_promised_is_replayed(
    values: dict[str, str], names: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "p.thence"
    file.write_text(PROMISES.format(**values), encoding="utf-8")
    specification = load(str(file)).specification
    assert specification is not None
    (protocol,), (scope,) = specification.protocols, specification.scopes
    found = explore(protocol, scope.workload, ["delivered", "finished"]).violations
    assert sorted(found) == names
    settings = lines_of(scope.workload, ProtocolKind())
    for name, violation in found.items():
        steps = record(violation.system, violation.steps)
        assert name in violated(str(file), "p", None, settings, steps)
        assert steps == [] or name not in violated(str(file), "p", None, settings, steps[:1])


def test_names() -> None:
    with pytest.raises(ValueError, match="no protocol nothing"):
        violated("mf", "nothing", None, SETTINGS, [])
    with pytest.raises(ValueError, match="mutant nothing"):
        violated("mf", "mf", "nothing", SETTINGS, [])
    assert violated("mf", "mf", None, SETTINGS, []) == set()
    assert here("mf") == "mf" and Path(here(__file__)).is_absolute()


def plain(value: Any) -> Any:
    """ITF back to Python."""
    if isinstance(value, dict):
        if "#bigint" in value:
            return int(value["#bigint"])
        if "#set" in value:
            return frozenset(map(freeze, value["#set"]))
        if "#map" in value:
            return {freeze(key): plain(part) for key, part in value["#map"]}
        return {key: plain(part) for key, part in value.items() if key != "#meta"}
    return [plain(part) for part in value] if isinstance(value, list) else value


def freeze(value: Any) -> Any:
    found = plain(value)
    return tuple(sorted((key, freeze(part)) for key, part in found.items())) if isinstance(found, dict) else found


@pytest.mark.parametrize("name", ["mf", "cykas", "rst", "hybrid_basic"])
def test_itf(name: str) -> None:
    specification = load(name).specification
    assert specification is not None
    system = System(specification.protocols[0], WORKLOAD)
    steps = simulate(system, 3, 40)
    found = json.loads(json.dumps(itf(system, steps, name)))
    assert found["#meta"]["format"] == "ITF" and len(found["states"]) == len(steps) + 1
    for index, (shown, step) in enumerate(zip(found["states"][1:], steps, strict=True), 1):
        assert set(shown) == {"#meta", *found["vars"]} and shown["#meta"]["index"] == index
        state = plain(shown)
        assert state["action"] == step.title
        assert sum(state["network"].values()) == len(step.outcome.state.network)
        assert len(state["undelivered"]) == len(step.outcome.state.history.pending)
        if name == "cykas":
            at = next(n for n, variable in enumerate(system.protocol.state) if variable.name == "MODE")
            assert state["MODE"] == {p: local[at] for p, local in enumerate(system.locals_of(step.outcome.state))}
