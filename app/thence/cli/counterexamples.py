"""The first counterexample of an exploration in files.

They are a diagram, an ITF trace, a recorded execution, a pytest file, and the player with that run in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from thence.api.targets import Target
from thence.cli.output import Output
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


def write_first(file: str, found: Iterable[tuple[Target, Result]], files: Files) -> str:
    """Writes the first counterexample, replayed once more. `file` is the specification's name.

    Returns a note for readers: "", or that there is none. Raises BadInput where a file cannot be written.
    """
    if not files.asked:
        return ""
    shown = next(((target, result) for target, result in found if "counterexample" in result.facts), None)
    if shown is None:
        return f"there is no counterexample: {' and '.join(files.asked)} not written\n"
    target, result = shown
    recorded = list(result.facts["counterexample"])
    system = system_of(target.protocol, target.workload)
    steps = replay(system, recorded)
    property_ = str(result.facts["property"])
    if files.svg is not None:
        files.svg.write(result.picture)
    if files.itf is not None:
        write_text(files.itf, json.dumps(itf(system, steps, file), indent=1) + "\n")
    if files.trace is not None:
        header = {"protocol": target.subject, "violates": property_, "source": file}
        write_trace(files.trace, Trace(execution(system, steps), header))
    if files.pytest is not None:
        protocol, _, mutant = target.subject.partition("/")
        settings = lines_of(target.workload, kind_of(target.protocol))
        content = pytest_file(here(file), protocol, mutant or None, settings, property_, recorded)
        write_text(files.pytest, content)
    if files.html is not None:
        page = single_file(load(file), start_of(target), recorded, cycle_of(result), property_)
        write_text(files.html, page)
    return ""
