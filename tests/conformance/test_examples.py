"""The adapters that are shipped: the right systems pass, the faulty ones are refuted in a few operations."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import Report, conform
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.systems.subject import Subject, load_subject
from thence.conformance.systems.system import ExternalSystem

EXAMPLES = Path(__file__).parents[2] / "conformance" / "examples"


@dataclass(frozen=True)
class Example:
    """An adapter: what it needs, how it is run, what its faulty version shows, and the protocol that it follows."""

    folder: str
    tools: tuple[str, ...]
    finding: str
    delivery: Any = "unicast"
    protocol: str | None = None

    def command(self, build: Callable[[str], Path]) -> str:
        folder = EXAMPLES / self.folder
        match self.folder:
            case "python":
                return f"{sys.executable} {folder}/adapter.py"
            case "javascript":
                return f"node {folder}/adapter.mjs"
            case "java":
                return f"java -XX:TieredStopAtLevel=1 -cp {build(self.folder)} Adapter"
            case _:
                return str(build(self.folder) / "adapter")


PYTHON = Example("python", (), "causal", protocol="rst")
JAVASCRIPT = Example("javascript", ("node",), "causal")
JAVA = Example("java", ("java", "javac"), "stuck", delivery="broadcast")
GO = Example("go", ("go",), "causal", protocol="mf")
ALL = [PYTHON, JAVASCRIPT, JAVA, GO]

Load = Callable[..., Subject]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles an example, once."""
    built: dict[str, Path] = {}

    def build_one(folder: str) -> Path:
        if folder not in built:
            target = tmp_path_factory.mktemp(folder)
            sources = sorted(map(str, (EXAMPLES / folder).iterdir()))
            words = ["javac", "-Xlint:all", "-Werror", "-d", str(target)]
            if folder == "go":
                words = ["go", "build", "-o", str(target / "adapter")]
            environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": ""}
            subprocess.run([*words, *sources], check=True, env=environment, timeout=300)
            built[folder] = target
        return built[folder]

    return build_one


@pytest.fixture
def load(build: Callable[[str], Path]) -> Iterator[Load]:
    """The subject that an example is; skips where its language is not installed."""
    loaded: list[Subject] = []

    def load_one(example: Example, *arguments: str, kind: str = "exec") -> Subject:
        for tool in example.tools:
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        loaded.append(load_subject(" ".join([f"{kind}:{example.command(build)}", *arguments])))
        return loaded[-1]

    yield load_one
    for subject in loaded:
        subject.close()


def run(subject: Subject, example: Example, protocol: Any = None, cases: int = 150, **settings: Any) -> Report:
    chosen = Settings(delivery=example.delivery, **settings)
    held = opposite(subject, chosen, protocol)
    assert held is None if protocol is None else held is not None and held.protocol == protocol
    return conform(subject.make_process, held, chosen, Sampling(cases=cases, operations=12))


@pytest.mark.long(but=("python",))
@pytest.mark.parametrize("example", ALL, ids=lambda example: example.folder)
def test_the_right_system_passes(example: Example, load: Load) -> None:
    subject = load(example)
    for channels in ("reordering", "fifo"):
        report = run(subject, example, channels=channels)
        assert (report.cases, report.failures, report.withheld) == (150, 0, 0)
        assert report.arrivals > 150
    assert subject.external is not None and subject.external.starts == 1


@pytest.mark.long(but=("python",))
@pytest.mark.parametrize("example", ALL, ids=lambda example: example.folder)
def test_the_faulty_system_is_refuted(example: Example, load: Load) -> None:
    report = run(load(example, "--faulty"), example, cases=300)
    shown = next(shown for shown in report.counterexamples if example.finding in shown.kinds)
    assert shown.reproduced
    assert 3 <= len(shown.operations) <= 9, shown.text()
    assert not {"crash", "hang", "phantom"} & {kind for found in report.counterexamples for kind in found.kinds}


@pytest.mark.parametrize("example", [PYTHON, GO], ids=lambda example: example.folder)
def test_it_is_replayed_in_the_protocol(example: Example, load: Load, library: Callable[[str], Any]) -> None:
    assert example.protocol is not None
    protocol = library(example.protocol)
    right = run(load(example), example, protocol, cases=100)
    assert right.failures == 0
    assert right.matched > right.events
    faulty = run(load(example, "--faulty"), example, protocol, cases=300)
    shown = next(shown for shown in faulty.counterexamples if "nonconformance" in shown.kinds)
    [divergence] = [finding.divergence for finding in shown.findings if finding.divergence is not None]
    assert divergence.guard is not None, "the guard of the protocol that decided"


@pytest.mark.parametrize("example", [PYTHON, JAVASCRIPT, GO], ids=lambda example: example.folder)
def test_one_process_for_each_participant_comes_to_the_same(example: Example, load: Load) -> None:
    together = run(load(example, "--faulty"), example, cases=60)
    apart_subject = load(example, "--faulty", kind="exec-per-process")
    apart = run(apart_subject, example, cases=60)
    assert apart_subject.external is not None and apart_subject.external.starts == 3
    assert (apart.cases, apart.failures, apart.events) == (together.cases, together.failures, together.events)


class Afterwards:
    """A foreign system whose applications send only after a step."""

    def __init__(self, system: ExternalSystem) -> None:
        self.begin_case = system.begin_case
        self._system = system

    def __call__(self, identity: int, processes: int) -> Any:
        process = self._system(identity, processes)
        process.react = None
        return process


def test_an_answer_from_inside_a_delivery_shows_what_one_after_it_does_not(load: Load) -> None:
    """The clock of the faulty JavaScript system is updated after the callback, but before the end of the step."""
    subject = load(JAVASCRIPT, "--faulty")
    assert subject.external is not None
    assert run(subject, JAVASCRIPT, cases=200).failures > 0
    opposite(subject, Settings(), None)
    assert conform(Afterwards(subject.external), None, Settings(), Sampling(cases=200, operations=12)).failures == 0


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.folder)
def test_adapters_and_systems_stay_small(example: Example) -> None:
    files = [path for path in (EXAMPLES / example.folder).iterdir() if path.is_file()]
    sizes = {path.name: path.read_text(encoding="utf-8").count("\n") for path in files}
    assert len(sizes) == 2
    assert max(sizes.values()) < 80, sizes
