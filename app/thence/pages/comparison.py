"""The page of costs, comparison.md: measures beside the claims of the literature, and whether they agree.

`python -m thence.pages.comparison FOLDER` measures all shipped systems, and writes the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from thence.conformance.costs.claims import CELLS, CLAIMS, EXPLANATIONS, NOTES, Cell, Claim
from thence.conformance.costs.measures import AT_ONCE, DEGREES, SIZES, Measured, measure
from thence.conformance.implementations import SYSTEMS
from thence.pages.folder import run_page

PAGE: Final = "comparison.md"

Agreement: TypeAlias = Literal["agrees", "agrees in each alone", "below", "differs", "not claimed"]
"""Below: a bound that holds, and that the workload does not reach. In each alone: the claim is a product or a sum of
parameters, each of which was varied alone: that they multiply, or add, was not measured."""

SLACK: Final = 0.35
"""How far a fitted exponent may be from the claimed one: sizes are small, and lower terms still show."""

_COUNTED: Final[tuple[Cell, ...]] = ("message", "process", "sender", "receiver")
_NETWORKS: Final = {"lossy": "any, any", "reordering": "reliable, any", "fifo": "reliable, FIFO"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One cell of one system.

    Attributes:
        cell: which.
        claim: as the paper prints it; "" where it has no such column.
        measured: the measured value, in the same words.
        agreement: of the two.
        why: the explanation of a disagreement; "" without a disagreement or an explanation.
    """

    cell: Cell
    claim: str
    measured: str
    agreement: Agreement
    why: str = ""

    @property
    def explained(self) -> bool:
        """Whether no disagreement is left without an explanation."""
        return self.agreement in ("agrees", "agrees in each alone", "not claimed") or bool(self.why)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "cell": self.cell,
            "claim": self.claim,
            "measured": self.measured,
            "agreement": self.agreement,
            "why": self.why,
        }


def compare(measured: Measured) -> tuple[Compared, ...]:
    """The system's column, row by row."""
    return tuple(_compared(measured, cell) for cell in CELLS)


def _compared(measured: Measured, cell: Cell) -> Compared:
    found = _found(measured, cell)
    claims = CLAIMS.get(measured.name)
    if claims is None:
        return Compared(cell, "", found, "not claimed")
    claim = claims[cell]
    agreement = _counted(measured, cell, claim) if cell in _COUNTED else _said(claim, found)
    if agreement == "agrees" and len({*re.findall("[a-z]", "".join(re.findall(r"O\((.*?)\)", claim.text)))}) > 1:
        agreement = "agrees in each alone"
    why = "" if agreement.startswith("agrees") else EXPLANATIONS.get((measured.name, cell), "")
    return Compared(cell, claim.text, found, agreement, why)


def _said(claim: Claim, found: str) -> Agreement:
    return "agrees" if claim.text == found else "differs"


def _counted(measured: Measured, cell: Cell, claim: Claim) -> Agreement:
    agreement: Agreement = "agrees"
    for name, growth in measured.growths.items():
        if name.split("/")[0] != cell:
            continue
        expected = claim.reached.get(name, 0)
        if growth.exponent > max(expected, claim.within.get(name, 0)) + SLACK:
            return "differs"
        if growth.exponent < expected - SLACK:
            agreement = "below"
    return agreement


def _found(measured: Measured, cell: Cell) -> str:
    match cell:
        case "network":
            return _NETWORKS[measured.channels]
        case "message" | "process" | "sender" | "receiver":
            return _growths(measured, cell)
        case "optimal":
            return "yes" if _optimal(measured) else "no"
        case "non-causal":
            return _latency(measured)
        case "scalable":
            return "yes" if measured.in_transit == (AT_ONCE, AT_ONCE) else "no"
        case "in transit":
            return _in_transit(measured)
        case "liveness":
            return "yes" if measured.live else "no"
        case "control":
            return ", ".join(measured.control) or "no"


def _growths(measured: Measured, cell: Cell) -> str:
    """`O(n^2), O(b)`: the parameters that it grows with, each alone; O(1) if there is none."""
    shapes = {
        growth.shape: None
        for name, growth in measured.growths.items()
        if name.split("/")[0] == cell and growth.shape != "O(1)"
    }
    return ", ".join(shapes) or "O(1)"


def _optimal(measured: Measured) -> bool:
    """Whether no message of the workloads of latency was late at all."""
    late = ("burst/b", "burst/r", "far/r", "stream/length")
    return not measured.needs_all and all(max(measured.growths[name].values) <= 0 for name in late)


def _latency(measured: Measured) -> str:
    growths = measured.growths
    if _optimal(measured):
        return "no 0"
    if measured.deadlock:
        return "sender unbounded"
    if measured.needs_all:
        return "receiver unbounded"
    if measured.starves:
        return "sender unbounded"
    if growths["burst/b"].exponent > SLACK and growths["burst/r"].exponent > SLACK:
        return "sender O(br)"
    if growths["far/r"].exponent > SLACK:
        return "sender O(r)"
    return "the way" if measured.relayed else "sender"


def _in_transit(measured: Measured) -> str:
    match measured.in_transit:
        case (1, 1):
            return "1"
        case (1, each) if each == AT_ONCE:
            return "1/receiver"
        case (one, 1) if one == AT_ONCE:
            return "to 1 receiver"
        case (one, each) if one == each == AT_ONCE:
            return "unlimited"
        case (one, each):
            return f"{one} to one, {each} to one each, of {AT_ONCE}"


def liveness_seen(measured: Measured) -> str:
    """The reason why a workload keeps a message from being delivered, or an empty text."""
    if measured.deadlock:
        return "two processes that send to each other at once deadlock"
    if measured.needs_all:
        return "nothing is delivered while a process says nothing"
    if measured.starves:
        late = measured.growths["stream/length"]
        pairs = ", ".join(f"{value:g} for {length}" for length, value in zip(late.sizes, late.values, strict=True))
        return f"a message waits as long as its sender is sent to: latency {pairs} rounds of messages"
    return ""


def markdown(columns: Sequence[tuple[Measured, tuple[Compared, ...]]]) -> str:
    """The table: a line per system and cell of those with claims, then the systems that the paper does not have."""
    lines: list[str] = []
    for measured, cells in columns:
        lines += [f"## {measured.name}", ""]
        claimed = measured.name in CLAIMS
        lines += ["| | Table 1 | measured | |", "|---|---|---|---|"] if claimed else ["| | measured |", "|---|---|"]
        for one in cells:
            name = CELLS[one.cell]
            if claimed:
                verdict = one.agreement if not one.why else f"{one.agreement}: {one.why}"
                lines.append(f"| {name} | {one.claim} | {one.measured} | {verdict} |")
            else:
                lines.append(f"| {name} | {one.measured} |")
        lines += ["", *(f"{line}" for line in figures(measured)), ""]
    return "\n".join(lines)


def figures(measured: Measured) -> list[str]:
    """The counts behind the cells, a list item each."""
    growths = measured.growths

    def over(name: str) -> str:
        growth = growths[name]
        return " / ".join(f"{value:,.0f}" for value in growth.values)

    lines = [
        f"- n = {' / '.join(map(str, SIZES))}: {over('message/n')} fields a message "
        f"({' / '.join(map(str, measured.metadata_bytes))} bytes), {over('process/n')} in a process; "
        f"{over('sender/n')} operations at the sender, {over('receiver/n')} at the receiver",
        f"- of {' / '.join(map(str, DEGREES))}: senders (i) {over('process/i')} in a process, receivers (o) "
        f"{over('process/o')}, o with nothing acknowledged {over('process/u over o')}, sent at once (u) "
        f"{over('process/u')}, permits missing (p) {over('process/p')}, waiting for a cause (b, all processes) "
        f"{over('process/b')}",
        f"- non-causal latency, in one-way delays: the last of 4 / 8 / 16 sent at once {over('burst/b')}; after a send "
        f"over a channel of delay 4 / 8 / 16 {over('far/r')}; in a stream of {' / '.join(map(str, DEGREES))} rounds "
        f"{over('stream/length')}",
    ]
    if measured.control:
        lines.append(f"- {measured.control_per_message:.2f} control packets a message")
    if seen := liveness_seen(measured):
        lines.append(f"- liveness: {seen}")
    if not measured.causal:
        lines.append("- not causal: the triangle of three messages is delivered in the wrong order")
    if note := NOTES.get(measured.name):
        lines.append(f"- {note}")
    return lines


_HEADING: Final = """\
# What each system costs, beside Table 1

The shipped implementations, counted, beside Table 1 of Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal,
Topology-Agnostic, Throughput-Scalable Causal Delivery through Hybrid Buffering". `thence compare` measures it again
(`thence compare cykas mf` some of them, `--markdown` in this form, `--json` with every number). Made by
`make docs`; nothing here depends on a clock, so that it comes out the same on every machine. Time is measured in
`bench/`.

How it is counted:

- **Fields** are integers, identifiers and flags; sets kept as bit masks count their members; the application's
  messages count nothing, and neither do a process's own identity and the shape of a tree. Rows that a state and a
  message share in memory count in both. Bytes are those of the transport's format, without the application's message.
- **Operations** are calls, comparisons, arithmetic, slices and steps of loops, and an operation for each element or
  word that a built-in function walks. The implementation's source is compiled again with a counter in each of these
  places. They include the checks of what arrives, which papers leave out. Sender: causal-sends and the handling of
  acknowledgements, a message. Receiver: all else, a message and process that delivers it.
- **Growth** is the exponent through three sizes, each twice the one before, without the constant part. Each parameter
  is varied alone: n on a ring where each process sends to the next three; i and o, many senders to one and one to
  many; u and p, many messages at once whose acknowledgements are held back; b, many messages that wait for a cause.
  Where an exponent is within 0.35 of the claim it agrees: sizes are small, and lower terms show. *Below* is a bound
  that holds and that the workload does not reach. *In each alone*: the claim has several parameters; that it is their
  product, or their sum, was not measured.
- **Latency** is counted in one-way delays beyond the one that a message takes, in workloads in which no cause of a
  message can arrive after it.
- **Liveness**: yes means that none of the workloads (two that send to each other, a silent process, a stream of
  messages to the sender) keeps a message from being delivered. It is a test. What is exhaustive or proved is on [the
  page of statements](statements.md).
- **Network** is what the implementation says it works over. It is not measured here: `thence conform` and `thence
  matrix` hold it against that.

Systems that Table 1 does not have have no claim beside them.

"""


def page(columns: Sequence[tuple[Measured, tuple[Compared, ...]]]) -> str:
    """The whole page, in Markdown."""
    return _HEADING + markdown(columns).rstrip() + "\n"


def make(folder: Path, _sources: Sequence[Path]) -> int:
    """Writes the page. Exit code 1 if a difference from the paper is not explained."""
    measured = [measure(name, impl) for name, impl in SYSTEMS.items()]
    columns = [(one, compare(one)) for one in measured]
    (folder / PAGE).write_text(page(columns), encoding="utf-8")
    return 0 if all(cell.explained for _, cells in columns for cell in cells) else 1


if __name__ == "__main__":
    run_page(make, "comparison")
