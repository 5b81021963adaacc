"""The measures set beside the claims: cells, with whether they agree, and the table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from thence.conformance.costs.claims import CELLS, CLAIMS, EXPLANATIONS, NOTES, Cell, Claim
from thence.conformance.costs.measures import AT_ONCE, DEGREES, SIZES, Measured

Agreement: TypeAlias = Literal["agrees", "below", "differs", "not claimed"]
"""Below: a bound that holds, and that the workload does not reach."""

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
        measured: what was found, in the same words.
        agreement: of the two.
        why: what explains a disagreement; "" where there is none, or no explanation.
    """

    cell: Cell
    claim: str
    measured: str
    agreement: Agreement
    why: str = ""

    @property
    def explained(self) -> bool:
        """Whether there is nothing left to explain."""
        return self.agreement in ("agrees", "not claimed") or bool(self.why)

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
    why = "" if agreement == "agrees" else EXPLANATIONS.get((measured.name, cell), "")
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
    """What keeps a message from being delivered, of what the workloads try."""
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
