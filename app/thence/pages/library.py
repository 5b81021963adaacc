"""The page of the library, docs/library/index.md: a row for each system, every cell from the results of a run.

A cell counts the results that are as the file expects, and names the others. A cell without a result is a dash.
`python -m thence.pages.library FOLDER RESULTS.json...` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thence.conformance.implementations import SHIPPED
from thence.dsl import ir
from thence.dsl.load import load
from thence.pages.errata.cell import cell
from thence.pages.folder import run_page
from thence.pages.results import read_results
from thence.spec.words import counted

PAGE: Final = "index.md"
SOURCES: Final = "../../spec/thence/spec/library"
"""The folder of the files, from the page."""


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its name, its files, and the files that hold its text as printed."""

    system: str
    files: tuple[str, ...]
    printed: tuple[str, ...] = ()


ROWS: Final = (
    Row("FIFO sequence numbers (control)", ("fifo",)),
    Row("Synchronous communication (control)", ("synchronous",)),
    Row("Client-server vectors (Kearns, Koodalattupuram)", ("client_server",)),
    Row("SES (Schiper, Eggli, Sandoz)", ("ses",)),
    Row("RST (Raynal, Schiper, Toueg), Kuper's form", ("rst",)),
    Row("RST, Mattern and Fünfrocken's form", ("rst_mf",)),
    Row("RST, Kuper's hunch", ("rst_hunch",)),
    Row("Buffer protocol (Mattern, Fünfrocken)", ("mf",)),
    Row("Buffer protocol, footnote 4", ("mf_pipelined",)),
    Row("CBCAST (Birman, Schiper, Stephenson)", ("cbcast",)),
    Row("KS (Kshemkalyani, Singhal)", ("ks",)),
    Row("Newtop (Ezhilchelvan, Macêdo, Shrivastava)", ("newtop",)),
    Row("Cykas (Tong, Liittschwager, Kuper)", ("cykas",), ("cykas_printed",)),
    Row("Cykas without starvation", ("cykas_live",)),
    Row("Hybrid buffering, Algorithm 1 (Almeida)", ("hybrid_basic", "hybrid_basic_numbers"), ("hybrid_basic_printed",)),
    Row(
        "Hybrid buffering, Algorithm 2 (Almeida)",
        ("hybrid_optimal", "hybrid_optimal_indices"),
        ("hybrid_optimal_printed",),
    ),
    Row("Hybrid buffering, Algorithm 2 with remembered permits", ("hybrid_remembering",)),
    Row("Hybrid buffering, Algorithm 3 (Almeida)", ("hybrid_multicast",), ("hybrid_multicast_printed",)),
    Row("Trees of FIFO links", ("tree",), ("tree_printed",)),
)
"""The systems of the library. A control is there to fail: its statements are about the failure."""

TEXTBOOK_ROWS: Final = (
    Row("Mutual exclusion (Ricart, Agrawala)", ("ricart_agrawala",)),
    Row("Mutual exclusion (Lamport)", ("lamport_mutex",)),
    Row("Distributed snapshots (Chandy, Lamport)", ("chandy_lamport",)),
    Row("Two-phase commit (Gray)", ("two_phase_commit",)),
    Row("PC-broadcast (Nédelec, Molli, Mostéfaoui)", ("pc_broadcast",)),
    Row("Causal key-value store (COPS)", ("cops",)),
    Row("Total order (Skeen)", ("skeen",)),
    Row("Termination detection (Dijkstra, Scholten)", ("dijkstra_scholten",)),
)
"""The protocols of the textbook."""


def table(results: Sequence[Mapping[str, Any]], rows: Iterable[Row] = ROWS) -> str:
    """The table, in Markdown."""
    lines = [
        "| system | specification | explored | proved, any number of processes | links |"
        " implementation, conformance | mutants killed | printed faults shown |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        found = [_specification(name) for name in row.files]
        cells = (
            row.system,
            ", ".join(f"[`{name}`]({SOURCES}/{name}.thence)" for name in row.files),
            _explored(results, found),
            _proved(results, found),
            _links(results, found),
            _implementation(results, row.files[0]),
            _mutants(results, found),
            cell(results, (*row.files, *row.printed)),
        )
        lines.append(f"| {' | '.join(cell or '–' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """The whole page, in Markdown."""
    return f"{_HEADING}{table(results)}\n{_TEXTBOOK}{table(results, TEXTBOOK_ROWS)}"


def _specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None, name
    return found


def _explored(results: Sequence[Mapping[str, Any]], files: Sequence[ir.Specification]) -> str:
    protocols = {protocol.name for file in files for protocol in file.protocols}
    found = [each for each in results if each["kind"] == "scope" and each["subject"] in protocols]
    if not found:
        return ""
    scopes = {(each["subject"], each["scope"]["name"]) for each in found}
    largest = max(found, key=lambda each: int(each.get("states", 0)))
    held = sum(each["verdict"] == "holds" for each in found)
    refuted = sum(each["verdict"] == "refuted" for each in found)
    counts = [f"{held} {'holds' if held == 1 else 'hold'}"] * bool(held) + [f"{refuted} refuted"] * bool(refuted)
    size = f"{counted(len(scopes), 'scope')}, up to {counted(largest['states'], 'state')}"
    return f"{size}: {', '.join(counts)}{_surprises(found)}"


def _proved(results: Sequence[Mapping[str, Any]], files: Sequence[ir.Specification]) -> str:
    subjects = {item.name for file in files for item in (*file.machines, *file.theories)}
    found = [each for each in results if each["kind"] in ("machine", "theorem") and each["subject"] in subjects]
    levels: dict[str, int] = {}
    for each in found:
        if each["verdict"] == "proved":
            levels[each["level"]] = levels.get(each["level"], 0) + 1
    parts = [f"{count} ({level})" for level, count in sorted(levels.items(), reverse=True)]
    refuted = sum(each["verdict"] == "refuted" for each in found)
    return ", ".join([*parts, *[f"{refuted} refuted"] * bool(refuted)]) + _surprises(found)


def _links(results: Sequence[Mapping[str, Any]], files: Sequence[ir.Specification]) -> str:
    subjects = {f"{link.protocol.name} to {link.machine.name}" for file in files for link in file.links}
    found = [each for each in results if each["kind"] == "link" and each["subject"] in subjects]
    scoped = [each for each in found if each["verdict"] != "proved"]
    held = sum(each["verdict"] == "holds" for each in scoped)
    parts = [f"{held} of {len(scoped)} {'holds' if held == 1 else 'hold'} (L1)"] * bool(scoped)
    parts += [f"proved ({each['level']})" for each in found if each["verdict"] == "proved"]
    return ", ".join(parts)


def _implementation(results: Sequence[Mapping[str, Any]], protocol: str) -> str:
    if protocol not in SHIPPED:
        return ""
    found = [each for each in results if each["kind"] == "conform" and each["subject"] == SHIPPED[protocol]]
    module, _, name = SHIPPED[protocol].partition(":")
    cases = sum(each["cases"] for each in found)
    failures = sum(each["failures"] for each in found)
    return f"`{module}.{name}`: {counted(cases, 'case')}, {counted(failures, 'failure')}{_surprises(found)}"


def _mutants(results: Sequence[Mapping[str, Any]], files: Sequence[ir.Specification]) -> str:
    killed, alive = 0, []
    for file in files:
        for mutant in file.mutants:
            own = f"{mutant.subject}/{mutant.name}"
            found = [
                each
                for each in results
                if each["kind"] == "mutant"
                and (
                    each["subject"] == own
                    or (each["subject"], each["name"].partition(": ")[0]) == (mutant.subject, mutant.name)
                )
            ]
            if any(each["verdict"] == "refuted" and each["expected"] for each in found):
                killed += 1
            elif any(expect.verdict == "refuted" for expect in mutant.expects):
                alive.append(mutant.name)
    named = f"; not: {', '.join(alive)}" if alive else ""
    return f"{killed}{named}" if killed or alive else ""


def _surprises(found: Sequence[Mapping[str, Any]]) -> str:
    unexpected = [each["name"] for each in found if not each["expected"]]
    return f"; **not as expected: {', '.join(unexpected)}**" if unexpected else ""


_HEADING: Final = """\
# The library

Seventeen systems of the literature, and a variant of one, are written down as specifications and checked.
The table has a row for each.

- **explored**: statements about every run of a finite scope (level L1).
- **proved**: statements about any number of processes and messages. L3 means that two solvers agree, L2 that one solver
  proves it.
- **links**: every step of the protocol is a step of the machine that is proved, checked in finite scopes (L1); some are
  proved for any number of processes and messages, too.
- **implementation**: the Python class that ships with Thence, tested against the protocol.
- **mutants killed**: faults that were put in on purpose and that the checks find.
- **printed faults shown**: faults of the algorithm as its paper prints it; see [errata](errata.md).

A control is a system that is not causal: its statements are about the failure. `execution` and `happens_before` hold
the theory: FIFO and SPS imply causal delivery, FIFO and CSPS imply it, and each assumption is needed. Files named
`..._printed` hold the algorithms as their papers print them. [Every statement](statements.md) stands on one page with
its verdict, its level and the command that checks it. `make statements` makes this page
from the verdicts of a run.

"""


_TEXTBOOK: Final = """\
## Textbook protocols

Other protocols that are written down in the same way; [each has a page](../textbook/index.md) on how that is done.

"""


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the page."""
    (folder / PAGE).write_text(page(read_results(sources)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "library", "RESULTS.json...")
