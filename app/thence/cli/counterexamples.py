"""The first counterexample of an exploration in files.

They are a diagram, an ITF trace, a recorded execution, a pytest file, and the player with that run in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial

from thence.api.targets import Target
from thence.cli.output import Output, faults_of, unwritten
from thence.cli.session import check_writable, write_text
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.check.workloads.settings import lines_of
from thence.dsl.export.itf import itf
from thence.dsl.export.regression import here, pytest_file
from thence.dsl.load import load
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import execution, replay
from thence.play.single_file import cycle_of, single_file, start_of
from thence.spec.diagram import text_without_packets, without_packets
from thence.spec.trace import Trace, write_trace
from thence.spec.verdict import Result


@dataclass(frozen=True, slots=True)
class Drawing:
    """The file of a diagram, and whether control packets are drawn."""

    path: str
    packets: bool = True

    def write(self, picture: str) -> None:
        """Writes the diagram. Raises BadInput where that fails."""
        write_text(self.path, picture if self.packets else without_packets(picture))


def without_packet_rows(output: Output) -> Output:
    """The output, whose diagrams in text have no control packets."""
    results = tuple(replace(each, explanation=text_without_packets(each.explanation)) for each in output.results)
    return replace(output, results=results, text=output.text and text_without_packets(output.text))


@dataclass(frozen=True, slots=True)
class Files:
    """The file for each form of the counterexample; None: no file."""

    svg: Drawing | None = None
    itf: str | None = None
    trace: str | None = None
    pytest: str | None = None
    html: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The files to write."""
        files = (getattr(self, field.name) for field in fields(self))
        return tuple(file.path if isinstance(file, Drawing) else file for file in files if file is not None)

    def check(self) -> None:
        """Raises BadInput where one of them cannot be written."""
        for path in self.asked:
            check_writable(path)


def with_first(output: Output, file: str, found: Iterable[tuple[Target, Result]], files: Files) -> Output:
    """Writes the first counterexample, replayed once more. `file` is the specification's name.

    Returns the output, which says where there is none, or where a file could not be written.
    """
    if not files.asked:
        return output
    shown = next(((target, result) for target, result in found if "counterexample" in result.facts), None)
    if shown is None:
        said = f"there is no counterexample: {' and '.join(files.asked)} not written\n"
        return replace(output, notes=output.notes + said)
    return unwritten(output, faults_of(_writes(file, *shown, files)))


def _writes(file: str, target: Target, result: Result, files: Files) -> Iterator[Callable[[], object]]:
    """What writes each form of the counterexample."""
    recorded = list(result.facts["counterexample"])
    system = system_of(target.protocol, target.workload)
    steps = replay(system, recorded)
    property_ = str(result.facts["property"])

    def write_itf(path: str) -> None:
        write_text(path, json.dumps(itf(system, steps, file), indent=1) + "\n")

    def write_events(path: str) -> None:
        header = {"protocol": target.subject, "violates": property_, "source": file}
        write_trace(path, Trace(execution(system, steps), header))

    def write_pytest(path: str) -> None:
        protocol, _, mutant = target.subject.partition("/")
        settings = lines_of(target.workload, kind_of(target.protocol))
        write_text(path, pytest_file(here(file), protocol, mutant or None, settings, property_, recorded))

    def write_page(path: str) -> None:
        write_text(path, single_file(load(file), start_of(target), recorded, cycle_of(result), property_))

    if files.svg is not None:
        yield partial(files.svg.write, result.picture)
    ways = ((files.itf, write_itf), (files.trace, write_events), (files.pytest, write_pytest), (files.html, write_page))
    for path, write in ways:
        if path is not None:
            yield partial(write, path)
