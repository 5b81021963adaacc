"""Table 1 of Tong, Liittschwager and Kuper, redone: three systems, three processes, three messages each."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the paper's table, and the command that explores ours.

    Attributes:
        printed: the paper's total and unique states, depth, seconds, and whether causal delivery and liveness held.
        subject: of the results of the command.
        causal: the verdict on causal delivery that is expected.
    """

    system: str
    printed: tuple[str, str, str, str]
    command: str
    subject: str
    causal: str


_SCOPE: Final = "--processes 3 --sends 3 --reductions none --property causal"

ROWS: Final = (
    Row(
        "MFSS protocol",
        ("1,543M / 527M", "37", "163", "yes"),
        f"thence explore mf {_SCOPE} --property delivered --limit 2000000",
        "mf",
        "holds",
    ),
    Row(
        "Cykas with secret-mode sends (section 2.3)",
        ("44M / 13M", "43", "5", "no"),
        f"thence explore cykas --mutant answers_the_eager_sender {_SCOPE}",
        "cykas/answers_the_eager_sender",
        "refuted",
    ),
    Row(
        "Cykas",
        ("5,974M / 1,945M", "49", "709", "yes"),
        f"thence explore cykas {_SCOPE} --property delivered",
        "cykas",
        "holds",
    ),
)


def explored(row: Row) -> Record:
    """Explores the system of a row."""
    _, *arguments = shlex.split(row.command)
    program = str(Path(sys.executable).with_name("thence"))
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, check=False)
    results = [one for one in json.loads(done.stdout)["results"] if one["subject"] == row.subject]
    first = results[0]
    return {
        "states": first["states"],
        "transitions": first["transitions"],
        "depth": first["depth"],
        "seconds": first["seconds"],
        "verdicts": {one["property"]: one["verdict"] for one in results},
    }


def table_differences(records: Mapping[str, Record]) -> Iterator[str]:
    """Where a system came out otherwise than the table expects."""
    for row in ROWS:
        found = records[row.system]["verdicts"]
        if found.get("causal") != row.causal:
            yield f"{row.command}: expected causal {row.causal}, found {found.get('causal')}"
        if found.get("delivered", "holds") != "holds":
            yield f"{row.command}: expected delivered holds, found {found['delivered']}"


def lines(records: Mapping[str, Record]) -> Sequence[str]:
    """The section of the page."""
    table = [
        "| system | paper: total / unique | depth | s | causal | here: transitions / states | depth | s | causal |",
        "|---|--:|--:|--:|---|--:|--:|--:|---|",
    ]
    for row in ROWS:
        record = records[row.system]
        states, depth, seconds, correct = row.printed
        found = f"{record['transitions']:,} / {record['states']:,}"
        table.append(
            f"| {row.system} | {states} | {depth} | {seconds} | {correct} | {found} "
            f"| {record['depth']} | {record['seconds']:.1f} | {record['verdicts']['causal']} |"
        )
    commands = [f"- {row.system}: `{row.command}`" for row in ROWS]
    return [*_HEADING, *table, "", *commands, "", *_COMPARABLE]


_HEADING: Final = (
    "## Table 1 of Tong, Liittschwager and Kuper, redone",
    "",
    "Three processes send three messages each. Verdicts are those of the paper, system by system.",
    "",
)

_COMPARABLE: Final = (
    "**What is comparable.** The verdicts. The paper's checker ran the authors' Rust code, ours the",
    "algorithms of the library: two independent texts of each protocol agree on causal delivery and on",
    "liveness at this size.",
    "",
    "**What is not.** The counts of states. The paper's causality checker keeps the delivery history and the",
    "vector clocks of every process (section 4); if they are part of a state, as a history is in Stateright, two",
    "runs which differ in their past alone are two states. A state here keeps what can still matter.",
    "The paper does not say to whom the messages go; here each goes to any",
    "other process, and a message is sent at any moment. What the paper counts as one step (an",
    "application-send, say, with what follows from it) is not said either, so that depths differ as well.",
    "The paper's second row ends at the first violation; ours stops at the end of the level on which causal",
    "delivery is violated. Times are of other machines: 96 threads there, one or two here.",
    "",
    "The first command explores every protocol of `mf.thence`, which has three; `mf_receive`, with the",
    "application's receive as a step of its own, is cut off by `--limit`, and the row is about `mf`.",
    "",
)
